/* SPDX-License-Identifier: BSD-2-Clause */
/* What is gathered is cut again, as a device does it: the same frames must come out. */
#include "dpdk-port/tso.h"

#include "base/bytes.h"
#include "dpdk-port/port_private.h"
#include "dpdk-port/vlan.h"
#include "support/eal.h"

#include <rte_ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ACK  0x10
#define PSH  0x08
#define FIN  0x01
#define SYN  0x02
#define ECE  0x40
#define CWR  0x80
#define TEXT 1000
#define TCP  32 /* with options */
#define MOST 2048

struct segment {
	uint32_t seq;
	uint16_t text;
	uint8_t flags;
	bool v6, no_ip_cksum;
	uint16_t lport, window, vlan;
	uint8_t ttl, option;
};

struct bytes {
	uint16_t len;
	uint8_t b[MOST];
};

static struct rte_mempool *pool;
static struct tso tso;

/* ---- frames ------------------------------------------------------------------------------ */

static void put_ipv4(uint8_t *ip, const struct segment *s)
{
	uint16_t sum;

	ip[0] = 0x45;
	store_be16(ip + 2, (uint16_t)(20 + TCP + s->text));
	store_be16(ip + 6, 0x4000);
	ip[8] = s->ttl ? s->ttl : 64;
	ip[9] = 6;
	store_be32(ip + 12, 0x0a000001);
	store_be32(ip + 16, 0x0a000002);
	if (!s->no_ip_cksum)
		return;
	sum = (uint16_t)~rte_raw_cksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
}

static void put_ipv6(uint8_t *ip, const struct segment *s)
{
	ip[0] = 0x60;
	store_be16(ip + 4, (uint16_t)(TCP + s->text));
	ip[6] = 6;
	ip[7] = s->ttl ? s->ttl : 64;
	ip[8] = ip[24] = 0xfd;
	ip[23] = 1;
	ip[39] = 2;
}

static uint16_t pseudo(const uint8_t *ip, bool v4, uint64_t flags)
{
	return v4 ? rte_ipv4_phdr_cksum((const struct rte_ipv4_hdr *)ip, flags)
		  : rte_ipv6_phdr_cksum((const struct rte_ipv6_hdr *)ip, flags);
}

static void put_tcp(uint8_t *tcp, const struct segment *s)
{
	store_be16(tcp, s->lport ? s->lport : 1000);
	store_be16(tcp + 2, 2000);
	store_be32(tcp + 4, s->seq);
	store_be32(tcp + 8, 77);
	tcp[12] = TCP / 4 << 4;
	tcp[13] = s->flags ? s->flags : ACK;
	store_be16(tcp + 14, s->window ? s->window : 500);
	tcp[20] = tcp[21] = 1;
	tcp[22] = 8;
	tcp[23] = 10;
	tcp[27] = s->option;
	for (unsigned i = 0; i < s->text; i++)
		tcp[TCP + i] = (uint8_t)((s->seq + i) * 7);
}

/** As IP hands it over. */
static struct rte_mbuf *frame(const struct segment *s)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint16_t ip_len = s->v6 ? 40 : 20, sum;
	uint8_t *h;

	assert_non_null(m);
	h = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(14 + ip_len + TCP + s->text));
	memset(h, 0, m->data_len);
	h[5] = 2;
	h[11] = 1;
	store_be16(h + 12, s->v6 ? 0x86dd : 0x0800);
	if (s->v6)
		put_ipv6(h + 14, s);
	else
		put_ipv4(h + 14, s);
	put_tcp(h + 14 + ip_len, s);
	m->l2_len = 14;
	m->l3_len = ip_len;
	m->l4_len = TCP;
	m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM | (s->v6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4);
	if (!s->v6 && !s->no_ip_cksum)
		m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	sum = pseudo(h + 14, !s->v6, m->ol_flags);
	memcpy(h + 14 + ip_len + 16, &sum, 2);
	if (s->vlan)
		assert_true(vlan_push(m, s->vlan));
	return m;
}

/* ---- a device ---------------------------------------------------------------------------- */

