/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a stream: each is opened, and some are no content (RFC 8446 sections 5 and 6). */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "records.h"

#include <errno.h>
#include <string.h>

static struct records records;
static uint8_t content[TLS_CONTENT_MAX], out[TLS_CIPHERTEXT_MAX];

static void nothing_was_done(
	const struct tls_conn *c, uint64_t seq, const struct tls_input_bytes *b, size_t left)
{
	assert_int_equal(c->rx.seq, seq);
	assert_ptr_equal(b->at.v, records.v);
	assert_int_equal(b->at.off, 0);
	assert_int_equal(b->left, left);
}

/* ---- what is opened ---------------------------------------------------------------------- */

static const struct opened {
	uint8_t type;
	size_t len, padding;
	uint32_t content_max;
	bool is_long;
} opened[] = {
	{TLS_APPLICATION_DATA, 0, 0, TLS_CONTENT_MAX, false},
	{TLS_APPLICATION_DATA, 1, 0, TLS_CONTENT_MAX, false},
	{TLS_APPLICATION_DATA, 1, 1, TLS_CONTENT_MAX, false},
	{TLS_APPLICATION_DATA, 100, 1000, TLS_CONTENT_MAX, false},
	{TLS_ALERT, 2, 7, TLS_CONTENT_MAX, false},
	{TLS_HANDSHAKE, 5, 0, TLS_CONTENT_MAX, false},
	/* Section 5.4: without a type. */
	{0, 0, 0, TLS_CONTENT_MAX, false},
	{0, 0, 300, TLS_CONTENT_MAX, false},
	/* Section 5.2, and RFC 8449 section 4: the type and the padding count. */
	{TLS_APPLICATION_DATA, TLS_CONTENT_MAX, 0, TLS_CONTENT_MAX, false},
	{TLS_APPLICATION_DATA, 0, TLS_CONTENT_MAX, TLS_CONTENT_MAX, false},
	{TLS_APPLICATION_DATA, TLS_CONTENT_MAX, 1, TLS_CONTENT_MAX, true},
	{TLS_APPLICATION_DATA, 100, 0, 100, false},
	{TLS_APPLICATION_DATA, 99, 1, 100, false},
	{TLS_APPLICATION_DATA, 101, 0, 100, true},
	{TLS_APPLICATION_DATA, 1, 100, 100, true},
	{0, 0, 101, 100, true},
};

static void expect_opened(struct tls_conn *c, struct tls_input_bytes *b, const struct opened *o)
{
	uint8_t type = 99;
	uint32_t len = 99;
	size_t need = 99;

	assert_true(tls_input_open(c, b, out, &type, &len, &need));
	assert_null(b->fault);
	assert_int_equal(need, 0);
	assert_int_equal(type, o->type);
	assert_int_equal(len, o->len);
	assert_memory_equal(out, content, o->len);
}

static void expect_long(struct tls_conn *c, struct tls_input_bytes *b)
{
	size_t left = b->left, need;
	uint8_t type;
	uint32_t len;

	assert_false(tls_input_open(c, b, out, &type, &len, &need));
	assert_non_null(b->fault);
	assert_int_equal(b->fault->alert, TLS_ALERT_RECORD_OVERFLOW);
	assert_int_equal(b->fault->error, -EPROTO);
	assert_int_equal(b->left, left);
}

/** However they lie, and the one behind is found. */
static void test_opened(void **state)
{
	static const size_t pieces[] = {0, 1, 7};
	static const struct opened next = {TLS_ALERT, 2, 0, TLS_CONTENT_MAX, false};

	for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
		const struct opened *o = &opened[i];
		struct tls_conn *c = records_begin();
		struct tls_input_bytes b;

		c->content_max = o->content_max;
		records.len = 0;
		records_add(&records, o->type, content, o->len, o->padding);
		records_add(&records, next.type, content, next.len, next.padding);
		for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
			c->rx.seq = 0;
			b = records_bytes(&records, pieces[k]);
			if (o->is_long) {
				expect_long(c, &b);
				continue;
			}
			expect_opened(c, &b, o);
			assert_int_equal(b.left, next.len + TLS_RECORD_OVERHEAD);
			expect_opened(c, &b, &next);
			assert_int_equal(b.left, 0);
			assert_int_equal(c->rx.seq, 2);
		}
		tls_conn_leave(c);
	}
}

