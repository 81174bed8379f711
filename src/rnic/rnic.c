/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/rnic.h"

#include "rnic/conn.h"
#include "rnic/cq.h"
#include "rnic/device.h"
#include "rnic/ep_priv.h"
#include "rnic/mr.h"
#include "rnic/pairing_service.h"
#include "rnic/qp.h"
#include "rnic/sidr.h"

#include <errno.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

#define START_TIMEOUT_MS 10000
#define CLOSE_TIMEOUT_MS 5000

/* Numbers of objects are bounded by their tables; queue sizes are powers of two, as the rings. */
static const struct rnic_limits rnic_defaults = {
	.max_pd = 65536,
	.max_mr = 1 << 20,
	.max_mw = 1 << 20,
	.max_cq = 65536,
	.max_cqe = 1 << 22,
	.max_srq = 65536,
	.max_srq_wr = 16384,
	.max_qp = 65536,
	.max_qp_wr = 16384,
	.max_sge = 16,
	.max_sge_read = 1, /* RFC 5040 section 4.4: a Read Request has one sink */
	.max_inline = 512,
	.max_ird = 128,
	.max_ord = 128,
	.max_mr_size = UINT64_C(1) << 47, /* the whole user address space */
	.max_message = (UINT32_C(1) << 31) - 1,
	.max_listen_backlog = 1024,
};

/** @p v, or the default where it is 0; -1 in @p bad if it is more than the code can do. */
static uint32_t rnic_pick(uint32_t v, uint32_t def, uint32_t most, bool *bad)
{
	if (v > most)
		*bad = true;
	return v ? v : def;
}

static int rnic_limits_set(struct rnic_limits *l, const struct rnic_limits *want)
{
	const struct rnic_limits *d = &rnic_defaults;
	bool bad = false;

	l->max_pd = rnic_pick(want->max_pd, d->max_pd, UINT32_MAX, &bad);
	/* Together they must leave most indexes of STags free: see stag_table_init(). */
	l->max_mr = rnic_pick(want->max_mr, d->max_mr, 1 << 21, &bad);
	l->max_mw = rnic_pick(want->max_mw, d->max_mw, 1 << 21, &bad);
	l->max_cq = rnic_pick(want->max_cq, d->max_cq, UINT32_MAX, &bad);
	l->max_cqe = rnic_pick(want->max_cqe, d->max_cqe, 1 << 26, &bad);
	l->max_srq = rnic_pick(want->max_srq, d->max_srq, UINT32_MAX, &bad);
	l->max_srq_wr = rnic_pick(want->max_srq_wr, d->max_srq_wr, 1 << 24, &bad);
	/* The table is twice as large, and the rest of a QP number is the space. */
	l->max_qp = rnic_pick(want->max_qp, d->max_qp, 1 << (RNIC_QP_SPACE_SHIFT - 1), &bad);
	l->max_qp_wr = rnic_pick(want->max_qp_wr, d->max_qp_wr, 1 << 24, &bad);
	l->max_sge = rnic_pick(want->max_sge, d->max_sge, 255, &bad);
	l->max_sge_read = rnic_pick(want->max_sge_read, d->max_sge_read, 1, &bad);
	l->max_inline = rnic_pick(want->max_inline, d->max_inline, 1 << 16, &bad);
	/*
	 * Fourteen bits on the wire, of which all ones mean something else (RFC 6581 section 9.1).
	 */
	l->max_ird = rnic_pick(want->max_ird, d->max_ird, MPA_DEPTH_UNKNOWN - 1, &bad);
	l->max_ord = rnic_pick(want->max_ord, d->max_ord, MPA_DEPTH_UNKNOWN - 1, &bad);
	l->max_mr_size = want->max_mr_size ? want->max_mr_size : d->max_mr_size;
	l->max_message = rnic_pick(want->max_message, d->max_message, d->max_message, &bad);
	l->max_listen_backlog =
		rnic_pick(want->max_listen_backlog, d->max_listen_backlog, 1 << 16, &bad);
	return bad ? -EINVAL : 0;
}

