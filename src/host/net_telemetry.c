/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/net_telemetry.h"

#include "base/number.h"
#include "dpdk-port/capture.h"
#include "esp/boundary.h"
#include "host/config_text.h"
#include "host/counters.h"
#include "host/net_priv.h"
#include "sock/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Log lines in one answer. */
#define NET_TELEMETRY_LINES STACK_LOG_KEPT

static void net_telemetry_error(struct json_text *j, const char *text)
{
	json_text_object(j, NULL);
	json_text_string(j, "error", text);
	json_text_object_end(j);
}

/* ---- /uiwarp/info ------------------------------------------------------------------------ */

static void net_telemetry_program(struct json_text *j)
{
	char comm[64] = "";
	FILE *f = fopen("/proc/self/comm", "re");

	if (f && fgets(comm, sizeof comm, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	json_text_string(j, "program", comm);
}

static void net_telemetry_addresses(const struct config *c, struct json_text *j)
{
	char text[IP_ADDR_STRLEN];

	json_text_array(j, "addresses");
	for (unsigned i = 0; i < c->num_addresses; i++)
		json_text_string(j, NULL, ip_addr_format(&c->address[i].addr, text));
	json_text_array_end(j);
}

static void net_telemetry_own_costs(const struct net *n, struct json_text *j)
{
	struct telemetry_costs costs = telemetry_costs(n->telemetry);

	json_text_object(j, "telemetry");
	json_text_number(j, "requests", costs.requests);
	json_text_number(j, "slices", costs.slices);
	json_text_number(j, "longest_hold_ns", costs.longest_hold);
	json_text_number(j, "longest_elapsed_ns", costs.longest_elapsed);
	json_text_number(j, "long_holds", costs.long_holds);
	json_text_number(j, "cpu_ns", costs.cpu);
	json_text_object_end(j);
}

static void net_telemetry_read_link(void *ctx, void *copy)
{
	struct net *n = ctx;

	*(bool *)copy = n->ops->link(n, NULL);
}

static void net_telemetry_write_info(void *ctx, const void *copy, struct json_text *j)
{
	struct net *n = ctx;
	uint8_t mac[6];
	char text[32];

	net_mac(n, mac);
	snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		mac[4], mac[5]);
	json_text_object(j, NULL);
	json_text_string(j, "version", UIWARP_VERSION);
	json_text_number(j, "pid", (uint64_t)getpid());
	net_telemetry_program(j);
	json_text_string(j, "device", n->config.name);
	json_text_string(j, "port", n->config.port);
	net_telemetry_addresses(&n->config, j);
	json_text_string(j, "mac", text);
	json_text_number(j, "mtu", net_mtu(n));
	json_text_bool(j, "link_up", *(const bool *)copy);
	json_text_number(j, "slot", n->config.slot);
	json_text_number(j, "started_ns", n->started);
	json_text_number(j, "uptime_ns", net_now(n) - n->started);
	json_text_string(j, "log_level", stack_log_level_name(n->log.sink.max_level));
	json_text_string(j, "capture", *n->capture_path ? n->capture_path : NULL);
	net_telemetry_own_costs(n, j);
	json_text_object_end(j);
}

static const struct telemetry_reading net_telemetry_info = {
	.size = sizeof(bool),
	.read = net_telemetry_read_link,
	.write = net_telemetry_write_info,
};

/* ---- /uiwarp/connections ----------------------------------------------------------------- */

static void net_telemetry_endpoint(
	struct json_text *j, const char *key, const struct ip_endpoint *e)
{
	char text[IP_ENDPOINT_STRLEN];

	json_text_string(j, key, ip_endpoint_format(e, text));
}

static enum walk net_telemetry_tcp_step(void *ctx, void *cursor, void *item)
{
	struct net *n = ctx;

	return tcp_connection_walk(n->tcp, cursor, item);
}

static void net_telemetry_tcp_traffic(const struct tcp_info *i, struct json_text *j)
{
	json_text_number(j, "bytes_sent", i->bytes_sent);
	json_text_number(j, "bytes_acked", i->bytes_acked);
	json_text_number(j, "bytes_received", i->bytes_received);
	json_text_number(j, "segments_out", i->segments_out);
	json_text_number(j, "segments_in", i->segments_in);
	json_text_number(j, "retransmits", i->retransmits);
	json_text_number(j, "timeouts", i->timeouts);
	json_text_number(j, "fast_recoveries", i->fast_recoveries);
	json_text_number(j, "out_of_order", i->out_of_order);
	json_text_number(j, "dsacks", i->dsacks);
	json_text_number(j, "tlp_probes", i->tlp_probes);
	json_text_number(j, "spurious_recoveries", i->spurious_recoveries);
	json_text_number(j, "spurious_timeouts", i->spurious_timeouts);
	json_text_number(j, "ce_received", i->ce_received);
	json_text_number(j, "ece_received", i->ece_received);
}

static void net_telemetry_tcp_format(void *ctx, const void *item, struct json_text *j)
{
	const struct tcp_walk_item *c = item;
	const struct tcp_info *i = &c->info;

	net_telemetry_endpoint(j, "local", &c->local);
	net_telemetry_endpoint(j, "remote", &c->remote);
	json_text_string(j, "state", i->state);
	json_text_string(j, "congestion_control", i->congestion_control);
	json_text_string(j, "phase", i->phase);
	json_text_string(j, "ca_state", i->ca_state);
	json_text_number(j, "srtt_ns", i->srtt);
	json_text_number(j, "rttvar_ns", i->rttvar);
	json_text_number(j, "min_rtt_ns", i->min_rtt);
	json_text_number(j, "rto_ns", i->rto);
	json_text_number(j, "cwnd", i->cwnd);
	json_text_number(j, "ssthresh", i->ssthresh);
	json_text_number(j, "snd_wnd", i->snd_wnd);
	json_text_number(j, "rcv_wnd", i->rcv_wnd);
	json_text_number(j, "mss", i->emss);
	json_text_number(j, "mtu", i->mtu);
	json_text_number(j, "flight", i->flight);
	json_text_number(j, "lost", i->lost);
	json_text_number(j, "sacked", i->sacked);
	json_text_number(j, "queued", c->queued);
	json_text_number(j, "unread", c->unread);
	json_text_number(j, "send_buffer", i->send_buffer);
	json_text_number(j, "receive_buffer", i->receive_buffer);
	json_text_number(j, "pacing_rate", i->pacing_rate);
	json_text_number(j, "delivery_rate", i->delivery_rate);
	net_telemetry_tcp_traffic(i, j);
	json_text_bool(j, "timestamps", i->timestamps);
	json_text_bool(j, "sack", i->sack);
	json_text_bool(j, "window_scale", i->window_scale);
	json_text_bool(j, "ecn", i->ecn);
}

static const struct telemetry_list net_telemetry_tcp = {
	.item_size = sizeof(struct tcp_walk_item),
	.step = net_telemetry_tcp_step,
	.format = net_telemetry_tcp_format,
};

static void net_telemetry_sock_begin(void *ctx)
{
	struct net *n = ctx;

	sock_walk_begin(n->sock);
}

static enum walk net_telemetry_sock_step(void *ctx, void *cursor, void *item)
{
	struct net *n = ctx;

	return sock_walk(n->sock, item);
}

/** The same names as of our own TCP, as far as the kernel tells. */
static void net_telemetry_sock_format(void *ctx, const void *item, struct json_text *j)
{
	const struct sock_walk_item *c = item;

	net_telemetry_endpoint(j, "local", &c->local);
	net_telemetry_endpoint(j, "remote", &c->remote);
	json_text_string(j, "state", c->state);
	json_text_string(j, "congestion_control", c->congestion_control);
	json_text_string(j, "ca_state", c->ca_state);
	json_text_number(j, "srtt_ns", c->srtt);
	json_text_number(j, "rttvar_ns", c->rttvar);
	json_text_number(j, "min_rtt_ns", c->min_rtt);
	json_text_number(j, "rto_ns", c->rto);
	json_text_number(j, "cwnd", c->cwnd);
	json_text_number(j, "ssthresh", c->ssthresh);
	json_text_number(j, "snd_wnd", c->snd_wnd);
	json_text_number(j, "mss", c->emss);
	json_text_number(j, "flight", c->flight);
	json_text_number(j, "queued", c->queued);
	json_text_number(j, "unread", c->unread);
	json_text_number(j, "pacing_rate", c->pacing_rate);
	json_text_number(j, "delivery_rate", c->delivery_rate);
	json_text_number(j, "bytes_sent", c->bytes_sent);
	json_text_number(j, "bytes_acked", c->bytes_acked);
	json_text_number(j, "bytes_received", c->bytes_received);
	json_text_number(j, "segments_out", c->segments_out);
	json_text_number(j, "segments_in", c->segments_in);
	json_text_number(j, "retransmits", c->retransmits);
	json_text_number(j, "out_of_order", c->out_of_order);
	json_text_number(j, "dsacks", c->dsacks);
}

static const struct telemetry_list net_telemetry_sock = {
	.item_size = sizeof(struct sock_walk_item),
	.begin = net_telemetry_sock_begin,
	.step = net_telemetry_sock_step,
	.format = net_telemetry_sock_format,
};

/* ---- /uiwarp/stats ----------------------------------------------------------------------- */

/** Copies of the layers' counters, as far as there are such layers. */
struct net_telemetry_stats {
	const void *layer[COUNTERS_LAYERS];
	struct port_stats port;
	struct ip_stats ip;
	struct esp_stats esp;
	struct tcp_stats tcp;
	struct sock_stats sock;
	struct tls_stats tls;
	struct engine_thread_stats engine;
	uint64_t missed; /**< by the port */
};

static void net_telemetry_read_stats(void *ctx, void *copy)
{
	struct net_telemetry_stats *s = copy;
	const struct net *n = ctx;

	if (n->port) {
		s->port = *port_get_stats(n->port);
		s->missed = port_rx_missed(n->port);
		s->ip = *ip_stack_stats(n->ip);
		s->tcp = *tcp_stack_stats(n->tcp);
		s->layer[COUNTERS_PORT] = &s->port;
		s->layer[COUNTERS_IP] = &s->ip;
		s->layer[COUNTERS_TCP] = &s->tcp;
	}
	if (n->esp) {
		s->esp = *esp_boundary_stats(n->esp);
		s->layer[COUNTERS_ESP] = &s->esp;
	}
	if (n->sock) {
		s->sock = *sock_stack_stats(n->sock);
		s->layer[COUNTERS_SOCK] = &s->sock;
	}
	if (n->tls) {
		s->tls = *tls_stack_stats(n->tls);
		s->layer[COUNTERS_TLS] = &s->tls;
	}
	s->engine = engine_thread_stats(n->thread);
	s->layer[COUNTERS_ENGINE] = &s->engine;
}

static void net_telemetry_layer(
	const struct net_telemetry_stats *s, enum counters_layer layer, struct json_text *j)
{
	if (!s->layer[layer])
		return;
	json_text_object(j, counters_layer_name(layer));
	for (unsigned i = 0; i < counters_count; i++)
		if (counters[i].layer == layer)
			json_text_number(
				j, counters[i].name, counters_value(&counters[i], s->layer[layer]));
	if (layer == COUNTERS_PORT)
		json_text_number(j, "rx_missed", s->missed);
	json_text_object_end(j);
}

static void net_telemetry_drops(const struct net_telemetry_stats *s, struct json_text *j)
{
	char reason[64];

	json_text_object(j, "drops");
	for (unsigned i = 0; i < counters_count; i++) {
		const struct counter *c = &counters[i];

		if (!c->drop || !s->layer[c->layer])
			continue;
		snprintf(reason, sizeof reason, "%s_%s", counters_layer_name(c->layer), c->name);
		json_text_number(j, reason, counters_value(c, s->layer[c->layer]));
	}
	if (s->layer[COUNTERS_PORT])
		json_text_number(j, "port_rx_missed", s->missed);
	json_text_object_end(j);
}

static void net_telemetry_write_stats(void *ctx, const void *copy, struct json_text *j)
{
	const struct net_telemetry_stats *s = copy;

	json_text_object(j, NULL);
	for (unsigned i = 0; i < COUNTERS_LAYERS; i++)
		net_telemetry_layer(s, (enum counters_layer)i, j);
	net_telemetry_drops(s, j);
	json_text_object_end(j);
}

static const struct telemetry_reading net_telemetry_stats = {
	.size = sizeof(struct net_telemetry_stats),
	.read = net_telemetry_read_stats,
	.write = net_telemetry_write_stats,
};
_Static_assert(sizeof(struct net_telemetry_stats) <= TELEMETRY_READING, "it has room");

/* ---- /uiwarp/config and /uiwarp/log ------------------------------------------------------ */

static void net_telemetry_config(void *ctx, const char *parameters, struct json_text *j)
{
	char text[CONFIG_VALUE_TEXT];
	struct net *n = ctx;

	json_text_object(j, NULL);
	for (unsigned i = 0; i < config_num_keys; i++) {
		const char *value = config_value_show(&n->config, &config_keys[i], text);

		if (value)
			json_text_string(j, config_keys[i].name, value);
	}
	json_text_object_end(j);
}

static bool net_telemetry_set_level(struct net *n, const char *name)
{
	for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++)
		if (strcmp(name, stack_log_level_name((enum log_level)level)) == 0) {
			stack_log_set_level(&n->log, (enum log_level)level);
			return true;
		}
	return false;
}

