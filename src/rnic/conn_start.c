/* SPDX-License-Identifier: BSD-2-Clause */
/* The first age of a connection: attempts, and MPA's request and reply. */
#include "base/container_of.h"
#include "mpa/legacy.h"
#include "rnic/conn.h"
#include "rnic/ep_priv.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

/**
 * Delays of an initiator after a refused SYN. Some programs, such as perftest, close their listener
 * and open it again while the peer is connecting.
 */
static const uint8_t conn_start_retry_ms[] = {5, 20, 75};

static const struct mpa_user_ops conn_start_ops;

/* ---- the part of a frame that has come --------------------------------------------------- */

/** A peer may send its frame in two pieces, and never the second. */
static uint8_t *conn_start_keep(void *user, size_t len)
{
	struct conn *c = user;
	uint8_t *room = realloc(c->start_text, len);

	if (room)
		c->start_text = room;
	return room;
}

/** The frame is whole, or will not be. */
static void conn_start_drop_text(struct conn *c)
{
	free(c->start_text);
	c->start_text = NULL;
}

/* ---- an initiator's attempts ------------------------------------------------------------- */

static int conn_start_attempt(struct conn *c)
{
	struct mpa_config cfg = *conn_mpa(c);
	struct llp *l;
	int rc = llp_connect(c->rnic->net, &c->connect, NULL, NULL, &l);

	if (c->any_port) {
		/* Somebody else was faster; and a later attempt of this one takes another. */
		c->connect.local.port = 0;
		if (rc == -EADDRINUSE)
			rc = llp_connect(c->rnic->net, &c->connect, NULL, NULL, &l);
	}
	if (rc)
		return rc;
	c->wait = CONN_WAIT_PEER;
	cfg.revision = c->revision;
	conn_start_drop_text(c);
	mpa_init_initiator(&c->mpa, l, &cfg, &conn_start_ops, c);
	timer_start(&c->rnic->engine->wheel, &c->timer, c->start_deadline);
	return 0;
}

static void conn_start_wait_for_map(struct conn *c)
{
	c->wait = CONN_WAIT_MAP;
	timer_start(&c->rnic->engine->wheel, &c->timer, c->start_deadline);
}

int conn_connect(struct conn *c, const struct llp_connect_params *p)
{
	int rc;

	c->connect = *p;
	c->service_port = p->remote.port;
	c->revision = conn_mpa(c)->revision;
	c->start_deadline = c->rnic->engine->now + c->rnic->start_timeout;
	rc = conn_map_ask(c);
	if (rc < 0)
		return rc;
	if (!rc)
		return conn_start_attempt(c);
	conn_start_wait_for_map(c);
	return 0;
}

void conn_start_now(struct conn *c)
{
	int rc = conn_start_attempt(c);

	if (rc)
		conn_over(c, &(struct conn_end){.status = rc});
	else if (c->ep)
		ep_on_attempt(c->ep, c);
}

static void conn_start_retry_after(struct conn *c, uint64_t ms)
{
	c->wait = CONN_WAIT_RETRY;
	conn_set_deadline(c, ms * UINT64_C(1000000));
}

void conn_start_stop(struct conn *c)
{
	mpa_abort(&c->mpa);
	c->requested = false;
	c->retries = 0;
	c->revision = conn_mpa(c)->revision;
	conn_start_wait_for_map(c);
}

/** @return false: there were enough attempts. */
static bool conn_start_retry_refused(struct conn *c)
{
	if (c->retries == sizeof conn_start_retry_ms)
		return false;
	conn_start_retry_after(c, conn_start_retry_ms[c->retries++]);
	return true;
}

/**
 * A peer that does not know enhanced requests closes (RFC 6581 section 10). Ask it again without
 * one, on a fresh connection and within the same deadline. Not in a pairing.
 * @return false: it was asked so already, or not asked at all.
 */
static bool conn_start_fall_back(struct conn *c, const char *what)
{
	if (!c->requested || c->revision < 2 || c->paired)
		return false;
	log_printf(c->rnic->log, LOG_LEVEL_INFO,
		"rnic: the peer %s our MPA revision 2 request; trying revision 1", what);
	mpa_abort(&c->mpa);
	c->requested = false;
	c->revision = 1;
	conn_start_retry_after(c, 0);
	return true;
}

/* ---- terms ------------------------------------------------------------------------------- */

/**
 * The depths that the peer sent, as RFC 6581 has them or else as SMB Direct does. The private data
 * keep SMB Direct's words.
 * @param service the port of the side that listens.
 */
static struct mpa_start conn_start_with_legacy_depths(
	const struct conn *c, const struct mpa_start *st, uint16_t service)
{
	struct mpa_start told = *st;

	if (!st->enhanced && mpa_legacy_applies(c->rnic->mpa.legacy, service))
		mpa_legacy_depths(st->private_data, st->private_len, &told.ird, &told.ord);
	return told;
}

