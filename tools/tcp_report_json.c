/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_report_json.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/** Print @p o, which jansson makes NULL when memory is short, and free it. */
static void tcp_report_json_emit(json_t *o)
{
	if (!o || json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(10)) != 0)
		fputs("{\"event\":\"error\",\"error\":\"no memory\"}", stdout);
	putchar('\n');
	json_decref(o);
}

static json_t *tcp_report_json_endpoint(const struct ip_endpoint *e)
{
	char text[IP_ADDR_STRLEN];

	return json_pack(
		"{s:s, s:i}", "address", ip_addr_format(&e->addr, text), "port", (int)e->port);
}

static json_t *tcp_report_json_integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/** All numbers of struct tcp_info; rates in bytes per second. */
static const struct {
	const char *name;
	size_t offset, size;
} tcp_report_json_numbers[] = {
#define NUMBER(key, field)                                                                 \
	{                                                                                  \
		key, offsetof(struct tcp_info, field), sizeof((struct tcp_info *)0)->field \
	}
	NUMBER("srtt_ns", srtt),
	NUMBER("rttvar_ns", rttvar),
	NUMBER("rto_ns", rto),
	NUMBER("min_rtt_ns", min_rtt),
	NUMBER("reo_wnd_ns", reo_wnd),
	NUMBER("cwnd", cwnd),
	NUMBER("ssthresh", ssthresh),
	NUMBER("snd_wnd", snd_wnd),
	NUMBER("rcv_wnd", rcv_wnd),
	NUMBER("send_buffer", send_buffer),
	NUMBER("receive_buffer", receive_buffer),
	NUMBER("emss", emss),
	NUMBER("mtu", mtu),
	NUMBER("flight", flight),
	NUMBER("lost", lost),
	NUMBER("sacked", sacked),
	NUMBER("pacing_rate", pacing_rate),
	NUMBER("delivery_rate", delivery_rate),
	NUMBER("bandwidth", bandwidth),
	NUMBER("bytes_sent", bytes_sent),
	NUMBER("bytes_acked", bytes_acked),
	NUMBER("bytes_received", bytes_received),
	NUMBER("segments_out", segments_out),
	NUMBER("segments_in", segments_in),
	NUMBER("retransmits", retransmits),
	NUMBER("timeouts", timeouts),
	NUMBER("fast_recoveries", fast_recoveries),
	NUMBER("out_of_order", out_of_order),
	NUMBER("tlp_probes", tlp_probes),
	NUMBER("dsacks", dsacks),
	NUMBER("spurious_recoveries", spurious_recoveries),
	NUMBER("spurious_timeouts", spurious_timeouts),
	NUMBER("ce_received", ce_received),
	NUMBER("ece_received", ece_received),
#undef NUMBER
};

static json_t *tcp_report_json_number(const struct tcp_info *i, size_t offset, size_t size)
{
	const char *at = (const char *)i + offset;
	uint64_t n64;
	uint32_t n32;

	if (size == sizeof n32) {
		memcpy(&n32, at, sizeof n32);
		return tcp_report_json_integer(n32);
	}
	memcpy(&n64, at, sizeof n64);
	return tcp_report_json_integer(n64);
}

static json_t *tcp_report_json_text(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *tcp_report_json_info(const struct tcp_info *i)
{
	json_t *o = json_pack("{s:o, s:o, s:o, s:b, s:b, s:b, s:b, s:b, s:b}", "state",
		tcp_report_json_text(i->state), "congestion_control",
		tcp_report_json_text(i->congestion_control), "phase",
		tcp_report_json_text(i->phase), "timestamps", i->timestamps, "sack", i->sack,
		"window_scale", i->window_scale, "ecn", i->ecn, "reordering_seen",
		i->reordering_seen, "app_limited", i->app_limited);

	for (size_t k = 0; k < sizeof tcp_report_json_numbers / sizeof tcp_report_json_numbers[0];
		k++)
		json_object_set_new(o, tcp_report_json_numbers[k].name,
			tcp_report_json_number(i, tcp_report_json_numbers[k].offset,
				tcp_report_json_numbers[k].size));
	return o;
}

static json_t *tcp_report_json_latency(const struct histogram *h)
{
	if (!h || !h->count)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count",
		tcp_report_json_integer(h->count), "min_ns", tcp_report_json_integer(h->min),
		"p50_ns", tcp_report_json_integer(histogram_quantile(h, 500000)), "p90_ns",
		tcp_report_json_integer(histogram_quantile(h, 900000)), "p99_ns",
		tcp_report_json_integer(histogram_quantile(h, 990000)), "p99.9_ns",
		tcp_report_json_integer(histogram_quantile(h, 999000)), "max_ns",
		tcp_report_json_integer(h->max));
}

static json_t *tcp_report_json_figures(
	const char *event, const struct tcp_stream *t, const struct tcp_figures *f)
{
	return json_pack("{s:s, s:i, s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:o, s:o}", "event", event,
		"stream", (int)t->id, "start", f->start, "end", f->end, "bytes",
		tcp_report_json_integer(f->bytes), "bits_per_second", f->bits_per_second,
		"messages", tcp_report_json_integer(f->messages), "retransmits",
		tcp_report_json_integer(f->retransmits), "timeouts",
		tcp_report_json_integer(f->timeouts), "out_of_order",
		tcp_report_json_integer(f->out_of_order), "tcp",
		tcp_report_json_info(&t->view.info));
}

void tcp_report_json_listening(const struct tcp_session *s)
{
	tcp_report_json_emit(json_pack("{s:s, s:o}", "event", "listening", "local",
		tcp_report_json_endpoint(&s->options->local)));
}

void tcp_report_json_connected(const struct tcp_stream *t)
{
	tcp_report_json_emit(json_pack("{s:s, s:i, s:o, s:o, s:o}", "event", "connected", "stream",
		(int)t->id, "local", tcp_report_json_endpoint(&t->local), "remote",
		tcp_report_json_endpoint(&t->remote), "tcp", tcp_report_json_info(&t->view.info)));
}

void tcp_report_json_interval(const struct tcp_stream *t, const struct tcp_figures *f)
{
	json_t *o = tcp_report_json_figures("interval", t, f);

	if (o && t->interval_latency)
		json_object_set_new(o, "latency", tcp_report_json_latency(t->interval_latency));
	tcp_report_json_emit(o);
}

void tcp_report_json_end(const struct tcp_stream *t, const struct tcp_figures *f, const char *error)
{
	json_t *o = tcp_report_json_figures("end", t, f);

	if (o && t->total_latency)
		json_object_set_new(o, "latency", tcp_report_json_latency(t->total_latency));
	if (o)
		json_object_set_new(o, "error", error ? json_string(error) : json_null());
	tcp_report_json_emit(o);
}

void tcp_report_json_total(const struct tcp_totals *totals, double cpu_seconds)
{
	tcp_report_json_emit(json_pack("{s:s, s:i, s:i, s:o, s:f, s:f}", "event", "total",
		"streams", (int)totals->streams, "failed", (int)totals->failed, "bytes",
		tcp_report_json_integer(totals->bytes), "bits_per_second", totals->bits_per_second,
		"cpu_seconds", cpu_seconds));
}
