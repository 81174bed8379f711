/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/plot_record.h"

#include <string.h>

/** A QP with another connection is another series, and so is another QP at the same ends. */
static struct plot_record_connection *plot_record_find(
	struct plot_record *p, const struct telemetry_row *row)
{
	for (unsigned i = 0; i < p->n; i++) {
		const struct telemetry_row *r = &p->connection[i].first;

		if (telemetry_row_compare_process(r, row) == 0 && r->qp == row->qp &&
			strcmp(r->remote, row->remote) == 0 && strcmp(r->local, row->local) == 0)
			return &p->connection[i];
	}
	return NULL;
}

static struct plot_record_connection *plot_record_begin(
	struct plot_record *p, const struct telemetry_row *row, double time)
{
	struct plot_record_connection *c = &p->connection[p->n];

	if (p->n == PLOT_RECORD_CONNECTIONS) {
		p->more = true;
		return NULL;
	}
	p->n++;
	c->first = *row;
	c->begin = time;
	return c;
}

static bool plot_record_wants(const struct plot_record *p, const struct telemetry_row *row)
{
	return (!p->asked.pid || telemetry_asked_is(&p->asked, row->pid, row->socket)) &&
	       (!p->qp || row->qp == p->qp);
}

void plot_record_add(struct plot_record *p, const struct telemetry_row *row, uint64_t time_ns)
{
	const double value[PLOT_RECORD_VALUES] = {
		[PLOT_RECORD_ACKED] = (double)row->bytes_acked,
		[PLOT_RECORD_RECEIVED] = (double)row->bytes_received,
		[PLOT_RECORD_SRTT] = (double)row->srtt / 1e3,
		[PLOT_RECORD_MIN_RTT] = (double)row->min_rtt / 1e3,
		[PLOT_RECORD_CWND] = (double)row->cwnd / 1e3,
		[PLOT_RECORD_QUEUED] = (double)row->queued / 1e3,
		[PLOT_RECORD_UNREAD] = (double)row->unread / 1e3,
		[PLOT_RECORD_RETRANSMITS] = (double)row->retransmits,
		[PLOT_RECORD_TIMEOUTS] = (double)row->timeouts,
		[PLOT_RECORD_SENDS] = row->send_depth,
		[PLOT_RECORD_RECEIVES] = row->receive_depth,
	};
	struct plot_record_connection *c;
	double time = (double)time_ns / 1e9;

	if (!row->connected || !plot_record_wants(p, row))
		return;
	c = plot_record_find(p, row);
	if (!c)
		c = plot_record_begin(p, row, time);
	if (!c)
		return;
	c->last = *row;
	c->end = time;
	for (unsigned i = 0; i < PLOT_RECORD_VALUES; i++)
		plot_points_add(&c->value[i], PLOT_RECORD_POINTS, time, value[i]);
}

void plot_record_free(struct plot_record *p)
{
	for (unsigned c = 0; c < p->n; c++)
		for (unsigned i = 0; i < PLOT_RECORD_VALUES; i++)
			plot_points_free(&p->connection[c].value[i]);
	*p = (struct plot_record){.n = 0};
}
