/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa_user.h"

#include "base/prng.h"
#include "stream.h"

#include <stdlib.h>

#define FPDUS 400
#define LEN   600u

/* ---- a user that takes ULPDUs early ------------------------------------------------------ */

struct taker {
	struct mpa_user *u;
	struct stream s; /* what the peer sends */
	uint32_t begin[FPDUS + 1];
	uint32_t ulpdu_len[FPDUS];
	unsigned fpdus;    /* made */
	unsigned offers;   /* placement() */
	unsigned next;     /* the next FPDU in order should be this one */
	unsigned placed;   /* of these, by placed() */
	bool early[FPDUS]; /* its payload was used: place() */
	int fail;          /* place() of this FPDU does; -1: of none */
	int failed;        /* the first that placed() says so of; -1: none */
	uint32_t kept;     /* bytes to keep; 0: refuse */
	int refuse;        /* this FPDU alone; -1: none */
	unsigned abort_at; /* in placed() */
	unsigned drop_at;  /* likewise: its user hears no more */
	int hold;          /* this FPDU, when its turn comes; -1: none */
	bool held;
};

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

static struct taker *start(bool crc, bool markers, bool in_order)
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

static void end(struct taker *t)
{
	mpa_user_free(t->u);
	free(t);
}

/* One more FPDU at the end of the stream; nothing is sent. */
static void make(struct taker *t, uint32_t len)
{
	making = t->fpdus;
	t->ulpdu_len[t->fpdus] = len;
	t->begin[t->fpdus++] = stream_fpdu(&t->s, len, pattern);
	t->begin[t->fpdus] = t->s.len;
}

/* One segment: the stream's bytes from @from to @to. */
static void send(struct taker *t, uint32_t from, uint32_t to)
{
	llp_mem_send_raw(t->u->peer.llp, t->s.bytes + from, to - from);
}

/* @n FPDUs in segments of their own. */
static void make_and_send(struct taker *t, unsigned n, uint32_t len)
{
	while (n-- != 0) {
		make(t, len);
		send(t, t->begin[t->fpdus - 1], t->s.len);
	}
}

static void run(struct taker *t)
{
	llp_mem_run(t->u->net, 100000);
}

/* In order, for so long that the stream is known to be aligned. */
static void warm_up(struct taker *t)
{
	for (unsigned i = 0; i < MPA_ALIGNED_ENOUGH; i++) {
		make_and_send(t, 1, LEN);
		run(t);
	}
	assert_int_equal(t->next, MPA_ALIGNED_ENOUGH);
}

static bool early(struct taker *t, unsigned k)
{
	return llp_mem_ooo(t->u->peer.llp, k);
}

static void expect_all(struct taker *t, unsigned placed)
{
	run(t);
	assert_int_equal(t->u->errors, 0);
	assert_int_equal(t->next, t->fpdus);
	assert_int_equal(t->placed, placed);
	assert_int_equal(t->u->m->rx.at, t->s.len);
}

/* ---- what is offered --------------------------------------------------------------------- */

/* An aligned stream is known by what it was like; then segments come early, and in their turn. */
static void test_aligned(void **state)
{
	struct taker *t = start(true, false, false);

	for (unsigned i = 0; i < MPA_ALIGNED_ENOUGH; i += 2) {
		make_and_send(t, 1, LEN);
		make_and_send(t, 1, LEN);
		assert_false(early(t, 1));
		run(t);
	}
	make_and_send(t, 6, LEN);
	assert_true(early(t, 2));
	assert_true(early(t, 4));
	assert_int_equal(t->offers, 2);
	assert_int_equal(t->next, t->fpdus - 6);
	assert_true(early(t, 5));
	expect_all(t, 3);
	/* The user may answer after both: what came in order, and what was taken before. */
	make_and_send(t, 2, LEN);
	assert_true(early(t, 1));
	t->u->rx_dones = 0;
	expect_all(t, 4);
	assert_int_equal(t->u->rx_dones, 2);
	end(t);
}

/* Without CRCs there is nothing but markers to go by. */
static void test_no_crc(void **state)
{
	struct taker *t = start(false, false, false);

	warm_up(t);
	make_and_send(t, 3, LEN);
	assert_false(early(t, 1));
	expect_all(t, 0);
	end(t);
}

