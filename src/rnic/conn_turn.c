/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/conn_turn.h"

#include "base/container_of.h"

#include <errno.h>
#include <stdlib.h>

static void conn_turns_serve(struct engine_doorbell *d)
{
	struct conn_turns *ts = container_of(d, struct conn_turns, doorbell);
	struct conn_turn *t;

	while ((t = TAILQ_FIRST(&ts->due))) {
		conn_turn_leave(ts, t);
		ts->begin(t);
	}
}

int conn_turns_create(struct engine *e, const struct random_source *random,
	void (*begin)(struct conn_turn *t), struct conn_turns **out)
{
	struct conn_turns *ts = calloc(1, sizeof *ts);

	if (!ts)
		return -ENOMEM;
	ts->engine = e;
	ts->begin = begin;
	ts->doorbell.serve = conn_turns_serve;
	random->fill(random->ctx, &ts->key, sizeof ts->key);
	for (unsigned i = 0; i < CONN_TURN_BUCKETS; i++)
		TAILQ_INIT(&ts->hosts[i]);
	TAILQ_INIT(&ts->due);
	*out = ts;
	return 0;
}

void conn_turns_destroy(struct conn_turns *ts)
{
	if (!ts)
		return;
	engine_doorbell_cancel(ts->engine, &ts->doorbell);
	free(ts);
}

static struct conn_turn_list *conn_turns_of(struct conn_turns *ts, const struct ip_addr *host)
{
	return &ts->hosts[siphash(&ts->key, host, sizeof *host) % CONN_TURN_BUCKETS];
}

/** @p t, or the first one behind it of the same host. */
static struct conn_turn *conn_turn_of(struct conn_turn *t, const struct ip_addr *host)
{
	while (t && !ip_addr_equal(&t->host, host))
		t = TAILQ_NEXT(t, link);
	return t;
}

static struct conn_turn *conn_turn_later(const struct conn_turn *t)
{
	return conn_turn_of(TAILQ_NEXT(t, link), &t->host);
}

static bool conn_turn_is_first(const struct conn_turn *t)
{
	const struct conn_turn *p = t;

	do
		p = TAILQ_PREV(p, conn_turn_list, link);
	while (p && !ip_addr_equal(&p->host, &t->host));
	return !p;
}

static void conn_turn_due(struct conn_turns *ts, struct conn_turn *t)
{
	t->state = CONN_TURN_DUE;
	TAILQ_INSERT_TAIL(&ts->due, t, link);
	engine_defer(ts->engine, &ts->doorbell);
}

/** @p t is the first of its host, or NULL: it begins if it is ready, and so do those behind it. */
static void conn_turns_advance(struct conn_turns *ts, struct conn_turn *t)
{
	struct conn_turn *next;

	for (; t && t->state == CONN_TURN_READY; t = next) {
		next = conn_turn_later(t);
		TAILQ_REMOVE(conn_turns_of(ts, &t->host), t, link);
		conn_turn_due(ts, t);
	}
}

struct conn_turn *conn_turns_first(struct conn_turns *ts, const struct ip_addr *host)
{
	struct conn_turn *t = conn_turn_of(TAILQ_FIRST(&ts->due), host);

	return t ? t : conn_turn_of(TAILQ_FIRST(conn_turns_of(ts, host)), host);
}

void conn_turns_release(struct conn_turns *ts, const struct ip_addr *host)
{
	struct conn_turn *first = conn_turn_of(TAILQ_FIRST(conn_turns_of(ts, host)), host);

	for (struct conn_turn *t = first; t; t = conn_turn_later(t))
		t->state = CONN_TURN_READY;
	conn_turns_advance(ts, first);
}

void conn_turn_take(struct conn_turns *ts, struct conn_turn *t, const struct ip_addr *host)
{
	t->host = *host;
	t->state = CONN_TURN_WAITS;
	TAILQ_INSERT_TAIL(conn_turns_of(ts, host), t, link);
}

void conn_turn_ready(struct conn_turns *ts, struct conn_turn *t)
{
	if (t->state != CONN_TURN_WAITS)
		return;
	t->state = CONN_TURN_READY;
	if (conn_turn_is_first(t))
		conn_turns_advance(ts, t);
}

void conn_turn_again(struct conn_turns *ts, struct conn_turn *t)
{
	conn_turn_leave(ts, t);
	conn_turn_due(ts, t);
}

void conn_turn_leave(struct conn_turns *ts, struct conn_turn *t)
{
	enum conn_turn_state was = t->state;
	struct conn_turn *next;

	t->state = CONN_TURN_NONE;
	if (was == CONN_TURN_DUE) {
		TAILQ_REMOVE(&ts->due, t, link);
	} else if (was != CONN_TURN_NONE) {
		next = conn_turn_is_first(t) ? conn_turn_later(t) : NULL;
		TAILQ_REMOVE(conn_turns_of(ts, &t->host), t, link);
		conn_turns_advance(ts, next);
	}
}
