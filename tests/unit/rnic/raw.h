/* SPDX-License-Identifier: BSD-2-Clause */
/** @file raw.h One RNIC of a pair against a peer that the test plays itself, byte by byte. */
#ifndef TESTS_UNIT_RNIC_RAW_H
#define TESTS_UNIT_RNIC_RAW_H

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define REQ_KEY "MPA ID Req Frame"
#define REP_KEY "MPA ID Rep Frame"

/** A connects to whatever listens at b's port. */
static inline void raw_connect(struct pair *p, uint16_t ird, uint16_t ord)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = p->a.qp, .ird = ird, .ord = ord};

	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_run(p);
}

/** Answer a's request with these flags, revision and private data field. */
static inline void raw_reply(struct pair *p, struct llp_mem_peer *peer, uint8_t flags,
	uint8_t revision, const void *data, uint8_t len)
{
	uint8_t frame[20 + 255] = REP_KEY;

	assert_non_null(peer->llp);
	assert_true(peer->rx_len >= 20);
	assert_memory_equal(peer->rx, REQ_KEY, 16);
	llp_mem_peer_consume(peer, peer->rx_len);
	frame[16] = flags;
	frame[17] = revision;
	frame[19] = len;
	memcpy(frame + 20, data, len);
	llp_mem_send_raw(peer->llp, frame, 20u + len);
	pair_run(p);
}

/** The peer has a Terminate of MPA: layer 2 (LLP), error type 0, and the code, behind 2 + 18 bytes
 * of FPDU and DDP header. */
static inline void raw_expect_terminate(const struct llp_mem_peer *peer, uint8_t code)
{
	assert_true(peer->rx_len > 24);
	assert_int_equal(peer->rx[2 + 1] & 0x0f, 7); /* RDMAP opcode: Terminate */
	assert_int_equal(peer->rx[20], 0x20);
	assert_int_equal(peer->rx[21], code);
	assert_true(peer->eof);
}

/** From a's host, connect to b's listener and send this. */
static inline void raw_ask(struct pair *p, struct llp_mem_peer *peer, const void *bytes, size_t len)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	llp_mem_peer_connect(peer, p->mem, 0, &to);
	pair_run(p);
	assert_true(peer->connected);
	if (len)
		llp_mem_send_raw(peer->llp, bytes, len);
	pair_run(p);
}

#endif
