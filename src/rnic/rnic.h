/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rnic.h
 * The RNIC: a device with its protection domains, memory regions, queues and queue pairs, in the
 * terms of verbs (and of RFC 5040 / draft-hilland-verbs), without libibverbs.
 *
 * Threads: every function may be called from any thread, unless it says otherwise. Control calls
 * take the engine's lock; posting and polling do not wait for it.
 *
 * Errors are negative errno. An object that is in use cannot be destroyed: -EBUSY.
 */
#ifndef RNIC_RNIC_H
#define RNIC_RNIC_H

#include "base/log.h"
#include "base/random.h"
#include "engine/engine.h"
#include "iwpm/mapper.h"
#include "llp/llp.h"
#include "mpa/mpa.h"
#include "rdmap/rdmap.h"
#include "ud/net.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rnic;
struct rnic_pd;
struct rnic_mr;
struct rnic_mw;
struct rnic_cq;
struct rnic_srq;
struct rnic_qp;

/** The device's limits. They are enforced, and reported by query_device. */
struct rnic_limits {
	uint32_t max_pd, max_mr, max_mw, max_cq, max_cqe, max_srq, max_srq_wr, max_qp;
	uint32_t max_qp_wr;        /**< send or receive elements per QP */
	uint32_t max_sge;          /**< per send, write or receive */
	uint32_t max_sge_read;     /**< per Read: 1 in iWARP */
	uint32_t max_inline;       /**< bytes */
	uint32_t max_ird, max_ord; /**< per QP */
	uint64_t max_mr_size;
	uint32_t max_message; /**< 2^31 - 1 */
	uint32_t max_listen_backlog;
};

struct rnic_config {
	struct engine *engine;
	struct llp_stack *net;
	struct random_source random;
	const struct log_sink *log;
	struct mpa_config mpa;
	uint16_t pairing_port; /**< for QPs that connect without a CM; 0: there are none */
	/** Asked before each connection, and told of listeners; NULL: none. It must live longer. */
	struct iwpm *mapper;
	/** Connect only where the peer's port mapper has told the way. */
	bool mapper_required;
	uint32_t start_timeout_ms; /**< MPA start-up deadline, both roles; 0: 10,000 */
	/** Connections that wait for an MPA request; 0: limits.max_listen_backlog */
	uint32_t max_startups;
	/** Per address, or IPv6 network of 64 bits; 0: as max_startups */
	uint32_t max_startups_per_peer;
	uint32_t close_timeout_ms; /**< from our FIN to the peer's; then reset; 0: 5,000 */
	/** How long a message waits for a receive element; 0: Terminate at once */
	uint32_t rnr_timeout_ms;
	/** How datagrams of UD QPs go; NULL: there are none. It must live longer. Needs
	 * pairing_port */
	const struct ud_net *ud;
	/** A sentence that the log has when a program wants the first one: what it has to know of
	 * them, or why there are none; NULL: nothing. It must live longer. */
	const char *ud_remark;
	uint16_t ud_port;          /**< the UDP port for them */
	struct rnic_limits limits; /**< zero fields: the defaults */
};

/** Longest single access to memory, in bytes. */
#define RNIC_PIECE_MAX 65536

/** Verbs' asynchronous events. */
enum rnic_event_type {
	RNIC_EVENT_CQ_ERROR, /**< a CQ overflowed */
	RNIC_EVENT_QP_FATAL, /**< local error, or a Terminate was sent */
	RNIC_EVENT_QP_REQUEST_ERROR,
	RNIC_EVENT_QP_ACCESS_ERROR,
	RNIC_EVENT_QP_ESTABLISHED, /**< data came before RTS was reported */
	RNIC_EVENT_QP_LAST_WQE,    /**< in ERROR: a QP with an SRQ takes no more elements */
	RNIC_EVENT_SQ_DRAINED,     /**< in SQD: all that had started is finished */
	RNIC_EVENT_SRQ_LIMIT,
	RNIC_EVENT_PORT_ACTIVE,
	RNIC_EVENT_PORT_DOWN,
	RNIC_EVENT_DEVICE_FATAL,
};

struct rnic_event {
	enum rnic_event_type type;
	void *context; /**< the context of the CQ, QP or SRQ */
};

/** @return 0, -ENOMEM, -EINVAL. */
int rnic_create(const struct rnic_config *cfg, struct rnic **out);

