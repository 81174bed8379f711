/* SPDX-License-Identifier: BSD-2-Clause */
/* Records whose content is shown together, and those that stay below. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "told_user.h"

#include <errno.h>

#define RECORDS_MAX 4

static struct records records;
static uint8_t out[TLS_SCRATCH_LEN];

enum kind {
	NONE,
	CONTENT,
	CANCELED, /**< an alert that says that one follows */
	CLOSE,
	HALF, /**< a handshake message without its end */
	FORGED,
};

struct record {
	enum kind kind;
	size_t len; /**< of CONTENT */
};

static void make(const struct record made[RECORDS_MAX])
{
	static const uint8_t bytes[][TLS_ALERT_LEN] = {
		[CANCELED] = {TLS_ALERT_WARNING, TLS_ALERT_USER_CANCELED},
		[CLOSE] = {TLS_ALERT_WARNING, TLS_ALERT_CLOSE_NOTIFY},
		[HALF] = {TLS_KEY_UPDATE, 0},
		[FORGED] = {1, 2},
	};
	size_t at = 0;

	records.len = 0;
	for (unsigned i = 0; i < RECORDS_MAX && made[i].kind != NONE; i++) {
		if (made[i].kind == CONTENT)
			records_add_stream(&records, at, made[i].len);
		else
			records_add(&records, made[i].kind == HALF ? TLS_HANDSHAKE : TLS_ALERT,
				bytes[made[i].kind], TLS_ALERT_LEN, 0);
		if (made[i].kind == FORGED)
			records.bytes[records.len - 1] ^= 1;
		at += made[i].len;
	}
}

static size_t octets(size_t content)
{
	return content + TLS_RECORD_OVERHEAD;
}

/* ---- what is shown ----------------------------------------------------------------------- */

static const struct run {
	struct record made[RECORDS_MAX];
	struct told_show shows[TOLD_SHOWS];
	size_t cut;  /**< octets that have not come */
	size_t need; /**< so much is needed */
	size_t left; /**< octets that stay below */
	int error;
	bool eof;
} runs[] = {
	{.made = {{CONTENT, 100}, {CONTENT, 200}, {CONTENT, 300}}, .shows = {{600, 600, 0, false}}},
	{.made = {{CONTENT, 0}, {CONTENT, 0}}},
	/* TLS_SCRATCH_FULL at a time, and a record. */
	{.made = {{CONTENT, 8192}, {CONTENT, 8191}, {CONTENT, 1}, {CONTENT, 9}},
		.shows = {{16384, 16384, 0, false}, {9, 9, 0, false}}},
	{.made = {{CONTENT, 8192}, {CONTENT, 8191}, {CONTENT, 16384}, {CONTENT, 9}},
		.shows = {{32767, 32767, 0, false}, {9, 9, 0, false}}},
	/* What is no content ends it. */
	{.made = {{CONTENT, 100}, {CANCELED, 0}, {CONTENT, 50}},
		.shows = {{100, 100, 0, false}, {50, 50, 0, false}}},
	{.made = {{CONTENT, 100}, {CLOSE, 0}, {CONTENT, 50}},
		.shows = {{100, 100, 0, false}},
		.left = 50 + TLS_RECORD_OVERHEAD,
		.eof = true},
	/* Not whole. */
	{.made = {{CONTENT, 100}, {CONTENT, 100}},
		.shows = {{100, 100, 0, false}},
		.cut = 1,
		.need = 100 + TLS_RECORD_OVERHEAD,
		.left = 99 + TLS_RECORD_OVERHEAD},
	{.made = {{CONTENT, 100}, {CONTENT, 100}},
		.shows = {{100, 100, 0, false}},
		.cut = 100 + TLS_RECORD_OVERHEAD - 4,
		.need = TLS_HEADER_LEN,
		.left = 4},
	/* What came before is shown. */
	{.made = {{CONTENT, 100}, {FORGED, 0}, {CONTENT, 50}},
		.shows = {{100, 100, 0, false}},
		.left = 2 + TLS_RECORD_OVERHEAD + 50 + TLS_RECORD_OVERHEAD,
		.need = 2 + TLS_RECORD_OVERHEAD,
		.error = -EBADMSG},
	{.made = {{CONTENT, 100}, {HALF, 0}, {CONTENT, 50}},
		.shows = {{100, 100, 0, false}},
		.error = -EPROTO},
	/* What the user leaves is kept. */
	{.made = {{CONTENT, 100}, {CONTENT, 200}}, .shows = {{300, 130, 400, false}}},
	{.made = {{CONTENT, 100}, {CANCELED, 0}, {CONTENT, 20}},
		.shows = {{100, 30, 0, false}, {90, 90, 0, false}}},
};

