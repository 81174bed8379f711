/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture.h"
#include "support/child_fork.h"
#include "support/eal.h"

#include <errno.h>
#include <fcntl.h>
#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct rte_mempool *pool;
static char path[] = "/tmp/uiwarp-test-capture-XXXXXX";

/** What a file holds, by its blocks. */
struct content {
	long packets;     /**< or -1 if the file is not well-formed */
	bool in_order;    /**< each packet's number is larger than the one before it */
	uint32_t last;    /**< the number of the last packet */
	uint64_t dropped; /**< by its statistics block */
};

static void add_packet(struct content *c, uint32_t number)
{
	c->in_order = c->in_order && (c->packets == 0 || number > c->last);
	c->last = number;
	c->packets++;
}

static struct content read_back(void)
{
	struct content c = {.in_order = true};
	FILE *f = fopen(path, "rb");
	uint32_t head[2], last, body[4096];

	assert_non_null(f);
	while (fread(head, sizeof head, 1, f) == 1) {
		if (head[1] % 4 || head[1] < 12 || head[1] > sizeof body ||
			fread(body, head[1] - 12, 1, f) != 1 || fread(&last, 4, 1, f) != 1 ||
			last != head[1]) {
			c.packets = -1;
			break;
		}
		if (head[0] == 6) /* each test packet begins with its number */
			add_packet(&c, body[5]);
		else if (head[0] == 5)
			memcpy(&c.dropped, body + 4, 8);
	}
	if (!feof(f))
		c.packets = -1;
	fclose(f);
	return c;
}

static void writes_all_in_order(void **state)
{
	struct capture *c;
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	struct content in_file;

	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, i & 1 ? CAPTURE_IN : CAPTURE_OUT, i);
	}
	assert_int_equal(capture_dropped(c), 0);
	capture_close(c);
	rte_pktmbuf_free(m);
	in_file = read_back();
	assert_int_equal(in_file.packets, 5000);
	assert_true(in_file.in_order);
	assert_int_equal(in_file.last, 4999); /* with 5000 of them, none is missing */
	assert_int_equal(in_file.dropped, 0);
}

static void what_the_file_cannot_keep_up_with_is_counted(void **state)
{
	struct capture *c;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	const uint32_t many = 100000; /* 150 MB through a ring of 16 */
	struct content in_file;
	uint64_t dropped;

	rte_pktmbuf_append(m, 1500);
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	for (uint32_t i = 0; i < many; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, CAPTURE_OUT, i);
	}
	dropped = capture_dropped(c);
	capture_close(c);
	rte_pktmbuf_free(m);
	in_file = read_back();
	assert_int_equal(in_file.packets, many - dropped);
	assert_true(in_file.in_order);
	assert_int_equal(in_file.dropped, dropped);
}

/** Whole files of about that size, the newest ones, and nothing is missing between them. */
static void it_rotates_by_size(void **state)
{
	char one[64], two[64], three[64];
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	struct content in_file;
	struct capture *c;
	struct stat st;

	snprintf(one, sizeof one, "%s.1", path);
	snprintf(two, sizeof two, "%s.2", path);
	snprintf(three, sizeof three, "%s.3", path);
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	capture_rotate(c, 20000, 3);
	for (uint32_t i = 0; i < 2001; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, CAPTURE_OUT, i);
	}
	assert_int_equal(capture_dropped(c), 0);
	capture_close(c);
	rte_pktmbuf_free(m);
	assert_int_equal(access(three, F_OK), -1);
	assert_int_equal(stat(two, &st), 0);
	assert_in_range(st.st_size, 20000, 20100);
	assert_int_equal(stat(one, &st), 0);
	assert_in_range(st.st_size, 20000, 20100);
	in_file = read_back();
	assert_true(in_file.packets > 0 && in_file.packets < 400);
	assert_int_equal(in_file.last, 2000);
	assert_int_equal(rename(one, path), 0);
	assert_int_equal(read_back().last, 2000 - in_file.packets);
	assert_int_equal(rename(two, path), 0);
	assert_true(read_back().packets > 200);
}

static void a_bad_path_is_refused(void **state)
{
	struct capture *c;

	assert_int_equal(capture_open("/no/such/dir/x", "test", 0, NULL, &c), -ENOENT);
	capture_close(NULL);
}

