/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/pairing.h"

#include "base/container_of.h"
#include "rnic/ep_priv.h"
#include "rnic/pairing_service.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/*
 * Delays between attempts. They are short at first, because the other program is about to connect,
 * too, and then grow.
 */
#define BACKOFF_FIRST_MS 10
#define BACKOFF_MOST_MS  1000

/*
 * Most programs ask for timeout 14 and retry_cnt 7, half a second on an InfiniBand fabric. Here a
 * SYN may be lost, and is sent again after one, three and seven seconds.
 */
#define PATIENCE_LEAST (10000 * MS)

/*
 * A peer that has closed does not come back. Over InfiniBand a program notices that only when the
 * retries have failed. A program that ends before, without waiting for its last sends, never
 * notices (ibv_srq_pingpong with many QPs). So the time is the program's, but not longer than for a
 * peer that may still come.
 */
#define RETRIES_USUAL (500 * MS)
#define RETRIES_MOST  PATIENCE_LEAST

static void pairing_on_event(const struct rnic_ep_event *ev);

/* ---- ends -------------------------------------------------------------------------------- */

static struct timer_wheel *pairing_wheel_of(const struct pairing *p)
{
	return &p->qp->rnic->engine->wheel;
}

static void pairing_start(const struct pairing *p, struct timer *t, uint64_t ns)
{
	timer_start(pairing_wheel_of(p), t, p->qp->rnic->engine->now + ns);
}

static void pairing_leave_ep(struct pairing *p)
{
	struct rnic_ep *ep = p->ep;

	p->ep = NULL;
	if (ep)
		ep_free(ep);
}

void pairing_halt(struct pairing *p)
{
	p->state = PAIRING_FAILED;
	timer_stop(pairing_wheel_of(p), &p->attempt);
	timer_stop(pairing_wheel_of(p), &p->deadline);
}

void pairing_end(struct rnic_qp *qp)
{
	struct pairing *p = qp->pairing;

	if (!p)
		return;
	pairing_halt(p);
	pairing_leave_ep(p);
	qp->pairing = NULL;
	atomic_store(&qp->paired, false);
	free(p);
}

static void pairing_log_failure(const struct pairing *p, const char *why)
{
	char text[IP_ADDR_STRLEN];

	log_printf(p->qp->rnic->log, LOG_LEVEL_INFO,
		"rnic: QP %u: no connection to QP %u of %s: %s", p->qp->num, p->path.remote_qp,
		ip_addr_format(&p->path.remote, text), why);
}

/** What waited for the peer says so. What SQD holds back did not, and is flushed with the rest. */
static bool pairing_fail_sends(const struct pairing *p)
{
	rdmap_take_acked(&p->qp->rdmap);
	if (!rdmap_sq_is_busy(&p->qp->rdmap))
		return false;
	rdmap_fail_oldest(&p->qp->rdmap, RDMAP_WC_RETRY_EXC_ERR);
	return true;
}

/**
 * What InfiniBand's requester sees of a peer that does not answer: the oldest send says so, the
 * rest is flushed.
 */
static void pairing_fail(struct pairing *p, const char *why)
{
	struct rnic_qp *qp = p->qp;

	pairing_log_failure(p, why);
	pairing_halt(p);
	pairing_leave_ep(p);
	pairing_fail_sends(p);
	if (qp_has_stream(qp))
		qp_abort(qp, -ECONNABORTED);
	else
		qp_enter_error(qp);
}

/** It will never be: a pure receiver would wait for good, so an event tells. */
static void pairing_fail_for_good(struct pairing *p, const char *why)
{
	struct rnic_qp *qp = p->qp;

	pairing_fail(p, why);
	rnic_raise(qp->rnic, RNIC_EVENT_QP_FATAL, qp->context);
}

void pairing_serve(struct pairing *p)
{
	/* What SQD holds back does not wait for the peer. */
	if (!rdmap_sq_is_busy(&p->qp->rdmap)) {
		timer_stop(pairing_wheel_of(p), &p->deadline);
		return;
	}
	switch (p->state) {
	case PAIRING_TRYING:
	case PAIRING_WAITING:
	case PAIRING_ANSWERED:
		if (p->patience && !timer_running(&p->deadline))
			pairing_start(p, &p->deadline, p->patience);
		break;
	case PAIRING_JOINED:
		if (!p->closing)
			break;
		/* fall through */
	case PAIRING_PARTED:
		if (!timer_running(&p->deadline))
			pairing_start(p, &p->deadline, p->retries);
		break;
	default:
		break;
	}
}

