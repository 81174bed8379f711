/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/stats.h"

#include <stdlib.h>

static struct stats_side *stats_side_of(const struct stream *s)
{
	struct stats_connection *c = s->c->own;

	return &c->side[stream_side(s)];
}

static struct timeseq *stats_timeseq_of(const struct connection *c)
{
	const struct stats_connection *own = c->own;

	return own ? own->timeseq : NULL;
}

static void stats_on_opened(void *user, struct connection *c)
{
	struct stats_connection *own;
	struct stats *t = user;

	if (t->plot == STATS_PLOT_FIRST)
		t->plot = c->id;
	own = c->own = calloc(1, sizeof *own);
	if (own && t->html && t->drawn < STATS_HTML_PLOTS) {
		own->timeseq = calloc(1, sizeof *own->timeseq);
		t->drawn++;
	}
}

/* ---- FPDUs ---------------------------------------------------------------------------------- */

static void stats_end_message(struct stats_operation *o, uint64_t bytes)
{
	if (o->messages++ == 0 || bytes < o->min)
		o->min = bytes;
	if (bytes > o->max)
		o->max = bytes;
	o->bytes += bytes;
}

static void stats_count_message(struct stats_side *me, const struct ddp_segment *s)
{
	struct stats_operation *o = &me->op[s->ulp & RDMAP_CONTROL_OPCODE];

	if (s->tagged) {
		me->tagged += s->len;
		if (s->last) {
			stats_end_message(o, me->tagged);
			me->tagged = 0;
		}
	} else if (s->last) {
		stats_end_message(o, (uint64_t)s->mo + s->len);
	}
}

static void stats_took(struct stats_side *asker, struct reads_request *q, uint64_t now)
{
	if (!asker->latency)
		asker->latency = calloc(1, sizeof *asker->latency);
	if (asker->latency)
		histogram_add(asker->latency, now > q->time ? now - q->time : 0);
	reads_remove(&asker->reads, q);
}

static void stats_follow_reads(
	struct stats_side *me, struct stats_side *peer, const struct stream_fpdu *f)
{
	uint8_t opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;
	struct reads_request q = {.time = f->time}, *oldest;

	switch (opcode) {
	case RDMAP_OP_READ_REQUEST:
	case RDMAP_OP_ATOMIC_REQUEST:
		q.atomic = opcode == RDMAP_OP_ATOMIC_REQUEST;
		reads_add(&me->reads, &q);
		break;
	case RDMAP_OP_READ_RESPONSE:
	case RDMAP_OP_ATOMIC_RESPONSE:
		oldest = reads_oldest(&peer->reads, opcode == RDMAP_OP_ATOMIC_RESPONSE);
		if (oldest && f->segment.last)
			stats_took(peer, oldest, f->end_time);
		break;
	default:
		break;
	}
}

static void stats_on_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct stats *t = user;
	struct stats_side *me;

	if (!c->own)
		return;
	me = stats_side_of(s);
	if (me->fpdus++ == 0)
		me->first = f->time;
	me->last = f->end_time;
	me->fpdu_bytes += f->fpdu.len;
	me->aligned += f->aligned;
	me->whole += f->segments == 1;
	me->bad_crc += f->result == MPA_DEFRAME_CRC;
	me->unseen += f->unseen;
	if (f->header && f->ddp == DDP_OK && f->result != MPA_DEFRAME_CRC) {
		me->payload += f->segment.len;
		stats_count_message(me, &f->segment);
		stats_follow_reads(me, stats_side_of(stream_peer(s)), f);
	}
	if (t->plot == c->id)
		timeseq_fpdu(&t->timeseq, s, f);
	if (stats_timeseq_of(c))
		timeseq_fpdu(stats_timeseq_of(c), s, f);
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Which request a response answers is not known any more. */
static void stats_on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	if (!c->own)
		return;
	stats_side_of(s)->tagged = 0;
	reads_free(&stats_side_of(s)->reads);
	reads_free(&stats_side_of(stream_peer(s))->reads);
}

static void stats_on_segment(void *user, struct connection *c, struct stream *s,
	const struct packet *p, const struct cap_frame *f)
{
	struct stats *t = user;

	if (t->plot == c->id)
		timeseq_segment(&t->timeseq, s, p, f);
	if (stats_timeseq_of(c))
		timeseq_segment(stats_timeseq_of(c), s, p, f);
}

static void stats_on_closed(
	void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct stats_connection *own = c->own;
	const struct stats *t = user;

	if (!own)
		return;
	stats_report(t, c, how);
	if (t->html)
		stats_html(t, c, how);
	if (own->timeseq)
		timeseq_free(own->timeseq);
	free(own->timeseq);
	for (unsigned i = 0; i < 2; i++) {
		reads_free(&own->side[i].reads);
		free(own->side[i].latency);
	}
	free(own);
	c->own = NULL;
}

static size_t stats_memory(const struct connection *c)
{
	const struct stats_connection *own = c->own;
	size_t n = 0;

	if (!own)
		return 0;
	for (unsigned i = 0; i < 2; i++)
		n += own->side[i].reads.cap * sizeof *own->side[i].reads.list +
		     (own->side[i].latency ? sizeof *own->side[i].latency : 0);
	return n + sizeof *own;
}

const struct connection_ops stats_ops = {
	.opened = stats_on_opened,
	.fpdu = stats_on_fpdu,
	.lost = stats_on_lost,
	.segment = stats_on_segment,
	.closed = stats_on_closed,
	.memory = stats_memory,
};
