/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip_host.h"

#include "base/bytes.h"
#include "ip/udp.h"
#include "support/eal.h"
#include "support/plain_sum.h"

#include <rte_mbuf.h>

#define RUNS_MAX 20000
#define SERVICE  3935

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
static struct rte_mempool *pool;

static void transmit(void *ctx, struct rte_mbuf *m)
{
	struct ip_host *h = ctx;

	rte_mbuf_sanity_check(m, 1);
	MUST(m->pkt_len >= 14 && m->pkt_len <= 1500 + 14);
	if (h->sends)
		h->sends(h, m);
	rte_pktmbuf_free(m);
}

static void input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	struct ip_host *h = ctx;

	rte_mbuf_sanity_check(m, 1);
	MUST(m->data_len >= 60 || m->nb_segs == 1);
	if (h->hears)
		h->hears(h, &rx->src);
	(void)ip_l4_cksum(&rx->src, &rx->dst, IP_PROTO_TCP, m, 0);
	rte_pktmbuf_free(m);
}

static void error(void *ctx, const struct ip_error *e, uint64_t now)
{
	MUST(e->l4_len >= 8);
	fuzz_touch(e->l4, e->l4_len);
}

static void datagram(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	struct ip_host *h = ctx;

	MUST(len <= UDP_DATA_MAX && to->port == SERVICE && ip_addr_is_local(h->ip, &to->addr));
	fuzz_touch(data, len);
	if (h->hears)
		h->hears(h, &from->addr);
	(void)udp_send(h->ip, to, from, data, len, now);
}

static void datagram_error(
	void *ctx, const struct ip_endpoint *to, const struct ip_error *e, uint64_t now)
{
	MUST(ip_addr_equal(&to->addr, &e->dst));
}

static void fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

struct ip_addr ip_host_addr(const char *text)
{
	struct ip_addr a;

	MUST(!ip_addr_parse(text, &a));
	return a;
}

void ip_host_run(struct ip_host *h, uint64_t ns)
{
	uint64_t end = h->now + ns;

	for (unsigned n = 0; timer_wheel_next(&h->wheel) <= end; n++) {
		MUST(n < RUNS_MAX); /* a storm of timers */
		if (timer_wheel_next(&h->wheel) > h->now)
			h->now = timer_wheel_next(&h->wheel);
		timer_wheel_run(&h->wheel, h->now);
	}
	h->now = end;
	timer_wheel_run(&h->wheel, end);
	ip_input(h->ip, NULL, 0, h->now);
}

void ip_host_start(struct ip_host *h, uint8_t bits, const struct ip_ipsec *ipsec)
{
	const struct ip_transport tcp = {.input = input,
		.error = error,
		.ctx = h,
		.tx_cksum = RTE_MBUF_F_TX_TCP_CKSUM,
		.min_len = 20,
		.cksum_off = 16,
		.words_off = 12};
	struct ip_addr v4 = ip_host_addr("10.0.0.1"), v6 = ip_host_addr("fd00::1"),
		       any6 = ip_host_addr("::");
	struct ip_addr any4 = ip_host_addr("0.0.0.0"), gw4 = ip_host_addr("10.0.0.254"),
		       gw6 = ip_host_addr("fd00::fe");

	*h = (struct ip_host){.now = 1000000 * MS, .hears = h->hears, .sends = h->sends};
	timer_wheel_init(&h->wheel, h->now);
	MUST(!ip_stack_create(&(struct ip_stack_config){.mac = {2, 0, 0, 0, 0, 1},
				      .mtu = 1500,
				      .wheel = &h->wheel,
				      .pool = pool,
				      .random = {fill, NULL},
				      .transmit = transmit,
				      .transmit_ctx = h,
				      .ipsec = ipsec,
				      .tx_ipv4_cksum = bits & 1,
				      .tx_tcp_cksum = bits & 2},
		h->now, &h->ip));
	ip_set_transport(h->ip, IP_PROTO_TCP, &tcp);
	MUST(!ip_addr_add(h->ip, &v4, 24, h->now) && !ip_addr_add(h->ip, &v6, 64, h->now));
	MUST(!ip_route_add(h->ip, &any4, 0, &gw4) && !ip_route_add(h->ip, &any6, 0, &gw6));
	MUST(!udp_open(h->ip, SERVICE,
		&(struct udp_user){.input = datagram, .error = datagram_error, .ctx = h}));
	if (bits & 4)
		ip_host_run(h, 10000 * MS);
}

/* ---- frames ------------------------------------------------------------------------------ */

