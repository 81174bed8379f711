/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file link.h
 * One connection of tests/chaos: both sides send, write, read and count in each other's memory
 * without an end, and check each byte and each completion. Each has a PD, a CQ, a region and a QP
 * of its own, and gives them back at the end.
 */
#ifndef CHAOS_LINK_H
#define CHAOS_LINK_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define LINK_QUEUE  32          /**< send requests under way */
#define LINK_WINDOW 16          /**< messages that the peer has not acknowledged */
#define LINK_SIZE   (16 * 1024) /**< of the longest message */

/** In the private data of request and reply. */
struct link_hello {
	uint64_t nonce;
	uint64_t addr;
	uint32_t rkey;
	/** This side takes memory away that it has given: its peer's requests may fail by that. */
	uint32_t unmaps;
};

enum link_state {
	LINK_CONNECTING,
	LINK_UP,
	LINK_ENDING, /**< it has failed, or is disconnected: all that is posted is to be flushed */
};

struct link_request {
	uint8_t op; /**< enum ibv_wc_opcode */
	uint32_t len;
	uint64_t first; /**< READ: the first word's number. Atomics: what must have been there. */
};

/** What is broken on purpose, to show that it would be noticed. */
enum link_deliberate {
	LINK_SOUND,
	LINK_LOSES_COMPLETION, /**< one completion is not looked at */
	LINK_FLIPS_BIT,        /**< one bit of what is sent is wrong */
	LINK_LEAKS,            /**< at the end the objects stay */
};

struct link {
	struct link *next;
	unsigned number;
	enum link_state state;
	bool greeted;                   /**< the peer's hello is known */
	bool established, disconnected; /**< the events came */
	bool failed_send, failed_recv;  /**< a request of that queue has failed: none succeeds */
	bool may_unmap, unmapped, peer_unmaps;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct link_hello here, there;
	uint64_t random;
	struct link_request request[LINK_QUEUE];
	uint64_t posted, done;           /**< requests */
	uint64_t recv_posted, recv_done; /**< receives */
	uint64_t sent, acked;            /**< messages, and of those how many the peer has seen */
	uint64_t received, told;         /**< and of those how many the peer has been told of */
	uint64_t heard;                  /**< all that came, acknowledgements too */
	uint64_t spoken;
	uint64_t added, swapped;                     /**< Atomics posted */
	uint64_t ops[IBV_WC_RECV_RDMA_WITH_IMM + 1]; /**< completions of each kind */
	unsigned flushed;                            /**< completions with an error */
	bool works;         /**< told that each kind of request has worked */
	uint64_t silent_ms; /**< since the last completion, or the end; the program's loop counts */
	uint64_t ending_silent_ms; /**< what it was when the end came */
	enum link_deliberate deliberate;
};

/** One line on standard output, and the process ends with status 1. */
void link_wrong(const struct link *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/**
 * The objects of a connection on @p id, and its receives.
 * @return false: there are not enough of something; a line has said so.
 */
bool link_open(struct link *l, struct rdma_cm_id *id, struct ibv_comp_channel *channel);

/** Both sides have said hello: the peer's is in the event. */
bool link_greeted(struct link *l, const struct rdma_conn_param *conn);

/** Take completions, check them, and post what there is room for. */
void link_run(struct link *l);

/** It is over, for whatever reason: everything posted must come back. */
void link_end(struct link *l);

/** @return true: nothing is outstanding, and the end was told. */
bool link_is_over(const struct link *l);

/** Take the memory away, as a program may. The region stays. */
void link_unmap(struct link *l);

/** Give back what link_open() has made, and the id. */
void link_close(struct link *l);

#endif
