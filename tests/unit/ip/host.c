/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/stack.h"
#include "support/eal.h"
#include "support/plain_sum.h"

#include <ctype.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>

static void transmit(void *ctx, struct rte_mbuf *m)
{
	struct host *h = ctx;

	assert_true(h->n_tx < HOST_KEEP);
	rte_mbuf_sanity_check(m, 1);
	h->tx[h->n_tx++] = m;
}

static void input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	struct host *h = ctx;

	assert_true(h->n_rx < HOST_KEEP);
	assert_true(now == h->now);
	rte_mbuf_sanity_check(m, 1);
	h->rx_info[h->n_rx] = *rx;
	h->rx[h->n_rx++] = m;
}

static void error(void *ctx, const struct ip_error *e, uint64_t now)
{
	struct host *h = ctx;

	assert_true(e->l4_len >= 8);
	h->error = *e;
	memcpy(h->error_l4, e->l4, e->l4_len < sizeof h->error_l4 ? e->l4_len : sizeof h->error_l4);
	h->n_errors++;
}

static void log_line(void *ctx, enum log_level level, const char *text)
{
	struct host *h = ctx;

	h->log_lines++;
	snprintf(h->log_text, sizeof h->log_text, "%s", text);
}

static void fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

/** @param wish what is not as on any port: its offloads, no link, an IPsec boundary, a MAC. */
static struct host *host_create(const struct ip_stack_config *wish)
{
	static struct rte_mempool *pool;
	struct host *h = calloc(1, sizeof *h);
	struct ip_transport tcp = {.input = input,
		.error = error,
		.ctx = h,
		.tx_cksum = RTE_MBUF_F_TX_TCP_CKSUM,
		.min_len = 20,
		.cksum_off = 16,
		.words_off = 12};

	test_eal_init();
	if (!pool)
		pool = test_pool("packets", 511, 2048);
	h->pool = pool;
	h->now = 1000 * SECOND;
	h->log = (struct log_sink){log_line, h, LOG_LEVEL_DEBUG};
	timer_wheel_init(&h->wheel, h->now);
	assert_int_equal(ip_stack_create(
				 &(struct ip_stack_config){
					 .mac = {2, 0, 0, 0, 0, wish->mac[5] ? wish->mac[5] : 1},
					 .mtu = 1500,
					 .wheel = &h->wheel,
					 .pool = pool,
					 .random = {fill, NULL},
					 .log = &h->log,
					 .transmit = transmit,
					 .transmit_ctx = h,
					 .tx_ipv4_cksum = wish->tx_ipv4_cksum,
					 .tx_tcp_cksum = wish->tx_tcp_cksum,
					 .no_link = wish->no_link,
					 .ipsec = wish->ipsec,
				 },
				 h->now, &h->ip),
		0);
	ip_set_transport(h->ip, IP_PROTO_TCP, &tcp);
	ip_link_up(h->ip, h->now);
	return h;
}

struct host *host_new(void)
{
	return host_create(&(struct ip_stack_config){.mtu = 0});
}

struct host *host_new_at(uint8_t station)
{
	return host_create(&(struct ip_stack_config){.mac = {[5] = station}});
}

struct host *host_new_offload(void)
{
	return host_create(&(struct ip_stack_config){.tx_ipv4_cksum = true, .tx_tcp_cksum = true});
}

struct host *host_new_no_link(void)
{
	return host_create(&(struct ip_stack_config){.no_link = true});
}

struct host *host_new_ipsec(const struct ip_ipsec *x, bool no_link)
{
	return host_create(&(struct ip_stack_config){.ipsec = x, .no_link = no_link});
}

struct host *host_new_v4(void)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("10.0.0.1");

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
	return h;
}

struct host *host_new_v6(void)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	host_run(h, 20 * SECOND);
	timer_stop(&h->wheel, &h->ip->rs_timer); /* as if a router had answered */
	host_forget(h);
	return h;
}

void host_free(struct host *h)
{
	ip_stack_destroy(h->ip);
	host_forget(h);
	assert_true(timer_wheel_next(&h->wheel) == TIMER_NEVER);
	assert_int_equal(test_pool_missing(h->pool), 0);
	free(h);
}

struct ip_addr host_addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

void bytes_add(struct bytes *b, const char *hex)
{
	for (; *hex; hex++) {
		char two[3] = {hex[0], hex[1], '\0'};

		if (isspace((unsigned char)*hex))
			continue;
		assert_true(isxdigit((unsigned char)two[0]) && isxdigit((unsigned char)two[1]));
		assert_true(b->len < sizeof b->b);
		b->b[b->len++] = (uint8_t)strtoul(two, NULL, 16);
		hex++;
	}
}

