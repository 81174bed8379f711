/* SPDX-License-Identifier: BSD-2-Clause */
#include "drive/host.h"

#include "dpdk-port/eal.h"
#include "dpdk-port/pool.h"
#include "drive/address.h"
#include "tcp/cc.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The public names are the stack's own by another name. */
_Static_assert((int)UIWARP_TCP_COOKIES_OFF == (int)TCP_COOKIES_OFF, "cookies");
_Static_assert((int)UIWARP_TCP_ECN_ON == (int)TCP_ECN_ON, "ECN");

#define DEFAULT_PACKETS 4096
#define PACKETS_MAX     ((1u << 30) - 1) /* DPDK's rings overflow beyond */
#define ROOM_MIN        2048

static void host_fill(void *ctx, void *buf, size_t len)
{
	struct uiwarp_tcp *h = ctx;
	uint8_t *p = buf;

	while (len) {
		uint64_t z = prng_u64(&h->random);
		size_t n = len < sizeof z ? len : sizeof z;

		memcpy(p, &z, n);
		p += n;
		len -= n;
	}
}

static void host_log_line(void *ctx, enum log_level level, const char *text)
{
	struct uiwarp_tcp *h = ctx;

	h->cfg.log(h->cfg.log_ctx, text);
}

static void host_transmit(void *ctx, struct rte_mbuf *m)
{
	struct uiwarp_tcp *h = ctx;
	struct sent_packet *p = malloc(sizeof *p + m->pkt_len);
	const void *bytes;

	if (p) {
		*p = (struct sent_packet){.at = h->now, .len = m->pkt_len};
		bytes = rte_pktmbuf_read(m, 0, m->pkt_len, p->bytes);
		if (bytes != p->bytes)
			memcpy(p->bytes, bytes, p->len);
		*h->sent_tail = p;
		h->sent_tail = &p->next;
	}
	rte_pktmbuf_free(m);
}

