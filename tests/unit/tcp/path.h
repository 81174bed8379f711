/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file path.h
 * A path between a host and its peer, which drops what is too long; and a receiver behind it that
 * keeps what comes: ACK, SACK, D-SACK as RFC 2018 and 2883 say.
 */
#ifndef TESTS_UNIT_TCP_PATH_H
#define TESTS_UNIT_TCP_PATH_H

#include "host.h"

/** Bytes of text that a receiver knows apart. */
#define PATH_BYTES (1u << 23)

struct path {
	struct host h;
	struct peer p;
	struct tcp_conn *c;
	uint16_t mtu;
	uint32_t irs, nxt;    /**< in order so far */
	uint32_t made;        /**< bytes that were queued */
	bool got[PATH_BYTES]; /**< by offset from irs */
	bool dsacks;
	uint32_t unlucky; /**< the segment that begins here is dropped so many times */
	unsigned times;
	unsigned dropped, largest;
};

/** Accept a connection with @p options over a link of @p link and a path of @p mtu. */
void path_start(struct path *path, unsigned options, uint16_t link, uint16_t mtu);

/** The same; @p budget packets may wait to be sent, of all connections. */
void path_start_with_budget(
	struct path *path, unsigned options, uint16_t link, uint16_t mtu, unsigned budget);

/** Carry what was sent over the path, and the answers back. */
void path_carry(struct path *path);

/** Queue a record. @return false: it is refused. */
bool path_queue(struct path *path, uint32_t len);

/** Queue @p n records, as far as they are taken, and push. */
void path_send(struct path *path, unsigned n, uint32_t len);

/** A round of bulk text, each record as large as the EMSS says, as MPA makes them. */
void path_bulk(struct path *path, unsigned rounds);

/** See that all arrives. */
void path_all_arrived(struct path *path);

/** A message: the packet with sequence number @p seq is larger than @p mtu. */
void path_too_big(struct path *path, uint32_t seq, uint16_t mtu);
void path_too_big_for(struct path *path, uint16_t lport, uint32_t seq, uint16_t mtu);

#endif
