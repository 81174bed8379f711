/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include "support/cap_bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_fin_in_fpdu(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_text(&m, 0, "\0\x20", 2);
	cap_maker_fin(&m, 0);
	expect(&m, "ORP!C");
}

/* One of before says nothing: its receiver does not take it. */
static void test_old_fin(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_packet(&m, 0, m.seq[0] - 20, m.seq[1], PACKET_FIN | PACKET_ACK, NULL, 0);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_text(&m, 0, "\0\x20", 2);
	cap_maker_fin(&m, 0);
	expect(&m, "ORP>!C");
}

static void test_reset(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_packet(&m, 1, m.seq[1], m.seq[0], PACKET_RST, NULL, 0);
	cap_maker_send(&m, 0, 1, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPC");
	assert_int_equal(h.how, CONNECTION_RESET);
}

/* A RST counts where its receiver takes it (RFC 5961 section 3.2), or else nobody would need to own
 * it. */
static void test_foreign_reset(void **state)
{
	static const struct follow_config config;
	static const struct {
		uint32_t off;
		bool fin, counts;
	} resets[] = {{0, false, true}, {1, false, false}, {(uint32_t)-1, false, false},
		{0x70000000, false, false}, {1, true, true}, {2, true, false}};

	for (unsigned i = 0; i < sizeof resets / sizeof *resets; i++) {
		struct cap_maker m;
		struct heard h;
		uint32_t next;

		cap_maker_init(&m);
		cap_maker_start(&m);
		next = m.seq[1];
		if (resets[i].fin)
			cap_maker_packet(&m, 1, next, m.seq[0], PACKET_FIN | PACKET_ACK, NULL, 0);
		cap_maker_packet(&m, 1, next + resets[i].off, 0, PACKET_RST, NULL, 0);
		cap_maker_send(&m, 0, 1, 10);
		follow(&m, &config, &h);
		assert_int_equal(h.good, !resets[i].counts);
		assert_int_equal(h.how == CONNECTION_RESET, resets[i].counts);
	}
}

/* The capture ends at its last frame, whatever number that has: a filter may have left some out. */
static void test_end_of_some_frames(void **state)
{
	static const struct follow_config config;
	struct heard h = {.how = CONNECTION_CLOSED};
	struct cap_maker m;
	struct cap_error e;
	struct cap_frame f;
	struct cap_file *c;
	struct follow w;

	cap_maker_init(&m);
	cap_maker_start(&m);
	c = cap_open_bytes(m.bytes, m.len, &e);
	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, &heard_ops, &h), 0);
	while (cap_next(c, &f, &e) == CAP_FRAME) {
		f.number += 100;
		follow_frame(&w, &f);
	}
	follow_finish(&w);
	assert_int_equal(h.how, CONNECTION_CAPTURE_END);
	assert_int_equal(h.end, 100 + m.frames);
	cap_close(c);
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fin_in_fpdu),
		cmocka_unit_test(test_old_fin),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_foreign_reset),
		cmocka_unit_test(test_end_of_some_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
