/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file model.h
 * What verbs promise, in as few words as can be: which completions may come, and what memory may
 * hold. It knows no RNIC, no TCP and no time. The runner of a program tells it what the program did
 * and what came of it; the first thing that must not be is kept in model.wrong.
 *
 * Memory: each host has one arena. A byte of it has the value that it is known to have (`known`),
 * or, while a request that writes to it is under way, the value that this would give it. Once the
 * request must have been placed, only the latter; once its stream is dead, whichever it is then,
 * and no other ever after: so what is placed late, twice or in the wrong place is seen. Requests
 * that would make a byte depend on chance (two Writes to one place) must not be posted: ask
 * model_free().
 */
#ifndef TESTS_VOPR_MODEL_H
#define TESTS_VOPR_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define MODEL_HOSTS   8
#define MODEL_PDS     2 /**< of each host */
#define MODEL_ARENA   131072u
#define MODEL_PIECES  4
#define MODEL_PLACES  16u
#define MODEL_NOWHERE UINT32_MAX
/** Of each arena, what is missing where memory is looked for on demand; the second half only for
 *  those who write. */
#define MODEL_HOLE     36864u
#define MODEL_HOLE_LEN 1024u

enum model_op {
	MODEL_SEND,
	MODEL_WRITE,
	MODEL_WRITE_IMM,
	MODEL_READ,
	MODEL_ADD,
	MODEL_SWAP,
	MODEL_INVALIDATE,
	MODEL_BIND,
	MODEL_RECV,
};

enum model_status {
	MODEL_GOOD,
	MODEL_FLUSHED,
	MODEL_LOCAL_ERROR,  /**< memory of one's own */
	MODEL_LENGTH_ERROR, /**< the message is longer than the receive */
	MODEL_BIND_ERROR,
	MODEL_REMOTE_ACCESS_ERROR,  /**< the peer does not allow it */
	MODEL_REMOTE_REQUEST_ERROR, /**< too long for the peer's receive, or no key to end */
	MODEL_REMOTE_ERROR,         /**< the peer has no receive */
	MODEL_RETRY_ERROR,          /**< the peer is not there, of a pair without rdma_cm */
	MODEL_OTHER_ERROR,          /**< which no program here can cause */
};

/** Asynchronous events of a QP. */
enum model_event {
	MODEL_EVENT_FATAL,
	MODEL_EVENT_ACCESS,
	MODEL_EVENT_REQUEST,
	MODEL_EVENT_LAST, /**< it takes no more from its shared receive queue */
};

/** Why a stream may end. */
#define MODEL_BY_PROGRAM    1u
#define MODEL_BY_NETWORK    2u
#define MODEL_BY_OWN_MEMORY 4u  /**< a request names memory that it must not use */
#define MODEL_BY_REFUSAL    8u  /**< what it asks the peer for may be refused */
#define MODEL_BY_RECEIVE    16u /**< the peer may have no receive for it, or none long enough */
#define MODEL_BY_QUEUE      32u /**< a CQ of it has lost a completion */
#define MODEL_BY_OWN_SINK   64u /**< as BY_OWN_MEMORY, where an answer is to be placed */

enum model_verdict { MODEL_YES, MODEL_MAYBE, MODEL_NO };

#define MODEL_LOCAL_WRITE   1u
#define MODEL_REMOTE_WRITE  2u
#define MODEL_REMOTE_READ   4u
#define MODEL_REMOTE_ATOMIC 8u
#define MODEL_BINDS         16u /**< windows may be bound to it */

struct model;
struct model_qp;

/** What an STag stands for. */
struct model_key {
	struct model *m;
	unsigned host, pd, rights;
	uint32_t off, len; /**< in the arena */
	bool window;
	bool on_demand;              /**< its memory is looked for when it is used */
	const struct model_qp *only; /**< NULL: any QP of the PD */
	enum model_verdict valid;    /**< MAYBE: a request that changes it is under way */
	uint32_t stag; /**< the program's name for it, and the address of its first byte */
	uint64_t base;
	LIST_ENTRY(model_key) link;
};

struct model_piece {
	uint32_t off, len;
};

/** Does it take a receive of the peer's? */
static inline bool model_is_message(enum model_op op)
{
	return op == MODEL_SEND || op == MODEL_WRITE_IMM;
}

/** A request. The poster fills in the first part. */
struct model_wr {
	uint64_t id;
	enum model_op op;
	bool signalled, fence, solicited, copied; /**< copied: inline, not read after the post */
	bool with_imm;                            /**< of a SEND */
	unsigned n;
	struct model_piece piece[MODEL_PIECES]; /**< of one's own arena */
	struct model_key *local;                /**< of the pieces */
	struct model_key *remote;               /**< or NULL: of none; of a BIND: the region */
	uint32_t at;                            /**< in the peer's arena; of a BIND: in one's own */
	uint32_t length;
	uint32_t imm;
	struct model_key *change;     /**< what INVALIDATE, or a SEND, ends, or BIND begins */
	struct model_key *change_end; /**< what BIND ends, or NULL */
	unsigned bind_rights;
	uint64_t operand, compare, mask, compare_mask;
	/* The model's own. */
	uint64_t seq;
	enum model_verdict verdict_local, verdict_remote;
	bool too_long; /**< for the peer's receives */
	uint8_t *data; /**< what is to be found where it writes */
	unsigned refs;
	TAILQ_ENTRY(model_wr) link, inbox_link;
};

