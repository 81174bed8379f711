/* SPDX-License-Identifier: BSD-2-Clause */
/* How programs set handlers: those for faults stand behind ours, and ours stand for none. */
#include "provider/shim/shim.h"

#include <signal.h>

SHIM_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (shim_is_fault(sig))
		return shim_fault_sigaction(sig, act, old);
	if (shim_is_ending(sig))
		return shim_ending_sigaction(sig, act, old);
	return shim_real_sigaction(sig, act, old);
}

typedef void (*handler)(int);
typedef handler signal_fn(int, handler);

SHIM_EXPORT handler signal(int sig, handler h)
{
	struct sigaction act = {.sa_handler = h, .sa_flags = SA_RESTART}, old;
	static shim_slot real;

	if ((!shim_is_fault(sig) && !shim_is_ending(sig)) || h == SIG_ERR)
		return ((signal_fn *)shim_real_libc(&real, "signal"))(sig, h);
	sigaddset(&act.sa_mask, sig);
	return sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}
