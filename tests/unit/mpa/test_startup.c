/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/startup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* From Linux siw: peer-to-peer, IRD 1, ORD 1, RTR Write and Read. */
static const uint8_t siw_request[] = "MPA ID Req Frame\x10\x02\x00\x04\x80\x01\xc0\x01";
static const uint8_t siw_reply[] = "MPA ID Rep Frame\x10\x02\x00\x04\x80\x01\x80\x01";

static int parse(enum mpa_frame f, const void *b, size_t len, struct mpa_start *st)
{
	const char *reason = NULL;
	size_t need = 0;
	int rc = mpa_startup_parse(f, b, len, st, &need, &reason);

	if (rc < 0)
		assert_non_null(reason);
	if (rc == 0)
		assert_true(need > len);
	return rc;
}

static void test_parse_siw_request(void **state)
{
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REQUEST, siw_request, 24, &st), 24);
	assert_int_equal(st.revision, 2);
	assert_true(st.enhanced);
	assert_true(st.peer_to_peer);
	assert_int_equal(st.rtr, MPA_RTR_WRITE | MPA_RTR_READ);
	assert_int_equal(st.ird, 1);
	assert_int_equal(st.ord, 1);
	assert_int_equal(st.private_len, 0);
	assert_false(st.crc || st.markers || st.reject);
}

static void test_parse_siw_reply(void **state)
{
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REPLY, siw_reply, 24, &st), 24);
	assert_true(st.peer_to_peer);
	assert_int_equal(st.rtr, MPA_RTR_WRITE);
}

/* B is the second bit of the IRD word; the depths have 14 bits. */
static void test_parse_all_flags(void **state)
{
	static const uint8_t b[] = "MPA ID Rep Frame\xf0\x02\x00\x06\xff\xff\xff\xfe"
				   "hi";
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REPLY, b, 26, &st), 26);
	assert_true(st.crc && st.markers && st.reject && st.enhanced && st.peer_to_peer);
	assert_int_equal(st.rtr, MPA_RTR_SEND | MPA_RTR_WRITE | MPA_RTR_READ);
	assert_int_equal(st.ird, MPA_DEPTH_UNKNOWN);
	assert_int_equal(st.ord, 0x3ffe);
	assert_int_equal(st.private_len, 2);
	assert_memory_equal(st.private_data, "hi", 2);
}

/* Without A, the other three MUST be ignored (RFC 6581 section 9.2). */
static void test_parse_flags_without_a(void **state)
{
	static const uint8_t b[] = "MPA ID Req Frame\x10\x02\x00\x04\x40\x08\xc0\x10";
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REQUEST, b, 24, &st), 24);
	assert_false(st.peer_to_peer);
	assert_int_equal(st.rtr, 0);
	assert_int_equal(st.ird, 8);
	assert_int_equal(st.ord, 16);
}

/* R in a request and reserved bits are not checked; S means nothing below revision 2. */
static void test_parse_lenient_request(void **state)
{
	static const uint8_t b[] = "MPA ID Req Frame\x3f\x01\x00\x03xyz";
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REQUEST, b, 23, &st), 23);
	assert_false(st.reject);
	assert_false(st.enhanced);
	assert_int_equal(st.private_len, 3);
	assert_int_equal(st.ird, MPA_DEPTH_UNKNOWN);
}

static void test_parse_revision_0(void **state)
{
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REQUEST, "MPA ID Req Frame\x40\x00\x00\x00", 20, &st), 20);
	assert_int_equal(st.revision, 0);
	assert_true(st.crc);
}

static void test_parse_needs_all(void **state)
{
	struct mpa_start st;

	for (size_t len = 0; len < 24; len++)
		assert_int_equal(parse(MPA_FRAME_REQUEST, siw_request, len, &st), 0);
}

/* Each kind of malformed frame has its reason, for the log (RFC 5044 section 7.1.1). */
static void test_parse_bad(void **state)
{
	static const struct {
		enum mpa_frame frame;
		const char *bytes;
		size_t len;
		const char *reason;
	} bad[] = {
		/* Section 7.1.2 rule 8: initiator meets initiator, responder meets responder. */
		{MPA_FRAME_REQUEST, "MPA ID Rep Frame\x00\x01\x00\x00", 20, "our own role"},
		{MPA_FRAME_REPLY, "MPA ID Req Frame\x00\x01\x00\x00", 20, "our own role"},
		{MPA_FRAME_REQUEST, "MPA_ID_Req_Frame\x00\x01\x00\x00", 20, "not an MPA key"},
		{MPA_FRAME_REPLY, "HTTP/1.1 400 Bad Request", 24, "not an MPA key"},
		/* Nothing that could follow would make it one. */
		{MPA_FRAME_REPLY, "220 \r\n", 6, "not an MPA key"},
		{MPA_FRAME_REQUEST, "\x16", 1, "not an MPA key"},
		{MPA_FRAME_REQUEST, "MPA ID Rep", 10, "our own role"},
		{MPA_FRAME_REQUEST, "MPA ID Req Frame\x00\x03\x00\x00", 20, "above 2"},
		{MPA_FRAME_REPLY, "MPA ID Rep Frame\x00\xff\x00\x00", 20, "above 2"},
		{MPA_FRAME_REQUEST, "MPA ID Req Frame\x00\x01\x02\x01", 20, "512 bytes"},
		{MPA_FRAME_REPLY, "MPA ID Rep Frame\x00\x02\xff\xff", 20, "512 bytes"},
		{MPA_FRAME_REQUEST, "MPA ID Req Frame\x10\x02\x00\x03xyz", 23, "S bit"},
		{MPA_FRAME_REPLY, "MPA ID Rep Frame\x10\x02\x00\x00", 20, "S bit"},
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *reason = "none";
		struct mpa_start st;
		size_t need;

		assert_int_equal(mpa_startup_parse(bad[i].frame, (const uint8_t *)bad[i].bytes,
					 bad[i].len, &st, &need, &reason),
			-EPROTO);
		assert_non_null(strstr(reason, bad[i].reason));
	}
}