static void test_runs(void **state)
{
	static const size_t pieces[] = {0, 3};

	for (size_t i = 0; i < 2 * sizeof runs / sizeof *runs; i++) {
		const struct run *r = &runs[i / 2];
		struct tls_input_bytes b;
		size_t need = 0;

		told_user_begin();
		make(r->made);
		records.len -= r->cut;
		b = records_bytes(&records, pieces[i % 2]);
		told_user_tell(r->shows);
		tls_input_records(told_user.c, &b, out, TLS_SCRATCH_ALL, &need);
		told_user_expect_all();
		assert_int_equal(need, r->need);
		assert_int_equal(b.left, r->left);
		assert_int_equal(told_user.error, r->error);
		assert_int_equal(told_user.eof, r->eof);
		assert_false(told_user.c->rx_stalled);
		tls_conn_leave(told_user.c);
	}
}

/** A user that has enough is shown nothing, and nothing is opened. */
static void test_full(void **state)
{
	static const struct record made[RECORDS_MAX] = {
		{CONTENT, 8192}, {CONTENT, 8192}, {CONTENT, 50}};
	static const struct told_show shows[TOLD_SHOWS] = {{.total = 16384}};
	struct tls_input_bytes b;
	size_t need = 0;

	told_user_begin();
	make(made);
	b = records_bytes(&records, 0);
	told_user_tell(shows);
	tls_input_records(told_user.c, &b, out, TLS_SCRATCH_ALL, &need);
	told_user_expect_all();
	assert_true(told_user.c->rx_stalled);
	assert_int_equal(told_user.c->kept.len, 16384);
	assert_int_equal(b.left, octets(50));
	assert_int_equal(told_user.c->rx.seq, 2);
	tls_conn_leave(told_user.c);
}

/* ---- without memory ---------------------------------------------------------------------- */

/** Where a connection that waits is. */
enum place { NOWHERE, OF_ITSELF, STARVED, NESTED };