/** Nothing is done before it is whole but to say when it will be. */
static void test_not_whole(void **state)
{
	struct tls_conn *c = records_begin();
	struct tls_input_bytes b;
	uint8_t type;
	uint32_t len;
	size_t need;

	records.len = 0;
	records_add(&records, TLS_APPLICATION_DATA, content, 40, 3);
	for (size_t left = 0; left < records.len; left++) {
		b = records_bytes(&records, 0);
		b.left = left;
		assert_false(tls_input_open(c, &b, out, &type, &len, &need));
		assert_int_equal(need, left < TLS_HEADER_LEN ? TLS_HEADER_LEN : records.len);
		assert_null(b.fault);
		nothing_was_done(c, 0, &b, left);
	}
	expect_opened(c, &(struct tls_input_bytes){.at = {records.v, 0}, .left = records.len},
		&(struct opened){.type = TLS_APPLICATION_DATA, .len = 40});
	tls_conn_leave(c);
}

/* ---- what is not ------------------------------------------------------------------------- */

/** Of the header alone, so nothing is waited for that will be refused. */
static void test_headers(void **state)
{
	static const struct {
		uint8_t header[TLS_HEADER_LEN];
		int alert; /**< 0: the rest is waited for */
		int error;
	} headers[] = {
		{{23, 3, 3, 0x00, 0x00}, TLS_ALERT_BAD_RECORD_MAC, -EBADMSG},
		{{23, 3, 3, 0x00, 0x10}, TLS_ALERT_BAD_RECORD_MAC, -EBADMSG},
		{{23, 3, 3, 0x00, 0x11}, 0, 0},
		{{23, 3, 3, 0x41, 0x00}, 0, 0},
		{{23, 3, 3, 0x41, 0x01}, TLS_ALERT_RECORD_OVERFLOW, -EPROTO},
		{{23, 3, 3, 0xff, 0xff}, TLS_ALERT_RECORD_OVERFLOW, -EPROTO},
		{{23, 9, 9, 0x00, 0x20}, 0, 0}, /* section 5.1: the version is ignored */
		{{20, 3, 3, 0x00, 0x01}, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO},
		{{21, 3, 3, 0x00, 0x20}, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO},
		{{22, 3, 3, 0x00, 0x20}, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO},
		{{24, 3, 3, 0x00, 0x20}, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO},
	};
	struct tls_conn *c = records_begin();

	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		const uint8_t *h = headers[i].header;
		struct tls_input_bytes b;
		uint8_t type;
		uint32_t len;
		size_t need;

		memcpy(records.bytes, h, TLS_HEADER_LEN);
		records.len = TLS_HEADER_LEN;
		b = records_bytes(&records, 0);
		assert_false(tls_input_open(c, &b, out, &type, &len, &need));
		nothing_was_done(c, 0, &b, TLS_HEADER_LEN);
		if (headers[i].alert == 0) {
			assert_null(b.fault);
			assert_int_equal(need, TLS_HEADER_LEN + (h[3] << 8 | h[4]));
		} else {
			assert_non_null(b.fault);
			assert_int_equal(b.fault->alert, headers[i].alert);
			assert_int_equal(b.fault->error, headers[i].error);
		}
	}
	tls_conn_leave(c);
}

/** Section 5.2: what was changed, or comes a second time, or in another's place. */
static void test_forged(void **state)
{
	struct tls_conn *c = records_begin();

	for (unsigned how = 0; how < 4; how++) {
		struct tls_input_bytes b;
		uint8_t type;
		uint32_t len;
		size_t need;

		tls_conn_of(client.llp)->tx.seq = c->rx.seq = 0;
		records.len = 0;
		records_add(&records, TLS_APPLICATION_DATA, content, 40, 0);
		if (how == 0)
			records.bytes[TLS_HEADER_LEN] ^= 1;
		else if (how == 1)
			records.bytes[records.len - 1] ^= 0x80;
		else if (how == 2)
			records.bytes[TLS_AT_VERSION] ^= 1; /* ignored, but authenticated */
		else
			c->rx.seq = 1;
		b = records_bytes(&records, 0);
		assert_false(tls_input_open(c, &b, out, &type, &len, &need));
		assert_non_null(b.fault);
		assert_int_equal(b.fault->alert, TLS_ALERT_BAD_RECORD_MAC);
		assert_int_equal(b.fault->error, -EBADMSG);
		assert_int_equal(b.left, records.len);
	}
	tls_conn_leave(c);
}

static void test_fail(void **state)
{
	static const struct tls_input_fault fault = {
		TLS_ALERT_RECORD_OVERFLOW, -EBADMSG, "a reason of the test's"};
	struct tls_conn *c = records_begin();

	tls_input_fail(c, &fault);
	assert_true(server.closed);
	assert_int_equal(server.error, -EBADMSG);
	assert_string_equal(server.stack->reason, fault.reason);
	llp_mem_run(mem, STEPS);
	assert_non_null(strstr(client.stack->reason, "record overflow"));
	tls_conn_leave(c);
}

