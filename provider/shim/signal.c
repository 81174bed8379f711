/* SPDX-License-Identifier: BSD-2-Clause */
/* How programs set handlers: those for faults stand behind ours. */
#include "provider/shim/shim.h"

#include <signal.h>

SHIM_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return shim_sigaction(sig, act, old);
}

typedef void (*handler)(int);
typedef handler signal_fn(int, handler);

SHIM_EXPORT handler signal(int sig, handler h)
{
	struct sigaction act = {.sa_handler = h, .sa_flags = SA_RESTART}, old;
	static shim_slot real;

	if ((sig != SIGSEGV && sig != SIGBUS) || h == SIG_ERR)
		return ((signal_fn *)shim_real_libc(&real, "signal"))(sig, h);
	sigaddset(&act.sa_mask, sig);
	return shim_sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}
