/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stat_print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

const char *stat_print_scaled(double value, char text[STAT_PRINT_SCALED])
{
	static const char unit[] = {'\0', 'k', 'M', 'G', 'T', 'P'};
	unsigned i = 0;

	while (value >= 999.5 && i + 1 < sizeof unit) {
		value /= 1000;
		i++;
	}
	if (!(value < 1e6))
		value = 1e6;
	snprintf(text, STAT_PRINT_SCALED, i && value < 99.95 ? "%.1f%c" : "%.0f%c", value, unit[i]);
	return text;
}

const char *stat_print_time(uint64_t ns, char text[STAT_PRINT_SCALED])
{
	double us = (double)ns / 1000;

	if (ns == 0)
		return "-";
	if (us < 9999.5)
		snprintf(text, STAT_PRINT_SCALED, us < 99.95 ? "%.1fus" : "%.0fus", us);
	else if (us < 9999500)
		snprintf(text, STAT_PRINT_SCALED, us < 99950 ? "%.1fms" : "%.0fms", us / 1000);
	else
		snprintf(text, STAT_PRINT_SCALED, "%.0fs", us / 1e6 < 1e9 ? us / 1e6 : 1e9);
	return text;
}

static void stat_print_row(FILE *out, const struct telemetry_row *r)
{
	char rtt[STAT_PRINT_SCALED], cwnd[STAT_PRINT_SCALED], queued[STAT_PRINT_SCALED];
	char acked[STAT_PRINT_SCALED], received[STAT_PRINT_SCALED], qp[12] = "-";

	if (r->qp)
		snprintf(qp, sizeof qp, "%" PRIu32, r->qp);
	fprintf(out, "%7d %-15s %8s %-12s %-24s %8s %7s %7s %8" PRIu64 " %7s %7s %5" PRIu32 "\n",
		(int)r->pid, r->program, qp, r->state, r->connected ? r->remote : "-",
		stat_print_time(r->srtt, rtt), stat_print_scaled((double)r->cwnd, cwnd),
		stat_print_scaled((double)r->queued, queued), r->retransmits,
		stat_print_scaled((double)r->bytes_acked, acked),
		stat_print_scaled((double)r->bytes_received, received), r->send_depth);
}

void stat_print_table(FILE *out, const struct telemetry_sample *s)
{
	fprintf(out, "%7s %-15s %8s %-12s %-24s %8s %7s %7s %8s %7s %7s %5s\n", "PID", "PROGRAM",
		"QP", "STATE", "REMOTE", "RTT", "CWND", "QUEUED", "RETRANS", "OUT", "IN", "DEPTH");
	for (size_t i = 0; i < s->n; i++)
		stat_print_row(out, &s->row[i]);
	if (!s->n)
		fprintf(out, "%u process%s, no QP and no connection\n", s->processes,
			s->processes == 1 ? "" : "es");
}

void stat_print_follow(
	FILE *out, const struct telemetry_sample *s, const struct telemetry_row *r, bool heading)
{
	char rtt[STAT_PRINT_SCALED], cwnd[STAT_PRINT_SCALED], queued[STAT_PRINT_SCALED];
	char bytes_out[STAT_PRINT_SCALED], bytes_in[STAT_PRINT_SCALED], ops[STAT_PRINT_SCALED];
	time_t seconds = (time_t)s->time;
	char clock[16];
	struct tm tm;

	if (heading)
		fprintf(out, "%-8s %-6s %8s %8s %7s %8s %7s %7s %8s %5s\n", "TIME", "STATE",
			"OUT B/s", "IN B/s", "OP/s", "RTT", "CWND", "QUEUED", "RETRANS", "DEPTH");
	localtime_r(&seconds, &tm);
	strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	fprintf(out, "%-8s %-6s %8s %8s %7s %8s %7s %7s %8" PRIu64 " %5" PRIu32 "\n", clock,
		r->state, stat_print_scaled(r->bytes_out_rate, bytes_out),
		stat_print_scaled(r->bytes_in_rate, bytes_in),
		stat_print_scaled(r->operation_rate, ops), stat_print_time(r->srtt, rtt),
		stat_print_scaled((double)r->cwnd, cwnd),
		stat_print_scaled((double)r->queued, queued), r->retransmits, r->send_depth);
}

/** What stands in an array is indented by one more; in strings there are no line feeds. */
static int stat_print_indented(const char *text, size_t len, void *out)
{
	const char *end;

	while ((end = memchr(text, '\n', len))) {
		size_t line = (size_t)(end + 1 - text);

		fwrite(text, 1, line, out);
		fputc(' ', out);
		text += line;
		len -= line;
	}
	fwrite(text, 1, len, out);
	return 0;
}

bool stat_print_json(FILE *out, const json_t *process)
{
	/* A terminal knows control characters beyond those that JSON must escape. */
	return json_dump_callback(process, stat_print_indented, out,
		       JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) == 0;
}

/** The ends of a QP's stream or of a connection, which tell it from all others of the process. */
static const char *stat_print_ends(const json_t *item, char *text, size_t len)
{
	const char *local = json_string_value(json_object_get(item, "local"));
	const char *remote = json_string_value(json_object_get(item, "remote"));

	snprintf(text, len, "%s %s", local ? local : "", remote ? remote : "");
	return text;
}

/** Tell of each connection which QP has it. */
static void stat_print_join(const json_t *qps, const json_t *connections)
{
	json_t *by_ends = json_object(), *item;
	char ends[160];
	size_t i;

	json_array_foreach(qps, i, item) json_object_set(
		by_ends, stat_print_ends(item, ends, sizeof ends), json_object_get(item, "qp"));
	json_array_foreach(connections, i, item) json_object_set(
		item, "qp", json_object_get(by_ends, stat_print_ends(item, ends, sizeof ends)));
	json_decref(by_ends);
}

json_t *stat_print_collect(struct telemetry_client *c, bool metrics)
{
	json_t *all = json_object(), *info = telemetry_client_ask(c, "/uiwarp/info");

	if (!info) {
		json_decref(all);
		return NULL;
	}
	json_object_set_new(all, "info", info);
	json_object_set_new(all, "socket", json_string(c->name));
	json_object_set_new(all, "stats", telemetry_client_ask(c, "/uiwarp/stats"));
	json_object_set_new(all, "rnic", telemetry_client_ask(c, "/uiwarp/rnic"));
	json_object_set_new(all, "connections", telemetry_client_list(c, "/uiwarp/connections"));
	json_object_set_new(all, "qps", telemetry_client_list(c, "/uiwarp/qps"));
	stat_print_join(json_object_get(all, "qps"), json_object_get(all, "connections"));
	json_object_set_new(all, "cqs", telemetry_client_list(c, "/uiwarp/cqs"));
	if (metrics)
		return all;
	json_object_set_new(all, "mrs", telemetry_client_list(c, "/uiwarp/mrs"));
	json_object_set_new(all, "config", telemetry_client_ask(c, "/uiwarp/config"));
	json_object_set_new(all, "log", telemetry_client_ask(c, "/uiwarp/log"));
	return all;
}