/** Both ends of a pairing are ours: they speak as suits it, whatever other peers need. */
static void rnic_pairing_terms(struct rnic *r, const struct rnic_config *cfg)
{
	r->pairing_port = cfg->pairing_port;
	r->pairing_mpa = cfg->mpa;
	r->pairing_mpa.revision = 2;
	/* Either side may be the first to send (RFC 6581 section 9.2). */
	r->pairing_mpa.peer_to_peer = true;
	r->pairing_mpa.rtr = mpa_rtr_taken(&cfg->mpa);
	r->pairing_mpa.legacy = MPA_LEGACY_NEVER;
	r->pairing_mpa.private_max = r->pairing_mpa.settle_ms = 0;
	/* A message waits for its receive element, whatever comes behind it. */
	r->pairing_mpa.in_order = true;
	r->pairing_mpa.send_imm = true;
}

/** @return 0 or -ENOMEM: nothing is left. */
static int rnic_tables_init(struct rnic *r)
{
	struct siphash_key key;

	id_table_init(&r->qps, r->limits.max_qp);
	r->random.fill(r->random.ctx, &key, sizeof key);
	if (peer_set_init(&r->startups, r->max_startups, &key))
		return -ENOMEM;
	if (stag_table_init(&r->stags, r->limits.max_mr + r->limits.max_mw, &r->random))
		goto no_stags;
	if (conn_map_init(r))
		goto no_turns;
	return 0;
no_turns:
	stag_table_fini(&r->stags);
no_stags:
	peer_set_fini(&r->startups);
	return -ENOMEM;
}

int rnic_create(const struct rnic_config *cfg, struct rnic **out)
{
	struct rnic *r;

	if (!cfg->engine || !cfg->net || !cfg->random.fill || cfg->mpa.revision < 1 ||
		cfg->mpa.revision > 2)
		return -EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return -ENOMEM;
	r->engine = cfg->engine;
	r->net = cfg->net;
	r->random = cfg->random;
	r->log = cfg->log;
	r->mpa = cfg->mpa;
	r->mapper = cfg->mapper;
	r->mapper_required = cfg->mapper_required;
	r->start_timeout = (cfg->start_timeout_ms ? cfg->start_timeout_ms : START_TIMEOUT_MS) * MS;
	r->close_timeout = (cfg->close_timeout_ms ? cfg->close_timeout_ms : CLOSE_TIMEOUT_MS) * MS;
	r->rnr_timeout = cfg->rnr_timeout_ms * MS;
	r->ud.net = cfg->ud;
	r->ud.remark = cfg->ud_remark;
	r->ud.port = cfg->ud_port;
	rnic_pairing_terms(r, cfg);
	r->port_up = true;
	r->up_since = r->engine->now;
	if (rnic_limits_set(&r->limits, &cfg->limits)) {
		free(r);
		return -EINVAL;
	}
	r->max_startups = cfg->max_startups ? cfg->max_startups : r->limits.max_listen_backlog;
	r->max_startups_per_peer = cfg->max_startups_per_peer;
	if (rnic_tables_init(r)) {
		free(r);
		return -ENOMEM;
	}
	pthread_mutex_init(&r->ud.mcast.attaching, NULL);
	*out = r;
	return 0;
}

/** Destroy what the program left, users before what they use. @return how many objects. */
static unsigned rnic_destroy_leftovers(struct rnic *r)
{
	unsigned n = 0;

	for (; !LIST_EMPTY(&r->eps); n++)
		rnic_ep_destroy(LIST_FIRST(&r->eps));
	for (uint32_t i = 0; i < r->qps.size; i++) {
		struct rnic_qp *qp = id_table_get(&r->qps, i);

		if (qp) {
			rnic_qp_destroy(qp);
			n++;
		}
	}
	for (; !LIST_EMPTY(&r->srqs); n++)
		rnic_srq_destroy(LIST_FIRST(&r->srqs));
	for (; !LIST_EMPTY(&r->cqs); n++)
		rnic_cq_destroy(LIST_FIRST(&r->cqs));
	for (; !LIST_EMPTY(&r->mws); n++)
		rnic_mw_dealloc(LIST_FIRST(&r->mws));
	for (; !LIST_EMPTY(&r->mrs); n++)
		rnic_mr_dereg(LIST_FIRST(&r->mrs));
	for (; !LIST_EMPTY(&r->pds); n++)
		rnic_pd_dealloc(LIST_FIRST(&r->pds));
	return n;
}

