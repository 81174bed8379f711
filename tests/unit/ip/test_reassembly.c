/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "support/eal.h"

#include <rte_mbuf.h>

/* A TCP "segment" of LEN bytes, byte i is i * 7, cut into fragments. */
#define LEN 2800

static uint8_t payload(unsigned i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

static void marked_v4(struct host *h, uint16_t id, unsigned from, unsigned to, bool more,
	uint8_t tos, uint8_t ttl)
{
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 08 00"
			       "45 00 00 00 00 00 00 00 40 06 00 00 0a 00 00 02 0a 00 00 01");

	b.b[14 + 1] = tos;
	b.b[14 + 8] = ttl;
	store_be16(b.b + 14 + 2, (uint16_t)(20 + to - from));
	store_be16(b.b + 14 + 4, id);
	store_be16(b.b + 14 + 6, (uint16_t)(from / 8 | (more ? 0x2000 : 0)));
	for (unsigned i = from; i < to; i++)
		b.b[b.len++] = payload(i);
	fix_v4_header(&b);
	host_input(h, &b, 0);
}

static void fragment_v4(struct host *h, uint16_t id, unsigned from, unsigned to, bool more)
{
	marked_v4(h, id, from, to, more, 0, 64);
}

static void marked_v6(struct host *h, uint32_t id, unsigned from, unsigned to, bool more,
	uint8_t tos, uint8_t ttl)
{
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 2c 40"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			       "06 00 00 00 00 00 00 00");

	store_be16(b.b + 14, (uint16_t)(0x6000 | tos << 4));
	b.b[14 + 7] = ttl;
	store_be16(b.b + 14 + 4, (uint16_t)(8 + to - from));
	store_be16(b.b + 54 + 2, (uint16_t)(from | more));
	store_be32(b.b + 54 + 4, id);
	for (unsigned i = from; i < to; i++)
		b.b[b.len++] = payload(i);
	host_input(h, &b, 0);
}

static void fragment_v6(struct host *h, uint32_t id, unsigned from, unsigned to, bool more)
{
	marked_v6(h, id, from, to, more, 0, 64);
}

static void expect_whole(struct host *h, unsigned len)
{
	uint8_t buf[4096];
	const uint8_t *p;

	assert_int_equal(h->n_rx, 1);
	assert_int_equal(h->rx[0]->pkt_len, len);
	assert_true(h->rx[0]->data_len >= 60);
	assert_int_equal(h->rx_info[0].src.b[15], 2);
	p = rte_pktmbuf_read(h->rx[0], 0, len, buf);
	for (unsigned i = 0; i < len; i++)
		assert_int_equal(p[i], payload(i));
	host_forget(h);
}

static void any_order(struct host *h, void (*piece)(struct host *, unsigned, unsigned))
{
	static const unsigned order[6][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (unsigned o = 0; o < 6; o++) {
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(h->n_rx, 0);
			piece(h, o, order[o][i]);
		}
		expect_whole(h, LEN);
	}
	assert_int_equal(ip_stack_stats(h->ip)->rx_fragments, 18);
	assert_int_equal(ip_stack_stats(h->ip)->reassembled, 6);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 0);
}

static void piece_v4(struct host *h, unsigned id, unsigned i)
{
	static const unsigned cut[] = {0, 1200, 2400, LEN};

	fragment_v4(h, (uint16_t)(100 + id), cut[i], cut[i + 1], i < 2);
}

static void piece_v6(struct host *h, unsigned id, unsigned i)
{
	static const unsigned cut[] = {0, 1232, 2464, LEN};

	fragment_v6(h, 100 + id, cut[i], cut[i + 1], i < 2);
}

static void ipv4_in_any_order(void **state)
{
	struct host *h = host_new_v4();

	any_order(h, piece_v4);
	host_free(h);
}

static void ipv6_in_any_order(void **state)
{
	struct host *h = host_new_v6();

	any_order(h, piece_v6);
	host_free(h);
}

static void pieces_that_cannot_be_are_refused(void **state)
{
	struct host *h = host_new_v4();

	fragment_v4(h, 1, 0, 8, true);          /* tiny */
	fragment_v4(h, 2, 0, 1001, true);       /* not a multiple of eight */
	fragment_v4(h, 3, 64800, 65520, false); /* beyond 65,535 */
	fragment_v4(h, 4, 8, 8, false);         /* empty */
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 4);
	host_free(h);
	h = host_new_v6();
	fragment_v6(h, 1, 0, 600, true);
	fragment_v6(h, 2, 0, 1236, true);
	fragment_v6(h, 3, 64800, 65520, false);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 3);
	host_free(h);
}

