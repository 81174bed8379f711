/* SPDX-License-Identifier: BSD-2-Clause */
/* The host over a port of its own: DPDK's port, our IP and TCP. */
#include "dpdk-port/capture.h"
#include "esp/boundary.h"
#include "host/net_priv.h"
#include "host/slot.h"
#include "ip/local.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/** How long a peer gets to take a reset from a link that vanishes with us. */
#define PARTING_NS 5000000

/* ---- opening, step by step ---------------------------------------------------------------- */

static int net_claim_addresses(struct net *n, struct config_error *e)
{
	struct slot_places places;
	int r = slot_find_places(&places);

	if (places.refused[0])
		log_printf(&n->log.sink, LOG_LEVEL_WARNING,
			"%s is not a directory that this user alone can write to: processes that "
			"lock only there may take our addresses and slot",
			places.refused);
	if (r) {
		log_printf(&n->log.sink, LOG_LEVEL_INFO,
			"whether other processes have our addresses is not looked at: %s: %s",
			places.path[0], strerror(-r));
		return 0;
	}
	return claims_take(n->claim, &places, &n->config, e);
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
		.vlan = c->vlan,
		.memory_mib = c->memory,
		.gather = c->gather,
		.log = &n->log.sink,
	};
	struct port_error pe = {""};
	int r = port_open(&cfg, &n->port, &pe);

	if (r)
		snprintf(e->text, sizeof e->text, "%s", pe.text);
	return r;
}

static int net_open_capture(struct net *n, struct config_error *e)
{
	return *n->config.capture ? net_set_capture(n, n->config.capture, 0, 1, e) : 0;
}

static int net_open_engine(struct net *n, struct config_error *e)
{
	int r = poller_init(&n->poller, &n->engine, n->port);

	if (r)
		snprintf(e->text, sizeof e->text, "the engine does not start: %s", strerror(-r));
	n->have_poller = r == 0;
	return r;
}

_Static_assert(LOCAL_MAX > CONFIG_MAX_ADDRESSES, "IP takes all, and a link-local one");

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

