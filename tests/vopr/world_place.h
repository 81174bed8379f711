/* SPDX-License-Identifier: BSD-2-Clause */
/** @file world_place.h Memory for requests: that may be used, and that must not. */
#ifndef TESTS_VOPR_WORLD_PLACE_H
#define TESTS_VOPR_WORLD_PLACE_H

#include "vopr/world.h"

/** A region of one's own, of the PD. */
struct model_key *place_own_key(struct world_host *h, unsigned pd);

/** Somewhere within what @p k stands for. */
uint32_t place_any(struct world *w, const struct model_key *k, uint32_t len, uint32_t align);

/**
 * Memory of one's own for @p len bytes in @p n pieces. @return false: none was found that is free.
 */
bool place_find_own(struct world_host *h, const struct model_qp *fenced, struct model_wr *r,
	uint32_t len, unsigned n, bool write);

/** Is MODEL_HOLE a part of it? */
bool place_covers_hole(const struct model_key *k);

/** Memory of one's own that is not there. @return false: there is none. */
bool place_find_missing(struct world_host *h, struct model_wr *r, bool write);

/** Something of the peer's to reach, or to fail at. @return false: nothing. */
bool place_find_remote(struct world_qp *q, struct model_wr *r, unsigned rights, bool atomic);

#endif
