/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file program.h
 * A program by chance, of libibverbs and librdmacm as they are, and what their manual pages say of
 * it. Two pairs of queue pairs, connected by rdma_cm to our own address, post all there is, by each
 * of the ways that there are, and poll. Completion queues and a receive queue are shared among
 * them. Whatever is told is compared with what was posted: one completion for each request that
 * asks for one, in order, with all its fields; each octet in its place and none beside it; an event
 * where one was asked for, and no other.
 */
#ifndef TESTS_VERBS_PROGRAM_H
#define TESTS_VERBS_PROGRAM_H

#include "base/prng.h"

#include <infiniband/verbs.h>

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRAM_ENDS       4 /**< number i is connected with i ^ 1 */
#define PROGRAM_CQS        3
#define PROGRAM_MOST       192 /**< requests of an end; receives of a queue */
#define PROGRAM_SLOTS      16
#define PROGRAM_SLOT       8192u
#define PROGRAM_SGES       3
#define PROGRAM_RECEIVE_ID (UINT64_C(1) << 32) /**< in the wr_id of receives, with their number */
#define PROGRAM_RECEIVES   8                   /**< at once */
#define PROGRAM_ATOMICS    8
/** Without progress; a machine may stand still for seconds. */
#define PROGRAM_PATIENCE_S 120

/** Memory of an end, each a region of its own with no more rights than it needs. */
enum program_area {
	PROGRAM_SOURCE, /**< what is sent; never changes */
	PROGRAM_SINK,   /**< of Reads and Atomics, by slots */
	PROGRAM_TARGET, /**< of the peer's Writes, by slots */
	PROGRAM_READ,   /**< of the peer's Reads; never changes */
	PROGRAM_ATOMIC, /**< of the peer's Atomics */
	PROGRAM_AREAS
};

struct program_memory {
	uint8_t *at; /**< PROGRAM_SLOTS of them */
	struct ibv_mr *mr;
};

/** A request to send; its number is its wr_id. */
struct program_request {
	enum ibv_wr_opcode op;
	unsigned flags; /**< IBV_SEND_* */
	uint64_t turn;  /**< when it was posted */
	struct ibv_sge sge[PROGRAM_SGES];
	int sges;
	uint32_t len;
	unsigned slot; /**< of the sink, or of the peer's target */
	uint32_t at;   /**< there */
	uint32_t rkey;
	uint64_t remote;
	uint32_t imm;
	uint64_t add, swap; /**< of Atomics: to add or to compare with, to swap */
	bool by_window;     /**< through the peer's window */
	bool illegal;
	uint8_t *payload; /**< what it sends or reads, once more */
	uint8_t *scratch; /**< its source is here, and changes once it has completed */
};

struct program_receive {
	struct ibv_sge sge[PROGRAM_SGES];
	int sges;
	uint32_t len;
	unsigned slot;
	bool waits; /**< no completion yet */
};

/** A queue of receives: an end's own, or shared by two. */
struct program_receives {
	struct ibv_srq *srq; /**< NULL: an end's own */
	struct program_memory memory;
	struct program_receive list[PROGRAM_MOST];
	unsigned posted, done; /**< done: they have completed */
	unsigned promised;     /**< messages that were sent for them */
	bool busy[PROGRAM_SLOTS];
};

/** A window of type 2 of the whole target. */
struct program_window {
	enum { WINDOW_FREE, WINDOW_BINDING, WINDOW_BOUND, WINDOW_ENDING } state;
	struct ibv_mw *mw;
	unsigned users; /**< Writes through it that are not known to be placed */
};

struct program_end {
	struct rdma_cm_id *id; /**< NULL: connected without rdma_cm */
	struct ibv_qp *qp;     /**< NULL: it was destroyed */
	struct ibv_qp_ex *builder;
	struct program_end *peer;
	struct program_cq *receive_cq;
	struct ibv_qp_cap cap;
	bool signals_all;
	struct program_memory memory[PROGRAM_AREAS];
	struct ibv_mr *scratch_mr;
	uint8_t *scratch; /**< PROGRAM_MOST times PROGRAM_SLOT */
	struct program_receives *receives;
	struct program_request request[PROGRAM_MOST];
	unsigned posted, polled;
	unsigned placed;   /**< its Writes before that one are known to be placed */
	unsigned consumed; /**< likewise: its messages have come into receives */
	bool sink_busy[PROGRAM_SLOTS], target_busy[PROGRAM_SLOTS];
	uint64_t atomic[PROGRAM_ATOMICS]; /**< what they are when all is done that was posted */
	struct program_window window;
	bool sends_failed, receives_failed; /**< one has; those behind it must, too */
};