/**
 * The peer has answered before it ended, or has said why, or neither. A stream takes what is to be
 * sent, also where nobody reads it any more: then nothing waits for an end.
 */
static void pairing_seek_end(struct pairing *p)
{
	struct rnic_qp *qp = p->qp;

	recv_wait_try(qp); /* one may have been posted in this very round */
	if (p->state != PAIRING_JOINED || !rdmap_sq_is_busy(&qp->rdmap))
		return;
	if (!qp->wait.held) {
		/* The message was taken, and the LLP has more to show before the end. */
		pairing_serve(p);
		return;
	}
	p->state = PAIRING_ENDING;
	recv_wait_end(qp);
	rdmap_take_answers_only(&qp->rdmap);
}

static void pairing_on_deadline(struct timer *t, uint64_t now)
{
	struct pairing *p = container_of(t, struct pairing, deadline);

	if (timer_stood_still(t, now)) {
		pairing_serve(p);
		return;
	}
	if (p->state == PAIRING_JOINED)
		pairing_seek_end(p);
	else
		pairing_fail(p, p->state == PAIRING_PARTED ? "it has ended the one there was"
							   : "not within its retries' time");
}

/* ---- what both sides do ------------------------------------------------------------------ */

/** Not before both are known: at the hello if the QP is in RTS, else at RTS. */
static bool pairing_psn_agrees(const struct pairing *p, uint32_t told)
{
	return p->sq_psn == PAIRING_PSN_UNKNOWN || told == PAIRING_PSN_UNKNOWN || p->sq_psn == told;
}

/** What both sides begin with. @param[out] data the private data of it: its hello. */
static struct rnic_conn_param pairing_param_of(
	const struct pairing *p, uint8_t data[PAIRING_HELLO_LEN])
{
	const struct pairing_hello hello = {
		.to_qp = p->path.remote_qp, .from_qp = p->qp->num, .psn = p->path.rq_psn};

	pairing_put_hello(data, &hello);
	return (struct rnic_conn_param){.qp = p->qp,
		.ird = p->qp->ird,
		.ord = p->ord,
		.private_data = data,
		.private_len = PAIRING_HELLO_LEN,
		.tos = p->path.tos};
}

static void pairing_joined(struct pairing *p)
{
	struct rnic_qp *qp = p->qp;

	p->state = PAIRING_JOINED;
	p->backoff_ms = BACKOFF_FIRST_MS;
	timer_stop(pairing_wheel_of(p), &p->deadline);
	if (qp_state(qp) == RNIC_QP_RTR)
		rnic_raise(qp->rnic, RNIC_EVENT_QP_ESTABLISHED, qp->context);
	/* What the peer sent too early, with its end, may wait for a receive already. */
	pairing_serve(p);
}

void pairing_modify(struct pairing *p, unsigned mask, const struct rnic_qp_attr *attr)
{
	struct rnic_qp *qp = p->qp;

	if (mask & RNIC_QP_PATIENCE) {
		uint64_t told = attr->patience;

		p->patience = told && told < PATIENCE_LEAST ? PATIENCE_LEAST : told;
		p->retries = !told || told > RETRIES_MOST ? RETRIES_MOST : told;
		/* What was posted in RTR waits as long as this, from now on. */
		timer_stop(pairing_wheel_of(p), &p->deadline);
	}
	if (mask & RNIC_QP_ORD) {
		/* max_rd_atomic comes with RTS, when the depths may have been agreed on already. */
		p->ord = attr->ord;
		if (qp_has_stream(qp) && qp->rdmap.ord > p->ord)
			qp->ord = qp->rdmap.ord = p->ord;
	}
	if (mask & RNIC_QP_SQ_PSN) {
		p->sq_psn = attr->sq_psn & PAIRING_NUMBER_MASK;
		if (!pairing_psn_agrees(p, p->peer_psn))
			pairing_fail_for_good(p, "it was told another starting PSN");
	}
	pairing_serve(p);
}

/* ---- the side that connects -------------------------------------------------------------- */

/** The order of (address, QP number): the lesser connects. */
static int pairing_order(const struct rnic_qp *qp, const struct rnic_path *path)
{
	int c = memcmp(path->local.b, path->remote.b, sizeof path->local.b);

	return c ? c : (qp->num > path->remote_qp) - (qp->num < path->remote_qp);
}

/**
 * A QP has one end of a stream, so one that is its own peer needs a stream of one end: TCP's, from
 * a port to the same port (RFC 9293 section 3.5, both sides of a simultaneous open at once). The
 * port must not be in use.
 */
