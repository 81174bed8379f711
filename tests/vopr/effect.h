/* SPDX-License-Identifier: BSD-2-Clause */
/** @file effect.h What a request does to memory: which bytes it takes, from where, to where. */
#ifndef TESTS_VOPR_EFFECT_H
#define TESTS_VOPR_EFFECT_H

#include "vopr/arena.h"

/** It has just been posted: what it will write is put into its data, what it touches is claimed.
 *  @p live: there is a stream; else only memory of its own QP's host is touched. */
void effect_of_request(struct model_qp *qp, struct model_wr *w, bool live);
void effect_of_recv(struct model_rq *rq, struct model_qp *qp, struct model_wr *w);

/** @p s, or nothing, has come into @p w: what it holds is known. */
void effect_foresee_recv(struct model_rq *rq, struct model_wr *w, const struct model_wr *s);

/** Its own memory is the program's again: as it must be, or done in part. */
void effect_own_memory(struct model *m, unsigned host, struct model_wr *w, bool good);

/** Give up a receive: untouched, or with something of @p s, the message that was to come. */
void effect_give_up_recv(struct model_rq *rq, struct model_wr *w, const struct model_wr *s);

/** All that came to @p qp up to number @p seq has been placed; Atomics only if number @p seq is
 *  answered, as messages may overtake them (RFC 7306 section 5.4 rule 6). */
void effect_delivered(struct model_qp *qp, uint64_t seq, bool answered);

/** Give up the claims of a stream: those of the peer, or all. */
void effect_end_stream(struct model_qp *qp, bool all, const char *when);

#endif
