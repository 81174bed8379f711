/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/timeseq.h"

#include "base/plot.h"
#include "pcap/line.h"

#include <errno.h>

/** The shortest span of throughput, in ns. */
#define TIMESEQ_SPAN_MIN 1000

static double timeseq_seconds(const struct timeseq *t, uint64_t time)
{
	return time > t->origin ? (double)(time - t->origin) / 1e9 : 0;
}

/* Octets since the first of this direction that was seen. */
static int64_t timeseq_offset(const struct timeseq_side *side, uint32_t seq)
{
	uint32_t high = side->origin + (uint32_t)side->high;

	return (int64_t)side->high + (int32_t)(seq - high);
}

/* Two spans become one, as often as needed to reach @p time. */
static void timeseq_reach(struct timeseq *t, uint64_t time)
{
	if (t->span == 0)
		t->span = TIMESEQ_SPAN_MIN;
	for (; (time - t->origin) / t->span >= TIMESEQ_SPANS; t->span *= 2)
		for (unsigned d = 0; d < 2; d++) {
			uint64_t *b = t->side[d].bytes;

			for (unsigned i = 0; i < TIMESEQ_SPANS; i++)
				b[i] = i < TIMESEQ_SPANS / 2 ? b[2 * i] + b[2 * i + 1] : 0;
		}
}

/* Text that is new, at a time that may lie before the one of the first segment. */
static void timeseq_count(struct timeseq *t, struct timeseq_side *me, uint64_t time, uint64_t bytes)
{
	uint64_t at = time > t->origin ? time : t->origin;

	timeseq_reach(t, at);
	me->bytes[(at - t->origin) / t->span] += bytes;
}

void timeseq_segment(struct timeseq *t, const struct stream *s, const struct packet *p,
	const struct cap_frame *f)
{
	struct timeseq_side *me = &t->side[stream_side(s)], *peer = &t->side[!stream_side(s)];
	int64_t from;

	if (!t->started) {
		struct line l = {0};

		t->started = true;
		t->origin = t->end = f->time;
		line_add_endpoint(&l, stream_from(s));
		line_add(&l, " and ");
		line_add_endpoint(&l, stream_to(s));
		memcpy(t->title, l.text, l.len < sizeof t->title ? l.len : sizeof t->title - 1);
	}
	if (f->time > t->end)
		t->end = f->time;
	timeseq_reach(t, t->end);
	if (peer->known && p->flags & PACKET_ACK)
		plot_points_add(&peer->points[TIMESEQ_ACK], TIMESEQ_POINTS,
			timeseq_seconds(t, f->time), (double)timeseq_offset(peer, p->ack) / 1e6);
	if (p->len == 0)
		return;
	if (!me->known) {
		me->known = true;
		me->origin = p->seq;
	}
	from = timeseq_offset(me, p->seq);
	plot_points_add(&me->points[from < (int64_t)me->high ? TIMESEQ_AGAIN : TIMESEQ_SENT],
		TIMESEQ_POINTS, timeseq_seconds(t, f->time), (double)(from + p->len) / 1e6);
	if (from + (int64_t)p->len > (int64_t)me->high) {
		timeseq_count(t, me, f->time, (uint64_t)(from + (int64_t)p->len) - me->high);
		me->high = (uint64_t)(from + (int64_t)p->len);
	}
}

void timeseq_fpdu(struct timeseq *t, const struct stream *s, const struct stream_fpdu *f)
{
	struct timeseq_side *me = &t->side[stream_side(s)];

	if (me->known)
		plot_points_add(&me->points[TIMESEQ_FPDU], TIMESEQ_POINTS,
			timeseq_seconds(t, f->time), (double)timeseq_offset(me, f->seq) / 1e6);
}

/* The panel of one direction. */
static void timeseq_draw(const struct timeseq_side *side, struct plot_panel *panel)
{
	static const struct plot_series series[TIMESEQ_SERIES] = {
		[TIMESEQ_SENT] = {.name = "segments", .kind = PLOT_DOTS, .color = 0},
		[TIMESEQ_AGAIN] = {.name = "sent again", .kind = PLOT_DOTS, .color = 1},
		[TIMESEQ_ACK] = {.name = "acknowledged", .kind = PLOT_STEPS, .color = 5},
		[TIMESEQ_FPDU] = {.name = "FPDUs begin", .kind = PLOT_DOTS, .color = 2},
	};

	for (unsigned i = 0; i < TIMESEQ_SERIES; i++) {
		struct plot_series *r = &panel->series[panel->n];

		if (side->points[i].n == 0)
			continue;
		*r = series[i];
		r->n = side->points[i].n;
		r->x = side->points[i].x;
		r->y = side->points[i].y;
		panel->n++;
	}
}

struct timeseq_rates {
	double x[TIMESEQ_SPANS], y[2][TIMESEQ_SPANS];
};

/* Of each span at its beginning, as steps; the last may be a part of one. */
static size_t timeseq_fill_rates(const struct timeseq *t, struct timeseq_rates *r)
{
	size_t n = (size_t)((t->end - t->origin) / t->span) + 1;

	for (size_t i = 0; i < n; i++) {
		r->x[i] = (double)i * (double)t->span / 1e9;
		for (unsigned d = 0; d < 2; d++)
			r->y[d][i] = (double)t->side[d].bytes[i] * 8e3 / (double)t->span;
	}
	return n;
}

int timeseq_print(const struct timeseq *t, FILE *out)
{
	static const char *const labels[] = {"there, MB", "back, MB"}, *const names[] = {
									       "there", "back"};
	struct plot_panel panel[3] = {{.n = 0}};
	struct timeseq_rates rates;
	unsigned n = 0;
	size_t spans;

	for (unsigned d = 0; d < 2; d++)
		if (t->side[d].known) {
			panel[n].label = labels[d];
			timeseq_draw(&t->side[d], &panel[n++]);
		}
	if (n == 0)
		return -ENODATA;
	spans = timeseq_fill_rates(t, &rates);
	panel[n].label = "throughput, Mbit/s";
	for (unsigned d = 0; d < 2; d++)
		if (t->side[d].known)
			panel[n].series[panel[n].n++] = (struct plot_series){.name = names[d],
				.kind = PLOT_STEPS,
				.color = d,
				.n = spans,
				.x = rates.x,
				.y = rates.y[d]};
	plot_print(out, t->title, "time, s", 0, timeseq_seconds(t, t->end), panel, n + 1);
	return 0;
}

int timeseq_write(const struct timeseq *t, const char *path)
{
	FILE *out;
	int rc;

	if (!t->side[0].known && !t->side[1].known)
		return -ENODATA;
	out = fopen(path, "w");
	if (!out)
		return -errno;
	rc = timeseq_print(t, out);
	return fclose(out) ? -errno : rc;
}

void timeseq_free(struct timeseq *t)
{
	for (unsigned d = 0; d < 2; d++)
		for (unsigned i = 0; i < TIMESEQ_SERIES; i++)
			plot_points_free(&t->side[d].points[i]);
	*t = (struct timeseq){0};
}
