/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/membership.h"

#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "ip/packet.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>

#define SECOND UINT64_C(1000000000)

/* RFC 3376 section 8, RFC 3810 section 9: what hosts assume until a querier tells. */
#define ROBUSTNESS     2
#define QUERY_INTERVAL (125 * SECOND)
#define REPEAT_NS      SECOND /* Unsolicited Report Interval */

/* A report and its records (RFC 3376 section 4.2, RFC 3810 section 5.2). */
enum {
	REPORT_TYPE = 0,
	REPORT_RECORDS = 6,
	REPORT_LEN = 8,
	RECORD_TYPE = 0,
	RECORD_SOURCES = 2,
	RECORD_GROUP = 4, /**< sources follow */
};

enum record_type {
	MODE_IS_INCLUDE = 1,
	MODE_IS_EXCLUDE = 2,
	CHANGE_TO_INCLUDE = 3,
	CHANGE_TO_EXCLUDE = 4,
};

/* ---- reports ----------------------------------------------------------------------------- */

/** A report that is being written. */
struct membership_report {
	struct rte_mbuf *m; /**< NULL: not begun */
	uint16_t records;
};

/** @return a blank frame with @p len octets of message; NULL: no memory. */
static struct rte_mbuf *membership_message(const struct membership *ms, uint16_t len)
{
	struct rte_mbuf *m = packet_new(ms->stack);
	uint16_t size = ms->wire->head + len;
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, size) : NULL;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(p, 0, size);
	return m;
}

static void membership_flush(struct membership *ms, struct membership_report *r)
{
	uint8_t *p;

	if (!r->m)
		return;
	p = rte_pktmbuf_mtod_offset(r->m, uint8_t *, ms->wire->head);
	p[REPORT_TYPE] = ms->wire->report_type;
	store_be16(p + REPORT_RECORDS, r->records);
	ms->wire->send(ms->stack, r->m, &ms->wire->report_to);
	*r = (struct membership_report){.records = 0};
}

/** @return room for a record, in a report of its own if need be; NULL: no memory. */
static uint8_t *membership_room(struct membership *ms, struct membership_report *r, uint16_t len)
{
	uint8_t *p;

	if (r->m && (r->m->pkt_len + len > (uint32_t)ETH_LEN + ms->stack->mtu_v6 ||
			    rte_pktmbuf_tailroom(r->m) < len))
		membership_flush(ms, r);
	if (!r->m)
		r->m = membership_message(ms, REPORT_LEN);
	p = r->m ? (uint8_t *)rte_pktmbuf_append(r->m, len) : NULL;
	r->records += p != NULL;
	return p;
}

static void membership_put(const struct membership *ms, uint8_t *p, const struct ip_addr *a)
{
	memcpy(p, a->b + 16 - ms->wire->addr_len, ms->wire->addr_len);
}

static void membership_record(struct membership *ms, struct membership_report *r,
	enum record_type type, const struct membership_group *g, unsigned num_sources)
{
	uint8_t len = ms->wire->addr_len;
	uint8_t *p = membership_room(ms, r, RECORD_GROUP + len * (uint16_t)(1 + num_sources));

	if (!p)
		return;
	memset(p, 0, RECORD_GROUP);
	p[RECORD_TYPE] = type;
	store_be16(p + RECORD_SOURCES, (uint16_t)num_sources);
	membership_put(ms, p + RECORD_GROUP, &g->addr);
	for (unsigned i = 0; i < num_sources; i++)
		membership_put(ms, p + RECORD_GROUP + len * (1 + i), &g->source[i]);
}

/** A message of an older version, which is about one group. */
static void membership_older(struct membership *ms, const struct membership_group *g, bool leave)
{
	const struct membership_wire *w = ms->wire;
	unsigned i = ms->version - 1u;
	uint8_t type = leave ? w->older_leave[i] : w->older_report[i], *p;
	struct rte_mbuf *m = type ? membership_message(ms, w->older_len) : NULL;

	if (!m)
		return;
	p = rte_pktmbuf_mtod_offset(m, uint8_t *, w->head);
	p[REPORT_TYPE] = type;
	membership_put(ms, p + w->older_len - w->addr_len, &g->addr);
	w->send(ms->stack, m, leave ? &w->leave_to : &g->addr);
}

/* ---- what is due ------------------------------------------------------------------------- */

/** More than 0, and not more than @p most. */
static uint64_t membership_random(const struct membership *ms, uint64_t most)
{
	const struct random_source *random = &ms->stack->cfg.random;
	uint64_t r;

	random->fill(random->ctx, &r, sizeof r);
	return most ? r % most + 1 : 0;
}

static bool membership_is_newest(const struct membership *ms)
{
	return ms->version == ms->wire->newest;
}

static void membership_send_change(struct membership *ms, struct membership_report *r,
	struct membership_group *g, uint64_t now)
{
	bool left = g->users == 0;

