/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two IP stacks with an IPsec boundary each, and the packets between them in our hands: what is
 * protected, what is dropped and how that is counted, path MTUs, files that change.
 */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/bytes.h"
#include "esp/boundary.h"
#include "esp/esp_wire.h"
#include "ip/ip.h"
#include "ip/udp.h"
#include "support/eal.h"
#include "support/plain_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP    64
#define V4      20
#define SEGMENT 120 /* octets of TCP in a packet */
#define SECOND  UINT64_C(1000000000)

#define KEY    " aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128 "
#define SA     "ip xfrm state add src %s dst %s proto esp spi 0x%x " KEY "%s\n"
#define POLICY "ip xfrm policy add src %s dst %s dir %s tmpl proto esp mode transport\n"

struct end {
	struct ip_stack *ip;
	struct timer_wheel wheel;
	struct esp_boundary *esp; /* NULL: without IPsec */
	char path[64];
	struct rte_mbuf *out[KEEP]; /* what it sent */
	unsigned n_out, n_in, in_len, log_lines;
	uint8_t in[2048]; /* the last segment that came up */
	struct ip_rx rx;
	char log_text[512], log_before[512];
	struct log_sink log;
};

static struct rte_mempool *pool;
static struct end a, b;
static uint64_t now;
static bool v6;

static const char *addr_of(const struct end *e)
{
	return v6 ? (e == &a ? "fd00::1" : "fd00::2") : e == &a ? "10.0.0.1" : "10.0.0.2";
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr r;

	assert_int_equal(ip_addr_parse(text, &r), 0);
	return r;
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void transmit(void *ctx, struct rte_mbuf *m)
{
	struct end *e = ctx;

	assert_true(e->n_out < KEEP);
	rte_mbuf_sanity_check(m, 1);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, 0);
	e->out[e->n_out++] = m;
}

static void input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t at)
{
	struct end *e = ctx;

	e->n_in++;
	e->rx = *rx;
	e->in_len = m->pkt_len;
	assert_true(m->pkt_len <= sizeof e->in && rte_pktmbuf_is_contiguous(m));
	assert_int_equal(ip_l4_cksum(&rx->src, &rx->dst, IP_PROTO_TCP, m, 0), 0);
	memcpy(e->in, rte_pktmbuf_mtod(m, const void *), m->pkt_len);
	rte_pktmbuf_free(m);
}

static void log_line(void *ctx, enum log_level level, const char *text)
{
	struct end *e = ctx;

	e->log_lines++;
	memcpy(e->log_before, e->log_text, sizeof e->log_before);
	snprintf(e->log_text, sizeof e->log_text, "%s", text);
}

static void fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

/** @param ipsec what its file says; NULL: no IPsec. */
static void end_create(struct end *e, const char *ipsec)
{
	const struct ip_transport tcp = {
		.input = input, .ctx = e, .min_len = 20, .cksum_off = 16, .words_off = 12};
	struct ip_stack_config cfg = {.mtu = 1500,
		.wheel = &e->wheel,
		.pool = pool,
		.random = {fill, NULL},
		.log = &e->log,
		.transmit = transmit,
		.transmit_ctx = e,
		.no_link = true};
	struct ip_addr ours = addr(addr_of(e));
	char why[600] = "";

	*e = (struct end){.path = "/tmp/uiw-esp.XXXXXX"};
	e->log = (struct log_sink){log_line, e, LOG_LEVEL_DEBUG};
	timer_wheel_init(&e->wheel, now);
	if (ipsec) {
		close(mkstemp(e->path));
		write_file(e->path, ipsec);
		assert_int_equal(esp_boundary_create(&(struct esp_boundary_config){.path = e->path,
							     .pool = pool,
							     .random = {fill, NULL},
							     .log = &e->log},
					 &e->esp),
			0);
		cfg.ipsec = esp_boundary_ops(e->esp);
	}
	assert_int_equal(ip_stack_create(&cfg, now, &e->ip), 0);
	ip_set_transport(e->ip, IP_PROTO_TCP, &tcp);
	assert_int_equal(ip_addr_add(e->ip, &ours, v6 ? 64 : 24, now), 0);
	if (ipsec && esp_boundary_open(e->esp, e->ip, why, sizeof why) != 0)
		fail_msg("%s", why);
}

