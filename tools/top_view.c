/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/top_view.h"

#include "tools/stat_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** ECMA-48: to the left upper corner; erase to the end of the line, of the screen; attributes. */
#define TOP_HOME       "\033[H"
#define TOP_ERASE_LINE "\033[K"
#define TOP_ERASE_REST "\033[J"
#define TOP_REVERSE    "\033[7m"
#define TOP_BOLD       "\033[1m"
#define TOP_PLAIN      "\033[m"

/** Lines above the table, and below it. */
#define TOP_LINES_AROUND 4

/* ---- order ------------------------------------------------------------------------------- */

static double top_view_value(const struct telemetry_row *r, enum top_sort sort)
{
	switch (sort) {
	case TOP_SORT_RATE:
		return r->bytes_out_rate + r->bytes_in_rate;
	case TOP_SORT_OPERATIONS:
		return r->operation_rate;
	case TOP_SORT_RTT:
		return (double)r->srtt;
	case TOP_SORT_RETRANSMITS:
		return (double)r->retransmits;
	case TOP_SORT_QUEUED:
		return (double)r->queued;
	default:
		return -(double)r->pid;
	}
}

static int top_view_compare(const void *a, const void *b, void *view)
{
	const struct telemetry_row *x = a, *y = b;
	const struct top_view *v = view;
	double p = top_view_value(x, v->sort), q = top_view_value(y, v->sort);
	int d = (p < q) - (p > q);

	if (v->ascending)
		d = -d;
	/* Equal ones stay where they are from screen to screen. */
	if (!d)
		d = telemetry_row_compare_process(x, y);
	if (!d)
		d = (x->qp > y->qp) - (x->qp < y->qp);
	return d ? d : strcmp(x->remote, y->remote);
}

static bool top_view_same(const struct telemetry_row *a, const struct telemetry_row *b)
{
	return telemetry_row_compare_process(a, b) == 0 && a->qp == b->qp &&
	       (a->qp || (!strcmp(a->remote, b->remote) && !strcmp(a->local, b->local)));
}

static size_t top_view_height(const struct top_view *v)
{
	return v->rows > TOP_LINES_AROUND + 1 ? v->rows - TOP_LINES_AROUND : 1;
}

static void top_view_choose(struct top_view *v, const struct telemetry_sample *s, size_t row)
{
	size_t height = top_view_height(v);

	v->chosen = s->n && row >= s->n ? s->n - 1 : s->n ? row : 0;
	if (s->n)
		v->one = s->row[v->chosen];
	if (v->chosen < v->first)
		v->first = v->chosen;
	if (v->chosen >= v->first + height)
		v->first = v->chosen - height + 1;
}

void top_view_arrange(struct top_view *v, struct telemetry_sample *s)
{
	if (s->n)
		qsort_r(s->row, s->n, sizeof *s->row, top_view_compare, v);
	/* The first line is a place; any other is a row, which is followed. */
	for (size_t i = 0; (v->chosen || v->open) && i < s->n; i++)
		if (top_view_same(&s->row[i], &v->one)) {
			top_view_choose(v, s, i);
			return;
		}
	if (!v->open)
		top_view_choose(v, s, v->chosen);
	else if (v->chosen >= s->n)
		v->chosen = s->n ? s->n - 1 : 0; /* where the list is when this one is closed */
}

/* ---- keys -------------------------------------------------------------------------------- */

static bool top_view_key_sorts(struct top_view *v, int key)
{
	static const char keys[] = "bolrqp";
	const char *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (!at)
		return false;
	if (v->sort == (enum top_sort)(at - keys))
		v->ascending = !v->ascending;
	else
		v->ascending = false;
	v->sort = (enum top_sort)(at - keys);
	return true;
}

static void top_view_key_moves(struct top_view *v, const struct telemetry_sample *s, int key)
{
	size_t height = top_view_height(v), at = v->chosen;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		at -= at > 0;
		break;
	case TOP_KEY_DOWN:
	case 'j':
		at++;
		break;
	case TOP_KEY_PAGE_UP:
		at = at > height ? at - height : 0;
		break;
	case TOP_KEY_PAGE_DOWN:
		at += height;
		break;
	case TOP_KEY_HOME:
		at = 0;
		break;
	case TOP_KEY_END:
		at = s->n;
		break;
	default:
		return;
	}
	top_view_choose(v, s, at);
}

void top_view_key(struct top_view *v, const struct telemetry_sample *s, int key)
{
	if (key == 'Q' || key == 3) {
		v->quit = true;
	} else if (v->help) {
		v->help = false;
	} else if (key == '?' || key == 'h') {
		v->help = true;
	} else if (v->open) {
		v->open = key != 27 && key != 'x' && key != '\r' && key != '\n' && key != 127;
	} else if (key == 'x') {
		v->quit = true;
	} else if (key == ' ') {
		v->paused = !v->paused;
	} else if (key == '\r' || key == '\n') {
		v->open = s->n != 0;
		if (v->open)
			v->one = s->row[v->chosen];
	} else if (!top_view_key_sorts(v, key)) {
		top_view_key_moves(v, s, key);
	}
}

