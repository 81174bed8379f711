/* SPDX-License-Identifier: BSD-2-Clause */
/* Content for a user that leaves some of it, with memory to keep that in and without. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "told_user.h"

/** Show it what is verified next. @return what is done with. */
static size_t deliver(size_t at, size_t len, const struct told_show shows[TOLD_SHOWS])
{
	uint8_t *bytes = test_malloc(len);
	size_t done;

	for (size_t i = 0; i < len; i++)
		bytes[i] = tls_user_byte(at + i);
	told_user_tell(shows);
	done = tls_input_deliver(told_user.c, bytes, len);
	test_free(bytes);
	return done;
}

/** @param kept so much it has left, and then needs @p need. */
static void begin_with(size_t kept, size_t need)
{
	const struct told_show show[TOLD_SHOWS] = {{.total = kept}};

	told_user_begin();
	assert_int_equal(deliver(0, kept, show), kept);
	assert_int_equal(told_user.c->kept.len, kept);
	told_user.c->need = need;
}

/* ---- what is delivered ------------------------------------------------------------------- */

static const struct delivered {
	size_t kept, need; /**< before */
	size_t len;
	bool starves, eof;
	size_t done, left; /**< of it; and is kept then */
	struct told_show shows[TOLD_SHOWS];
} delivered[] = {
	{.len = 100, .done = 100, .shows = {{100, 100, 0, false}}},
	{.len = 100, .done = 100, .left = 70, .shows = {{100, 30, 100, false}}},
	{.len = 100, .done = 100, .left = 100, .shows = {{100, 0, 0, false}}},
	{.len = 0},
	{.kept = 70, .len = 0, .left = 70},
	/* It wants to see the rest, if it has taken any. */
	{.len = 100, .done = 100, .shows = {{100, 30, 0, true}, {70, 70, 0, false}}},
	{.len = 100, .done = 100, .left = 40, .shows = {{100, 30, 0, true}, {70, 30, 50, false}}},
	{.len = 100, .done = 100, .left = 100, .shows = {{100, 0, 0, true}}},
	{.len = 100, .done = 100, .shows = {{100, 100, 0, true}}},
	/* Behind what is kept, as soon as it is as much as is needed. */
	{.kept = 70, .len = 1, .done = 1, .left = 1, .shows = {{71, 70, 0, false}}},
	{.need = 101, .len = 100, .done = 100, .shows = {{100, 100, 0, false}}},
	{.kept = 70, .need = 100, .len = 29, .done = 29, .left = 99},
	{.kept = 70, .need = 100, .len = 30, .done = 30, .shows = {{100, 100, 0, false}}},
	{.kept = 70,
		.need = 100,
		.len = 29,
		.eof = true,
		.done = 29,
		.shows = {{99, 99, 0, false}}},
	/* What cannot be kept is not done with. */
	{.len = 100, .starves = true, .done = 100, .shows = {{100, 100, 0, false}}},
	{.len = 100, .starves = true, .done = 30, .shows = {{100, 30, 100, false}}},
	{.len = 100,
		.starves = true,
		.done = 60,
		.shows = {{100, 30, 0, true}, {70, 30, 50, false}}},
	/* It is shown behind what is kept, in two pieces. */
	{.kept = 70, .len = 5000, .starves = true, .done = 5000, .shows = {{5070, 5070, 0, false}}},
	{.kept = 70, .len = 5000, .starves = true, .done = 30, .shows = {{5070, 100, 99, false}}},
	{.kept = 70, .len = 5000, .starves = true, .left = 10, .shows = {{5070, 60, 99, false}}},
	{.kept = 70, .len = 5000, .starves = true, .shows = {{5070, 70, 99, false}}},
	{.kept = 70,
		.len = 5000,
		.starves = true,
		.done = 1,
		.shows = {{5070, 60, 0, true}, {5010, 11, 0, false}}},
	{.kept = 70,
		.len = 5000,
		.starves = true,
		.done = 2,
		.shows = {{5070, 71, 0, true}, {4999, 1, 0, false}}},
	{.kept = 70, .need = 5071, .len = 5000, .starves = true, .left = 70},
	{.kept = 70,
		.need = 5071,
		.len = 5000,
		.starves = true,
		.eof = true,
		.done = 5000,
		.shows = {{5070, 5070, 0, false}}},
};