/* The library drops an empty piece alone, which must not look as if the rest had gone, too. */
static void empty_pieces_end_nothing(void **state)
{
	struct host *h = host_new_v4();

	piece_v4(h, 1, 0);
	fragment_v4(h, 101, 1200, 1200, true);
	fragment_v4(h, 101, LEN, LEN, false);
	piece_v4(h, 1, 1);
	piece_v4(h, 1, 2);
	expect_whole(h, LEN);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 2);
	host_free(h);
	h = host_new_v6();
	piece_v6(h, 1, 0);
	fragment_v6(h, 101, 1232, 1232, true);
	fragment_v6(h, 101, LEN, LEN, false);
	piece_v6(h, 1, 1);
	piece_v6(h, 1, 2);
	expect_whole(h, LEN);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 2);
	host_free(h);
}

/* The library knows no other extension header in front of that of a fragment. */
static void options_before_a_fragment_are_refused(void **state)
{
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 00 40"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			       "2c 00 01 04 00 00 00 00"
			       "06 00 00 01 00 00 00 07");
	struct host *h = host_new_v6();

	for (unsigned i = 0; i < 1232; i++)
		b.b[b.len++] = payload(i);
	store_be16(b.b + 14 + 4, 8 + 8 + 1232);
	host_input(h, &b, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_fragments, 1);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
}

/* Pieces of a packet that is a piece itself; one that is whole (RFC 6946) may be inside. */
static void fragments_of_a_fragment(void **state)
{
	static const uint16_t inner[] = {1, 1232, 0}; /* the first, the last, a whole one */
	struct host *h = host_new_v6();

	for (unsigned i = 0; i < 3; i++) {
		struct bytes b =
			bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 2c 40"
			      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			      "2c 00 00 01 00 00 00 00"
			      "06 00 00 00 00 00 00 07");

		store_be32(b.b + 54 + 4, i);
		store_be16(b.b + 62 + 2, inner[i]);
		for (unsigned at = 0; at < 1232; at++)
			b.b[b.len++] = payload(at);
		store_be16(b.b + 14 + 4, (uint16_t)(b.len - 54));
		host_input(h, &b, 0);
		b.len = 62;
		b.b[54] = 44;
		store_be16(b.b + 54 + 2, 1240);
		for (unsigned at = 1232; at < 2464; at++)
			b.b[b.len++] = payload(at);
		store_be16(b.b + 14 + 4, (uint16_t)(b.len - 54));
		host_input(h, &b, 0);
		assert_int_equal(ip_stack_stats(h->ip)->reassembled, i + 1);
	}
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 2);
	expect_whole(h, 2464);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
}

/* One datagram, its pieces in the order of @p order. They have these codepoints. */
static void three_marked(struct host *h, bool v4, const uint8_t ecn[3], const unsigned order[3])
{
	static const unsigned cut_v4[] = {0, 1200, 2400, LEN}, cut_v6[] = {0, 1232, 2464, LEN};

	for (unsigned k = 0; k < 3; k++) {
		unsigned i = order[k];
		uint8_t tos = 0x40 | ecn[i], ttl = (uint8_t)(60 + i);

		if (v4)
			marked_v4(h, 9, cut_v4[i], cut_v4[i + 1], i < 2, tos, ttl);
		else
			marked_v6(h, 9, cut_v6[i], cut_v6[i + 1], i < 2, tos, ttl);
	}
}

/* RFC 3168 section 5.3, in any order, and no other codepoint than that of all if it is the same. */
static void congestion_is_told_of_the_whole(void **state)
{
	static const struct {
		uint8_t ecn[3];
		int whole; /* -1: none */
	} t[] = {
		{{0, 0, 0}, 0},
		{{1, 1, 1}, 1},
		{{2, 2, 2}, 2},
		{{3, 3, 3}, 3},
		{{2, 2, 3}, 3},
		{{2, 3, 2}, 3},
		{{3, 2, 2}, 3},
		{{1, 3, 2}, 3},
		{{2, 0, 3}, -1},
		{{3, 0, 0}, -1},
		{{0, 0, 3}, -1},
	};
	static const unsigned order[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};

	for (unsigned i = 0; i < sizeof t / sizeof *t * 6; i++) {
		bool v4 = i & 1;
		struct host *h = v4 ? host_new_v4() : host_new_v6();
		int whole = t[i / 6].whole;

		three_marked(h, v4, t[i / 6].ecn, order[i / 2 % 3]);
		assert_int_equal(h->n_rx, whole >= 0);
		assert_int_equal(ip_stack_stats(h->ip)->reassembled, whole >= 0);
		assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, whole < 0);
		if (whole >= 0) {
			assert_int_equal(h->rx_info[0].tos, 0x40 | whole);
			assert_int_equal(h->rx_info[0].ttl, 60); /* the first piece's */
			expect_whole(h, LEN);
		}
		host_free(h);
	}
}

