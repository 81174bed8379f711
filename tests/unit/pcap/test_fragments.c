/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"

#include "base/bytes.h"
#include "support/cap_bytes.h"
#include "support/cap_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/** A TCP header of 20 octets, sequence number 1000, ACK, FIN, PSH; then text. */
static const uint8_t segment[64] = "\x9c\x40\x1c\x06\0\0\x03\xe8\0\0\0\1\x50\x19\xff\xff\0\0\0\0"
				   "the text of a segment, which is longer than";

static struct fragments *t;
static const struct fragments_part *parts;
static struct cap_frame frame;

static int setup(void **state)
{
	t = fragments_new();
	frame = (struct cap_frame){.time = SECOND};
	return t == NULL;
}

static int teardown(void **state)
{
	fragments_free(t);
	return 0;
}

/* Octets @p at to @p end of the segment; the last ones end it. */
static unsigned take(uint32_t id, uint32_t at, uint32_t end)
{
	struct packet p = {
		.protocol = 6,
		.id = id,
		.offset = at,
		.more = end != sizeof segment,
		.text = segment + at,
		.len = end - at,
		.captured = end - at,
	};

	frame.number++;
	return fragments_take(t, &p, &frame, &parts);
}

/* The whole text in its parts, each where it belongs. */
static void expect_segment(unsigned n)
{
	uint32_t at = 20;

	for (unsigned i = 0; i < n; i++) {
		const struct packet *p = &parts[i].p;

		assert_int_equal(p->src.port, 40000);
		assert_int_equal(p->seq, 1000 + at - 20);
		assert_int_equal(p->continues, i != 0);
		assert_int_equal(
			p->flags, i == n - 1 ? PACKET_ACK | PACKET_FIN | PACKET_PSH : PACKET_ACK);
		assert_memory_equal(p->text, segment + at, p->len);
		at += p->len;
	}
	assert_int_equal(at, sizeof segment);
}

static void test_in_order(void **state)
{
	assert_int_equal(take(1, 0, 24), 0);
	assert_int_equal(take(1, 24, 48), 0);
	assert_int_equal(take(1, 48, 64), 3);
	expect_segment(3);
	assert_int_equal(parts[0].frame, 1);
	assert_int_equal(parts[2].frame, 3);
}

static void test_out_of_order_and_again(void **state)
{
	assert_int_equal(take(1, 48, 64), 0);
	assert_int_equal(take(1, 48, 64), 0);
	assert_int_equal(take(1, 0, 24), 0);
	assert_int_equal(take(1, 0, 24), 0);
	assert_int_equal(take(1, 24, 48), 3);
	expect_segment(3);
}

/* Packets between each other, by Identification. */
static void test_two_packets(void **state)
{
	assert_int_equal(take(1, 0, 24), 0);
	assert_int_equal(take(2, 24, 64), 0);
	assert_int_equal(take(1, 24, 64), 2);
	expect_segment(2);
	assert_int_equal(take(2, 0, 24), 2);
	expect_segment(2);
}

/* RFC 5722: no part of a packet counts if its fragments overlap. */
static void test_overlap(void **state)
{
	static const uint32_t bad[][2] = {{16, 32}, {32, 56}, {0, 16}, {0, 64}, {40, 64}};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(take(i, 0, 24), 0);
		assert_int_equal(take(i, 48, 64), 0);
		assert_int_equal(take(i, bad[i][0], bad[i][1]), 0);
		assert_int_equal(take(i, 24, 48), 0);
		assert_int_equal(take(i, 0, 24), 0);
	}
}

