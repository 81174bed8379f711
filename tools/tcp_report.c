/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_report.h"

#include "tools/tcp_report_json.h"
#include "tools/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/** Thresholds from here on are no limit: no window grows so far. */
#define SSTHRESH_ANY (1u << 30)

/* ---- what the numbers are ------------------------------------------------------------------- */

static uint64_t tcp_report_bytes_of(const struct tcp_stream *t, const struct tcp_view *v)
{
	if (t->traffic.cfg.role != TRAFFIC_SOURCE)
		return v->received;
	/* The FIN is acknowledged too. */
	return v->info.bytes_acked < v->sent ? v->info.bytes_acked : v->sent;
}

static double tcp_report_seconds_between(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) * 1e-9 : 0;
}

/** @p from NULL: from the beginning. */
static struct tcp_figures tcp_report_figures(
	const struct tcp_stream *t, const struct tcp_view *from, const struct tcp_view *to)
{
	uint64_t begin = t->traffic.connected_at;
	struct tcp_figures f = {
		.start = from ? tcp_report_seconds_between(begin, from->at) : 0,
		.end = to->connected ? tcp_report_seconds_between(begin, to->at) : 0,
		.bytes = tcp_report_bytes_of(t, to) - (from ? tcp_report_bytes_of(t, from) : 0),
		.messages = to->messages - (from ? from->messages : 0),
		.retransmits = to->info.retransmits - (from ? from->info.retransmits : 0),
		.timeouts = to->info.timeouts - (from ? from->info.timeouts : 0),
		.out_of_order = to->info.out_of_order - (from ? from->info.out_of_order : 0),
	};

	if (f.end > f.start)
		f.bits_per_second = (double)f.bytes * 8 / (f.end - f.start);
	return f;
}

/* ---- what went wrong ------------------------------------------------------------------------ */

static const char *tcp_report_reason(const struct tcp_stream *t)
{
	bool connected = t->traffic.connected;

	switch (t->traffic.error) {
	case -ECONNREFUSED:
		return "refused the connection: nothing listens there";
	case -ECONNRESET:
		return connected ? "reset the connection" : "reset the connection as it was made";
	case -ETIMEDOUT:
		return connected ? "stopped answering: the connection timed out"
				 : "does not answer: connecting timed out";
	case -EHOSTUNREACH:
		return "cannot be reached: no host answers for that address, or a router says so";
	case -ENETUNREACH:
		return "cannot be reached: a router knows no way to its network";
	default:
		return strerror(-t->traffic.error);
	}
}

/** @return false: all was well. Else a sentence without its subject, which is the peer. */
static bool tcp_report_complaint(
	const struct tcp_session *s, const struct tcp_stream *t, char *text, size_t len)
{
	const struct tcp_options *o = s->options;
	const struct traffic *f = &t->traffic;

	if (f->wrong)
		snprintf(text, len, "sent a wrong byte, number %llu of the stream",
			(unsigned long long)f->wrong_at);
	else if (f->ended && f->error)
		snprintf(text, len, "%s", tcp_report_reason(t));
	else if (t->aborted && !f->connected)
		snprintf(text, len, "did not answer before the end");
	else if (o->bytes && t->view.info.bytes_acked < o->bytes && !s->stopping && !o->time)
		snprintf(text, len, "acknowledged %llu bytes of %llu only",
			(unsigned long long)t->view.info.bytes_acked, (unsigned long long)o->bytes);
	else if (o->count && f->messages < o->count && !s->stopping && !o->time)
		snprintf(text, len, "answered %llu messages of %llu only",
			(unsigned long long)f->messages, (unsigned long long)o->count);
	else
		return false;
	return true;
}

