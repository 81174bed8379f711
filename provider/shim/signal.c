/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How programs set handlers: those for faults stand behind ours, and ours stand for none. By any of
 * libc's functions: libc's own go to the kernel by themselves, so those for our signals are here in
 * full. Not sigvec(), which no program has been linked with since 2014.
 */
#include "provider/shim/shim.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

typedef void (*handler)(int);
typedef handler signal_fn(int, handler);
typedef int siginterrupt_fn(int, int);
typedef int sigignore_fn(int);

#define SIGNAL_REAL(type, name)                        \
	({                                             \
		static shim_slot slot_;                \
		(type *)shim_real_libc(&slot_, #name); \
	})

/** Signals that siginterrupt() has set to interrupt system calls, by their numbers. */
static _Atomic uint64_t signal_interrupts;

static bool signal_is_ours(int sig)
{
	return shim_is_fault(sig) || shim_is_ending(sig);
}

static uint64_t signal_bit(int sig)
{
	return UINT64_C(1) << sig;
}

SHIM_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (shim_is_fault(sig))
		return shim_fault_sigaction(sig, act, old);
	if (shim_is_ending(sig))
		return shim_ending_sigaction(sig, act, old);
	return shim_real_sigaction(sig, act, old);
}

/* No header declares it. */
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

SHIM_EXPORT int __sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(sig, act, old);
}

static handler signal_set(int sig, handler h, int flags, bool masked)
{
	struct sigaction act = {.sa_handler = h, .sa_flags = flags}, old;

	if (masked)
		sigaddset(&act.sa_mask, sig);
	return sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* ---- BSD's ----------------------------------------------------------------------------------- */

static handler signal_set_bsd(int sig, handler h)
{
	bool interrupts = (atomic_load(&signal_interrupts) & signal_bit(sig)) != 0;

	return signal_set(sig, h, interrupts ? 0 : SA_RESTART, true);
}

static bool signal_is_set_here(int sig, handler h)
{
	return signal_is_ours(sig) && h != SIG_ERR;
}

SHIM_EXPORT handler signal(int sig, handler h)
{
	return signal_is_set_here(sig, h) ? signal_set_bsd(sig, h)
					  : SIGNAL_REAL(signal_fn, signal)(sig, h);
}

/* No header declares it any more. */
handler bsd_signal(int sig, handler h);

SHIM_EXPORT handler bsd_signal(int sig, handler h)
{
	return signal_is_set_here(sig, h) ? signal_set_bsd(sig, h)
					  : SIGNAL_REAL(signal_fn, bsd_signal)(sig, h);
}

SHIM_EXPORT handler ssignal(int sig, handler h)
{
	return signal_is_set_here(sig, h) ? signal_set_bsd(sig, h)
					  : SIGNAL_REAL(signal_fn, ssignal)(sig, h);
}

static int signal_set_interrupts(int sig, bool interrupts)
{
	struct sigaction a;

	if (sigaction(sig, NULL, &a) != 0)
		return -1;
	if (interrupts) {
		atomic_fetch_or(&signal_interrupts, signal_bit(sig));
		a.sa_flags &= ~SA_RESTART;
	} else {
		atomic_fetch_and(&signal_interrupts, ~signal_bit(sig));
		a.sa_flags |= SA_RESTART;
	}
	return sigaction(sig, &a, NULL);
}

SHIM_EXPORT int siginterrupt(int sig, int interrupts)
{
	return signal_is_ours(sig) ? signal_set_interrupts(sig, interrupts != 0)
				   : SIGNAL_REAL(siginterrupt_fn, siginterrupt)(sig, interrupts);
}

/* ---- System V's, which are those of a program in strict C ------------------------------------ */

static handler signal_set_once(int sig, handler h)
{
	return signal_set(sig, h, (int)SA_RESETHAND | SA_NODEFER, false);
}

SHIM_EXPORT handler __sysv_signal(int sig, handler h)
{
	return signal_is_set_here(sig, h) ? signal_set_once(sig, h)
					  : SIGNAL_REAL(signal_fn, __sysv_signal)(sig, h);
}

SHIM_EXPORT handler sysv_signal(int sig, handler h)
{
	return signal_is_set_here(sig, h) ? signal_set_once(sig, h)
					  : SIGNAL_REAL(signal_fn, sysv_signal)(sig, h);
}

static handler signal_get(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
}

static handler signal_set_held(int sig, handler h)
{
	bool holds = h == SIG_HOLD;
	handler before = holds ? signal_get(sig) : signal_set(sig, h, 0, false);
	sigset_t one, mask;

	if (before == SIG_ERR)
		return before;
	sigemptyset(&one);
	sigaddset(&one, sig);
	if (pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &one, &mask) != 0)
		return SIG_ERR;
	return sigismember(&mask, sig) ? SIG_HOLD : before;
}

/* As libc's, it takes SIG_ERR for a handler. */
SHIM_EXPORT handler sigset(int sig, handler h)
{
	return signal_is_ours(sig) ? signal_set_held(sig, h)
				   : SIGNAL_REAL(signal_fn, sigset)(sig, h);
}

SHIM_EXPORT int sigignore(int sig)
{
	if (!signal_is_ours(sig))
		return SIGNAL_REAL(sigignore_fn, sigignore)(sig);
	return signal_set(sig, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}
