/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file slot.h
 * Numbers that the processes of one host share out among themselves: each has one that no other
 * has. A slot is a file that is locked as long as its process lives, so one that is killed gives
 * it back, and nothing has to be cleaned up.
 */
#ifndef HOST_SLOT_H
#define HOST_SLOT_H

#include <stddef.h>

/**
 * The directory of the locks: /run/uiwarp for root, uiwarp in XDG_RUNTIME_DIR, or else
 * /tmp/uiwarp-UID. Made if it is not there.
 * @return 0, or a negative errno: -EPERM when others could write into it.
 */
int slot_directory(char *path, size_t size);

/**
 * Take the lowest slot from @p first to @p last that is free.
 * @param directory of the locks.
 * @param group slots of different groups have nothing to do with each other.
 * @param[out] slot the number.
 * @return a descriptor that holds it until its last copy is closed (close-on-exec), or a negative
 *         errno: -EBUSY when all are taken.
 */
int slot_take(
	const char *directory, const char *group, unsigned first, unsigned last, unsigned *slot);

#endif
