/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/timeseq.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct connection c = {.initiator = -1};

static void segment(struct timeseq *t, unsigned side, uint32_t seq, uint32_t len, uint64_t time)
{
	struct packet p = {.seq = seq, .len = len, .flags = PACKET_ACK, .ack = 1};
	struct cap_frame f = {.time = time};

	c.stream[0].c = c.stream[1].c = &c;
	timeseq_segment(t, &c.stream[side], &p, &f);
}

static void test_series(void **state)
{
	struct timeseq t = {0};
	struct stream_fpdu f = {.seq = 0xfffffff0u + 100, .time = 3000};

	segment(&t, 0, 0xfffffff0, 100, 1000);
	segment(&t, 0, 0xfffffff0u + 100, 50, 2000);
	segment(&t, 0, 0xfffffff0, 100, 3000);
	timeseq_fpdu(&t, &c.stream[0], &f);
	assert_int_equal(t.side[0].points[TIMESEQ_SENT].n, 2);
	assert_int_equal(t.side[0].points[TIMESEQ_AGAIN].n, 1);
	assert_int_equal(t.side[0].points[TIMESEQ_FPDU].n, 1);
	assert_true(t.side[0].points[TIMESEQ_SENT].y[1] == 150e-6);
	assert_true(t.side[0].points[TIMESEQ_AGAIN].y[0] == 100e-6);
	assert_true(t.side[0].points[TIMESEQ_FPDU].y[0] == 100e-6);
	assert_true(t.side[0].points[TIMESEQ_SENT].x[1] == 1e-6);
	timeseq_free(&t);
}

/* Of very many every n-th stays. */
static void test_bound(void **state)
{
	struct timeseq t = {0};

	for (uint32_t i = 0; i < 5 * TIMESEQ_POINTS; i++)
		segment(&t, 0, 1000 * i, 1000, 1000 + i);
	assert_true(t.side[0].points[TIMESEQ_SENT].n <= TIMESEQ_POINTS);
	assert_true(t.side[0].points[TIMESEQ_SENT].n >= TIMESEQ_POINTS / 2);
	timeseq_free(&t);
}

static uint64_t bytes_of(const struct timeseq *t, unsigned side)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < TIMESEQ_SPANS; i++)
		sum += t->side[side].bytes[i];
	return sum;
}

/* Spans grow with time; no octet is lost, or counted twice. */
static void test_throughput(void **state)
{
	struct timeseq t = {0};

	segment(&t, 0, 0, 100, 5000);
	segment(&t, 0, 100, 100, 5000 + 999);
	segment(&t, 1, 0, 10, 5000 + 1000);
	segment(&t, 0, 0, 200, 5000 + 2000); /* again */
	assert_int_equal(t.span, 1000);
	assert_int_equal(t.side[0].bytes[0], 200);
	assert_int_equal(t.side[0].bytes[2], 0);
	assert_int_equal(t.side[1].bytes[1], 10);
	segment(&t, 0, 200, 7, 5000 + TIMESEQ_SPANS * 1000);
	assert_int_equal(t.span, 2000);
	assert_int_equal(t.side[0].bytes[0], 200);
	assert_int_equal(t.side[0].bytes[TIMESEQ_SPANS / 2], 7);
	assert_int_equal(t.side[1].bytes[0], 10);
	segment(&t, 0, 207, 3, 0); /* before the first */
	assert_int_equal(t.side[0].bytes[0], 203);
	segment(&t, 0, 210, 1, UINT64_MAX);
	assert_int_equal(bytes_of(&t, 0), 211);
	assert_int_equal(bytes_of(&t, 1), 10);
	timeseq_free(&t);
}

static void test_write(void **state)
{
	char name[] = "/tmp/test_timeseqXXXXXX", text[65536];
	struct timeseq t = {0};
	int fd = mkstemp(name);
	ssize_t n;

	assert_true(fd >= 0);
	assert_int_equal(timeseq_write(&t, name), -ENODATA);
	segment(&t, 0, 0, 100, 1000);
	segment(&t, 1, 0, 100, 2000);
	assert_int_equal(timeseq_write(&t, name), 0);
	n = read(fd, text, sizeof text - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "segments"));
	assert_non_null(strstr(text, "acknowledged"));
	assert_non_null(strstr(text, "throughput, Mbit/s"));
	assert_non_null(strstr(text, "</svg>"));
	close(fd);
	unlink(name);
	timeseq_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