struct bytes bytes(const char *hex)
{
	struct bytes b = {.len = 0};

	bytes_add(&b, hex);
	return b;
}

void host_input(struct host *h, const struct bytes *frame, unsigned piece)
{
	struct rte_mbuf *m = NULL;

	for (unsigned at = 0; at < frame->len || !m;) {
		unsigned n = piece && frame->len - at > piece ? piece : frame->len - at;
		struct rte_mbuf *part = test_packet(h->pool, frame->b + at, n);

		if (!m)
			m = part;
		else
			assert_int_equal(rte_pktmbuf_chain(m, part), 0);
		at += n;
	}
	assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
}

void host_input_hex(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);

	host_input(h, &b, 0);
}

void host_run(struct host *h, uint64_t ns)
{
	uint64_t end = h->now + ns;

	while (timer_wheel_next(&h->wheel) <= end) {
		h->now = timer_wheel_next(&h->wheel);
		timer_wheel_run(&h->wheel, h->now);
	}
	h->now = end;
	timer_wheel_run(&h->wheel, end);
}

static void print_frame(const char *what, const uint8_t *p, unsigned len)
{
	print_error("%s:", what);
	for (unsigned i = 0; i < len; i++)
		print_error(" %02x", p[i]);
	print_error("\n");
}

void host_expect(struct host *h, const char *hex)
{
	struct bytes want = bytes(hex);
	struct bytes got = {.len = 0};
	struct rte_mbuf *m;
	const void *p;

	assert_true(h->n_tx > 0);
	m = h->tx[0];
	h->n_tx--;
	memmove(h->tx, h->tx + 1, h->n_tx * sizeof h->tx[0]);
	got.len = m->pkt_len;
	assert_true(got.len <= sizeof got.b);
	p = rte_pktmbuf_read(m, 0, m->pkt_len, got.b);
	if (p != got.b)
		memcpy(got.b, p, got.len);
	rte_pktmbuf_free(m);
	if (got.len != want.len || memcmp(got.b, want.b, want.len) != 0) {
		print_frame("want", want.b, want.len);
		print_frame(" got", got.b, got.len);
		fail();
	}
}

void host_expect_nothing(struct host *h)
{
	if (h->n_tx)
		print_frame("sent", rte_pktmbuf_mtod(h->tx[0], uint8_t *), h->tx[0]->data_len);
	assert_int_equal(h->n_tx, 0);
}

struct ip_neighbour *host_neighbour(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return neighbour_find(h->ip, &a);
}

bool host_has_hop(struct host *h, const char *dst, const char *hop)
{
	struct ip_addr d = host_addr(dst), want = host_addr(hop), got;

	return route_next_hop(h->ip, &d, &got) == 0 && ip_addr_equal(&got, &want);
}

void host_forget(struct host *h)
{
	while (h->n_tx)
		rte_pktmbuf_free(h->tx[--h->n_tx]);
	while (h->n_rx)
		rte_pktmbuf_free(h->rx[--h->n_rx]);
}

struct rte_mbuf *host_segment(struct host *h, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);

	assert_non_null(p);
	memset(p, 0, len);
	if (len > 12)
		p[12] = 0x50;
	return m;
}

void host_send(struct host *h, struct ip_path *p, const char *src, const char *dst)
{
	struct ip_addr from = host_addr(src), to = host_addr(dst);

	if (!p->generation)
		assert_int_equal(ip_path_init(h->ip, p, &from, &to, h->now), 0);
	assert_int_equal(ip_send(h->ip, p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
}

void fix_v4_header(struct bytes *frame)
{
	uint8_t *h = frame->b + 14;

	store_be16(h + 10, 0);
	store_be16(h + 10, (uint16_t)~plain_sum(h, (h[0] & 15) * 4, 0));
}

void fix_v4(struct bytes *frame)
{
	uint8_t *h = frame->b + 14;
	unsigned hlen = (h[0] & 15) * 4;
	unsigned len = load_be16(h + 2) - hlen;
	uint32_t pseudo = h[9] == 6 || h[9] == 17 ? plain_sum(h + 12, 8, h[9] + len) : 0;

	plain_sum_fix_l4(h + hlen, len, h[9], pseudo);
	fix_v4_header(frame);
}

void fix_v6(struct bytes *frame)
{
	uint8_t *h = frame->b + 14;
	unsigned len = load_be16(h + 4);

	plain_sum_fix_l4(h + 40, len, h[6], plain_sum(h + 8, 32, h[6] + len));
}
