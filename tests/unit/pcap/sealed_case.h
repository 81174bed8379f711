/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sealed_case.h Captures of a connection inside of TLS 1.3, and what is read of them. */
#ifndef TESTS_UNIT_PCAP_SEALED_CASE_H
#define TESTS_UNIT_PCAP_SEALED_CASE_H

#include "pcap/check.h"
#include "pcap/follow.h"
#include "support/cap_maker.h"
#include "tls/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** What is made: MPA's text by one maker, and with records around it by another. */
struct sealed_make {
	struct cap_maker clear, sealed;
	size_t done; /**< of the clear one's file */
	struct tls_direction keys[2];
	uint8_t secret[2][TLS_SECRET_MAX];
	const struct tls_suite *suite;
	uint32_t cut;                 /**< text of a segment; 0: a record each */
	uint32_t skip[2];             /**< this record of a side is not captured, from 1 */
	uint32_t count[2];            /**< records of a side */
	bool no_syn, no_hello;        /**< are not captured */
	bool skip_next;               /**< the next record is not captured */
	bool ticket_cut, ticket_lost; /**< the server's first record with the application's keys */
	bool tickets;                 /**< there is another before it, whole */
	bool request_first;           /**< the client's Request is before them */
};

extern struct sealed_make make;

/** Its own, and the key log that it is read with; NULL: one that has these. */
extern struct keylog_secrets secrets;
extern struct keylog *log_in_use;

/** What was told of it. */
struct sealed_seen {
	unsigned connections, starts, fpdus[2], lost, missing, closed, fins;
	size_t rest;
	uint64_t tried, unjudged[SEALED_WHYS];
	unsigned violations;
};

extern struct sealed_seen seen;

/* ---- making --------------------------------------------------------------------------------- */

/** Another capture, with a cipher suite by its number. */
void begin(uint16_t suite);

void handshake(void);

/** What was made in the clear since, @p per segments in a record. */
void seal(unsigned per);

/** A handshake, a start-up, and a Send each way. */
void start(void);

/** The client's messages @p from up to @p to, each as long as its number. */
void sends(unsigned from, unsigned to);

/** Both say that they close, and do. */
void end(void);

/** A record of @p type with its content. */
void record(unsigned side, uint8_t type, const void *bytes, uint32_t len);

/** Text of TCP, in segments of make.cut. */
void text(unsigned side, const uint8_t *bytes, size_t len, bool captured);

/** A side's records have the keys of make.secret from here on. */
void key(unsigned side);

/** A side changes its keys. */
void update(unsigned side);

/* ---- reading -------------------------------------------------------------------------------- */

/** Read a capture; nothing in it has a wrong CRC. @p ops NULL: those that count. */
void look_at(const uint8_t *bytes, size_t len, const struct connection_ops *ops, void *user);

/** Read what was made, let the checker judge it, and free it. */
void look(void);

/** It was judged from its start on, with so many FPDUs. */
void expect_all(unsigned client, unsigned server);

#endif
