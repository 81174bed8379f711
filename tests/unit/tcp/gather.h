/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gather.h A connection whose port gathers text from the program's memory (external.h). */
#ifndef TESTS_UNIT_TCP_GATHER_H
#define TESTS_UNIT_TCP_GATHER_H

#include "host.h"

#include "tcp/external.h"

/** A record: a head, what lies with the program, and zeros. */
#define HEAD 20
#define LEN  1000
#define TAIL 4
#define SIZE (HEAD + LEN + TAIL)

struct gather {
	struct host h;
	struct peer p;
	struct tcp_conn *c;
	struct rte_mempool *pool;     /**< of mbufs for parts */
	struct llp_memory *memory;    /**< of bytes */
	uint8_t *bytes;               /**< 2 * LEN of the program's, by malloc() */
	unsigned mapped, settled;     /**< regions; how often the port was asked to let go */
	unsigned settles;             /**< how often that helps */
	int map_error;                /**< what mapping answers */
	struct rte_mbuf *with_device; /**< what the port lets go of when it is asked to */
	uint8_t text[SIZE];           /**< of a record, as the peer should see it */
	uint32_t seq;                 /**< of the first */
};

/** An accepted connection, with memory; the port has @p mbufs for parts of frames. */
void gather_start(struct gather *g, unsigned mbufs);

/** gather_start(), one record is sent, and the device has it. */
void gather_start_with_device(struct gather *g);

/** See that nothing is mapped and no mbuf missing. */
void gather_finish(struct gather *g);

/** What a record has now is what the peer should see. */
void gather_read(struct gather *g);

/** Queue a record. @return as llp_commit_external(). */
bool gather_commit(struct gather *g, bool join);

/** Queue one, and push. */
void gather_send(struct gather *g);

/** A frame of the record that begins at @p begin, cut by @p skip bytes in front. */
void gather_expect(struct gather *g, uint32_t begin, uint32_t skip, uint32_t len);

/** mbufs that are attached to memory. */
unsigned gather_references(const struct gather *g);

bool gather_is_external(const struct gather *g, uint32_t i);

#endif
