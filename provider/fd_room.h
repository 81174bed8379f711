/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fd_room.h
 * Keeps the low descriptor numbers for the program while the stack opens its own descriptors: a
 * dozen, DPDK's among them, which nobody can move afterwards. With a kernel's RNIC a program would
 * have those numbers itself, and some count on it: select() takes none above FD_SETSIZE, and
 * netcat-traditional none above 15.
 */
#ifndef PROVIDER_FD_ROOM_H
#define PROVIDER_FD_ROOM_H

/** Descriptors below this number stay the program's. */
#define FD_ROOM 128u

/** The numbers that are kept. */
struct fd_room {
	unsigned count;
	int fd[FD_ROOM];
};

/**
 * Take every free number below FD_ROOM, or below half of what the process may open if that is
 * less, with descriptors that are closed on exec. Another thread that opens something meanwhile
 * gets a higher number. When descriptors run out, what was taken stays taken and the rest free.
 */
void fd_room_keep(struct fd_room *r);

/** Give them all back. Leaves errno as it was. */
void fd_room_give_back(struct fd_room *r);

/**
 * Move a descriptor to a number of FD_ROOM or above, with its flags.
 * @return the new number; @p fd itself when it has such a number, or can get none.
 */
int fd_move_up(int fd);

#endif
