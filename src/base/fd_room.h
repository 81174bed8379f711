/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fd_room.h
 * Keeps the low descriptor numbers for the program while the stack opens its own descriptors. These
 * are about a dozen, and those of DPDK cannot be moved afterwards. Some programs need low numbers:
 * select() takes none above FD_SETSIZE, and netcat-traditional none above 15.
 */
#ifndef BASE_FD_ROOM_H
#define BASE_FD_ROOM_H

/** Descriptors below this number are kept for the program. */
#define FD_ROOM 128u

/** So many numbers are left to the stack, however low the limit. */
#define FD_ROOM_LEFT 40u

/** The descriptors that occupy the numbers. */
struct fd_room {
	unsigned count;
	int fd[FD_ROOM];
};

/**
 * Occupy all free numbers below FD_ROOM, or below half of the process's limit if that is less, with
 * descriptors that are closed on exec. All but FD_ROOM_LEFT of a limit of less than twice that. If
 * another thread opens a file meanwhile it gets a higher number. If no more descriptors can be
 * opened the rest stays free.
 */
void fd_room_keep(struct fd_room *r);

/** Close them all. Keeps errno. */
void fd_room_give_back(struct fd_room *r);

/**
 * Move a descriptor to a number of FD_ROOM or above, with its flags.
 * @return the new number; @p fd itself if it is high enough, or cannot be moved.
 */
int fd_move_up(int fd);

#endif