/* What comes behind the end, or an end before what is there. */
static void test_two_ends(void **state)
{
	struct packet p = {
		.protocol = 6, .id = 1, .offset = 64, .text = segment, .len = 8, .captured = 8};

	assert_int_equal(take(1, 24, 64), 0);
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	assert_int_equal(take(1, 0, 24), 0);
	p = (struct packet){
		.protocol = 6, .id = 2, .offset = 24, .text = segment, .len = 8, .captured = 8};
	assert_int_equal(take(2, 24, 48), 0);
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	assert_int_equal(take(2, 0, 24), 0);
	/* The largest offset and length reach beyond any packet. */
	p = (struct packet){.protocol = 6,
		.id = 3,
		.offset = 65528,
		.text = segment,
		.len = 60,
		.captured = 60};
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
}

/* All of them are there, but no packet is that long. */
static void test_longer_than_a_packet(void **state)
{
	for (uint32_t last = 7; last < 9; last++) {
		struct packet p = {
			.protocol = 6, .id = last, .more = true, .text = segment, .captured = 64};

		p.len = 32768;
		assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
		p.offset = 32768;
		p.len = 32760;
		assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
		p.offset = 65528;
		p.len = p.captured = last;
		p.more = false;
		assert_int_equal(fragments_take(t, &p, &frame, &parts), last == 7 ? 3 : 0);
	}
}

/* A SYN's text is not followed; neither is the rest of it. */
static void test_syn(void **state)
{
	uint8_t syn[sizeof segment];
	struct packet p = {
		.protocol = 6, .id = 1, .more = true, .text = syn, .len = 32, .captured = 32};

	memcpy(syn, segment, sizeof syn);
	syn[13] = PACKET_SYN;
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	p.offset = 32;
	p.more = false;
	p.text = syn + 32;
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 2);
	assert_int_equal(parts[0].p.flags, PACKET_SYN);
	assert_int_equal(parts[1].p.flags, PACKET_SYN);
}

/* RFC 1858: the first must have all of TCP's header. */
static void test_tiny_first(void **state)
{
	assert_int_equal(take(1, 0, 16), 0);
	assert_int_equal(take(1, 16, 64), 0);
}

static void test_too_many(void **state)
{
	struct packet p = {
		.protocol = 6, .id = 1, .more = true, .text = segment, .len = 8, .captured = 8};

	for (unsigned i = 0; i <= FRAGMENTS_PARTS; i++) {
		p.offset = 8 * i;
		assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	}
	p.offset = 8 * (FRAGMENTS_PARTS + 1);
	p.more = false;
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
}

/* The oldest makes room; after a minute an Identification is another packet's. */
static void test_forgotten(void **state)
{
	for (unsigned i = 0; i < 65; i++)
		assert_int_equal(take(i, 0, 24), 0);
	assert_int_equal(take(64, 24, 64), 2);
	assert_int_equal(take(1, 24, 64), 2);
	assert_int_equal(take(0, 24, 64), 0); /* its first part is gone */
	assert_int_equal(take(2, 32, 64), 0);
	frame.time += 60 * SECOND;
	assert_int_equal(take(2, 24, 32), 0);
	assert_int_equal(take(2, 0, 24), 0);
	assert_int_equal(take(2, 32, 64), 3);
	expect_segment(3);
}

/* A clock that was set back is no minute on. */
static void test_time_back(void **state)
{
	frame.time = 100 * SECOND;
	assert_int_equal(take(1, 0, 24), 0);
	frame.time -= SECOND;
	assert_int_equal(take(1, 24, 64), 2);
	expect_segment(2);
}

static struct fragments_part summed(const uint8_t *text, uint32_t at, uint32_t end)
{
	struct packet p = {.protocol = 6,
		.id = 1,
		.offset = at,
		.more = end != sizeof segment,
		.text = text + at,
		.len = end - at,
		.captured = end - at};
	unsigned n;

	frame.number++;
	n = fragments_take(t, &p, &frame, &parts);
	return n == 0 ? (struct fragments_part){.frame = 0} : parts[0];
}

