/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_tls.h
 * The other end of a connection that is not ours, behind its handshake: as rude as RFC 8446 lets it
 * be. By chance it pads its records, sends empty ones, cuts messages into records and renews its
 * keys; in the end it closes in good order or breaks one rule. What it is sent must be what the
 * RFC lets us send.
 */
#ifndef TESTS_UNIT_TLS_FOREIGN_TLS_H
#define TESTS_UNIT_TLS_FOREIGN_TLS_H

#include "base/prng.h"
#include "foreign_record.h"
#include "support/llp_mem.h"

/** No alert. */
#define FOREIGN_NONE (-1)

struct foreign_tls;

/** How it ends, and what must come of it. */
struct foreign_tls_end {
	const char *name;
	void (*send)(struct foreign_tls *p);
	int error;    /**< what our user is told; 0: the end, in good order */
	int alert;    /**< what the peer is told, or FOREIGN_NONE */
	bool at_once; /**< what is under way is lost */
};

struct foreign_tls {
	struct prng *random;
	struct llp_mem_peer *raw;
	bool server;
	size_t content_max;
	const uint8_t *text, *our_text; /**< what it sends, and what it must be sent */
	size_t our_octets;
	struct foreign_direction tx, rx;
	const char *wrong; /**< the first thing that ours must not have done */

	/* What it is like. */
	size_t octets;     /**< that it sends */
	size_t record_max; /**< content of one record, at most */
	double pads, empties, renews, asks, tickets;
	double joins;       /**< what it sends, to what it sends next */
	bool answers;       /**< a KeyUpdate that asks for one; RFC 8446 makes it */
	bool closes_second; /**< its FIN follows ours */
	const struct foreign_tls_end *end;

	/* What it has sent. */
	uint8_t *joined; /**< to be sent with the next */
	size_t joined_len;
	size_t sent;
	unsigned renewed, asked;
	bool waits_for_update; /**< it has asked, and none has come since */
	bool owes_update;
	bool ended;

	/* What it was sent. */
	size_t got;
	unsigned updates;
	bool notified; /**< a close_notify */
	int alert;     /**< a fatal one, or FOREIGN_NONE */
};

/** Draw what it is like. Both have the same keys, of @p secret the peer's and ours. */
void foreign_tls_begin(
	struct foreign_tls *p, uint16_t suite, const uint8_t *secret, const uint8_t *our_secret);

/** Its connection is not touched. */
void foreign_tls_done(struct foreign_tls *p);

/** Send something, and in its turn the end. */
void foreign_tls_step(struct foreign_tls *p);

/** Take what has come. @return there was a record. */
bool foreign_tls_input(struct foreign_tls *p);

/** Close the LLP, if the end has not. */
void foreign_tls_close(struct foreign_tls *p);

#endif
