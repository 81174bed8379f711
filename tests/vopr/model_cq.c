/* SPDX-License-Identifier: BSD-2-Clause */
/** Completion queues: when an event tells of what comes to them. */
#include "vopr/model.h"

void model_cq_init(struct model *m, struct model_cq *cq, unsigned host)
{
	*cq = (struct model_cq){.m = m, .host = host};
}

void model_cq_arm(struct model_cq *cq, enum model_arm what, bool empty)
{
	/* To ask for all outweighs to ask for some, in any order. */
	bool more = what > cq->armed;

	if (more)
		cq->armed = what;
	cq->mixed = !empty && (cq->mixed || more);
}

void model_cq_event(struct model_cq *cq)
{
	if (cq->armed == MODEL_ARM_NONE)
		model_fail(
			cq->m, "host %u: an event of a CQ, for which nobody has asked", cq->host);
	/* Of two that are not explained yet the one that is harder to explain. */
	if (!cq->lost && cq->told != MODEL_ARM_SOLICITED)
		cq->told = cq->armed;
	cq->armed = MODEL_ARM_NONE;
}

enum model_arm model_cq_polled(struct model_cq *cq, const struct model_completion *c)
{
	enum model_arm least = c->solicited || c->status != MODEL_GOOD ? MODEL_ARM_SOLICITED
								       : MODEL_ARM_ANY,
		       told = cq->told;

	if (cq->armed >= least && !cq->mixed)
		model_fail(cq->m, "host %u: no event tells of the completion of %#jx", cq->host,
			(uintmax_t)c->id);
	if (told < least)
		return MODEL_ARM_NONE;
	cq->told = MODEL_ARM_NONE;
	return told;
}

void model_cq_empty(struct model_cq *cq)
{
	if (cq->told != MODEL_ARM_NONE)
		model_fail(cq->m, "host %u: an event of a CQ tells of no completion", cq->host);
	cq->told = MODEL_ARM_NONE;
	cq->mixed = false;
}

void model_cq_lose(struct model_cq *cq, bool all)
{
	cq->told = MODEL_ARM_NONE;
	cq->lost = cq->lost || all;
}