/** It may have what a program has received. */
/** By one configuration, perhaps: it is the first one's, and no lock of a child's after fork(). */
static void another_process_has_one_of_its_own(void **state)
{
	struct capture *c, *again;
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	int status, rc;
	pid_t child;

	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	capture_packet(c, m, CAPTURE_IN, 0);
	child = child_fork();
	if (child == 0) {
		rc = capture_open(path, "test", 0, NULL, &again);
		_exit(rc == -EBUSY && strstr(capture_strerror(rc), "%p") ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	capture_packet(c, m, CAPTURE_IN, 0);
	capture_close(c);
	assert_int_equal(read_back().packets, 2);
	/* The child that is left has copies of the descriptors. */
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	child = child_fork();
	if (child == 0)
		for (;;)
			pause();
	capture_close(c);
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	capture_close(c);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	rte_pktmbuf_free(m);
}

static void it_is_for_its_owner_alone(void **state)
{
	struct capture *c;
	struct stat st;

	unlink(path);
	assert_int_equal(capture_open(path, "test", 0, NULL, &c), 0);
	capture_close(c);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
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
	assert_int_equal(capture_error(c), ENOSPC);
	capture_close(c);
	assert_non_null(strstr(said, "No space left"));
}

/** What would be written over instead is kept. */
static void a_file_that_cannot_move_up_is_kept(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_ERROR};
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	struct content in_file;
	struct capture *c;
	char one[64];

	snprintf(one, sizeof one, "%s.1", path);
	assert_int_equal(mkdir(one, 0700), 0);
	assert_int_equal(capture_open(path, "test", 0, &sink, &c), 0);
	capture_rotate(c, 20000, 2);
	for (uint32_t i = 0; i < 2001; i++) {
		memcpy(rte_pktmbuf_mtod(m, void *), &i, sizeof i);
		capture_packet(c, m, CAPTURE_OUT, i);
	}
	capture_close(c);
	rte_pktmbuf_free(m);
	in_file = read_back();
	assert_true(in_file.in_order);
	assert_int_equal(in_file.packets, in_file.last + 1);
	assert_in_range(in_file.packets, 200, 400);
	assert_non_null(strstr(said, "cannot move up: Is a directory"));
	assert_int_equal(rmdir(one), 0);
}

/** While it moves files up another process may come in between: then it has ended. */
static void a_file_that_moves_up_is_of_one_process(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_ERROR};
	struct rte_mbuf *m = test_packet(pool, "0123456789abcdef", 15);
	_Atomic bool *taken = mmap(
		NULL, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct capture *c, *other;
	char one[64];
	pid_t child;
	bool was_taken;

	assert_ptr_not_equal(taken, MAP_FAILED);
	snprintf(one, sizeof one, "%s.1", path);
	said[0] = '\0';
	assert_int_equal(capture_open(path, "test", 0, &sink, &c), 0);
	capture_rotate(c, 400, 2);
	child = child_fork();
	if (child == 0) {
		while (capture_open(path, "test", 0, NULL, &other) != 0)
			;
		*taken = true;
		for (;;)
			pause();
	}
	for (uint32_t i = 0; i < 100000 && !*taken; i++)
		capture_packet(c, m, CAPTURE_OUT, i);
	was_taken = *taken; /* and then it may */
	capture_close(c);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(!was_taken || strstr(said, "another process captures"));
	rte_pktmbuf_free(m);
	munmap((void *)taken, sizeof *taken);
	unlink(one);
}

/** Neither one that nobody has opened, nor a reader that does not read or has gone, stops a
 * program. */
static void the_reader_of_a_fifo_harms_nobody(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_ERROR};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char fifo[64], block[4096];
	struct capture *c;
	int reader;

	rte_pktmbuf_append(m, 1500);
	snprintf(fifo, sizeof fifo, "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(capture_open(fifo, "test", 0, NULL, &c), -ENXIO);
	for (unsigned gone = 0; gone < 2; gone++) {
		reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		assert_true(reader >= 0);
		assert_int_equal(capture_open(fifo, "test", 0, &sink, &c), 0);
		assert_true(read(reader, block, sizeof block) > 0);
		if (gone)
			close(reader);
		for (uint32_t i = 0; i < 1000; i++) /* far more than a FIFO holds */
			capture_packet(c, m, CAPTURE_OUT, i);
		capture_close(c);
		assert_non_null(strstr(said, gone ? "Broken pipe" : "temporarily unavailable"));
		if (!gone)
			close(reader);
	}
	rte_pktmbuf_free(m);
	unlink(fifo);
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

/** @return 0 if it is refused, and the file was not touched. */
static int open_with_a_small_limit(rlim_t most)
{
	const struct rlimit small = {most, RLIM_INFINITY};
	struct capture *c = NULL;
	struct stat st;

	if (setrlimit(RLIMIT_FSIZE, &small) != 0 ||
		capture_open(path, "test", 0, NULL, &c) != -EFBIG || c)
		return 1;
	return stat(path, &st) == 0 && st.st_size == 5 ? 0 : 2;
}

/* The signal of that limit ends a process. */
static void a_limit_of_file_sizes_is_told_of(void **state)
{
	const rlim_t limits[] = {0, 4096, (16 << 20) - 1};
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs("12345", f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		pid_t child = child_fork();
		int status = -1;

		if (child == 0)
			_exit(open_with_a_small_limit(limits[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	assert_non_null(strstr(capture_strerror(-EFBIG), "ulimit -f"));
	assert_string_equal(capture_strerror(-ENOENT), strerror(ENOENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_all_in_order),
		cmocka_unit_test(what_the_file_cannot_keep_up_with_is_counted),
		cmocka_unit_test(it_rotates_by_size),
		cmocka_unit_test(a_bad_path_is_refused),
		cmocka_unit_test(another_process_has_one_of_its_own),
		cmocka_unit_test(it_is_for_its_owner_alone),
		cmocka_unit_test(a_full_disk_is_said_once),
		cmocka_unit_test(a_file_that_cannot_move_up_is_kept),
		cmocka_unit_test(a_file_that_moves_up_is_of_one_process),
		cmocka_unit_test(the_reader_of_a_fifo_harms_nobody),
		cmocka_unit_test(a_limit_of_file_sizes_is_told_of),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