/** Checksums of a frame on the wire. */
static void complete(struct bytes *f, uint16_t l2, bool v4)
{
	uint8_t *ip = f->b + l2, *tcp = ip + (v4 ? 20 : 40);
	uint16_t sum;

	if (v4) {
		memset(ip + 10, 0, 2);
		sum = (uint16_t)~rte_raw_cksum(ip, 20);
		memcpy(ip + 10, &sum, 2);
	}
	sum = pseudo(ip, v4, 0);
	memcpy(tcp + 16, &sum, 2);
	sum = (uint16_t)~rte_raw_cksum(tcp, (size_t)(f->b + f->len - tcp));
	memcpy(tcp + 16, &sum, 2);
}

static void put_lengths(struct bytes *f, uint16_t l2, bool v4)
{
	if (v4)
		store_be16(f->b + l2 + 2, (uint16_t)(f->len - l2));
	else
		store_be16(f->b + l2 + 4, (uint16_t)(f->len - l2 - 40));
}

/** Send @p m, and free it. @return frames, in @p out. */
static unsigned device_sends(struct rte_mbuf *m, struct bytes *out)
{
	bool v4 = m->ol_flags & RTE_MBUF_F_TX_IPV4;
	uint16_t l2 = m->l2_len, headers = (uint16_t)(l2 + m->l3_len + m->l4_len);
	uint32_t text = m->pkt_len - headers, size = text, at = 0;
	uint8_t flags = rte_pktmbuf_mtod(m, uint8_t *)[headers - TCP + 13];
	unsigned n = 0;

	if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		size = m->tso_segsz;
	for (; at < text; n++, at += size) {
		uint16_t part = (uint16_t)(text - at < size ? text - at : size);
		struct bytes *f = &out[n];
		const void *p;

		memcpy(f->b, rte_pktmbuf_mtod(m, void *), headers);
		p = rte_pktmbuf_read(m, headers + at, part, f->b + headers);
		assert_non_null(p);
		if (p != f->b + headers)
			memcpy(f->b + headers, p, part);
		f->len = (uint16_t)(headers + part);
		put_lengths(f, l2, v4);
		store_be32(f->b + headers - TCP + 4, load_be32(f->b + headers - TCP + 4) + at);
		if (at + part < text)
			f->b[headers - TCP + 13] = flags & (uint8_t) ~(PSH | FIN);
		complete(f, l2, v4);
	}
	rte_pktmbuf_free(m);
	return n;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void begin(void)
{
	tso = (struct tso){.most = TSO_SEGMENTS_MAX};
}

/** Gather @p n segments, which all fit; what the device makes of them is what they are by
 * themselves. */
static struct rte_mbuf *assert_one_chain(const struct segment *s, unsigned n)
{
	static struct bytes by_themselves[TSO_SEGMENTS_MAX], cut[TSO_SEGMENTS_MAX];
	struct rte_mbuf *m;
	uint16_t sum;

	begin();
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(device_sends(frame(&s[i]), &by_themselves[i]), 1);
		assert_true(tso_gather(&tso, frame(&s[i])));
	}
	m = tso_take(&tso);
	assert_non_null(m);
	assert_null(tso_take(&tso));
	assert_int_equal(m->nb_segs, n);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_TCP_SEG);
	assert_int_equal(m->tso_segsz, s[0].text);
	/* DPDK's ways: the pseudo header without a length; IPv4's sum is there, or is the device's.
	 */
	sum = pseudo(
		rte_pktmbuf_mtod_offset(m, uint8_t *, m->l2_len), !s->v6, RTE_MBUF_F_TX_TCP_SEG);
	assert_memory_equal(
		rte_pktmbuf_mtod_offset(m, uint8_t *, m->l2_len + m->l3_len + 16), &sum, 2);
	if (s->no_ip_cksum)
		assert_int_equal(
			rte_raw_cksum(rte_pktmbuf_mtod_offset(m, uint8_t *, m->l2_len), 20),
			0xffff);
	rte_mbuf_refcnt_update(m, 1);
	assert_int_equal(device_sends(m, cut), n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(cut[i].len, by_themselves[i].len);
		assert_memory_equal(cut[i].b, by_themselves[i].b, cut[i].len);
	}
	return m;
}

