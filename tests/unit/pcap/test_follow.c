/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_whole(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_send(&m, 1, 1, 11);
	cap_maker_fin(&m, 0);
	cap_maker_fin(&m, 1);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP><..C");
	assert_int_equal(h.good, 2);
	assert_int_equal(h.unaligned, 0);
	assert_int_equal(h.how, CONNECTION_CLOSED);
}

/* All the text of one side, octet by octet, in segments of one to fifty. */
static void test_any_segmentation(void **state)
{
	static const struct follow_config config;

	for (unsigned step = 1; step <= 50; step += step < 8 ? 1 : 7) {
		for (int markers = 0; markers < 2; markers++) {
			static uint8_t text[4096];
			struct cap_maker m;
			struct heard h;
			size_t n = 24;

			cap_maker_init(&m);
			m.markers = markers;
			cap_maker_handshake(&m);
			memcpy(text, MPA_REQUEST_KEY "\0\2\0\4\0\4\0\4", 24);
			text[16] =
				MPA_FLAG_ENHANCED | MPA_FLAG_CRC | (markers ? MPA_FLAG_MARKERS : 0);
			for (size_t at = 0; at < n; at += step)
				cap_maker_text(&m, 0, text + at, n - at < step ? n - at : step);
			cap_maker_reply(&m);
			n = cap_maker_frame(
				&m, 0, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0hi", 20, text);
			n += cap_maker_frame(
				&m, 0, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0", 18, text + n);
			for (unsigned i = 0; i < 4; i++) {
				static uint8_t send[700] = {0x41, 0x43, [13] = 3};

				n += cap_maker_frame(&m, 0, send, sizeof send, text + n);
			}
			for (size_t at = 0; at < n; at += step)
				cap_maker_text(&m, 0, text + at, n - at < step ? n - at : step);
			follow(&m, &config, &h);
			assert_string_equal(h.text, "ORP>>>>>>C");
			assert_int_equal(h.good, 6);
		}
	}
}

static void test_not_iwarp(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, "GET / HTTP/1.0", 14);
	cap_maker_text(&m, 1, "MPA ID Re", 9);
	cap_maker_text(&m, 1, "al", 2);
	expect(&m, "");
}

/* RFC 5044 section 7.1.3: the ULP may talk before. */
static void test_delayed_start(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, "hello, shall we?", 16);
	cap_maker_text(&m, 1, "yes", 3);
	expect_whole(&m);
}

static void test_without_syn(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	expect_whole(&m);
}

static void test_reject(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_request(&m);
	cap_maker_text(&m, 1, MPA_REPLY_KEY "\x20\1\0\0", 20);
	cap_maker_text(&m, 0, "so be it", 8);
	expect(&m, "ORPC");
}

static void test_bad_start(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, MPA_REQUEST_KEY "\0\7\0\0", 20);
	expect(&m, "OEC");
	connected(&m);
	cap_maker_request(&m);
	cap_maker_text(&m, 1, "HTTP/1.0 400 Bad Request", 24);
	expect(&m, "OREC");
}

/* Only one direction was captured: what was negotiated is found out from the FPDUs. */
static void test_half(void **state)
{
	static const struct follow_config config;

	for (int markers = 0; markers < 2; markers++) {
		for (unsigned side = 0; side < 2; side++) {
			struct cap_maker m;
			struct heard h;

			cap_maker_init(&m);
			m.markers = markers;
			if (side == 0)
				cap_maker_request(&m);
			else
				cap_maker_reply(&m);
			for (uint32_t i = 1; i <= 5; i++)
				cap_maker_send(&m, side, i, 600);
			follow(&m, &config, &h);
			assert_string_equal(h.text, side == 0 ? "OR>>>>>C" : "OP<<<<<C");
			assert_int_equal(h.good, 5);
		}
	}
}

/* The capture begins between the request and the reply. */
static void test_request_missing(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_reply(&m);
	for (uint32_t i = 1; i <= 3; i++) {
		cap_maker_send(&m, 0, i, 60);
		cap_maker_send(&m, 1, i, 60);
	}
	follow(&m, &config, &h);
	assert_string_equal(h.text, "OP><><><C");
	assert_int_equal(h.bad, 0);
}