/** The stream cannot be: say so with a Terminate (RFC 6581 section 9), which ends it. */
static void conn_start_refuse_terms(struct conn *c, enum mpa_error code)
{
	struct rnic_qp *qp = c->qp;

	conn_map_end(c);
	qp->failing = true;
	c->phase = CONN_STREAM;
	rdmap_refuse(&qp->rdmap, &c->mpa, code);
	qp->failing = false;
}

/** The one RTR type of @p mask to send. Left to itself: a Write disturbs the peer least. */
static uint8_t conn_start_prefer_rtr(const struct mpa_config *cfg, uint8_t mask)
{
	static const uint8_t usual[] = {MPA_RTR_WRITE, MPA_RTR_READ, MPA_RTR_SEND};

	for (unsigned i = 0; i < sizeof cfg->rtr_order; i++) {
		if (mask & cfg->rtr_order[i])
			return cfg->rtr_order[i];
	}
	for (unsigned i = 0; i < sizeof usual; i++) {
		if (mask & usual[i])
			return usual[i];
	}
	return 0;
}

uint8_t conn_common_rtr(const struct conn *c)
{
	return c->rtr & mpa_rtr_taken(conn_mpa(c));
}

/* ---- initiator: the reply ---------------------------------------------------------------- */

/** The stream may begin: the first FPDU is ours (RFC 5044 section 7.1.2 rule 4). */
static void conn_start_begin_stream(struct conn *c, const struct mpa_start *st)
{
	uint8_t *kept = c->private_data; /* what st says may be in there */

	if (c->paired && !pairing_take_reply(c->qp->pairing, st->private_data, st->private_len))
		return;
	c->private_data = NULL;
	c->private_len = 0;
	conn_stop_deadline(c);
	qp_connect(c->qp, c, c->rtr);
	if (c->ep)
		ep_on_reply(c->ep, st, c->ird, c->ord);
	free(kept);
}

/** Give the peer time to get ready for it: what it said is kept. */
static void conn_start_settle(struct conn *c, const struct mpa_start *st)
{
	if (conn_keep_private(c, st->private_data, st->private_len)) {
		conn_abort(c, -ENOMEM);
		return;
	}
	c->wait = CONN_WAIT_SETTLE;
	conn_set_deadline(c, conn_mpa(c)->settle_ms * UINT64_C(1000000));
}

/** RFC 6581 section 9.1, last paragraphs. */
static void conn_start_take_accept(struct conn *c, const struct mpa_start *st)
{
	uint16_t ird = c->ird;

	c->requested = false;
	/* Ours at most what the peer takes at once, and at least what it will send us. */
	if (st->ird != MPA_DEPTH_UNKNOWN && c->ord > st->ird)
		c->ord = st->ird;
	if (st->ord != MPA_DEPTH_UNKNOWN && ird < st->ord)
		ird = st->ord;
	c->rtr = 0;
	if (st->enhanced && st->peer_to_peer)
		c->rtr = conn_start_prefer_rtr(conn_mpa(c), st->rtr & conn_mpa(c)->rtr);
	if (ird > c->rnic->limits.max_ird || conn_prepare_stream(c, ird)) {
		conn_start_refuse_terms(c, MPA_ERROR_INSUFFICIENT_IRD);
		return;
	}
	if (st->enhanced && st->peer_to_peer && !c->rtr) {
		conn_start_refuse_terms(c, MPA_ERROR_NO_RTR);
		return;
	}
	if (conn_mpa(c)->settle_ms)
		conn_start_settle(c, st);
	else
		conn_start_begin_stream(c, st);
}

/** Of a QP that is its own peer: what both ends want is known already. */
static bool conn_start_leads_to_itself(const struct conn *c)
{
	struct ip_endpoint local, remote;

	if (!c->paired)
		return false;
	llp_endpoints(mpa_llp(&c->mpa), &local, &remote);
	return local.port == remote.port && ip_addr_equal(&local.addr, &remote.addr);
}

static void conn_start_alone(struct conn *c)
{
	const struct mpa_start st = {
		.private_data = c->private_data, .private_len = c->private_len};

	if (c->ord > c->ird)
		c->ord = c->ird;
	c->rtr = 0;
	if (mpa_begin_alone(&c->mpa) || conn_prepare_stream(c, c->ird))
		conn_abort(c, -ENOMEM);
	else
		conn_start_begin_stream(c, &st);
}

static void conn_start_connected(void *user)
{
	struct conn *c = user;
	int rc;

	c->protects = llp_protects(mpa_llp(&c->mpa));
	if (conn_start_leads_to_itself(c)) {
		conn_start_alone(c);
		return;
	}
	rc = mpa_request(&c->mpa, c->ird, c->ord, c->private_data, c->private_len);

	c->requested = !rc;
	if (rc)
		conn_abort(c, -ECONNABORTED);
}

static void conn_start_reply(void *user, const struct mpa_start *st)
{
	struct conn *c = user;
	struct mpa_start told = conn_start_with_legacy_depths(c, st, c->service_port);

	conn_map_end(c);
	conn_start_drop_text(c);
	if (!st->reject) {
		conn_start_take_accept(c, &told);
		return;
	}
	/* A peer of our revision means it; an older one may not have understood. */
	if (st->revision < 2 && conn_start_fall_back(c, "rejected"))
		return;
	mpa_release(&c->mpa);
	conn_over(c, &(struct conn_end){.status = -ECONNREFUSED, .rejected = &told});
}

