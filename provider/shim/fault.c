/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults in memory that peers access: a program may unmap registered memory, protect it, or
 * truncate its file. The provider's accesses are guarded (base/guarded.h), and only these are
 * resumed here. All other faults belong to the program: its handlers are called as the kernel would
 * call them, even those that it sets later.
 */
#include "provider/shim/shim.h"

#include "base/fault_pc.h"
#include "provider/shim/wanted.h"

#include <signal.h>
#include <unistd.h>

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);

static struct {
	struct wanted segv, bus;
	uintptr_t (*resume)(uintptr_t);
	_Atomic pid_t owner; /* 0: not watching. A child of vfork() has our memory. */
} shim_fault;

int shim_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static shim_slot slot;

	return ((sigaction_fn *)shim_real_libc(&slot, "sigaction"))(sig, act, old);
}

bool shim_is_init(void)
{
	return getpid() == 1;
}

static struct wanted *shim_wanted_of(int sig)
{
	return sig == SIGSEGV ? &shim_fault.segv : &shim_fault.bus;
}

/* ---- a fault ------------------------------------------------------------------------------- */

/* As if nobody had a handler: the instruction faults again, and the kernel ends the process. */
static void shim_die(int sig, bool sent)
{
	struct sigaction a = {.sa_handler = SIG_DFL};

	shim_real_sigaction(sig, &a, NULL);
	if (sent)
		raise(sig);
}

static void shim_pass_on(int sig, siginfo_t *info, void *context)
{
	struct sigaction a = wanted_take(shim_wanted_of(sig));
	bool sent = info->si_code <= 0;

	if (!wanted_has_handler(&a)) {
		if (!sent || (a.sa_handler != SIG_IGN && !shim_is_init()))
			shim_die(sig, sent);
		return;
	}
	wanted_call(&a, sig, info, context);
}

static void shim_on_fault(int sig, siginfo_t *info, void *context)
{
	uintptr_t to = info->si_code > 0 ? shim_fault.resume(fault_pc(context)) : 0;

	if (to != 0)
		fault_set_pc(context, to);
	else
		shim_pass_on(sig, info, context);
}

/* ---- in front of the program's handlers ---------------------------------------------------- */

/* With what its handler asked for: stack, mask, and whether it may be interrupted by itself. */
static int shim_stand_in_front(int sig, const struct sigaction *want)
{
	struct sigaction a = {.sa_sigaction = shim_on_fault};

	a.sa_flags = SA_SIGINFO;
	if (wanted_has_handler(want)) {
		a.sa_mask = want->sa_mask;
		a.sa_flags |= want->sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART);
	} else {
		a.sa_flags |= SA_ONSTACK | SA_RESTART;
	}
	return shim_real_sigaction(sig, &a, NULL);
}

static void shim_watch(int sig)
{
	struct sigaction now;

	if (shim_real_sigaction(sig, NULL, &now) != 0)
		return;
	wanted_set(shim_wanted_of(sig), &now);
	shim_stand_in_front(sig, &now);
}

void shim_watch_faults(const struct provider *p)
{
	shim_fault.resume = p->resume;
	shim_watch(SIGSEGV);
	shim_watch(SIGBUS);
	atomic_store(&shim_fault.owner, getpid());
}

bool shim_is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS;
}

/* A child has the handler but no RNIC: what it sets goes to the kernel. */
static int shim_set_in_child(int sig, const struct sigaction *act, struct sigaction *old)
{
	int rc = shim_real_sigaction(sig, act, old);

	if (rc == 0 && old && (old->sa_flags & SA_SIGINFO) != 0 &&
		old->sa_sigaction == shim_on_fault)
		*old = wanted_get(shim_wanted_of(sig));
	return rc;
}

int shim_fault_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	pid_t owner = atomic_load_explicit(&shim_fault.owner, memory_order_acquire);
	struct sigaction before;
	sigset_t mask;
	int rc = 0;

	if (owner == 0)
		return shim_real_sigaction(sig, act, old);
	if (owner != getpid())
		return shim_set_in_child(sig, act, old);
	wanted_lock(&mask);
	before = wanted_get(shim_wanted_of(sig));
	if (act) {
		wanted_set(shim_wanted_of(sig), act);
		rc = shim_stand_in_front(sig, act);
	}
	wanted_unlock(&mask);
	if (rc == 0 && old)
		*old = before;
	return rc;
}