static void test_switched_off(void **state)
{
	struct taker *t = start(true, false, true);

	warm_up(t);
	make_and_send(t, 3, LEN);
	assert_false(early(t, 1));
	assert_int_equal(t->offers, 0);
	expect_all(t, 0);
	end(t);
}

/* Markers prove where an FPDU begins, from the beginning; without CRCs as well. */
static void test_markers(void **state)
{
	for (unsigned crc = 0; crc < 2; crc++) {
		struct taker *t = start(crc != 0, true, false);

		make_and_send(t, 40, LEN);
		for (unsigned k = 1; k < 40; k += 2)
			assert_true(early(t, k));
		expect_all(t, 20);
		make_and_send(t, 4, 2000); /* markers between FPDUs too */
		make_and_send(t, 1, 1000 - 6 - 8);
		assert_true(early(t, 1));
		assert_true(early(t, 4));
		expect_all(t, 22);
		end(t);
	}
}

/* A segment without a marker, or with one that points elsewhere, proves nothing. */
static void test_markers_that_prove_nothing(void **state)
{
	struct taker *t = start(true, true, false);
	unsigned proved = 0;

	warm_up(t);
	for (unsigned i = 0; i < 10; i++) {
		uint32_t at = t->s.len;
		bool has;

		make_and_send(t, 2, 100);
		at = t->begin[t->fpdus - 1];
		has = mpa_marker_distance(at) < t->s.len - at;
		assert_int_equal(early(t, 1), has);
		proved += has;
		run(t);
	}
	assert_in_range(proved, 1, 8);
	expect_all(t, proved);
	make(t, LEN);
	make(t, LEN);
	/* The second segment begins with the end of the first FPDU. */
	send(t, t->begin[t->fpdus - 2], t->begin[t->fpdus - 1] - 100);
	send(t, t->begin[t->fpdus - 1] - 100, t->s.len);
	assert_false(early(t, 1));
	expect_all(t, proved);
	end(t);
}

/* ---- segments of several FPDUs, and pieces of them --------------------------------------- */

static void test_several_in_a_segment(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	for (unsigned i = 0; i < 6; i++)
		make(t, 100 + 3 * i);
	send(t, at, t->s.len);
	at = t->s.len;
	for (unsigned i = 0; i < 7; i++) /* more than a note has room for */
		make(t, 100 + 3 * i);
	send(t, at, t->s.len);
	assert_true(early(t, 1));
	assert_int_equal(t->offers, 6);
	assert_false(early(t, 2));
	expect_all(t, 6);
	end(t);
}

/* Of so many none is asked for: a note has no room for the shortest header of each. */
static void test_many_in_a_segment(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	for (unsigned i = 0; i < LLP_NOTE_MAX / 4 + 1; i++)
		make(t, 100);
	send(t, at, t->s.len);
	assert_false(early(t, 1));
	assert_int_equal(t->offers, 0);
	expect_all(t, 0);
	end(t);
}

/* Two with 51 bytes to keep each fill a note; with one byte more they are not taken. */
static void test_what_a_note_has_room_for(void **state)
{
	struct taker *t = start(true, false, false);

	warm_up(t);
	for (unsigned more = 0; more < 2; more++) {
		uint32_t at;

		make_and_send(t, 1, LEN);
		at = t->s.len;
		make(t, 100);
		make(t, 100);
		send(t, at, t->s.len);
		t->kept = LLP_NOTE_MAX / 2 - 3 + more;
		assert_int_equal(early(t, 1), more == 0);
		expect_all(t, 2);
	}
	end(t);
}

/* A header longer than the length of one can say is not taken, either. */
static void test_long_header(void **state)
{
	struct taker *t = start(true, false, false);

	warm_up(t);
	make_and_send(t, 2, LEN);
	t->kept = 128;
	assert_false(early(t, 1));
	assert_int_equal(t->offers, 1);
	expect_all(t, 0);
	end(t);
}

/* What the user does not want as a whole comes as a whole, and none of it was used. */
static void test_user_refuses(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	make(t, LEN);
	make(t, 70);
	send(t, at, t->s.len);
	t->refuse = (int)t->fpdus - 1;
	assert_false(early(t, 1));
	assert_false(t->early[t->fpdus - 2]);
	expect_all(t, 0);
	end(t);
}

