/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture.h"
#include "support/eal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct rte_mempool *pool;
static char path[] = "/tmp/uiwarp-test-capture-XXXXXX";

/** Walk the blocks of the file. @return how many packets, or -1 if it is not well-formed. */
static long read_back(uint64_t *dropped)
{
	FILE *f = fopen(path, "rb");
	uint32_t head[2], last, body[4096];
	long packets = 0;

	*dropped = 0;
	assert_non_null(f);
	while (fread(head, sizeof head, 1, f) == 1) {
		if (head[1] % 4 || head[1] < 12 || head[1] > sizeof body ||
			fread(body, head[1] - 12, 1, f) != 1 || fread(&last, 4, 1, f) != 1 ||
			last != head[1]) {
			packets = -1;
			break;
		}
		if (head[0] == 6) {
			/* Each test packet begins with its number. */
			if (body[5] != (uint32_t)packets && !*dropped)
				packets = -2;
			packets++;
		} else if (head[0] == 5) {
			memcpy(dropped, body + 4, 8);
		}
	}
	if (!feof(f))
		packets = -1;
	fclose(f);
	return packets;
}

static void writes_all_in_order(void **state)
{
	struct capture *c;
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	uint64_t dropped;

	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, i & 1 ? CAPTURE_IN : CAPTURE_OUT, i);
	}
	assert_int_equal(capture_dropped(c), 0);
	capture_close(c);
	rte_pktmbuf_free(m);
	assert_int_equal(read_back(&dropped), 5000);
	assert_int_equal(dropped, 0);
}

static void what_the_file_cannot_keep_up_with_is_counted(void **state)
{
	struct capture *c;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	const uint32_t many = 100000; /* 150 MB through a ring of 16 */
	uint64_t dropped, in_file;
	long n;

	rte_pktmbuf_append(m, 1500);
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	for (uint32_t i = 0; i < many; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, CAPTURE_OUT, i);
	}
	dropped = capture_dropped(c);
	capture_close(c);
	rte_pktmbuf_free(m);
	/* The numbers have gaps where frames were dropped, so only the count is checked. */
	n = read_back(&in_file);
	if (dropped == 0) {
		assert_int_equal(n, many);
	} else {
		assert_true(n != -1);
		assert_int_equal(in_file, dropped);
	}
}

static void a_bad_path_is_refused(void **state)
{
	struct capture *c;

	assert_int_equal(capture_open("/no/such/dir/x", "test", 0, NULL, &c), -ENOENT);
	capture_close(NULL);
}

static char said[512];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	snprintf(said, sizeof said, "%s", text);
}

static void a_full_disk_is_said_once(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_ERROR};
	struct capture *c;

	assert_int_equal(capture_open("/dev/full", "test", 0, &sink, &c), 0);
	capture_close(c);
	assert_non_null(strstr(said, "No space left"));
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	test_eal_init();
	pool = test_pool("capture", 63, 2048);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	assert_int_equal(test_pool_missing(pool), 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_all_in_order),
		cmocka_unit_test(what_the_file_cannot_keep_up_with_is_counted),
		cmocka_unit_test(a_bad_path_is_refused),
		cmocka_unit_test(a_full_disk_is_said_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