static void net_telemetry_log(void *ctx, const char *parameters, struct json_text *j)
{
	struct stack_log_entry e;
	struct net *n = ctx;
	uint64_t lines;

	if (*parameters != '\0' && !net_telemetry_set_level(n, parameters)) {
		net_telemetry_error(j, "expected error, warning, info or debug");
		return;
	}
	lines = stack_log_lines(&n->log);
	json_text_object(j, NULL);
	json_text_string(j, "level", stack_log_level_name(n->log.sink.max_level));
	json_text_number(j, "total", lines);
	json_text_array(j, "lines");
	for (uint64_t i = lines > NET_TELEMETRY_LINES ? lines - NET_TELEMETRY_LINES : 0; i < lines;
		i++) {
		if (!stack_log_get(&n->log, i, &e))
			continue;
		json_text_object(j, NULL);
		json_text_number(j, "time_ns", e.time);
		json_text_string(j, "level", stack_log_level_name(e.level));
		json_text_string(j, "text", e.text);
		json_text_object_end(j);
	}
	json_text_array_end(j);
	json_text_object_end(j);
}

/* ---- /uiwarp/capture --------------------------------------------------------------------- */

/** A number and a comma. @return what follows, or NULL. */
static const char *net_telemetry_number(const char *s, uint64_t min, uint64_t max, uint64_t *n)
{
	const char *comma = strchr(s, ',');
	char digits[24];

	if (!comma || (size_t)(comma - s) >= sizeof digits)
		return NULL;
	snprintf(digits, sizeof digits, "%.*s", (int)(comma - s), s);
	return number_parse(digits, min, max, n) ? comma + 1 : NULL;
}

