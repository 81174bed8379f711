/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/net.h"

#include "base/container_of.h"
#include "dpdk-port/capture.h"
#include "host/claim.h"
#include "host/poller.h"
#include "host/slot.h"
#include "host/stack_log.h"
#include "host/thread.h"
#include "ip/ip.h"
#include "tls/tls.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/** How long the end of the process is put off for what peers have yet to acknowledge. */
#define LINGER_NS UINT64_C(1000000000)
/* A process that ends without exit() may do so in the middle of a verb, with the engine in hand. */
#define RESET_NS UINT64_C(100000000)

/** How long the holder of the engine may take at the end of the process; it may wait for a core. */
#define STUCK_MS 1000

/** How long to wait at the start for a link that is slow to come up, a NIC's or a TAP's. */
#define LINK_NS UINT64_C(3000000000)

/** How long a peer gets to take a reset from a link that vanishes with us. */
#define PARTING_NS 5000000

struct net {
	struct config config;
	struct stack_log log;
	struct claim claim;
	struct engine engine;
	struct poller poller;
	struct port *port;
	struct capture *capture;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct tls_stack *tls; /**< NULL: off */
	struct engine_thread *thread;
	struct net_events events;
	struct engine_doorbell end_bell; /**< a signal ends the process */
	int end_signal;
	bool have_poller;
	bool connected;     /**< somebody was, when the thread stopped */
	bool told_unfilled; /**< of frames with unfilled checksums, once */
	bool told_gone;     /**< that there is no port any more */
};

static void net_random_fill(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			abort(); /* unpredictability is what STags and sequence numbers rest on */
		p += n;
		len -= (size_t)n;
	}
}

const struct random_source net_random = {.fill = net_random_fill};

/* ---- opening, step by step ---------------------------------------------------------------- */

static int net_claim_addresses(struct net *n, struct config_error *e)
{
	char directory[CONFIG_MAX_PATH];
	int r = slot_directory(directory, sizeof directory);

	if (r) {
		log_printf(&n->log.sink, LOG_LEVEL_INFO,
			"whether other processes have our addresses is not looked at: %s: %s",
			directory, strerror(-r));
		return 0;
	}
	return claim_take(&n->claim, directory, &n->config, e);
}

static int net_open_port(struct net *n, struct config_error *e)
{
	static const uint8_t none[6];
	const struct config *c = &n->config;
	struct port_config cfg = {
		.device = c->port,
		.eal = *c->eal ? c->eal : NULL,
		.mac = memcmp(c->mac, none, sizeof none) ? c->mac : NULL,
		.mtu = c->mtu,
		.memory_mib = c->memory,
		.log = &n->log.sink,
	};
	struct port_error pe = {""};
	int r = port_open(&cfg, &n->port, &pe);

	if (r)
		snprintf(e->text, sizeof e->text, "%s", pe.text);
	return r;
}

/** The path with %p replaced by the process's number: programs in a pair share a configuration. */
static void net_capture_path(const char *pattern, char *path, size_t len)
{
	const char *at = strstr(pattern, "%p");

	if (at)
		snprintf(
			path, len, "%.*s%d%s", (int)(at - pattern), pattern, (int)getpid(), at + 2);
	else
		snprintf(path, len, "%s", pattern);
}

static int net_open_capture(struct net *n, struct config_error *e)
{
	char path[CONFIG_MAX_PATH + 16];
	int r;

	if (!*n->config.capture)
		return 0;
	net_capture_path(n->config.capture, path, sizeof path);
	r = capture_open(
		path, n->config.port, clock_ns(&n->poller.clock), &n->log.sink, &n->capture);
	if (r)
		snprintf(
			e->text, sizeof e->text, "capture file \"%.300s\": %s", path, strerror(-r));
	else
		port_set_capture(n->port, n->capture);
	return r;
}

static int net_open_engine(struct net *n, struct config_error *e)
{
	int r = poller_init(&n->poller, &n->engine, n->port);

	if (r)
		snprintf(e->text, sizeof e->text, "the engine does not start: %s", strerror(-r));
	n->have_poller = r == 0;
	return r;
}

static int net_add_addresses(struct net *n, struct config_error *e)
{
	const struct config *c = &n->config;
	char text[IP_ADDR_STRLEN];
	int r;

	for (unsigned i = 0; i < c->num_addresses; i++) {
		const struct config_address *a = &c->address[i];

		r = ip_addr_add(n->ip, &a->addr, a->prefix_len, n->engine.now);
		if (r && r != -EEXIST) {
			snprintf(e->text, sizeof e->text, "address %s/%u: %s",
				ip_addr_format(&a->addr, text), a->prefix_len, strerror(-r));
			return r;
		}
	}
	for (unsigned i = 0; i < c->num_gateways; i++) {
		const struct ip_addr *g = &c->gateway[i];
		struct ip_addr any = {{0}};

		if (ip_addr_is_v4(g))
			any = ip_addr_from_v4(any.b);
		r = ip_route_add(n->ip, &any, 0, g);
		if (r && r != -EEXIST) {
			snprintf(e->text, sizeof e->text, "gateway %s: %s", ip_addr_format(g, text),
				strerror(-r));
			return r;
		}
	}
	return 0;
}

