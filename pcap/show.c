/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/show.h"

#include "pcap/describe.h"
#include "pcap/describe_mapper.h"

static void show_begin(struct line *l, const struct stream *s, uint64_t frame, uint64_t time)
{
	line_add(l, "%6llu ", (unsigned long long)frame);
	line_add_seconds(l, stream_time(s, time));
	line_add(l, " #%llu %s ", (unsigned long long)s->c->id, stream_arrow(s));
}

static json_t *show_begin_json(
	const char *event, const struct stream *s, uint64_t frame, uint64_t time)
{
	struct line from = {0}, to = {0};

	line_add_endpoint(&from, stream_from(s));
	line_add_endpoint(&to, stream_to(s));
	return json_pack("{ss sI sI sI ss ss}", "event", event, "connection", (json_int_t)s->c->id,
		"frame", (json_int_t)frame, "time_ns", (json_int_t)time, "from", from.text, "to",
		to.text);
}

static void show_end_json(struct show *w, json_t *o)
{
	json_dumpf(o, w->out, JSON_COMPACT);
	putc('\n', w->out);
	json_decref(o);
}

static void show_end(struct show *w, const struct line *l)
{
	fputs(l->text, w->out);
	putc('\n', w->out);
}

static bool show_is_wanted(const struct show *w, const struct stream *s, uint64_t time)
{
	return select_holds(&w->span, s->c->shared->origin, time);
}

/* The initiator first, where it is known. */
static void show_on_opened(void *user, struct connection *c)
{
	struct show *w = user;
	const struct stream *s = &c->stream[c->initiator == 1];
	struct line l = {0};

	if (w->json) {
		json_t *o = show_begin_json("connection", s, c->frame, c->time);

		json_object_set_new(o, "initiator_known", json_boolean(c->initiator >= 0));
		show_end_json(w, o);
		return;
	}
	line_add(&l, "connection #%llu: ", (unsigned long long)c->id);
	line_add_endpoint(&l, stream_from(s));
	line_add(&l, " > ");
	line_add_endpoint(&l, stream_to(s));
	if (c->initiator < 0)
		line_add(&l, ", its start not seen");
	show_end(w, &l);
}

static void show_on_start(void *user, struct connection *c, struct stream *s)
{
	struct show *w = user;
	struct line l = {0};

	if (!show_is_wanted(w, s, s->start.time))
		return;
	if (w->json) {
		json_t *o = show_begin_json("mpa", s, s->start.frame, s->start.time);

		describe_start_json(o, &s->start);
		show_end_json(w, o);
		return;
	}
	show_begin(&l, s, s->start.frame, s->start.time);
	describe_start(&l, &s->start);
	show_end(w, &l);
}

static void show_on_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct show *w = user;
	struct line l = {0};

	if (!show_is_wanted(w, s, f->time))
		return;
	if (w->json) {
		json_t *o = show_begin_json("fpdu", s, f->frame, f->time);

		describe_fpdu_json(o, f);
		show_end_json(w, o);
		return;
	}
	show_begin(&l, s, f->frame, f->time);
	describe_fpdu(&l, f);
	show_end(w, &l);
}

static void show_remark(
	struct show *w, const struct stream *s, uint64_t frame, const char *event, const char *text)
{
	struct line l = {0};

	if (!show_is_wanted(w, s, s->c->time))
		return;
	if (w->json) {
		json_t *o = show_begin_json(event, s, frame, s->c->time);

		if (*text != '\0')
			json_object_set_new(o, "reason", json_string(text));
		show_end_json(w, o);
		return;
	}
	show_begin(&l, s, frame, s->c->time);
	line_add(&l, "-- %s%s%s", event, *text != '\0' ? ": " : "", text);
	show_end(w, &l);
}

static void show_on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	show_remark(user, s, p->frame, "lost", why);
}

static void show_on_found(void *user, struct connection *c, struct stream *s, uint64_t frame)
{
	show_remark(user, s, frame, "found", "");
}

static void show_on_markers(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	show_remark(user, s, p->frame, "markers",
		s->deframe.markers ? "not asked for" : "asked for, but absent");
}

static void show_on_conflict(void *user, struct connection *c, struct stream *s,
	const struct piece *now, const struct piece *before)
{
	struct line l = {0};

	line_add(&l, "frame %llu had other bytes", (unsigned long long)before->frame);
	show_remark(user, s, now->frame, "sent again", l.text);
}

static void show_on_missing(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	struct line l = {0};

	line_add(&l, "%u octets %s", p->len,
		p->lost ? "that no frame has" : "cut off by the snap length");
	show_remark(user, s, p->frame, "not captured", l.text);
}

static void show_on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	struct line l = {0};

	if (rest != 0)
		line_add(&l, "%zu octets of an unfinished frame before it", rest);
	show_remark(user, s, s->tcp.fin_frame, "FIN", l.text);
}

static void show_on_segment(void *user, struct connection *c, struct stream *s,
	const struct packet *p, const struct cap_frame *f)
{
	if (p->flags & PACKET_RST)
		show_remark(user, s, f->number, "RST", "");
}

static void show_on_mapper(void *user, const struct connection_shared *shared,
	const struct packet *p, const struct cap_frame *f)
{
	struct show *w = user;
	struct line l = {0}, to = {0};

	if (!select_holds(&w->span, shared->origin, f->time))
		return;
	if (w->json) {
		json_t *o;

		line_add_endpoint(&l, &p->src);
		line_add_endpoint(&to, &p->dst);
		o = json_pack("{ss sI sI ss ss}", "event", "port_mapper", "frame",
			(json_int_t)f->number, "time_ns", (json_int_t)f->time, "from", l.text, "to",
			to.text);
		describe_mapper_json(o, p);
		show_end_json(w, o);
		return;
	}
	line_add(&l, "%6llu ", (unsigned long long)f->number);
	line_add_seconds(&l, f->time >= shared->origin ? f->time - shared->origin : 0);
	line_add(&l, " ");
	line_add_endpoint(&l, &p->src);
	line_add(&l, " > ");
	line_add_endpoint(&l, &p->dst);
	line_add(&l, " ");
	describe_mapper(&l, p);
	show_end(w, &l);
}

const struct connection_ops show_ops = {
	.opened = show_on_opened,
	.start = show_on_start,
	.fpdu = show_on_fpdu,
	.lost = show_on_lost,
	.found = show_on_found,
	.markers = show_on_markers,
	.conflict = show_on_conflict,
	.missing = show_on_missing,
	.fin = show_on_fin,
	.segment = show_on_segment,
	.mapper = show_on_mapper,
};
