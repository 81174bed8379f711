/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file conn_turn.h
 * Whose turn it is to connect: connects to one host begin in the order in which the program asked
 * for them, though their port mapper answers in any order, or does not. Programs that make several
 * connections count on it, as with the kernel's RDMA. Hosts do not wait for each other.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_CONN_TURN_H
#define RNIC_CONN_TURN_H

#include "base/ip_addr.h"
#include "base/random.h"
#include "base/siphash.h"
#include "engine/engine.h"

#include <sys/queue.h>

#define CONN_TURN_BUCKETS 256

enum conn_turn_state {
	CONN_TURN_NONE,
	CONN_TURN_WAITS, /**< it must not begin yet, and nor must those behind it */
	CONN_TURN_READY, /**< it waits for those before it */
	CONN_TURN_DUE,   /**< it begins when the doorbell is served */
};

/** A place in the queue of a host. Embedded in its owner. Zero-initialised is none. */
struct conn_turn {
	TAILQ_ENTRY(conn_turn) link;
	struct ip_addr host;
	enum conn_turn_state state;
};

TAILQ_HEAD(conn_turn_list, conn_turn);

struct conn_turns {
	struct engine *engine;
	struct siphash_key key;
	/** WAITS and READY, oldest first, those of one host in one list. */
	struct conn_turn_list hosts[CONN_TURN_BUCKETS];
	struct conn_turn_list due;
	struct engine_doorbell doorbell;
	void (*begin)(struct conn_turn *t);
};

/**
 * @param begin the turn has come, and @p t has no place any more. It is called from a doorbell, so
 *              nobody is inside an upcall.
 * @return 0 or -ENOMEM.
 */
int conn_turns_create(struct engine *e, const struct random_source *random,
	void (*begin)(struct conn_turn *t), struct conn_turns **out);

/** All must have left. @p ts may be NULL. */
void conn_turns_destroy(struct conn_turns *ts);

/** The first of those that wait for @p host, or NULL. It may be due already. */
struct conn_turn *conn_turns_first(struct conn_turns *ts, const struct ip_addr *host);

/** None of those that wait for @p host need wait any longer. They begin in their order. */
void conn_turns_release(struct conn_turns *ts, const struct ip_addr *host);

/** Take the last place for @p host; @p t has none. It waits until conn_turn_ready(). */
void conn_turn_take(struct conn_turns *ts, struct conn_turn *t, const struct ip_addr *host);

/** @p t may begin as soon as all before it have begun, or left. Does nothing if it did already. */
void conn_turn_ready(struct conn_turns *ts, struct conn_turn *t);

/** @p t has begun before, and begins again: it waits for nobody, but for those that are due. */
void conn_turn_again(struct conn_turns *ts, struct conn_turn *t);

/** Give up the place, if there is one. Those behind move up. */
void conn_turn_leave(struct conn_turns *ts, struct conn_turn *t);

#endif
