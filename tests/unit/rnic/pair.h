/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pair.h
 * Two RNICs joined in memory, on one engine with a virtual clock: nothing moves but when a test
 * runs or polls it. Events are recorded.
 */
#ifndef TESTS_UNIT_RNIC_PAIR_H
#define TESTS_UNIT_RNIC_PAIR_H

#include "rnic/ep.h"
#include "rnic/rnic.h"
#include "support/llp_mem.h"

#define PAIR_PORT  7174
#define PAIR_BUF   65536
#define PAIR_DEPTH 16
#define PAIR_MS    UINT64_C(1000000)

#define EVENTS_MAX 64

struct ep_record {
	enum rnic_ep_event_type type;
	struct rnic_ep *ep;
	int status;
	uint8_t private_data[512];
	uint16_t private_len;
	uint16_t ird, ord;
	uint32_t ud_qp, ud_qkey;
};

struct side {
	unsigned host;
	struct rnic *rnic;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_mr *mr;
	struct rnic_qp *qp;
	struct rnic_ep *ep;      /**< a: active; b: listener */
	struct rnic_ep *request; /**< the last that came */
	bool refuses;            /**< it takes no requests */
	uint8_t *buf;
	struct ep_record ep_events[EVENTS_MAX];
	unsigned n_ep_events;
	struct rnic_event events[EVENTS_MAX];
	unsigned n_events;
	_Atomic unsigned notified;
};

struct pair {
	struct engine engine;
	struct llp_mem *mem;
	_Atomic uint64_t clock;
	uint64_t random;
	bool quiet; /**< a poll moves nothing: only the test steps */
	struct side a, b;
};

/** The same numbers in each run; for struct random_source, with the pair as context. */
void pair_random(void *ctx, void *buf, size_t len);

/** What the endpoints of a side call: records the event. Context: the side. */
void pair_ep_event(const struct rnic_ep_event *ev);

/** The engine alone, for tests that need no peer. */
void pair_engine_init(struct pair *p);

/** An RNIC on @p host. @param cfg engine, net and random are filled in; NULL: the usual. */
void pair_rnic(struct pair *p, struct side *s, unsigned host, const struct rnic_config *cfg);

/** Both RNICs, with PD, CQ, registered buffer and QP in INIT. @param cfg for both, or NULL. */
void pair_init(struct pair *p, const struct rnic_config *cfg);

/** PD, CQ, buffer, QP of one side. */
void pair_side(struct side *s);
struct rnic_qp *pair_qp(struct side *s, struct rnic_cq *cq, struct rnic_srq *srq);

/** Listen, connect, accept; both sides ESTABLISHED, or the test fails. */
void pair_connect(struct pair *p);

/** One pair, connected, for a test's setup and teardown. */
int pair_setup_apart(void **state); /**< not connected */
int pair_setup(void **state);
int pair_teardown(void **state);

/** Where offset @p at of the side's buffer lies. */
uint64_t pair_addr(const struct side *s, uint32_t at);

/** Listen at b and connect from a, as far as CONNECT_REQUEST. */
void pair_request(struct pair *p, const struct rnic_conn_param *cp);
void pair_listen(struct pair *p, unsigned backlog);

/** Move everything until all is quiet. */
void pair_run(struct pair *p);

/** Let virtual time pass in steps, moving everything. */
void pair_advance(struct pair *p, uint64_t ms);

/** Let it pass at once, as where both sides stood still for so long. */
void pair_stand_still(struct pair *p, uint64_t ms);

/** How many events of this type came. */
unsigned pair_count(const struct side *s, enum rnic_ep_event_type type);
const struct ep_record *pair_last(const struct side *s);
unsigned pair_count_async(const struct side *s, enum rnic_event_type type);

/** Destroy all, and see that nothing is left anywhere. */
void pair_fini(struct pair *p);

/** Move a QP to a state, nothing more. @return as rnic_qp_modify(). */
int pair_go(struct rnic_qp *qp, enum rnic_qp_state to);

void pair_post_recv(struct side *s, struct rnic_qp *qp, uint64_t wr_id, uint32_t at, uint32_t len);

/** Post from @p s: local bytes [at, at + len), remote address @p to of @p stag. */
void pair_post(struct side *s, struct rnic_qp *qp, uint64_t wr_id, enum rdmap_wr_op op, uint32_t at,
	uint32_t len, uint64_t to, uint32_t stag);

/** Run, then the next completion: must be there, with this wr_id and status. */
struct rnic_wc pair_expect(struct pair *p, struct side *s, uint64_t wr_id, unsigned status);

/** Run; no completion must be there. */
void pair_expect_none(struct pair *p, struct side *s);

#endif
