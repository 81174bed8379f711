/* SPDX-License-Identifier: BSD-2-Clause */
/* The IP layer under hostile frames: several per input, in odd pieces, time passing in between. */
#include "base/bytes.h"
#include "fuzz.h"
#include "ip/ip.h"
#include "ip/udp.h"
#include "support/eal.h"
#include "support/plain_sum.h"

#define MS       UINT64_C(1000000)
#define PATHS    4
#define RUNS_MAX 20000
#define SERVICE  3935
#define GROUP    0xf5 /* operation */

struct host {
	struct ip_stack *ip;
	struct timer_wheel wheel;
	uint64_t now, started;
	struct ip_path path[PATHS];
	bool open[PATHS];
	unsigned sent;
};

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
static struct rte_mempool *pool;

static void transmit(void *ctx, struct rte_mbuf *m)
{
	struct host *h = ctx;

	rte_mbuf_sanity_check(m, 1);
	MUST(m->pkt_len >= 14 && m->pkt_len <= 1500 + 14);
	h->sent++;
	rte_pktmbuf_free(m);
}

static void input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	rte_mbuf_sanity_check(m, 1);
	MUST(m->data_len >= 60 || m->nb_segs == 1);
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
	struct host *h = ctx;

	MUST(len <= UDP_DATA_MAX && to->port == SERVICE && ip_addr_is_local(h->ip, &to->addr));
	fuzz_touch(data, len);
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

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	MUST(!ip_addr_parse(text, &a));
	return a;
}

static void run(struct host *h, uint64_t ns)
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

static void host_start(struct host *h, uint8_t bits)
{
	const struct ip_transport tcp = {.input = input,
		.error = error,
		.ctx = h,
		.tx_cksum = RTE_MBUF_F_TX_TCP_CKSUM,
		.min_len = 20,
		.cksum_off = 16,
		.words_off = 12};
	struct ip_addr v4 = addr("10.0.0.1"), v6 = addr("fd00::1"), any6 = addr("::");
	struct ip_addr any4 = addr("0.0.0.0"), gw4 = addr("10.0.0.254"), gw6 = addr("fd00::fe");

	*h = (struct host){.now = 1000000 * MS};
	timer_wheel_init(&h->wheel, h->now);
	MUST(!ip_stack_create(&(struct ip_stack_config){.mac = {2, 0, 0, 0, 0, 1},
				      .mtu = 1500,
				      .wheel = &h->wheel,
				      .pool = pool,
				      .random = {fill, NULL},
				      .transmit = transmit,
				      .transmit_ctx = h,
				      .tx_ipv4_cksum = bits & 1,
				      .tx_tcp_cksum = bits & 2},
		h->now, &h->ip));
	ip_set_transport(h->ip, IP_PROTO_TCP, &tcp);
	MUST(!ip_addr_add(h->ip, &v4, 24, h->now) && !ip_addr_add(h->ip, &v6, 64, h->now));
	MUST(!ip_route_add(h->ip, &any4, 0, &gw4) && !ip_route_add(h->ip, &any6, 0, &gw6));
	MUST(!udp_open(h->ip, SERVICE,
		&(struct udp_user){.input = datagram, .error = datagram_error, .ctx = h}));
	if (bits & 4)
		run(h, 10000 * MS);
}

/* ---- frames ------------------------------------------------------------------------------ */

static void fix_v4(uint8_t *h, size_t left)
{
	size_t hlen = (h[0] & 15) * 4u, total = load_be16(h + 2);

	if (hlen < 20 || hlen > left)
		return;
	store_be16(h + 10, 0);
	if (total >= hlen && total <= left && !(load_be16(h + 6) & 0x3fff))
		plain_sum_fix_l4(h + hlen, total - hlen, h[9],
			h[9] == 6 || h[9] == 17
				? plain_sum(h + 12, 8, h[9] + (uint32_t)(total - hlen))
				: 0);
	store_be16(h + 10, (uint16_t)~plain_sum(h, hlen, 0));
}

static void fix_v6(uint8_t *h, size_t left)
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
	plain_sum_fix_l4(h + 40 + options, len, proto, plain_sum(h + 8, 32, proto + (uint32_t)len));
}

/** Checksums made right, so that the fuzzer gets past them. */
static void fix(uint8_t *frame, size_t len, uint8_t bits)
{
	if (len < 14 + 20)
		return;
	if (bits & 1)
		memcpy(frame, mac, 6);
	if (!(bits & 2))
		return;
	if (load_be16(frame + 12) == 0x0800)
		fix_v4(frame + 14, len - 14);
	else if (load_be16(frame + 12) == 0x86dd && len >= 54)
		fix_v6(frame + 14, len - 14);
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

static void receive(struct host *h, struct fuzz *in)
{
	uint8_t bits = fuzz_u8(in), piece = fuzz_u8(in), frame[2048];
	size_t want = fuzz_u16(in) % 1600, got;
	const uint8_t *p = fuzz_bytes(in, want, &got);
	struct rte_mbuf *m;

	memcpy(frame, p, got);
	fix(frame, got, bits);
	m = pieces(frame, got, bits & 4 ? piece : 0);
	if (bits & 8)
		m->ol_flags |= (uint64_t)fuzz_u8(in) << 1 & 0x1fe;
	ip_input(h->ip, &m, 1, h->now);
}

static void send(struct host *h, struct fuzz *in)
{
	static const char *const peers[] = {"10.0.0.2", "192.0.2.7", "fd00::2", "2001:db8::7",
		"10.0.0.1", "fd00::1", "fe80::1", "10.0.0.255"};
	struct ip_addr src, dst = addr(peers[fuzz_u8(in) % 8]);
	unsigned k = fuzz_u8(in) % PATHS;
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

/** Join or leave one of a few groups. */
static void change_group(struct host *h, struct fuzz *in)
{
	static const char *const groups[] = {
		"239.1.2.3", "224.0.0.1", "ff0e::1234", "ff01::5", "10.0.0.1", "ff00::1"};
	uint8_t which = fuzz_u8(in);
	struct ip_addr group = addr(groups[which % 6]);

	if (which & 0x80)
		ip_group_leave(h->ip, &group, h->now);
	else if (!ip_group_join(h->ip, &group, h->now))
		MUST(ip_group_has(h->ip, &group));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	test_eal_init();
	pool = test_pool("packets", 4095, 2048);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct host h;

	host_start(&h, fuzz_u8(&in));
	while (in.left) {
		uint8_t op = fuzz_u8(&in);

		if (op == GROUP)
			change_group(&h, &in);
		else if ((op & 7) == 6)
			run(&h, (UINT64_C(1) << fuzz_u8(&in) % 36) * 4);
		else if ((op & 7) == 7)
			send(&h, &in);
		else
			receive(&h, &in);
	}
	run(&h, 1000 * MS);
	ip_stack_destroy(h.ip);
	MUST(timer_wheel_next(&h.wheel) == TIMER_NEVER);
	MUST(test_pool_missing(pool) == 0);
	return 0;
}