	if (membership_is_newest(ms))
		membership_record(ms, r, left ? CHANGE_TO_INCLUDE : CHANGE_TO_EXCLUDE, g, 0);
	/* RFC 2236 section 3: who was not the last to report need not tell that he leaves. */
	else if (!left || g->reported_last)
		membership_older(ms, g, left);
	g->reported_last = true;
	g->changes--;
	g->change_at = TIMER_NEVER;
	if (g->changes != 0)
		g->change_at = now + membership_random(ms, membership_is_newest(ms)
								   ? REPEAT_NS
								   : ms->wire->older_repeat);
}

static void membership_send_answer(
	struct membership *ms, struct membership_report *r, struct membership_group *g)
{
	g->answer_at = TIMER_NEVER;
	if (g->users == 0)
		return;
	if (!membership_is_newest(ms))
		membership_older(ms, g, false);
	else if (g->sources_only)
		membership_record(ms, r, MODE_IS_INCLUDE, g, g->num_sources);
	else
		membership_record(ms, r, MODE_IS_EXCLUDE, g, 0);
	g->reported_last = true;
}

/** An answer, if one waits, is for all sources. */
static void membership_forget_sources(struct membership_group *g)
{
	g->sources_only = false;
	g->num_sources = 0;
}

static void membership_forget_answer(struct membership_group *g)
{
	g->answer_at = TIMER_NEVER;
	membership_forget_sources(g);
}

/** Nothing is to be told of it any more. */
static void membership_forget_all(struct membership_group *g)
{
	membership_forget_answer(g);
	g->changes = 0;
	g->change_at = TIMER_NEVER;
}

/** The answer to a general query has all groups, and with them the answers to others. */
static void membership_send_all(struct membership *ms, struct membership_report *r)
{
	ms->general_at = TIMER_NEVER;
	for (unsigned i = 0; i < ms->n; i++) {
		if (!ms->wire->is_reported(&ms->group[i].addr))
			continue;
		membership_forget_answer(&ms->group[i]);
		membership_send_answer(ms, r, &ms->group[i]);
	}
}

static void membership_schedule(struct membership *ms)
{
	uint64_t first = ms->general_at;

	for (unsigned i = 0; i < ms->n; i++) {
		const struct membership_group *g = &ms->group[i];

		first = g->change_at < first ? g->change_at : first;
		first = g->answer_at < first ? g->answer_at : first;
	}
	timer_start(ms->stack->cfg.wheel, &ms->timer, first);
}

static void membership_run(struct membership *ms, uint64_t now)
{
	struct membership_report r = {.records = 0};

	if (ms->general_at <= now)
		membership_send_all(ms, &r);
	for (unsigned i = ms->n; i-- > 0;) {
		struct membership_group *g = &ms->group[i];

		if (g->change_at <= now)
			membership_send_change(ms, &r, g, now);
		if (g->answer_at <= now)
			membership_send_answer(ms, &r, g);
		if (g->users == 0 && g->changes == 0)
			*g = ms->group[--ms->n];
	}
	membership_flush(ms, &r);
	membership_schedule(ms);
}

static void membership_on_timer(struct timer *t, uint64_t now)
{
	membership_run(container_of(t, struct membership, timer), now);
}

/* ---- the version that is spoken ---------------------------------------------------------- */

/** RFC 3376 section 7.2.1, RFC 3810 section 8.2.1: with the version all that waits is dropped. */
static void membership_settle_version(struct membership *ms, uint64_t now)
{
	uint8_t version = 1;

	while (version < ms->wire->newest && ms->older_until[version - 1] <= now)
		version++;
	if (version == ms->version)
		return;
	ms->version = version;
	ms->general_at = TIMER_NEVER;
	for (unsigned i = ms->n; i-- > 0;) {
		struct membership_group *g = &ms->group[i];

		membership_forget_all(g);
		if (g->users == 0)
			*g = ms->group[--ms->n];
	}
}

/* ---- joining and leaving ----------------------------------------------------------------- */

/** @return its place; none: ms->n. */
static unsigned membership_index(const struct membership *ms, const struct ip_addr *group)
{
	unsigned i = 0;

	while (i < ms->n && !ip_addr_equal(&ms->group[i].addr, group))
		i++;
	return i;
}

static struct membership_group *membership_find(struct membership *ms, const struct ip_addr *group)
{
	unsigned i = membership_index(ms, group);

	return i < ms->n ? &ms->group[i] : NULL;
}

/** A change: told at once, and again by and by. */
static void membership_change(struct membership *ms, struct membership_group *g, uint64_t now)
{
	bool told = !ms->stack->cfg.no_link && ms->wire->is_reported(&g->addr);
	bool once = g->users == 0 && !membership_is_newest(ms);

	g->changes = !told ? 0 : once ? 1 : ms->robustness;
	g->change_at = told ? now : TIMER_NEVER;
}

bool membership_has(const struct membership *ms, const struct ip_addr *group)
{
	unsigned i = membership_index(ms, group);

	return i < ms->n && ms->group[i].users != 0;
}