/** All objects should be destroyed before. Others are freed here, with a log line. */
void rnic_destroy(struct rnic *r);

const struct rnic_limits *rnic_get_limits(const struct rnic *r);

/** The limits of an RNIC that is created with none. Any thread, at any time. */
const struct rnic_limits *rnic_default_limits(void);

/** The device's log; may be NULL. */
const struct log_sink *rnic_log(const struct rnic *r);

/** The port's clock in ns, for the times of completions. */
uint64_t rnic_clock(struct rnic *r);
struct engine *rnic_engine(struct rnic *r);

/**
 * @p fn is called under the engine's lock. It must only queue the event. NULL: none. It is called
 * before this returns if the port is down or lost.
 */
void rnic_set_event_handler(
	struct rnic *r, void (*fn)(void *arg, const struct rnic_event *ev), void *arg);

/**
 * @p fn pages in memory that is registered on demand. It returns false if that is not possible.
 * Called under the engine's lock, for at most RNIC_PIECE_MAX bytes. Without @p fn memory is taken
 * to be present.
 */
void rnic_set_page_in(struct rnic *r, bool (*fn)(const void *addr, size_t len, bool write));

/** What the peer's port mapper has to do with a failure. Only where its answer is required. */
enum rnic_failure_mapper {
	RNIC_MAPPER_NONE = 0, /**< nothing */
	RNIC_MAPPER_ABSENT,   /**< the peer's host says that there is none */
	RNIC_MAPPER_REJECTS,  /**< it does not know the port */
	RNIC_MAPPER_SILENT,   /**< it has not answered */
};

/** A failed attempt to reach a peer. */
struct rnic_failure {
	struct ip_endpoint remote;
	int status; /**< negative errno, as in the endpoint's event */
	enum rnic_failure_mapper mapper;
	/** -EADDRNOTAVAIL of UD: the route's source, which is no GID; else the any-address */
	struct ip_addr local;
};

/**
 * @p fn is called for each attempt to resolve or connect that fails below MPA: there is no answer,
 * TCP is refused, or the port mapper has not told the way. It is not called when the peer's program
 * rejects, nor when our own ends the QP meanwhile, or makes it fail. Called under the engine's
 * lock. May be NULL.
 */
void rnic_set_failure_handler(
	struct rnic *r, void (*fn)(void *arg, const struct rnic_failure *f), void *arg);

/** The port's link changed (called by the port, under the lock). */
void rnic_port_changed(struct rnic *r, bool up);

/** The port was removed: device fatal, and RNIC_EP_DEVICE_REMOVAL to endpoints (called by the port,
 * under the lock). */
void rnic_lost(struct rnic *r);

/* ---- protection domains and memory ------------------------------------------------------- */

/** @return 0; -ENOMEM: no memory, or max_pd reached. */
int rnic_pd_alloc(struct rnic *r, struct rnic_pd **out);
/** @return 0; -EBUSY: regions, windows, SRQs or QPs are in it. */
int rnic_pd_dealloc(struct rnic_pd *pd);

#define RNIC_ACCESS_LOCAL_WRITE   0x01
#define RNIC_ACCESS_REMOTE_WRITE  0x02
#define RNIC_ACCESS_REMOTE_READ   0x04
#define RNIC_ACCESS_REMOTE_ATOMIC 0x08
#define RNIC_ACCESS_MW_BIND       0x10
#define RNIC_ACCESS_ZERO_BASED    0x20
/**
 * On demand: the memory may be missing until it is used. Then the function of rnic_set_page_in()
 * pages it in, or the access fails as one out of bounds. @p addr NULL with a length of SIZE_MAX is
 * the whole address space.
 */
#define RNIC_ACCESS_ON_DEMAND 0x40

/**
 * Register memory. Its STag is unpredictable (RFC 5042 section 6.2.3) and serves as lkey and rkey.
 * Peers address it by [iova, iova + len).
 * @return 0; -EINVAL: remote write without local write (verbs), unknown rights, no length, more
 *         than max_mr_size, or addr + len or iova + len wraps; -ENOMEM: max_mr reached, or no
 * memory.
 */
int rnic_mr_reg(struct rnic_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access,
	struct rnic_mr **out);
int rnic_mr_dereg(struct rnic_mr *mr); /**< -EBUSY: windows are bound to it */
uint32_t rnic_mr_stag(const struct rnic_mr *mr);
/** Invalidate its STag. It must still be deregistered. Windows bound to it stay valid. */
void rnic_mr_revoke(struct rnic_mr *mr);

