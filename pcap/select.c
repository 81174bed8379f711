/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/select.h"

static bool select_has_id(const struct select *s, uint64_t id)
{
	for (unsigned i = 0; i < s->num_ids; i++)
		if (s->ids[i] == id)
			return true;
	return s->num_ids == 0;
}

static bool select_has_net(const struct select *s, const struct ip_addr *a, const struct ip_addr *b)
{
	for (unsigned i = 0; i < s->num_nets; i++) {
		const struct select_net *n = &s->nets[i];

		if (ip_addr_in_prefix(a, &n->addr, n->prefix) ||
			ip_addr_in_prefix(b, &n->addr, n->prefix))
			return true;
	}
	return s->num_nets == 0;
}

static void select_pass_over(void *user, struct connection *c)
{
}

static void select_pass_over_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
}

/* Nobody is told of these. */
static const struct connection_ops select_none = {
	.opened = select_pass_over,
	.fpdu = select_pass_over_fpdu,
};

/* The first upcall of each connection; the others go where this says. */
static void select_on_opened(void *user, struct connection *c)
{
	struct select *s = user;

	c->ops = &select_none;
	if (!select_has_id(s, c->id) || !select_has_net(s, &c->end[0].addr, &c->end[1].addr))
		return;
	s->connections++;
	c->ops = s->ops;
	c->user = s->user;
	c->ops->opened(c->user, c);
}

static void select_on_mapper(void *user, const struct connection_shared *shared,
	const struct packet *p, const struct cap_frame *f)
{
	struct select *s = user;

	if (s->ops->mapper && s->num_ids == 0 && select_has_net(s, &p->src.addr, &p->dst.addr))
		s->ops->mapper(s->user, shared, p, f);
}

const struct connection_ops select_ops = {
	.opened = select_on_opened,
	.fpdu = select_pass_over_fpdu,
	.mapper = select_on_mapper,
};

/* ---- time ----------------------------------------------------------------------------------- */

bool select_parse_time(const char *text, struct select_time *t)
{
	uint64_t seconds = 0, part = 0, unit = 1000000000;
	const char *p = text + (*text == '@');

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		seconds = seconds * 10 + (uint64_t)(*p - '0');
		if (seconds > UINT64_C(10000000000))
			return false;
	}
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && unit != 1; p++) {
			unit /= 10;
			part += unit * (uint64_t)(*p - '0');
		}
	*t = (struct select_time){true, *text == '@', seconds * 1000000000 + part};
	return *p == '\0';
}

static uint64_t select_since_1970(const struct select_time *t, uint64_t origin)
{
	return t->since_1970 ? t->ns : origin + t->ns;
}

bool select_holds(const struct select_span *span, uint64_t origin, uint64_t time)
{
	return (!span->from.given || time >= select_since_1970(&span->from, origin)) &&
	       (!span->to.given || time <= select_since_1970(&span->to, origin));
}