TAILQ_HEAD(model_wrs, model_wr);

/** A receive queue, of one QP or shared. */
struct model_rq {
	struct model *m;
	unsigned host;
	bool shared;
	unsigned holes; /**< elements that QPs may have gone with, of a shared one */
	struct model_wrs wrs;
	LIST_HEAD(, model_qp) users;
	unsigned count, expected; /**< elements; messages on their way to them */
	unsigned limit;           /**< an event tells that there are fewer; 0: none will */
	uint64_t limit_since;     /**< number of the newest request when it was set */
	uint32_t least;           /**< bytes that each of them has room for at least */
};

struct model_qp {
	struct model *m;
	unsigned host, pd, rights;
	bool all_signalled;    /**< each request makes a completion (sq_sig_all) */
	struct model_qp *peer; /**< NULL: none, or it is gone */
	struct model_rq *rq;
	bool up;           /**< there is a stream */
	bool dead;         /**< there was */
	bool told;         /**< its program has been told of it */
	bool made;         /**< both have */
	bool paired;       /**< without rdma_cm: see model_pair() */
	unsigned why;      /**< MODEL_BY_*: reasons of its own why its stream may end */
	unsigned left_why; /**< those of its peer, which is gone */
	unsigned reasons, lasting, lasting_reasons;
	uint64_t suspect;    /**< the newest request of such reasons as may pass */
	bool suspect_answer; /**< they have not before it is answered */
	unsigned events;     /**< 1 << enum model_event: told */
	bool sq_failed, rq_failed;
	bool sq_lost, rq_lost; /**< its CQ tells no more */
	bool must_end;         /**< its stream, for that */
	bool held;             /**< in SQD, and what had begun has ended */
	uint64_t doomed;       /**< number of the request that must end it; 0: none */
	uint64_t posted;
	unsigned count; /**< requests in sq */
	struct model_wrs sq, inbox;
	LIST_ENTRY(model_qp) user;
};

/** What an event of a CQ is to tell of: more as it goes on. */
enum model_arm {
	MODEL_ARM_NONE,
	MODEL_ARM_SOLICITED, /**< a message that its sender marked, or what has failed */
	MODEL_ARM_ANY,
};

/** A completion queue, as far as it tells of completions. */
struct model_cq {
	struct model *m;
	unsigned host;
	enum model_arm armed;
	enum model_arm told; /**< an event has told of such a completion, which is still in it */
	bool mixed;          /**< what came before it was armed may be in it, too */
	bool lost;           /**< it has overflowed: an event may also tell of that */
};

/** A request under way may read or write this. */
struct model_claim {
	struct model_wr *wr;
	uint32_t off, len;
	bool write, incoming; /**< incoming: by the peer of `via` */
	struct model_qp *via; /**< its stream touches the memory; NULL: a shared receive */
	const struct model_key *key;
	const uint8_t *data; /**< NULL: not known yet */
};

struct model_host {
	uint8_t *memory; /**< the arena, the program's */
	uint8_t *known;
	struct model_place {
		uint32_t off, len;
	} placed[MODEL_PLACES]; /**< where peers have written last */
	unsigned n_placed;
	unsigned qps[MODEL_PDS];
	struct model_claim *claim;
	unsigned n, room;
};

struct model {
	char wrong[256]; /**< empty: nothing */
	struct model_host host[MODEL_HOSTS];
	LIST_HEAD(, model_key) keys;
	bool waits;     /**< a message may come before its receive */
	bool faultless; /**< the network and the hosts do nothing bad */
	uint64_t good, failed, received, resolved;
};

/** @param memory MODEL_ARENA bytes for each host. */
void model_init(struct model *m, uint8_t *const memory[MODEL_HOSTS]);
void model_fini(struct model *m);

/** It is valid at once. A window's: MODEL_NO until a BIND has ended. */
struct model_key *model_key_new(
	struct model *m, unsigned host, unsigned pd, uint32_t off, uint32_t len, unsigned rights);
/** Is all of this there for who needs these rights? */
bool model_is_there(const struct model_key *k, uint32_t off, uint32_t len, unsigned rights);
/** Would @p qp's peer get these rights there? */
enum model_verdict model_judge(const struct model_key *k, const struct model_qp *qp, uint32_t off,
	uint32_t len, unsigned rights);
/** May @p qp end it; @p remote: its peer, by a message? */
enum model_verdict model_judge_end(
	const struct model_key *k, const struct model_qp *qp, bool remote);
