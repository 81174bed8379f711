/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/frame_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* IPv4 of 10.0.0.1 to 10.0.0.2, a SYN to port 7174; Ethernet's header before it. */
static const uint8_t ethernet[] = "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0"
				  "\x45\0\0\x28\0\0\0\0\x40\6\0\0\x0a\0\0\1\x0a\0\0\2"
				  "\x9c\x40\x1c\x06\0\0\0\1\0\0\0\0\x50\2\xff\xff\0\0\0\0";

static struct cap_frame frame(uint32_t link, size_t from, size_t len)
{
	return (struct cap_frame){.link = link,
		.len = (uint32_t)len,
		.captured = (uint32_t)len,
		.bytes = ethernet + from};
}

static void test_links(void **state)
{
	struct frame_filter take = {.expression = "tcp dst port 7174"};
	struct frame_filter drop = {.expression = "udp"};
	const struct cap_frame frames[] = {
		frame(1, 0, sizeof ethernet - 1),     /* Ethernet */
		frame(101, 14, sizeof ethernet - 15), /* raw IP */
		frame(228, 14, sizeof ethernet - 15), /* raw IPv4 */
		frame(14, 14, sizeof ethernet - 15),  /* raw IP, OpenBSD's */
		frame(1, 0, sizeof ethernet - 1),
	};
	struct cap_error e;

	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
		assert_int_equal(frame_filter_apply(&take, &frames[i], &e), FRAME_FILTER_TAKE);
		assert_int_equal(frame_filter_apply(&drop, &frames[i], &e), FRAME_FILTER_DROP);
	}
	frame_filter_free(&take);
	frame_filter_free(&drop);
}

/* What two interfaces have captured takes turns: each program is compiled once. */
static void test_turns(void **state)
{
	struct frame_filter take = {.expression = "tcp dst port 7174"};
	const struct cap_frame frames[] = {
		frame(1, 0, sizeof ethernet - 1), frame(101, 14, sizeof ethernet - 15)};
	struct frame_filter was;
	struct cap_error e;

	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(frame_filter_apply(&take, &frames[i % 2], &e), FRAME_FILTER_TAKE);
		if (i == 1)
			was = take;
	}
	assert_memory_equal(&take, &was, sizeof was);
	frame_filter_free(&take);
}

/* More link types than programs are kept. */
static void test_many_links(void **state)
{
	static const uint32_t links[] = {1, 101, 12, 229, 228, 9, 50, 113, 276, 108};
	struct frame_filter any = {.expression = "greater 1"};
	struct cap_error e;

	for (unsigned i = 0; i < 40; i++) {
		struct cap_frame f = frame(links[i % 10], 0, sizeof ethernet - 1);

		assert_int_equal(frame_filter_apply(&any, &f, &e), FRAME_FILTER_TAKE);
	}
	frame_filter_free(&any);
}

/* No octet behind what was captured is looked at. */
static void test_cut(void **state)
{
	struct frame_filter take = {.expression = "tcp dst port 7174"};
	struct cap_frame f = frame(1, 0, sizeof ethernet - 1);
	struct cap_error e;

	f.captured = 30;
	assert_int_equal(frame_filter_apply(&take, &f, &e), FRAME_FILTER_DROP);
	frame_filter_free(&take);
}

static void test_bad(void **state)
{
	struct frame_filter wrong = {.expression = "tcp port"},
			    link = {.expression = "ether src 2:0:0:0:0:1"};
	struct cap_frame f = frame(1, 0, sizeof ethernet - 1);
	struct cap_error e = {""};

	assert_int_equal(frame_filter_apply(&wrong, &f, &e), FRAME_FILTER_BAD);
	assert_non_null(strstr(e.text, "the filter \"tcp port\": "));
	assert_int_equal(frame_filter_apply(&link, &f, &e), FRAME_FILTER_TAKE);
	f.link = 101;
	assert_int_equal(frame_filter_apply(&link, &f, &e), FRAME_FILTER_BAD);
	frame_filter_free(&wrong);
	frame_filter_free(&link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_many_links),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
