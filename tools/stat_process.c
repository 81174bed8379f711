/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stat_process.h"

#include "tools/hash_key.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const stat_lists[STAT_LISTS] = {
	[STAT_CONNECTIONS] = "connections",
	[STAT_QPS] = "qps",
	[STAT_CQS] = "cqs",
	[STAT_MRS] = "mrs",
};

/* ---- which QP has a connection ----------------------------------------------------------- */

static uint64_t stat_process_hash(const struct stat_process *p, const json_t *item)
{
	static const char *const end[] = {"local", "remote"};
	uint64_t hash[2];

	for (unsigned i = 0; i < 2; i++) {
		const json_t *text = json_object_get(item, end[i]);
		const char *bytes = json_string_value(text);

		hash[i] = siphash(&p->key, bytes ? bytes : "", json_string_length(text));
	}
	return siphash(&p->key, hash, sizeof hash);
}

static int stat_process_compare_hash(const void *hash, const void *of)
{
	const uint64_t *x = hash;
	const struct stat_ends *y = of;

	return (*x > y->hash) - (*x < y->hash);
}

static int stat_process_compare(const void *a, const void *b)
{
	const struct stat_ends *x = a, *y = b;
	int by_hash = stat_process_compare_hash(&x->hash, y);

	return by_hash ? by_hash : (x->order > y->order) - (x->order < y->order);
}

/** Of several with the same ends the last is it. */
static void stat_process_sort(struct stat_process *p)
{
	size_t n = 0;

	if (p->num_ends == 0)
		return;
	qsort(p->ends, p->num_ends, sizeof *p->ends, stat_process_compare);
	for (size_t i = 0; i < p->num_ends; i++) {
		n -= n != 0 && p->ends[n - 1].hash == p->ends[i].hash;
		p->ends[n++] = p->ends[i];
	}
	p->num_ends = n;
}

/** Without memory connections have no QPs. */
static void stat_process_index(struct stat_process *p)
{
	size_t at = 0, most = p->list[STAT_QPS].n;
	json_t *item;

	p->ends = most ? calloc(most, sizeof *p->ends) : NULL;
	p->key = hash_key_draw(p->ends, most);
	while (p->num_ends < most && p->ends && (item = json_list_next(&p->list[STAT_QPS], &at))) {
		const json_t *qp = json_object_get(item, "qp");

		if (json_is_integer(qp)) {
			p->ends[p->num_ends] = (struct stat_ends){
				stat_process_hash(p, item), p->num_ends, json_integer_value(qp)};
			p->num_ends++;
		}
		json_decref(item);
	}
	stat_process_sort(p);
}

/** Tell of a connection which QP has it. */
static void stat_process_join(const struct stat_process *p, json_t *connection)
{
	const uint64_t hash = stat_process_hash(p, connection);
	const struct stat_ends *e = p->num_ends ? bsearch(&hash, p->ends, p->num_ends, sizeof *e,
							  stat_process_compare_hash)
						: NULL;

	if (e)
		json_object_set_new(connection, "qp", json_integer(e->qp));
}

/* ---- all of it --------------------------------------------------------------------------- */

static void stat_process_ask(
	struct stat_process *p, struct telemetry_client *c, const char *key, const char *command)
{
	json_object_set_new(p->about, key, telemetry_client_ask(c, command));
}

static void stat_process_ask_list(
	struct stat_process *p, struct telemetry_client *c, enum stat_list list)
{
	char command[32];

	snprintf(command, sizeof command, "/uiwarp/%s", stat_lists[list]);
	p->told[list] = telemetry_client_list(c, command, &p->list[list]);
}

/** What its engine is asked for. */
static void stat_process_ask_engine(
	struct stat_process *p, struct telemetry_client *c, bool metrics)
{
	stat_process_ask(p, c, "stats", "/uiwarp/stats");
	stat_process_ask(p, c, "rnic", "/uiwarp/rnic");
	stat_process_ask_list(p, c, STAT_CONNECTIONS);
	stat_process_ask_list(p, c, STAT_QPS);
	stat_process_index(p);
	stat_process_ask_list(p, c, STAT_CQS);
	if (!metrics)
		stat_process_ask_list(p, c, STAT_MRS);
}

/** It has told something, and then nothing: it serves others, perhaps. */
static void stat_process_note_end(struct telemetry_client *c)
{
	if (!c->greeted && !c->refused[0])
		snprintf(c->refused, sizeof c->refused,
			"it went, or answered no more, before it had told all");
}

bool stat_process_collect(struct stat_process *p, struct telemetry_client *c, bool metrics)
{
	json_t *info = telemetry_client_ask(c, "/uiwarp/info");
	/* Its engine is stuck, perhaps, of which the log may tell. */
	bool stuck = telemetry_client_error(info, "error", c->refused, sizeof c->refused);

	*p = (struct stat_process){.about = info && !(stuck && metrics) ? json_object() : NULL};
	if (!p->about) {
		json_decref(info);
		return false;
	}
	json_object_set_new(p->about, "info", info);
	json_object_set_new(p->about, "socket", json_string(c->name));
	json_object_set_new(p->about, "directory", json_string(telemetry_client_directory(c)));
	if (!stuck)
		stat_process_ask_engine(p, c, metrics);
	if (!metrics) {
		stat_process_ask(p, c, "config", "/uiwarp/config");
		stat_process_ask(p, c, "log", "/uiwarp/log");
	}
	stat_process_note_end(c);
	return true;
}

json_t *stat_process_next(const struct stat_process *p, enum stat_list list, size_t *at)
{
	json_t *item = json_list_next(&p->list[list], at);

	if (list == STAT_CONNECTIONS && json_is_object(item))
		stat_process_join(p, item);
	return item;
}

void stat_process_free(struct stat_process *p)
{
	json_decref(p->about);
	for (unsigned i = 0; i < STAT_LISTS; i++)
		json_list_free(&p->list[i]);
	free(p->ends);
	*p = (struct stat_process){.about = NULL};
}