static int pairing_aim_at_itself(struct rnic_ep *ep)
{
	struct ip_endpoint at = {.addr = ep->local.addr};
	int rc = ep_bind(ep, &at, false, false);

	ep->remote = ep->local;
	return rc;
}

static int pairing_try_once(struct pairing *p)
{
	struct rnic *r = p->qp->rnic;
	uint8_t data[PAIRING_HELLO_LEN];
	struct rnic_conn_param param = pairing_param_of(p, data);

	p->closing = false;
	p->ep = ep_new(r, pairing_on_event, p);
	if (!p->ep)
		return -ENOMEM;
	p->ep->paired = true;
	p->ep->local.addr = p->path.local;
	p->ep->remote = (struct ip_endpoint){p->path.remote,
		(uint16_t)(r->pairing_port + (p->path.remote_qp >> RNIC_QP_SPACE_SHIFT))};
	if (pairing_order(p->qp, &p->path) == 0) {
		int rc = pairing_aim_at_itself(p->ep);

		if (rc)
			return rc;
	}
	p->ep->state = EP_RESOLVED;
	return ep_connect(p->ep, &param);
}

static void pairing_try_later(struct pairing *p)
{
	pairing_start(p, &p->attempt, p->backoff_ms * MS);
	p->backoff_ms = p->backoff_ms < BACKOFF_MOST_MS / 2 ? 2 * p->backoff_ms : BACKOFF_MOST_MS;
}

static void pairing_on_attempt(struct timer *t, uint64_t now)
{
	struct pairing *p = container_of(t, struct pairing, attempt);

	if (p->state == PAIRING_WAITING)
		pairing_service_claim(p);
	if (p->state != PAIRING_TRYING)
		return;
	pairing_leave_ep(p);
	if (pairing_try_once(p)) {
		pairing_leave_ep(p);
		pairing_try_later(p);
	}
}

static void pairing_on_refused(struct pairing *p, const struct rnic_ep_event *ev)
{
	static const char *const why[PAIRING_REFUSALS] = {
		[PAIRING_NO_QP] = "it has no such QP",
		[PAIRING_OTHER_QP] = "that QP was told another peer",
		[PAIRING_OTHER_PSN] = "that QP was told another starting PSN",
		[PAIRING_ILL] = "it does not understand our request",
	};
	struct pairing_hello hello;

	/* A reset, or an answer by a program that knows nothing of pairings: it may yet come up. */
	if (pairing_get_hello(ev->private_data, ev->private_len, &hello) && why[hello.refusal])
		pairing_fail_for_good(p, why[hello.refusal]);
	else
		pairing_try_later(p);
}

bool pairing_take_reply(struct pairing *p, const void *data, uint16_t len)
{
	struct pairing_hello hello;

	if (!pairing_get_hello(data, len, &hello) || hello.refusal || hello.to_qp != p->qp->num ||
		hello.from_qp != p->path.remote_qp || !pairing_psn_agrees(p, hello.psn)) {
		pairing_fail_for_good(p, "it accepted on other terms");
		return false;
	}
	p->peer_psn = hello.psn;
	return true;
}

/* ---- the side that waits ------------------------------------------------------------------ */

enum pairing_refusal pairing_judge(
	const struct pairing *p, const struct rnic_ep *request, const struct pairing_hello *hello)
{
	if (p->state != PAIRING_WAITING && p->state != PAIRING_TRYING)
		return PAIRING_NOT_READY; /* it may be reset, and made another's */
	if (p->state == PAIRING_TRYING || hello->from_qp != p->path.remote_qp ||
		!ip_addr_equal(&request->remote.addr, &p->path.remote) ||
		!ip_addr_equal(&request->local.addr, &p->path.local))
		return PAIRING_OTHER_QP;
	return pairing_psn_agrees(p, hello->psn) ? PAIRING_TAKEN : PAIRING_OTHER_PSN;
}

/** The peer has gone before there was a stream. It may come again, and say something else. */
static void pairing_wait_again(struct pairing *p)
{
	p->state = PAIRING_WAITING;
	p->peer_psn = PAIRING_PSN_UNKNOWN;
	pairing_leave_ep(p);
}

void pairing_answer(struct pairing *p, struct rnic_ep *request, const struct pairing_hello *hello)
{
	uint8_t data[PAIRING_HELLO_LEN];
	struct rnic_conn_param param = pairing_param_of(p, data);

	p->ep = request;
	p->closing = false;
	p->peer_psn = hello->psn;
	p->state = PAIRING_ANSWERED;
	ep_adopt(request, pairing_on_event, p);
	ep_leave_listener(request);
	if (ep_accept(request, &param))
		pairing_wait_again(p);
}

/* ---- what happens to the connection ------------------------------------------------------- */