static void end_destroy(struct end *e)
{
	ip_stack_destroy(e->ip);
	esp_boundary_destroy(e->esp);
	while (e->n_out)
		rte_pktmbuf_free(e->out[--e->n_out]);
	if (e->path[5])
		unlink(e->path);
}

/** Both ends with an SA each way, and policies that want them. */
static char *both_ways(const char *more, const char *sa)
{
	static char text[2][4096];
	static unsigned turn;
	char *t = text[turn++ % 2];

	snprintf(t, sizeof text[0], "%s" SA SA POLICY POLICY POLICY POLICY, more, addr_of(&a),
		addr_of(&b), 0x1000, sa, addr_of(&b), addr_of(&a), 0x2000, sa, addr_of(&a),
		addr_of(&b), "out", addr_of(&a), addr_of(&b), "in", addr_of(&b), addr_of(&a), "out",
		addr_of(&b), addr_of(&a), "in");
	return t;
}

static void begin(const char *of_a, const char *of_b)
{
	test_eal_init();
	if (!pool)
		pool = test_pool("packets", 255, 2048);
	now = 1000 * SECOND;
	end_create(&a, of_a);
	end_create(&b, of_b);
}

static void end(void)
{
	end_destroy(&a);
	end_destroy(&b);
	assert_int_equal(test_pool_missing(pool), 0);
}

/* ---- packets ------------------------------------------------------------------------------- */

static int send_to(struct end *e, const struct ip_addr *dst, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct ip_addr src = addr(addr_of(e));
	struct ip_path p = {.tos = 0};
	uint8_t *h;

	assert_int_equal(ip_path_init(e->ip, &p, &src, dst, now), 0);
	assert_non_null(m);
	h = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	for (unsigned i = 0; i < len; i++)
		h[i] = (uint8_t)(i * 7);
	store_be16(h, 40000);
	store_be16(h + 2, 7174);
	h[12] = 0x50;
	return ip_send(e->ip, &p, IP_PROTO_TCP, m, now);
}

static int send_one(struct end *e, unsigned len)
{
	struct ip_addr dst = addr(addr_of(e == &a ? &b : &a));

	return send_to(e, &dst, len);
}

/** The packet that @p e sent last, taken from it. */
static struct rte_mbuf *take(struct end *e)
{
	assert_true(e->n_out > 0);
	return e->out[--e->n_out];
}

/** Another one with the same octets, which its owner may write to. */
static struct rte_mbuf *again(const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);

	assert_non_null(copy);
	return copy;
}

static void give(struct end *e, struct rte_mbuf *m)
{
	ip_input(e->ip, &m, 1, now);
}

