/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud/datagram.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ud_header header = {.flags = UD_WITH_IMM | UD_SOLICITED,
	.len = 3,
	.to_qp = 0x123456,
	.from_qp = 0xabcdef,
	.qkey = 0x11111111,
	.imm = 0x04030201};

/* The page's example (docs/ud.md). */
static const uint8_t example[] =
	"uiUD\x01\x03\x00\x03\x00\x12\x34\x56\x00\xab\xcd\xef\x11\x11\x11\x11"
	"\x01\x02\x03\x04"
	"abc";

static size_t put(uint8_t *room, const struct ud_header *h, const void *text, size_t cut)
{
	struct ud_writer w;

	ud_begin(&w, room, h);
	assert_true(ud_gather(&w, text, cut));
	assert_true(ud_gather(&w, (const uint8_t *)text + cut, h->len - cut));
	ud_finish(&w);
	return h->len + UD_OVERHEAD;
}

/* In its own allocation, for the address sanitizer. */
static enum ud_fault parse(const uint8_t *bytes, size_t len, struct ud_header *h)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	enum ud_fault fault;

	memcpy(copy, bytes, len);
	fault = ud_parse(copy, len, h);
	free(copy);
	return fault;
}

static void test_example(void **state)
{
	uint8_t room[64];
	struct ud_header h;
	size_t len;

	for (size_t cut = 0; cut <= 3; cut++) {
		memset(room, 0xee, sizeof room);
		len = put(room, &header, "abc", cut);
		assert_int_equal(len, 31);
		assert_memory_equal(room, example, 27);
		assert_int_equal(room[31], 0xee);
		assert_int_equal(parse(room, len, &h), UD_GOOD);
		assert_int_equal(h.flags, header.flags);
		assert_int_equal(h.len, header.len);
		assert_int_equal(h.to_qp, header.to_qp);
		assert_int_equal(h.from_qp, header.from_qp);
		assert_int_equal(h.qkey, header.qkey);
		assert_int_equal(h.imm, header.imm);
	}
}

/* RFC 3720 appendix B.4: CRC32c of 32 octets of zeros, with what is before it here. */
static void test_crc_is_crc32c(void **state)
{
	uint32_t crc = UINT32_MAX;
	uint8_t room[64];

	put(room, &header, "abc", 3);
	for (unsigned i = 0; i < 27; i++) {
		crc ^= room[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	assert_int_equal(load_le32(room + 27), ~crc);
}

/* The sum for UDP is of all octets, also if their number is odd. */
static void test_sum(void **state)
{
	uint8_t room[UD_DATAGRAM_MAX + 1], text[UD_MESSAGE_MAX];

	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)(i * 7);
	for (uint16_t len = 0; len < 9; len++) {
		struct ud_header h = {.len = len};
		struct ud_writer w;
		uint64_t sum = 0;
		uint16_t got;

		memset(room, 0, sizeof room);
		ud_begin(&w, room, &h);
		assert_true(ud_gather(&w, text, len));
		got = ud_finish(&w);
		for (unsigned i = 0; i < (unsigned)UD_OVERHEAD + len; i += 2) {
			uint16_t word;

			memcpy(&word, room + i, 2);
			sum += word;
		}
		assert_int_equal(got, digest_fold(sum));
	}
}

static void test_longest(void **state)
{
	uint8_t *room = malloc(UD_DATAGRAM_MAX + 1), *text = calloc(1, UD_MESSAGE_MAX);
	struct ud_header h = {.len = UD_MESSAGE_MAX}, got;

	assert_int_equal(put(room, &h, text, 4095), UD_DATAGRAM_MAX);
	assert_int_equal(ud_parse(room, UD_DATAGRAM_MAX, &got), UD_GOOD);
	assert_int_equal(ud_parse(room, UD_DATAGRAM_MAX + 1, &got), UD_FAULT_FORMAT);
	free(text);
	free(room);
}

/* No datagram with one wrong octet, and no part of one, is taken. */
static void test_damaged(void **state)
{
	uint8_t room[64];
	struct ud_header h;
	size_t len = put(room, &header, "abc", 3);

	for (size_t i = 0; i < len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			room[i] ^= (uint8_t)(1u << bit);
			assert_int_not_equal(parse(room, len, &h), UD_GOOD);
			room[i] ^= (uint8_t)(1u << bit);
		}
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(parse(room, cut, &h), UD_FAULT_FORMAT);
	assert_int_equal(parse(room, len + 1, &h), UD_FAULT_FORMAT);
	room[len - 1] ^= 1;
	assert_int_equal(parse(room, len, &h), UD_FAULT_CRC);
}

/* With a good CRC: each field that may not be. */
static void test_wrong(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
	} wrong[] = {{0, 'U'}, {4, 0}, {4, 2}, {5, 0x07}, {5, 0x02}, {6, 1}, {7, 2}, {7, 4}, {8, 1},
		{12, 1}};

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct digest d = {.crc = DIGEST_CRC_START};
		struct ud_header h;
		uint8_t room[64];

		put(room, &header, "abc", 3);
		room[wrong[i].at] = wrong[i].value;
		digest_add(&d, DIGEST_CRC, room, 27);
		store_le32(room + 27, ~d.crc);
		assert_int_equal(parse(room, 31, &h), UD_FAULT_FORMAT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_crc_is_crc32c),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
