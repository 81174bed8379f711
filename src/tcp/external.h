/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file external.h
 * Text that leaves from the program's memory (docs/placement.md): a record that is a chain of three
 * mbufs. The first has the headers and the head of the text, the second is attached to the
 * program's memory, the third to zeros. In the first is room for the whole text, so that it can
 * always be copied there: tcp_sendq_own().
 *
 * A record is sent so once. Whoever sends it again, cuts it, or copies from it takes a copy first,
 * and so does who is told that the memory will be used for something else.
 *
 * Each mbuf that is attached counts as a reference to its memory, so the memory stays pinned, and
 * mapped for the device, until the driver has let go of the last one. The third counts as one to
 * its connection, which so knows what of it the port has, also of what was acknowledged or copied
 * since.
 *
 * Whoever takes the memory back, or ends the connection, settles: what waits for a neighbour or in
 * the port's queue is dropped, as what it is of has been copied or is of no use, and what the
 * device has is waited for, as long as that helps.
 */
#ifndef TCP_EXTERNAL_H
#define TCP_EXTERNAL_H

#include "llp/llp.h"
#include "tcp/external_backoff.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct tcp_conn;
struct tcp_stack;

/** Most zeros behind external text. */
#define TCP_EXTERNAL_ZEROS 8

/** What mbufs are attached to that have zeros. In memory that devices reach. */
struct tcp_external_zeros {
	struct rte_mbuf_ext_shared_info shared;
	uint8_t bytes[TCP_EXTERNAL_ZEROS];
};

/** What a connection's third mbufs are attached to. It outlives the connection with them. */
struct tcp_external_loan {
	struct rte_mbuf_ext_shared_info shared; /**< one reference is the connection's */
	struct tcp_external_zeros *zeros;       /**< one reference to it */
	struct tcp_external_backoff backoff;
	uint16_t left; /**< references after it was settled in vain, and no frame since; or 0 */
};

/** The second mbuf of such a record is attached to @p memory. */
bool tcp_external_is_of(const struct rte_mbuf *m, const struct llp_memory *memory);

/** @return 0, -ENOMEM. Does nothing if the stack is configured without. */
int tcp_external_init(struct tcp_stack *s);
void tcp_external_fini(struct tcp_stack *s);

/** Is it of use now to keep text of @p c where it is? */
bool tcp_external_is_taken(const struct tcp_conn *c);

/** Is everything copied for now? */
bool tcp_external_backs_off(const struct tcp_conn *c);

/** A record that is external is sent; or is sent again as a copy, and so was lost. */
void tcp_external_sent(struct tcp_conn *c);
void tcp_external_lost(struct tcp_conn *c);

/**
 * Chain what is to follow behind @p m, a record's first @p head bytes of @p len.
 * @return false: there are no mbufs for that, or there is no memory.
 */
bool tcp_external_chain(struct tcp_conn *c, struct rte_mbuf *m, uint32_t len, uint32_t head,
	const struct llp_external *e);

/**
 * Copy what is queued from @p memory; NULL: from any. @return false: it cannot be, and the
 * connection ends soon, without another look at it.
 */
bool tcp_external_own(struct tcp_conn *c, const struct llp_memory *memory);

/**
 * Settle what was sent for @p c, once for the same frames. A device that does not tell, or stands
 * still, may read on from pages that stay ours.
 * @param owned none of its records is external any more. Otherwise it ends at once, and what the
 *        device has is waited for then.
 */
void tcp_external_settle(struct tcp_conn *c, bool owned);

/** @p c ends: settle, and forget it. */
void tcp_external_end(struct tcp_conn *c);

/** The same as tcp_external_own() for record @p i. @return 0 or -ENOMEM. */
int tcp_external_own_record(struct tcp_conn *c, uint32_t i);

/** As llp_memory_add() and llp_memory_remove(). */
struct llp_memory *tcp_external_add(struct tcp_stack *s, void *addr, size_t len);
void tcp_external_remove(struct tcp_stack *s, struct llp_memory *memory);

#endif
