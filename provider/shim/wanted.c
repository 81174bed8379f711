/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/shim/wanted.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t wanted_mutex = PTHREAD_MUTEX_INITIALIZER;

/** Beside which it is: it was for one time, and that has been. */
#define WANTED_TAKEN 2u

static struct sigaction wanted_at(const struct wanted *w, unsigned at)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};

	return (at & WANTED_TAKEN) != 0 ? by_default : w->action[at];
}

struct sigaction wanted_get(const struct wanted *w)
{
	return wanted_at(w, atomic_load_explicit(&w->at, memory_order_acquire));
}

struct sigaction wanted_take(struct wanted *w)
{
	unsigned at = atomic_load_explicit(&w->at, memory_order_acquire);
	struct sigaction a = wanted_at(w, at);

	while (wanted_is_once(&a) && !atomic_compare_exchange_weak(&w->at, &at, at | WANTED_TAKEN))
		a = wanted_at(w, at);
	return a;
}

void wanted_set(struct wanted *w, const struct sigaction *act)
{
	unsigned next = (atomic_load_explicit(&w->at, memory_order_relaxed) & ~WANTED_TAKEN) ^ 1;

	w->action[next] = *act;
	atomic_store_explicit(&w->at, next, memory_order_release);
}

void wanted_lock(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, mask);
	pthread_mutex_lock(&wanted_mutex);
}

void wanted_unlock(const sigset_t *mask)
{
	pthread_mutex_unlock(&wanted_mutex);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

bool wanted_has_handler(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) != 0 ||
	       (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

bool wanted_is_once(const struct sigaction *a)
{
	return (a->sa_flags & (int)SA_RESETHAND) != 0 && wanted_has_handler(a);
}

void wanted_call(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	if ((a->sa_flags & SA_SIGINFO) != 0)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}
