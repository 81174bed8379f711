/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/reason.h"

#include "vopr/model_rq.h"

#include <stddef.h>

void reason_add(struct model_qp *qp, unsigned reason, const struct model_wr *w)
{
	qp->why |= reason;
	if (!w) {
		qp->lasting |= reason;
		qp->lasting_reasons++;
		return;
	}
	qp->reasons++;
	qp->suspect = w->seq > qp->suspect ? w->seq : qp->suspect;
	qp->suspect_answer = qp->suspect_answer || model_is_answered(w);
}

unsigned reason_own_memory(const struct model_wr *w)
{
	return model_is_answered(w) ? MODEL_BY_OWN_SINK : MODEL_BY_OWN_MEMORY;
}

void reason_clear(struct model_qp *qp, uint64_t seq, bool answered)
{
	if (!qp->reasons || seq < qp->suspect || (qp->suspect_answer && !answered))
		return;
	qp->why = qp->lasting;
	qp->reasons = 0;
	qp->suspect = 0;
	qp->suspect_answer = false;
}

unsigned reason_all(const struct model_qp *qp)
{
	return qp->why | (qp->peer ? qp->peer->why : 0);
}

bool reason_is_spoiled(const struct model_qp *qp)
{
	return model_rq_is_spoiled(qp->rq) || (qp->peer && model_rq_is_spoiled(qp->peer->rq));
}

/**
 * Nobody need take the other's terms, or be reached. Where nothing bad happens, only the peer of a
 * pair without rdma_cm may be another, or not be there; the CM tells of one that rejects.
 */
static bool reason_is_unsettled(const struct model_qp *qp)
{
	return !qp->made && (qp->paired || !qp->m->faultless);
}

bool reason_may_end(const struct model_qp *qp)
{
	return reason_all(qp) || reason_is_unsettled(qp) || qp->dead ||
	       (qp->peer && qp->peer->dead) || reason_is_spoiled(qp);
}

bool reason_peer_may_leave(const struct model_qp *qp)
{
	unsigned peers = qp->peer ? qp->peer->why : qp->left_why;

	return reason_is_unsettled(qp) || !qp->peer || qp->peer->dead ||
	       qp->why & MODEL_BY_NETWORK || peers & ~(MODEL_BY_REFUSAL | MODEL_BY_RECEIVE) ||
	       model_rq_is_spoiled(qp->peer->rq);
}

bool reason_is_only_one(const struct model_qp *qp)
{
	return qp->made && qp->peer && !reason_is_spoiled(qp) &&
	       qp->reasons + qp->peer->reasons + qp->lasting_reasons + qp->peer->lasting_reasons ==
		       1;
}

void reason_add_both(struct model_qp *qp, unsigned reason)
{
	reason_add(qp, reason, NULL);
	if (qp->peer)
		reason_add(qp->peer, reason, NULL);
}

void model_excuse(struct model_qp *qp)
{
	reason_add_both(qp, MODEL_BY_NETWORK);
}

void model_lose(struct model_qp *qp, bool requests, bool receives)
{
	qp->sq_lost = qp->sq_lost || requests;
	qp->rq_lost = qp->rq_lost || receives;
	qp->must_end = qp->must_end || (qp->up && (requests || receives));
	if (requests || receives)
		reason_add(qp, MODEL_BY_QUEUE, NULL);
}

void model_end(struct model_qp *qp)
{
	reason_add_both(qp, MODEL_BY_PROGRAM);
}

/* ---- events ------------------------------------------------------------------------------ */

/** May the stream of @p qp end so that this is told of it? */
static bool event_is_true(const struct model_qp *qp, enum model_event e)
{
	unsigned own = qp->why, peers = qp->peer ? qp->peer->why : qp->left_why;

	switch (e) {
	/* Our memory or our CQ; the peer did not like what we asked for, or had no place for its
	 * answer; a CRC was wrong; nobody need take the other's terms. */
	case MODEL_EVENT_FATAL:
		return own & ~MODEL_BY_PROGRAM || peers & MODEL_BY_OWN_SINK ||
		       reason_is_unsettled(qp) || model_rq_is_spoiled(qp->rq);
	case MODEL_EVENT_ACCESS: /* the peer asked for what it may not, or answered into nothing */
		return peers & MODEL_BY_REFUSAL || own & MODEL_BY_OWN_SINK;
	case MODEL_EVENT_REQUEST: /* its message had no receive, or one too short */
		return peers & MODEL_BY_RECEIVE;
	default:
		return qp->rq->shared;
	}
}

void model_event(struct model_qp *qp, enum model_event e)
{
	unsigned now = 1u << e, same = e == MODEL_EVENT_LAST ? now : ~(1u << MODEL_EVENT_LAST);

	if (qp->events & same || !event_is_true(qp, e))
		model_fail(qp->m, "host %u: event %u of a QP, for no reason (%#x, %#x)", qp->host,
			e, qp->why, qp->events);
	qp->events |= now;
}

void model_in_error(struct model_qp *qp)
{
	if (qp->rq->shared != !!(qp->events & 1u << MODEL_EVENT_LAST))
		model_fail(qp->m, "host %u: no event tells of the last shared receive", qp->host);
}

void model_leave(struct model_qp *qp, bool in_error)
{
	if (in_error)
		model_in_error(qp);
	qp->events = ~0u;
	model_end(qp);
}

void reason_check_event(const struct model_qp *qp)
{
	const struct model_qp *p = qp->peer;
	enum model_event must;

	if (!reason_is_only_one(qp) || (!qp->doomed && !p->doomed))
		return;
	if (p->doomed && !(p->why & ~(MODEL_BY_OWN_MEMORY | MODEL_BY_OWN_SINK)))
		return; /* the peer has ended it, for nothing that we did */
	must = qp->doomed ? MODEL_EVENT_FATAL : MODEL_EVENT_ACCESS;
	if ((qp->events & ~(1u << MODEL_EVENT_LAST)) != 1u << must)
		model_fail(qp->m, "host %u: a stream ended with events %#x, not %#x", qp->host,
			qp->events, 1u << must);
}