static int host_start_pool(struct uiwarp_tcp *h)
{
	const struct port_config eal = {.device = "net_none"};
	unsigned room = RTE_MAX(h->cfg.mtu + 128u, (unsigned)ROOM_MIN);
	struct port_error why;
	char name[32];
	int err;

	if (h->cfg.packets > PACKETS_MAX) {
		log_printf(&h->log, LOG_LEVEL_ERROR, "packets %u: at most %u", h->cfg.packets,
			PACKETS_MAX);
		return -EINVAL;
	}
	err = eal_start(&eal, &why);
	if (err) {
		log_printf(&h->log, LOG_LEVEL_ERROR, "%s", why.text);
		return err;
	}
	snprintf(name, sizeof name, "tcp%p", (void *)h);
	h->pool = rte_pktmbuf_pool_create(
		name, h->cfg.packets, 0, 0, room + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (h->pool)
		return 0;
	err = pool_failed(-rte_errno);
	log_printf(&h->log, LOG_LEVEL_ERROR, "no %s for %u packet buffers: %s",
		err == -ENODEV ? POOL_NO_DRIVER : "memory", h->cfg.packets, strerror(-err));
	return err;
}

static int host_start_ip(struct uiwarp_tcp *h)
{
	const struct ip_stack_config cfg = {
		.mtu = h->cfg.mtu,
		.wheel = &h->wheel,
		.pool = h->pool,
		.random = {host_fill, h},
		.log = &h->log,
		.transmit = host_transmit,
		.transmit_ctx = h,
		.no_link = true,
	};

	return ip_stack_create(&cfg, h->now, &h->ip);
}

static int host_start_tcp(struct uiwarp_tcp *h)
{
	const struct uiwarp_tcp_config *c = &h->cfg;
	const struct tcp_stack_config cfg = {
		.ip = h->ip,
		.wheel = &h->wheel,
		.pool = h->pool,
		.random = {host_fill, h},
		.log = &h->log,
		.congestion_control = c->congestion_control,
		.send_buffer = c->send_buffer,
		.receive_buffer = c->receive_buffer,
		.max_ack_delay_ms = c->max_ack_delay_ms,
		.time_wait_ms = c->time_wait_ms,
		.syn_retries = c->syn_retries,
		.user_timeout_ms = c->user_timeout_ms,
		.keepalive_ms = c->keepalive_ms,
		.zero_window_timeout_ms = c->zero_window_timeout_ms,
		.max_half_open = c->max_half_open,
		.syn_cookies = (enum tcp_syn_cookies)c->syn_cookies,
		.ecn = (enum tcp_ecn_mode)c->ecn,
		.no_timestamps = c->no_timestamps,
		.no_sack = c->no_sack,
		.no_window_scale = c->no_window_scale,
		.no_pacing = c->no_pacing,
	};
	int err = tcp_stack_create(&cfg, h->now, &h->tcp);

	if (err)
		return err;
	h->llp = tcp_llp_stack(h->tcp);
	h->cfg.congestion_control = tcp_cc_find(c->congestion_control)->name; /* ours, and stays */
	return 0;
}

int uiwarp_tcp_create(const struct uiwarp_tcp_config *cfg, uint64_t now, struct uiwarp_tcp **out)
{
	struct uiwarp_tcp *h = calloc(1, sizeof *h);
	int err;

	if (!h)
		return -ENOMEM;
	h->cfg = *cfg;
	h->now = now;
	h->random.state = cfg->seed;
	h->sent_tail = &h->sent;
	if (cfg->log)
		h->log = (struct log_sink){host_log_line, h, LOG_LEVEL_INFO};
	if (!h->cfg.mtu)
		h->cfg.mtu = 1500;
	if (!h->cfg.packets)
		h->cfg.packets = DEFAULT_PACKETS;
	timer_wheel_init(&h->wheel, now);
	err = h->cfg.mtu < 1280 || h->cfg.mtu > 9216 ? -EINVAL : host_start_pool(h);
	if (!err)
		err = host_start_ip(h);
	if (!err)
		err = host_start_tcp(h);
	if (err) {
		uiwarp_tcp_destroy(h);
		return err;
	}
	*out = h;
	return 0;
}

void uiwarp_tcp_destroy(struct uiwarp_tcp *h)
{
	struct sent_packet *next;

	if (!h)
		return;
	sockets_fini(h);
	tcp_stack_destroy(h->tcp);
	ip_stack_destroy(h->ip);
	rte_mempool_free(h->pool);
	for (struct sent_packet *p = h->sent; p; p = next) {
		next = p->next;
		free(p);
	}
	free(h);
}

int uiwarp_tcp_add_address(struct uiwarp_tcp *h, const char *cidr)
{
	struct ip_addr a;
	unsigned len;
	int err = ip_addr_parse_cidr(cidr, &a, &len);

	return err ? err : ip_addr_add(h->ip, &a, len, h->now);
}

int uiwarp_tcp_add_route(struct uiwarp_tcp *h, const char *cidr)
{
	struct ip_addr a;
	unsigned len;
	int err = ip_addr_parse_cidr(cidr, &a, &len);

	return err ? err : ip_route_add(h->ip, &a, len, NULL);
}

void host_round(struct uiwarp_tcp *h)
{
	do {
		tcp_round_end(h->tcp);
	} while (ip_input(h->ip, NULL, 0, h->now));
}

static struct rte_mbuf *host_packet_in(
	struct uiwarp_tcp *h, const struct uiwarp_tcp_packet *p, int *err)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	void *room = NULL;

	*err = -ENOBUFS;
	if (!m)
		return NULL;
	*err = -EMSGSIZE;
	if (p->len <= UINT16_MAX)
		room = rte_pktmbuf_append(m, (uint16_t)p->len);
	if (!room) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	*err = 0;
	memcpy(room, p->bytes, p->len);
	return m;
}

int uiwarp_tcp_input_burst(struct uiwarp_tcp *h, const struct uiwarp_tcp_packet *p, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		struct rte_mbuf *m = host_packet_in(h, &p[i], &err);

		if (m)
			ip_input(h->ip, &m, 1, h->now);
	}
	host_round(h);
	return err;
}

int uiwarp_tcp_input(struct uiwarp_tcp *h, const void *packet, size_t len)
{
	const struct uiwarp_tcp_packet p = {packet, len};

	return uiwarp_tcp_input_burst(h, &p, 1);
}

