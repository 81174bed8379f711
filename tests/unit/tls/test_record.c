/* SPDX-License-Identifier: BSD-2-Clause */
/* Records: the trace of RFC 8448 section 3, and every change of every byte; by both libraries. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/record.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

/** "complete record (72 octets)": what the client of the trace sends first. */
static const char trace[] =
	"1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a"
	"20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4";
static const char trace_secret[] =
	"9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5";
#define TRACE_LEN 72

static void bytes_of(const char *hex, uint8_t *out, size_t len)
{
	long n;
	unsigned char *b = OPENSSL_hexstr2buf(hex, &n);

	assert_non_null(b);
	assert_int_equal(n, len);
	memcpy(out, b, len);
	OPENSSL_free(b);
}

/* Records are made by libipsec-mb if there is one, and else by OpenSSL. */
static struct gcm gcm;
static bool use_gcm;
/* One for each direction that a test has at one time. */
static struct gcm_key gcm_keys[2];

static int with_openssl(void **state)
{
	use_gcm = false;
	return 0;
}

static int with_ipsec_mb(void **state)
{
	use_gcm = gcm_init(&gcm);
#ifdef GCM_ABSENT /* meson.build: what a build without libipsec-mb has */
	assert_false(use_gcm);
#endif
	return 0;
}

static void key(struct tls_direction *d, uint16_t suite, bool sealing)
{
	uint8_t secret[TLS_SECRET_MAX] = {0};

	bytes_of(trace_secret, secret, 32);
	*d = (struct tls_direction){0};
	if (use_gcm && tls_suite_find(suite)->gcm) {
		d->gcm = &gcm;
		d->gcm_key = &gcm_keys[sealing];
	}
	assert_true(tls_direction_key(d, tls_suite_find(suite), secret, sealing));
}

/** Open @p record in pieces of at most @p piece bytes, each an allocation of its own. */
static bool open_in_pieces(struct tls_direction *d, const uint8_t *record, size_t len, size_t piece,
	uint8_t *out, uint32_t *out_len)
{
	struct llp_iov v[512];
	struct tls_cursor c = {v, 0};
	uint8_t header[TLS_HEADER_LEN];
	unsigned n = 0;
	bool good;

	for (size_t at = 0; at < len; at += piece) {
		size_t run = len - at < piece ? len - at : piece;
		uint8_t *copy = malloc(run);

		memcpy(copy, record + at, run);
		v[n++] = (struct llp_iov){.base = copy, .len = run};
	}
	tls_cursor_copy(&c, header, sizeof header);
	good = tls_record_open(d, header, &c, (uint32_t)(len - TLS_HEADER_LEN), out, out_len);
	assert_true(c.v == v + n);
	while (n != 0)
		free((void *)(uintptr_t)v[--n].base);
	return good;
}

static void a_record_is_that_of_the_trace(void **state)
{
	uint8_t want[TRACE_LEN], record[TRACE_LEN];
	struct tls_direction d;

	bytes_of(trace, want, sizeof want);
	for (uint8_t i = 0; i < 50; i++)
		record[TLS_HEADER_LEN + i] = i;
	key(&d, 0x1301, true);
	assert_true(tls_record_seal(&d, record, TLS_APPLICATION_DATA, 50));
	assert_memory_equal(record, want, sizeof want);
	assert_int_equal(d.seq, 1);
	tls_direction_clear(&d);
}

static void pieces_of_any_size_are_opened(void **state)
{
	uint8_t record[TRACE_LEN], out[TRACE_LEN];
	uint32_t len;

	bytes_of(trace, record, sizeof record);
	for (size_t piece = 1; piece <= TRACE_LEN; piece++) {
		struct tls_direction d;

		key(&d, 0x1301, false);
		assert_true(open_in_pieces(&d, record, sizeof record, piece, out, &len));
		assert_int_equal(len, 51);
		assert_int_equal(out[49], 49);
		assert_int_equal(out[50], TLS_APPLICATION_DATA);
		tls_direction_clear(&d);
	}
}

static void any_flipped_bit_is_found(void **state)
{
	uint8_t record[TRACE_LEN], out[TRACE_LEN];
	uint32_t len;

	for (size_t bit = 0; bit < 8 * sizeof record; bit++) {
		struct tls_direction d;

		bytes_of(trace, record, sizeof record);
		record[bit / 8] ^= (uint8_t)(1 << bit % 8);
		key(&d, 0x1301, false);
		assert_false(open_in_pieces(&d, record, sizeof record, 7, out, &len));
		tls_direction_clear(&d);
	}
}