static void overlaps_never_come_up(void **state)
{
	struct host *h = host_new_v4();

	fragment_v4(h, 1, 0, 1200, true);
	fragment_v4(h, 1, 1000, 2400, true);
	fragment_v4(h, 1, 2400, LEN, false);
	assert_int_equal(h->n_rx, 0);
	host_run(h, 70 * SECOND);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
	/* RFC 8200 section 4.5 (RFC 5722): the whole datagram goes. */
	h = host_new_v6();
	fragment_v6(h, 1, 0, 1232, true);
	fragment_v6(h, 1, 1224, 2464, true);
	fragment_v6(h, 1, 2464, LEN, false);
	assert_int_equal(h->n_rx, 0);
	host_run(h, 70 * SECOND);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
}

/** Makes 10.0.0.2 a neighbour. */
static struct host *start_v4(void)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01");
	host_forget(h);
	return h;
}

static void incomplete_datagrams_expire(void **state)
{
	struct host *h = start_v4();

	fragment_v4(h, 1, 0, 1200, true);
	host_run(h, 59 * SECOND);
	assert_int_equal(test_pool_missing(h->pool), 1);
	host_run(h, 4 * SECOND);
	host_forget(h);
	assert_int_equal(test_pool_missing(h->pool), 0);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	/* The rest comes too late: it begins another one, which has a minute of its own. */
	fragment_v4(h, 1, 1200, LEN, false);
	assert_int_equal(h->n_rx, 0);
	host_run(h, 50 * SECOND);
	fragment_v4(h, 1, 0, 1200, true);
	expect_whole(h, LEN);
	host_free(h);
}

/** The one ICMP error that went out, at its header; NULL: there was none. */
static const uint8_t *told(const struct host *h, uint16_t ether, unsigned header, uint8_t proto)
{
	const uint8_t *error = NULL;

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		if (load_be16(p + 12) != ether || p[14 + (proto == 1 ? 9 : 6)] != proto ||
			p[14 + header] >= 128)
			continue;
		assert_null(error);
		error = p + 14 + header;
	}
	return error;
}

/** RFC 792, RFC 1122 section 3.3.2: if the first fragment came, and by the way of all errors. */
static void senders_of_what_expires_are_told(void **state)
{
	struct host *h = start_v4();
	const uint8_t *icmp;

	fragment_v4(h, 1, 0, 1200, true);
	fragment_v4(h, 2, 1200, LEN, false);
	host_run(h, 63 * SECOND);
	icmp = told(h, 0x0800, 20, 1);
	assert_non_null(icmp);
	assert_int_equal(icmp[0], 11);
	assert_int_equal(icmp[1], 1);
	assert_int_equal(load_be16(icmp + 8 + 4), 1); /* the ID */
	assert_int_equal(ip_stack_stats(h->ip)->icmp_tx, 1);
	host_free(h);
	/* Those in whose place others come between two sweeps, too. */
	h = start_v4();
	fragment_v4(h, 3, 0, 1200, true);
	host_run(h, 60 * SECOND + 1);
	h->now += SECOND / 2;
	fragment_v4(h, 3, 0, 1200, true);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_tx, 1);
	host_free(h);
}

/** RFC 8200 section 4.5. */
static void so_are_those_of_ipv6(void **state)
{
	struct host *h = host_new_v6();
	struct bytes b =
		bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 20 3a ff"
		      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
		      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
		      "88 00 00 00 60 00 00 00"
		      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 02 01 02 00 00 00 00 02");
	const uint8_t *icmp;

	fragment_v6(h, 1, 0, 1232, true);
	fragment_v6(h, 2, 1232, LEN, false);
	host_run(h, 62 * SECOND);
	host_forget(h); /* it was looked for: now it says where it is */
	fix_v6(&b);
	host_input(h, &b, 0);
	icmp = told(h, 0x86dd, 40, 58);
	assert_non_null(icmp);
	assert_int_equal(icmp[0], 3);
	assert_int_equal(icmp[1], 1);
	host_free(h);
}

