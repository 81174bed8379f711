/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file verbs_world.h
 * What fuzz_verbs.c works on: a device over an RNIC in memory, the program's objects, and arguments
 * that the input chooses.
 */
#ifndef TESTS_FUZZ_VERBS_WORLD_H
#define TESTS_FUZZ_VERBS_WORLD_H

#include "fuzz.h"
#include "provider/verbs/objects.h"
#include "unit/rnic/pair.h"

#define VERBS_PORT   61525
#define VERBS_ARENA  65536u
#define VERBS_PAGE   4096u
#define VERBS_SLOTS  4
#define VERBS_IDS    65536u
#define VERBS_WRS    64u                 /**< the most that the usual queues hold */
#define VERBS_UNREAD ((size_t)256 << 10) /**< bytes that a connection holds */

enum verbs_kind {
	VERBS_PD,
	VERBS_TD,
	VERBS_MR,
	VERBS_MW,
	VERBS_CHANNEL,
	VERBS_CQ,
	VERBS_SRQ,
	VERBS_QP,
	VERBS_KINDS
};

/** The double of what is below the verbs. */
struct stack {
	struct config config;
	struct rnic *rnic;
};

struct verbs_world {
	struct fuzz *in;
	struct pair pair;
	struct stack stack;
	struct device device;
	struct ibv_context *context;
	bool closed;
	void *object[VERBS_KINDS][VERBS_SLOTS];
	uint8_t *arena; /**< VERBS_ARENA bytes between pages that nobody may touch */
	uint64_t wr_id;
	/** Of each request that may complete: 1 + its QP's slot, or 1 + VERBS_SLOTS for an SRQ's.
	 */
	uint8_t open[VERBS_IDS];
};

extern struct verbs_world verbs_world;

/** Begin anew: an open device without objects. */
void verbs_world_init(struct fuzz *in);

/** End it. All objects are destroyed, and the device is closed; nothing may be left. */
void verbs_world_fini(void);

/** Close the device, once. */
void verbs_world_close(void);

/* ---- arguments: verbs_argument.c ------------------------------------------------------------- */

void verbs_any_bytes(void *to, size_t len);

/** In the arena, at its ends, beside it, or nowhere. */
uint64_t verbs_any_address(void);

/** In the arena, with at least half of it behind. */
uint64_t verbs_good_address(void);

uint64_t verbs_any_length(void);

/** @return the object in a slot that the input chooses, or NULL. */
void *verbs_any_object(enum verbs_kind kind);

/** Of a region or a window, as it is or changed, or of nothing. */
uint32_t verbs_any_key(void);

/** Elements for as many as a queue can take. @param good addresses that can be read. */
struct ibv_sge *verbs_any_list(bool good);

/** How many of them a request says it has: perhaps more, or less than none. */
int verbs_any_count(void);

/** The number of a request that may complete from now on. @param of see verbs_world.open. */
uint64_t verbs_next_id(uint8_t of);

/** The requests of @p of do not complete any more. */
void verbs_forget(uint8_t of);

/* ---- objects: verbs_object.c ----------------------------------------------------------------- */

void verbs_create(enum verbs_kind kind, unsigned slot);

/** The object in the slot must be there. It may stay, in use. */
void verbs_destroy(enum verbs_kind kind, unsigned slot);
void verbs_create_or_destroy(void);
void verbs_destroy_all(void);
void verbs_modify(void);
void verbs_query(void);
void verbs_memory(void);

/* ---- requests: verbs_request.c --------------------------------------------------------------- */

void verbs_post_sends(void);
void verbs_post_receives(void);
void verbs_bind_window(void);

/** ibv_wr_start() and what follows, to its end. */
void verbs_build(void);

#endif