static void fill(struct segment *s, unsigned n, struct segment like)
{
	for (unsigned i = 0; i < n; i++) {
		s[i] = like;
		s[i].seq += i * like.text;
	}
}

static void the_same_frames_come_out(void **state)
{
	const struct segment kinds[] = {
		{.text = TEXT, .seq = 5},
		{.text = TEXT, .seq = UINT32_MAX - 1500},
		{.text = TEXT, .no_ip_cksum = true},
		{.text = TEXT, .v6 = true},
		{.text = TEXT, .vlan = 7},
		{.text = TEXT, .flags = ACK | ECE},
	};

	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		struct segment s[5];

		fill(s, 5, kinds[i]);
		rte_pktmbuf_free_seg(assert_one_chain(s, 5));
		/* The last may be shorter, and have its own flags. */
		s[4].text = 3;
		s[4].flags |= ACK | PSH | FIN;
		rte_pktmbuf_free_seg(assert_one_chain(s, 5));
		rte_pktmbuf_free_seg(assert_one_chain(s + 3, 2));
	}
}

/** @return true if @p b is taken behind @p a. */
static bool follows(const struct segment *a, const struct segment *b)
{
	struct rte_mbuf *m = frame(b);
	bool taken;

	begin();
	assert_true(tso_gather(&tso, frame(a)));
	taken = tso_gather(&tso, m);
	if (!taken)
		rte_pktmbuf_free(m);
	m = tso_take(&tso);
	assert_int_equal(m->nb_segs, taken ? 2 : 1);
	assert_int_equal((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0, taken);
	rte_pktmbuf_free(m);
	return taken;
}

static void what_differs_is_apart(void **state)
{
	const struct segment a = {.text = TEXT}, b = {.text = TEXT, .seq = TEXT};
	struct segment x;

#define APART(member, value)                   \
	do {                                   \
		x = b;                         \
		x.member = value;              \
		assert_false(follows(&a, &x)); \
	} while (0)

	assert_true(follows(&a, &b));
	APART(seq, TEXT + 1);
	APART(seq, 0);
	APART(text, TEXT + 8);
	APART(lport, 1001);
	APART(window, 501);
	APART(option, 1);
	APART(ttl, 63);
	APART(v6, true);
	APART(vlan, 3);
	APART(no_ip_cksum, true);
	APART(flags, ACK | ECE);
	APART(flags, ACK | CWR);
	APART(flags, ACK | SYN);
}

/** What is the last segment's alone ends a chain. */
static void nothing_follows_the_last(void **state)
{
	const struct segment b = {.text = TEXT, .seq = TEXT};
	struct segment a = {.text = TEXT, .flags = ACK | PSH}, s[3];
	struct rte_mbuf *m;

	assert_false(follows(&a, &b));
	fill(s, 3, (struct segment){.text = TEXT});
	s[1].text = 10;
	s[2].seq = TEXT + 10;
	s[2].text = 5;
	begin();
	assert_true(tso_gather(&tso, frame(&s[0])));
	assert_true(tso_gather(&tso, frame(&s[1])));
	m = frame(&s[2]);
	assert_false(tso_gather(&tso, m));
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(tso_take(&tso));
}

static void what_is_no_text_is_not_gathered(void **state)
{
	const struct segment bare = {.text = 0}, syn = {.text = 8, .flags = SYN},
			     text = {.text = 8};
	struct rte_mbuf *m;

	begin();
	m = frame(&bare);
	assert_false(tso_gather(&tso, m));
	rte_pktmbuf_free(m);
	m = frame(&syn);
	assert_false(tso_gather(&tso, m));
	rte_pktmbuf_free(m);
	m = frame(&text);
	m->ol_flags &= ~(uint64_t)RTE_MBUF_F_TX_TCP_CKSUM; /* the stack's own */
	assert_false(tso_gather(&tso, m));
	rte_pktmbuf_free(m);
	assert_null(tso_take(&tso));
}

static unsigned gathered(struct segment like, uint16_t most)
{
	unsigned n;

	tso = (struct tso){.most = most};
	for (n = 0; n < 100; n++) {
		struct rte_mbuf *m = frame(&like);

		like.seq += like.text;
		if (tso_gather(&tso, m))
			continue;
		rte_pktmbuf_free(m);
		break;
	}
	rte_pktmbuf_free(tso_take(&tso));
	return n;
}

static void a_chain_has_its_limits(void **state)
{
	assert_int_equal(gathered((struct segment){.text = 100}, 3), 3);
	assert_int_equal(gathered((struct segment){.text = 100}, UINT16_MAX), TSO_SEGMENTS_MAX);
	assert_int_equal(
		gathered((struct segment){.text = 1500}, UINT16_MAX), (65535 - 20 - TCP) / 1500);
}

/** Who keeps a reference sees that there may be others behind it. */
static void members_of_a_chain_are_known(void **state)
{
	struct rte_mbuf *m[3];
	struct segment s[3];

	fill(s, 3, (struct segment){.text = TEXT});
	begin();
	for (unsigned i = 0; i < 3; i++) {
		m[i] = frame(&s[i]);
		rte_mbuf_refcnt_update(m[i], 1);
		assert_true(tso_gather(&tso, m[i]));
	}
	rte_pktmbuf_free(tso_take(&tso)); /* the driver has sent it */
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		assert_int_equal(m[i]->next != NULL, m[i]->nb_segs != 1);
		rte_pktmbuf_free_seg(m[i]);
	}
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

/** Between frames that are no such segments, in order, with a backlog and without. */
static void a_port_gathers(void **state)
{
	struct port_config cfg = {.device = "net_ring8", .memory_mib = 40};
	const struct segment bare = {.text = 0, .seq = 5000};
	struct rte_mbuf *got[8];
	struct port_error e = {""};
	struct port *p = NULL;
	struct segment s[5];

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	assert_false(port_get_caps(p)->tx_tso); /* memory cuts nothing */
	p->gathers = true;
	p->tso.most = TSO_SEGMENTS_MAX;
	fill(s, 5, (struct segment){.text = TEXT});
	assert_false(port_has_queued(p));
	for (unsigned i = 0; i < 3; i++) {
		port_tx(p, frame(&s[i]));
		assert_true(port_has_queued(p)); /* it leaves with the round, not with the next */
	}
	port_tx(p, frame(&bare));
	port_tx(p, frame(&s[3]));
	assert_int_equal(port_rx(p, got, 8), 0);
	port_flush(p);
	assert_false(port_has_queued(p));
	assert_int_equal(port_rx(p, got, 8), 3);
	assert_int_equal(got[0]->nb_segs, 3);
	assert_int_equal(got[1]->pkt_len, 14 + 20 + TCP);
	assert_int_equal(got[2]->nb_segs, 1);
	assert_int_equal(got[2]->pkt_len, 14 + 20 + TCP + TEXT);
	assert_int_equal(port_get_stats(p)->tx_packets, 3);
	assert_int_equal(port_get_stats(p)->tx_tso, 1);
	for (unsigned i = 0; i < 3; i++)
		rte_pktmbuf_free(got[i]);
	/* What is gathered when the port stops is lost as what is queued. */
	port_tx(p, frame(&s[3]));
	port_tx(p, frame(&s[4]));
	port_stop(p);
	port_close(p);
	assert_int_equal(test_pool_missing(pool), 0);
}

static int make_pool(void **state)
{
	test_eal_init();
	pool = test_pool("frames", 300, MOST);
	return pool ? 0 : -1;
}

static int free_pool(void **state)
{
	rte_mempool_free(pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_frames_come_out),
		cmocka_unit_test(what_differs_is_apart),
		cmocka_unit_test(nothing_follows_the_last),
		cmocka_unit_test(what_is_no_text_is_not_gathered),
		cmocka_unit_test(a_chain_has_its_limits),
		cmocka_unit_test(members_of_a_chain_are_known),
		cmocka_unit_test(a_port_gathers),
	};

	return cmocka_run_group_tests(tests, make_pool, free_pool);
}