static uint8_t *octets(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static const struct esp_stats *stats(const struct end *e)
{
	return esp_boundary_stats(e->esp);
}

static void expect_delivered(struct end *e, unsigned n)
{
	assert_int_equal(e->n_in, n);
	assert_int_equal(e->in_len, SEGMENT);
	assert_int_equal(e->in[SEGMENT - 1], (uint8_t)((SEGMENT - 1) * 7));
}

/* ---- tests --------------------------------------------------------------------------------- */

static void packets_are_protected_each_way(void **state)
{
	static const char *const sas[] = {"", "replay-window 4096 flag esn",
		"replay-window 64 encap espinudp 4500 4500 0.0.0.0"};

	for (unsigned i = 0; i < 2 * sizeof sas / sizeof sas[0]; i++) {
		char *text;

		v6 = i & 1;
		text = both_ways("", sas[i / 2]);
		begin(text, text);
		for (unsigned n = 1; n < 4; n++) {
			struct rte_mbuf *m;

			assert_int_equal(send_one(&a, SEGMENT), 0);
			m = take(&a);
			assert_int_equal(octets(m)[v6 ? 6 : 9], i / 2 == 2 ? 17 : ESP_PROTO);
			give(&b, m);
			expect_delivered(&b, n);
			assert_int_equal(send_one(&b, SEGMENT), 0);
			give(&a, take(&b));
			expect_delivered(&a, n);
			assert_true(a.rx.l4_cksum_good && b.rx.l4_cksum_good);
		}
		assert_int_equal(stats(&a)->tx_packets, 3);
		assert_int_equal(stats(&a)->rx_packets, 3);
		assert_int_equal(a.log_lines + b.log_lines, 0);
		end();
	}
	v6 = false;
}

/** A fragment of the IPv4 packet @p m: @p len octets of it from @p at on, which is in units of 8.
 */
static struct rte_mbuf *fragment(struct rte_mbuf *m, unsigned at, unsigned len, bool more)
{
	struct rte_mbuf *f = rte_pktmbuf_alloc(pool);
	uint8_t *h;

	assert_non_null(f);
	h = (uint8_t *)rte_pktmbuf_append(f, (uint16_t)(V4 + len));
	memcpy(h, octets(m), V4);
	memcpy(h + V4, octets(m) + V4 + at * 8, len);
	store_be16(h + 2, (uint16_t)(V4 + len));
	store_be16(h + 6, (uint16_t)(at | (more ? 0x2000 : 0)));
	store_be16(h + 10, 0);
	store_be16(h + 10, (uint16_t)~plain_sum(h, V4, 0));
	return f;
}

/** As a tunnel on the way may have cut it; what is put together has no checksum of its own. */
static void a_packet_in_fragments_is_taken(void **state)
{
	char *text = both_ways("", "");
	struct rte_mbuf *m;

	begin(text, text);
	assert_int_equal(send_one(&a, 1000), 0);
	m = take(&a);
	give(&b, fragment(m, 0, 512, true));
	assert_int_equal(b.n_in, 0);
	give(&b, fragment(m, 512 / 8, m->pkt_len - V4 - 512, false));
	assert_int_equal(b.n_in, 1);
	assert_int_equal(b.in_len, 1000);
	assert_int_equal(ip_stack_stats(b.ip)->reassembled, 1);
	rte_pktmbuf_free(m);
	end();
}

/** What TCP sends, and keeps. */
static struct rte_mbuf *kept_segment(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, SEGMENT), 0x50, SEGMENT);
	memset(octets(m) + SEGMENT, 0xa5, 64);
	rte_mbuf_refcnt_update(m, 1);
	return m;
}

/** Retransmission needs them as they were. */
static void octets_of_others_are_not_written_to(void **state)
{
	char *text = both_ways("", "");
	struct ip_addr src = addr(addr_of(&a)), dst = addr(addr_of(&b));
	struct ip_path p = {.tos = 0};
	struct rte_mbuf *text_of, *m;
	uint8_t before[SEGMENT];

	begin(text, text);
	assert_int_equal(ip_path_init(a.ip, &p, &src, &dst, now), 0);
	text_of = kept_segment();
	memcpy(before, octets(text_of), SEGMENT);
	assert_int_equal(ip_send(a.ip, &p, IP_PROTO_TCP, text_of, now), 0);
	/* IP has put its header before it, and TCP's checksum into it. */
	assert_memory_equal(octets(text_of) + V4 + 18, before + 18, SEGMENT - 18);
	assert_int_equal(octets(text_of)[V4 + SEGMENT + ESP_TRAILER_ROOM], 0xa5);
	m = take(&a);
	/* What comes may be somebody's, too. */
	rte_mbuf_refcnt_update(m, 1);
	give(&b, m);
	assert_int_equal(b.n_in, 1);
	give(&b, m);
	assert_int_equal(b.n_in, 2);
	rte_pktmbuf_free(text_of);
	end();
}

static void what_is_wrong_is_counted_by_its_reason(void **state)
{
	char *text = both_ways("", "replay-window 32");
	struct rte_mbuf *first, *m;

	begin(text, text);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	first = take(&a);
	give(&b, again(first));
	give(&b, again(first));
	assert_int_equal(stats(&b)->rx_replay, 1);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(send_one(&a, SEGMENT), 0);
		give(&b, take(&a));
	}
	give(&b, first);
	assert_int_equal(stats(&b)->rx_late, 1);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	first = take(&a);
	m = again(first);
	octets(m)[60] ^= 1;
	give(&b, m);
	assert_int_equal(stats(&b)->rx_bad_icv, 1);
	m = again(first);
	store_be32(octets(m) + V4 + ESP_SPI, 0x777);
	give(&b, m);
	assert_int_equal(stats(&b)->rx_no_sa, 1);
	m = again(first);
	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - V4 - 12));
	store_be16(octets(m) + 2, V4 + 12);
	store_be16(octets(m) + 10, 0);
	store_be16(octets(m) + 10, (uint16_t)~plain_sum(octets(m), V4, 0));
	give(&b, m);
	assert_int_equal(stats(&b)->rx_short, 1);
	/* After all of that the true one is still good. */
	give(&b, first);
	expect_delivered(&b, 42);
	end();
}

