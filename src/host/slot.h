/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file slot.h
 * Slots: numbers that are unique among the processes of a host. A slot is a file that is locked as
 * long as its process lives. So a process that is killed gives it back, and there is nothing to
 * clean up.
 */
#ifndef HOST_SLOT_H
#define HOST_SLOT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Where this process is found by others: its telemetry. /run/uiwarp for root, uiwarp in
 * XDG_RUNTIME_DIR for others, or else /tmp/uiwarp-UID. It is created if it is missing.
 * @return 0, or a negative errno: -EPERM when others could write into it.
 */
int slot_directory(char *path, size_t size);

#define SLOT_PLACES 3
#define SLOT_PATH   1024

/** The directories of this user's locks, in the order in which they are taken. */
struct slot_places {
	char path[SLOT_PLACES][SLOT_PATH];
	unsigned n;
	char refused[SLOT_PATH]; /**< one that is there and that others can write to, or "" */
};

/**
 * Every directory that processes of this user may lock in: each takes what it takes in all of them.
 * The environment of a login and that of cron name different ones, and so do services. /run/uiwarp
 * and /tmp/uiwarp-0 for root, with the number outside for that of a user namespace; else
 * /tmp/uiwarp-UID, uiwarp in /run/user/UID if that is there, and slot_directory().
 * @return 0, or a negative errno: there is none.
 */
int slot_find_places(struct slot_places *p);

/** What holds a slot: descriptors (close-on-exec), until the last copy of each is closed. */
struct slot_hold {
	int fd[SLOT_PLACES];
	unsigned n; /**< 0: no slot */
};

/**
 * Take the lowest slot from @p first to @p last that is free in all places. A place that cannot be
 * locked in does not count, as long as there is another.
 * @param group groups have slots of their own.
 * @param[out] hold what holds it; nothing after an error.
 * @return 0, or a negative errno: -EBUSY when all are taken.
 */
int slot_take(const struct slot_places *p, const char *group, unsigned first, unsigned last,
	unsigned *slot, struct slot_hold *hold);

/**
 * Of a file that is locked, here or for a claim: is it the one of that name? Not when its owner, a
 * sweep or systemd-tmpfiles has removed it: it is nobody's then, as others lock another.
 */
bool slot_file_is_there(int fd, int directory, const char *name);

/** Close what holds it, if anything does. */
void slot_release(struct slot_hold *hold);

#endif
