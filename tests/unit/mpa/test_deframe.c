/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/prng.h"
#include "mpa/deframe.h"
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

static uint8_t zero(uint32_t i)
{
	return 0;
}

/* ---- pieces ------------------------------------------------------------------------------ */

struct pieces {
	struct llp_iov v[1 << 12];
	unsigned n;
	uint8_t *memory; /* each piece its own end, for the address sanitizer to see */
};

/* The bytes in pieces of 1 to max octets; 0: in one. */
static struct mpa_cursor cut(
	struct pieces *p, const uint8_t *bytes, size_t len, uint32_t max, struct prng *random)
{
	p->n = 0;
	while (len != 0) {
		size_t n = max == 0 ? len : 1 + (size_t)prng_below(random, max);

		n = n < len ? n : len;
		assert_true(p->n < sizeof p->v / sizeof p->v[0]);
		p->v[p->n].base = memcpy(malloc(n), bytes, n);
		p->v[p->n++].len = n;
		bytes += n;
		len -= n;
	}
	return (struct mpa_cursor){.v = p->v, .n = p->n};
}

static void uncut(struct pieces *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free((void *)(uintptr_t)p->v[i].base);
}

static void check_ulpdu(const struct mpa_ulpdu *u)
{
	struct mpa_cursor c = u->at;
	uint8_t *copy = malloc(u->len + 1u);

	mpa_cursor_copy(&c, copy, u->len);
	for (uint32_t i = 0; i < u->len; i++)
		assert_int_equal(copy[i], pattern(i));
	free(copy);
}

/* ---- the two examples of RFC 5044 section 4.4 -------------------------------------------- */

static const uint8_t figure_5[] = {0, 0, 0, 0, 0, 0x2a, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	1, [0x30] = 0x52, 0x23, 0x99, 0x83};
static const uint8_t figure_6[] = {0, 0x2a, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
	0, [0x17] = 0x14, [0x30] = 0x84, 0x92, 0x58, 0x98};

static void check_figure(const uint8_t *bytes, size_t len, uint64_t at, uint8_t msn)
{
	for (uint32_t max = 0; max < 5; max++) {
		struct prng random = {max};
		struct pieces p;
		struct mpa_cursor c = cut(&p, bytes, len, max, &random);
		struct mpa_deframe d = {.at = at, .crc = true, .markers = true};
		struct mpa_fpdu f;
		uint8_t ulpdu[42], expected[42] = {0x41, 0x43, [13] = msn};

		assert_int_equal(mpa_deframe_look(&d, &c, len, &f), MPA_DEFRAME_GOOD);
		assert_int_equal(f.len, len);
		assert_int_equal(f.ulpdu.len, sizeof ulpdu);
		mpa_cursor_copy(&f.ulpdu.at, ulpdu, sizeof ulpdu);
		assert_memory_equal(ulpdu, expected, sizeof ulpdu);
		mpa_deframe_pass(&d, &c, &f);
		assert_int_equal(d.at, at + len);
		assert_int_equal(c.n, 0);
		uncut(&p);
	}
}

static void test_examples_of_the_rfc(void **state)
{
	check_figure(figure_5, sizeof figure_5, 0, 1);
	check_figure(figure_6, sizeof figure_6, 0x1ec, 2);
}

/* ---- any stream, any pieces -------------------------------------------------------------- */

static void read_stream(struct stream *s, const uint32_t *lens, unsigned n, uint32_t max)
{
	struct prng random = {max + n};
	struct pieces p;
	struct mpa_cursor c = cut(&p, s->bytes, s->len, max, &random);
	struct mpa_deframe d;
	struct mpa_fpdu f;

	mpa_deframe_init(&d, true, s->markers);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(mpa_deframe_look(&d, &c, s->len - d.at, &f), MPA_DEFRAME_GOOD);
		assert_int_equal(f.ulpdu.len, lens[i]);
		check_ulpdu(&f.ulpdu);
		mpa_deframe_pass(&d, &c, &f);
	}
	assert_int_equal(d.at, s->len);
	uncut(&p);
}

static void test_streams(void **state)
{
	static struct stream s;
	struct prng random = {5044};
	uint32_t lens[64];

	for (unsigned round = 0; round < 200; round++) {
		uint32_t longest = round % 3 == 0 ? 20 : round % 3 == 1 ? 600 : 3000;

		s = (struct stream){.markers = round & 1};
		for (unsigned i = 0; i < 64; i++) {
			lens[i] = (uint32_t)prng_below(&random, longest);
			stream_fpdu(&s, lens[i], pattern);
		}
		read_stream(&s, lens, 64, 0);
		read_stream(&s, lens, 64, 100 + round * 8);
	}
}