size_t uiwarp_tcp_output(struct uiwarp_tcp *h, void *buf, size_t size, uint64_t *sent_at)
{
	struct sent_packet *p = h->sent;
	size_t len;

	if (!p)
		return 0;
	h->sent = p->next;
	if (!h->sent)
		h->sent_tail = &h->sent;
	len = p->len;
	memcpy(buf, p->bytes, len < size ? len : size);
	if (sent_at)
		*sent_at = p->at;
	free(p);
	return len;
}

uint64_t uiwarp_tcp_output_time(const struct uiwarp_tcp *h)
{
	return h->sent ? h->sent->at : UIWARP_TCP_NEVER;
}

uint64_t uiwarp_tcp_now(const struct uiwarp_tcp *h)
{
	return h->now;
}

uint64_t uiwarp_tcp_next(const struct uiwarp_tcp *h)
{
	return timer_wheel_next(&h->wheel);
}

void uiwarp_tcp_advance(struct uiwarp_tcp *h, uint64_t now)
{
	uint64_t next;

	while ((next = timer_wheel_next(&h->wheel)) <= now && next != UIWARP_TCP_NEVER) {
		if (next > h->now)
			h->now = next;
		tcp_set_now(h->tcp, h->now);
		timer_wheel_run(&h->wheel, h->now);
		host_round(h);
	}
	if (now > h->now && now != UIWARP_TCP_NEVER)
		h->now = now;
	tcp_set_now(h->tcp, h->now);
}

void host_fill_info(struct uiwarp_tcp_info *to, const struct tcp_info *from)
{
	*to = (struct uiwarp_tcp_info){
		.srtt = from->srtt,
		.rttvar = from->rttvar,
		.rto = from->rto,
		.cwnd = from->cwnd,
		.ssthresh = from->ssthresh,
		.flight = from->flight,
		.snd_wnd = from->snd_wnd,
		.rcv_wnd = from->rcv_wnd,
		.emss = from->emss,
		.mtu = from->mtu,
		.lost = from->lost,
		.sacked = from->sacked,
		.send_buffer = from->send_buffer,
		.receive_buffer = from->receive_buffer,
		.min_rtt = from->min_rtt,
		.reo_wnd = from->reo_wnd,
		.tlp_probes = from->tlp_probes,
		.dsacks = from->dsacks,
		.spurious_recoveries = from->spurious_recoveries,
		.spurious_timeouts = from->spurious_timeouts,
		.ce_received = from->ce_received,
		.ece_received = from->ece_received,
		.reordering_seen = from->reordering_seen,
		.ecn = from->ecn,
		.pacing_rate = from->pacing_rate,
		.delivery_rate = from->delivery_rate,
		.bytes_sent = from->bytes_sent,
		.bytes_acked = from->bytes_acked,
		.bytes_received = from->bytes_received,
		.segments_out = from->segments_out,
		.segments_in = from->segments_in,
		.retransmits = from->retransmits,
		.timeouts = from->timeouts,
		.fast_recoveries = from->fast_recoveries,
		.out_of_order = from->out_of_order,
		.timestamps = from->timestamps,
		.sack = from->sack,
		.window_scale = from->window_scale,
	};
	snprintf(to->state, sizeof to->state, "%s", from->state);
	snprintf(to->ca_state, sizeof to->ca_state, "%s", from->ca_state ? from->ca_state : "");
	snprintf(to->congestion_control, sizeof to->congestion_control, "%s",
		from->congestion_control);
}

int uiwarp_tcp_connection(struct uiwarp_tcp *h, unsigned i, struct sockaddr_storage *local,
	struct sockaddr_storage *remote, struct uiwarp_tcp_info *info)
{
	struct ip_endpoint l, r;
	struct tcp_info t;

	if (!tcp_connection_get(h->tcp, i, &l, &r, &t))
		return -ENOENT;
	if (local)
		address_store(&l, local);
	if (remote)
		address_store(&r, remote);
	if (info)
		host_fill_info(info, &t);
	return 0;
}

unsigned uiwarp_tcp_packets_in_use(const struct uiwarp_tcp *h)
{
	return rte_mempool_in_use_count(h->pool);
}
