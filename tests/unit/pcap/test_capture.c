/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture.h"

#include "base/bytes.h"
#include "support/cap_bytes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define OPEN(text, e) cap_open_bytes((const uint8_t *)(text), sizeof(text) - 1, e)

/* One frame "abc" of five octets, at 1 s and 2 us (or ns), in the four forms of pcap. */
#define PCAP_LE(magic)                                       \
	magic "\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0" \
	      "\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0"             \
	      "abc"
#define PCAP_BE(magic)                                       \
	magic "\0\2\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1" \
	      "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\5"             \
	      "abc"

static void expect_abc(struct cap_file *c, uint64_t time, uint32_t link, uint32_t len)
{
	struct cap_error e = {""};
	struct cap_frame f;

	assert_non_null(c);
	assert_int_equal(cap_next(c, &f, &e), CAP_FRAME);
	assert_string_equal(e.text, "");
	assert_int_equal(f.number, 1);
	assert_int_equal(f.time, time);
	assert_int_equal(f.link, link);
	assert_int_equal(f.len, len);
	assert_int_equal(f.captured, 3);
	assert_memory_equal(f.bytes, "abc", 3);
	assert_int_equal(cap_next(c, &f, &e), CAP_END);
	cap_close(c);
}

static void test_pcap(void **state)
{
	struct cap_error e;

	expect_abc(OPEN(PCAP_LE("\xd4\xc3\xb2\xa1"), &e), 1000002000, 1, 5);
	expect_abc(OPEN(PCAP_LE("\x4d\x3c\xb2\xa1"), &e), 1000000002, 1, 5);
	expect_abc(OPEN(PCAP_BE("\xa1\xb2\xc3\xd4"), &e), 1000002000, 1, 5);
	expect_abc(OPEN(PCAP_BE("\xa1\xb2\x3c\x4d"), &e), 1000000002, 1, 5);
}

#define SECTION                                                                                    \
	"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0" \
	"\0\0"
#define INTERFACE "\1\0\0\0\x14\0\0\0\x65\0\0\0\0\0\0\0\x14\0\0\0"
/* Nanoseconds by option 9, then the end of options. */
#define INTERFACE_NS "\1\0\0\0\x20\0\0\0\x71\0\0\0\0\0\0\0\x09\0\1\0\x09\0\0\0\0\0\0\0\x20\0\0\0"
/* A name of three octets, padded, then units of which there are 2^10 in a second, or too many. */
#define INTERFACE_2(power)                                                  \
	"\1\0\0\0\x28\0\0\0\x71\0\0\0\0\0\0\0\2\0\3\0eth\0\x09\0\1\0" power \
	"\0\0\0\0\0\0\0\x28\0\0\0"
#define ENHANCED(id) "\6\0\0\0\x24\0\0\0" id "\0\0\0\0\0\7\0\0\0\3\0\0\0\5\0\0\0abc\0\x24\0\0\0"
#define STATISTICS   "\5\0\0\0\x10\0\0\0abcd\x10\0\0\0"

static void test_pcapng(void **state)
{
	struct cap_error e;

	expect_abc(OPEN(SECTION INTERFACE STATISTICS ENHANCED("\0\0\0"), &e), 7000, 101, 5);
	expect_abc(OPEN(SECTION INTERFACE INTERFACE_NS ENHANCED("\1\0\0"), &e), 7, 113, 5);
	expect_abc(OPEN(SECTION INTERFACE_2("\x8a") ENHANCED("\0\0\0"), &e), 6835937, 113, 5);
	expect_abc(OPEN(SECTION INTERFACE_2("\xff") ENHANCED("\0\0\0"), &e), 7000, 113, 5);
	/* A second section has interfaces of its own. */
	expect_abc(OPEN(SECTION INTERFACE SECTION INTERFACE_NS ENHANCED("\0\0\0"), &e), 7, 113, 5);
	/* A simple block has no time. */
	expect_abc(
		OPEN(SECTION INTERFACE "\3\0\0\0\x14\0\0\0\3\0\0\0abc\0\x14\0\0\0", &e), 0, 101, 3);
}

static void test_pcapng_big_endian(void **state)
{
	static const char b[] =
		"\x0a\x0d\x0d\x0a\0\0\0\x1c\x1a\x2b\x3c\x4d\0\1\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
		"\0\0\0\x1c"
		"\0\0\0\1\0\0\0\x14\0\1\0\0\0\0\0\0\0\0\0\x14"
		"\0\0\0\6\0\0\0\x24\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0\3\0\0\0\5abc\0\0\0\0\x24";
	struct cap_error e;

	expect_abc(OPEN(b, &e), 7000, 1, 5);
}

/* Every beginning of a good file is told of in a sentence, and none is read beyond. */
static void every_prefix(const char *text, size_t len)
{
	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = malloc(n + 1);
		struct cap_error e = {""};
		struct cap_file *c;
		struct cap_frame f;
		enum cap_result r;

		assert_non_null(copy);
		memcpy(copy, text, n);
		c = cap_open_bytes(copy, n, &e);
		if (c != NULL) {
			while ((r = cap_next(c, &f, &e)) == CAP_FRAME)
				;
			if (r == CAP_BAD)
				assert_string_not_equal(e.text, "");
			cap_close(c);
		} else {
			assert_string_not_equal(e.text, "");
		}
		free(copy);
	}
}

