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
	char process[TELEMETRY_NAME];

	if (r->qp)
		snprintf(qp, sizeof qp, "%" PRIu32, r->qp);
	fprintf(out, "%7s %-15s %8s %-12s %-24s %8s %7s %7s %8" PRIu64 " %7s %7s %5" PRIu32 "\n",
		telemetry_row_process(r, process), r->program, qp, r->state,
		r->connected ? r->remote : "-", stat_print_time(r->srtt, rtt),
		stat_print_scaled((double)r->cwnd, cwnd),
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
	char clock[16], process[TELEMETRY_NAME];
	struct tm tm;

	if (heading)
		fprintf(out, "%-8s %7s %-6s %8s %8s %7s %8s %7s %7s %8s %5s\n", "TIME", "PID",
			"STATE", "OUT B/s", "IN B/s", "OP/s", "RTT", "CWND", "QUEUED", "RETRANS",
			"DEPTH");
	localtime_r(&seconds, &tm);
	strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	fprintf(out, "%-8s %7s %-6s %8s %8s %7s %8s %7s %7s %8" PRIu64 " %5" PRIu32 "\n", clock,
		telemetry_row_process(r, process), r->state,
		stat_print_scaled(r->bytes_out_rate, bytes_out),
		stat_print_scaled(r->bytes_in_rate, bytes_in),
		stat_print_scaled(r->operation_rate, ops), stat_print_time(r->srtt, rtt),
		stat_print_scaled((double)r->cwnd, cwnd),
		stat_print_scaled((double)r->queued, queued), r->retransmits, r->send_depth);
}

/* ---- JSON -------------------------------------------------------------------------------- */

struct stat_print_nested {
	FILE *out;
	int depth;
};

/** What stands in others is indented by more; in strings there are no line feeds. */
static int stat_print_indented(const char *text, size_t len, void *nested)
{
	const struct stat_print_nested *n = nested;
	const char *end;

	while ((end = memchr(text, '\n', len))) {
		size_t line = (size_t)(end + 1 - text);

		fwrite(text, 1, line, n->out);
		fprintf(n->out, "%*s", n->depth, "");
		text += line;
		len -= line;
	}
	fwrite(text, 1, len, n->out);
	return 0;
}

/** @return false: no memory. */
static bool stat_print_value(FILE *out, const json_t *value, int depth)
{
	struct stat_print_nested n = {out, depth};

	/* A terminal knows control characters beyond those that JSON must escape. */
	return json_dump_callback(value, stat_print_indented, &n,
		       JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII |
			       JSON_ENCODE_ANY) == 0;
}

static bool stat_print_list(FILE *out, const struct stat_process *p, enum stat_list list)
{
	const char *before = "[\n   ";
	size_t at = 0, n = 0;
	bool whole = true;
	json_t *item;

	while (whole && (item = stat_process_next(p, list, &at))) {
		fputs(before, out);
		before = ",\n   ";
		whole = stat_print_value(out, item, 3);
		json_decref(item);
		n++;
	}
	fputs(n == 0 ? "[]" : "\n  ]", out);
	return whole && n == p->list[list].n;
}

bool stat_print_json(FILE *out, const struct stat_process *p)
{
	const char *before = "{\n  ", *key;
	bool whole = true;
	json_t *value;

	json_object_foreach(p->about, key, value)
	{
		fprintf(out, "%s\"%s\": ", before, key);
		before = ",\n  ";
		whole = stat_print_value(out, value, 2) && whole;
	}
	for (enum stat_list i = 0; i < STAT_LISTS; i++) {
		if (!p->told[i])
			continue;
		fprintf(out, "%s\"%s\": ", before, stat_lists[i]);
		whole = stat_print_list(out, p, i) && whole;
	}
	fputs("\n }", out);
	return whole;
}
