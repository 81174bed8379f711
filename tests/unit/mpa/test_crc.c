/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/crc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint32_t crc_of(const void *p, size_t len)
{
	return mpa_crc_end(mpa_crc_add(MPA_CRC_START, p, len));
}

/* RFC 5044 section 4.4, Figure 5: a marker, then an FPDU. The field reads 52 23 99 83. */
static void test_rfc5044_figure5(void **state)
{
	uint8_t b[0x30] = {[5] = 0x2a, [6] = 0x41, [7] = 0x43, [0x13] = 0x01};

	assert_int_equal(crc_of(b, sizeof b), 0x83992352);
}

/* Figure 6: the marker lies inside. 84 92 58 98. */
static void test_rfc5044_figure6(void **state)
{
	uint8_t b[0x30] = {[1] = 0x2a, [2] = 0x41, [3] = 0x43, [0xf] = 0x02, [0x17] = 0x14};

	assert_int_equal(crc_of(b, sizeof b), 0x98589284);
}

/* A Send from Linux siw, CRC f5 9f b3 b8. */
static void test_siw_send(void **state)
{
	static const uint8_t b[] = {0x00, 0x22, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x55, 0xc2,
		0x99, 0x14, 0x53, 0x70, 0xd7, 0x96, 0x9c, 0x00, 0x00, 0x00, 0x00, 0x40};

	assert_int_equal(crc_of(b, sizeof b), 0xb8b39ff5);
}

/* RFC 3720 appendix B.4: 32 bytes of ones. */
static void test_iscsi_ones(void **state)
{
	uint8_t b[32];

	memset(b, 0xff, sizeof b);
	assert_int_equal(crc_of(b, sizeof b), 0x62a8ab43);
}

/* Both ways of computing, cut at every place, give the same. */
static void test_cut_anywhere(void **state)
{
	uint8_t b[300];
	uint32_t whole;

	for (unsigned i = 0; i < sizeof b; i++)
		b[i] = (uint8_t)(i * 7 + 3);
	whole = crc_of(b, sizeof b);
	assert_int_equal(whole, 0x35130228);
	for (unsigned cut = 0; cut <= sizeof b; cut++) {
		uint32_t crc = mpa_crc_add(MPA_CRC_START, b, cut);

		assert_int_equal(mpa_crc_end(mpa_crc_add(crc, b + cut, sizeof b - cut)), whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc5044_figure5),
		cmocka_unit_test(test_rfc5044_figure6),
		cmocka_unit_test(test_siw_send),
		cmocka_unit_test(test_iscsi_ones),
		cmocka_unit_test(test_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