#define RNIC_REREG_TRANSLATION 1
#define RNIC_REREG_PD          2
#define RNIC_REREG_ACCESS      4

/** ibv_rereg_mr(); the STag changes. As rnic_mr_reg(), and -EBUSY: windows are bound to it. */
int rnic_mr_rereg(struct rnic_mr *mr, unsigned what, struct rnic_pd *pd, void *addr, size_t len,
	unsigned access);

/** The region of ibv_alloc_null_mr(): it reads as zeros, and writes are dropped. Only for lkeys. */
int rnic_mr_alloc_null(struct rnic_pd *pd, struct rnic_mr **out);

/**
 * Find memory of an on-demand region, for ibv_advise_mr().
 * @return 0; -EFAULT: no such STag, or out of bounds; -ENOENT: another key of the STag is valid;
 *         -EINVAL: a window, or a region that is not on demand; -EPERM: of another PD, or @p write
 *         without that right.
 */
int rnic_mr_locate(
	struct rnic_pd *pd, uint32_t stag, uint64_t to, uint32_t len, bool write, uint8_t **mem);

enum rnic_mw_type {
	RNIC_MW_TYPE_1, /**< for all QPs of its PD; may be bound any number of times */
	/** Type 2B: only for the QP that binds it. Ends by invalidation, also by that QP's peer. */
	RNIC_MW_TYPE_2,
};

/**
 * A memory window: an STag for a part of a region, with rights for peers only. It is invalid until
 * it is bound by a work request, which the QP processes in its turn:
 *
 *     op = RDMAP_WR_BIND_MW; remote_stag = the new STag, which differs from that of the allocation
 *     in its lowest byte only; inv_stag = the region's STag; local_arg = {address in the region,
 *     length, RNIC_ACCESS_REMOTE_* and RNIC_ACCESS_ZERO_BASED}
 *
 * It completes with RDMAP_WC_MW_BIND_ERR, and the stream ends, when the region is not of the QP's
 * PD or does not have RNIC_ACCESS_MW_BIND, rights or range exceed it, or a window of type 2 is
 * bound or has no length. Length 0 unbinds a window of type 1. Windows of type 2 are unbound when
 * their QP is reset or destroyed.
 * @return 0, -ENOMEM: max_mw reached, or no memory.
 */
int rnic_mw_alloc(struct rnic_pd *pd, enum rnic_mw_type type, struct rnic_mw **out);
int rnic_mw_dealloc(struct rnic_mw *mw); /**< 0 */
/** Invalidate its STag until it is bound again. */
void rnic_mw_revoke(struct rnic_mw *mw);

/** The present STag: of the last bind that was processed. */
uint32_t rnic_mw_stag(const struct rnic_mw *mw);

/* ---- completion queues ------------------------------------------------------------------- */

/** A completion as it is polled. */
struct rnic_wc {
	struct rdmap_wc wc;
	uint32_t qp_num;
};

/** Called once per arming, under the engine's lock. It must only write to the channel. */
typedef void rnic_cq_notify_fn(void *context);

/**
 * @param cqe entries at least (1 - max_cqe); the real number is rounded up, see rnic_cq_size().
 * @param context for notify and events.
 */
int rnic_cq_create(struct rnic *r, uint32_t cqe, rnic_cq_notify_fn *notify, void *context,
	struct rnic_cq **out);
/**
 * The first half of rnic_cq_destroy(), for a CQ that other threads may use yet, in any way but by
 * this: it is empty and stays so, notifies of nothing, and no QP can be created with it.
 * @return 0; -EBUSY: a QP uses it.
 */
int rnic_cq_retire(struct rnic_cq *cq);
/** The second half: no thread uses it any more. */
void rnic_cq_free(struct rnic_cq *cq);
/** Both. @return as rnic_cq_retire(). */
int rnic_cq_destroy(struct rnic_cq *cq);
uint32_t rnic_cq_size(const struct rnic_cq *cq);

/**
 * One thread at a time, as rnic_cq_size().
 * @return 0; -EINVAL: fewer than there are completions now, or more than max_cqe.
 */
int rnic_cq_resize(struct rnic_cq *cq, uint32_t cqe);

/**
 * Take at most @p n completions. If there are fewer, drive the engine once (inline progress).
 * @return how many; -EOVERFLOW when the CQ has overflowed and is empty.
 */
