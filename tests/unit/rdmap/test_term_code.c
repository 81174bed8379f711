/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/term_code.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_codes(void **state)
{
	assert_string_equal(rdmap_term_code(1, 2, 5)->name,
		"DDP, untagged buffer error: message too long for the buffer");
	assert_ptr_equal(rdmap_term_code(0, 0, 0xab), &rdmap_term_codes[0]);
	assert_null(rdmap_term_code(1, 0, 1));
	assert_null(rdmap_term_code(0, 1, 5));
	assert_null(rdmap_term_code(0, 2, 4));
	assert_null(rdmap_term_code(1, 1, 5));
	assert_null(rdmap_term_code(1, 2, 0));
	assert_null(rdmap_term_code(1, 3, 0));
	assert_null(rdmap_term_code(2, 0, 0));
	assert_null(rdmap_term_code(2, 0, 8));
	assert_null(rdmap_term_code(2, 1, 1));
	assert_null(rdmap_term_code(3, 0, 0));
	for (size_t i = 0; i < rdmap_term_codes_count; i++) {
		const struct rdmap_term_code *c = &rdmap_term_codes[i];

		assert_ptr_equal(rdmap_term_code(c->layer, c->etype, c->code), c);
	}
}

static void expect(const char *p, bool startup, unsigned layer, unsigned etype, unsigned code,
	const char *bits, bool swapped)
{
	struct rdmap_term t = rdmap_term_read((const uint8_t *)p, startup);

	assert_int_equal(t.layer, layer);
	assert_int_equal(t.etype, etype);
	assert_int_equal(t.code, code);
	assert_int_equal(t.length_valid, bits[0] == 'M');
	assert_int_equal(t.ddp_header, bits[1] == 'D');
	assert_int_equal(t.rdmap_header, bits[2] == 'R');
	assert_int_equal(t.swapped, swapped);
}

/* As the RFC has it, whatever the reserved bits. */
static void test_read(void **state)
{
	expect("\x01\x02\xe0\x00", false, 0, 1, 2, "MDR", false);
	expect("\x12\x05\xc0\x00", false, 1, 2, 5, "MD-", false);
	expect("\x12\x05\xdf\xff", false, 1, 2, 5, "MD-", false);
	expect("\x20\x02\x00\x00", false, 2, 0, 2, "---", false);
	expect("\x00\x00\x00\x00", false, 0, 0, 0, "---", false);
	expect("\x00\x77\x00\x00", false, 0, 0, 0x77, "---", false);
	expect("\x02\x06\xc0\x00", false, 0, 2, 6, "MD-", false);
	expect("\x20\x06\x00\x00", true, 2, 0, 6, "---", false);
	expect("\x20\x07\x00\x00", true, 2, 0, 7, "---", false);
	expect("\x01\x00\xc0\x00", false, 0, 1, 0, "MD-", false);
	/* Not of the RFCs, either way. */
	expect("\xff\xff\x00\x00", false, 15, 15, 255, "---", false);
	expect("\x12\x09\xc0\x00", false, 1, 2, 9, "MD-", false);
}

/* The first four octets that Linux siw has sent. */
static void test_read_siw(void **state)
{
	expect("\x02\x02\x00\x00", false, 2, 0, 2, "---", true);
	expect("\x21\x06\x00\x00", false, 1, 2, 6, "---", true);
	expect("\x20\x05\x00\x00", false, 0, 2, 5, "---", true);
	expect("\x20\x06\x00\x00", false, 0, 2, 6, "---", true);
	expect("\x20\x07\x00\x00", false, 0, 2, 7, "---", true);
	expect("\x21\x01\x03\x00", false, 1, 2, 1, "MD-", true);
	expect("\x21\x03\x03\x00", false, 1, 2, 3, "MD-", true);
	expect("\x21\x04\x03\x00", false, 1, 2, 4, "MD-", true);
	expect("\x11\x00\x03\x00", false, 1, 1, 0, "MD-", true);
	expect("\x11\x01\x03\x00", false, 1, 1, 1, "MD-", true);
	expect("\x10\x00\x07\x00", false, 0, 1, 0, "MDR", true);
	expect("\x10\x01\x07\x00", false, 0, 1, 1, "MDR", true);
	expect("\x01\x00\x03\x00", false, 1, 0, 0, "MD-", true);
	expect("\x21\x02\x03\x00", false, 1, 2, 2, "MD-", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_siw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
