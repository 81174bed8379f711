/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ud_pair.h
 * UD queue pairs (docs/ud.md) of two RNICs, which hand each other their datagrams: over pair.h.
 */
#ifndef TESTS_UNIT_RNIC_UD_PAIR_H
#define TESTS_UNIT_RNIC_UD_PAIR_H

#include "pair.h"
#include "rnic/qp.h"
#include "rnic/ud.h"
#include "ud/datagram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define UD_PAIR_MTU  1024
#define UD_PAIR_PORT 61000
#define UD_PAIR_AT_B 30000 /**< where receives are in the buffer of b */

/** One end of the wire, and what is on its way from it. */
struct ud_wire {
	struct ud_net net;
	struct ud_wire *peer;
	ud_input_fn *input;
	void *user;
	struct ud_path path;
	uint16_t port, to_port;
	uint8_t room[UD_DATAGRAM_MAX];
	size_t len;
	int begin_rc, open_rc;
	bool stuck;            /**< flush() has not sent all */
	void (*sending)(void); /**< called for each datagram */
	unsigned commits, cancels, flushes, prepared;
};

/** Of a and of b. */
struct ud_pair {
	struct pair pair;
	struct ud_wire wire[2];
	struct rnic_qp *qp[2]; /**< in RTS; NULL: the test has destroyed it */
};

extern struct ud_pair ud;

extern const struct rnic_ud_to ud_pair_to_b;

int ud_pair_setup(void **state);
int ud_pair_teardown(void **state);

/** @param srq of its receives; NULL: its own. */
struct rnic_qp *ud_pair_qp(struct side *s, struct rnic_srq *srq);
/** From RESET to RTS. */
void ud_pair_go(struct rnic_qp *q);

/** Begin a Send from a to b's QP, which ud_pair_end() posts. */
struct rdmap_wqe *ud_pair_begin(uint64_t wr_id, uint32_t len, const struct rnic_ud_to *to);
void ud_pair_end(void);
void ud_pair_send(uint64_t wr_id, uint32_t len);
/** So many Sends in one post. @param flags of each, RDMAP_WR_SIGNALED or none. */
void ud_pair_send_many(unsigned n, uint8_t flags);
void ud_pair_expect_sent(uint64_t wr_id, unsigned status);

void ud_pair_post_recv(uint64_t wr_id, uint32_t len);
struct rdmap_wc ud_pair_expect_received(uint64_t wr_id, uint32_t len);
/** Of b. */
struct rnic_ud_stats ud_pair_stats(void);

#endif
