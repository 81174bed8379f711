/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/starved.h"

#include "base/container_of.h"

/** So many are asked each time whether there is room for them. */
#define TLS_STARVED_ASKED 8
/** From one time to the next, if nothing comes meanwhile. */
#define TLS_STARVED_INTERVAL UINT64_C(10000000)

/* ---- room -------------------------------------------------------------------------------- */

static enum tls_kept_result tls_starved_ask(struct tls_conn *c, size_t want)
{
	const struct ip_addr peer = tls_conn_peer(c);

	return tls_kept_grow(&c->stack->kept, &c->kept, want, &peer);
}

bool tls_starved_have_room(struct tls_conn *c, size_t want)
{
	enum tls_kept_result r;

	if (c->need > want && c->need <= TLS_KEPT_MAX)
		want = c->need;
	r = tls_starved_ask(c, want);
	if (r == TLS_KEPT_NO_SHARE)
		c->stack->stats.rationed++;
	if (r != TLS_KEPT)
		c->room_refused = want;
	return r == TLS_KEPT;
}

bool tls_starved_is_in_vain(struct tls_conn *c)
{
	return c->starved_in == &c->stack->starved && c->rx_stalled &&
	       tls_starved_ask(c, c->room_refused) != TLS_KEPT;
}

/* ---- who waits --------------------------------------------------------------------------- */

static bool tls_starved_any(const struct tls_stack *s)
{
	return s->nested.count + s->starved.count != 0;
}

static void tls_starved_look_soon(struct tls_stack *s)
{
	if (!timer_running(&s->starved_timer))
		timer_start(s->wheel, &s->starved_timer, s->wheel->now + TLS_STARVED_INTERVAL);
}

void tls_starved_begin(struct tls_conn *c, bool whole, bool nested)
{
	struct tls_stack *s = c->stack;

	c->rx_stalled = true;
	if (c->starved)
		return;
	c->starved = true;
	if (whole)
		return;
	c->starved_in = nested ? &s->nested : &s->starved;
	TAILQ_INSERT_TAIL(&c->starved_in->list, c, starved_link);
	c->starved_in->count++;
	tls_starved_look_soon(s);
}

void tls_starved_end(struct tls_conn *c)
{
	c->starved = false;
	if (!c->starved_in)
		return;
	TAILQ_REMOVE(&c->starved_in->list, c, starved_link);
	c->starved_in->count--;
	c->starved_in = NULL;
}

/* ---- trying again ------------------------------------------------------------------------ */

static void tls_starved_try_later(struct tls_starved *list, struct tls_conn *c)
{
	TAILQ_REMOVE(&list->list, c, starved_link);
	TAILQ_INSERT_TAIL(&list->list, c, starved_link);
}

/** @param n of those in the list are tried, of which @p but is none. */
static void tls_starved_try_some(struct tls_starved *list, unsigned n, const struct tls_conn *but)
{
	for (; n != 0 && !TAILQ_EMPTY(&list->list); n--) {
		struct tls_conn *c = TAILQ_FIRST(&list->list);

		if (c == but) {
			tls_starved_try_later(list, c);
			continue;
		}
		tls_conn_enter(c);
		tls_starved_end(c);
		c->rx_stalled = false;
		if (c->below)
			llp_resume(c->below);
		tls_conn_leave(c);
	}
}

/** Nothing is opened for those that would have no room now, either. */
static void tls_starved_try_first_with_room(struct tls_starved *list, const struct tls_conn *but)
{
	unsigned n = list->count < TLS_STARVED_ASKED ? list->count : TLS_STARVED_ASKED;

	for (; n != 0; n--) {
		struct tls_conn *c = TAILQ_FIRST(&list->list);

		if (c->below && c != but && tls_starved_ask(c, c->room_refused) == TLS_KEPT) {
			tls_starved_try_some(list, 1, but);
			return;
		}
		tls_starved_try_later(list, c);
	}
}

void tls_starved_try(struct tls_stack *s, const struct tls_conn *but)
{
	if (!tls_starved_any(s) || s->starved_tried || s->scratch_used)
		return;
	s->starved_tried = true;
	tls_starved_try_some(&s->nested, s->nested.count, but);
	tls_starved_try_first_with_room(&s->starved, but);
	s->starved_tried = false;
}

static void tls_starved_on_timer(struct timer *t, uint64_t now)
{
	struct tls_stack *s = container_of(t, struct tls_stack, starved_timer);

	tls_starved_try(s, NULL);
	if (tls_starved_any(s))
		tls_starved_look_soon(s);
}

void tls_starved_init(struct tls_stack *s, struct timer_wheel *wheel)
{
	TAILQ_INIT(&s->nested.list);
	TAILQ_INIT(&s->starved.list);
	s->wheel = wheel;
	timer_init(&s->starved_timer, tls_starved_on_timer);
}

void tls_starved_fini(struct tls_stack *s)
{
	timer_stop(s->wheel, &s->starved_timer);
}
