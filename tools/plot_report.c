/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/plot_report.h"

#include "base/html_page.h"
#include "base/plot.h"
#include "tools/stat_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <time.h>

/** What is drawn: panels, and their series in the order of enum plot_record_value. */
enum { PANEL_GOODPUT, PANEL_RTT, PANEL_WINDOW, PANEL_AGAIN, PANEL_DEPTH, PLOT_REPORT_PANELS };

static const struct plot_report_series {
	unsigned panel;
	const char *name;
	enum plot_kind kind;
	unsigned color;
} plot_report_series[PLOT_RECORD_VALUES] = {
	[PLOT_RECORD_ACKED] = {PANEL_GOODPUT, "out", PLOT_STEPS, 0},
	[PLOT_RECORD_RECEIVED] = {PANEL_GOODPUT, "in", PLOT_STEPS, 2},
	[PLOT_RECORD_SRTT] = {PANEL_RTT, "smoothed", PLOT_LINE, 0},
	[PLOT_RECORD_MIN_RTT] = {PANEL_RTT, "least", PLOT_LINE, 5},
	[PLOT_RECORD_CWND] = {PANEL_WINDOW, "congestion window", PLOT_LINE, 0},
	[PLOT_RECORD_QUEUED] = {PANEL_WINDOW, "queued to send", PLOT_LINE, 4},
	[PLOT_RECORD_UNREAD] = {PANEL_WINDOW, "received, not taken", PLOT_LINE, 2},
	[PLOT_RECORD_RETRANSMITS] = {PANEL_AGAIN, "segments sent again", PLOT_STEPS, 1},
	[PLOT_RECORD_TIMEOUTS] = {PANEL_AGAIN, "time-outs", PLOT_STEPS, 5},
	[PLOT_RECORD_SENDS] = {PANEL_DEPTH, "send queue", PLOT_LINE, 0},
	[PLOT_RECORD_RECEIVES] = {PANEL_DEPTH, "receive queue", PLOT_LINE, 2},
};

static const char *const plot_report_labels[PLOT_REPORT_PANELS] = {
	[PANEL_GOODPUT] = "goodput, Mbit/s",
	[PANEL_RTT] = "RTT, us",
	[PANEL_WINDOW] = "KB",
	[PANEL_AGAIN] = "since the record began",
	[PANEL_DEPTH] = "requests",
};

/** Of bytes: the rate from each point to the next, in Mbit/s. A count that goes back began anew. */
static void plot_report_rates(struct plot_points *p)
{
	if (p->n > 0)
		p->n--;
	for (size_t i = 0; i < p->n; i++) {
		double seconds = p->x[i + 1] - p->x[i];

		p->y[i] = seconds > 0 ? fmax(p->y[i + 1] - p->y[i], 0) * 8 / 1e6 / seconds : NAN;
	}
	/* The last step has its length, too. */
	if (p->n > 0) {
		p->y[p->n] = p->y[p->n - 1];
		p->n++;
	}
}

/** Of a count: what has come since the first point. */
static void plot_report_growth(struct plot_points *p)
{
	double first = p->n > 0 ? p->y[0] : 0;

	for (size_t i = 0; i < p->n; i++)
		p->y[i] = fmax(p->y[i] - first, 0);
}

/** The name of a connection, for people. */
static void plot_report_name(const struct telemetry_row *r, char *text, size_t size)
{
	char process[TELEMETRY_NAME], qp[24] = "";

	if (r->qp)
		snprintf(qp, sizeof qp, "QP %" PRIu32 ", ", r->qp);
	snprintf(text, size, "%s (%s), %s%s - %s", r->program, telemetry_row_process(r, process),
		qp, r->local, r->remote);
}