static const struct starved {
	struct record made[RECORDS_MAX];
	struct told_show shows[TOLD_SHOWS];
	bool nested, below_eof;
	size_t left;  /**< octets that stay below */
	size_t shown; /**< of their content, used */
	size_t until; /**< octets, when they are looked at again */
	bool eof;
	enum place place;
} starved[] = {
	{.made = {{CONTENT, 100}}, .shows = {{100, 100, 0, false}}},
	/* The rest of an FPDU is waited for; or, where none is, as much again. */
	{.made = {{CONTENT, 100}},
		.shows = {{100, 30, 100, false}},
		.left = 122,
		.shown = 30,
		.until = 152,
		.place = OF_ITSELF},
	{.made = {{CONTENT, 100}},
		.shows = {{100, 30, 70, false}},
		.left = 122,
		.shown = 30,
		.until = 244,
		.place = OF_ITSELF},
	{.made = {{CONTENT, 100}},
		.shows = {{100, 30, 71, false}},
		.left = 122,
		.shown = 30,
		.until = 123,
		.place = OF_ITSELF},
	/* Those that it is done with are not opened again. */
	{.made = {{CONTENT, 100}, {CONTENT, 100}},
		.shows = {{200, 99, 0, false}},
		.left = 244,
		.shown = 99,
		.until = 488,
		.place = OF_ITSELF},
	{.made = {{CONTENT, 100}, {CONTENT, 100}},
		.shows = {{200, 100, 0, false}},
		.left = 122,
		.until = 244,
		.place = OF_ITSELF},
	{.made = {{CONTENT, 100}, {CONTENT, 100}},
		.shows = {{200, 130, 0, false}},
		.left = 122,
		.shown = 30,
		.until = 244,
		.place = OF_ITSELF},
	/* Behind something else the user does not bring it on. */
	{.made = {{CONTENT, 100}, {CANCELED, 0}},
		.shows = {{100, 30, 100, false}},
		.left = 146,
		.shown = 30,
		.until = 176,
		.place = STARVED},
	{.made = {{CONTENT, 100}},
		.shows = {{100, 30, 100, false}},
		.nested = true,
		.left = 122,
		.shown = 30,
		.until = 152,
		.place = NESTED},
	/* Half an FPDU before the end is of no use. */
	{.made = {{CONTENT, 100}, {CLOSE, 0}}, .shows = {{100, 30, 100, false}}, .eof = true},
	{.made = {{CONTENT, 100}, {CLOSE, 0}},
		.shows = {{100, 30, 0, false}},
		.left = 146,
		.shown = 30,
		.until = 292,
		.place = STARVED},
	{.made = {{CONTENT, 100}}, .shows = {{100, 30, 100, false}}, .below_eof = true},
	{.made = {{CONTENT, 100}},
		.shows = {{100, 30, 0, false}},
		.below_eof = true,
		.left = 122,
		.shown = 30,
		.until = 244,
		.place = OF_ITSELF},
	/* More is opened for an FPDU that is longer, if there is room for that. */
	{.made = {{CONTENT, 10000}, {CONTENT, 10000}, {CONTENT, 10000}},
		.shows = {{20000, 0, 30000, false}, {30000, 30000, 0, false}}},
	{.made = {{CONTENT, 10000}, {CONTENT, 10000}, {CONTENT, 10000}},
		.shows = {{20000, 0, 30000, false}},
		.nested = true,
		.left = 30066,
		.until = 30044,
		.place = NESTED},
	{.made = {{CONTENT, 8192}, {CONTENT, 8192}, {CONTENT, 1}},
		.shows = {{16384, 0, 16385, false}, {16385, 16385, 0, false}}},
	/* And behind what it is done with. */
	{.made = {{CONTENT, 10000}, {CONTENT, 10000}},
		.shows = {{20000, 15000, 0, false}, {5000, 5000, 0, false}},
		.nested = true},
};

static enum place place_of(const struct tls_conn *c)
{
	if (!c->starved)
		return NOWHERE;
	if (!c->starved_in)
		return OF_ITSELF;
	return c->starved_in == &c->stack->nested ? NESTED : STARVED;
}

static void test_starved(void **state)
{
	for (size_t i = 0; i < sizeof starved / sizeof *starved; i++) {
		const struct starved *s = &starved[i];
		struct tls_input_bytes b;
		struct tls_conn *c;
		size_t need = 0;

		told_user_begin();
		c = told_user.c;
		make(s->made);
		b = records_bytes(&records, 0);
		c->below_eof = s->below_eof;
		told_user_tell(s->shows);
		have_memory(false);
		tls_input_records(
			c, &b, out, s->nested ? TLS_SCRATCH_FULL : TLS_SCRATCH_ALL, &need);
		have_memory(true);
		told_user_expect_all();
		assert_int_equal(told_user.error, 0);
		assert_int_equal(told_user.eof, s->eof);
		assert_int_equal(b.left, s->left);
		assert_int_equal(c->rx_shown, s->shown);
		assert_int_equal(place_of(c), s->place);
		assert_int_equal(c->rx_stalled, s->place != NOWHERE);
		if (c->starved)
			assert_int_equal(c->rx_wait.until, s->until);
		assert_int_equal(c->kept.len, 0);
		tls_conn_leave(c);
	}
}