/** "SIZE,FILES,PATH", or "off". @return 0 or a negative errno with @p e filled in. */
static int net_telemetry_set_capture(struct net *n, const char *parameters, struct config_error *e)
{
	const char *rest;
	uint64_t size, files;

	if (strcmp(parameters, "off") == 0)
		return net_set_capture(n, "", 0, 0, e);
	rest = net_telemetry_number(parameters, 0, UINT64_C(1) << 50, &size);
	if (rest)
		rest = net_telemetry_number(rest, 1, NET_CAPTURE_FILES, &files);
	if (rest && *rest == '/')
		return net_set_capture(n, rest, size, (unsigned)files, e);
	snprintf(e->text, sizeof e->text,
		"expected \"off\", or SIZE,FILES,PATH with 1 to %d files and an absolute path",
		NET_CAPTURE_FILES);
	return -EINVAL;
}

static void net_telemetry_capture(void *ctx, const char *parameters, struct json_text *j)
{
	struct config_error e;
	struct net *n = ctx;
	int error;

	if (*parameters && net_telemetry_set_capture(n, parameters, &e)) {
		net_telemetry_error(j, e.text);
		return;
	}
	json_text_object(j, NULL);
	json_text_string(j, "capture", *n->capture_path ? n->capture_path : NULL);
	error = n->capture ? capture_error(n->capture) : 0;
	json_text_string(j, "failed", error ? strerror(error) : NULL);
	json_text_number(j, "dropped", n->capture ? capture_dropped(n->capture) : 0);
	json_text_object_end(j);
}