/** @param change an octet of the IPv4 header or behind it, and what it becomes. */
static void is_not_told(unsigned at, uint8_t change)
{
	struct host *h = start_v4();
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 08 00"
			       "45 00 02 14 00 01 20 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			       "08 00 00 00 00 00 00 00");

	while (b.len < 14 + 0x214)
		bytes_add(&b, "00");
	b.b[14 + at] = change;
	fix_v4_header(&b);
	host_input(h, &b, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_fragments, 1);
	host_run(h, 70 * SECOND);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_tx, at == 0 ? 1 : 0);
	host_free(h);
}

static void but_not_of_everything(void **state)
{
	is_not_told(0, 0x45); /* an echo request: it is told of */
	is_not_told(20, 3);   /* an ICMP error */
	is_not_told(7, 64);   /* not the first fragment */
}

#define PIECE                                       \
	"02 00 00 00 00 01 02 00 00 00 00 02 08 00" \
	"45 00 00 00 00 00 00 00 40 06 00 00 0a 00 00 02 0a 00 00 01"

/** The first piece of the datagram that @p b has the header of; or its last. */
static void piece_input(struct host *h, struct bytes *b, uint16_t id, bool last)
{
	unsigned from = last ? 1200 : 0, to = last ? LEN : 1200;

	store_be16(b->b + 14 + 2, (uint16_t)(20 + to - from));
	store_be16(b->b + 14 + 4, id);
	store_be16(b->b + 14 + 6, last ? 1200 / 8 : 0x2000);
	for (unsigned i = from; i < to; i++)
		b->b[b->len++] = payload(i);
	fix_v4_header(b);
	host_input(h, b, 0);
}

/** That of a datagram of 10.0.@p net.@p host. */
static void piece_of(
	struct host *h, uint8_t net, uint8_t host, uint16_t id, uint8_t protocol, bool last)
{
	struct bytes b = bytes(PIECE);

	b.b[14 + 9] = protocol;
	b.b[14 + 14] = net;
	b.b[14 + 15] = host;
	piece_input(h, &b, id, last);
}

static void piece_from(struct host *h, uint8_t net, uint8_t host, uint16_t id, bool last)
{
	piece_of(h, net, host, id, IP_PROTO_TCP, last);
}

/** What never becomes whole keeps nobody else's from it. */
static void old_ones_make_room(void **state)
{
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < 16; i++)
		piece_from(h, 1, (uint8_t)i, 1, false);
	piece_from(h, 0, 2, 7, false);
	piece_from(h, 0, 2, 7, true);
	assert_int_equal(h->n_rx, 1);
	/* The oldest is gone, the second not. */
	piece_from(h, 1, 1, 1, true);
	assert_int_equal(h->n_rx, 2);
	piece_from(h, 1, 0, 1, true);
	assert_int_equal(h->n_rx, 2);
	host_free(h);
}

/** Nor does one source keep others': where no place is free it drives away its own oldest. */
static void one_source_has_a_share(void **state)
{
	struct host *h = host_new_v4();

	piece_from(h, 0, 2, 7, false);
	for (unsigned i = 0; i < 100; i++)
		piece_from(h, 0, 3, (uint16_t)i, false);
	assert_int_equal(test_pool_missing(h->pool), 16);
	/* So does another one that comes. */
	piece_from(h, 0, 4, 9, false);
	piece_from(h, 0, 4, 9, true);
	piece_from(h, 0, 2, 7, true);
	assert_int_equal(h->n_rx, 2);
	for (unsigned i = 86; i < 100; i++)
		piece_from(h, 0, 3, (uint16_t)i, true);
	assert_int_equal(h->n_rx, 16);
	host_forget(h);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
}

/** Its share is half of the places. */
static void the_share_is_a_half(void **state)
{
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < 16; i++)
		piece_from(h, 0, i < 8 ? 2 : 3, (uint16_t)i, false);
	piece_from(h, 0, 3, 99, false); /* in place of its own */
	for (unsigned i = 0; i < 8; i++)
		piece_from(h, 0, 2, (uint16_t)i, true);
	assert_int_equal(h->n_rx, 8);
	piece_from(h, 0, 3, 8, true);
	assert_int_equal(h->n_rx, 8);
	piece_from(h, 0, 3, 99, true);
	assert_int_equal(h->n_rx, 9);
	host_free(h);
}

