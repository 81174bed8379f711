/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/stats.h"

#include "pcap/line.h"
#include "rdmap/opcode.h"

#include <jansson.h>

typedef unsigned long long ull;

static const char *const stats_report_ends[] = {
	[CONNECTION_CLOSED] = "closed",
	[CONNECTION_RESET] = "reset",
	[CONNECTION_REUSED] = "its ports were used again",
	[CONNECTION_EVICTED] = "idle, forgotten",
	[CONNECTION_CAPTURE_END] = "open when the capture ends",
};

/** Quantiles of a latency that are told, in parts of a million. */
static const struct {
	const char *name;
	uint32_t ppm;
} stats_report_quantiles[] = {
	{"median", 500000}, {"90 %", 900000}, {"99 %", 990000}, {"99.9 %", 999000}};

#define NUM_QUANTILES (sizeof stats_report_quantiles / sizeof *stats_report_quantiles)

static double stats_report_rate(const struct stats_side *me)
{
	return me->last > me->first ? (double)me->payload * 8e3 / (double)(me->last - me->first)
				    : 0;
}

static unsigned stats_report_percent(uint64_t part, uint64_t of)
{
	return of == 0 ? 0 : (unsigned)(part * 100 / of);
}

/* ---- for people ----------------------------------------------------------------------------- */

static void stats_report_print_operations(FILE *out, const struct stats_side *me)
{
	for (uint8_t i = 0; i < RDMAP_OPCODES; i++) {
		const struct stats_operation *o = &me->op[i];
		const struct rdmap_opcode_info *info = rdmap_opcode_info(i);

		if (o->messages != 0)
			fprintf(out, "      %s: %llu, %llu bytes (%llu to %llu, %llu on average)\n",
				info ? info->name : "reserved opcode", (ull)o->messages,
				(ull)o->bytes, (ull)o->min, (ull)o->max,
				(ull)(o->bytes / o->messages));
	}
}

static void stats_report_print_latency(FILE *out, const struct histogram *h)
{
	if (!h)
		return;
	fprintf(out, "      Reads and atomics: %llu answered, us: least %.1f", (ull)h->count,
		(double)h->min / 1e3);
	for (size_t i = 0; i < NUM_QUANTILES; i++)
		fprintf(out, ", %s %.1f", stats_report_quantiles[i].name,
			(double)histogram_quantile(h, stats_report_quantiles[i].ppm) / 1e3);
	fprintf(out, ", most %.1f\n", (double)h->max / 1e3);
}

static void stats_report_print_side(FILE *out, const struct stream *s, const struct stats_side *me)
{
	const struct cap_reassembly_counters *n = &s->tcp.counters;

	fprintf(out,
		"  %s TCP: %llu segments, %llu bytes; sent again %llu (%llu bytes); early %llu; "
		"holes of the capture %llu (%llu bytes)\n",
		stream_arrow(s), (ull)n->segments, (ull)n->bytes, (ull)n->again,
		(ull)n->again_bytes, (ull)n->early, (ull)n->holes, (ull)n->hole_bytes);
	if (me->fpdus == 0)
		return;
	fprintf(out,
		"    FPDUs: %llu, %llu bytes on average; begin with a segment %llu (%u %%), lie in "
		"one %llu (%u %%); bad CRC %llu, not all captured %llu\n",
		(ull)me->fpdus, (ull)(me->fpdu_bytes / me->fpdus), (ull)me->aligned,
		stats_report_percent(me->aligned, me->fpdus), (ull)me->whole,
		stats_report_percent(me->whole, me->fpdus), (ull)me->bad_crc, (ull)me->unseen);
	fprintf(out, "    payload: %llu bytes, %.3f Mb/s\n", (ull)me->payload,
		stats_report_rate(me));
	stats_report_print_operations(out, me);
	stats_report_print_latency(out, me->latency);
}