int membership_join(struct membership *ms, const struct ip_addr *group, uint64_t now)
{
	struct membership_group *g;

	membership_settle_version(ms, now);
	g = membership_find(ms, group);
	if (!g) {
		if (ms->n == MEMBERSHIP_GROUPS)
			return -ENOSPC;
		g = &ms->group[ms->n++];
		*g = (struct membership_group){
			.addr = *group, .change_at = TIMER_NEVER, .answer_at = TIMER_NEVER};
	}
	if (g->users++ == 0) {
		membership_change(ms, g, now);
		membership_run(ms, now);
	}
	return 0;
}

void membership_leave(struct membership *ms, const struct ip_addr *group, uint64_t now)
{
	struct membership_group *g;

	membership_settle_version(ms, now);
	g = membership_find(ms, group);
	if (!g || g->users == 0 || --g->users != 0)
		return;
	membership_forget_answer(g);
	membership_change(ms, g, now);
	membership_run(ms, now);
}

void membership_repeat(struct membership *ms, uint64_t now)
{
	membership_settle_version(ms, now);
	for (unsigned i = 0; i < ms->n; i++) {
		if (ms->group[i].users != 0)
			membership_change(ms, &ms->group[i], now);
	}
	membership_run(ms, now);
}

/* ---- queries ----------------------------------------------------------------------------- */

static void membership_note_querier(
	struct membership *ms, const struct membership_query *q, uint64_t now)
{
	if (q->version == ms->wire->newest) {
		ms->robustness = q->robustness ? q->robustness : ROBUSTNESS;
		ms->interval = q->interval ? q->interval : QUERY_INTERVAL;
	} else if (q->version != ms->wire->older_general || ip_addr_is_any(&q->group)) {
		ms->older_until[q->version - 1] =
			now + ms->robustness * ms->interval + q->max_response;
	}
	membership_settle_version(ms, now);
}

/** RFC 2236 section 3: each group by itself, and not later than the querier wants it. */
static void membership_answer_older(
	struct membership *ms, struct membership_group *g, uint64_t most, uint64_t now)
{
	if (g->answer_at > now + most)
		g->answer_at = now + membership_random(ms, most);
}

static void membership_take_sources(
	const struct membership *ms, struct membership_group *g, const struct membership_query *q)
{
	uint8_t len = ms->wire->addr_len;

	for (unsigned i = 0; i < q->num_sources; i++) {
		struct ip_addr a = len == 4 ? ip_addr_from_v4(q->sources + i * len)
					    : ip_addr_from_v6(q->sources + i * len);
		unsigned k = 0;

		while (k < g->num_sources && !ip_addr_equal(&g->source[k], &a))
			k++;
		if (k == MEMBERSHIP_SOURCES) {
			membership_forget_sources(g);
			return;
		}
		g->source[k] = a;
		g->num_sources += k == g->num_sources;
	}
}

/** RFC 3376 section 5.2, rules 3 to 5. */
static void membership_answer_group(struct membership *ms, struct membership_group *g,
	const struct membership_query *q, uint64_t at)
{
	bool waits = g->answer_at != TIMER_NEVER;

	if (q->num_sources == 0 || (waits && !g->sources_only)) {
		membership_forget_sources(g);
	} else {
		g->sources_only = true;
		membership_take_sources(ms, g, q);
	}
	if (at < g->answer_at)
		g->answer_at = at;
}

static void membership_answer(struct membership *ms, const struct membership_query *q, uint64_t now)
{
	bool general = ip_addr_is_any(&q->group);
	uint64_t at = now + membership_random(ms, q->max_response);

	/* Rule 1: a general answer that is due before tells it all. */
	if (membership_is_newest(ms) && ms->general_at <= at)
		return;
	if (membership_is_newest(ms) && general) {
		ms->general_at = at;
		return;
	}
	for (unsigned i = 0; i < ms->n; i++) {
		struct membership_group *g = &ms->group[i];

		if (g->users == 0 || !ms->wire->is_reported(&g->addr) ||
			(!general && !ip_addr_equal(&g->addr, &q->group)))
			continue;
		if (membership_is_newest(ms))
			membership_answer_group(ms, g, q, at);
		else
			membership_answer_older(ms, g, q->max_response, now);
	}
}

void membership_query(struct membership *ms, const struct membership_query *q, uint64_t now)
{
	membership_note_querier(ms, q, now);
	membership_answer(ms, q, now);
	membership_schedule(ms);
}

void membership_heard(struct membership *ms, const struct ip_addr *group, uint64_t now)
{
	struct membership_group *g;

	membership_settle_version(ms, now);
	g = membership_find(ms, group);
	if (!g || g->users == 0 || membership_is_newest(ms))
		return;
	membership_forget_all(g);
	g->reported_last = false;
	membership_schedule(ms);
}

/* ---- life -------------------------------------------------------------------------------- */

void membership_init(struct membership *ms, struct ip_stack *s, const struct membership_wire *wire)
{
	ms->stack = s;
	ms->wire = wire;
	ms->version = wire->newest;
	ms->robustness = ROBUSTNESS;
	ms->interval = QUERY_INTERVAL;
	ms->general_at = TIMER_NEVER;
	timer_init(&ms->timer, membership_on_timer);
}

void membership_fini(struct membership *ms)
{
	timer_stop(ms->stack->cfg.wheel, &ms->timer);
}
