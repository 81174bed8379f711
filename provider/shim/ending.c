/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that end the process by their default action. An adapter or the kernel would then reset
 * its connections. Our handlers do that, and the process still dies by the signal, a moment later.
 * The program still sees the default action.
 */
#include "provider/shim/shim.h"
#include "provider/shim/wanted.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool (*end_by)(int);
	struct wanted hup, intr, term; /* handlers for one time (SA_RESETHAND) */
	_Atomic pid_t owner;           /* 0: not watching. A child of vfork() has our memory. */
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

static const struct sigaction shim_standing_in = {
	.sa_handler = shim_on_end, .sa_flags = SA_RESTART};

/* ---- a handler for one time: after that the default action is ours again --------------------- */

static struct wanted *shim_once_of(int sig)
{
	return sig == SIGHUP   ? &shim_ending.hup
	       : sig == SIGINT ? &shim_ending.intr
			       : &shim_ending.term;
}

static bool shim_is_default(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) == 0 && a->sa_handler == SIG_DFL;
}

/**
 * Who holds the lock has all signals blocked, so it may be taken here. A child has its memory, and
 * not the thread that may hold it.
 */
static void shim_on_once(int sig, siginfo_t *info, void *context)
{
	bool watched = atomic_load(&shim_ending.owner) == getpid();
	struct sigaction a = shim_by_default;
	sigset_t mask;

	if (watched)
		wanted_lock(&mask);
	/* Another signal on its way here may have had it, and the program may have set the next. */
	shim_real_sigaction(sig, NULL, &a);
	if (a.sa_sigaction == shim_on_once) {
		a = wanted_take(shim_once_of(sig));
		shim_real_sigaction(sig, &shim_standing_in, NULL);
	}
	if (watched)
		wanted_unlock(&mask);
	if (shim_is_default(&a))
		shim_on_end(sig);
	else if (wanted_has_handler(&a))
		wanted_call(&a, sig, info, context);
}

/* ---- what the program sets ------------------------------------------------------------------- */

bool shim_is_ending(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGTERM;
}

/** What the kernel gets for what the program sets. */
static struct sigaction shim_in_place_of(int sig, const struct sigaction *act)
{
	struct sigaction a = *act;

	if (shim_is_default(act))
		return shim_standing_in;
	if (wanted_is_once(act)) {
		wanted_set(shim_once_of(sig), act);
		a.sa_sigaction = shim_on_once;
		a.sa_flags = (a.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	}
	return a;
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
		if (shim_real_sigaction(signals[i], NULL, &now) == 0 &&
			(shim_is_default(&now) || wanted_is_once(&now)))
			shim_ending_sigaction(signals[i], &now, NULL);
}

int shim_ending_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	bool watched = atomic_load(&shim_ending.owner) == getpid();
	struct sigaction before, once, a;
	sigset_t mask;
	int rc;

	if (watched)
		wanted_lock(&mask);
	once = wanted_get(shim_once_of(sig));
	if (act)
		a = watched ? shim_in_place_of(sig, act) : *act;
	rc = shim_real_sigaction(sig, act ? &a : NULL, &before);
	if (watched)
		wanted_unlock(&mask);
	if (rc != 0 || !old)
		return rc;
	if (before.sa_handler == shim_on_end)
		before = shim_by_default;
	else if (before.sa_sigaction == shim_on_once)
		before = once;
	*old = before;
	return 0;
}
