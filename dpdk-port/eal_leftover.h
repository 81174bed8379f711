/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file eal_leftover.h
 * The directories that the EAL makes at its start, one for each process, under the file prefix that
 * eal.c gives it. A process that has no use for its own removes it, but not one that is killed
 * while it starts.
 */
#ifndef DPDK_PORT_EAL_LEFTOVER_H
#define DPDK_PORT_EAL_LEFTOVER_H

#include <stddef.h>
#include <sys/types.h>

/** The prefix of process @p pid, in @p buf. */
void eal_leftover_prefix(char *buf, size_t len, pid_t pid);

/**
 * Remove @p directory, this process's own, and those beside it whose processes are gone. Only empty
 * ones go: a shared configuration (a user's own EAL arguments) stays. An empty string is no
 * directory. Nothing is reported: what cannot be removed stays.
 */
void eal_leftover_remove(const char *directory);

#endif
