/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file shim.h
 * The preloaded library: it links libc alone, and does nothing in a program that has no
 * configuration in its environment or calls neither verbs nor rdma_cm.
 */
#ifndef PROVIDER_SHIM_SHIM_H
#define PROVIDER_SHIM_SHIM_H

#include "provider/provider.h"

#include <stdatomic.h>
#include <stdbool.h>

#define SHIM_EXPORT __attribute__((visibility("default")))

/* ---- start.c ----------------------------------------------------------------------------- */

/** True when the environment has a configuration (looked up once). */
bool shim_configured(void);

/**
 * The provider, loaded and configured if it has not been yet. @return NULL: no configuration, it
 * failed (said once on stderr), or the caller is inside the provider.
 */
const struct provider *shim_provider(void);

/** The provider if it runs; never starts it. */
const struct provider *shim_running(void);

/** Our device, or NULL as long as there is none: so it compares unequal to any other. */
struct ibv_device *shim_device(void);

/** In a child after fork(), and once exit() runs: our objects answer ENODEV, and nothing of the
 * RNIC is touched. */
bool shim_is_orphan(void);

/** exit() has begun on this thread, of a process that has the RNIC. */
bool shim_is_leaving(void);

/** The process is about to end without exit(): let what was sent reach the peers first. */
void shim_before_end(void);

/** True while this thread is inside the provider: hooks pass it through. */
bool shim_inside(void);
void shim_enter(void);
void shim_leave(void);

/* ---- real.c ------------------------------------------------------------------------------ */

/** Resolved once and kept in @p slot; safe to race. */
typedef void *_Atomic shim_slot;

/** libc's function behind ours of the same name. Never NULL for those that libc has. */
void *shim_real_libc(shim_slot *slot, const char *name);

/** libibverbs' function behind ours. NULL: this libibverbs has none, or there is no libibverbs. */
void *shim_real_verbs(shim_slot *slot, const char *name);

/** @overload for the provider. */
void *shim_find_verbs(const char *name);

/** The real dlsym() and dlvsym(). */
void *shim_dlsym(void *handle, const char *name);
void *shim_dlvsym(void *handle, const char *name, const char *version);

/** True when @p address lies in libibverbs. */
bool shim_in_libibverbs(const void *address);

/** True when @p address lies in libuiwarp.so or in a library of DPDK. */
bool shim_is_below(const void *address);

/* ---- elf.c ------------------------------------------------------------------------------- */

/**
 * Find a function in a loaded object by its ELF hash table, without dlsym().
 * @param object the beginning of its file name, such as "libc.so".
 * @return NULL: not found.
 */
void *elf_find(const char *object, const char *symbol);

/* ---- fault.c ----------------------------------------------------------------------------- */

struct sigaction;

/** From now on a fault in an access of the provider's ends the access and not the process. */
void shim_watch_faults(const struct provider *p);

bool shim_is_fault(int sig);

/** sigaction(2), for what the program wants of a fault. */
int shim_fault_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

int shim_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* ---- ending.c ---------------------------------------------------------------------------- */

/** From now on peers hear of the end when one of these signals ends the process. */
void shim_watch_endings(const struct provider *p);

bool shim_is_ending(int sig);

/** sigaction(2), for what the program wants of such a signal. */
int shim_ending_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* ---- verbs.c ----------------------------------------------------------------------------- */

/** In a child after fork(): a thread of the parent may have held them. */
void shim_forget_locks(void);

/* ---- libc.c ------------------------------------------------------------------------------ */

#define SHIM_CM_PATH "/dev/infiniband/rdma_cm"

#endif
