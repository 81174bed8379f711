/* SPDX-License-Identifier: BSD-2-Clause */
/** @file model_rq.h What of receive queues the rest of the model uses. */
#ifndef TESTS_VOPR_MODEL_RQ_H
#define TESTS_VOPR_MODEL_RQ_H

#include "vopr/model.h"

/** Any of its elements names memory that was taken away. */
bool model_rq_is_spoiled(const struct model_rq *rq);
/** Its elements or the messages for them have changed: is there one for each? */
void model_rq_watch(struct model_rq *rq);
/** @p w has completed. */
void model_rq_take(struct model_rq *rq, struct model_wr *w);
/**
 * A shared queue may have lost @p n more elements to queue pairs that are gone: of those that are
 * in it, not of those that come.
 */
void model_rq_lose(struct model_rq *rq, unsigned n);
/** A receive of message @p s has completed. */
void model_rq_took(struct model_rq *rq, const struct model_wr *s);
/** All of it is gone; @p qp, or nobody, had it. */
void model_rq_clear(struct model_rq *rq, struct model_qp *qp);

#endif
