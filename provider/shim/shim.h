/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file shim.h
 * The preloaded library. It links libc alone. It does nothing in a program without a configuration
 * in its environment, or one that calls neither verbs nor rdma_cm.
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
 * The provider. It is loaded and configured by the first call.
 * @return NULL: there is no configuration, it failed (reported once on stderr), or this thread is
 *         starting it.
 */
const struct provider *shim_provider(void);

/** The provider if it runs; never starts it. */
const struct provider *shim_running(void);

/** Our device, or NULL as long as there is none. */
struct ibv_device *shim_device(void);

/**
 * True in a child after fork(), and once exit() runs. Then our objects fail with ENODEV, and the
 * RNIC is not used.
 */
bool shim_is_orphan(void);

/** True in a child of vfork(), which has our memory but descriptors and an end of its own. */
bool shim_is_vfork_child(void);

/** True if exit() has begun on this thread and the process has the RNIC. */
bool shim_is_leaving(void);

/** The process is about to end without exit(): let sent data reach the peers first. */
void shim_before_end(void);

/**
 * True while this thread starts the provider or its stack. Then hooks call the real functions. Not
 * in calls of the program's, which may wait in them: its handlers run there.
 */
bool shim_inside(void);
void shim_enter(void);
void shim_leave(void);

/* ---- real.c ------------------------------------------------------------------------------ */

/** Cache of a resolved function. Races are harmless. */
typedef void *_Atomic shim_slot;

/** libc's function of this name. Never NULL for functions of libc. */
void *shim_real_libc(shim_slot *slot, const char *name);

/** libibverbs' function of this name. NULL: it has none, or there is no libibverbs. */
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

/** From now on a fault in a guarded access of the provider ends the access and not the process. */
void shim_watch_faults(const struct provider *p);

bool shim_is_fault(int sig);

/**
 * True in the first process of a PID namespace, as of many containers: a signal that somebody sends
 * does nothing there by default. A fault of its own ends it as it ends others.
 */
bool shim_is_init(void);

/** sigaction(2) of the program for a signal of faults. */
int shim_fault_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

int shim_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* ---- ending.c ---------------------------------------------------------------------------- */

/** From now on connections are reset when one of these signals ends the process. */
void shim_watch_endings(const struct provider *p);

bool shim_is_ending(int sig);

/** sigaction(2) of the program for such a signal. */
int shim_ending_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* ---- verbs.c ----------------------------------------------------------------------------- */

/** Reset locks in a child after fork(): a thread of the parent may have held them. */
void shim_forget_locks(void);

/* ---- libc.c ------------------------------------------------------------------------------ */

#define SHIM_CM_PATH "/dev/infiniband/rdma_cm"

#endif