/** Of other protocols the octets there are something else: a fragment's offset, or ESP's SPI. */
static void fix_l4(uint8_t *l4, size_t len, uint8_t proto, uint32_t pseudo)
{
	if (proto == 1 || proto == 2 || proto == 6 || proto == 17 || proto == 58)
		plain_sum_fix_l4(l4, len, proto, pseudo);
}

void ip_host_fix_v4(uint8_t *h, size_t left)
{
	size_t hlen = (h[0] & 15) * 4u, total = load_be16(h + 2);

	if (hlen < 20 || hlen > left)
		return;
	store_be16(h + 10, 0);
	if (total >= hlen && total <= left && !(load_be16(h + 6) & 0x3fff))
		fix_l4(h + hlen, total - hlen, h[9],
			h[9] == 6 || h[9] == 17
				? plain_sum(h + 12, 8, h[9] + (uint32_t)(total - hlen))
				: 0);
	store_be16(h + 10, (uint16_t)~plain_sum(h, hlen, 0));
}

void ip_host_fix_v6(uint8_t *h, size_t left)
{
	size_t len = load_be16(h + 4), options = 0;
	uint8_t proto = h[6];

	if (len > left - 40)
		return;
	/* As MLD's messages are. */
	if (proto == 0 && len >= 8 && len >= (h[41] + 1u) * 8) {
		proto = h[40];
		options = (h[41] + 1u) * 8;
		len -= options;
	}
	fix_l4(h + 40 + options, len, proto, plain_sum(h + 8, 32, proto + (uint32_t)len));
}

void ip_host_fix(uint8_t *frame, size_t len, uint8_t bits)
{
	if (len < 14 + 20)
		return;
	if (bits & 1)
		memcpy(frame, mac, 6);
	if (!(bits & 2))
		return;
	if (load_be16(frame + 12) == 0x0800)
		ip_host_fix_v4(frame + 14, len - 14);
	else if (load_be16(frame + 12) == 0x86dd && len >= 54)
		ip_host_fix_v6(frame + 14, len - 14);
}

static struct rte_mbuf *pieces(const uint8_t *frame, size_t len, unsigned piece)
{
	struct rte_mbuf *m = NULL;
	size_t at = 0;

	do {
		size_t n = piece && len - at > piece ? piece : len - at;
		struct rte_mbuf *part = test_packet(pool, frame + at, (unsigned)n);

		if (!m)
			m = part;
		else
			MUST(!rte_pktmbuf_chain(m, part));
		at += n;
		piece = piece * 5 + 3; /* then larger ones: a chain has an end */
	} while (at < len);
	return m;
}

void ip_host_give(
	struct ip_host *h, const uint8_t *frame, size_t len, unsigned piece, uint64_t flags)
{
	struct rte_mbuf *m = pieces(frame, len, piece);

	m->ol_flags |= flags;
	ip_input(h->ip, &m, 1, h->now);
}

void ip_host_send(struct ip_host *h, struct fuzz *in, const struct ip_addr *to)
{
	struct ip_addr src, dst = *to;
	unsigned k = fuzz_u8(in) % IP_HOST_PATHS;
	uint16_t len = (uint16_t)(20 + fuzz_u8(in));
	struct rte_mbuf *m;

	if (!h->open[k]) {
		h->path[k] = (struct ip_path){0};
		h->open[k] = !ip_source(h->ip, &dst, &src) &&
			     !ip_path_init(h->ip, &h->path[k], &src, &dst, h->now);
	}
	if (!h->open[k])
		return;
	m = rte_pktmbuf_alloc(pool);
	MUST(m);
	memset(rte_pktmbuf_append(m, len), 0, len);
	ip_send(h->ip, &h->path[k], IP_PROTO_TCP, m, h->now);
	if (len & 1)
		ip_path_confirm(h->ip, &h->path[k], h->now, h->now);
	if (len & 4)
		ip_doubt(h->ip, &dst, h->now);
	if (len & 2)
		ip_path_too_big(h->ip, &h->path[k], fuzz_u16(in), h->now);
}

void ip_host_init(void)
{
	test_eal_init();
	pool = test_pool("packets", 4095, 2048);
}

struct rte_mempool *ip_host_pool(void)
{
	return pool;
}

void ip_host_end(struct ip_host *h)
{
	ip_host_run(h, 1000 * MS);
	ip_stack_destroy(h->ip);
	MUST(timer_wheel_next(&h->wheel) == TIMER_NEVER);
	MUST(test_pool_missing(pool) == 0);
}
