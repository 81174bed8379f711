/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/opcode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* RFC 5040 section 4.1, Figure 4, and RFC 7306 section 4.1, Figure 2, with the headers' sizes. */
static const struct {
	uint8_t opcode;
	bool tagged;
	uint8_t qn;
	uint32_t min_len, max_len;
	const char *name;
} figure[] = {
	{0x0, true, 0, 0, UINT32_MAX, "RDMA Write"},
	{0x1, false, 1, 28, 28, "RDMA Read Request"},
	{0x2, true, 0, 0, UINT32_MAX, "RDMA Read Response"},
	{0x3, false, 0, 0, UINT32_MAX, "Send"},
	{0x4, false, 0, 0, UINT32_MAX, "Send with Invalidate"},
	{0x5, false, 0, 0, UINT32_MAX, "Send with Solicited Event"},
	{0x6, false, 0, 0, UINT32_MAX, "Send with Solicited Event and Invalidate"},
	{0x7, false, 2, 4, 52, "Terminate"},
	{0x8, false, 0, 8, 8, "Immediate Data"},
	{0x9, false, 0, 8, 8, "Immediate Data with Solicited Event"},
	{0xa, false, 1, 52, 52, "Atomic Request"},
	{0xb, false, 3, 12, 12, "Atomic Response"},
};

static void test_figures(void **state)
{
	for (unsigned i = 0; i < sizeof figure / sizeof *figure; i++) {
		const struct rdmap_opcode_info *info = rdmap_opcode_info(figure[i].opcode);

		assert_non_null(info);
		assert_string_equal(info->name, figure[i].name);
		assert_int_equal(info->tagged, figure[i].tagged);
		assert_int_equal(info->qn, figure[i].qn);
		assert_int_equal(info->min_len, figure[i].min_len);
		assert_int_equal(info->max_len, figure[i].max_len);
	}
}

static void test_reserved(void **state)
{
	for (unsigned opcode = 12; opcode < 256; opcode++)
		assert_null(rdmap_opcode_info((uint8_t)opcode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