static void what_must_be_protected_does_not_come_in_the_clear(void **state)
{
	begin(NULL, both_ways("", ""));
	assert_int_equal(send_one(&a, SEGMENT), 0);
	give(&b, take(&a));
	assert_int_equal(b.n_in, 0);
	assert_int_equal(stats(&b)->rx_clear, 1);
	assert_non_null(strstr(b.log_text, "in the clear"));
	assert_int_equal(b.n_out, 0);
	end();
}

static void policies_bypass_and_discard(void **state)
{
	begin("ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 proto tcp dport 7174 dir out\n",
		both_ways("ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 proto tcp dir in\n", ""));
	assert_int_equal(send_one(&a, SEGMENT), 0);
	give(&b, take(&a));
	expect_delivered(&b, 1);
	/* No policy is for that. */
	assert_int_equal(
		send_to(&a, &(struct ip_addr){.b = {[10] = 255, 255, 10, 0, 0, 3}}, 60), 0);
	assert_int_equal(a.n_out, 0);
	assert_int_equal(stats(&a)->tx_discarded, 1);
	/* B protects its answer, and A has nothing to open it with. */
	assert_int_equal(send_one(&b, SEGMENT), 0);
	give(&a, take(&b));
	assert_int_equal(stats(&a)->rx_no_sa, 1);
	/* A takes nothing in the clear either. */
	end_destroy(&b);
	end_create(&b, NULL);
	assert_int_equal(send_one(&b, SEGMENT), 0);
	give(&a, take(&b));
	assert_int_equal(stats(&a)->rx_discarded, 1);
	assert_int_equal(a.n_in, 0);
	end();
}

static void without_an_sa_nothing_leaves(void **state)
{
	begin("ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 dir out tmpl proto esp\n", NULL);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	assert_int_equal(a.n_out, 0);
	assert_int_equal(stats(&a)->tx_no_sa, 1);
	assert_non_null(strstr(a.log_text, "there is no SA"));
	end();
}

/** Another host's key is no key to all policies. */
static void an_sa_is_for_its_flow_alone(void **state)
{
	char *text = both_ways("", "");

	begin(text,
		"ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 reqid 1" KEY "\n"
		"ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 dir in tmpl proto esp reqid 2\n");
	assert_int_equal(send_one(&a, SEGMENT), 0);
	give(&b, take(&a));
	assert_int_equal(stats(&b)->rx_mismatch, 1);
	assert_int_equal(b.n_in, 0);
	end();
}

static void tunnels_go_from_end_to_end(void **state)
{
	static const char text[] =
		"ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 mode tunnel" KEY
		"\n"
		"ip xfrm policy add src 10.0.0.1 dst 192.0.2.0/24 dir out tmpl src 10.0.0.1 dst "
		"10.0.0.2 proto esp mode tunnel\n"
		"ip xfrm policy add src 10.0.0.1 dst 192.0.2.0/24 dir in tmpl src 10.0.0.1 dst "
		"10.0.0.2 proto esp mode tunnel\n";
	struct ip_addr net = addr("192.0.2.0"), inner = addr("192.0.2.9");
	struct rte_mbuf *m;

	begin(text, text);
	assert_int_equal(ip_route_add(a.ip, &net, 24, NULL), 0);
	assert_int_equal(ip_addr_add(b.ip, &inner, 24, now), 0);
	assert_int_equal(send_to(&a, &inner, SEGMENT), 0);
	m = take(&a);
	assert_int_equal(load_be32(octets(m) + 16), 0x0a000002);
	give(&b, again(m));
	expect_delivered(&b, 1);
	assert_true(ip_addr_equal(&b.rx.dst, &inner));
	assert_false(b.rx.l4_cksum_good);
	rte_pktmbuf_free(m);
	/* A packet that says it is inside, and is not. */
	end_destroy(&a);
	end_create(&a, NULL);
	assert_int_equal(ip_route_add(a.ip, &net, 24, NULL), 0);
	assert_int_equal(send_to(&a, &inner, SEGMENT), 0);
	give(&b, take(&a));
	assert_int_equal(stats(&b)->rx_clear, 1);
	end();
}

static struct ip_path path_of(struct end *e)
{
	struct ip_addr src = addr(addr_of(e)), dst = addr(addr_of(e == &a ? &b : &a));
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(e->ip, &p, &src, &dst, now), 0);
	return p;
}