size_t top_view_parse_key(const char *text, size_t n, int *key)
{
	static const struct {
		const char *text;
		int key;
	} sequences[] = {{"\033[A", TOP_KEY_UP}, {"\033[B", TOP_KEY_DOWN}, {"\033OA", TOP_KEY_UP},
		{"\033OB", TOP_KEY_DOWN}, {"\033[5~", TOP_KEY_PAGE_UP},
		{"\033[6~", TOP_KEY_PAGE_DOWN}, {"\033[H", TOP_KEY_HOME}, {"\033[F", TOP_KEY_END},
		{"\033[1~", TOP_KEY_HOME}, {"\033[4~", TOP_KEY_END}};

	if (n == 0)
		return 0;
	for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
		size_t len = strlen(sequences[i].text);

		if (n >= len && memcmp(text, sequences[i].text, len) == 0) {
			*key = sequences[i].key;
			return len;
		}
	}
	*key = (unsigned char)text[0];
	if (text[0] != '\033' || n == 1 || (text[1] != '[' && text[1] != 'O'))
		return 1;
	/* Some other key's sequence, up to its final byte. */
	*key = TOP_KEY_NONE;
	for (size_t i = 2; i < n; i++)
		if (text[i] >= 0x40 && text[i] <= 0x7e)
			return i + 1;
	return n;
}

/* ---- the screen -------------------------------------------------------------------------- */

static void top_view_line(
	const struct top_view *v, FILE *out, const char *attribute, const char *text)
{
	fprintf(out, "%s%.*s%s" TOP_ERASE_LINE "\r\n", attribute, (int)v->columns, text,
		*attribute ? TOP_PLAIN : "");
}

static void top_view_row(
	const struct top_view *v, FILE *out, const struct telemetry_row *r, bool chosen)
{
	char bytes_out[STAT_PRINT_SCALED], bytes_in[STAT_PRINT_SCALED], ops[STAT_PRINT_SCALED];
	char rtt[STAT_PRINT_SCALED], cwnd[STAT_PRINT_SCALED], queued[STAT_PRINT_SCALED];
	char qp[12] = "-", text[512], process[TELEMETRY_NAME];

	if (r->qp)
		snprintf(qp, sizeof qp, "%" PRIu32, r->qp);
	snprintf(text, sizeof text,
		"%7s %-12.12s %8s %-11.11s %-22s %8s %8s %7s %8s %7s %7s %7" PRIu64 " %5" PRIu32,
		telemetry_row_process(r, process), r->program, qp, r->state,
		r->connected ? r->remote : "-", stat_print_scaled(r->bytes_out_rate, bytes_out),
		stat_print_scaled(r->bytes_in_rate, bytes_in),
		stat_print_scaled(r->operation_rate, ops), stat_print_time(r->srtt, rtt),
		stat_print_scaled((double)r->cwnd, cwnd),
		stat_print_scaled((double)r->queued, queued), r->retransmits, r->send_depth);
	top_view_line(v, out, chosen ? TOP_REVERSE : "", text);
}

static void top_view_table(const struct top_view *v, const struct telemetry_sample *s, FILE *out)
{
	static const char *const sorts[TOP_SORTS] = {
		"bytes", "operations", "RTT", "retransmits", "queued", "process"};
	size_t height = top_view_height(v);
	char text[512];

	snprintf(text, sizeof text, "uiwarp: %u processes, %zu QPs and connections, by %s%s%s",
		s->processes, s->n, sorts[v->sort], v->ascending ? ", least first" : "",
		v->paused ? ", paused" : "");
	top_view_line(v, out, TOP_BOLD, text);
	top_view_line(v, out, "", "");
	snprintf(text, sizeof text, "%7s %-12s %8s %-11s %-22s %8s %8s %7s %8s %7s %7s %7s %5s",
		"PID", "PROGRAM", "QP", "STATE", "REMOTE", "OUT B/s", "IN B/s", "OP/s", "RTT",
		"CWND", "QUEUED", "RETRANS", "DEPTH");
	top_view_line(v, out, TOP_BOLD, text);
	for (size_t i = 0; i < height; i++) {
		if (v->first + i < s->n)
			top_view_row(v, out, &s->row[v->first + i], v->first + i == v->chosen);
		else
			top_view_line(v, out, "", "");
	}
}

