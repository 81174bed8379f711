/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include "ddp/ddp_wire.h"
#include "rdmap/rdmap_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_mid_stream(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		cap_maker_init(&m);
		m.crc = crc;
		/* In the middle of an FPDU. */
		cap_maker_text(&m, 0, "the rest of one", 15);
		for (uint32_t i = 7; i < 12; i++) {
			cap_maker_send(&m, 0, i, 60);
			cap_maker_send(&m, 1, i, 60);
		}
		follow(&m, &config, &h);
		/* Without CRCs it takes some that look right to know that there are none, and as
		 * long as there might be markers each waits for the next. */
		assert_string_equal(h.text, crc ? "Of>f<><><><><C" : "Off><><><C");
		assert_int_equal(h.bad, 0);
	}
	cap_maker_init(&m);
	cap_maker_send(&m, 0, 1, 60);
	expect(&m, "");
}

/*
 * Markers that nobody has told of, and nothing says where: in large FPDUs, which are found by them,
 * and in small ones, which mostly look as without. From every place that a capture may begin at.
 */
static void test_mid_stream_with_markers(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	static const size_t sizes[] = {30, 60, 476, 600, 1300};
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			for (unsigned at = 0; at < 512; at += 4) {
				cap_maker_init(&m);
				m.crc = crc;
				m.markers = true;
				m.at[0] = at;
				/* MSNs that are as a marker there would be; without CRCs nothing
				 * tells them from one. */
				for (uint32_t i = 0; i < 40; i++)
					cap_maker_send(&m, 0, i + (crc ? 7 : 1000), sizes[k]);
				follow(&m, &config, &h);
				assert_int_equal(h.bad, 0);
				/* Octet 4 is behind a marker that is not there; without CRCs it
				 * takes some. */
				assert_true(h.good >= (crc ? 39 + (at != 4) : 36));
				assert_null(strchr(h.text, 'l'));
			}
		}
	}
}

/* FPDUs that do not begin with a segment: only markers tell of them. */
static void test_mid_stream_unaligned(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	uint8_t ulpdu[700] = {DDP_CONTROL_LAST | DDP_VERSION, RDMAP_CONTROL(RDMAP_OP_SEND)};
	static uint8_t text[40000];
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		size_t len = 0;

		cap_maker_init(&m);
		m.crc = crc;
		m.markers = true;
		m.at[0] = 76;
		for (unsigned i = 0; i < 40; i++)
			len += cap_maker_frame(&m, 0, ulpdu, sizeof ulpdu, text + len);
		for (size_t at = 333; at < len; at += 1000)
			cap_maker_text(&m, 0, text + at, len - at < 1000 ? len - at : 1000);
		follow(&m, &config, &h);
		assert_int_equal(h.bad, 0);
		/* The first is cut, and without CRCs it takes some. */
		assert_true(h.good >= (crc ? 39 : 36));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mid_stream),
		cmocka_unit_test(test_mid_stream_with_markers),
		cmocka_unit_test(test_mid_stream_unaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