static void test_build_request(void **state)
{
	struct mpa_start st = {.revision = 2,
		.enhanced = true,
		.peer_to_peer = true,
		.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
		.ird = 1,
		.ord = 1};
	uint8_t out[MPA_FRAME_MAX];

	assert_int_equal(mpa_startup_build(MPA_FRAME_REQUEST, &st, out), 24);
	assert_memory_equal(out, siw_request, 24);
	st.rtr = MPA_RTR_WRITE;
	assert_int_equal(mpa_startup_build(MPA_FRAME_REPLY, &st, out), 24);
	assert_memory_equal(out, siw_reply, 24);
}

static void test_build_reply_all(void **state)
{
	struct mpa_start st = {.revision = 2,
		.enhanced = true,
		.crc = true,
		.markers = true,
		.reject = true,
		.peer_to_peer = true,
		.rtr = MPA_RTR_SEND,
		.ird = 0xffff, /* more than the field holds: the largest there is */
		.ord = 3,
		.private_data = (const uint8_t *)"hi",
		.private_len = 2};
	uint8_t out[MPA_FRAME_MAX];

	assert_int_equal(mpa_startup_build(MPA_FRAME_REPLY, &st, out), 26);
	assert_memory_equal(out, "MPA ID Rep Frame\xf0\x02\x00\x06\xff\xff\x00\x03hi", 26);
	st.peer_to_peer = false; /* then no flag may be set */
	assert_int_equal(mpa_startup_build(MPA_FRAME_REPLY, &st, out), 26);
	assert_memory_equal(out, "MPA ID Rep Frame\xf0\x02\x00\x06\x3f\xff\x00\x03hi", 26);
}

/* RFC 6581 section 9.1: all ones say that a depth is not told; a larger one is told as that. */
static void test_build_large_depths(void **state)
{
	const struct mpa_start st = {
		.revision = 2, .enhanced = true, .ird = 0x4000, .ord = UINT16_MAX};
	uint8_t out[MPA_FRAME_MAX];

	assert_int_equal(mpa_startup_build(MPA_FRAME_REPLY, &st, out), 24);
	assert_memory_equal(out + 20, "\x3f\xff\x3f\xff", 4);
}

/* Revision 2 without S: as revision 1, whatever the private data looks like (RFC 6581 section 9).
 */
static void test_parse_revision_2_without_s(void **state)
{
	static const uint8_t b[] = "MPA ID Req Frame\x40\x02\x00\x04\x80\x01\xc0\x01";
	struct mpa_start st;

	assert_int_equal(parse(MPA_FRAME_REQUEST, b, 24, &st), 24);
	assert_int_equal(st.revision, 2);
	assert_false(st.enhanced || st.peer_to_peer);
	assert_int_equal(st.ird, MPA_DEPTH_UNKNOWN);
	assert_int_equal(st.private_len, 4);
	assert_memory_equal(st.private_data, b + 20, 4);
}

static void test_build_private_limits(void **state)
{
	uint8_t data[513] = {1}, out[MPA_FRAME_MAX];
	struct mpa_start st = {.revision = 1, .private_data = data, .private_len = 512};

	assert_int_equal(mpa_startup_build(MPA_FRAME_REQUEST, &st, out), 532);
	st.private_len = 513;
	assert_int_equal(mpa_startup_build(MPA_FRAME_REQUEST, &st, out), -EINVAL);
	st = (struct mpa_start){.revision = 2, .enhanced = true, .private_data = data};
	st.private_len = 508;
	assert_int_equal(mpa_startup_build(MPA_FRAME_REQUEST, &st, out), 532);
	st.private_len = 509;
	assert_int_equal(mpa_startup_build(MPA_FRAME_REQUEST, &st, out), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_siw_request),
		cmocka_unit_test(test_parse_siw_reply),
		cmocka_unit_test(test_parse_all_flags),
		cmocka_unit_test(test_parse_flags_without_a),
		cmocka_unit_test(test_parse_lenient_request),
		cmocka_unit_test(test_parse_revision_0),
		cmocka_unit_test(test_parse_needs_all),
		cmocka_unit_test(test_parse_bad),
		cmocka_unit_test(test_build_request),
		cmocka_unit_test(test_build_reply_all),
		cmocka_unit_test(test_build_large_depths),
		cmocka_unit_test(test_parse_revision_2_without_s),
		cmocka_unit_test(test_build_private_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
