/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_sample.h"

#include "base/clock_id.h"
#include "tools/hash_key.h"
#include "tools/terminal_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** @return NULL: errno tells why. */
static struct telemetry_row *telemetry_sample_add(struct telemetry_sample *s)
{
	if (s->n == s->most) {
		errno = ENOBUFS;
		return NULL;
	}
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

/* ---- one process ------------------------------------------------------------------------- */

/** What one process tells. Its rows are the last ones of the sample. */
struct telemetry_sample_source {
	struct telemetry_sample *s;
	struct telemetry_row process;
	size_t first;                        /**< of its QPs */
	struct telemetry_sample connections; /**< rows without a QP */
	int rc;
};

static bool telemetry_sample_read_row(
	struct telemetry_sample *to, struct telemetry_sample_source *from, struct json_reader *j)
{
	struct telemetry_row *r = telemetry_sample_add(to);

	from->rc = r ? 0 : -errno;
	if (!r)
		return false;
	telemetry_row_read(r, j);
	r->pid = from->process.pid;
	memcpy(r->socket, from->process.socket, sizeof r->socket);
	memcpy(r->directory, from->process.directory, sizeof r->directory);
	r->started = from->process.started;
	memcpy(r->program, from->process.program, sizeof r->program);
	memcpy(r->device, from->process.device, sizeof r->device);
	return true;
}

static bool telemetry_sample_read_qp(void *ctx, struct json_reader *j)
{
	struct telemetry_sample_source *from = ctx;

	return telemetry_sample_read_row(from->s, from, j);
}

static bool telemetry_sample_read_connection(void *ctx, struct json_reader *j)
{
	struct telemetry_sample_source *from = ctx;

	return telemetry_sample_read_row(&from->connections, from, j);
}

/** Connections by their ends: peers choose those, so the hash has a key. */
struct telemetry_sample_ends {
	struct telemetry_row *row;
	struct siphash_key key;
	uint32_t *slot; /**< number of the row + 1; 0: empty */
	size_t mask;
};

/** The slot of a connection with these ends, or the empty one where it would be. */
static uint32_t *telemetry_sample_slot(
	const struct telemetry_sample_ends *e, const struct telemetry_row *like)
{
	uint64_t at = siphash(&e->key, like->local, strlen(like->local)) ^
		      siphash(&e->key, like->remote, strlen(like->remote)) * 3;

	for (;; at++) {
		uint32_t *slot = &e->slot[at & e->mask];
		const struct telemetry_row *r = &e->row[*slot ? *slot - 1 : 0];

		if (*slot == 0 || (strcmp(r->remote, like->remote) == 0 &&
					  strcmp(r->local, like->local) == 0))
			return slot;
	}
}

static bool telemetry_sample_index(
	struct telemetry_sample_ends *e, const struct telemetry_sample *connections)
{
	size_t slots = 2;