struct program_cq {
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex; /**< it is polled so; else NULL */
	struct ibv_comp_channel *channel;
	unsigned asked; /**< as many events may come, at most */
	bool armed, solicited;
	uint64_t armed_turn;       /**< it was armed before that */
	bool due;                  /**< an event must come */
	bool cause;                /**< one of solicited ones may */
	unsigned solicited_posted; /**< messages that are to come there */
	unsigned unacked;
};

/** A completion, however it was polled. */
struct program_completion {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t byte_len, imm, invalidated, qp_num;
	unsigned flags;
};

struct program {
	uint64_t seed;
	struct prng random;
	bool trace;
	uint64_t turn; /**< of posts */
	struct ibv_context *context;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct program_cq cq[PROGRAM_CQS];
	struct program_receives own[PROGRAM_ENDS], shared;
	struct program_end end[PROGRAM_ENDS];
	bool broken; /**< streams may end, and requests fail */
};

/** Each thread has its own. */
extern _Thread_local struct program program;

/** @p what must be; or the seed is told, and the process ends. */
#define NEED(what) ((what) ? (void)0 : program_fail(__FILE__, __LINE__, #what))
_Noreturn void program_fail(const char *file, int line, const char *what);

static inline uint32_t program_below(uint64_t n)
{
	return (uint32_t)prng_below(&program.random, n);
}

static inline bool program_chance(double p)
{
	return prng_chance(&program.random, p);
}

/* ---- objects (program.c) --------------------------------------------------------------------- */

/** What all programs of a thread share. */
void program_begin(void);
void program_stop(void);

void program_open(uint64_t seed);
void program_close(void);

void program_destroy_qp(struct program_end *e);

static inline unsigned program_number(const struct program_end *e)
{
	return (unsigned)(e - program.end);
}

/* ---- memory (memory.c) ----------------------------------------------------------------------- */

/** @p access as for ibv_reg_mr(). */
void program_memory_open(struct program_memory *m, int access);
void program_memory_close(struct program_memory *m);
static inline uint8_t *program_slot(const struct program_memory *m, unsigned slot)
{
	return m->at + (size_t)slot * PROGRAM_SLOT;
}
/** Any that is not @p busy, which it is then, full of a pattern; or PROGRAM_SLOTS. */
unsigned program_slot_take(const struct program_memory *m, bool *busy);
/** In @p slot are @p len octets of @p text from @p at on, and the pattern else. @p maybe: or it is
 *  there still. */
void program_slot_check(const struct program_memory *m, unsigned slot, uint32_t at,
	const uint8_t *text, uint32_t len, bool maybe);
/** What was put into the pieces of a receive; else the pattern. */
void program_receive_check(const struct program_receives *q, const struct program_receive *r,
	const uint8_t *text, uint32_t len, bool maybe);

/* ---- posts (post.c, build.c) ----------------------------------------------------------------- */

/** One to four requests, at once. */
void program_post(struct program_end *e);
/** An illegal one. @return false: it was none. */
bool program_post_illegal(struct program_end *e);
/** A Write of nothing, signaled, that fails if the stream is over. @return false: no room. */
bool program_post_nothing(struct program_end *e);
/** A Read that is signaled: when it is answered all before it has come. @return false: no room. */
bool program_post_last(struct program_end *e);
void program_post_receive(struct program_end *e);
/** Hand @p n requests from @p first on to the device. @return as ibv_post_send(). */
int program_hand_over(struct program_end *e, unsigned first, unsigned n, unsigned *taken);
bool program_consumes(const struct program_request *q);
bool program_is_answered(const struct program_request *q);
bool program_is_write(const struct program_request *q);

/* ---- completions (poll.c, completion.c) ------------------------------------------------------ */

/** Poll @p q for some. @return how many came. */
unsigned program_poll(struct program_cq *q);
unsigned program_poll_all(void);
void program_arm(struct program_cq *q);
/** Read the event of @p q, if there is one; @p wait: there must be. */
void program_event(struct program_cq *q, bool wait);
void program_ack(struct program_cq *q, unsigned n);
void program_completed(struct program_cq *q, const struct program_completion *c);
/** The next of @p e's messages that takes a receive; NULL: none was sent. */
const struct program_request *program_message(struct program_end *e);
bool program_is_signaled(const struct program_end *e, const struct program_request *q);

/* ---- the end (ending.c) ---------------------------------------------------------------------- */

/** All that was posted is done, and as it must be. */
void program_rest(void);
/** The connections end, each in one of the ways that there are; all that waits is flushed. */
void program_end(void);

#endif