/* One FPDU of every small length behind a first one of every length: markers fall everywhere. */
static void test_marker_at_every_place(void **state)
{
	static struct stream s;

	for (uint32_t first = 430; first < 520; first++) {
		for (uint32_t second = 0; second < 24; second++) {
			const uint32_t lens[] = {first, second, 1};

			s = (struct stream){.markers = true};
			for (unsigned i = 0; i < 3; i++)
				stream_fpdu(&s, lens[i], pattern);
			read_stream(&s, lens, 3, 0);
			read_stream(&s, lens, 3, 3);
		}
	}
}

static void test_largest(void **state)
{
	static struct stream s;
	const uint32_t lens[] = {65535, 65535, 0};

	for (unsigned markers = 0; markers < 2; markers++) {
		s = (struct stream){.markers = markers};
		for (unsigned i = 0; i < 3; i++)
			stream_fpdu(&s, lens[i], pattern);
		read_stream(&s, lens, 3, 0);
		read_stream(&s, lens, 3, 1460);
	}
}

/* It asks for what it needs, never for more, and never for what is there already. */
static void test_incomplete(void **state)
{
	static struct stream s;

	for (unsigned markers = 0; markers < 2; markers++) {
		struct mpa_deframe d = {.crc = true, .markers = markers};
		struct mpa_cursor c;
		struct llp_iov v;
		struct mpa_fpdu f;

		s = (struct stream){.markers = markers};
		stream_fpdu(&s, 1000, pattern);
		for (size_t len = 0; len < s.len; len++) {
			uint8_t *copy = malloc(len + 1);

			v = (struct llp_iov){.base = memcpy(copy, s.bytes, len), .len = len};
			c = (struct mpa_cursor){.v = &v, .n = len != 0};
			assert_int_equal(mpa_deframe_look(&d, &c, len, &f), MPA_DEFRAME_MORE);
			assert_true(f.len > len && f.len <= s.len);
			if (len >= 6)
				assert_int_equal(f.len, s.len);
			free(copy);
		}
	}
}

/* ---- errors ------------------------------------------------------------------------------ */

static void fix_crc(struct stream *s)
{
	store_le32(s->bytes + s->len - 4, mpa_crc_end(mpa_crc_add(MPA_CRC_START,
						  s->bytes + s->begin, s->len - 4 - s->begin)));
}

static enum mpa_deframe_result look_at_last(const struct stream *s, bool crc, struct mpa_fpdu *f)
{
	static struct llp_iov v; /* the ULPDU in f points here */
	struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_deframe d = {.at = s->begin, .crc = crc, .markers = s->markers};

	v = (struct llp_iov){.base = s->bytes + s->begin, .len = s->len - s->begin};
	return mpa_deframe_look(&d, &c, v.len, f);
}

/* RFC 5044 section 8 code 3: only "in the event that the CRC is valid". */
static void check_wrong_marker(struct stream *s, uint32_t at, uint16_t should)
{
	static const uint16_t wrong[] = {4, 8, 512, 0x8000};
	struct mpa_fpdu f;

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		store_be16(s->bytes + at + 2, should ^ wrong[i]);
		assert_int_equal(look_at_last(s, true, &f), MPA_DEFRAME_CRC);
		assert_int_equal(look_at_last(s, false, &f), MPA_DEFRAME_MARKER);
		fix_crc(s);
		assert_int_equal(look_at_last(s, true, &f), MPA_DEFRAME_MARKER);
		assert_int_equal(f.marker_at, at);
		assert_int_equal(f.fpduptr, should);
		check_ulpdu(&f.ulpdu);
	}
	/* Section 4.2: reserved bits and the two low ones of FPDUPTR are ignored. */
	store_be16(s->bytes + at, 0xbeef);
	store_be16(s->bytes + at + 2, should | 3);
	fix_crc(s);
	assert_int_equal(look_at_last(s, true, &f), MPA_DEFRAME_GOOD);
	store_be16(s->bytes + at + 2, should);
	fix_crc(s);
}