static void test_cut_off(void **state)
{
	static const char plain[] = PCAP_LE("\xd4\xc3\xb2\xa1");
	static const char ng[] = SECTION INTERFACE_NS ENHANCED("\0\0\0");

	every_prefix(plain, sizeof plain - 1);
	every_prefix(ng, sizeof ng - 1);
}

static void expect_bad(struct cap_file *c, const char *text)
{
	struct cap_error e = {""};
	struct cap_frame f;

	assert_non_null(c);
	assert_int_equal(cap_next(c, &f, &e), CAP_BAD);
	assert_string_equal(e.text, text);
	cap_close(c);
}

static void test_damaged(void **state)
{
	struct cap_error e;
	static const char huge[] = "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0"
				   "\1\0\0\0\2\0\0\0\xff\xff\xff\xff\5\0\0\0"
				   "abc";

	expect_bad(OPEN(huge, &e), "damaged: frame 1 would have 4294967295 bytes");
	expect_bad(OPEN(SECTION ENHANCED("\0\0\0"), &e),
		"damaged: frame 1 is of interface 0, not told of");
	expect_bad(OPEN(SECTION "\1\0\0\0\x0d\0\0\0", &e), "cut off after frame 0");
	expect_bad(OPEN(SECTION "\1\0\0\0\x0d\0\0\0____", &e),
		"damaged: a block of 13 bytes after frame 0");
}

static void test_not_a_capture(void **state)
{
	struct cap_error e;

	assert_null(OPEN("", &e));
	assert_string_equal(e.text, "the file is empty");
	assert_null(OPEN("hello, world", &e));
	assert_string_equal(e.text, "neither pcap nor pcapng");
	assert_null(cap_open("/nonexistent/file", &e));
	assert_string_equal(e.text, "No such file or directory");
	assert_null(cap_open("/", &e));
	assert_string_equal(e.text, "Is a directory");
}

static void write_file(char *name, const char *text, size_t len)
{
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static void test_file(void **state)
{
	static const char plain[] = PCAP_LE("\xd4\xc3\xb2\xa1");
	/* Kuznetzov's pcap, which goes through libpcap: eight octets more in a record's header. */
	static const char variant[] = "\x34\xcd\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0"
				      "\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0"
				      "abc";
	char one[] = "/tmp/test_captureXXXXXX", two[] = "/tmp/test_captureXXXXXX";
	struct cap_error e;

	write_file(one, plain, sizeof plain - 1);
	expect_abc(cap_open(one, &e), 1000002000, 1, 5);
	unlink(one);
	write_file(two, variant, sizeof variant - 1);
	expect_abc(cap_open(two, &e), 1000002000, 1, 5);
	unlink(two);
}

/* Kuznetzov's pcap with two frames "abc". */
static const char variant_two[] = "\x34\xcd\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0"
				  "\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0"
				  "abc"
				  "\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0"
				  "abc";

/* The first @p len octets of it. */
static struct cap_file *open_variant(size_t len, uint64_t room, struct cap_error *e)
{
	char name[] = "/tmp/test_captureXXXXXX";
	struct cap_file *c;

	write_file(name, variant_two, len < sizeof variant_two ? len : sizeof variant_two - 1);
	c = cap_open_within(name, room, e);
	unlink(name);
	return c;
}

/* One frame, then why there are no more. */
static void expect_cut(struct cap_file *c, const char *why)
{
	struct cap_error e = {""};
	struct cap_frame f;

	assert_non_null(c);
	assert_int_equal(cap_next(c, &f, &e), CAP_FRAME);
	assert_memory_equal(f.bytes, "abc", 3);
	assert_int_equal(cap_next(c, &f, &e), CAP_BAD);
	assert_non_null(strstr(e.text, why));
	cap_close(c);
}

static void test_variant_cut(void **state)
{
	struct cap_error e = {""};

	expect_cut(open_variant(76, UINT64_MAX, &e), "cut off or damaged in frame 2: ");
	expect_cut(open_variant(52, UINT64_MAX, &e), "cut off or damaged in frame 2: ");
	expect_cut(open_variant(SIZE_MAX, 50, &e), "longer than there is room in ");
	/* Of the first frame there is nothing to read. */
	for (size_t len = 25; len < 51; len++) {
		e.text[0] = '\0';
		assert_null(open_variant(len, UINT64_MAX, &e));
		assert_non_null(strstr(e.text, "cut off or damaged in frame 1: "));
	}
	assert_null(open_variant(SIZE_MAX, 30, &e));
	assert_non_null(strstr(e.text, "longer than there is room in "));
}

/* The disk is full when the copy is closed: what is there is read, and why there is no more. */
static void test_variant_not_written(void **state)
{
	struct rlimit was, limit;
	struct cap_error e = {""};
	struct cap_file *c;
	char name[] = "/tmp/test_captureXXXXXX";

	write_file(name, variant_two, sizeof variant_two - 1);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	limit = was;
	limit.rlim_cur = 50;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	c = cap_open(name, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	unlink(name);
	expect_cut(c, "cannot be copied to ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap),
		cmocka_unit_test(test_pcapng),
		cmocka_unit_test(test_pcapng_big_endian),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_not_a_capture),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_variant_cut),
		cmocka_unit_test(test_variant_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
