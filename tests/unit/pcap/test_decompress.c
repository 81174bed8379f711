/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/decompress.h"

#include "pcap/capture_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * A pcap file of one frame "abc". `gzip -n9` and `zstd -19 --no-check` of it: literals, so that the
 * test needs neither library to write.
 */
static const char plain[] = "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0"
			    "\1\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0"
			    "abc";
#ifdef HAVE_ZLIB
static const char gzipped[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xbb\x72\x78\xd3\x42\x26\x06\x16\x06\x18"
	"\xf8\xff\x9f\x81\x81\x91\x01\x82\x99\x80\x98\x19\x88\x59\x81\x38\x31\x29\x19\x00"
	"\x27\xb6\x01\x02\x2b\x00\x00\x00";

/* 128 KiB of zeros. */
static const char gzip_bomb[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00\x00\xc2\xa0\xf5"
	"\x4f\xed\x61\x0d\xa0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x6e\xcd\xcd\xe8\x7e\x00\x00\x02"
	"\x00";
#endif

#ifdef HAVE_ZSTD
static const char zstded[] =
	"\x28\xb5\x2f\xfd\x00\x68\x2d\x01\x00\xe8\xd4\xc3\xb2\xa1\x02\x00\x04\x00\xff\xff"
	"\x00\x00\x01\x00\x02\x00\x00\x00\x03\x00\x00\x00\x05\x00\x00\x00\x61\x62\x63\x02"
	"\x00\xee\x28\x04\xe0\x02";

/* 16 MiB of zeros. */
static const char zstd_bomb[] =
	"\x28\xb5\x2f\xfd\x00\x68\x4c\x00\x00\x08\x00\x01\x00\xfc\xff\x39\x10\x02\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00\x10\x00\x02\x00"
	"\x10\x00\x03\x00\x10\x00";
#endif

struct output {
	uint8_t bytes[1 << 12];
	size_t len;
	int rc;
};

static int output_put(void *user, const uint8_t *bytes, size_t len)
{
	struct output *o = user;

	assert_true(len <= sizeof o->bytes - o->len);
	memcpy(o->bytes + o->len, bytes, len);
	o->len += len;
	return o->rc;
}

/* A copy of its exact size, so that ASan sees every overrun. */
static bool run(const char *text, size_t len, struct output *o, uint64_t room, struct cap_error *e)
{
	struct decompress_sink sink = {output_put, o, room};
	uint8_t *copy = malloc(len + (len == 0));
	bool whole;

	assert_non_null(copy);
	memcpy(copy, text, len);
	*e = (struct cap_error){""};
	o->len = 0;
	whole = decompress(decompress_detect(copy, len), copy, len, &sink, e);
	assert_true(whole == (e->text[0] == '\0'));
	free(copy);
	return whole;
}

struct format {
	enum decompress_format format;
	const char *text, *bomb;
	size_t len, bomb_len;
};

static const struct format formats[] = {
#ifdef HAVE_ZLIB
	{DECOMPRESS_GZIP, gzipped, gzip_bomb, sizeof gzipped - 1, sizeof gzip_bomb - 1},
#endif
#ifdef HAVE_ZSTD
	{DECOMPRESS_ZSTD, zstded, zstd_bomb, sizeof zstded - 1, sizeof zstd_bomb - 1},
#endif
	{DECOMPRESS_NONE, NULL, NULL, 0, 0},
};

#define each_format(f) (const struct format *f = formats; f->text; f++)

static void test_detected(void **state)
{
	assert_int_equal(decompress_detect((const uint8_t *)plain, sizeof plain), DECOMPRESS_NONE);
	assert_int_equal(decompress_detect((const uint8_t *)"\x1f", 1), DECOMPRESS_NONE);
	assert_int_equal(
		decompress_detect((const uint8_t *)"\x5f\x2a\x4d\x18", 4), DECOMPRESS_ZSTD);
	for
		each_format(f) assert_int_equal(
			decompress_detect((const uint8_t *)f->text, f->len), f->format);
}

static void test_whole(void **state)
{
	struct output o = {.rc = 0};
	struct cap_error e;

	for
		each_format(f)
		{
			assert_true(run(f->text, f->len, &o, UINT64_MAX, &e));
			assert_int_equal(o.len, sizeof plain - 1);
			assert_memory_equal(o.bytes, plain, o.len);
		}
}

/* Rotation appends: RFC 1952 section 2.2, RFC 8878 section 3. */
static void test_two_members(void **state)
{
	struct output o = {.rc = 0};
	struct cap_error e;

	for
		each_format(f)
		{
			char twice[512];

			memcpy(twice, f->text, f->len);
			memcpy(twice + f->len, f->text, f->len);
			assert_true(run(twice, 2 * f->len, &o, UINT64_MAX, &e));
			assert_int_equal(o.len, 2 * (sizeof plain - 1));
			memset(twice + f->len, 'x', f->len);
			assert_false(run(twice, 2 * f->len, &o, UINT64_MAX, &e));
			assert_int_equal(o.len, sizeof plain - 1);
		}
}

static void test_every_prefix(void **state)
{
	struct output o = {.rc = 0};
	struct cap_error e;

	for
		each_format(f) for (size_t n = 4; n < f->len; n++)
		{
			assert_false(run(f->text, n, &o, UINT64_MAX, &e));
			assert_string_equal(e.text, "cut off in the compressed text");
			assert_memory_equal(o.bytes, plain, o.len);
		}
}

static void test_every_octet_wrong(void **state)
{
	struct output o = {.rc = 0};
	struct cap_error e;

	for
		each_format(f) for (size_t n = 4; n < f->len; n++)
		{
			char bad[256];

			memcpy(bad, f->text, f->len);
			bad[n] = (char)~bad[n];
			run(bad, f->len, &o, sizeof o.bytes, &e);
		}
}

/* However much it would be, no more than there is room is put. */
static void test_bomb(void **state)
{
	struct output o = {.rc = 0};
	struct cap_error e;

	for
		each_format(f)
		{
			assert_false(run(f->bomb, f->bomb_len, &o, 1000, &e));
			assert_string_equal(
				e.text, "decompressed, it is larger than there is room");
			assert_int_equal(o.len, 1000);
		}
}

static void test_sink_fails(void **state)
{
	struct output o = {.rc = -28};
	struct cap_error e;

	for
		each_format(f)
		{
			assert_false(run(f->text, f->len, &o, UINT64_MAX, &e));
			assert_string_equal(e.text, "No space left on device");
		}
}

/* ---- as a file ------------------------------------------------------------------------------ */

static struct cap_file *open_file(const char *text, size_t len, uint64_t room, struct cap_error *e)
{
	char name[] = "/tmp/test_decompressXXXXXX";
	int fd = mkstemp(name);
	struct cap_file *c;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
	c = cap_open_within(name, room, e);
	unlink(name);
	return c;
}

static void test_file(void **state)
{
	struct cap_error e = {""};
	struct cap_frame frame;

	for
		each_format(f)
		{
			struct cap_file *c = open_file(f->text, f->len, UINT64_MAX, &e);

			assert_non_null(c);
			assert_int_equal(cap_next(c, &frame, &e), CAP_FRAME);
			assert_int_equal(frame.captured, 3);
			assert_memory_equal(frame.bytes, "abc", 3);
			assert_int_equal(cap_next(c, &frame, &e), CAP_END);
			cap_close(c);
		}
}

/* What is there is read, and then why there is no more. */
static void test_file_cut(void **state)
{
	struct cap_error e = {""};
	struct cap_frame frame;

	for
		each_format(f)
		{
			struct cap_file *c = open_file(f->text, f->len, 42, &e);

			assert_non_null(c);
			assert_int_equal(cap_next(c, &frame, &e), CAP_BAD);
			assert_string_equal(
				e.text, "decompressed, it is larger than there is room");
			cap_close(c);
			assert_null(open_file(f->text, 6, UINT64_MAX, &e));
			assert_string_equal(e.text, "cut off in the compressed text");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_detected),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_two_members),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_every_octet_wrong),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
