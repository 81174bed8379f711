/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file world.h
 * The hosts that run a program, with their objects in slots, the network between them, and the
 * model that is told of all this. A step that finds its slot empty, or full, does nothing.
 */
#ifndef TESTS_VOPR_WORLD_H
#define TESTS_VOPR_WORLD_H

#include "base/prng.h"
#include "rnic/ep.h"
#include "sim/host.h"
#include "sim/path.h"
#include "sim/pcapng.h"
#include "sim/switch.h"
#include "vopr/box.h"
#include "vopr/forge.h"
#include "vopr/mangle.h"
#include "vopr/model.h"
#include "vopr/overlap.h"
#include "vopr/program.h"
#include "vopr/tally.h"
#include "vopr/world_ud.h"

#include <stdio.h>

#define WORLD_PDS       MODEL_PDS
#define WORLD_CQS       4
#define WORLD_SRQS      2
#define WORLD_MRS       6
#define WORLD_MWS       4
#define WORLD_QPS       8
#define WORLD_DEPTH     32
#define WORLD_SMALL     16 /**< entries of the last CQ, which may overflow */
#define WORLD_PORT      7174
#define WORLD_PAIR_PORT 7175

#define WORLD_REMOTE \
	(RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC)

struct world;
struct world_host;

struct world_cq {
	struct world_host *h;
	struct rnic_cq *cq;
	struct model_cq model;
	bool told;            /**< its program will look at it now */
	bool by_notification; /**< its program sleeps until it is told of completions */
	bool overflowed;      /**< and so has told its program */
};

struct world_srq {
	struct rnic_srq *srq; /**< NULL: empty slot */
	unsigned pd, users;
	struct model_rq rq;
};

struct world_mr {
	struct rnic_mr *mr; /**< NULL: empty slot */
	unsigned pd, windows;
	unsigned kind; /**< RNIC_ACCESS_ZERO_BASED, RNIC_ACCESS_ON_DEMAND */
	struct model_key *key;
};

struct world_mw {
	struct rnic_mw *mw; /**< NULL: empty slot */
	unsigned pd;
	bool alone;            /**< type 2 */
	struct model_key *key; /**< what it stands for, or will; NULL: never bound */
	bool binding;
	bool stale;               /**< whether a bind was done, nobody knows */
	struct world_qp *by;      /**< that is to bind it */
	struct model_key *before; /**< what it stood for until then */
	struct world_mr *of;      /**< the region it may be bound to */
};

/** One end of a connection, from its first packet until it is known to be over. */
struct world_end {
	struct world_host *h;
	struct world_end *next;
	struct rnic_ep *ep;
	struct world_qp *qp; /**< NULL: it has another connection, or is gone */
	bool established, over, given_up;
	bool closing;
	uint32_t attempt;
	bool asked;   /**< the peer has heard of it */
	bool refused; /**< and has rejected it */
};

struct world_qp {
	struct world_host *h;
	struct rnic_qp *qp; /**< NULL: empty slot */
	unsigned slot, pd;
	struct world_cq *send_cq, *recv_cq;
	struct world_srq *srq;
	struct world_end *end;
	bool leaving;      /**< in the call that destroys or resets it */
	bool linked;       /**< the model knows of its connection */
	unsigned far;      /**< the host at its other end, which stays when the peer is gone */
	uint64_t paired;   /**< the attempt to connect it without rdma_cm; 0: none */
	bool told_joined;  /**< that its stream stands, while it was in RTR */
	uint64_t patience; /**< ns; of a pair that is not endless */
	uint64_t left_at;  /**< its peer had ended, and left_wr waited for it; 0: not so */
	uint64_t left_wr;  /**< the oldest request then */
	bool endless;      /**< what it posts waits for its peer for ever */
	bool sig_all;
	bool drained; /**< in SQD by its program */
	bool told_drained;
	bool asked;   /**< which wants to be told when all that had begun has ended */
	bool garbled; /**< the network changed what its stream carries, or may have */
	bool last;    /**< the last request of all is posted */
	struct model_rq rq;
	struct model_qp model;
};

struct world_host {
	struct world *w;
	unsigned index;
	struct sim_host *host;
	struct rnic *rnic;
	uint8_t *memory;
	struct rnic_pd *pd[WORLD_PDS];
	struct world_cq cq[WORLD_CQS];
	struct world_srq srq[WORLD_SRQS];
	struct world_mr mr[WORLD_MRS];
	struct world_mw mw[WORLD_MWS];
	struct world_qp qp[WORLD_QPS];
	struct world_uds uds;
	struct rnic_ep *listener;
	struct world_end *ends;
	struct sim_path up, down;
	struct mangle *mangle;
	struct box *box;
	struct forge *forge;
	struct overlap *overlap;
	struct sim_element *split, *coalesce; /**< of what it sends */
	bool resplit;                         /**< in other sizes after each step */
};

