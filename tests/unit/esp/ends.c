/* SPDX-License-Identifier: BSD-2-Clause */
#include "ends.h"

#include "base/bytes.h"
#include "support/eal.h"

#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ends ends;

const char *ends_addr_of(const struct end *e)
{
	return ends.v6        ? (e == &ends.a ? "fd00::1" : "fd00::2")
	       : e == &ends.a ? "10.0.0.1"
			      : "10.0.0.2";
}

struct ip_addr ends_addr(const char *text)
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

void ends_write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

/** @param ipsec what its file says; NULL: no IPsec. */
void end_create(struct end *e, const char *ipsec)
{
	const struct ip_transport tcp = {
		.input = input, .ctx = e, .min_len = 20, .cksum_off = 16, .words_off = 12};
	struct ip_stack_config cfg = {.mtu = 1500,
		.wheel = &e->wheel,
		.pool = ends.pool,
		.random = {fill, NULL},
		.log = &e->log,
		.transmit = transmit,
		.transmit_ctx = e,
		.no_link = true};
	struct ip_addr ours = ends_addr(ends_addr_of(e));
	char why[600] = "";

	*e = (struct end){.path = "/tmp/uiw-esp.XXXXXX"};
	e->log = (struct log_sink){log_line, e, LOG_LEVEL_DEBUG};
	timer_wheel_init(&e->wheel, ends.now);
	if (ipsec) {
		close(mkstemp(e->path));
		ends_write_file(e->path, ipsec);
		assert_int_equal(esp_boundary_create(&(struct esp_boundary_config){.path = e->path,
							     .pool = ends.pool,
							     .random = {fill, NULL},
							     .log = &e->log},
					 &e->esp),
			0);
		cfg.ipsec = esp_boundary_ops(e->esp);
	}
	assert_int_equal(ip_stack_create(&cfg, ends.now, &e->ip), 0);
	ip_set_transport(e->ip, IP_PROTO_TCP, &tcp);
	assert_int_equal(ip_addr_add(e->ip, &ours, ends.v6 ? 64 : 24, ends.now), 0);
	if (ipsec && esp_boundary_open(e->esp, e->ip, ends.now, why, sizeof why) != 0)
		fail_msg("%s", why);
}

void end_destroy(struct end *e)
{
	ip_stack_destroy(e->ip);
	esp_boundary_destroy(e->esp);
	while (e->n_out)
		rte_pktmbuf_free(e->out[--e->n_out]);
	if (e->path[5])
		unlink(e->path);
}

/** Both ends with an SA each way, and policies that want them. */
char *ends_both_ways(const char *more, const char *sa)
{
	static char text[2][4096];
	static unsigned turn;
	char *t = text[turn++ % 2];

	snprintf(t, sizeof text[0], "%s" SA SA POLICY POLICY POLICY POLICY, more,
		ends_addr_of(&ends.a), ends_addr_of(&ends.b), 0x1000, sa, ends_addr_of(&ends.b),
		ends_addr_of(&ends.a), 0x2000, sa, ends_addr_of(&ends.a), ends_addr_of(&ends.b),
		"out", ends_addr_of(&ends.a), ends_addr_of(&ends.b), "in", ends_addr_of(&ends.b),
		ends_addr_of(&ends.a), "out", ends_addr_of(&ends.b), ends_addr_of(&ends.a), "in");
	return t;
}

void ends_begin(const char *of_a, const char *of_b)
{
	test_eal_init();
	if (!ends.pool)
		ends.pool = test_pool("packets", 255, 2048);
	ends.now = 1000 * SECOND;
	end_create(&ends.a, of_a);
	end_create(&ends.b, of_b);
}

void ends_end(void)
{
	end_destroy(&ends.a);
	end_destroy(&ends.b);
	assert_int_equal(test_pool_missing(ends.pool), 0);
}

/* ---- packets ------------------------------------------------------------------------------- */

int end_send_to(struct end *e, const struct ip_addr *dst, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(ends.pool);
	struct ip_addr src = ends_addr(ends_addr_of(e));
	struct ip_path p = {.tos = 0};
	uint8_t *h;

	assert_int_equal(ip_path_init(e->ip, &p, &src, dst, ends.now), 0);
	assert_non_null(m);
	h = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	for (unsigned i = 0; i < len; i++)
		h[i] = (uint8_t)(i * 7);
	store_be16(h, 40000);
	store_be16(h + 2, 7174);
	h[12] = 0x50;
	return ip_send(e->ip, &p, IP_PROTO_TCP, m, ends.now);
}

int end_send_one(struct end *e, unsigned len)
{
	struct ip_addr dst = ends_addr(ends_addr_of(e == &ends.a ? &ends.b : &ends.a));

	return end_send_to(e, &dst, len);
}

/** The packet that @p e sent last, taken from it. */
struct rte_mbuf *end_take(struct end *e)
{
	assert_true(e->n_out > 0);
	return e->out[--e->n_out];
}

/** Another one with the same octets, which its owner may write to. */
struct rte_mbuf *end_again(const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, ends.pool, 0, UINT32_MAX);

	assert_non_null(copy);
	return copy;
}

void end_give(struct end *e, struct rte_mbuf *m)
{
	ip_input(e->ip, &m, 1, ends.now);
}

uint8_t *end_octets(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, uint8_t *);
}

const struct esp_stats *end_stats(const struct end *e)
{
	return esp_boundary_stats(e->esp);
}

void end_expect_delivered(struct end *e, unsigned n)
{
	assert_int_equal(e->n_in, n);
	assert_int_equal(e->in_len, SEGMENT);
	assert_int_equal(e->in[SEGMENT - 1], (uint8_t)((SEGMENT - 1) * 7));
}