	while (slots < 2 * connections->n)
		slots *= 2;
	*e = (struct telemetry_sample_ends){.row = connections->row, .mask = slots - 1};
	e->slot = calloc(slots, sizeof *e->slot);
	if (!e->slot)
		return false;
	e->key = hash_key_draw(e->slot, slots);
	for (size_t i = 0; i < connections->n; i++)
		*telemetry_sample_slot(e, &e->row[i]) = (uint32_t)i + 1;
	return true;
}

/** Give QPs their connections, and add those that no QP has. @return 0 or a negative errno. */
static int telemetry_sample_join(struct telemetry_sample_source *from)
{
	struct telemetry_sample *s = from->s;
	struct telemetry_sample_ends ends;
	int rc = 0;

	if (!telemetry_sample_index(&ends, &from->connections))
		return -ENOMEM;
	for (size_t i = from->first; i < s->n; i++) {
		struct telemetry_row *qp = &s->row[i];
		uint32_t *slot = qp->connected ? telemetry_sample_slot(&ends, qp) : NULL;

		if (slot && *slot && ends.row[*slot - 1].connected) {
			telemetry_row_connect(qp, &ends.row[*slot - 1]);
			/* Taken; it still leads to those behind it. */
			ends.row[*slot - 1].connected = false;
		} else {
			telemetry_row_disconnect(qp);
		}
	}
	for (size_t i = 0; i < from->connections.n && !rc; i++) {
		struct telemetry_row *r = ends.row[i].connected ? telemetry_sample_add(s) : NULL;

		if (r)
			*r = ends.row[i];
		else if (ends.row[i].connected)
			rc = -errno;
	}
	free(ends.slot);
	return rc;
}

/** Add the rows of one process. One that has gone, or does not tell even who it is, has none. */
static int telemetry_sample_process(struct telemetry_sample *s, struct telemetry_client *c)
{
	struct telemetry_sample_source from = {
		.s = s, .first = s->n, .connections = {.most = s->most}};
	struct json_reader j;
	int rc = 0;

	if (!telemetry_client_read(c, "/uiwarp/info", &j) || c->refused[0])
		return 0;
	s->processes++;
	telemetry_row_read(&from.process, &j);
	/* As its socket has it: it may be in a PID namespace of its own. */
	from.process.pid = c->pid;
	memcpy(from.process.socket, c->name, sizeof c->name);
	snprintf(from.process.directory, sizeof from.process.directory, "%s",
		telemetry_client_directory(c));
	terminal_text(from.process.directory);
	if (!telemetry_client_each(c, "/uiwarp/qps", telemetry_sample_read_qp, &from))
		s->n = from.first;
	if (!from.rc && !telemetry_client_each(
				c, "/uiwarp/connections", telemetry_sample_read_connection, &from))
		from.connections.n = 0;
	rc = from.rc ? from.rc : telemetry_sample_join(&from);
	telemetry_sample_free(&from.connections);
	return rc;
}

/* ---- rates ------------------------------------------------------------------------------- */

/** By process, QP and ends. */
static int telemetry_sample_compare(const void *a, const void *b)
{
	const struct telemetry_row *x = a, *y = b;
	int d = telemetry_row_compare_process(x, y);

	if (!d)
		d = (x->qp > y->qp) - (x->qp < y->qp);
	/* A QP is the same with another connection. */
	if (!d && !x->qp)
		d = strcmp(x->remote, y->remote);
	return d || x->qp ? d : strcmp(x->local, y->local);
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

/** Both are in order. */
static void telemetry_sample_all_rates(
	struct telemetry_sample *s, const struct telemetry_sample *before)
{
	const struct telemetry_row *b = before->row, *end = before->row + before->n;

	for (size_t i = 0; i < s->n; i++) {
		int d = -1;

		while (b < end && (d = telemetry_sample_compare(b, &s->row[i])) < 0)
			b++;
		if (b < end && d == 0)
			telemetry_sample_rates(&s->row[i], b, s->clock - before->clock);
	}
}

int telemetry_sample_take(struct telemetry_sample *s, struct telemetry_clients *c,
	const struct telemetry_sample *before)
{
	int rc = 0;

	*s = (struct telemetry_sample){.most = c->rows};
	for (unsigned i = 0; i < c->n && !rc; i++)
		rc = telemetry_sample_process(s, &c->client[i]);
	if (rc) {
		telemetry_sample_free(s);
		return rc;
	}
	s->time = clock_id_s(CLOCK_REALTIME);
	s->clock = clock_id_s(CLOCK_MONOTONIC);
	if (s->n)
		qsort(s->row, s->n, sizeof *s->row, telemetry_sample_compare);
	if (before && s->clock > before->clock)
		telemetry_sample_all_rates(s, before);
	return 0;
}

const char *telemetry_sample_error(int rc)
{
	return rc == -ENOBUFS ? "the processes tell more than is kept at a time: expected fewer of "
				"them, by PID"
			      : strerror(-rc);
}

void telemetry_sample_free(struct telemetry_sample *s)
{
	free(s->row);
	*s = (struct telemetry_sample){.n = 0};
}