int rnic_cq_poll(struct rnic_cq *cq, int n, struct rnic_wc *wc);

/** Record the times of completions. Call it right after creation. @return 0, -ENOMEM. */
int rnic_cq_keep_times(struct rnic_cq *cq);

/**
 * IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN: the CQ never overflows. A completion without room takes the
 * place of the oldest, which is lost, as if it had been polled. Call it right after creation.
 */
void rnic_cq_ignore_overrun(struct rnic_cq *cq);

/** As rnic_cq_poll() of one, with the time it was added (rnic_clock()) when times are kept. */
int rnic_cq_poll_timed(struct rnic_cq *cq, struct rnic_wc *wc, uint64_t *time);

/**
 * Moderate notifications: one comes when @p count completions have come that would each have caused
 * one, or @p period ns after the first of them. 0 turns a criterion off. Both 0: no moderation.
 */
void rnic_cq_moderate(struct rnic_cq *cq, uint16_t count, uint64_t period);

/** Ask for one notification, at the next completion (@p solicited_only: or error). */
int rnic_cq_arm(struct rnic_cq *cq, bool solicited_only);

/* ---- shared receive queues --------------------------------------------------------------- */

/**
 * @param pd of the memory that its elements name; its QPs may be of other PDs.
 * @param max_wr elements at least, @p max_sge scatter/gather elements of each.
 * @param limit see rnic_srq_set_limit(), but an SRQ that is new and empty tells of nothing.
 * @param context of RNIC_EVENT_SRQ_LIMIT.
 * @return 0; -EINVAL: a limit of the device exceeded, no element, or limit above max_wr; -ENOMEM.
 */
int rnic_srq_create(struct rnic_pd *pd, uint32_t max_wr, uint32_t max_sge, uint32_t limit,
	void *context, struct rnic_srq **out);
/**
 * As rnic_cq_retire(): posts and rnic_srq_set_limit() fail, and no QP can be created with it.
 * @return 0; -EBUSY: a QP uses it.
 */
int rnic_srq_retire(struct rnic_srq *srq);
void rnic_srq_free(struct rnic_srq *srq);
/** Both. @return as rnic_srq_retire(). */
int rnic_srq_destroy(struct rnic_srq *srq);
/**
 * RNIC_EVENT_SRQ_LIMIT comes once, when there are fewer than @p limit elements: at once, if that is
 * so now; 0: never.
 * @return 0; -EINVAL: more than its elements, or it is retired.
 */
int rnic_srq_set_limit(struct rnic_srq *srq, uint32_t limit);
/** The real capacities, and the limit, which is 0 after its event. */
void rnic_srq_get(const struct rnic_srq *srq, uint32_t *max_wr, uint32_t *max_sge, uint32_t *limit);

/* ---- queue pairs ------------------------------------------------------------------------- */

enum rnic_qp_state {
	RNIC_QP_RESET,
	RNIC_QP_INIT,
	RNIC_QP_RTR,
	RNIC_QP_RTS,
	RNIC_QP_SQD,
	RNIC_QP_SQE,
	RNIC_QP_ERROR,
};

struct rnic_qp_init {
	struct rnic_cq *send_cq, *recv_cq;
	struct rnic_srq *srq;
	void *context;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge,
		max_inline; /**< in and out */
	bool sq_sig_all;
	bool ud;                   /**< a UD QP (docs/ud.md), else a reliable connection */
	bool block_self_multicast; /**< of UD: what it sends to a group does not come back to it */
};

/**
 * @return 0; -EINVAL: a limit exceeded, no CQ, or a queue is retired; -ENOMEM; of a UD QP also
 * -EOPNOTSUPP: there are none, -EADDRINUSE: its UDP port is taken.  @p init gets the real
 * capacities.
 */
int rnic_qp_create(struct rnic_pd *pd, struct rnic_qp_init *init, struct rnic_qp **out);

/**
 * The first half of rnic_qp_destroy(). The connection ends as described at qp_drop_connection():
 * reset, or released in good order, so that completed sends arrive. Its completions are removed
 * from the CQs, which it uses no more, nor the SRQ. Other threads may use it yet, in any way but by
 * this: it is in RESET and stays there, posts fail, and so do rnic_qp_modify(), rnic_qp_attach()
 * and connecting.
 */