static int net_open_ip(struct net *n, struct config_error *e)
{
	const struct port_caps *caps = port_get_caps(n->port);
	struct ip_stack_config cfg = {
		.mtu = caps->mtu,
		.wheel = &n->engine.wheel,
		.pool = port_pool(n->port),
		.random = net_random,
		.log = &n->log.sink,
		.transmit = poller_transmit,
		.transmit_ctx = n->port,
		.tx_ipv4_cksum = caps->tx_ipv4_cksum,
		.tx_tcp_cksum = caps->tx_tcp_cksum,
	};
	int r;

	memcpy(cfg.mac, caps->mac, sizeof cfg.mac);
	r = ip_stack_create(&cfg, n->engine.now, &n->ip);
	if (r) {
		snprintf(e->text, sizeof e->text, "the IP layer does not start: %s", strerror(-r));
		return r;
	}
	n->poller.ip = n->ip;
	return net_add_addresses(n, e);
}

static int net_open_tcp(struct net *n, struct config_error *e)
{
	const struct config *c = &n->config;
	struct tcp_stack_config cfg = {
		.ip = n->ip,
		.wheel = &n->engine.wheel,
		.pool = port_pool(n->port),
		.random = net_random,
		.log = &n->log.sink,
		.congestion_control = *c->congestion_control ? c->congestion_control : NULL,
		.send_buffer = c->send_buffer,
		.receive_buffer = c->receive_buffer,
		.user_timeout_ms = c->patience.user_timeout,
		.zero_window_timeout_ms = c->patience.zero_window_timeout,
		.keepalive_ms = c->patience.keepalive,
		.max_half_open = c->patience.max_half_open,
		.max_half_open_per_peer = c->patience.max_half_open_per_peer,
		.max_stalled_per_peer = c->patience.max_stalled_per_peer,
		.no_timestamps = !c->timestamps,
		.no_sack = !c->sack,
		.no_window_scale = !c->window_scale,
		.ecn = c->ecn,
		.syn_cookies = c->syn_cookies,
	};
	int r = tcp_stack_create(&cfg, n->engine.now, &n->tcp);

	if (r == -EINVAL)
		snprintf(e->text, sizeof e->text, "congestion_control: there is none named \"%s\"",
			c->congestion_control);
	else if (r)
		snprintf(e->text, sizeof e->text, "TCP does not start: %s", strerror(-r));
	n->poller.tcp = n->tcp;
	return r;
}

static int net_open_tls(struct net *n, struct config_error *e)
{
	struct tls_stack_config cfg = {
		.below = tcp_llp_stack(n->tcp), .tls = &n->config.tls, .log = &n->log.sink};
	struct tls_error te = {""};
	int r;

	if (n->config.tls.mode == TLS_OFF)
		return 0;
	r = tls_stack_create(&cfg, &n->tls, &te);
	if (r)
		snprintf(e->text, sizeof e->text, "%s", te.text);
	return r;
}

/** A memif is ready without its peer, which may come at any time; other ports have a cable. */
static bool net_has_carrier(const struct net *n)
{
	return strcmp(port_get_caps(n->port)->driver, "net_memif") != 0;
}

static void net_link_changed(void *ctx, bool up)
{
	struct net *n = ctx;

	log_printf(&n->log.sink, LOG_LEVEL_INFO, "port %s: link %s", n->config.port,
		up ? "up" : "down");
	if (n->events.link_changed && net_has_carrier(n))
		n->events.link_changed(n->events.ctx, up);
}

static void net_tell_gone(struct net *n)
{
	n->told_gone = true;
	log_printf(&n->log.sink, LOG_LEVEL_ERROR, "port %s: it is gone for good", n->config.port);
	if (n->events.gone)
		n->events.gone(n->events.ctx);
}

static void net_housekeeping(void *ctx)
{
	struct net *n = ctx;

	if (!n->told_gone && port_is_gone(n->port))
		net_tell_gone(n);
	if (n->told_unfilled || !ip_stack_stats(n->ip)->rx_cksum_unfilled)
		return;
	n->told_unfilled = true;
	log_printf(&n->log.sink, LOG_LEVEL_WARNING,
		"frames come without their TCP checksum, which the sender leaves to hardware that "
		"is "
		"not there: run \"ethtool -K DEVICE tx off\" on the other side");
}

