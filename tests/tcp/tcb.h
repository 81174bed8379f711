/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcb.h
 * What the host knows of its one connection, byte for byte: to see that a segment changed nothing.
 * The one place of these tests that looks inside of src/tcp.
 */
#ifndef TESTS_TCP_TCB_H
#define TESTS_TCP_TCB_H

#include "script.h"
#include "tcp/conn.h"

#define TCB_RECORDS 64
#define TCB_ISLANDS 8

/** The TCB, what hangs on it, and what the stack counts of it. */
struct tcb {
	unsigned connections, synq; /**< one in all, or none */
	struct tcp_conn conn;
	struct tcp_record record[TCB_RECORDS];
	struct tcp_ooo_state ooo_state;
	struct tcp_range island[TCB_ISLANDS];
	struct tcp_pmtu *pmtu_at;
	uint8_t pmtu[64];
	struct tcp_synq_entry entry;
	uint32_t time_wait, orphans, tx_held, rx_held, rx_claimed;
};

/** Take it down. */
void tcb_take(struct script *s, struct tcb *out);

/**
 * It is as it was, but for counters of segments and challenges; and where the host has @p
 * acknowledged since, for what any ACK that it sends may change: what the peer was told.
 */
void tcb_is_unchanged(struct script *s, const struct tcb *was, bool acknowledged);

#endif