/* A hole in the capture: FPDUs are found again at the beginning of a segment, or by a marker. */
static void test_hole(void **state)
{
	static const struct follow_config config;

	for (int markers = 0; markers < 2; markers++) {
		struct cap_maker m;
		struct heard h;
		size_t len;

		cap_maker_init(&m);
		m.markers = markers;
		cap_maker_start(&m);
		cap_maker_send(&m, 0, 1, 800);
		len = m.len;
		cap_maker_send(&m, 0, 2, 800);
		m.len = len;
		for (uint32_t i = 3; i < 6; i++)
			cap_maker_send(&m, 0, i, 800);
		for (int i = 0; i < 40; i++)
			cap_maker_packet(&m, 1, m.seq[1], m.seq[0], 0x10, NULL, 0);
		follow(&m, &config, &h);
		assert_string_equal(h.text, "ORP>mlf>>>C");
		assert_int_equal(h.good, 4);
		assert_int_equal(h.unseen, 0);
	}
}

/* A hole within the payload of one FPDU costs its CRC, no more. */
static void test_hole_inside(void **state)
{
	static const struct follow_config config;
	uint8_t ulpdu[1000] = {0x41, 0x43, [13] = 1}, out[1600];
	struct cap_maker m;
	struct heard h;
	size_t n;

	cap_maker_init(&m);
	cap_maker_start(&m);
	n = cap_maker_frame(&m, 0, ulpdu, sizeof ulpdu, out);
	cap_maker_text(&m, 0, out, 100);
	m.seq[0] += 200;
	cap_maker_text(&m, 0, out + 300, n - 300);
	cap_maker_send(&m, 0, 2, 5);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPm>>C");
	assert_int_equal(h.unseen, 1);
}

static void test_snap_length(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	m.snap = 128;
	cap_maker_start(&m);
	for (uint32_t i = 1; i <= 3; i++)
		cap_maker_send(&m, 0, i, 500);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPs>s>s>C");
	assert_int_equal(h.unseen, 3);
}

static void test_bad_crc(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	m.bytes[m.len - 1] ^= 1;
	cap_maker_send(&m, 0, 2, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP>>C");
	assert_int_equal(h.bad, 1);
}

static void test_sent_again(void **state)
{
	struct cap_maker m;
	uint32_t seq;

	cap_maker_init(&m);
	cap_maker_start(&m);
	seq = m.seq[0];
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = seq;
	m.at[0] = 0;
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = seq;
	m.at[0] = 0;
	cap_maker_send(&m, 0, 2, 10);
	cap_maker_send(&m, 1, 1, 10);
	expect(&m, "ORP>c<C");
}

/* What is not read is named, with its first frame. */
static void test_unread(void **state)
{
	static const uint8_t frame[] = "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0"
				       "\x45\0\0\x24\0\0\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
				       "\x12\x34\x17\xc1\0\x10\0\0\0\0\x65\x58\0\0\0\0";
	struct cap_frame f = {.link = 1, .bytes = frame};
	struct follow_config config = {.max_flows = 4};
	struct follow w;

	f.len = f.captured = sizeof frame - 1;
	assert_int_equal(follow_init(&w, &config, &heard_ops, NULL), 0);
	for (f.number = 5; f.number < 8; f.number++)
		follow_frame(&w, &f);
	follow_finish(&w);
	assert_string_equal(w.counters.unread[0].name, "GENEVE");
	assert_int_equal(w.counters.unread[0].frames, 3);
	assert_int_equal(w.counters.unread[0].first, 5);
	assert_null(w.counters.unread[1].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_any_segmentation),
		cmocka_unit_test(test_not_iwarp),
		cmocka_unit_test(test_delayed_start),
		cmocka_unit_test(test_without_syn),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_bad_start),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_request_missing),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_hole_inside),
		cmocka_unit_test(test_snap_length),
		cmocka_unit_test(test_bad_crc),
		cmocka_unit_test(test_sent_again),
		cmocka_unit_test(test_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
