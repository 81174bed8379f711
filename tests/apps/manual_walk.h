/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file manual_walk.h
 * The manual pages of libibverbs, walked: each verb is called with each offence that its page
 * names, or that is plain from it, and must answer as the page says. What is not of iWARP must say
 * so with the page's errno. Afterwards the objects that were offended against still work.
 *
 * One file per topic; each row is one call. A row that is wrong is told, and the walk goes on.
 */
#ifndef TESTS_APPS_MANUAL_WALK_H
#define TESTS_APPS_MANUAL_WALK_H

#include "unit/provider/fixture.h"

#include <errno.h>

/** One of each, in fx.context; of another context of the same device when foreign. */
struct walk {
	struct ibv_pd *pd, *foreign_pd;
	struct ibv_comp_channel *channel, *foreign_channel;
	struct ibv_cq *cq, *foreign_cq;
	struct ibv_srq *srq, *foreign_srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /**< of buf, all rights */
	struct ibv_context *other;
	struct ibv_device_attr attr;
	uint8_t buf[4096];
};

extern struct walk w;

/** The verb answers @p want, an errno or whatever its page says. */
void walk_int(const char *page, const char *offence, long got, long want);
/** The verb answers NULL, or -1, with errno @p want. */
void walk_null(const char *page, const char *offence, const void *got, int want);
void walk_minus(const char *page, const char *offence, int got, int want);

#define INT(page, offence, call, want)   walk_int(page, offence, (call), want)
#define NIL(page, offence, call, want)   (errno = 0, walk_null(page, offence, (call), want))
#define MINUS(page, offence, call, want) (errno = 0, walk_minus(page, offence, (call), want))
#define TRUE(page, what, condition)      walk_int(page, what, !!(condition), 1)

/* The topics. */
void walk_device(void **state);
void walk_absent(void **state);
void walk_memory(void **state);
void walk_completion(void **state);
void walk_srq(void **state);
void walk_qp(void **state);
void walk_post(void **state);
void walk_builders(void **state);
void walk_connected(void **state);

#endif
