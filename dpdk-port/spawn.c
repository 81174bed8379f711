/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/spawn.h"

#include <signal.h>

int spawn_thread(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t blocked, before;
	int r;

	sigfillset(&blocked);
	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	r = pthread_create(out, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