static int net_open_thread(struct net *n, struct config_error *e)
{
	struct engine_thread_config cfg = {
		.poller = &n->poller,
		.dedicated = n->config.progress_dedicated,
		.relaxed = n->config.progress_relaxed,
		.core = n->config.progress_dedicated ? n->config.progress_core : -1,
		.link_changed = net_link_changed,
		.housekeeping = net_housekeeping,
		.ctx = n,
		.log = &n->log.sink,
	};
	int r = engine_thread_start(&cfg, &n->thread);

	if (r && cfg.core >= 0)
		snprintf(e->text, sizeof e->text,
			"progress = dedicated:%d: this process cannot run on that core: %s",
			cfg.core, strerror(-r));
	else if (r)
		snprintf(e->text, sizeof e->text, "the engine's thread does not start: %s",
			strerror(-r));
	return r;
}

static void net_nap(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/** Programs look at the port's state once, at their start, and give up when it is down. */
static void net_await_link(struct net *n)
{
	uint64_t end = clock_ns(&n->poller.clock) + LINK_NS;

	while (net_has_carrier(n) && !net_link(n, NULL) && clock_ns(&n->poller.clock) < end)
		net_nap(10000000);
}

/** Listeners for changes take the link to be up at first. */
static void net_begin_link(struct net *n)
{
	engine_lock(&n->engine);
	if (net_has_carrier(n) && !port_link(n->port, NULL))
		net_link_changed(n, false);
	engine_unlock(&n->engine);
}

/** A switch may take its time before it forwards what comes from a port that is just up. */
static void net_await_switch(struct net *n)
{
	uint64_t end = clock_ns(&n->poller.clock) + n->config.settle * UINT64_C(1000000000);

	while (clock_ns(&n->poller.clock) < end)
		net_nap(10000000);
}

/* ---- closing ------------------------------------------------------------------------------ */

/**
 * True while a peer has yet to acknowledge what we sent before we closed, and while somebody else
 * has the engine: it may be the very thread that asks, in a signal handler.
 */
static bool net_is_parting(struct net *n)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;
	bool parting = false;

	if (!engine_trylock(&n->engine))
		return true;
	for (unsigned i = 0; !parting && tcp_connection_get(n->tcp, i, &local, &remote, &info); i++)
		/* What a QP that closes has yet to send follows what is in flight, and then its
		 * FIN. */
		parting = info.flight || !strcmp(info.state, "FIN-WAIT-1") ||
			  !strcmp(info.state, "FIN-WAIT-2") || !strcmp(info.state, "CLOSING") ||
			  !strcmp(info.state, "LAST-ACK");
	engine_unlock(&n->engine);
	return parting;
}

/** Connections that were closed in good order are not in the kernel's care when we are gone. */
void net_linger(struct net *n)
{
	uint64_t end;

	if (!n->tcp || !n->thread)
		return;
	end = clock_ns(&n->poller.clock) + LINGER_NS;
	while (net_is_parting(n) && clock_ns(&n->poller.clock) < end)
		net_nap(200000);
}

bool net_is_stuck(struct net *n)
{
	if (!engine_lock_within(&n->engine, STUCK_MS))
		return true;
	engine_unlock(&n->engine);
	return false;
}

/** What a person wants to know of a run that was slower than it should be. */
static void net_log_totals(struct net *n)
{
	const struct tcp_stats *t = tcp_stack_stats(n->tcp);
	const struct port_stats *p = port_get_stats(n->port);

	log_printf(&n->log.sink, LOG_LEVEL_DEBUG,
		"total: %llu frames in, %llu out, %llu not taken by the port; TCP: %llu segments "
		"in, "
		"%llu out, %llu retransmitted, %llu timeouts, %llu out of order, %llu duplicate",
		(unsigned long long)p->rx_packets, (unsigned long long)p->tx_packets,
		(unsigned long long)p->tx_dropped, (unsigned long long)t->segments_in,
		(unsigned long long)t->segments_out, (unsigned long long)t->retransmits,
		(unsigned long long)t->timeouts, (unsigned long long)t->out_of_order,
		(unsigned long long)t->duplicate);
}

/** True while there is any peer that has to hear of our end. */
static bool net_is_connected(struct net *n)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;

	return n->tcp && tcp_connection_get(n->tcp, 0, &local, &remote, &info);
}

void net_stop(struct net *n)
{
	if (!n->thread)
		return;
	engine_thread_stop(n->thread);
	n->thread = NULL;
	n->connected = net_is_connected(n);
	net_log_totals(n);
}