static void tcp_report_name_peer(
	const struct tcp_session *s, const struct tcp_stream *t, char *text, size_t len)
{
	char address[IP_ADDR_STRLEN];

	if (t->remote.port)
		snprintf(text, len, "%s port %u", ip_addr_format(&t->remote.addr, address),
			t->remote.port);
	else
		snprintf(text, len, "%s port %u", s->options->host ? s->options->host : "the peer",
			s->options->port);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void tcp_report_print_endpoint(const char *before, const struct ip_endpoint *e)
{
	char text[IP_ADDR_STRLEN];

	printf("%s%s port %u", before, ip_addr_format(&e->addr, text), e->port);
}

static void tcp_report_print_connected(const struct tcp_stream *t)
{
	const struct tcp_info *i = &t->view.info;

	printf("[%3u] ", t->id);
	tcp_report_print_endpoint("", &t->local);
	tcp_report_print_endpoint(" connected to ", &t->remote);
	printf(", segments of %u B%s%s%s%s\n", i->emss, i->timestamps ? ", timestamps" : "",
		i->sack ? ", SACK" : "", i->window_scale ? ", window scale" : "",
		i->ecn ? ", ECN" : "");
}

static void tcp_report_print_interval(const struct tcp_stream *t, const struct tcp_figures *f)
{
	const struct tcp_info *i = &t->view.info;
	char b[4][UNITS_LEN];

	printf("[%3u] %7.2f - %7.2f s  %10s  %11s", t->id, f->start, f->end,
		units_bytes(b[0], (double)f->bytes), units_rate(b[1], f->bits_per_second));
	switch (t->traffic.cfg.role) {
	case TRAFFIC_SOURCE:
		printf("  retransmitted %6llu  timeouts %2llu  srtt %9s  cwnd %9s\n",
			(unsigned long long)f->retransmits, (unsigned long long)f->timeouts,
			units_time(b[2], (double)i->srtt), units_bytes(b[3], i->cwnd));
		break;
	case TRAFFIC_PINGPONG:
		printf("  messages %8llu  median %9s  99%% %9s\n", (unsigned long long)f->messages,
			units_time(b[2], (double)histogram_quantile(t->interval_latency, 500000)),
			units_time(b[3], (double)histogram_quantile(t->interval_latency, 990000)));
		break;
	default:
		printf("  out of order %6llu  srtt %9s  window %9s\n",
			(unsigned long long)f->out_of_order, units_time(b[2], (double)i->srtt),
			units_bytes(b[3], i->rcv_wnd));
	}
}

static void tcp_report_print_latency(const struct histogram *h)
{
	static const struct {
		const char *name;
		uint32_t ppm;
	} q[] = {{"median", 500000}, {"90 %", 900000}, {"99 %", 990000}, {"99.9 %", 999000}};
	char b[UNITS_LEN];

	printf("      latency     least %s", units_time(b, (double)h->min));
	for (size_t i = 0; i < sizeof q / sizeof q[0]; i++)
		printf(", %s %s", q[i].name,
			units_time(b, (double)histogram_quantile(h, q[i].ppm)));
	printf(", most %s\n", units_time(b, (double)h->max));
}

/** As it was when the time was over: what drains afterwards says little. */
static void tcp_report_print_congestion(const struct tcp_info *i)
{
	char b[2][UNITS_LEN];

	printf("      congestion  %s%s%s, window %s, ",
		i->congestion_control ? i->congestion_control : "", i->phase ? ", " : "",
		i->phase ? i->phase : "", units_bytes(b[0], i->cwnd));
	printf("slow start %s%s", i->ssthresh < SSTHRESH_ANY ? "up to " : "without end",
		i->ssthresh < SSTHRESH_ANY ? units_bytes(b[0], i->ssthresh) : "");
	if (i->pacing_rate)
		printf(", paced at %s", units_rate(b[0], (double)i->pacing_rate * 8));
	if (i->delivery_rate)
		printf(", delivered at %s", units_rate(b[1], (double)i->delivery_rate * 8));
	if (i->ecn)
		printf(", %u ECN echoes", i->ece_received);
	putchar('\n');
}

static void tcp_report_print_buffers(const struct tcp_info *i)
{
	char b[4][UNITS_LEN];

	printf("      windows     peer's %s, ours %s; buffers %s to send, %s to receive\n",
		units_bytes(b[0], i->snd_wnd), units_bytes(b[1], i->rcv_wnd),
		units_bytes(b[2], i->send_buffer), units_bytes(b[3], i->receive_buffer));
}

static void tcp_report_print_segments(const struct tcp_info *i)
{
	printf("      segments    %llu sent, %llu retransmitted; %llu came, %llu out of order\n",
		(unsigned long long)i->segments_out, (unsigned long long)i->retransmits,
		(unsigned long long)i->segments_in, (unsigned long long)i->out_of_order);
	if (i->retransmits)
		printf("      recoveries  %llu (%llu needless), %llu timeouts (%llu needless), "
		       "%llu "
		       "tail probes%s\n",
			(unsigned long long)i->fast_recoveries,
			(unsigned long long)i->spurious_recoveries, (unsigned long long)i->timeouts,
			(unsigned long long)i->spurious_timeouts, (unsigned long long)i->tlp_probes,
			i->reordering_seen ? "; the path reorders" : "");
}

static void tcp_report_print_round_trip(const struct tcp_info *i)
{
	char b[4][UNITS_LEN];

	printf("      round trip  %s smoothed, varies by %s, least %s, timeout %s\n",
		units_time(b[0], (double)i->srtt), units_time(b[1], (double)i->rttvar),
		units_time(b[2], (double)i->min_rtt), units_time(b[3], (double)i->rto));
}

static void tcp_report_print_end(const struct tcp_stream *t, const struct tcp_figures *f)
{
	const struct tcp_info *i = &t->view.info;
	char b[2][UNITS_LEN];

	printf("[%3u] in all: %s in %.2f s, %s\n", t->id, units_bytes(b[0], (double)f->bytes),
		f->end, units_rate(b[1], f->bits_per_second));
	tcp_report_print_segments(i);
	if (i->srtt)
		tcp_report_print_round_trip(i);
	if (t->traffic.cfg.role != TRAFFIC_SINK)
		tcp_report_print_congestion(&t->result.info);
	tcp_report_print_buffers(&t->result.info);
	if (t->total_latency && t->total_latency->count)
		tcp_report_print_latency(t->total_latency);
}

/* ---- the interface -------------------------------------------------------------------------- */

void tcp_report_listening(const struct tcp_session *s)
{
	if (s->options->json) {
		tcp_report_json_listening(s);
	} else {
		tcp_report_print_endpoint("listening on ", &s->options->local);
		putchar('\n');
	}
	fflush(stdout);
}

void tcp_report_connected(const struct tcp_session *s, const struct tcp_stream *t)
{
	if (s->options->json)
		tcp_report_json_connected(t);
	else
		tcp_report_print_connected(t);
	fflush(stdout);
}

void tcp_report_interval(const struct tcp_session *s, const struct tcp_stream *t)
{
	struct tcp_figures f = tcp_report_figures(t, &t->start, &t->view);

	if (s->options->json)
		tcp_report_json_interval(t, &f);
	else
		tcp_report_print_interval(t, &f);
	fflush(stdout);
}

void tcp_report_end(
	const struct tcp_session *s, const struct tcp_stream *t, struct tcp_totals *totals)
{
	struct tcp_figures f = tcp_report_figures(t, NULL, &t->result);
	char text[128], peer[IP_ADDR_STRLEN + 16];
	bool failed = tcp_report_complaint(s, t, text, sizeof text);

	totals->streams++;
	totals->failed += failed;
	totals->bytes += f.bytes;
	totals->bits_per_second += f.bits_per_second;
	tcp_report_name_peer(s, t, peer, sizeof peer);
	if (s->options->json)
		tcp_report_json_end(t, &f, failed ? text : NULL);
	else if (t->traffic.connected)
		tcp_report_print_end(t, &f);
	fflush(stdout);
	if (failed)
		fprintf(stderr, "uiwarp tcp: %s %s\n", peer, text);
}

static double tcp_report_cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

void tcp_report_total(const struct tcp_session *s, const struct tcp_totals *totals)
{
	char b[2][UNITS_LEN];

	if (s->options->json)
		tcp_report_json_total(totals, tcp_report_cpu_seconds());
	else if (totals->streams > 1)
		printf("[all] %u connections, %s, %s\n", totals->streams,
			units_bytes(b[0], (double)totals->bytes),
			units_rate(b[1], totals->bits_per_second));
	fflush(stdout);
}