/** "Fragmentation needed" for the ESP packet @p m of A's, by a router. */
static void too_big(const struct rte_mbuf *m, uint16_t mtu, int32_t sequence_off)
{
	uint8_t h[V4 + 8 + V4 + 8] = {0};

	h[0] = 0x45;
	store_be16(h + 2, V4 + 8 + V4 + 8);
	h[8] = 64;
	h[9] = 1;
	memcpy(h + 12, (uint8_t[]){10, 0, 0, 9, 10, 0, 0, 1}, 8);
	store_be16(h + 10, (uint16_t)~plain_sum(h, V4, 0));
	h[V4] = 3;
	h[V4 + 1] = 4;
	store_be16(h + V4 + 6, mtu);
	memcpy(h + V4 + 8, rte_pktmbuf_mtod(m, const void *), V4 + 8);
	store_be32(h + V4 + 8 + V4 + 4, load_be32(h + V4 + 8 + V4 + 4) + (uint32_t)sequence_off);
	store_be16(h + V4 + 2, (uint16_t)~plain_sum(h + V4, 8 + V4 + 8, 0));
	give(&a, test_packet(pool, h, sizeof h));
}

static void the_path_mtu_knows_what_esp_takes(void **state)
{
	char *text =
		both_ways("ip xfrm policy add src 0.0.0.0/0 dst 10.0.0.1 proto icmp dir in\n", "");
	struct ip_path p;
	struct rte_mbuf *m;

	begin(text, text);
	p = path_of(&a);
	assert_int_equal(p.mtu, 1466);
	assert_int_equal(p.link_mtu, 1466);
	assert_int_equal(send_one(&a, 1466 - V4 + 1), -EMSGSIZE);
	assert_int_equal(send_one(&a, 1466 - V4), 0);
	m = take(&a);
	assert_int_equal(m->pkt_len, 1500);
	/* Not of our making: a sequence number that was not sent, or another SPI. */
	too_big(m, 1400, 5);
	too_big(m, 1400, -1);
	assert_int_equal(path_of(&a).mtu, 1466);
	too_big(m, 1400, 0);
	assert_int_equal(path_of(&a).mtu, 1366);
	assert_int_equal(path_of(&a).link_mtu, 1466);
	/* TCP says so itself, of what it has in its packets. */
	p = path_of(&a);
	assert_in_range(ip_path_too_big(a.ip, &p, 1300, now), 1297, 1300);
	assert_in_range(p.mtu, 1297, 1300);
	p = path_of(&a);
	assert_in_range(p.mtu, 1297, 1300);
	rte_pktmbuf_free(m);
	end();
}

static void a_new_file_is_in_force_and_a_wrong_one_is_not(void **state)
{
	char *text = both_ways("", ""), next[8192];
	struct rte_mbuf *m;

	begin(text, text);
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads, 0);
	write_file(a.path, "ip xfrm nonsense\n");
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads_failed, 1);
	assert_non_null(strstr(a.log_text, "line 1"));
	assert_non_null(strstr(a.log_text, "stays in force"));
	assert_int_equal(send_one(&a, SEGMENT), 0);
	give(&b, take(&a));
	expect_delivered(&b, 1);
	/* B first takes the new SA, then A uses it; packets of the old one are still good. */
	snprintf(next, sizeof next, "%s" SA, text, "10.0.0.1", "10.0.0.2", 0x1001, "");
	write_file(b.path, next);
	esp_boundary_look(b.esp);
	assert_int_equal(stats(&b)->sas_in, 2);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	m = take(&a);
	write_file(a.path, next);
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads, 1);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	assert_int_equal(load_be32(octets(a.out[0]) + V4), 0x1001);
	give(&b, take(&a));
	give(&b, m);
	expect_delivered(&b, 3);
	end();
}

static void a_file_without_a_policy_says_what_becomes_of_packets(void **state)
{
	char *text = both_ways("", "");

	begin(text, text);
	write_file(a.path, "");
	esp_boundary_look(a.esp);
	assert_non_null(strstr(a.log_text, "was read again"));
	assert_string_equal(strstr(a.log_before, "has no policy"),
		"has no policy: packets in are discarded, packets out are discarded");
	write_file(a.path, "ip xfrm policy setdefault in accept out accept\n");
	esp_boundary_look(a.esp);
	assert_string_equal(strstr(a.log_before, "has no policy"),
		"has no policy: packets in are taken in the clear, packets out are sent in the "
		"clear");
	end();
}

