/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "told_user.h"

struct told_user told_user;

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct told_user *u = user;
	const struct told_show *s = &u->shows[u->shown++];
	size_t at = u->at;

	assert_true(u->shown <= TOLD_SHOWS);
	assert_int_equal(total, s->total);
	assert_true(u->c->showing);
	for (; n != 0; v++, n--) {
		assert_int_not_equal(v->len, 0);
		for (size_t i = 0; i < v->len; i++)
			assert_int_equal(v->base[i], tls_user_byte(at++));
	}
	assert_int_equal(at, u->at + total);
	if (u->aborts) {
		llp_abort(server.llp);
		server.llp = NULL;
	} else if (s->resume) {
		llp_resume(server.llp);
	}
	u->at += s->used;
	*need = s->need;
	return s->used;
}

static void on_eof(void *user)
{
	struct told_user *u = user;

	assert_false(u->eof);
	u->eof = true;
}

static void on_closed(void *user, int error)
{
	struct told_user *u = user;

	assert_false(u->closed);
	u->closed = true;
	u->error = error;
	server.llp = NULL;
}

void told_user_begin(void)
{
	static const struct llp_user_ops ops = {
		.readable = on_readable, .eof = on_eof, .closed = on_closed};

	told_user = (struct told_user){.c = records_begin()};
	llp_set_user(server.llp, &ops, &told_user);
}

void told_user_tell(const struct told_show shows[TOLD_SHOWS])
{
	told_user.shows = shows;
	told_user.shown = 0;
}

void told_user_expect_all(void)
{
	unsigned n = 0;

	while (n < TOLD_SHOWS && told_user.shows[n].total != 0)
		n++;
	assert_int_equal(told_user.shown, n);
}