/** What was connected has been reset: let that reach the peers before the link goes. */
static void net_flush_resets(struct net *n)
{
	port_flush(n->port);
	port_set_capture(n->port, NULL);
	if (n->connected && port_link(n->port, NULL))
		net_nap(PARTING_NS);
}

static void net_reset_all(struct net *n)
{
	n->connected = net_is_connected(n);
	tcp_stack_reset_all(n->tcp);
	net_flush_resets(n);
}

void net_end(struct net *n)
{
	uint64_t end = clock_ns(&n->poller.clock) + RESET_NS;

	net_linger(n);
	if (!n->tcp || !n->thread)
		return;
	while (!engine_trylock(&n->engine)) {
		if (clock_ns(&n->poller.clock) >= end)
			return;
		net_nap(200000);
	}
	net_reset_all(n);
}

/** Called with the engine held, perhaps in a signal handler: nothing is allocated or freed. */
static void net_serve_end(struct engine_doorbell *d)
{
	struct net *n = container_of(d, struct net, end_bell);

	net_reset_all(n);
	kill(getpid(), n->end_signal);
}

void net_end_by(struct net *n, int sig)
{
	n->end_signal = sig;
	engine_ring(&n->engine, &n->end_bell);
}

void net_release_slot(struct net *n)
{
	if (n->config.slot_fd >= 0)
		close(n->config.slot_fd);
	n->config.slot_fd = -1;
}

void net_let_go(struct net *n)
{
	net_release_slot(n);
	if (n->port)
		port_let_go(n->port);
}

void net_close(struct net *n, bool end)
{
	net_stop(n);
	if (n->have_poller)
		engine_lock(&n->engine);
	if (n->tcp)
		tcp_stack_destroy(n->tcp);
	n->poller.tcp = NULL;
	if (n->tls && !end)
		tls_stack_destroy(n->tls);
	if (n->ip)
		ip_stack_destroy(n->ip);
	n->poller.ip = NULL;
	if (n->port)
		net_flush_resets(n);
	capture_close(n->capture);
	if (end)
		return;
	if (n->have_poller) {
		engine_unlock(&n->engine);
		poller_fini(&n->poller);
	}
	if (n->port)
		port_close(n->port);
	net_release_slot(n);
	claim_release(&n->claim);
	stack_log_close(&n->log);
	free(n);
}

/* ---- the interface ------------------------------------------------------------------------ */

int net_open(const struct config *c, struct net **out, struct config_error *e)
{
	static int (*const steps[])(struct net *, struct config_error *) = {net_claim_addresses,
		net_open_port, net_open_engine, net_open_capture, net_open_ip, net_open_tcp,
		net_open_tls};
	struct net *n = calloc(1, sizeof *n);
	int r;

	if (!n) {
		snprintf(e->text, sizeof e->text, "no memory");
		if (c->slot_fd >= 0)
			close(c->slot_fd);
		return -ENOMEM;
	}
	n->config = *c;
	n->end_bell.serve = net_serve_end;
	r = stack_log_open(&n->log, c->log, c->log_file);
	if (r) {
		snprintf(e->text, sizeof e->text, "log_file \"%.300s\": %s", c->log_file,
			strerror(-r));
		net_release_slot(n);
		free(n);
		return r;
	}
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !r; i++)
		r = steps[i](n, e);
	if (r) {
		net_close(n, false);
		return r;
	}
	*out = n;
	return 0;
}

int net_start(struct net *n, const struct net_events *events, struct config_error *e)
{
	int r;

	if (events)
		n->events = *events;
	r = net_open_thread(n, e);
	if (!r) {
		net_await_link(n);
		net_begin_link(n);
		net_await_switch(n);
	}
	return r;
}

const struct config *net_config(const struct net *n)
{
	return &n->config;
}

const struct log_sink *net_log(const struct net *n)
{
	return &n->log.sink;
}

struct engine *net_engine(struct net *n)
{
	return &n->engine;
}

struct ip_stack *net_ip(struct net *n)
{
	return n->ip;
}

struct tcp_stack *net_tcp(struct net *n)
{
	return n->tcp;
}

struct llp_stack *net_llp(struct net *n)
{
	return n->tls ? tls_llp_stack(n->tls) : tcp_llp_stack(n->tcp);
}

uint64_t net_now(const struct net *n)
{
	return clock_ns(&n->poller.clock);
}

void net_mac(const struct net *n, uint8_t mac[6])
{
	memcpy(mac, port_get_caps(n->port)->mac, 6);
}

uint16_t net_mtu(const struct net *n)
{
	return port_get_caps(n->port)->mtu;
}

bool net_has_link(struct net *n)
{
	return port_link(n->port, NULL);
}

bool net_link(struct net *n, uint32_t *speed)
{
	return ENGINE_LOCKED(&n->engine, port_link(n->port, speed));
}
