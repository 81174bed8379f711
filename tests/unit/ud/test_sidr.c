/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud/sidr.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sidr_message request = {.kind = SIDR_REQUEST,
	.number = 0x0102030405060708,
	.private_data = (const uint8_t *)"hello",
	.private_len = 5};
static const struct sidr_message reply = {.kind = SIDR_REPLY,
	.status = SIDR_ACCEPTED,
	.number = 0x0102030405060708,
	.qp = 0x123456,
	.qkey = 0x01234567,
	.private_data = (const uint8_t *)"well",
	.private_len = 4};

/* The page's examples (docs/ud.md). */
static const uint8_t example[] = "uiSR\x01\x02\x00\x04\x01\x02\x03\x04\x05\x06\x07\x08"
				 "\x00\x12\x34\x56\x01\x23\x45\x67\x00\x00\x00\x00well";

/* In its own allocation, for the address sanitizer. */
static bool parse(const uint8_t *bytes, size_t len, struct sidr_message *m)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	bool good;

	memcpy(copy, bytes, len);
	good = sidr_parse(copy, len, m);
	free(copy);
	return good;
}

static void sign(uint8_t p[SIDR_LEN])
{
	struct digest d = {.crc = DIGEST_CRC_START};

	digest_add(&d, DIGEST_CRC, p, SIDR_LEN - 4);
	store_le32(p + SIDR_LEN - 4, ~d.crc);
}

static void test_example(void **state)
{
	uint8_t room[SIDR_LEN];

	memset(room, 0xee, sizeof room);
	sidr_put(room, &reply);
	assert_memory_equal(room, example, sizeof example - 1);
	for (unsigned i = sizeof example - 1; i < SIDR_LEN - 4; i++)
		assert_int_equal(room[i], 0);
}

static void test_there_and_back(void **state)
{
	uint8_t room[SIDR_LEN], most[SIDR_PRIVATE_MAX];
	struct sidr_message m = request, got;

	sidr_put(room, &m);
	assert_true(sidr_parse(room, sizeof room, &got));
	assert_int_equal(got.kind, SIDR_REQUEST);
	assert_true(got.number == m.number);
	assert_int_equal(got.private_len, 5);
	assert_memory_equal(got.private_data, "hello", 5);
	memset(most, 0xa5, sizeof most);
	m = reply;
	m.private_data = most;
	m.private_len = sizeof most;
	sidr_put(room, &m);
	assert_true(sidr_parse(room, sizeof room, &got));
	assert_int_equal(got.qp, m.qp);
	assert_int_equal(got.qkey, m.qkey);
	assert_int_equal(got.private_len, sizeof most);
	assert_memory_equal(got.private_data, most, sizeof most);
}

static void test_damage(void **state)
{
	uint8_t room[SIDR_LEN + 1] = {0};
	struct sidr_message m;

	sidr_put(room, &reply);
	for (unsigned i = 0; i < SIDR_LEN * 8; i++) {
		room[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_false(parse(room, SIDR_LEN, &m));
		room[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t len = 0; len <= SIDR_LEN + 1; len++)
		assert_int_equal(parse(room, len, &m), len == SIDR_LEN);
}

/* With a good CRC. */
static void test_nonsense(void **state)
{
	static const struct {
		bool reply;
		uint8_t at, value;
	} cases[] = {
		{false, 0, 'U'}, /* another protocol */
		{false, 4, 2},   /* version */
		{false, 5, 0},   /* kind */
		{false, 5, 3},
		{false, 6, 1},  /* a request has no status */
		{false, 17, 1}, /* nor a QP */
		{false, 23, 1}, /* nor a Q_Key */
		{true, 6, 3},   /* status */
		{true, 6, 1},   /* one that refuses has no QP */
		{true, 7, 181}, /* private data */
		{true, 7, 255},
		{true, 7, 3},  /* what is behind it is 0 */
		{true, 16, 1}, /* 24 bits */
		{true, 24, 1}, /* reserved */
		{true, 27, 1},
		{true, 207, 1},
	};
	uint8_t room[SIDR_LEN];
	struct sidr_message m;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sidr_put(room, cases[i].reply ? &reply : &request);
		room[cases[i].at] = cases[i].value;
		sign(room);
		if (parse(room, sizeof room, &m))
			fail_msg("case %zu was taken", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
