/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/ending.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
#define ENDING_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

static struct net *ending_net;

bool ending_is_ignored(int sig)
{
	struct sigaction a;

	return sig == SIGHUP && sigaction(sig, NULL, &a) == 0 && a.sa_handler == SIG_IGN;
}

void ending_insist(int sig)
{
	static _Atomic time_t first;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (first == 0) {
		first = now.tv_sec + 1; /* 0 is none */
	} else if (now.tv_sec > first) {
		signal(sig, SIG_DFL);
		raise(sig); /* when the handler returns */
	}
}

static void ending_dispose(void (*handler)(int sig))
{
	const struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		if (!ending_is_ignored(ending_signals[i]))
			sigaction(ending_signals[i], &a, NULL);
}

static void ending_on_signal(int sig)
{
	ending_dispose(SIG_DFL);
	net_end_by(ending_net, sig);
}

static void ending_mask(int how, sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		if (!ending_is_ignored(ending_signals[i]))
			sigaddset(set, ending_signals[i]);
	sigprocmask(how, set, NULL);
}

void ending_watch(struct net *n)
{
	ending_net = n;
	ending_dispose(ending_on_signal);
}

int ending_take(void)
{
	sigset_t set;
	int fd;

	ending_mask(SIG_BLOCK, &set);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	ending_mask(SIG_UNBLOCK, &set);
	return fd;
}

void ending_give_back(int fd)
{
	sigset_t set;

	close(fd);
	ending_mask(SIG_UNBLOCK, &set);
}

void ending_hold(void)
{
	sigset_t set;

	ending_mask(SIG_BLOCK, &set);
}