/** What the library drops waits no more: it takes nobody's place. */
static void what_is_dropped_leaves_its_place(void **state)
{
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < 15; i++)
		piece_from(h, 1, (uint8_t)i, 1, false);
	piece_from(h, 0, 2, 7, false);
	piece_from(h, 0, 2, 7, false); /* twice: no part of it is left */
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	assert_int_equal(test_pool_missing(h->pool), 15);
	piece_from(h, 0, 3, 8, false);
	assert_int_equal(test_pool_missing(h->pool), 16);
	piece_from(h, 0, 3, 8, true);
	for (unsigned i = 0; i < 15; i++)
		piece_from(h, 1, (uint8_t)i, 1, true);
	assert_int_equal(h->n_rx, 16);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	host_free(h);
}

/** RFC 791: the protocol tells packets apart. RFC 8200 section 4.5: that of the first piece counts.
 */
static void protocols_are_told_apart(void **state)
{
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 2c 40"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			       "11 00 04 d0 00 00 00 09");
	struct host *h = host_new_v4();

	piece_of(h, 0, 2, 7, IP_PROTO_TCP, false);
	piece_of(h, 0, 2, 7, 17, true);
	assert_int_equal(ip_stack_stats(h->ip)->reassembled, 0);
	piece_of(h, 0, 2, 7, IP_PROTO_TCP, true);
	assert_int_equal(ip_stack_stats(h->ip)->reassembled, 1);
	expect_whole(h, LEN);
	host_run(h, 70 * SECOND);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
	host_free(h);
	h = host_new_v6();
	fragment_v6(h, 9, 0, 1232, true);
	for (unsigned i = 1232; i < LEN; i++)
		b.b[b.len++] = payload(i);
	store_be16(b.b + 14 + 4, 8 + LEN - 1232);
	host_input(h, &b, 0);
	expect_whole(h, LEN);
	host_free(h);
}

static void piece_to(struct host *h, uint8_t host, uint16_t id, bool last)
{
	struct bytes b = bytes(PIECE);

	b.b[14 + 19] = host;
	piece_input(h, &b, id, last);
}

/** RFC 791: the destination does, too: a sender may count the IDs of each apart (RFC 6864). */
static void destinations_are_told_apart(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr other = host_addr("10.0.0.9");

	assert_int_equal(ip_addr_add(h->ip, &other, 24, h->now), 0);
	piece_to(h, 1, 7, false);
	piece_to(h, 9, 7, true);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 0);
	piece_to(h, 9, 7, false);
	assert_int_equal(h->rx_info[0].dst.b[15], 9);
	expect_whole(h, LEN);
	piece_to(h, 1, 7, true);
	assert_int_equal(h->rx_info[0].dst.b[15], 1);
	expect_whole(h, LEN);
	host_free(h);
}

static void strangers_can_hold_only_so_many_buffers(void **state)
{
	struct host *h = start_v4();

	for (unsigned i = 0; i < 400; i++)
		fragment_v4(h, (uint16_t)i, 0, 1200, true);
	assert_int_equal(test_pool_missing(h->pool), 16);
	assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 400 - 16);
	host_run(h, 70 * SECOND);
	host_forget(h);
	assert_int_equal(test_pool_missing(h->pool), 0);
	host_free(h);
	/* Many pieces of one. */
	h = host_new_v4();
	for (unsigned i = 0; i < 40; i++)
		fragment_v4(h, 7, i * 512, (i + 1) * 512, true);
	assert_in_range(test_pool_missing(h->pool), 0, 16);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_in_any_order),
		cmocka_unit_test(ipv6_in_any_order),
		cmocka_unit_test(pieces_that_cannot_be_are_refused),
		cmocka_unit_test(empty_pieces_end_nothing),
		cmocka_unit_test(options_before_a_fragment_are_refused),
		cmocka_unit_test(fragments_of_a_fragment),
		cmocka_unit_test(congestion_is_told_of_the_whole),
		cmocka_unit_test(overlaps_never_come_up),
		cmocka_unit_test(incomplete_datagrams_expire),
		cmocka_unit_test(senders_of_what_expires_are_told),
		cmocka_unit_test(so_are_those_of_ipv6),
		cmocka_unit_test(but_not_of_everything),
		cmocka_unit_test(old_ones_make_room),
		cmocka_unit_test(one_source_has_a_share),
		cmocka_unit_test(the_share_is_a_half),
		cmocka_unit_test(what_is_dropped_leaves_its_place),
		cmocka_unit_test(protocols_are_told_apart),
		cmocka_unit_test(destinations_are_told_apart),
		cmocka_unit_test(strangers_can_hold_only_so_many_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