static void test_wrong_markers(void **state)
{
	static struct stream s = {.markers = true};

	stream_fpdu(&s, 1200, pattern); /* 0: marker; 4: header */
	check_wrong_marker(&s, 0, 0);
	check_wrong_marker(&s, 512, 508);
	check_wrong_marker(&s, 1024, 1020);
	stream_fpdu(&s, 600, pattern); /* header at 1220 */
	assert_int_equal(s.begin, 1220);
	check_wrong_marker(&s, 1536, 316);
}

static void test_every_wrong_octet(void **state)
{
	static struct stream s = {.markers = true};
	struct mpa_fpdu f;

	stream_fpdu(&s, 300, zero);
	stream_fpdu(&s, 300, zero);
	for (uint32_t i = s.begin; i < s.len; i++) {
		/* A wrong length is seen too, once that many octets are there. */
		if (i == s.begin || i == s.begin + 1)
			continue;
		s.bytes[i] ^= 0x40;
		assert_int_equal(look_at_last(&s, true, &f), MPA_DEFRAME_CRC);
		s.bytes[i] ^= 0x40;
	}
	assert_int_equal(look_at_last(&s, true, &f), MPA_DEFRAME_GOOD);
}

/* ---- out of order ------------------------------------------------------------------------ */

static struct stream *many(uint32_t *begins, unsigned n, uint32_t longest, bool markers)
{
	static struct stream s;
	struct prng random = {longest};

	s = (struct stream){.markers = markers};
	for (unsigned i = 0; i < n; i++)
		begins[i] = stream_fpdu(&s, (uint32_t)prng_below(&random, longest), pattern);
	return &s;
}

static bool is_begin(const uint32_t *begins, unsigned n, uint64_t at)
{
	for (unsigned i = 0; i < n; i++) {
		if (begins[i] == at)
			return true;
	}
	return false;
}

/* Whatever the part, what the markers in it say is true; with a whole long FPDU, they say it. */
static void test_find(void **state)
{
	const struct mpa_deframe d = {.crc = true, .markers = true};
	struct prng random = {1};
	uint32_t begins[50];

	for (uint32_t longest = 30; longest < 3000; longest += 100) {
		struct stream *s = many(begins, 50, longest, true);

		for (unsigned round = 0; round < 100; round++) {
			uint32_t at = (uint32_t)prng_below(&random, s->len);
			uint32_t len = (uint32_t)prng_below(&random, s->len - at);
			struct pieces p;
			struct mpa_cursor c =
				cut(&p, s->bytes + at, len, round & 1 ? 300 : 0, &random);
			uint64_t start = 0;

			if (mpa_deframe_find(&d, at, &c, len, &start)) {
				assert_true(start >= at && start < at + len);
				assert_true(is_begin(begins, 50, start));
			} else {
				assert_true(len < 2 * longest + 1100);
			}
			uncut(&p);
		}
	}
}

static void test_find_hostile(void **state)
{
	uint8_t bytes[600] = {0};
	struct llp_iov v = {.base = bytes, .len = sizeof bytes};
	const struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_deframe d = {.markers = true};
	uint64_t start;

	store_be16(bytes + 2, 0xffff); /* before the stream began */
	store_be16(bytes + 514, 0x300);
	assert_false(mpa_deframe_find(&d, 0, &c, sizeof bytes, &start));
	store_be16(bytes + 514, 508); /* 4: the marker before it is its too */
	assert_true(mpa_deframe_find(&d, 0, &c, sizeof bytes, &start));
	assert_int_equal(start, 0);
	assert_false(mpa_deframe_find(&d, 0, &c, 515, &start)); /* the marker is cut */
	assert_false(mpa_deframe_find(&d, 0, &c, 0, &start));
	/* Past 2^32 as well: the stream is long, and its sequence number wraps. */
	assert_true(mpa_deframe_find(&d, UINT64_C(1) << 40, &c, sizeof bytes, &start));
	assert_int_equal(start, UINT64_C(1) << 40);
	d.markers = false;
	assert_false(mpa_deframe_find(&d, 0, &c, sizeof bytes, &start));
}

/* Does an FPDU begin with the first octet of this part of the stream, as far as a CRC proves it? */
static bool is_aligned(const struct mpa_deframe *d, uint64_t at, const struct mpa_cursor *c,
	size_t len, struct mpa_fpdu *f)
{
	struct mpa_deframe there = *d;

	there.at = at;
	return d->crc && mpa_deframe_look(&there, c, len, f) == MPA_DEFRAME_GOOD;
}

