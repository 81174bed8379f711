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

bool reason_may_end(const struct model_qp *qp)
{
	return reason_all(qp) || !qp->made || qp->dead || (qp->peer && qp->peer->dead) ||
	       reason_is_spoiled(qp);
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

void model_end(struct model_qp *qp)
{
	reason_add_both(qp, MODEL_BY_PROGRAM);
}