/* What goes wrong while it is placed is told in its turn; what is behind it is not touched. */
static void test_placing_fails(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	for (unsigned i = 0; i < 4; i++)
		make(t, 100);
	send(t, at, t->s.len);
	t->fail = (int)t->fpdus - 2;
	assert_true(early(t, 1));
	assert_true(t->early[t->fpdus - 2]);
	assert_false(t->early[t->fpdus - 1]);
	run(t);
	assert_int_equal(t->placed, 2);
	assert_int_equal(t->failed, t->fail);
	end(t);
}

/* Not whole FPDUs, or not only: nothing of them is offered. */
static void test_not_aligned(void **state)
{
	for (unsigned how = 0; how < 3; how++) {
		struct taker *t = start(true, false, false);

		warm_up(t);
		make_and_send(t, 1, LEN);
		make(t, LEN);
		make(t, LEN);
		if (how == 0) { /* the end is missing */
			send(t, t->begin[t->fpdus - 2], t->s.len - 4);
			send(t, t->s.len - 4, t->s.len);
		} else if (how == 1) { /* begins too late */
			send(t, t->begin[t->fpdus - 2], t->begin[t->fpdus - 2] + 8);
			send(t, t->begin[t->fpdus - 2] + 8, t->s.len);
		} else {
			send(t, t->begin[t->fpdus - 2], t->s.len - 1);
			send(t, t->s.len - 1, t->s.len);
		}
		assert_false(early(t, 1));
		assert_false(early(t, 2));
		assert_int_equal(t->offers, 0);
		expect_all(t, 0);
		/* From now on the stream is not known to be aligned, for a while. */
		make_and_send(t, 2, LEN);
		assert_false(early(t, 1));
		expect_all(t, 0);
		end(t);
	}
}

/* ---- errors ------------------------------------------------------------------------------ */

/* A bad CRC is told in its turn, after all before it. */
static void test_bad_crc(void **state)
{
	struct taker *t = start(true, false, false);

	warm_up(t);
	make_and_send(t, 1, LEN);
	make(t, LEN);
	t->s.bytes[t->s.len - 50] ^= 1;
	send(t, t->begin[t->fpdus - 1], t->s.len);
	assert_false(early(t, 1));
	assert_int_equal(t->offers, 0);
	assert_int_equal(t->u->errors, 0);
	run(t);
	assert_int_equal(t->next, t->fpdus - 1);
	assert_int_equal(t->u->error, MPA_ERROR_CRC);
	end(t);
}

/*
 * A peer that loses its alignment while its payload looks like an FPDU: what was placed for it was
 * not what it seemed, and the connection ends before anything more is delivered.
 */
static void test_payload_like_an_fpdu(void **state)
{
	struct taker *t = start(true, false, false);
	static struct stream forged;
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	make(t, 2000); /* its payload from 1000 on: an FPDU of 700 */
	memset(&forged, 0, sizeof forged);
	making = t->fpdus;
	stream_fpdu(&forged, 700, pattern);
	t->ulpdu_len[t->fpdus++] = 700;
	llp_mem_send_raw(t->u->peer.llp, t->s.bytes + at, 1000);
	llp_mem_send_raw(t->u->peer.llp, forged.bytes, forged.len);
	assert_true(early(t, 2));
	run(t);
	assert_int_equal(t->next, t->fpdus - 2);
	assert_int_equal(t->placed, 0);
	assert_int_equal(t->u->errors, 1);
	assert_int_equal(t->u->error, MPA_ERROR_CATASTROPHIC);
	assert_non_null(mpa_reserve(t->u->m, 18, false)); /* the Terminate can go out */
	mpa_cancel(t->u->m);
	end(t);
}

/* While an FPDU is held nothing behind it is taken early; all comes when it goes on. */
static void test_held(void **state)
{
	struct taker *t = start(true, true, false);

	make_and_send(t, 4, LEN);
	assert_true(early(t, 3)); /* as markers prove each */
	expect_all(t, 1);
	t->hold = (int)t->next;
	make_and_send(t, 1, LEN);
	run(t);
	assert_true(t->held);
	make_and_send(t, 3, LEN);
	assert_false(early(t, 1));
	assert_int_equal(t->offers, 1);
	t->hold = -1;
	mpa_rx_resume(t->u->m);
	expect_all(t, 1);
	end(t);
}

