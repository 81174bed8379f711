/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text exposition format, version 0.0.4: all samples of a metric stand together, below
 * its HELP and TYPE.
 */
#include "host/counters.h"
#include "tools/stat_print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/** Is there a control character of ISO 6429 at @p text, in UTF-8? Its length; 0: no. */
static unsigned stat_prometheus_control(const char *text)
{
	unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];

	if (first < 0x20 || first == 0x7f)
		return 1;
	return first == 0xc2 && second >= 0x80 && second < 0xa0 ? 2 : 0;
}

/**
 * A label's value: backslash, quote and line feed are escaped. The format has no escapes for what a
 * terminal would take for its own, and the text may be anybody's.
 */
static void stat_prometheus_value(FILE *out, const char *text)
{
	for (; text && *text; text++) {
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
static void stat_prometheus_begin(FILE *out, const char *name, const json_t *process)
{
	const json_t *info = json_object_get(process, "info");

	fprintf(out, "%s{pid=\"%" JSON_INTEGER_FORMAT "\"", name,
		json_integer_value(json_object_get(info, "pid")));
	/* Where several PID namespaces use one directory, numbers may be the same. */
	stat_prometheus_label(out, "socket", json_string_value(json_object_get(process, "socket")));
	stat_prometheus_label(out, "program", json_string_value(json_object_get(info, "program")));
	stat_prometheus_label(out, "device", json_string_value(json_object_get(info, "device")));
}

static void stat_prometheus_end(FILE *out, double value)
{
	fprintf(out, "} %.17g\n", value);
}

/* ---- counters of the layers -------------------------------------------------------------- */

static void stat_prometheus_counter(FILE *out, const json_t *all, const struct counter *c)
{
	const char *layer = counters_layer_name(c->layer);
	const json_t *process, *value;
	char name[96], help[160];
	bool first = true;
	size_t i;

	snprintf(name, sizeof name, "uiwarp_%s_%s%s", layer, c->name, c->gauge ? "" : "_total");
	snprintf(help, sizeof help, "%s: %s", layer, c->help);
	json_array_foreach(all, i, process)
	{
		value = json_object_get(
			json_object_get(json_object_get(process, "stats"), layer), c->name);
		if (!json_is_integer(value))
			continue;
		if (first)
			stat_prometheus_head(out, name, help, c->gauge ? "gauge" : "counter");
		first = false;
		stat_prometheus_begin(out, name, process);
		stat_prometheus_end(out, (double)json_integer_value(value));
	}
}

static void stat_prometheus_drops(FILE *out, const json_t *all)
{
	static const char name[] = "uiwarp_drops_total";
	const json_t *process;
	json_t *value;
	const char *reason;
	size_t i;

	stat_prometheus_head(out, name, "what was dropped, by reason", "counter");
	json_array_foreach(all, i, process) json_object_foreach(
		json_object_get(json_object_get(process, "stats"), "drops"), reason, value)
	{
		stat_prometheus_begin(out, name, process);
		stat_prometheus_label(out, "reason", reason);
		stat_prometheus_end(out, (double)json_integer_value(value));
	}
}

/* ---- items of lists ---------------------------------------------------------------------- */

/** A metric of each item of a list, and what tells the items apart. */
static const struct stat_prometheus_metric {
	const char *list, *key, *name, *help, *type;
	const char *label[3]; /**< those that the item has */
	double scale;
} stat_prometheus_metrics[] = {
#define OF_CONNECTIONS(key, name, help, type, scale)                       \
	{                                                                  \
		"connections", key, "uiwarp_connection_" name, help, type, \
			{"local", "remote", "qp"}, scale                   \
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
#define OF_QPS(key, name, help)                                                 \
	{                                                                       \
		"qps", key, "uiwarp_qp_" name, help, "counter", {"qp", NULL}, 1 \
	}
	OF_QPS("send_posted", "send_posted_total", "send requests posted, modulo 2^32"),
	OF_QPS("send_completed", "send_completed_total", "send requests completed, modulo 2^32"),
	OF_QPS("recv_completed", "recv_completed_total", "receives completed, modulo 2^32"),
	{"cqs", "depth", "uiwarp_cq_depth", "completions that were not polled", "gauge",
		{"cq", NULL}, 1},
	{"cqs", "size", "uiwarp_cq_size", "completions that the queue can hold", "gauge",
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

static void stat_prometheus_list(
	FILE *out, const json_t *all, const struct stat_prometheus_metric *m)
{
	const json_t *process, *item;
	bool first = true;
	size_t i, k;

	json_array_foreach(all, i, process)
		json_array_foreach(json_object_get(process, m->list), k, item)
	{
		const json_t *value = json_object_get(item, m->key);

		if (!json_is_integer(value))
			continue;
		if (first)
			stat_prometheus_head(out, m->name, m->help, m->type);
		first = false;
		stat_prometheus_begin(out, m->name, process);
		for (unsigned l = 0; l < 3 && m->label[l]; l++)
			stat_prometheus_item_label(out, item, m->label[l]);
		stat_prometheus_end(out, (double)json_integer_value(value) * m->scale);
	}
}

static void stat_prometheus_terminates(FILE *out, const json_t *all)
{
	static const char name[] = "uiwarp_terminates_total";
	static const char *const label[] = {"layer", "type", "code"};
	static const char *const direction[] = {"sent", "received"};
	const json_t *process, *t;
	size_t i, k;

	stat_prometheus_head(
		out, name, "Terminates, by layer, type and code (RFC 5040)", "counter");
	json_array_foreach(all, i, process)
		json_array_foreach(json_object_get(json_object_get(process, "rnic"), "terminates"),
			k, t) for (unsigned d = 0; d < 2; d++)
	{
		stat_prometheus_begin(out, name, process);
		for (unsigned l = 0; l < 3; l++)
			stat_prometheus_item_label(out, t, label[l]);
		stat_prometheus_label(out, "direction", direction[d]);
		stat_prometheus_end(
			out, (double)json_integer_value(json_object_get(t, direction[d])));
	}
}

/* ---- what is kept of a process ----------------------------------------------------------- */

/** Bytes that it takes, at most; jansson's own. */
static size_t stat_prometheus_size(const json_t *value)
{
	size_t bytes = 64 + json_string_length(value), i;
	const json_t *item;
	const char *key;
	json_t *member;

	if (json_is_array(value))
		bytes += 128;
	json_array_foreach(value, i, item) bytes += 16 + stat_prometheus_size(item);
	if (json_is_object(value))
		bytes += 192;
	json_object_foreach((json_t *)(uintptr_t)value, key, member) bytes +=
		128 + strlen(key) + stat_prometheus_size(member);
	return bytes;
}

static void stat_prometheus_keep(json_t *to, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (value)
		json_object_set(to, key, value);
}

/** What the metrics of @p list need of an item. */
static json_t *stat_prometheus_keep_item(const char *list, const json_t *item)
{
	json_t *kept = json_object();

	for (size_t i = 0; i < sizeof stat_prometheus_metrics / sizeof stat_prometheus_metrics[0];
		i++) {
		const struct stat_prometheus_metric *m = &stat_prometheus_metrics[i];

		if (strcmp(m->list, list) != 0)
			continue;
		stat_prometheus_keep(kept, item, m->key);
		for (unsigned l = 0; l < 3 && m->label[l]; l++)
			stat_prometheus_keep(kept, item, m->label[l]);
	}
	return kept;
}

int stat_print_keep(json_t *all, const json_t *process, size_t *room)
{
	static const char *const whole[] = {"info", "socket", "stats", "rnic"};
	static const char *const list[] = {"connections", "qps", "cqs"};
	json_t *kept = json_object(), *item;
	size_t i, bytes;

	for (unsigned w = 0; w < sizeof whole / sizeof whole[0]; w++)
		stat_prometheus_keep(kept, process, whole[w]);
	for (unsigned l = 0; l < sizeof list / sizeof list[0]; l++) {
		json_t *items = json_array();

		json_array_foreach(json_object_get(process, list[l]), i, item)
			json_array_append_new(items, stat_prometheus_keep_item(list[l], item));
		json_object_set_new(kept, list[l], items);
	}
	bytes = stat_prometheus_size(kept);
	if (bytes > *room) {
		json_decref(kept);
		return -ENOBUFS;
	}
	*room -= bytes;
	json_array_append_new(all, kept);
	return 0;
}

void stat_print_prometheus(FILE *out, const json_t *all)
{
	const json_t *process;
	size_t i;

	stat_prometheus_head(out, "uiwarp_up", "1 for each process that was asked", "gauge");
	json_array_foreach(all, i, process)
	{
		stat_prometheus_begin(out, "uiwarp_up", process);
		stat_prometheus_end(out, 1);
	}
	for (unsigned c = 0; c < counters_count; c++)
		stat_prometheus_counter(out, all, &counters[c]);
	stat_prometheus_drops(out, all);
	stat_prometheus_terminates(out, all);
	for (size_t m = 0; m < sizeof stat_prometheus_metrics / sizeof stat_prometheus_metrics[0];
		m++)
		stat_prometheus_list(out, all, &stat_prometheus_metrics[m]);
}