static void test_aligned(void **state)
{
	uint32_t begins[20];

	for (unsigned markers = 0; markers < 2; markers++) {
		struct mpa_deframe d = {.crc = true, .markers = markers};
		struct stream *s = many(begins, 20, 200, markers);

		for (uint32_t at = 0; at < s->len; at += 4) {
			struct llp_iov v = {.base = s->bytes + at, .len = s->len - at};
			const struct mpa_cursor c = {.v = &v, .n = 1};
			struct mpa_fpdu f;

			assert_int_equal(
				is_aligned(&d, at, &c, v.len, &f), is_begin(begins, 20, at));
		}
		d.crc = false;
		for (uint32_t at = 0; at < s->len; at += 4) {
			struct llp_iov v = {.base = s->bytes + at, .len = s->len - at};
			const struct mpa_cursor c = {.v = &v, .n = 1};
			struct mpa_fpdu f;

			assert_false(is_aligned(&d, at, &c, v.len, &f));
		}
	}
}

/* ---- a CRC that the LLP made --------------------------------------------------------------- */

static void test_covered(void **state)
{
	static struct stream s;
	struct mpa_deframe d = {.crc = true};
	size_t body;

	for (uint32_t len = 1; len < 2000; len += 3) {
		s = (struct stream){0};
		stream_fpdu(&s, len, pattern);
		body = s.len - MPA_CRC_LEN;
		/* What follows does not matter. Short ones are not worth asking for. */
		assert_int_equal(mpa_deframe_covered(&d, s.bytes, s.len),
			body >= MPA_DEFRAME_LONG ? body : 0);
		assert_int_equal(mpa_deframe_covered(&d, s.bytes, s.len + 100),
			body >= MPA_DEFRAME_LONG ? body : 0);
		assert_int_equal(mpa_deframe_covered(&d, s.bytes, s.len - 1), 0);
	}
	assert_int_equal(mpa_deframe_covered(&d, s.bytes, 1), 0);
	assert_int_equal(mpa_deframe_covered(&d, s.bytes, 0), 0);
	d.markers = true;
	assert_int_equal(mpa_deframe_covered(&d, s.bytes, s.len), 0);
	d = (struct mpa_deframe){.crc = false};
	assert_int_equal(mpa_deframe_covered(&d, s.bytes, s.len), 0);
}

/** It is believed if it is of just the octets that are asked about, and not looked at otherwise. */
static void test_known_crc(void **state)
{
	static struct stream s;
	struct mpa_deframe d = {.crc = true};
	struct mpa_fpdu f;
	uint32_t body, right;

	s = (struct stream){0};
	stream_fpdu(&s, 1000, pattern);
	body = s.len - MPA_CRC_LEN;
	right = mpa_crc_add(MPA_CRC_START, s.bytes, body);
	for (uint32_t known = 0; known <= s.len; known++) {
		struct llp_iov v = {.base = s.bytes, .len = s.len, .crc_len = known};
		struct mpa_cursor c = {.v = &v, .n = 1};

		v.crc = right ^ 1;
		assert_int_equal(mpa_deframe_look(&d, &c, s.len, &f),
			known == body ? MPA_DEFRAME_CRC : MPA_DEFRAME_GOOD);
		v.crc = right;
		assert_int_equal(mpa_deframe_look(&d, &c, s.len, &f), MPA_DEFRAME_GOOD);
	}
}

/** It is of the first octets of a piece: of an FPDU that begins later it says nothing. */
static void test_known_crc_of_what_was_before(void **state)
{
	static struct stream s;
	struct mpa_deframe d = {.crc = true};
	struct llp_iov v = {.base = s.bytes};
	struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_fpdu f;
	uint32_t first;

	s = (struct stream){0};
	stream_fpdu(&s, 1000, pattern);
	first = s.len;
	stream_fpdu(&s, 1000, zero);
	v.len = s.len;
	v.crc_len = first - MPA_CRC_LEN;
	v.crc = mpa_crc_add(MPA_CRC_START, s.bytes, v.crc_len);
	assert_int_equal(mpa_deframe_look(&d, &c, v.len, &f), MPA_DEFRAME_GOOD);
	c.off = first;
	d.at = first;
	assert_int_equal(mpa_deframe_look(&d, &c, v.len - first, &f), MPA_DEFRAME_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_of_the_rfc),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_marker_at_every_place),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_wrong_markers),
		cmocka_unit_test(test_every_wrong_octet),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_hostile),
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_known_crc),
		cmocka_unit_test(test_known_crc_of_what_was_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