/* An Identification that is used again before the rest of the first packet has come. */
static void test_used_again(void **state)
{
	uint8_t first[sizeof segment], second[sizeof segment];

	/* Their pseudo headers are of no addresses: 6 and the length. */
	memcpy(first, segment, sizeof first);
	memcpy(second, segment, sizeof second);
	second[40] ^= 0xff;
	store_be16(first + 16, 0);
	for (unsigned k = 0; k < 2; k++) {
		uint8_t *s = k == 0 ? first : second;
		uint32_t sum = 6 + sizeof segment;

		for (unsigned i = 0; i < sizeof segment; i += 2)
			sum += load_be16(s + i);
		store_be16(s + 16, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
	}
	assert_int_equal(summed(first, 0, 32).frame, 0);
	assert_int_equal(summed(first, 32, 64).p.sum, PACKET_SUM_RIGHT);
	/* The first part of this one is lost; that of the next does not go with it. */
	assert_int_equal(summed(first, 32, 64).frame, 0);
	assert_int_equal(summed(second, 0, 32).p.sum, PACKET_SUM_WRONG);
	assert_int_equal(summed(second, 32, 64).p.sum, PACKET_SUM_RIGHT);
	assert_memory_equal(parts[1].p.text, second + 32, 32);
	assert_int_equal(summed(first, 0, 32).frame, 0);
	assert_int_equal(summed(first, 32, 64).p.sum, PACKET_SUM_RIGHT);
}

/* ---- all of a capture ----------------------------------------------------------------------- */

struct heard {
	unsigned fpdus, good, aligned, whole, closed;
};

static void on_opened(void *user, struct connection *c)
{
}

static void on_fpdu(void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct heard *h = user;

	h->fpdus++;
	h->good += f->result == MPA_DEFRAME_GOOD;
	h->aligned += f->aligned;
	h->whole += f->segments == 1;
}

static void on_closed(void *user, struct connection *c, enum connection_end how, uint64_t n)
{
	struct heard *h = user;

	h->closed += how == CONNECTION_CLOSED;
}

static const struct connection_ops ops = {
	.opened = on_opened, .fpdu = on_fpdu, .closed = on_closed};

/* A frame again, in fragments of @p size, from the last to the first. */
static void fragment(struct cap_maker *to, const uint8_t *record, uint32_t size, uint16_t id)
{
	uint32_t len = load_le32(record + 8) - 34, last = (len - 1) / size * size;

	for (uint32_t at = last; at <= last; at -= size) {
		uint32_t n = at == last ? len - at : size;
		uint8_t *p = to->bytes + to->len;

		assert_true(to->len + 50 + n <= to->size);
		memcpy(p, record, 50);
		store_le32(p + 8, 34 + n);
		store_le32(p + 12, 34 + n);
		store_be16(p + 32, (uint16_t)(20 + n));
		store_be16(p + 34, id);
		store_be16(p + 36, (uint16_t)(at / 8 | (at == last ? 0 : 0x2000)));
		memcpy(p + 50, record + 50 + at, n);
		to->len += 50 + n;
	}
}

static void follow(struct cap_maker *m, struct heard *h, uint64_t *used)
{
	static const struct follow_config config;
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;

	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, &ops, h), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	assert_int_equal(w.counters.fragments_used, w.counters.kind[PACKET_FRAGMENT]);
	*used = w.counters.fragments_used;
	cap_close(c);
}

static void test_capture(void **state)
{
	struct heard whole = {0}, cut = {0};
	struct cap_maker m, f = {.size = 1 << 20};
	uint16_t id = 0;
	uint64_t used;

	cap_maker_init(&m);
	m.crc = true;
	cap_maker_start(&m);
	for (uint32_t i = 1; i < 20; i++)
		cap_maker_send(&m, 0, i, 70 * i);
	cap_maker_fin(&m, 0);
	cap_maker_fin(&m, 1);
	f.bytes = malloc(f.size);
	assert_non_null(f.bytes);
	memcpy(f.bytes, m.bytes, f.len = 24);
	for (size_t at = 24; at < m.len; at += 16 + load_le32(m.bytes + at + 8))
		fragment(&f, m.bytes + at, 24 + 8 * (id % 30), id), id++;
	follow(&m, &whole, &used);
	assert_int_equal(used, 0);
	follow(&f, &cut, &used);
	assert_true(used > 60);
	assert_int_equal(whole.good, 19);
	assert_int_equal(whole.closed, 1);
	assert_memory_equal(&cut, &whole, sizeof cut);
	free(f.bytes);
	cap_maker_free(&m);
}