static int net_open_esp(struct net *n, struct config_error *e)
{
	const struct esp_boundary_config cfg = {.path = n->config.ipsec,
		.pool = port_pool(n->port),
		.random = net_random,
		.log = &n->log.sink};
	int r;

	if (n->config.ipsec[0] == '\0')
		return 0;
	r = esp_boundary_create(&cfg, &n->esp);
	if (r)
		snprintf(e->text, sizeof e->text, "IPsec does not start: %s", strerror(-r));
	return r;
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
		.expedite = poller_expedite,
		.expedite_ctx = &n->poller,
		/* No port sees what ESP protects. */
		.tx_ipv4_cksum = caps->tx_ipv4_cksum && !n->esp,
		.tx_tcp_cksum = caps->tx_tcp_cksum && !n->esp,
		.ipsec = n->esp ? esp_boundary_ops(n->esp) : NULL,
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

static int net_read_esp(struct net *n, struct config_error *e)
{
	return n->esp ? esp_boundary_open(n->esp, n->ip, n->engine.now, e->text, sizeof e->text)
		      : 0;
}

static int net_map(void *port, const void *addr, size_t len)
{
	return port_map(port, addr, len);
}

static void net_unmap(void *port, const void *addr, size_t len)
{
	port_unmap(port, addr, len);
}

static bool net_settle(void *port)
{
	return port_settle(port);
}

static void net_drop(
	void *port, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
	port_drop_some(port, is_of, arg);
}

static int net_open_tcp(struct net *n, struct config_error *e)
{
	const struct config *c = &n->config;
	struct tcp_stack_config cfg = {
		.external = {.pool = port_external_pool(n->port),
			.map = net_map,
			.unmap = net_unmap,
			.settle = net_settle,
			.drop = net_drop,
			.ctx = n->port},
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

static int net_port_open(struct net *n, struct config_error *e)
{
	static const struct {
		int (*take)(struct net *, struct config_error *);
		enum config_step is;
	} steps[] = {
		{net_claim_addresses, CONFIG_STEP_CLAIM},
		{net_open_port, CONFIG_STEP_PORT},
		{net_open_engine, CONFIG_STEP_STACK},
		{net_open_capture, CONFIG_STEP_OUTPUT},
		{net_open_esp, CONFIG_STEP_STACK},
		{net_open_ip, CONFIG_STEP_STACK},
		{net_read_esp, CONFIG_STEP_SECRETS},
		{net_open_tcp, CONFIG_STEP_STACK},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !r; i++) {
		e->step = steps[i].is;
		r = steps[i].take(n, e);
	}
	return r;
}

/* ---- while it is open --------------------------------------------------------------------- */

static struct llp_stack *net_port_llp(struct net *n)
{
	return tcp_llp_stack(n->tcp);
}

/** A memif is ready without its peer, which may come at any time; other ports have a cable. */
static bool net_port_has_carrier(const struct net *n)
{
	return strcmp(port_get_caps(n->port)->driver, "net_memif") != 0;
}

static bool net_port_link(struct net *n, uint32_t *speed)
{
	return port_link(n->port, speed);
}

/** Packets were dropped until now, as nobody was there: a memif's peer, perhaps. */
static void net_port_link_up(struct net *n)
{
	ip_link_up(n->ip, n->engine.now);
}

static bool net_port_is_gone(const struct net *n)
{
	return port_is_gone(n->port);
}

static void net_port_tell_cut(struct net *n)
{
	if (n->told_cut || !ip_stack_stats(n->ip)->rx_cut)
		return;
	n->told_cut = true;
	log_printf(&n->log.sink, LOG_LEVEL_WARNING,
		"packets come that are longer than a frame of the port, and are lost, as Linux "
		"puts segments together: run \"ethtool -K DEVICE gro off lro off\" on this side, "
		"and at a veth \"tso off gso off\" on the other");
}

static void net_port_tell_unfilled(struct net *n)
{
	if (n->told_unfilled || !ip_stack_stats(n->ip)->rx_cksum_unfilled)
		return;
	n->told_unfilled = true;
	log_printf(&n->log.sink, LOG_LEVEL_WARNING,
		"frames come without their TCP checksum, which the sender leaves to hardware that "
		"is "
		"not there: run \"ethtool -K DEVICE tx off\" on the other side");
}

static void net_port_housekeeping(struct net *n)
{
	if (n->esp)
		esp_boundary_look(n->esp, n->engine.now);
	net_port_tell_cut(n);
	net_port_tell_unfilled(n);
}

static void net_port_mac(const struct net *n, uint8_t mac[6])
{
	memcpy(mac, port_get_caps(n->port)->mac, 6);
}

static uint16_t net_port_mtu(const struct net *n)
{
	return port_get_caps(n->port)->mtu;
}

/* ---- ends --------------------------------------------------------------------------------- */

/** What a QP that closes has yet to send follows what is in flight, and then its FIN. */
static bool net_port_parts(const struct tcp_info *info)
{
	return info->flight || !strcmp(info->state, "FIN-WAIT-1") ||
	       !strcmp(info->state, "FIN-WAIT-2") || !strcmp(info->state, "CLOSING") ||
	       !strcmp(info->state, "LAST-ACK");
}

/** True while a peer has yet to acknowledge what we sent before we closed. */
static bool net_port_is_parting(struct net *n)
{
	struct tcp_walk w = {{0}};
	struct tcp_walk_item item;
	enum walk found;

	while ((found = tcp_connection_walk(n->tcp, &w, &item)) != WALK_END)
		if (found == WALK_HELD && net_port_parts(&item.info))
			return true;
	return false;
}

/** What a person wants to know of a run that was slower than it should be. */
static void net_port_log_totals(struct net *n)
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

static bool net_port_is_connected(struct net *n)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;

	return n->tcp && tcp_connection_get(n->tcp, 0, &local, &remote, &info);
}

/** What was connected has been reset: let that reach the peers before the link goes. */
static void net_flush_resets(struct net *n)
{
	port_flush(n->port);
	port_set_capture(n->port, NULL);
	(void)port_link(n->port, NULL); /* looks anew */
	if (n->connected && port_carries(n->port))
		nanosleep(&(struct timespec){.tv_nsec = PARTING_NS}, NULL);
}

static void net_port_reset_all(struct net *n)
{
	n->connected = net_port_is_connected(n);
	tcp_stack_reset_all(n->tcp);
	net_flush_resets(n);
}

static void net_port_end(struct net *n)
{
	net_port_reset_all(n);
	capture_close(n->capture);
	n->capture = NULL;
}

static void net_port_close_stack(struct net *n)
{
	if (n->tcp)
		tcp_stack_destroy(n->tcp);
	n->tcp = n->poller.tcp = NULL;
	if (n->ip)
		ip_stack_destroy(n->ip);
	n->ip = n->poller.ip = NULL;
	esp_boundary_destroy(n->esp);
	n->esp = NULL;
	if (n->port)
		net_flush_resets(n);
	capture_close(n->capture);
}

static void net_port_close(struct net *n)
{
	if (n->port)
		port_close(n->port);
	claims_release(n->claim);
}

static void net_port_let_go(struct net *n)
{
	if (n->port)
		port_let_go(n->port);
}

const struct net_ops net_port_ops = {
	.open = net_port_open,
	.llp = net_port_llp,
	.has_carrier = net_port_has_carrier,
	.link = net_port_link,
	.link_up = net_port_link_up,
	.is_gone = net_port_is_gone,
	.housekeeping = net_port_housekeeping,
	.mac = net_port_mac,
	.mtu = net_port_mtu,
	.is_parting = net_port_is_parting,
	.is_connected = net_port_is_connected,
	.log_totals = net_port_log_totals,
	.reset_all = net_port_reset_all,
	.end = net_port_end,
	.close_stack = net_port_close_stack,
	.close = net_port_close,
	.open_mapper = net_mapper_open_port,
	.let_go = net_port_let_go,
};
