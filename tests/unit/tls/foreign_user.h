/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_user.h
 * Our user of a connection with a foreign end: it takes messages whole, as MPA takes FPDUs, asks
 * for what it needs, now and then leaves what is there, sends records of its own, and ends by
 * chance before its peer. What it is shown must be what the peer has sent.
 */
#ifndef TESTS_UNIT_TLS_FOREIGN_USER_H
#define TESTS_UNIT_TLS_FOREIGN_USER_H

#include "foreign_tls.h"

/** How it ends. */
enum foreign_user_end {
	FOREIGN_USER_STAYS,    /**< until the peer has ended */
	FOREIGN_USER_SHUTS,    /**< its direction, when all is sent */
	FOREIGN_USER_RELEASES, /**< the connection, then */
	FOREIGN_USER_ABORTS,   /**< at any time */
};

struct foreign_user {
	struct prng *random;
	const struct foreign_tls *peer;
	struct llp *llp;  /**< NULL: not there yet, or gone */
	size_t octets;    /**< that it sends */
	size_t sent, got; /**< by now */
	size_t message;   /**< where the one ends that begins at @c got; 0: not drawn yet */
	size_t message_max;
	enum foreign_user_end end;
	void (*inside)(struct foreign_user *u); /**< inside readable(), by chance */
	bool calm;                              /**< from now on it takes all */
	bool pauses, rests;
	bool paused, left, ever_left; /**< something that it could have had */
	bool refused;                 /**< it waits for writable() */
	bool connected, shut, released, aborted, eof, closed;
	int error;
	const char *wrong;
};

extern const struct llp_user_ops foreign_user_ops;

/** Draw what it is like. */
void foreign_user_begin(struct foreign_user *u);

/** It sends something, takes what it has left, or ends. */
void foreign_user_step(struct foreign_user *u);

/** It is calm from now on, and sends and takes all. */
void foreign_user_go_on(struct foreign_user *u);

/** It closes its direction, if it has not. */
void foreign_user_shut(struct foreign_user *u);

#endif