void rnic_qp_retire(struct rnic_qp *qp);
/** The second half: no thread uses it any more, but for one that is leaving a post. */
void rnic_qp_free(struct rnic_qp *qp);
/** Both. @return 0. */
int rnic_qp_destroy(struct rnic_qp *qp);
uint32_t rnic_qp_num(const struct rnic_qp *qp);
enum rnic_qp_state rnic_qp_get_state(const struct rnic_qp *qp);

#define RNIC_QP_STATE        1
#define RNIC_QP_ACCESS       2
#define RNIC_QP_ORD          4
#define RNIC_QP_IRD          8
#define RNIC_QP_PATH         16 /**< with RTR: connect without a CM */
#define RNIC_QP_SQ_PSN       32
#define RNIC_QP_PATIENCE     64
#define RNIC_QP_QKEY         256 /**< of a UD QP */
#define RNIC_QP_DRAIN_NOTIFY 128 /**< with SQD: RNIC_EVENT_SQ_DRAINED is wanted */

/** The peer of a QP that connects without a CM: see docs/connect.md. */
struct rnic_path {
	struct ip_addr local, remote;
	uint32_t remote_qp; /**< 24 bits, as the PSNs */
	uint32_t rq_psn;    /**< the sq_psn of the peer's QP */
	uint8_t tos;
};

struct rnic_qp_attr {
	enum rnic_qp_state state;
	bool drain_notify;
	bool draining;   /**< query: in SQD, and not all that had started is finished */
	unsigned access; /**< RNIC_ACCESS_REMOTE_*; checked in addition to the MR's */
	uint16_t ird, ord;
	struct rnic_path path;
	uint32_t sq_psn;
	uint32_t qkey;
	uint64_t patience; /**< ns that a send waits for the peer; 0: for ever */
};

/**
 * The transitions of verbs for iWARP. RESET-INIT-RTR-RTS one by one; a connection of the CM goes to
 * RTS by itself. From any state to ERROR (flush) or RESET. RTS-SQD (no more sends start, until
 * rnic_ep_disconnect()) and back. A QP without a connection may go to RTR or RTS, without an effect
 * on the wire. A transition to SQD from ERROR, or before RTS while the CM connects it, does
 * nothing.
 *
 * With RNIC_QP_PATH and RTR the QP connects without rdma_cm, to a QP that does the same. It
 * connects in the background; posts may be made from RTR on, and wait. Only the program changes the
 * state. SQD does not close the connection. If there is no connection within the patience, the
 * oldest send completes with RDMAP_WC_RETRY_EXC_ERR and the QP is in ERROR. An orderly end of the
 * peer is noticed by the next send, in the same way. The patience of what SQD holds back begins
 * with RTS.
 * @return 0, -EINVAL (no such transition, or it is retired), or as pairing_begin().
 */
int rnic_qp_modify(struct rnic_qp *qp, unsigned mask, const struct rnic_qp_attr *attr);
void rnic_qp_query(struct rnic_qp *qp, struct rnic_qp_attr *attr, struct rnic_qp_init *init);

/**
 * Open the port for QPs that connect without rdma_cm. Call it before peers learn of such a QP.
 * @return 0; -EOPNOTSUPP: there is no such port; -EADDRINUSE, -ENOMEM.
 */
int rnic_pairing_open(struct rnic *r);

/* ---- UD queue pairs: docs/ud.md ------------------------------------------------------------ */

/** Where a Send of a UD QP goes: by rnic_ud_aim(); the QP's number there is w->remote_stag. */
struct rnic_ud_to {
	struct ip_addr local, remote;
	uint32_t qkey; /**< with the highest bit: the QP's own */
	uint8_t tos, ttl;
};

/** Octets of the header before each message in the receive's buffer: InfiniBand's GRH. */
#define RNIC_UD_GRH_LEN  40
#define RNIC_UD_GRH_NEXT 0x1b /**< its NxtHdr */

void rnic_ud_aim(struct rdmap_wqe *w, const struct rnic_ud_to *to);

/** The longest message; 0: there are no UD QPs. */
uint32_t rnic_ud_max_message(const struct rnic *r);

/** A program wants UD QPs: say once what there is to say of them. @return false: nothing. */
bool rnic_ud_remark(struct rnic *r);

/** Something will be sent to @p remote: learn the way to it. Without the engine's lock. */
void rnic_ud_prepare(struct rnic *r, const struct ip_addr *remote);