/** The QP has no connection any more. */
static void pairing_on_lost(struct pairing *p, const struct rnic_ep_event *ev)
{
	switch (p->state) {
	case PAIRING_TRYING:
		if (ev->type == RNIC_EP_REJECTED)
			pairing_on_refused(p, ev);
		else
			pairing_try_later(p);
		break;
	case PAIRING_ANSWERED:
		pairing_wait_again(p);
		/* The peer may have asked again before we knew. Not from inside of an upcall. */
		pairing_start(p, &p->attempt, 0);
		break;
	default:
		break;
	}
}

static void pairing_on_event(const struct rnic_ep_event *ev)
{
	struct pairing *p = ev->context;

	if (ev->type == RNIC_EP_ESTABLISHED)
		pairing_joined(p);
	else
		pairing_on_lost(p, ev);
}

/** The peer has ended the stream in good order. */
static void pairing_part(struct pairing *p)
{
	p->state = PAIRING_PARTED;
	timer_stop(pairing_wheel_of(p), &p->deadline);
}

bool pairing_outlives(struct pairing *p, const struct rdmap_end *e)
{
	bool lost = e->kind == RDMAP_END_LOST, closed = e->kind == RDMAP_END_CLOSED;
	/* What a program says that moves its own QP to ERROR. */
	bool left = e->kind == RDMAP_END_TERMINATE_RX && e->layer == RDMAP_LAYER_RDMA &&
		    e->etype == RDMAP_ETYPE_CATASTROPHIC;
	/* It has closed, and owes us answers. */
	bool owed = p->state == PAIRING_ENDING && e->kind == RDMAP_END_TERMINATE_TX &&
		    rdmap_end_is_cut_off(e);

	if (p->state == PAIRING_ANSWERED && (lost || closed))
		return true;
	if (!lost && !closed && !left && !owed)
		return false;
	if (pairing_fail_sends(p) || p->state != PAIRING_JOINED || lost)
		return false;
	pairing_part(p);
	return true;
}

void pairing_peer_closed(struct pairing *p)
{
	struct rnic_qp *qp = p->qp;
	struct conn *c = qp->conn;

	if (p->state == PAIRING_JOINED) {
		pairing_part(p);
	} else if (p->state == PAIRING_ENDING) {
		pairing_fail_sends(p);
		qp_enter_error(qp);
	}
	rdmap_release(&qp->rdmap);
	conn_over(c, &(struct conn_end){.status = 0});
	pairing_serve(p);
}

void pairing_peer_closing(struct pairing *p)
{
	p->closing = true;
	pairing_serve(p);
}

/* ---- begin ------------------------------------------------------------------------------- */

static int pairing_path_verify(const struct rnic_qp *qp, const struct rnic_path *path)
{
	if (ip_addr_is_any(&path->remote) || ip_addr_is_multicast(&path->remote) ||
		ip_addr_is_v4(&path->remote) != ip_addr_is_v4(&path->local) ||
		path->remote_qp > PAIRING_NUMBER_MASK)
		return -EINVAL;
	return llp_is_local(qp->rnic->net, &path->local) ? 0 : -EADDRNOTAVAIL;
}

int pairing_begin(struct rnic_qp *qp, const struct rnic_path *path)
{
	struct pairing *p;
	int rc = pairing_service_open(qp->rnic);

	if (!rc)
		rc = pairing_path_verify(qp, path);
	if (rc)
		return rc;
	p = calloc(1, sizeof *p);
	if (!p)
		return -ENOMEM;
	*p = (struct pairing){.qp = qp,
		.path = *path,
		.sq_psn = PAIRING_PSN_UNKNOWN,
		.peer_psn = PAIRING_PSN_UNKNOWN,
		.ord = (uint16_t)qp->rnic->limits.max_ord,
		.patience = PATIENCE_LEAST,
		.retries = RETRIES_USUAL,
		.backoff_ms = BACKOFF_FIRST_MS};
	p->path.rq_psn &= PAIRING_NUMBER_MASK;
	timer_init(&p->attempt, pairing_on_attempt);
	timer_init(&p->deadline, pairing_on_deadline);
	qp->pairing = p;
	atomic_store(&qp->paired, true);
	/* Of an older uiwarp it is found out when the request's turn comes: then it fails. */
	atomic_store(&qp->send_imm, true);
	if (pairing_order(qp, path) <= 0) {
		p->state = PAIRING_TRYING;
		pairing_start(p, &p->attempt, 0);
	} else {
		p->state = PAIRING_WAITING;
		pairing_service_claim(p);
	}
	return 0;
}