/** What is fragmented is a tunnel, or has extension headers behind the fragment header. */
enum wrap { WRAP_GRE, WRAP_VXLAN, WRAP_IPIP, WRAP_OPTIONS, WRAP_MPLS, WRAP_MPLS_UDP, WRAPS };

/** Payload of IP, of which protocol @p next is the first, with @p ip, all of an IPv4 packet. */
static size_t wrap(enum wrap how, const uint8_t *ip, size_t len, uint8_t *out, uint8_t *next)
{
	static const uint8_t gre[] = {0, 0, 8, 0};
	static const uint8_t vxlan[30] = {0x12, 0x34, 0x12, 0xb5, [8] = 8, [28] = 8, 0};
	static const uint8_t options[] = {6, 0, 1, 4, 0, 0, 0, 0};
	static const uint8_t mpls[] = {0, 2, 0, 0x40, 0, 1, 1, 0x40};
	static const uint8_t mpls_udp[] = {0x12, 0x34, 0x19, 0xeb, 0, 0, 0, 0, 0, 1, 1, 0x40};
	static const struct {
		uint8_t next;
		const uint8_t *head;
		size_t len, skip;
	} ways[] = {
		[WRAP_GRE] = {47, gre, sizeof gre, 0},
		[WRAP_VXLAN] = {17, vxlan, sizeof vxlan, 0},
		[WRAP_IPIP] = {4, gre, 0, 0},
		[WRAP_OPTIONS] = {60, options, sizeof options, 20},
		[WRAP_MPLS] = {137, mpls, sizeof mpls, 0},
		[WRAP_MPLS_UDP] = {17, mpls_udp, sizeof mpls_udp, 0},
	};

	*next = ways[how].next;
	memcpy(out, ways[how].head, ways[how].len);
	memcpy(out + ways[how].len, ip + ways[how].skip, len - ways[how].skip);
	return ways[how].len + len - ways[how].skip;
}

/** A frame with @p payload: all of it or a part. @return its length. */
static size_t outer(uint8_t *out, bool v6, bool whole, uint8_t next, uint16_t id, uint32_t at,
	bool more, const uint8_t *payload, size_t len)
{
	uint8_t *p = out + 14;
	size_t header = v6 ? whole ? 40 : 48 : 20;

	memset(out, 0, 14 + header);
	store_be16(out + 12, v6 ? 0x86dd : 0x0800);
	if (v6) {
		p[0] = 0x60;
		store_be16(p + 4, (uint16_t)(len + header - 40));
		p[6] = whole ? next : 44;
		/* The ends of what has no IP inside. */
		p[23] = payload[9] == 0x40 ? 1 : 2;
		p[39] = payload[9] == 0x40 ? 2 : 1;
		if (!whole) {
			p[40] = next;
			store_be16(p + 42, (uint16_t)(at | more));
			store_be16(p + 46, id);
		}
	} else {
		p[0] = 0x45;
		store_be16(p + 2, (uint16_t)(len + header));
		store_be16(p + 4, id);
		store_be16(p + 6, (uint16_t)(at / 8 | (more ? 0x2000 : 0)));
		p[9] = next;
		store_be32(p + 12, 0x0a000101);
		store_be32(p + 16, 0x0a000102);
	}
	memcpy(p + header, payload + at, len);
	return 14 + header + len;
}