/** May @p qp bind a window so? */
enum model_verdict model_judge_bind(const struct model_qp *qp, const struct model_wr *w);
/** A PD has a QP more, or less: whether its regions are of one stream alone may be another now. */
void model_pd_doubt(struct model *m, unsigned host, unsigned pd);
/** Whether it holds, nobody knows: something that changes it is under way. */
void model_key_doubt(struct model_key *k);
/** Does something under way use it? */
bool model_key_is_used(const struct model_key *k);
/** It stands for nothing from here on, whatever is under way. */
void model_key_end(struct model_key *k);

void model_rq_init(
	struct model *m, struct model_rq *rq, unsigned host, bool shared, uint32_t least);
void model_rq_fini(struct model_rq *rq);
/** Tell when fewer than @p limit elements are left. @p newest: the number of the newest request. */
void model_rq_set_limit(struct model_rq *rq, unsigned limit, uint64_t newest);
/** It was set: has the event come, if there are fewer already? */
void model_rq_limit_is_set(const struct model_rq *rq);
void model_rq_limit_event(struct model_rq *rq);
/** So much time passes that what waits for a receive does so no longer. */
void model_rq_expire(struct model_rq *rq);
void model_qp_init(struct model *m, struct model_qp *qp, unsigned host, unsigned pd,
	unsigned rights, struct model_rq *rq);
/** It is destroyed; model_gone() came before. */
void model_qp_fini(struct model_qp *qp);

/** They are about to be connected. */
void model_connect(struct model_qp *a, struct model_qp *b);
/**
 * Likewise, without rdma_cm: nobody is told of the stream, messages always wait for their receives,
 * and if one side ends, what the other posts next tells.
 */
void model_pair(struct model_qp *a, struct model_qp *b);
/** Its program is told of it. */
void model_established(struct model_qp *qp);
/** Its program is told of the end. */
void model_disconnected(struct model_qp *qp, bool in_order);
/** The network may end its stream from here on. */
void model_excuse(struct model_qp *qp);
/** A CQ has overflowed: of its requests, or its receives, or both nobody is told any more. */
void model_lose(struct model_qp *qp, bool requests, bool receives);
/** One of its programs ends it. */
void model_end(struct model_qp *qp);
/** Its stream has ended. */
void model_dead(struct model_qp *qp);
/** Its program is about to reset or to destroy it: no event comes any more. */
void model_leave(struct model_qp *qp, bool in_error);
/** It is reset or destroyed: no completion of it comes any more. */
void model_gone(struct model_qp *qp);

/** May a request of @p qp touch this, so that what comes of it is known? */
bool model_free(struct model *m, unsigned host, uint32_t off, uint32_t len, bool write);
/** Likewise, on the remote side, after what the same QP has posted; @p atomic: the key of
 *  an Atomic, or NULL. */
bool model_free_behind(const struct model_qp *qp, uint32_t off, uint32_t len, bool write,
	const struct model_key *atomic);
/** Likewise, behind a fence. */
bool model_free_fenced(const struct model_qp *qp, uint32_t off, uint32_t len);

/** @p wr is copied. */
void model_post(struct model_qp *qp, const struct model_wr *wr);
/** @param qp NULL: shared. */
void model_post_recv(struct model_rq *rq, struct model_qp *qp, const struct model_wr *wr);

struct model_completion {
	uint64_t id;
	enum model_op op; /**< as told; MODEL_WRITE also of one with Immediate */
	enum model_status status;
	bool immediate, solicited;
	bool of_write; /**< a receive: told as that of a Write with Immediate */
	uint32_t length, imm;
	bool ends; /**< the message ended the key with @p stag */
	uint32_t stag;
};
void model_complete(struct model_qp *qp, const struct model_completion *c);

void model_cq_init(struct model *m, struct model_cq *cq, unsigned host);
/** Its program asks for an event. @p empty: there was no completion in it. */
void model_cq_arm(struct model_cq *cq, enum model_arm what, bool empty);
void model_cq_event(struct model_cq *cq);
/** @return what was asked for, if an event has told of this one. */
enum model_arm model_cq_polled(struct model_cq *cq, const struct model_completion *c);
/** There are no more completions in it. */
void model_cq_empty(struct model_cq *cq);
/** Completions of which an event has told are gone. @p all: it has overflowed. */
void model_cq_lose(struct model_cq *cq, bool all);

void model_event(struct model_qp *qp, enum model_event e);
/** It is in ERROR: all events have come. */
void model_in_error(struct model_qp *qp);

/** The program writes; model_free() has said that it may. */
void model_fill(struct model *m, unsigned host, uint32_t off, uint32_t len, uint64_t seed);

/** Look at all memory. */
void model_look(struct model *m);

/** The id of the oldest request that has not completed; 0: there is none. */
uint64_t model_oldest(const struct model_qp *qp);

/** Must there still be a completion, if nothing more happens? */
bool model_owes(const struct model_qp *qp);
/** Is there nothing that must still happen on it? */
bool model_idle(const struct model_qp *qp);

bool model_is_atomic(const struct model_wr *w);
/** A Read or an Atomic. */
bool model_is_answered(const struct model_wr *w);

/** The first word counts. */
void model_fail(struct model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