static void all_suites_seal_and_open_in_order(void **state)
{
	for (uint16_t suite = 0x1301; suite <= 0x1303; suite++) {
		uint8_t record[599 + TLS_RECORD_OVERHEAD], out[700];
		struct tls_direction tx, rx;
		uint32_t got;

		key(&tx, suite, true);
		key(&rx, suite, false);
		for (uint32_t len = 1; len <= 599; len += 13) {
			memset(record + TLS_HEADER_LEN, (int)len, len);
			assert_true(tls_record_seal(&tx, record, TLS_HANDSHAKE, len));
			assert_true(open_in_pieces(
				&rx, record, len + TLS_RECORD_OVERHEAD, 100, out, &got));
			assert_int_equal(got, len + 1);
			assert_int_equal(out[len], TLS_HANDSHAKE);
			assert_int_equal(out[len - 1], (uint8_t)len);
		}
		/* Once more: a replay has another sequence number. */
		assert_false(open_in_pieces(&rx, record, sizeof record, 100, out, &got));
		tls_direction_clear(&tx);
		tls_direction_clear(&rx);
	}
}

static void new_keys_begin_at_zero(void **state)
{
	uint8_t a[TRACE_LEN] = {0}, b[TRACE_LEN] = {0}, secret[TLS_SECRET_MAX] = {0};
	const struct tls_suite *s = tls_suite_find(0x1301);
	struct tls_direction d;

	key(&d, 0x1301, true);
	assert_true(tls_record_seal(&d, a, TLS_APPLICATION_DATA, 50));
	assert_int_equal(tls_direction_records_max(&d, 1), 1);
	assert_int_equal(tls_direction_records_max(&d, 0), s->records_max);
	bytes_of(trace_secret, secret, 32);
	assert_true(tls_suite_next_secret(s, secret));
	assert_true(tls_direction_key(&d, s, secret, true));
	assert_int_equal(d.seq, 0);
	assert_true(tls_record_seal(&d, b, TLS_APPLICATION_DATA, 50));
	assert_memory_not_equal(a, b, sizeof a);
	tls_direction_clear(&d);
}

/** Seal @p len bytes in one library, open them in the other. */
static void expect_agreement(uint16_t suite, uint32_t len, size_t piece)
{
	static uint8_t a[TLS_CONTENT_MAX + TLS_RECORD_OVERHEAD], b[sizeof a], out[sizeof a];
	struct tls_direction tx, rx;
	uint32_t got;

	for (uint32_t i = 0; i < len; i++)
		a[TLS_HEADER_LEN + i] = b[TLS_HEADER_LEN + i] = (uint8_t)(i * 7 + len);
	use_gcm = true;
	key(&tx, suite, true);
	assert_true(tls_record_seal(&tx, a, TLS_APPLICATION_DATA, len));
	tls_direction_clear(&tx);
	use_gcm = false;
	key(&tx, suite, true);
	assert_true(tls_record_seal(&tx, b, TLS_APPLICATION_DATA, len));
	tls_direction_clear(&tx);
	assert_memory_equal(a, b, len + TLS_RECORD_OVERHEAD);
	use_gcm = true;
	key(&rx, suite, false);
	assert_true(open_in_pieces(&rx, a, len + TLS_RECORD_OVERHEAD, piece, out, &got));
	assert_int_equal(got, len + TLS_TYPE_LEN);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(out[i], (uint8_t)(i * 7 + len));
	tls_direction_clear(&rx);
}

static void both_libraries_make_the_same_records(void **state)
{
	if (!gcm_init(&gcm))
		skip();
	for (uint16_t suite = 0x1301; suite <= 0x1302; suite++) {
		for (uint32_t len = 1; len < 600; len++)
			expect_agreement(suite, len, 1 + len % 97 + len / 5);
		for (uint32_t len = 1400; len <= TLS_CONTENT_MAX; len += 1249)
			expect_agreement(suite, len, 1448);
		expect_agreement(suite, TLS_CONTENT_MAX, TLS_CONTENT_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_that_of_the_trace),
		cmocka_unit_test(pieces_of_any_size_are_opened),
		cmocka_unit_test(any_flipped_bit_is_found),
		cmocka_unit_test(all_suites_seal_and_open_in_order),
		cmocka_unit_test(new_keys_begin_at_zero),
	};

	const struct CMUnitTest compared[] = {
		cmocka_unit_test(both_libraries_make_the_same_records),
	};

	return cmocka_run_group_tests_name("OpenSSL", tests, with_openssl, NULL) +
	       cmocka_run_group_tests_name("libipsec-mb", tests, with_ipsec_mb, NULL) +
	       cmocka_run_group_tests(compared, NULL, NULL);
}