static void put_wrapped(struct cap_maker *to, enum wrap how, bool v6, const uint8_t *record,
	uint32_t size, uint16_t id)
{
	static uint8_t payload[4096];
	uint8_t next;
	size_t len = wrap(how, record + 30, load_le32(record + 8) - 14, payload, &next);
	bool whole = len <= size;

	for (size_t at = 0, n; at < len; at += n) {
		uint8_t *p = to->bytes + to->len;

		n = whole || len - at < size ? len - at : size;
		assert_true(to->len + 100 + n <= to->size);
		memcpy(p, record, 8);
		/* The direction is the same in all of them. */
		n = outer(p + 16, v6, whole, next, id, (uint32_t)at, at + n < len, payload, n);
		store_le32(p + 8, (uint32_t)n);
		store_le32(p + 12, (uint32_t)n);
		to->len += 16 + n;
		n = whole || len - at < size ? len - at : size;
	}
}

static void test_tunnels(void **state)
{
	static const uint32_t sizes[] = {96, 400, 1000};

	for (unsigned i = 0; i < WRAPS * 2 * 3; i++) {
		enum wrap how = i / 6;
		bool v6 = i % 2 != 0 || how == WRAP_OPTIONS;
		struct heard whole = {0}, cut = {0};
		struct cap_maker m, f = {.size = 1 << 20};
		uint16_t id = 0;
		uint64_t used;

		cap_maker_init(&m);
		m.crc = m.sums = true;
		cap_maker_start(&m);
		for (uint32_t k = 1; k < 20; k++)
			cap_maker_send(&m, 0, k, 70 * k);
		cap_maker_fin(&m, 0);
		cap_maker_fin(&m, 1);
		f.bytes = malloc(f.size);
		assert_non_null(f.bytes);
		memcpy(f.bytes, m.bytes, f.len = 24);
		for (size_t at = 24; at < m.len; at += 16 + load_le32(m.bytes + at + 8))
			put_wrapped(&f, how, v6, m.bytes + at, sizes[i / 2 % 3], id++);
		follow(&m, &whole, &used);
		follow(&f, &cut, &used);
		assert_true(used >= 10);
		assert_int_equal(whole.good, 19);
		assert_memory_equal(&cut, &whole, sizeof cut);
		free(f.bytes);
		cap_maker_free(&m);
	}
}

/* What carries no TCP is no loss. */
static void test_other(void **state)
{
	struct packet p = {
		.protocol = 17, .id = 1, .more = true, .text = segment, .len = 32, .captured = 32};

	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	p.offset = 32;
	p.more = false;
	p.text += 32;
	/* An Identification of another protocol is another packet's, in IPv4. */
	p.src.addr = ip_addr_from_v4((const uint8_t[]){10, 0, 0, 1});
	p.protocol = 6;
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 0);
	p.src.addr = (struct ip_addr){{0}};
	p.protocol = 17;
	assert_int_equal(fragments_take(t, &p, &frame, &parts), 2);
	assert_true(parts[0].other);
}

/* What is wrong together was put together all the same, and counts once. */
static void test_damaged(void **state)
{
	struct cap_maker m, f = {.size = 1 << 16};
	struct heard h = {0};
	uint64_t used;
	uint16_t id = 0;

	cap_maker_init(&m);
	m.crc = m.sums = true;
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 700);
	m.bytes[m.len - 100] ^= 1;
	f.bytes = malloc(f.size);
	assert_non_null(f.bytes);
	memcpy(f.bytes, m.bytes, f.len = 24);
	for (size_t at = 24; at < m.len; at += 16 + load_le32(m.bytes + at + 8))
		fragment(&f, m.bytes + at, 240, id++);
	follow(&f, &h, &used);
	assert_true(used > 3);
	assert_int_equal(h.good, 0);
	free(f.bytes);
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_order_and_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_packets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longer_than_a_packet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_syn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tiny_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_used_again, setup, teardown),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_tunnels),
		cmocka_unit_test_setup_teardown(test_other, setup, teardown),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