/* ---- responder: the request -------------------------------------------------------------- */

static void conn_start_request(void *user, const struct mpa_start *st)
{
	struct conn *c = user;
	struct rnic_ep *ep = c->ep;
	struct mpa_start told = conn_start_with_legacy_depths(c, st, ep->local.port);

	conn_stop_deadline(c);
	conn_start_drop_text(c);
	conn_leave_pending(c);
	c->ep = NULL;
	c->peer_ird = told.ird;
	c->peer_ord = told.ord;
	c->enhanced = st->enhanced;
	c->peer_to_peer = st->enhanced && st->peer_to_peer;
	c->rtr = st->rtr;
	ep_on_request(ep, c, &told);
}

/** Peers that connect and then say nothing hold memory until the deadline: not too many. */
static void conn_start_make_room(struct rnic *r, const struct ip_addr *peer)
{
	struct peer_charge *charge =
		peer_set_in_the_way(&r->startups, peer, r->max_startups, r->max_startups_per_peer);
	char text[IP_ADDR_STRLEN];

	if (!charge)
		return;
	/* An attack is told of now and then, not at each step. */
	log_printf(r->log, log_level_of_count(++r->startups_replaced),
		"rnic: %u connections wait for their MPA requests, %u of them from %s: the oldest "
		"of these gives way",
		r->startups.count, charge->peer->count, ip_addr_format(&charge->peer->addr, text));
	conn_abort(container_of(charge, struct conn, startup), -ECONNABORTED);
}

int conn_accepted(struct conn *c, struct llp *l, struct rnic_ep *ep)
{
	struct ip_endpoint local, remote;

	llp_endpoints(l, &local, &remote);
	conn_start_make_room(c->rnic, &remote.addr);
	if (peer_set_add(&c->rnic->startups, &c->startup, &remote.addr))
		return -ENOMEM;
	c->ep = ep;
	c->pending = true;
	LIST_INSERT_HEAD(&ep->listener->pending, c, pending_link);
	c->paired = ep->paired;
	/* Its program has named the peer by its address, and nothing else. */
	if (c->paired)
		llp_demand_addr(l);
	mpa_init_responder(&c->mpa, l, conn_mpa(c), &conn_start_ops, c);
	conn_set_deadline(c, c->rnic->start_timeout);
	return 0;
}

void conn_leave_pending(struct conn *c)
{
	c->pending = false;
	LIST_REMOVE(c, pending_link);
	peer_set_remove(&c->rnic->startups, &c->startup);
}

/* ---- ends -------------------------------------------------------------------------------- */

static void conn_start_eof(void *user)
{
	if (!conn_start_fall_back(user, "closed at"))
		conn_abort(user, -ECONNRESET);
}

static void conn_start_error(void *user, enum mpa_error code, const char *reason)
{
	struct conn *c = user;

	log_printf(c->rnic->log, LOG_LEVEL_INFO, "rnic: MPA start-up: %s", reason);
	if (code == MPA_ERROR_CATASTROPHIC) {
		conn_start_refuse_terms(c, code);
		return;
	}
	/* RFC 5044 section 8, code 4: close. */
	mpa_release(&c->mpa);
	conn_over(c, &(struct conn_end){.status = -EPROTO});
}

static void conn_start_closed(void *user, int error)
{
	struct conn *c = user;

	if (error == -ECONNREFUSED && conn_start_retry_refused(c))
		return;
	/* Where the peer is known, worse terms are its to choose: an RST may be anybody's. */
	if (error == -ECONNRESET && !c->protects && conn_start_fall_back(c, "reset"))
		return;
	conn_over(c, &(struct conn_end){.status = error ? error : -ECONNRESET});
}

static const struct mpa_user_ops conn_start_ops = {
	.connected = conn_start_connected,
	.keep = conn_start_keep,
	.request = conn_start_request,
	.reply = conn_start_reply,
	.eof = conn_start_eof,
	.error = conn_start_error,
	.closed = conn_start_closed,
};

void conn_start_deadline(struct conn *c, bool stood_still)
{
	const struct mpa_start kept = {
		.private_data = c->private_data, .private_len = c->private_len};

	if (stood_still && (c->wait == CONN_WAIT_MAP || c->wait == CONN_WAIT_PEER) &&
		conn_wait_again(c))
		return;
	switch (c->wait) {
	case CONN_WAIT_RETRY:
		conn_start_now(c);
		break;
	case CONN_WAIT_SETTLE:
		conn_start_begin_stream(c, &kept);
		break;
	case CONN_WAIT_MAP:
		conn_over(
			c, &(struct conn_end){.status = -ETIMEDOUT, .mapper = RNIC_MAPPER_SILENT});
		break;
	case CONN_WAIT_PEER:
		log_printf(c->rnic->log, LOG_LEVEL_DEBUG, "rnic: MPA start-up timed out");
		conn_abort(c, -ETIMEDOUT);
		break;
	}
}
