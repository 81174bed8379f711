/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file slot.h
 * Slots: numbers that are unique among the processes of a host. A slot is a file that is locked as
 * long as its process lives. So a process that is killed gives it back, and there is nothing to
 * clean up.
 */
#ifndef HOST_SLOT_H
#define HOST_SLOT_H

#include <stddef.h>

/**
 * The directory of the locks: /run/uiwarp for root, uiwarp in XDG_RUNTIME_DIR, or else
 * /tmp/uiwarp-UID. It is created if it is missing.
 * @return 0, or a negative errno: -EPERM when others could write into it.
 */
int slot_directory(char *path, size_t size);

/**
 * Take the lowest slot from @p first to @p last that is free.
 * @param directory where the locks are.
 * @param group groups have slots of their own.
 * @return a descriptor that holds it until its last copy is closed (close-on-exec), or a negative
 *         errno: -EBUSY when all are taken.
 */
int slot_take(
	const char *directory, const char *group, unsigned first, unsigned last, unsigned *slot);

#endif