static void top_view_field(const struct top_view *v, FILE *out, const char *name,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static void top_view_field(
	const struct top_view *v, FILE *out, const char *name, const char *format, ...)
{
	char value[256], text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof value, format, args);
	va_end(args);
	snprintf(text, sizeof text, "  %-24s %s", name, value);
	top_view_line(v, out, "", text);
}

static void top_view_one(const struct top_view *v, const struct telemetry_sample *s, FILE *out)
{
	const struct telemetry_row *r = &v->one;
	char text[STAT_PRINT_SCALED], process[TELEMETRY_NAME];
	bool there = false;

	for (size_t i = 0; i < s->n && !there; i++)
		there = top_view_same(&s->row[i], r);
	top_view_line(v, out, TOP_BOLD, there ? "uiwarp: one connection" : "uiwarp: it has gone");
	top_view_line(v, out, "", "");
	top_view_field(v, out, "process", "%s %s", telemetry_row_process(r, process), r->program);
	top_view_field(v, out, "device", "%s", r->device);
	if (r->qp)
		top_view_field(v, out, "QP", "%" PRIu32 ", %s", r->qp, r->state);
	top_view_field(v, out, "connection", "%s - %s", r->local, r->remote);
	top_view_field(v, out, "congestion control", "%s", r->cc);
	top_view_field(v, out, "bytes out per second", "%.0f", r->bytes_out_rate);
	top_view_field(v, out, "bytes in per second", "%.0f", r->bytes_in_rate);
	top_view_field(v, out, "operations per second", "%.0f", r->operation_rate);
	top_view_field(v, out, "bytes acknowledged", "%" PRIu64, r->bytes_acked);
	top_view_field(v, out, "bytes received", "%" PRIu64, r->bytes_received);
	top_view_field(v, out, "RTT", "%s", stat_print_time(r->srtt, text));
	top_view_field(v, out, "least RTT", "%s", stat_print_time(r->min_rtt, text));
	top_view_field(v, out, "congestion window", "%" PRIu64, r->cwnd);
	top_view_field(v, out, "MSS", "%" PRIu64, r->mss);
	top_view_field(v, out, "pacing rate", "%" PRIu64, r->pacing_rate);
	top_view_field(v, out, "queued to send", "%" PRIu64, r->queued);
	top_view_field(v, out, "received, not taken", "%" PRIu64, r->unread);
	top_view_field(v, out, "retransmits", "%" PRIu64, r->retransmits);
	top_view_field(v, out, "time-outs", "%" PRIu64, r->timeouts);
	top_view_field(v, out, "out of order", "%" PRIu64, r->out_of_order);
	top_view_field(v, out, "sends, receives posted", "%" PRIu32 ", %" PRIu32, r->send_depth,
		r->receive_depth);
}

static void top_view_keys(const struct top_view *v, FILE *out)
{
	top_view_line(v, out, TOP_BOLD, "uiwarp: keys");
	top_view_line(v, out, "", "");
	top_view_field(v, out, "b o l r q p", "%s",
		"sort by bytes, operations, latency (RTT), retransmits, queued, process");
	top_view_field(v, out, "the same again", "%s", "turn the order round");
	top_view_field(v, out, "arrows, j k, Page", "%s", "move");
	top_view_field(v, out, "Enter", "%s", "open a connection; again: back");
	top_view_field(v, out, "Space", "%s", "pause, or go on");
	top_view_field(v, out, "x", "%s", "back, or quit");
	top_view_field(v, out, "Q, Ctrl-C", "%s", "quit");
}

/** As many of @p lines as the terminal has room for: with more it would scroll at each screen. */
static void top_view_put(const struct top_view *v, const char *lines, const char *footer, FILE *out)
{
	unsigned left = v->rows > 1 ? v->rows - 1 : 0;
	const char *end;

	fputs(TOP_HOME, out);
	for (; left && (end = strstr(lines, "\r\n")) != NULL; left--) {
		fwrite(lines, 1, (size_t)(end - lines) + 2, out);
		lines = end + 2;
	}
	if (left && (v->help || v->open))
		fputs(TOP_ERASE_LINE "\r\n", out);
	fprintf(out, "%.*s" TOP_ERASE_LINE TOP_ERASE_REST, (int)v->columns, footer);
}

void top_view_draw(const struct top_view *v, const struct telemetry_sample *s, FILE *out)
{
	const char *footer;
	char *lines = NULL;
	size_t len;
	FILE *page = open_memstream(&lines, &len);

	if (!page)
		return;
	if (v->help) {
		top_view_keys(v, page);
		footer = "any key: back";
	} else if (v->open) {
		top_view_one(v, s, page);
		footer = "x, Esc or Enter: back";
	} else {
		top_view_table(v, s, page);
		footer = "x quit  Enter open  b o l r q p sort  Space pause  ? help";
	}
	if (fclose(page) == 0)
		top_view_put(v, lines, footer, out);
	free(lines);
}
