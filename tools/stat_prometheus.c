/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text exposition format, version 0.0.4: all samples of a metric stand together, below
 * its HELP and TYPE.
 */
#include "tools/stat_prometheus.h"

#include "host/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** Is there a control character of ISO 6429 at @p text, in UTF-8? Its length; 0: no. */
static unsigned stat_prometheus_control(const char *text)
{
	unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];

	if (first < 0x20 || first == 0x7f)
		return 1;
	return first == 0xc2 && second >= 0x80 && second < 0xa0 ? 2 : 0;
}

/** Up to where a label's value is written: not to within a character of UTF-8. */
static const char *stat_prometheus_end_of(const char *text)
{
	size_t len = strnlen(text, STAT_PROMETHEUS_LABEL + 1);

	if (len > STAT_PROMETHEUS_LABEL)
		while (((unsigned char)text[--len] & 0xc0) == 0x80)
			;
	return text + len;
}

/**
 * A label's value: backslash, quote and line feed are escaped. The format has no escapes for what a
 * terminal would take for its own, and the text may be anybody's.
 */
static void stat_prometheus_value(FILE *out, const char *text)
{
	const char *end = text ? stat_prometheus_end_of(text) : NULL;

	for (; text != end; text++) {
		unsigned control = stat_prometheus_control(text);

		if (control) {
			fputs(*text == '\n' ? "\\n" : "?", out);
			text += control - 1;
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void stat_prometheus_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",%s=\"", name);
	stat_prometheus_value(out, value);
	fputc('"', out);
}

static void stat_prometheus_head(FILE *out, const char *name, const char *help, const char *type)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/** The name and the labels that each sample has. */
static void stat_prometheus_begin(FILE *out, const char *name, const struct stat_process *p)
{
	const json_t *info = json_object_get(p->about, "info");

	fprintf(out, "%s{pid=\"%" JSON_INTEGER_FORMAT "\"", name,
		json_integer_value(json_object_get(info, "pid")));
	/*
	 * PID namespaces may have the same numbers: sockets differ within a directory. Of the
	 * directories at most one has a long name, so what is cut off tells nothing apart.
	 */
	stat_prometheus_label(
		out, "socket", json_string_value(json_object_get(p->about, "socket")));
	stat_prometheus_label(
		out, "directory", json_string_value(json_object_get(p->about, "directory")));
	stat_prometheus_label(out, "program", json_string_value(json_object_get(info, "program")));
	stat_prometheus_label(out, "device", json_string_value(json_object_get(info, "device")));
}

static void stat_prometheus_end(FILE *out, double value)
{
	fprintf(out, "} %.17g\n", value);
}

/* ---- counters of the layers -------------------------------------------------------------- */

static void stat_prometheus_counter(
	FILE *out, const struct stat_prometheus *all, const struct counter *c)
{
	const char *layer = counters_layer_name(c->layer);
	char name[96], help[160];
	bool first = true;

	snprintf(name, sizeof name, "uiwarp_%s_%s%s", layer, c->name, c->gauge ? "" : "_total");
	snprintf(help, sizeof help, "%s: %s", layer, c->help);
	for (size_t i = 0; i < all->n; i++) {
		const struct stat_process *p = &all->process[i];
		const json_t *value = json_object_get(
			json_object_get(json_object_get(p->about, "stats"), layer), c->name);

		if (!json_is_integer(value))
			continue;
		if (first)
			stat_prometheus_head(out, name, help, c->gauge ? "gauge" : "counter");
		first = false;
		stat_prometheus_begin(out, name, p);
		stat_prometheus_end(out, (double)json_integer_value(value));
	}
}

static void stat_prometheus_drops(FILE *out, const struct stat_prometheus *all)
{
	static const char name[] = "uiwarp_drops_total";
	const char *reason;
	json_t *value;

	stat_prometheus_head(out, name, "what was dropped, by reason", "counter");
	for (size_t i = 0; i < all->n; i++) {
		const struct stat_process *p = &all->process[i];
		json_t *stats = json_object_get(p->about, "stats");

		json_object_foreach(json_object_get(stats, "drops"), reason, value)
		{
			stat_prometheus_begin(out, name, p);
			stat_prometheus_label(out, "reason", reason);
			stat_prometheus_end(out, (double)json_integer_value(value));
		}
	}
}

/* ---- items of lists ---------------------------------------------------------------------- */

/** A metric of each item of a list, and what tells the items apart. */
static const struct stat_prometheus_metric {
	enum stat_list list;
	const char *key, *name, *help, *type;
	const char *label[3]; /**< those that the item has */
	double scale;
} stat_prometheus_metrics[] = {
#define OF_CONNECTIONS(key, name, help, type, scale)                          \
	{                                                                     \
		STAT_CONNECTIONS, key, "uiwarp_connection_" name, help, type, \
			{"local", "remote", "qp"}, scale                      \
	}
	OF_CONNECTIONS("srtt_ns", "rtt_seconds", "smoothed round-trip time", "gauge", 1e-9),
	OF_CONNECTIONS("cwnd", "cwnd_bytes", "congestion window", "gauge", 1),
	OF_CONNECTIONS("pacing_rate", "pacing_bytes_per_second", "pacing rate", "gauge", 1),
	OF_CONNECTIONS("queued", "queued_bytes", "written, and not acknowledged", "gauge", 1),
	OF_CONNECTIONS("unread", "unread_bytes", "received, and not taken", "gauge", 1),
	OF_CONNECTIONS("bytes_acked", "acked_bytes_total", "bytes that the peer acknowledged",
		"counter", 1),
	OF_CONNECTIONS(
		"bytes_received", "received_bytes_total", "bytes received in order", "counter", 1),
	OF_CONNECTIONS("retransmits", "retransmits_total", "segments sent again", "counter", 1),
	OF_CONNECTIONS(
		"out_of_order", "out_of_order_total", "segments before their turn", "counter", 1),
#define OF_QPS(key, name, help)                                                    \
	{                                                                          \
		STAT_QPS, key, "uiwarp_qp_" name, help, "counter", {"qp", NULL}, 1 \
	}
	OF_QPS("send_posted", "send_posted_total", "send requests posted, modulo 2^32"),
	OF_QPS("send_completed", "send_completed_total", "send requests completed, modulo 2^32"),
	OF_QPS("recv_completed", "recv_completed_total", "receives completed, modulo 2^32"),
	{STAT_CQS, "depth", "uiwarp_cq_depth", "completions that were not polled", "gauge",
		{"cq", NULL}, 1},
	{STAT_CQS, "size", "uiwarp_cq_size", "completions that the queue can hold", "gauge",
		{"cq", NULL}, 1},
};

static void stat_prometheus_item_label(FILE *out, const json_t *item, const char *key)
{
	const json_t *value = json_object_get(item, key);
	char number[24];

	if (!value)
		return;
	snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	stat_prometheus_label(out, key, json_is_string(value) ? json_string_value(value) : number);
}

static void stat_prometheus_item(FILE *out, const struct stat_process *p,
	const struct stat_prometheus_metric *m, const json_t *item)
{
	stat_prometheus_begin(out, m->name, p);
	for (unsigned l = 0; l < 3 && m->label[l]; l++)
		stat_prometheus_item_label(out, item, m->label[l]);
	stat_prometheus_end(
		out, (double)json_integer_value(json_object_get(item, m->key)) * m->scale);
}

static void stat_prometheus_list(
	FILE *out, const struct stat_prometheus *all, const struct stat_prometheus_metric *m)
{
	bool first = true;
	json_t *item;

	for (size_t i = 0; i < all->n; i++)
		for (size_t at = 0; (item = stat_process_next(&all->process[i], m->list, &at));
			json_decref(item)) {
			if (!json_is_integer(json_object_get(item, m->key)))
				continue;
			if (first)
				stat_prometheus_head(out, m->name, m->help, m->type);
			first = false;
			stat_prometheus_item(out, &all->process[i], m, item);
		}
}

static void stat_prometheus_terminates_of(FILE *out, const char *name, const struct stat_process *p)
{
	static const char *const label[] = {"layer", "type", "code"};
	static const char *const direction[] = {"sent", "received"};
	const json_t *rnic = json_object_get(p->about, "rnic"), *t;
	size_t k;

	json_array_foreach(json_object_get(rnic, "terminates"), k, t) for (unsigned d = 0; d < 2;
									   d++)
	{
		stat_prometheus_begin(out, name, p);
		for (unsigned l = 0; l < 3; l++)
			stat_prometheus_item_label(out, t, label[l]);
		stat_prometheus_label(out, "direction", direction[d]);
		stat_prometheus_end(
			out, (double)json_integer_value(json_object_get(t, direction[d])));
	}
}

/* ---- what is kept of a process ----------------------------------------------------------- */

static void stat_prometheus_copy(json_t *to, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (value)
		json_object_set(to, key, value);
}

/** What the metrics of @p list need of an item. */
static json_t *stat_prometheus_reduce(enum stat_list list, const json_t *item)
{
	json_t *kept = json_object();

	for (size_t i = 0; i < sizeof stat_prometheus_metrics / sizeof stat_prometheus_metrics[0];
		i++) {
		const struct stat_prometheus_metric *m = &stat_prometheus_metrics[i];

		if (m->list != list)
			continue;
		stat_prometheus_copy(kept, item, m->key);
		for (unsigned l = 0; l < 3 && m->label[l]; l++)
			stat_prometheus_copy(kept, item, m->label[l]);
	}
	return kept;
}

/** @return 0, -ENOMEM, or -ENOBUFS: it takes more than @p room. */
static int stat_prometheus_keep_list(
	struct json_list *to, const struct stat_process *from, enum stat_list list, size_t room)
{
	json_t *item, *kept;
	size_t at = 0;
	int rc = 0;

	while (!rc && (item = stat_process_next(from, list, &at))) {
		kept = stat_prometheus_reduce(list, item);
		rc = kept && json_list_add(to, kept) ? 0 : -ENOMEM;
		if (!rc && to->size > room)
			rc = -ENOBUFS;
		json_decref(kept);
		json_decref(item);
	}
	return rc;
}

/** @return 0, -ENOMEM or -ENOBUFS. @param bytes of memory that it takes */
static int stat_prometheus_keep_about(json_t *to, const json_t *from, size_t *bytes, size_t room)
{
	static const char *const key[] = {"info", "socket", "directory", "stats", "rnic"};
	char *text;

	for (unsigned i = 0; i < sizeof key / sizeof key[0]; i++)
		stat_prometheus_copy(to, from, key[i]);
	text = json_dumps(to, JSON_COMPACT);
	if (!text)
		return -ENOMEM;
	*bytes = telemetry_client_tree(text, strlen(text));
	free(text);
	return *bytes > room ? -ENOBUFS : 0;
}

int stat_prometheus_keep(struct stat_prometheus *all, const struct stat_process *p)
{
	struct stat_process kept = {.about = json_object()}, *more;
	size_t bytes = 0;
	int rc = stat_prometheus_keep_about(kept.about, p->about, &bytes, all->room);

	for (enum stat_list i = 0; i < STAT_LISTS && !rc; i++) {
		rc = stat_prometheus_keep_list(&kept.list[i], p, i, all->room - bytes);
		bytes += kept.list[i].size;
	}
	more = rc ? NULL : realloc(all->process, (all->n + 1) * sizeof *more);
	if (!more) {
		stat_process_free(&kept);
		return rc ? rc : -ENOMEM;
	}
	all->process = more;
	all->process[all->n++] = kept;
	all->room -= bytes;
	return 0;
}

void stat_prometheus_free(struct stat_prometheus *all)
{
	for (size_t i = 0; i < all->n; i++)
		stat_process_free(&all->process[i]);
	free(all->process);
	*all = (struct stat_prometheus){.n = 0};
}

/* ---- all of them ------------------------------------------------------------------------- */

void stat_prometheus_write(FILE *out, const struct stat_prometheus *all)
{
	static const char terminates[] = "uiwarp_terminates_total";

	stat_prometheus_head(out, "uiwarp_up", "1 for each process that was asked", "gauge");
	for (size_t i = 0; i < all->n; i++) {
		stat_prometheus_begin(out, "uiwarp_up", &all->process[i]);
		stat_prometheus_end(out, 1);
	}
	for (unsigned c = 0; c < counters_count; c++)
		stat_prometheus_counter(out, all, &counters[c]);
	stat_prometheus_drops(out, all);
	stat_prometheus_head(
		out, terminates, "Terminates, by layer, type and code (RFC 5040)", "counter");
	for (size_t i = 0; i < all->n; i++)
		stat_prometheus_terminates_of(out, terminates, &all->process[i]);
	for (size_t m = 0; m < sizeof stat_prometheus_metrics / sizeof stat_prometheus_metrics[0];
		m++)
		stat_prometheus_list(out, all, &stat_prometheus_metrics[m]);
}