/** Datagrams since creation, and groups. Read them under the engine's lock. */
struct rnic_ud_stats {
	uint64_t sent, received;
	uint64_t no_way;     /**< not sent: there is no route, or the packet is too long for it */
	uint64_t bad;        /**< dropped: malformed, or the CRC is wrong */
	uint64_t no_qp;      /**< dropped: there is no such QP, or it does not receive */
	uint64_t wrong_qkey; /**< dropped */
	uint64_t no_receive; /**< dropped: none was posted */
	uint64_t too_long;   /**< dropped: longer than the receive */
	uint64_t refused;    /**< dropped: from where none are taken (ud_net.refused) */
	uint64_t groups_refused; /**< groups that the host did not let us join */
};

struct rnic_ud_stats rnic_ud_get_stats(const struct rnic *r);

/* Multicast groups of UD QPs. */

/** What is sent to a group is for the QP of this number, as over InfiniBand. */
#define RNIC_UD_QP_GROUP 0xffffffu

/** Groups that QPs are attached to, or that endpoints have joined, at one time. */
#define RNIC_MCAST_GROUPS 128
/** QPs of one group. */
#define RNIC_MCAST_QPS 1024

/**
 * From now on @p qp receives what is sent to @p group, once though it be attached twice. If no
 * endpoint has joined the group (rnic_ep_join()) that is done, on the links of all our addresses.
 * @return 0; -EINVAL: no UD QP, it is retired, no group; -ENOMEM: a limit, or no memory; or as
 *         ud_net.join().
 */
int rnic_qp_attach(struct rnic_qp *qp, const struct ip_addr *group);

/** @return 0; -EINVAL: it is not attached. */
int rnic_qp_detach(struct rnic_qp *qp, const struct ip_addr *group);

/** Detach it from all groups. */
void rnic_qp_detach_all(struct rnic_qp *qp);

/** Is it attached to any group? */
bool rnic_qp_is_attached(struct rnic_qp *qp);

/** The most that the TTL of a message to a group is (ud_net.group_ttl); 0: there is no UD. */
uint8_t rnic_ud_group_ttl(const struct rnic *r);

/*
 * Posting: begin() locks, next() returns an element with its header zeroed, commit() adds it, and
 * end() unlocks and rings. In ERROR, committed elements complete as flushed.
 */

/**
 * @return -EINVAL in RESET, INIT, and RTR without a path, for sends; RESET for receives. 0 else.
 */
int rnic_sq_begin(struct rnic_qp *qp);
/** After rnic_sq_begin() has failed: lock the queue all the same, until rnic_sq_abort(). */
void rnic_sq_hold(struct rnic_qp *qp);
/**
 * @return whether RDMAP_WR_SEND_IMM may be posted: the peer has agreed to it, or the QP is paired
 *         and not connected yet. If that peer does not agree, the request fails.
 */
bool rnic_qp_takes_send_imm(const struct rnic_qp *qp);
/**
 * @return NULL: the queue is full. An element is in use until its completion is polled, or until it
 *         is done, if it makes no completion.
 */
struct rdmap_wqe *rnic_sq_next(struct rnic_qp *qp);
void rnic_sq_commit(struct rnic_qp *qp);
/**
 * Unlock and ring the engine.
 * @return false: the QP was reset since rnic_sq_begin(), and what was built is dropped.
 */
bool rnic_sq_end(struct rnic_qp *qp);
/** Unlocks, and drops all elements since rnic_sq_begin(). */
void rnic_sq_abort(struct rnic_qp *qp);

/*
 * The same for receives, each of which makes a completion, and for SRQs. rnic_srq_begin() fails
 * with -EINVAL only if the SRQ is retired.
 */

int rnic_rq_begin(struct rnic_qp *qp);
struct rdmap_rqe *rnic_rq_next(struct rnic_qp *qp);
void rnic_rq_commit(struct rnic_qp *qp);
void rnic_rq_end(struct rnic_qp *qp);

int rnic_srq_begin(struct rnic_srq *srq);
struct rdmap_rqe *rnic_srq_next(struct rnic_srq *srq);
void rnic_srq_commit(struct rnic_srq *srq);
void rnic_srq_end(struct rnic_srq *srq);

/** Find a QP by number, for the CM. The engine's lock must be held. */
struct rnic_qp *rnic_qp_find(struct rnic *r, uint32_t qp_num);

#endif