/** What the user was done with is not shown again when there is memory. */
static void test_again(void **state)
{
	static const struct record made[RECORDS_MAX] = {{CONTENT, 100}, {CONTENT, 50}};
	static const struct told_show first[TOLD_SHOWS] = {{.total = 150, .used = 30}};
	static const struct told_show then[TOLD_SHOWS] = {{.total = 120, .used = 119, .need = 2}};
	struct tls_input_bytes b;
	size_t need = 0;

	told_user_begin();
	make(made);
	b = records_bytes(&records, 0);
	told_user_tell(first);
	have_memory(false);
	tls_input_records(told_user.c, &b, out, TLS_SCRATCH_ALL, &need);
	have_memory(true);
	told_user_tell(then);
	tls_input_records(told_user.c, &b, out, TLS_SCRATCH_ALL, &need);
	told_user_expect_all();
	assert_int_equal(b.left, 0);
	assert_int_equal(told_user.c->rx_shown, 0);
	assert_int_equal(told_user.c->kept.len, 1);
	tls_conn_leave(told_user.c);
}

/* ---- what has come ----------------------------------------------------------------------- */

/** Behind a record of 100 of which 70 are not done with. */
static const struct come {
	struct record made[RECORDS_MAX - 1];
	size_t cut, need, until;
	bool all;
	size_t content, then; /**< of rx_wait; 0: as it was */
} come[] = {
	{.need = 100, .until = 152},
	/* The user needs no more: when as much has come. */
	{.made = {{CONTENT, 100}}, .cut = 1, .until = 244},
	{.made = {{CONTENT, 100}}, .until = 244, .all = true},
	{.made = {{CONTENT, 100}}, .need = 70, .until = 244, .all = true},
	/* It does, and what has come is less than its octets. */
	{.made = {{CONTENT, 29}},
		.need = 100,
		.until = 152,
		.content = 99,
		.then = 122 + 51 + TLS_HEADER_LEN},
	{.made = {{CONTENT, 30}}, .need = 100, .until = 152, .all = true},
	{.made = {{CONTENT, 0}, {CONTENT, 0}},
		.need = 100,
		.until = 152,
		.content = 70,
		.then = 122 + 44 + 30},
	{.made = {{CONTENT, 0}, {CONTENT, 10}, {CONTENT, 20}},
		.need = 100,
		.until = 152,
		.all = true},
	{.made = {{CONTENT, 10}, {CONTENT, 10}},
		.cut = 1,
		.need = 100,
		.until = 152,
		.content = 80,
		.then = 122 + 32 + 32},
	{.made = {{CONTENT, 10}, {CONTENT, 10}}, .cut = 28, .need = 75, .until = 127, .all = true},
	{.made = {{CONTENT, 10}, {CONTENT, 10}},
		.cut = 28,
		.need = 82,
		.until = 134,
		.content = 80,
		.then = 122 + 32 + 5},
	/* Something else follows. */
	{.made = {{CANCELED, 0}, {CONTENT, 10}}, .need = 100, .until = 152, .all = true},
	{.made = {{FORGED, 0}, {CONTENT, 10}}, .need = 100, .until = 152, .all = true},
};

static void test_has_come(void **state)
{
	static const size_t pieces[] = {0, 2, 61};

	for (size_t i = 0; i < 3 * sizeof come / sizeof *come; i++) {
		const struct come *t = &come[i / 3];
		const struct tls_wait wait = {122, 1, 70, t->until};
		struct record made[RECORDS_MAX] = {{CONTENT, 100}};
		struct tls_input_bytes b;
		struct tls_conn *c;

		told_user_begin();
		c = told_user.c;
		for (unsigned k = 1; k < RECORDS_MAX; k++)
			made[k] = t->made[k - 1];
		make(made);
		records.len -= t->cut;
		b = records_bytes(&records, pieces[i % 3]);
		c->need = t->need;
		c->rx_wait = wait;
		assert_int_equal(tls_input_has_come(c, &b, out), t->all);
		assert_int_equal(c->rx_wait.content, t->content ? t->content : wait.content);
		assert_int_equal(c->rx_wait.until, t->then ? t->then : wait.until);
		/* It has only looked. */
		assert_int_equal(c->rx.seq, 0);
		assert_int_equal(b.left, records.len);
		tls_conn_leave(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(test_runs),
		TEST(test_full),
		TEST(test_starved),
		TEST(test_again),
		TEST(test_has_come),
	};
	int failed = 0;

	for (unsigned i = 0; i < 2; i++) {
		rationed = i;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
