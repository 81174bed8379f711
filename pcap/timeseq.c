/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/timeseq.h"

#include "base/plot.h"
#include "pcap/line.h"

#include <errno.h>
#include <stdlib.h>

static void timeseq_halve(struct timeseq_points *p)
{
	for (size_t i = 0; i < p->n / 2; i++) {
		p->x[i] = p->x[2 * i];
		p->y[i] = p->y[2 * i];
	}
	p->n /= 2;
	p->stride *= 2;
}

static void timeseq_add(struct timeseq_points *p, double x, double y)
{
	if (!p->x) {
		p->x = malloc(TIMESEQ_POINTS * sizeof *p->x);
		p->y = malloc(TIMESEQ_POINTS * sizeof *p->y);
		p->stride = 1;
	}
	if (!p->x || !p->y || p->skip++ % p->stride != 0)
		return;
	if (p->n == TIMESEQ_POINTS)
		timeseq_halve(p);
	p->x[p->n] = x;
	p->y[p->n++] = y;
}

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

void timeseq_segment(struct timeseq *t, const struct stream *s, const struct packet *p,
	const struct cap_frame *f)
{
	struct timeseq_side *me = &t->side[stream_side(s)], *peer = &t->side[!stream_side(s)];
	int64_t from;

	if (!t->started) {
		struct line l = {0};

		t->started = true;
		t->origin = f->time;
		line_add_endpoint(&l, stream_from(s));
		line_add(&l, " and ");
		line_add_endpoint(&l, stream_to(s));
		memcpy(t->title, l.text, l.len < sizeof t->title ? l.len : sizeof t->title - 1);
	}
	t->end = f->time;
	if (peer->known && p->flags & PACKET_ACK)
		timeseq_add(&peer->points[TIMESEQ_ACK], timeseq_seconds(t, f->time),
			(double)timeseq_offset(peer, p->ack) / 1e6);
	if (p->len == 0)
		return;
	if (!me->known) {
		me->known = true;
		me->origin = p->seq;
	}
	from = timeseq_offset(me, p->seq);
	timeseq_add(&me->points[from < (int64_t)me->high ? TIMESEQ_AGAIN : TIMESEQ_SENT],
		timeseq_seconds(t, f->time), (double)(from + p->len) / 1e6);
	if (from + (int64_t)p->len > (int64_t)me->high)
		me->high = (uint64_t)(from + (int64_t)p->len);
}

void timeseq_fpdu(struct timeseq *t, const struct stream *s, const struct stream_fpdu *f)
{
	struct timeseq_side *me = &t->side[stream_side(s)];

	if (me->known)
		timeseq_add(&me->points[TIMESEQ_FPDU], timeseq_seconds(t, f->time),
			(double)timeseq_offset(me, f->seq) / 1e6);
}

int timeseq_write(const struct timeseq *t, const char *path)
{
	static const struct plot_series series[TIMESEQ_SERIES] = {
		[TIMESEQ_SENT] = {.name = "segments", .kind = PLOT_DOTS, .color = 0},
		[TIMESEQ_AGAIN] = {.name = "sent again", .kind = PLOT_DOTS, .color = 1},
		[TIMESEQ_ACK] = {.name = "acknowledged", .kind = PLOT_STEPS, .color = 5},
		[TIMESEQ_FPDU] = {.name = "FPDUs begin", .kind = PLOT_DOTS, .color = 2},
	};
	static const char *const labels[] = {"there, MB", "back, MB"};
	struct plot_panel panel[2];
	unsigned n = 0;

	for (unsigned d = 0; d < 2; d++) {
		const struct timeseq_side *side = &t->side[d];

		if (!side->known)
			continue;
		panel[n] = (struct plot_panel){.label = labels[d]};
		for (unsigned i = 0; i < TIMESEQ_SERIES; i++) {
			struct plot_series *r = &panel[n].series[panel[n].n];

			if (side->points[i].n == 0)
				continue;
			*r = series[i];
			r->n = side->points[i].n;
			r->x = side->points[i].x;
			r->y = side->points[i].y;
			panel[n].n++;
		}
		n++;
	}
	if (n == 0)
		return -ENODATA;
	return plot_write(path, t->title, "time, s", 0, timeseq_seconds(t, t->end), panel, n);
}

void timeseq_free(struct timeseq *t)
{
	for (unsigned d = 0; d < 2; d++)
		for (unsigned i = 0; i < TIMESEQ_SERIES; i++) {
			free(t->side[d].points[i].x);
			free(t->side[d].points[i].y);
		}
	*t = (struct timeseq){0};
}
