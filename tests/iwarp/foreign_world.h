/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_world.h
 * What the test knows of both ends of the stream: the host under test, its memory and what its
 * program has asked for, and what the peer has sent. It is the oracle's, and knows no product type.
 */
#ifndef TESTS_IWARP_FOREIGN_WORLD_H
#define TESTS_IWARP_FOREIGN_WORLD_H

#include "base/prng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Areas of the host's memory: a region each. */
enum foreign_area {
	AREA_RECV,   /**< receives; local */
	AREA_SINK,   /**< of the host's Reads and Atomics; local */
	AREA_SEND,   /**< what the host sends; local */
	AREA_WRITE,  /**< the peer may write there, and windows are bound to it */
	AREA_READ,   /**< the peer may read there */
	AREA_ATOMIC, /**< the peer's Atomics */
	AREA_OTHER,  /**< all rights, but in another protection domain */
	AREAS
};

#define AREA_LEN    16384u
#define SLOTS       16u /**< of AREA_RECV and AREA_SINK: one for each request */
#define SLOT_LEN    (AREA_LEN / SLOTS)
#define ATOMICS     8u
#define WINDOWS     4u
#define WINDOW_LEN  4096u
#define MOST        600u /**< requests, messages and segments of a run, each */
#define PLACED_MOST 4000u
#define NOISE_LEN   65536u

enum request_kind {
	REQUEST_SEND,
	REQUEST_WRITE,
	REQUEST_WRITE_IMM,
	REQUEST_READ,
	REQUEST_FETCH_ADD,
	REQUEST_CMP_SWAP,
	REQUEST_BIND,
	REQUEST_INVALIDATE,
};

/** A send request of the host's program. */
struct request {
	enum request_kind kind;
	bool signaled, fence, solicited, invalidates;
	uint32_t from[2], part[2]; /**< in AREA_SEND: two pieces */
	uint32_t len;
	uint32_t slot; /**< of AREA_SINK */
	uint32_t stag; /**< remote, or to invalidate */
	uint64_t to;
	uint32_t imm;
	uint64_t operand[4]; /**< of Atomics: data, mask, compare, compare mask */
	unsigned window;
	bool seen;     /**< the peer has it, whole */
	bool begun;    /**< a Read or Atomic: the peer has begun to answer */
	bool answered; /**< a Read or Atomic: the peer has sent the answer, whole */
	bool late_begun, late_answered; /**< so, but behind the illegal thing */
	bool done;                      /**< its completion was polled */
	uint8_t answer[SLOT_LEN];
};

/** A receive of the host's program: two pieces of its slot. */
struct receive {
	uint32_t at[2], part[2];
	bool done;
};

/** A message of the peer to the host's receives. */
struct delivery {
	uint8_t opcode;
	const uint8_t *payload;
	uint32_t len, stag, imm;
	uint32_t write_len; /**< of Immediate Data: of the Write that ended right before; 0: none */
	unsigned placed;    /**< segments of Writes before it */
	bool late;          /**< behind an error: it must not come */
	bool begun;         /**< it is the error: some of it may be there */
};

/** A segment of a Write of the peer. */
struct placed {
	uint32_t at, len; /**< in AREA_WRITE */
	const uint8_t *payload;
	bool late;
};

/** To write or to read, by its number. */
struct window {
	enum { WINDOW_FREE, WINDOW_BINDING, WINDOW_BOUND, WINDOW_ENDING } state;
	bool used; /**< it was bound before */
	uint32_t stag;
	uint32_t at;   /**< in its area */
	uint64_t base; /**< the Tagged Offset that stands for it */
};

struct foreign_world {
	struct prng random;
	bool trace;
	const char *wrong; /**< the first thing that must not be */
	uint8_t noise[NOISE_LEN];

	/* the host */
	uint8_t *memory; /**< AREAS of them */
	uint64_t iova[AREAS];
	uint32_t stag[AREAS];
	struct request request[MOST];
	unsigned requests, polled; /**< polled: all before it were polled or need not be */
	struct receive receive[MOST];
	unsigned receives, received; /**< posted; polled */
	struct window window[WINDOWS];
	bool closed;              /**< the host's program has disconnected */
	unsigned receives_closed; /**< as many were posted then */
	bool stopped;             /**< it has ended its queue pair by force */
	bool whole;               /**< TCP hands up segments as they were sent */
	bool waits;               /**< messages wait for receives */
	bool asks_none;  /**< no Read or Atomic any more: an answer to none is on its way */
	bool posts_none; /**< no receive any more: a message that needs one is on its way */

	/* the peer */
	struct delivery delivery[MOST];
	unsigned deliveries;
	struct placed placed[PLACED_MOST];
	unsigned placings;
	uint64_t atomic[ATOMICS]; /**< what they are, when all that was sent is done */
	bool broken;              /**< it has done the illegal thing */
	bool shuffled;            /**< some has overtaken other: RFC 5040 section 5.5 rule 3 */
	bool overtaken;           /**< what came behind the illegal thing has overtaken it */
	bool excused;             /**< the stream may end, or part of it be lost: it ended it so */
};

static inline void world_wrong(struct foreign_world *w, const char *what)
{
	if (!w->wrong)
		w->wrong = what;
}

static inline uint32_t world_below(struct foreign_world *w, uint64_t n)
{
	return (uint32_t)prng_below(&w->random, n);
}

static inline bool world_chance(struct foreign_world *w, double p)
{
	return prng_chance(&w->random, p);
}

static inline uint8_t *world_area(const struct foreign_world *w, enum foreign_area area)
{
	return w->memory + area * (size_t)AREA_LEN;
}

static inline enum foreign_area window_area(unsigned window)
{
	return window < WINDOWS / 2 ? AREA_WRITE : AREA_READ;
}

static inline bool request_is_read(const struct request *q)
{
	return q->kind == REQUEST_READ || q->kind == REQUEST_FETCH_ADD ||
	       q->kind == REQUEST_CMP_SWAP;
}

/**
 * A host whose program has closed waits for no receive: with none for a message it drops all but
 * answers, and an illegal thing is not looked at. A receive that is posted later may be too late.
 */
static inline bool world_takes_answers_only(const struct foreign_world *w)
{
	return w->closed && w->deliveries > w->receives_closed &&
	       !w->delivery[w->receives_closed].late;
}

/** The host may have taken the answer to @p q. */
static inline bool world_has_answered(const struct foreign_world *w, const struct request *q)
{
	return q->answered || (q->late_answered && world_takes_answers_only(w));
}

static inline bool request_is_local(const struct request *q)
{
	return q->kind == REQUEST_BIND || q->kind == REQUEST_INVALIDATE;
}

#endif
