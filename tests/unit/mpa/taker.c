/* SPDX-License-Identifier: BSD-2-Clause */
#include "taker.h"

#include <stdlib.h>

/* The first two bytes of a ULPDU are its number. */
static unsigned making;

static uint8_t pattern(uint32_t i)
{
	if (i < 2)
		return (uint8_t)(making >> 8 * (1 - i));
	return (uint8_t)(i * 7 + making);
}

static unsigned check(struct taker *t, const struct mpa_ulpdu *p, uint32_t len)
{
	struct mpa_cursor c = p->at;
	uint8_t copy[2048] = {0};
	unsigned k;

	assert_true(len <= sizeof copy);
	mpa_cursor_copy(&c, copy, len);
	k = load_be16(copy);
	assert_true(k < t->fpdus);
	assert_int_equal(p->len, t->ulpdu_len[k]);
	making = k;
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(copy[i], pattern(i));
	return k;
}

static struct taker *taker_of(void *user)
{
	return ((struct mpa_user *)user)->test;
}

static uint32_t kept_of(const struct taker *t, const struct mpa_ulpdu *p)
{
	return t->kept < p->len ? t->kept : p->len;
}

static uint32_t on_placement(void *user, const struct mpa_ulpdu *p)
{
	struct taker *t = taker_of(user);
	unsigned k = check(t, p, p->len);

	t->offers++;
	assert_true(k >= t->next);
	assert_false(t->early[k]);
	if (t->kept == 0 || (int)k == t->refuse)
		return 0;
	return kept_of(t, p);
}

static bool on_place(void *user, const struct mpa_ulpdu *p)
{
	struct taker *t = taker_of(user);
	unsigned k = check(t, p, p->len);

	assert_true(k >= t->next);
	assert_false(t->early[k]);
	t->early[k] = true;
	return (int)k != t->fail;
}

static void on_placed(void *user, const struct mpa_ulpdu *p, bool whole)
{
	struct taker *t = taker_of(user);
	unsigned k = check(t, p, kept_of(t, p));

	assert_int_equal(k, t->next);
	if (!whole) {
		t->failed = (int)k;
		mpa_abort(t->u->m);
		return;
	}
	assert_true(t->early[k]);
	t->next++;
	t->placed++;
	if (t->placed == t->abort_at)
		mpa_abort(t->u->m);
	if (t->placed == t->drop_at)
		mpa_drop_input(t->u->m);
}

static void on_ulpdu(void *user, const struct mpa_ulpdu *p)
{
	struct taker *t = taker_of(user);

	assert_int_equal(check(t, p, p->len), t->next);
	assert_false(t->early[t->next]); /* what was used does not come again */
	t->held = (int)t->next == t->hold && mpa_rx_pause(t->u->m);
	if (!t->held)
		t->next++;
}

static struct mpa_user_ops ops;

struct taker *taker_start(bool crc, bool markers, bool in_order)
{
	struct taker *t = calloc(1, sizeof *t);
	struct mpa_user *u = mpa_user_new();

	ops = mpa_user_ops;
	ops.ulpdu = on_ulpdu;
	ops.placement = on_placement;
	ops.place = on_place;
	ops.placed = on_placed;
	t->u = u;
	t->s.markers = markers;
	t->kept = 14;
	t->refuse = t->hold = t->fail = t->failed = -1;
	u->ops = &ops;
	u->test = t;
	u->config.crc = crc;
	u->config.markers = markers;
	u->config.in_order = in_order;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, "MPA ID Rep Frame\x10\x02\x00\x04\x00\x01\x00\x01");
	assert_int_equal(u->operational, 1);
	return t;
}

void taker_end(struct taker *t)
{
	mpa_user_free(t->u);
	free(t);
}

uint32_t taker_make_in(struct taker *t, struct stream *s, uint32_t len)
{
	making = t->fpdus;
	t->ulpdu_len[t->fpdus++] = len;
	return stream_fpdu(s, len, pattern);
}

void taker_make(struct taker *t, uint32_t len)
{
	unsigned k = t->fpdus;

	t->begin[k] = taker_make_in(t, &t->s, len);
	t->begin[k + 1] = t->s.len;
}

void taker_send(struct taker *t, uint32_t from, uint32_t to)
{
	llp_mem_send_raw(t->u->peer.llp, t->s.bytes + from, to - from);
}

void taker_make_and_send(struct taker *t, unsigned n, uint32_t len)
{
	while (n-- != 0) {
		taker_make(t, len);
		taker_send(t, t->begin[t->fpdus - 1], t->s.len);
	}
}

void taker_run(struct taker *t)
{
	llp_mem_run(t->u->net, 100000);
}

void taker_warm_up(struct taker *t)
{
	for (unsigned i = 0; i < MPA_ALIGNED_ENOUGH; i++) {
		taker_make_and_send(t, 1, TAKER_LEN);
		taker_run(t);
	}
	assert_int_equal(t->next, MPA_ALIGNED_ENOUGH);
}

bool taker_early(struct taker *t, unsigned k)
{
	return llp_mem_ooo(t->u->peer.llp, k);
}

void taker_expect_all(struct taker *t, unsigned placed)
{
	taker_run(t);
	assert_int_equal(t->u->errors, 0);
	assert_int_equal(t->next, t->fpdus);
	assert_int_equal(t->placed, placed);
	assert_int_equal(t->u->m->rx.at, t->s.len);
}