struct world {
	const struct program *program;
	struct sim *s;
	struct sim_switch *sw;
	struct model m;
	unsigned n, cqs; /**< hosts; CQs of each */
	struct world_host host[MODEL_HOSTS];
	uint8_t *memory; /**< of all */
	uint64_t next_id, attempts, operations, completions, established;
	struct tally told; /**< completions */
	struct rte_mbuf *hogged[4096];
	unsigned n_hogged;
	uint64_t next_place;
	uint64_t calm_since;
	uint64_t no_memory;    /**< allocations that had failed when a verb was last called */
	uint64_t scarce_until; /**< allocations may fail */
	const struct tls_config *tls; /**< NULL: streams are in the clear */
	bool disturbed;  /**< packets may have overtaken each other since the beginning */
	bool deliberate; /**< see world_options */
	bool over;       /**< nothing is left of the hosts' objects */
	bool still;      /**< no program runs, as a host stands still */
	bool ending;     /**< the program is over; what is posted is to end it */
	FILE *trace;     /**< NULL: none */
	struct sim_pcapng *pcap;
	struct prng r; /**< of the step */
	struct prng wire;
};

struct world_options {
	FILE *trace;
	const char *pcap; /**< NULL: none */
	bool deliberate;  /**< one completion in 16 is lost, to see what comes of it */
};

void world_create(struct world *w, const struct program *p, const struct world_options *o);
/** Everything is destroyed, which must succeed. */
void world_destroy(struct world *w, char wrong[256]);

void world_trace(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** A product's call that must succeed, if there is memory. */
bool world_must(struct world *w, int r, const char *what);

static inline uint64_t world_below(struct world *w, uint64_t n)
{
	return prng_below(&w->r, n);
}

/** Likewise; never in a program of an older generator than @p version. */
static inline bool world_chance_since(struct world *w, unsigned version, double p)
{
	return w->program->profile.version >= version && prng_chance(&w->r, p);
}

static inline bool world_chance(struct world *w, double p)
{
	return prng_chance(&w->r, p);
}

/* world_object.c */
void world_mr_reg(struct world_host *h);
/** There shall be all of the arena, for all PDs. */
void world_mr_ensure(struct world_host *h);
void world_mr_rereg(struct world_host *h);
void world_mr_dereg(struct world_host *h);
void world_mw_alloc(struct world_host *h);
void world_mw_dealloc(struct world_host *h);
void world_cq_create(struct world_cq *q);
/** It has lost a completion. */
void world_cq_failed(struct world_cq *q);
void world_cq_resize(struct world_host *h);
void world_srq_create(struct world_host *h);
void world_srq_destroy(struct world_host *h);
void world_srq_limit(struct world_host *h);
void world_qp_create(struct world_host *h);
void world_qp_modify(struct world_host *h, enum rnic_qp_state state);
/** All that had begun in SQD has ended. */
void world_qp_drained(struct world_qp *q);
void world_qp_destroy(struct world_host *h);
void world_qp_reset(struct world_qp *q);
void world_qp_reset_any(struct world_host *h);
/** What has ended begins again: in its slot, reset or made anew, and connected. */
void world_renew(struct world_host *h);
/** Take the slot's QP out, whatever it does. */
void world_qp_end(struct world_qp *q);
void world_objects_destroy(struct world_host *h);
struct world_qp *world_any_qp(struct world_host *h);
/** Most often one whose stream stands, where what is posted means something. */
struct world_qp *world_working_qp(struct world_host *h);

/* world_post.c */
void world_post(struct world_host *h);
/** Until its send queue is full. */
void world_post_all(struct world_qp *q);
void world_recv(struct world_host *h);
/** Enough receives for what is on its way. */
void world_feed(struct world_host *h);
/** A Read behind all else, signalled: when it has ended, so has all before it. */
void world_post_last(struct world_qp *q);
void world_scribble(struct world_host *h);

/* world_poll.c */
void world_poll(struct world_cq *q, unsigned most);
/** All that are not by_notification. */
void world_poll_all(struct world_host *h);
void world_arm(struct world_cq *q);
rnic_cq_notify_fn world_cq_notify;
/** Look which streams have ended. */
void world_notice(struct world *w);

/* world_cm.c */
void world_listen(struct world_host *h);
void world_connect(struct world_host *h);
void world_disconnect(struct world_host *h);
void world_end_destroy(struct world_host *h);
/** Free what is over. */
void world_reap(struct world_host *h);

/* world_pair.c */
/** Both programs know of each other, and connect without rdma_cm. */
void world_pair(struct world_qp *q, struct world_qp *to);
/** An event tells that the stream stands. */
void world_pair_joined(struct world_qp *q);
/** The peer has ended. */
bool world_pair_is_left(const struct world_qp *q);
/** Likewise, and nobody need notice: docs/connect.md. */
bool world_pair_is_forgotten(const struct world_qp *q);
/** Look whether what it has posted waits for longer than it may. */
void world_pair_notice(struct world_qp *q);

/* world_fault.c */
void world_network_create(struct world *w, const char *pcap);
void world_fault(struct world_host *h, const struct step *step);
/** It was paired, and the handshake of TLS may lack memory. */
void world_excuse_paired(struct world_qp *q);
/** What changes while a program runs. */
void world_resplit(struct world *w);
/** All faults end. */
void world_calm(struct world *w);

#endif