static void test_delivered(void **state)
{
	for (size_t i = 0; i < sizeof delivered / sizeof *delivered; i++) {
		const struct delivered *d = &delivered[i];

		begin_with(d->kept, d->need);
		told_user.c->below_eof = d->eof;
		have_memory(!d->starves);
		assert_int_equal(deliver(d->kept, d->len, d->shows), d->done);
		have_memory(true);
		told_user_expect_all();
		assert_int_equal(told_user.c->kept.len, d->left);
		assert_int_equal(server.stack->kept.held != 0, d->left != 0);
		/* And it is what it has not used yet. */
		for (size_t k = 0; k < d->left; k++)
			assert_int_equal(told_user.c->kept.bytes[told_user.c->kept.at + k],
				tls_user_byte(told_user.at + k));
		tls_conn_leave(told_user.c);
	}
}

/** What is kept moves to the front when more is. */
static void test_in_turns(void **state)
{
	static const struct told_show shows[][TOLD_SHOWS] = {
		{{.total = 80, .used = 30}}, {{.total = 60, .used = 60}}};

	begin_with(70, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(deliver(70 + 10 * i, 10, shows[i]), 10);
		told_user_expect_all();
	}
	assert_int_equal(told_user.c->kept.len, 0);
	assert_int_equal(server.stack->kept.held, 0);
	tls_conn_leave(told_user.c);
}

/** Who ends it while it looks is done with all. */
static void test_aborts(void **state)
{
	static const struct told_show shows[][TOLD_SHOWS] = {
		{{.total = 100}}, {{.total = 101}}, {{.total = 5070}}};
	static const size_t kept[] = {0, 1, 70}, len[] = {100, 100, 5000};

	for (unsigned i = 0; i < 3; i++) {
		begin_with(kept[i], 0);
		told_user.aborts = true;
		have_memory(i != 2);
		assert_int_equal(deliver(kept[i], len[i], shows[i]), len[i]);
		have_memory(true);
		told_user_expect_all();
		assert_true(told_user.c->dead || told_user.c->released);
		tls_conn_leave(told_user.c);
	}
}

/* ---- what is kept ------------------------------------------------------------------------ */

static void test_show_kept(void **state)
{
	static const struct {
		size_t kept, need;
		bool eof, closed;
		struct told_show shows[TOLD_SHOWS];
		size_t left;
	} shown[] = {
		{.kept = 0},
		{.kept = 0, .eof = true},
		{.kept = 70, .shows = {{70, 70, 0, false}}},
		{.kept = 70, .need = 70, .shows = {{70, 30, 50, false}}, .left = 40},
		{.kept = 70, .need = 71, .left = 70},
		{.kept = 70, .need = 71, .eof = true, .shows = {{70, 70, 0, false}}},
		{.kept = 70, .need = 71, .closed = true, .shows = {{70, 0, 71, false}}, .left = 70},
	};

	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		begin_with(shown[i].kept, shown[i].need);
		told_user.c->below_eof = shown[i].eof;
		told_user.c->rx_closed = shown[i].closed;
		told_user_tell(shown[i].shows);
		tls_input_show_kept(told_user.c);
		told_user_expect_all();
		assert_int_equal(told_user.c->kept.len, shown[i].left);
		tls_conn_leave(told_user.c);
	}
}

/** More is kept of a user that waits for more. */
static void test_is_full(void **state)
{
	static const struct {
		size_t kept, need;
		bool full;
	} rows[] = {
		{0, 0, false},
		{16383, 0, false},
		{16384, 0, true},
		{16384, 16384, true},
		{16384, 16385, false},
		{TLS_KEPT_MAX - 1, TLS_KEPT_MAX, false},
		{TLS_KEPT_MAX - 1, TLS_KEPT_MAX - 1, true},
		{TLS_KEPT_MAX, SIZE_MAX, true},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tls_conn c = {.kept = {.len = rows[i].kept}, .need = rows[i].need};

		assert_int_equal(tls_input_is_full(&c), rows[i].full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(test_delivered),
		TEST(test_in_turns),
		TEST(test_aborts),
		TEST(test_show_kept),
		cmocka_unit_test(test_is_full),
	};
	int failed = 0;

	for (unsigned i = 0; i < 2; i++) {
		rationed = i;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
