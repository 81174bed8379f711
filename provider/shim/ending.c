/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that end the process by their default action. An adapter or the kernel would then reset
 * its connections. Our handlers do that, and the process still dies by the signal, a moment later.
 * The program still sees the default action.
 */
#include "provider/shim/shim.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool (*end_by)(int);
	_Atomic pid_t owner; /* 0: not watching. A child of vfork() has our memory. */
} shim_ending;

static const struct sigaction shim_by_default = {.sa_handler = SIG_DFL};

/**
 * Send the signal to the process after @p ms, whatever its threads do. It uses the system call, as
 * this is a signal handler. If that fails the next signal ends the process.
 */
static void shim_send_later(int sig, unsigned ms)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig};
	struct itimerspec at = {.it_value = {ms / 1000, ms % 1000 * 1000000L}};
	int timer;

	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0)
		syscall(SYS_timer_settime, timer, 0, &at, NULL);
}

static void shim_on_end(int sig)
{
	struct timespec moment = {.tv_nsec = 10000000};

	shim_real_sigaction(sig, &shim_by_default, NULL);
	if (atomic_load(&shim_ending.owner) != getpid()) {
		raise(sig);
		return;
	}
	/*
	 * The holder of the engine may never come back to it, having jumped out of a verb from a
	 * handler: then the process ends all the same, and even if all its threads block @p sig.
	 */
	shim_send_later(sig, 1000);
	shim_send_later(SIGKILL, 1700);
	if (!shim_ending.end_by(sig))
		raise(sig);
	else
		/* It has happened by now; or this thread is inside a verb, and it happens on the
		 * way out. */
		nanosleep(&moment, NULL);
}

static int shim_stand_in(int sig)
{
	struct sigaction a = {.sa_handler = shim_on_end, .sa_flags = SA_RESTART};

	return shim_real_sigaction(sig, &a, NULL);
}

static bool shim_is_default(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) == 0 && a->sa_handler == SIG_DFL;
}

bool shim_is_ending(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGTERM;
}

void shim_watch_endings(const struct provider *p)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction now;

	/* The kernel would call a handler, but spares process 1 the default action. */
	if (shim_is_init())
		return;
	shim_ending.end_by = p->end_by;
	atomic_store(&shim_ending.owner, getpid());
	for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (shim_real_sigaction(signals[i], NULL, &now) == 0 && shim_is_default(&now))
			shim_stand_in(signals[i]);
}

int shim_ending_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction before;
	int rc = shim_real_sigaction(sig, act, &before);

	if (rc != 0)
		return rc;
	if (before.sa_handler == shim_on_end)
		before = shim_by_default;
	if (old)
		*old = before;
	return act && shim_is_default(act) && atomic_load(&shim_ending.owner) == getpid()
		       ? shim_stand_in(sig)
		       : 0;
}