static void stats_report_print(FILE *out, const struct connection *c, enum connection_end how)
{
	const struct stats_connection *own = c->own;
	unsigned first = c->initiator == 1;
	struct line l = {0};

	line_add(&l, "connection #%llu: ", (ull)c->id);
	line_add_endpoint(&l, &c->end[first]);
	line_add(&l, " > ");
	line_add_endpoint(&l, &c->end[!first]);
	fprintf(out, "%s, %s\n", l.text, stats_report_ends[how]);
	stats_report_print_side(out, &c->stream[first], &own->side[first]);
	stats_report_print_side(out, &c->stream[!first], &own->side[!first]);
}

/* ---- for machines --------------------------------------------------------------------------- */

static json_t *stats_report_operations_json(const struct stats_side *me)
{
	json_t *all = json_object();

	for (uint8_t i = 0; i < RDMAP_OPCODES; i++) {
		const struct stats_operation *o = &me->op[i];
		const struct rdmap_opcode_info *info = rdmap_opcode_info(i);

		if (o->messages != 0)
			json_object_set_new(all, info ? info->name : "reserved opcode",
				json_pack("{sI sI sI sI}", "messages", (json_int_t)o->messages,
					"bytes", (json_int_t)o->bytes, "min", (json_int_t)o->min,
					"max", (json_int_t)o->max));
	}
	return all;
}

static json_t *stats_report_latency_json(const struct histogram *h)
{
	json_t *o = json_pack("{sI sI sI}", "count", (json_int_t)h->count, "min_ns",
		(json_int_t)h->min, "max_ns", (json_int_t)h->max);
	json_t *q = json_object();

	for (size_t i = 0; i < NUM_QUANTILES; i++)
		json_object_set_new(q, stats_report_quantiles[i].name,
			json_integer(
				(json_int_t)histogram_quantile(h, stats_report_quantiles[i].ppm)));
	json_object_set_new(o, "quantiles_ns", q);
	return o;
}

static json_t *stats_report_side_json(const struct stream *s, const struct stats_side *me)
{
	const struct cap_reassembly_counters *n = &s->tcp.counters;
	struct line from = {0};
	json_t *o;

	line_add_endpoint(&from, stream_from(s));
	o = json_pack("{ss s{sI sI sI sI sI sI sI} s{sI sI sI sI sI sI} sI sf}", "from", from.text,
		"tcp", "segments", (json_int_t)n->segments, "bytes", (json_int_t)n->bytes, "again",
		(json_int_t)n->again, "again_bytes", (json_int_t)n->again_bytes, "early",
		(json_int_t)n->early, "holes", (json_int_t)n->holes, "hole_bytes",
		(json_int_t)n->hole_bytes, "fpdus", "count", (json_int_t)me->fpdus, "bytes",
		(json_int_t)me->fpdu_bytes, "aligned", (json_int_t)me->aligned, "whole",
		(json_int_t)me->whole, "bad_crc", (json_int_t)me->bad_crc, "incomplete",
		(json_int_t)me->unseen, "payload_bytes", (json_int_t)me->payload, "payload_mbps",
		stats_report_rate(me));
	json_object_set_new(o, "operations", stats_report_operations_json(me));
	if (me->latency)
		json_object_set_new(o, "read_latency", stats_report_latency_json(me->latency));
	return o;
}

static void stats_report_print_json(FILE *out, const struct connection *c, enum connection_end how)
{
	const struct stats_connection *own = c->own;
	unsigned first = c->initiator == 1;
	json_t *o = json_pack("{ss sI ss sb so so}", "event", "connection", "connection",
		(json_int_t)c->id, "end", stats_report_ends[how], "initiator_known",
		c->initiator >= 0, "first",
		stats_report_side_json(&c->stream[first], &own->side[first]), "second",
		stats_report_side_json(&c->stream[!first], &own->side[!first]));

	json_dumpf(o, out, JSON_COMPACT);
	putc('\n', out);
	json_decref(o);
}

void stats_report(const struct stats *t, const struct connection *c, enum connection_end how)
{
	if (t->json)
		stats_report_print_json(t->out, c, how);
	else
		stats_report_print(t->out, c, how);
}