/* What was taken early cannot wait, so what comes before it cannot either. */
static void test_cannot_hold(void **state)
{
	struct taker *t = start(true, false, false);

	warm_up(t);
	t->hold = (int)t->next;
	make_and_send(t, 3, LEN);
	assert_true(early(t, 2));
	run(t);
	assert_false(t->held);
	expect_all(t, 1);
	end(t);
}

/* After an error nothing is offered and nothing delivered. */
static void test_after_an_error(void **state)
{
	struct taker *t = start(true, false, false);

	warm_up(t);
	make(t, LEN);
	t->s.bytes[t->s.len - 50] ^= 1;
	send(t, t->begin[t->fpdus - 1], t->s.len);
	make_and_send(t, 3, LEN);
	assert_true(early(t, 2));
	llp_mem_step(t->u->net);
	assert_int_equal(t->u->errors, 1);
	assert_false(early(t, 2));
	run(t);
	assert_int_equal(t->next, MPA_ALIGNED_ENOUGH);
	assert_int_equal(t->placed, 0);
	end(t);
}

static void test_user_ends_it_in_placed(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	make(t, 100);
	make(t, 200);
	send(t, at, t->s.len);
	assert_true(early(t, 1));
	t->abort_at = 1;
	run(t);
	assert_int_equal(t->placed, 1);
	end(t);
}

/* Likewise if he only hears no more: what was taken behind it is not told, and nothing else. */
static void test_user_hears_no_more_in_placed(void **state)
{
	struct taker *t = start(true, false, false);
	uint32_t at;

	warm_up(t);
	make_and_send(t, 1, LEN);
	at = t->s.len;
	make(t, 100);
	make(t, 200);
	send(t, at, t->s.len);
	make_and_send(t, 1, LEN);
	assert_true(early(t, 1));
	t->drop_at = 1;
	t->u->rx_dones = 0;
	run(t);
	assert_int_equal(t->placed, 1);
	assert_int_equal(t->next, t->fpdus - 2);
	assert_int_equal(t->u->rx_dones, 1); /* for what came in order */
	assert_int_equal(t->u->errors, 0);
	end(t);
}

/* ---- anything ---------------------------------------------------------------------------- */

/* Whatever the segments and whatever overtakes what, each ULPDU comes once, in its turn. */
static void any_order(bool markers, uint64_t seed)
{
	struct prng random = {seed};
	struct taker *t = start(true, markers, false);
	uint32_t cut = prng_below(&random, 3); /* how often a segment is not aligned: a third */

	while (t->fpdus + 40 < FPDUS && t->s.len < sizeof t->s.bytes / 2) {
		uint32_t from = t->s.len, n = 1 + prng_below(&random, 12);
		unsigned pieces = 0;

		for (uint32_t i = 0; i < n; i++) {
			make(t, 2 + prng_below(&random, prng_below(&random, 3) ? 1400 : 60));
			if (prng_below(&random, 4) == 0)
				continue; /* shares the segment of the next */
			if (cut == 0 && prng_below(&random, 8) == 0) {
				uint32_t at = from + 1 + prng_below(&random, t->s.len - from - 1);

				send(t, from, at);
				from = at;
				pieces++;
			}
			send(t, from, t->s.len);
			from = t->s.len;
			pieces++;
		}
		if (from != t->s.len)
			send(t, from, t->s.len);
		t->kept = 2 + prng_below(&random, 17);
		for (uint32_t i = 0; i < n; i++)
			early(t, prng_below(&random, pieces + 1));
		run(t);
		assert_int_equal(t->next, t->fpdus);
	}
	assert_int_equal(t->u->errors, 0);
	assert_true(cut == 0 || t->placed > 20);
	end(t);
}

static void test_any_order(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		any_order(seed & 1, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_no_crc),
		cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_markers_that_prove_nothing),
		cmocka_unit_test(test_several_in_a_segment),
		cmocka_unit_test(test_many_in_a_segment),
		cmocka_unit_test(test_what_a_note_has_room_for),
		cmocka_unit_test(test_long_header),
		cmocka_unit_test(test_user_refuses),
		cmocka_unit_test(test_placing_fails),
		cmocka_unit_test(test_not_aligned),
		cmocka_unit_test(test_bad_crc),
		cmocka_unit_test(test_payload_like_an_fpdu),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_cannot_hold),
		cmocka_unit_test(test_after_an_error),
		cmocka_unit_test(test_user_ends_it_in_placed),
		cmocka_unit_test(test_user_hears_no_more_in_placed),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