/* ---- what is no content ------------------------------------------------------------------ */

/**
 * @param error of closed(); 0: the connection stays.
 * @param said the alert that the peer hears of it; NULL: none.
 */
static void control(
	uint8_t type, const uint8_t *bytes, size_t len, int error, bool eof, const char *said)
{
	struct tls_conn *c = records_begin();

	tls_input_control(c, type, bytes, len);
	assert_int_equal(server.closed, error != 0);
	assert_int_equal(server.error, error);
	assert_int_equal(server.eof, eof);
	assert_int_equal(c->rx_closed, eof);
	tls_conn_leave(c);
	llp_mem_run(mem, STEPS);
	assert_false(client.eof);
	if (said)
		assert_non_null(strstr(client.stack->reason, said));
	else
		assert_null(strstr(client.stack->reason, "sent the alert"));
}

/** Section 6: their level is ignored, none is answered; and which of them mean that the peer does
 * not believe us. */
static void test_alerts(void **state)
{
	static const struct {
		uint8_t bytes[3];
		size_t len;
		int error;
		bool eof;
	} alerts[] = {
		{{1, 0}, 2, 0, true},
		{{2, 0}, 2, 0, true},
		{{1, 90}, 2, 0, false},
		{{2, 90}, 2, 0, false},
		{{1}, 0, -EPROTO, false},
		{{1}, 1, -EPROTO, false},
		{{1, 0, 0}, 3, -EPROTO, false},
		{{2, 10}, 2, -EPROTO, false},
		{{2, 39}, 2, -EPROTO, false},
		{{2, 40}, 2, -EKEYREJECTED, false},
		{{1, 42}, 2, -EKEYREJECTED, false},
		{{2, 46}, 2, -EKEYREJECTED, false},
		{{2, 47}, 2, -EPROTO, false},
		{{2, 48}, 2, -EKEYREJECTED, false},
		{{2, 49}, 2, -EKEYREJECTED, false},
		{{2, 50}, 2, -EPROTO, false},
		{{2, 51}, 2, -EKEYREJECTED, false},
		{{2, 52}, 2, -EPROTO, false},
		{{2, 69}, 2, -EPROTO, false},
		{{2, 70}, 2, -EKEYREJECTED, false},
		{{2, 71}, 2, -EKEYREJECTED, false},
		{{2, 72}, 2, -EPROTO, false},
		{{2, 114}, 2, -EPROTO, false},
		{{2, 115}, 2, -EKEYREJECTED, false},
		{{2, 116}, 2, -EKEYREJECTED, false},
		{{2, 117}, 2, -EPROTO, false},
		{{2, 255}, 2, -EPROTO, false},
	};

	for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++)
		control(TLS_ALERT, alerts[i].bytes, alerts[i].len, alerts[i].error, alerts[i].eof,
			alerts[i].len == TLS_ALERT_LEN ? NULL : "decode error");
}

static void test_types(void **state)
{
	static const uint8_t key_update[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};
	static const struct {
		uint8_t type;
		size_t len;
		int error;
	} types[] = {
		{TLS_HANDSHAKE, sizeof key_update, 0},
		{TLS_HANDSHAKE, 1, 0}, /* the rest may follow */
		{TLS_HANDSHAKE, 0, -EPROTO},
		{TLS_CHANGE_CIPHER_SPEC, 1, -EPROTO},
		{24, 1, -EPROTO},
		{0, 0, -EPROTO},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		control(types[i].type, key_update, types[i].len, types[i].error, false,
			types[i].error ? "unexpected_message" : NULL);
}

/** Section 5.1: nothing comes between the parts of a handshake message. */
static void test_in_between(void **state)
{
	static const uint8_t key_update[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};
	static const uint8_t close_notify[] = {TLS_ALERT_WARNING, TLS_ALERT_CLOSE_NOTIFY};
	struct tls_conn *c = records_begin();

	tls_input_control(c, TLS_HANDSHAKE, key_update, 2);
	tls_input_control(c, TLS_ALERT, close_notify, sizeof close_notify);
	assert_int_equal(server.error, -EPROTO);
	assert_false(server.eof);
	tls_conn_leave(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(test_opened),
		TEST(test_not_whole),
		TEST(test_headers),
		TEST(test_forged),
		TEST(test_fail),
		TEST(test_alerts),
		TEST(test_types),
		TEST(test_in_between),
	};

	for (size_t i = 0; i + 1 < sizeof content; i++)
		content[i] = (uint8_t)(i * 31);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