/* Refused for a passing reason, told once, and taken as it is when that has passed. */
static void a_file_is_tried_again(void **state)
{
	char *text = both_ways("", "");
	struct rlimit all, none;
	unsigned lines;

	begin(text, text);
	write_file(a.path, "");
	assert_int_equal(chmod(a.path, 0644), 0);
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads_failed, 1);
	assert_int_equal(chmod(a.path, 0600), 0);
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads, 1);
	write_file(a.path, text);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){0, all.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	esp_boundary_look(a.esp);
	lines = a.log_lines;
	esp_boundary_look(a.esp);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(stats(&a)->reloads_failed, 3);
	assert_int_equal(a.log_lines, lines);
	esp_boundary_look(a.esp);
	assert_int_equal(stats(&a)->reloads, 2);
	end();
}

static void a_new_sa_is_taken_as_soon_as_it_is_used(void **state)
{
	char *text = both_ways("", ""), next[8192];
	int len = snprintf(next, sizeof next, "%s", text);

	begin(text, text);
	for (uint32_t spi = 0x1001; spi < 0x1004; spi++) {
		/* As strangers, too, may send what there is no SA for, the third comes too early.
		 */
		now += spi == 0x1003 ? SECOND / 2000 : SECOND;
		len += snprintf(
			next + len, sizeof next - (size_t)len, SA, "10.0.0.1", "10.0.0.2", spi, "");
		write_file(a.path, next);
		write_file(b.path, next);
		esp_boundary_look(a.esp);
		assert_int_equal(send_one(&a, SEGMENT), 0);
		give(&b, take(&a));
	}
	assert_int_equal(stats(&b)->reloads, 2);
	assert_int_equal(stats(&b)->rx_no_sa, 1);
	expect_delivered(&b, 2);
	end();
}

static void without_buffers_packets_are_dropped(void **state)
{
	char *text = both_ways("", "");
	struct ip_addr src = addr(addr_of(&a)), dst = addr(addr_of(&b));
	struct rte_mbuf *all[255], *kept, *m;
	struct ip_path p = {.tos = 0};
	unsigned n = 0;

	begin(text, text);
	assert_int_equal(send_one(&a, SEGMENT), 0);
	m = take(&a);
	kept = kept_segment();
	assert_int_equal(ip_path_init(a.ip, &p, &src, &dst, now), 0);
	while (rte_mempool_avail_count(pool))
		all[n++] = rte_pktmbuf_alloc(pool);
	assert_int_equal(ip_send(a.ip, &p, IP_PROTO_TCP, kept, now), 0);
	assert_int_equal(stats(&a)->tx_no_memory, 1);
	assert_int_equal(a.n_out, 0);
	assert_int_equal(rte_mbuf_refcnt_read(kept), 1);
	rte_mbuf_refcnt_update(m, 1);
	give(&b, m);
	assert_int_equal(stats(&b)->rx_no_memory, 1);
	while (n)
		rte_pktmbuf_free(all[--n]);
	rte_pktmbuf_free(kept);
	give(&b, m);
	expect_delivered(&b, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_protected_each_way),
		cmocka_unit_test(a_packet_in_fragments_is_taken),
		cmocka_unit_test(octets_of_others_are_not_written_to),
		cmocka_unit_test(what_is_wrong_is_counted_by_its_reason),
		cmocka_unit_test(what_must_be_protected_does_not_come_in_the_clear),
		cmocka_unit_test(policies_bypass_and_discard),
		cmocka_unit_test(without_an_sa_nothing_leaves),
		cmocka_unit_test(an_sa_is_for_its_flow_alone),
		cmocka_unit_test(tunnels_go_from_end_to_end),
		cmocka_unit_test(the_path_mtu_knows_what_esp_takes),
		cmocka_unit_test(a_new_file_is_in_force_and_a_wrong_one_is_not),
		cmocka_unit_test(a_file_without_a_policy_says_what_becomes_of_packets),
		cmocka_unit_test(a_file_is_tried_again),
		cmocka_unit_test(a_new_sa_is_taken_as_soon_as_it_is_used),
		cmocka_unit_test(without_buffers_packets_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
