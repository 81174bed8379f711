/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wanted.h
 * The action that the program wants for a signal, where one of ours stands in front of it. A
 * handler may read it while another thread sets it; those that set one hold the lock.
 */
#ifndef PROVIDER_SHIM_WANTED_H
#define PROVIDER_SHIM_WANTED_H

#include <signal.h>
#include <stdbool.h>

struct wanted {
	struct sigaction action[2];
	_Atomic unsigned at; /**< which of them, and whether a handler for one time has had it */
};

struct sigaction wanted_get(const struct wanted *w);

/**
 * For a signal that has come. A handler for one time (SA_RESETHAND) goes to one caller, whatever
 * thread the next signal comes on; then the action is the default.
 */
struct sigaction wanted_take(struct wanted *w);

void wanted_set(struct wanted *w, const struct sigaction *act);

/** No handler runs in this thread until wanted_unlock(), as it may want to set one. */
void wanted_lock(sigset_t *mask);

void wanted_unlock(const sigset_t *mask);

/** It is neither the default action nor to be ignored. */
bool wanted_has_handler(const struct sigaction *a);

/** It has a handler, for one time. */
bool wanted_is_once(const struct sigaction *a);

/** Call the handler as the kernel would. @p a has one. */
void wanted_call(const struct sigaction *a, int sig, siginfo_t *info, void *context);

#endif