/** Their endpoints are not the program's. */
static void rnic_pairings_end(struct rnic *r)
{
	engine_lock(r->engine);
	for (uint32_t i = 0; i < r->qps.size; i++) {
		struct rnic_qp *qp = id_table_get(&r->qps, i);

		if (qp)
			pairing_end(qp);
	}
	pairing_service_close(r);
	engine_unlock(r->engine);
}

void rnic_destroy(struct rnic *r)
{
	unsigned left;

	rnic_set_event_handler(r, NULL, NULL);
	rnic_pairings_end(r);
	left = rnic_destroy_leftovers(r);
	if (left)
		log_printf(r->log, LOG_LEVEL_INFO, "rnic: %u objects were not destroyed", left);
	engine_lock(r->engine);
	while (!LIST_EMPTY(&r->conns))
		conn_destroy(LIST_FIRST(&r->conns));
	conn_map_fini(r);
	sidr_service_close(r);
	ud_service_close(r);
	engine_unlock(r->engine);
	id_table_fini(&r->qps);
	stag_table_fini(&r->stags);
	peer_set_fini(&r->startups);
	pthread_mutex_destroy(&r->ud.mcast.attaching);
	free(r);
}

const struct rnic_limits *rnic_get_limits(const struct rnic *r)
{
	return &r->limits;
}

const struct rnic_limits *rnic_default_limits(void)
{
	return &rnic_defaults;
}

const struct log_sink *rnic_log(const struct rnic *r)
{
	return r->log;
}

struct engine *rnic_engine(struct rnic *r)
{
	return r->engine;
}

void rnic_set_event_handler(
	struct rnic *r, void (*fn)(void *arg, const struct rnic_event *ev), void *arg)
{
	engine_lock(r->engine);
	r->event_fn = fn;
	r->event_arg = arg;
	/* What has happened to the port before there was anybody to hear of it. */
	if (!r->port_up)
		rnic_raise(r, RNIC_EVENT_PORT_DOWN, NULL);
	if (r->lost)
		rnic_raise(r, RNIC_EVENT_DEVICE_FATAL, NULL);
	engine_unlock(r->engine);
}

void rnic_set_page_in(struct rnic *r, bool (*fn)(const void *addr, size_t len, bool write))
{
	engine_lock(r->engine);
	r->page_in = fn;
	engine_unlock(r->engine);
}

uint64_t rnic_clock(struct rnic *r)
{
	return ENGINE_LOCKED(r->engine, r->engine->now);
}

void rnic_set_failure_handler(
	struct rnic *r, void (*fn)(void *arg, const struct rnic_failure *f), void *arg)
{
	engine_lock(r->engine);
	r->failure_fn = fn;
	r->failure_arg = arg;
	engine_unlock(r->engine);
}

void rnic_raise(struct rnic *r, enum rnic_event_type type, void *context)
{
	if (r->event_fn)
		r->event_fn(r->event_arg, &(struct rnic_event){.type = type, .context = context});
}

void rnic_port_changed(struct rnic *r, bool up)
{
	if (r->port_up == up)
		return;
	r->port_up = up;
	if (up)
		r->up_since = r->engine->now;
	rnic_raise(r, up ? RNIC_EVENT_PORT_ACTIVE : RNIC_EVENT_PORT_DOWN, NULL);
}

void rnic_lost(struct rnic *r)
{
	r->lost = true;
	rnic_raise(r, RNIC_EVENT_DEVICE_FATAL, NULL);
	ep_tell_removal(r);
}