/* ---- all --------------------------------------------------------------------------------- */

static const struct telemetry_command net_telemetry_commands[] = {
	{"/uiwarp/info", "the process, its device, port and addresses",
		.reading = &net_telemetry_info},
	{"/uiwarp/stats", "counters of each layer, and drops by their reasons",
		.reading = &net_telemetry_stats},
	{"/uiwarp/config", "the configuration in effect", .answer = net_telemetry_config},
	{"/uiwarp/log", "the last log lines; with a level: report up to it",
		.answer = net_telemetry_log},
	{"/uiwarp/capture",
		"whether frames are captured; SIZE,FILES,PATH begins to, \"off\" ends it",
		.answer = net_telemetry_capture},
};

#define NET_TELEMETRY_CONNECTIONS(of)                                                            \
	{                                                                                        \
		"/uiwarp/connections", "TCP's state of each connection; in pages", .list = &(of) \
	}

static const struct telemetry_command net_telemetry_connections[] = {
	NET_TELEMETRY_CONNECTIONS(net_telemetry_tcp)};
static const struct telemetry_command net_telemetry_sockets[] = {
	NET_TELEMETRY_CONNECTIONS(net_telemetry_sock)};

void net_telemetry_create(struct net *n)
{
	struct telemetry_config cfg = {.engine = &n->engine, .log = &n->log.sink};

	if (!n->config.telemetry)
		return;
	n->telemetry = telemetry_create(&cfg);
	if (!n->telemetry)
		return;
	telemetry_add(n->telemetry, net_telemetry_commands,
		sizeof net_telemetry_commands / sizeof net_telemetry_commands[0], n);
	telemetry_add(
		n->telemetry, n->sock ? net_telemetry_sockets : net_telemetry_connections, 1, n);
}

void net_telemetry_start(struct net *n)
{
	int rc = n->telemetry ? telemetry_start(n->telemetry) : 0;

	if (rc)
		log_printf(&n->log.sink, LOG_LEVEL_INFO,
			"telemetry: this process cannot be seen by \"uiwarp top\": %s",
			strerror(-rc));
}