static void plot_report_connection(FILE *out, struct plot_record_connection *c, const char *title)
{
	struct plot_panel panel[PLOT_REPORT_PANELS] = {{.n = 0}};

	plot_report_rates(&c->value[PLOT_RECORD_ACKED]);
	plot_report_rates(&c->value[PLOT_RECORD_RECEIVED]);
	plot_report_growth(&c->value[PLOT_RECORD_RETRANSMITS]);
	plot_report_growth(&c->value[PLOT_RECORD_TIMEOUTS]);
	for (unsigned i = 0; i < PLOT_RECORD_VALUES; i++) {
		const struct plot_report_series *s = &plot_report_series[i];
		struct plot_panel *p = &panel[s->panel];

		p->series[p->n++] = (struct plot_series){
			s->name, s->kind, s->color, c->value[i].n, c->value[i].x, c->value[i].y};
	}
	for (unsigned i = 0; i < PLOT_REPORT_PANELS; i++)
		panel[i].label = plot_report_labels[i];
	/* A connection without a QP has no such queues. */
	plot_print(out, title, "seconds since the record began", c->begin, c->end, panel,
		c->first.qp ? PLOT_REPORT_PANELS : PANEL_DEPTH);
}

static void plot_report_cell(FILE *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void plot_report_cell(FILE *out, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fputs("<td>", out);
	html_page_text(out, text);
	fputs("</td>", out);
}

/** Bytes per second from @p first to @p last. */
static const char *plot_report_rate(
	const struct plot_record_connection *c, uint64_t first, uint64_t last, char *text)
{
	double seconds = c->end - c->begin;

	return seconds > 0 && last >= first
		       ? stat_print_scaled((double)(last - first) / seconds, text)
		       : "-";
}

static void plot_report_line(
	FILE *out, unsigned number, const struct plot_record_connection *c, const char *title)
{
	const struct telemetry_row *a = &c->first, *b = &c->last;
	char text[STAT_PRINT_SCALED];

	fprintf(out, "<tr><td><a href='#c%u'>", number);
	html_page_text(out, title);
	fputs("</a></td>", out);
	plot_report_cell(out, "%s", b->state);
	plot_report_cell(out, "%.10g - %.10g", c->begin, c->end);
	plot_report_cell(out, "%s", plot_report_rate(c, a->bytes_acked, b->bytes_acked, text));
	plot_report_cell(
		out, "%s", plot_report_rate(c, a->bytes_received, b->bytes_received, text));
	plot_report_cell(out, "%s", stat_print_time(b->min_rtt, text));
	plot_report_cell(out, "%" PRIu64,
		b->retransmits > a->retransmits ? b->retransmits - a->retransmits : 0);
	plot_report_cell(out, "%s", b->cc);
	fputs("</tr>\n", out);
}

static void plot_report_head(FILE *out, const struct plot_record *p, double begun)
{
	time_t seconds = begun < 1e11 ? (time_t)begun : 0;
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(out, "<p>Recorded from %s on. Rates are of bytes of TCP's payload.</p>\n", text);
	if (p->more)
		fprintf(out, "<p>There are more: only the first %d are shown.</p>\n",
			PLOT_RECORD_CONNECTIONS);
	fputs("<table>\n<tr><th>connection</th><th>state</th><th>seconds</th><th>out B/s</th>"
	      "<th>in B/s</th><th>least RTT</th><th>sent again</th><th>CC</th></tr>\n",
		out);
}

void plot_report_write(FILE *out, struct plot_record *p, const char *name, double begun)
{
	char title[300];

	html_page_begin(out, "Connections in", name);
	plot_report_head(out, p, begun);
	for (unsigned i = 0; i < p->n; i++) {
		plot_report_name(&p->connection[i].first, title, sizeof title);
		plot_report_line(out, i + 1, &p->connection[i], title);
	}
	fputs("</table>\n", out);
	for (unsigned i = 0; i < p->n; i++) {
		plot_report_name(&p->connection[i].first, title, sizeof title);
		fprintf(out, "<div id='c%u'>\n", i + 1);
		plot_report_connection(out, &p->connection[i], title);
		fputs("</div>\n", out);
	}
	html_page_end(out);
}
