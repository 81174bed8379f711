/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file setters.h
 * libc's functions that set handlers: for a signal of ours each does what it does for any other.
 */
#ifndef TESTS_UNIT_PROVIDER_SETTERS_H
#define TESTS_UNIT_PROVIDER_SETTERS_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

/* Old ones are what programs call, too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void (*setter_handler)(int);

/* What no header declares (any more). */
setter_handler bsd_signal(int sig, setter_handler h);
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/** Of POSIX; others are between the kernel and libc. */
#define SETTERS_FLAGS                                                                      \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | \
		(int)SA_RESETHAND)

/** The action that the kernel has. */
static inline void *setters_kernel_action(int sig)
{
	struct {
		void *handler;
		unsigned long rest[19];
	} now = {NULL, {0}};

	assert_int_equal(syscall(SYS_rt_sigaction, sig, NULL, &now, _NSIG / 8), 0);
	return now.handler;
}

static inline void setters_nothing(int sig)
{
}

/** As if nothing had been done to it. */
static inline void setters_clean(int sig)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t one;

	assert_int_equal(siginterrupt(sig, 0), 0);
	assert_int_equal(__sigaction(sig, &plain, NULL), 0);
	sigemptyset(&one);
	sigaddset(&one, sig);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
}

/** @p sig has the action that @p other has. */
static inline void setters_assert_same(int sig, int other)
{
	struct sigaction a, b;
	sigset_t mask;

	assert_int_equal(sigaction(sig, NULL, &a), 0);
	assert_int_equal(sigaction(other, NULL, &b), 0);
	assert_ptr_equal(a.sa_handler, b.sa_handler);
	/* The default action has neither. */
	if (a.sa_handler != SIG_DFL) {
		assert_int_equal(a.sa_flags & SETTERS_FLAGS, b.sa_flags & SETTERS_FLAGS);
		assert_int_equal(sigismember(&a.sa_mask, sig), sigismember(&b.sa_mask, other));
	}
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	assert_int_equal(sigismember(&mask, sig), sigismember(&mask, other));
}

static inline void setters_do(setter_handler (*set)(int, setter_handler), int sig, int other)
{
	static const setter_handler handlers[] = {
		setters_nothing, SIG_IGN, SIG_HOLD, setters_nothing, SIG_ERR, SIG_DFL};

	for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
		if (handlers[i] == SIG_HOLD && set != sigset)
			continue;
		assert_ptr_equal(set(sig, handlers[i]), set(other, handlers[i]));
		setters_assert_same(sig, other);
	}
}

/** Each function, with SIGUSR1, which is nobody's, as the one that shows how it is. */
static inline void setters_agree(int sig)
{
	static setter_handler (*const set[])(int, setter_handler) = {
		signal, bsd_signal, ssignal, __sysv_signal, sysv_signal, sigset};

	for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
		for (int interrupts = 0; interrupts < 2; interrupts++) {
			setters_clean(sig);
			setters_clean(SIGUSR1);
			assert_int_equal(siginterrupt(sig, interrupts), 0);
			assert_int_equal(siginterrupt(SIGUSR1, interrupts), 0);
			setters_assert_same(sig, SIGUSR1);
			setters_do(set[i], sig, SIGUSR1);
		}
	}
	assert_int_equal(sigignore(sig), sigignore(SIGUSR1));
	setters_assert_same(sig, SIGUSR1);
	setters_clean(sig);
	setters_clean(SIGUSR1);
}

/** Whatever @p sig is set to, the kernel's action is @p ours. */
static inline void setters_stand_behind(int sig, void *ours, setter_handler h)
{
	static setter_handler (*const set[])(int, setter_handler) = {
		signal, bsd_signal, ssignal, __sysv_signal, sysv_signal, sigset};

	for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
		assert_ptr_not_equal(set[i](sig, h), SIG_ERR);
		assert_ptr_equal(setters_kernel_action(sig), ours);
	}
	setters_clean(sig);
	assert_ptr_equal(setters_kernel_action(sig), ours);
}

#endif
