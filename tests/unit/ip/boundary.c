/* SPDX-License-Identifier: BSD-2-Clause */
#include "boundary.h"

#include "base/bytes.h"
#include "ip/stack.h"
#include "support/eal.h"

#include <rte_mbuf.h>

struct boundary boundary;

/** With a link's header in front. Lengths and checksums of a whole header are filled in. */
static struct bytes frame(const char *hex)
{
	struct bytes b = bytes(hex);
	uint8_t *ip = b.b + 14;

	if (ip[0] >> 4 == 4 && b.len >= 14 + 20) {
		store_be16(ip + 2, (uint16_t)(b.len - 14));
		if (load_be16(ip + 6) & 0x3fff)
			fix_v4_header(&b);
		else
			fix_v4(&b);
	} else if (ip[0] >> 4 == 6 && b.len >= 54) {
		store_be16(ip + 4, (uint16_t)(b.len - 54));
		if (ip[6] == 6 || ip[6] == 17 || ip[6] == 58)
			fix_v6(&b);
	}
	return b;
}

static bool is_tunnel(void)
{
	return !ip_addr_is_any(&boundary.tunnel);
}

static void protect(struct rte_mbuf *m)
{
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);
	bool v4 = h[0] >> 4 == 4;
	struct bytes b = bytes(boundary.outside);

	h[v4 ? 9 : 6] = boundary.outside_proto;
	memcpy(h + (v4 ? 20 : 40), b.b, b.len);
	if (is_tunnel())
		memcpy(h + (v4 ? 16 : 24), boundary.tunnel.b + (v4 ? 12 : 0), v4 ? 4 : 16);
}

static enum ip_ipsec_verdict output(
	void *ctx, const struct ip_flow *f, struct rte_mbuf **m, struct ip_addr *to, uint64_t now)
{
	assert_ptr_equal(ctx, &boundary);
	boundary.out = *f;
	boundary.n_out++;
	if (boundary.out_verdict == IP_IPSEC_DROPPED)
		rte_pktmbuf_free(*m);
	if (boundary.out_verdict == IP_IPSEC_CHANGED && boundary.outside)
		protect(*m);
	if (boundary.out_verdict == IP_IPSEC_CHANGED && is_tunnel())
		*to = boundary.tunnel;
	return boundary.out_verdict;
}

static enum ip_ipsec_verdict input(void *ctx, const struct ip_flow *f, struct rte_mbuf **m,
	uint16_t l4_off, const void **secured, uint64_t now)
{
	struct bytes inside;

	assert_ptr_equal(ctx, &boundary);
	assert_true(now == boundary.host->now);
	assert_true(l4_off <= (*m)->data_len);
	boundary.in = *f;
	boundary.n_in++;
	boundary.secured = *secured;
	if (f->proto != ESP && boundary.inner_verdict == IP_IPSEC_DROPPED)
		rte_pktmbuf_free(*m);
	if (f->proto != ESP)
		return boundary.inner_verdict;
	if (boundary.in_verdict == IP_IPSEC_PASS)
		return IP_IPSEC_PASS;
	rte_pktmbuf_free(*m);
	if (boundary.in_verdict != IP_IPSEC_DROPPED) {
		inside = frame(boundary.inside);
		*m = test_packet(boundary.host->pool, inside.b + 14, inside.len - 14);
		(*m)->ol_flags = boundary.inside_flags;
		*secured = &boundary;
	}
	return boundary.in_verdict;
}

static bool clear(void *ctx, const struct ip_flow *f)
{
	assert_ptr_equal(ctx, &boundary);
	boundary.in = *f;
	boundary.n_in++;
	boundary.secured = NULL;
	return boundary.inner_verdict == IP_IPSEC_PASS;
}

static uint16_t room(void *ctx, const struct ip_addr *src, const struct ip_addr *dst, uint16_t mtu,
	struct ip_addr *to)
{
	assert_ptr_equal(ctx, &boundary);
	boundary.n_room++;
	*to = is_tunnel() ? boundary.tunnel : *dst;
	return mtu - boundary.overhead;
}

static bool sent(void *ctx, const struct ip_flow *f, const uint8_t *esp, size_t len, uint64_t now)
{
	assert_ptr_equal(ctx, &boundary);
	boundary.asked = *f;
	return memcmp(esp, bytes(SPI).b, 8) == 0;
}

static const struct ip_ipsec ops = {&boundary, output, input, clear, room, sent};

const struct boundary_family boundary_families[2] = {
	{"10.0.0.1", "10.0.0.2", "10.0.0.9", "192.0.2.1", 20, 576},
	{"fd00::1", "fd00::2", "fd00::9", "2001:db8::1", 40, 1280},
};

struct host *boundary_host(bool no_link)
{
	struct host *h = host_new_ipsec(&ops, no_link);

	memset(&boundary, 0, sizeof boundary);
	boundary.overhead = OVERHEAD;
	boundary.host = h;
	for (unsigned i = 0; i < 2; i++) {
		struct ip_addr a = host_addr(boundary_families[i].ours);

		assert_int_equal(ip_addr_add(h->ip, &a, i ? 64 : 24, h->now), 0);
	}
	host_run(h, 20 * SECOND);
	host_forget(h);
	return h;
}

void boundary_received(struct host *h, const char *hex)
{
	struct bytes b = frame(hex);

	if (h->ip->cfg.no_link)
		memmove(b.b, b.b + 14, b.len -= 14);
	host_input(h, &b, 0);
}
