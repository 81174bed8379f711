/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct telemetry_row *telemetry_sample_add(struct telemetry_sample *s)
{
	/* It doubles: there may be ten thousand. */
	if ((s->n & (s->n - 1)) == 0) {
		size_t room = s->n ? 2 * s->n : 1;
		struct telemetry_row *more = realloc(s->row, room * sizeof *more);

		if (!more)
			return NULL;
		s->row = more;
	}
	s->row[s->n] = (struct telemetry_row){.pid = 0};
	return &s->row[s->n++];
}

/** The ends of a connection, as a key. */
static const char *telemetry_sample_key(const json_t *o, char key[160])
{
	const char *local = json_string_value(json_object_get(o, "local"));
	const char *remote = json_string_value(json_object_get(o, "remote"));

	snprintf(key, 160, "%.75s %.75s", local ? local : "", remote ? remote : "");
	return key;
}

struct telemetry_sample_source {
	pid_t pid;
	json_t *info, *qps, *connections;
	json_t *by_ends; /**< connections, by telemetry_sample_key() */
};

static void telemetry_sample_who(
	struct telemetry_row *r, const struct telemetry_sample_source *from)
{
	telemetry_row_read_process(r, from->info);
	/* As its socket has it: it may be in a PID namespace of its own. */
	r->pid = from->pid;
}

static int telemetry_sample_join(
	struct telemetry_sample *s, const struct telemetry_sample_source *from)
{
	struct telemetry_row *r;
	json_t *o, *c;
	char key[160];
	const char *k;
	size_t i;

	json_array_foreach(from->connections, i, o)
		json_object_set(from->by_ends, telemetry_sample_key(o, key), o);
	json_array_foreach(from->qps, i, o)
	{
		r = telemetry_sample_add(s);
		if (!r)
			return -ENOMEM;
		telemetry_sample_who(r, from);
		telemetry_row_read_qp(r, o);
		c = json_object_get(from->by_ends, telemetry_sample_key(o, key));
		if (!c || !json_object_get(o, "remote"))
			continue;
		telemetry_row_read_connection(r, c);
		json_object_del(from->by_ends, key);
	}
	json_object_foreach(from->by_ends, k, c)
	{
		r = telemetry_sample_add(s);
		if (!r)
			return -ENOMEM;
		telemetry_sample_who(r, from);
		telemetry_row_read_state(r, c);
		telemetry_row_read_connection(r, c);
	}
	return 0;
}

/** Add the rows of one process. One that has gone has none. */
static int telemetry_sample_process(struct telemetry_sample *s, struct telemetry_client *c)
{
	struct telemetry_sample_source from = {.pid = c->pid, .by_ends = json_object()};
	int rc = 0;

	from.info = telemetry_client_ask(c, "/uiwarp/info");
	from.qps = telemetry_client_list(c, "/uiwarp/qps");
	from.connections = telemetry_client_list(c, "/uiwarp/connections");
	if (from.info) {
		s->processes++;
		rc = telemetry_sample_join(s, &from);
	}
	json_decref(from.info);
	json_decref(from.qps);
	json_decref(from.connections);
	json_decref(from.by_ends);
	return rc;
}

/* ---- rates ------------------------------------------------------------------------------- */

/** By process, QP and ends. */
static int telemetry_sample_compare(const void *a, const void *b)
{
	const struct telemetry_row *x = a, *y = b;
	int d = (x->pid > y->pid) - (x->pid < y->pid);

	if (!d)
		d = (x->qp > y->qp) - (x->qp < y->qp);
	/* A QP is the same with another connection. */
	if (!d && !x->qp)
		d = strcmp(x->remote, y->remote);
	return d || x->qp ? d : strcmp(x->local, y->local);
}

const struct telemetry_row *telemetry_sample_find(
	const struct telemetry_sample *s, const struct telemetry_row *like)
{
	return s->n ? bsearch(like, s->row, s->n, sizeof *s->row, telemetry_sample_compare) : NULL;
}

/** A counter that went back has begun anew. */
static double telemetry_sample_rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

static void telemetry_sample_rates(
	struct telemetry_row *r, const struct telemetry_row *b, double seconds)
{
	uint32_t sends = r->sends - b->sends, receives = r->receives - b->receives;

	if (strcmp(r->remote, b->remote) == 0 && strcmp(r->local, b->local) == 0) {
		r->bytes_out_rate = telemetry_sample_rate(r->bytes_acked, b->bytes_acked, seconds);
		r->bytes_in_rate =
			telemetry_sample_rate(r->bytes_received, b->bytes_received, seconds);
		r->retransmit_rate = telemetry_sample_rate(r->retransmits, b->retransmits, seconds);
	}
	/* Those of a QP run modulo 2^32; after a reset they would seem to have gone round. */
	if (sends < UINT32_MAX / 2 && receives < UINT32_MAX / 2)
		r->operation_rate = ((double)sends + receives) / seconds;
}

static double telemetry_sample_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int telemetry_sample_take(struct telemetry_sample *s, struct telemetry_clients *c,
	const struct telemetry_sample *before)
{
	int rc = 0;

	*s = (struct telemetry_sample){.n = 0};
	for (unsigned i = 0; i < c->n && !rc; i++)
		rc = telemetry_sample_process(s, &c->client[i]);
	if (rc) {
		telemetry_sample_free(s);
		return rc;
	}
	s->time = telemetry_sample_clock(CLOCK_REALTIME);
	s->clock = telemetry_sample_clock(CLOCK_MONOTONIC);
	if (s->n)
		qsort(s->row, s->n, sizeof *s->row, telemetry_sample_compare);
	for (size_t i = 0; before && s->clock > before->clock && i < s->n; i++) {
		const struct telemetry_row *b = telemetry_sample_find(before, &s->row[i]);

		if (b)
			telemetry_sample_rates(&s->row[i], b, s->clock - before->clock);
	}
	return 0;
}

void telemetry_sample_free(struct telemetry_sample *s)
{
	free(s->row);
	*s = (struct telemetry_sample){.n = 0};
}
