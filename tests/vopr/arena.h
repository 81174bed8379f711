/* SPDX-License-Identifier: BSD-2-Clause */
/** @file arena.h The memory of the model: which request may read or write which bytes now. */
#ifndef TESTS_VOPR_ARENA_H
#define TESTS_VOPR_ARENA_H

#include "vopr/model.h"

/** @return @p p; ends the process when it is NULL. */
void *model_need(void *p);
void model_wr_unref(struct model_wr *w);

/** One more; none of no bytes, unless it is MODEL_NOWHERE. It has a reference to its request. */
void arena_claim(struct model *m, unsigned host, const struct model_claim *c);

/** Number @p i is over, and may have been done in part: whatever is there now stays. */
void arena_release(struct model *m, unsigned host, unsigned i, const char *when);

/** It is over, and must have been done; what came behind it to the same place may be, too. */
void arena_resolve(struct model *m, unsigned host, unsigned i);

/** A request of a peer's that wrote nothing there is through. */
void arena_release_of(struct model *m, unsigned host, const struct model_wr *w);

/** It is not to be looked at any more. */
void arena_forget(struct model_host *h, unsigned i);

/** What will stand there once what @p via's stream has under way is done. */
void arena_foresee(const struct model *m, unsigned host, uint32_t off, uint32_t len,
	const struct model_qp *via, bool incoming, uint8_t *out);

#endif
