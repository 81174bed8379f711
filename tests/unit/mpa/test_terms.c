/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends are ours: what each pair of configurations agrees on, and that data flows so. */
#include "mpa/terms.h"
#include "support/llp_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LEN 3000 /* of a ULPDU: markers fall into it */

struct end {
	struct mpa m;
	struct mpa_config config;
	unsigned ulpdus, errors;
	bool peer_markers, peer_crc; /* the bits in its frame */
};

static void on_connected(void *user)
{
	struct end *e = user;

	assert_int_equal(mpa_request(&e->m, 1, 1, NULL, 0), 0);
}

static void on_request(void *user, const struct mpa_start *st)
{
	struct end *e = user;

	e->peer_markers = st->markers;
	e->peer_crc = st->crc;
	assert_int_equal(mpa_accept(&e->m, 1, 1, 0, NULL, 0), 0);
}

static void on_reply(void *user, const struct mpa_start *st)
{
	struct end *e = user;

	e->peer_markers = st->markers;
	e->peer_crc = st->crc;
}

static void on_ulpdu(void *user, const struct mpa_ulpdu *u)
{
	struct end *e = user;
	struct mpa_cursor c = u->at;
	uint8_t copy[LEN];

	assert_int_equal(u->len, LEN);
	mpa_cursor_copy(&c, copy, LEN);
	for (unsigned i = 0; i < LEN; i++)
		assert_int_equal(copy[i], i * 3 & 0xff);
	e->ulpdus++;
}

static void on_eof(void *user)
{
}

static void on_error(void *user, enum mpa_error code, const char *reason)
{
	struct end *e = user;

	assert_int_equal(code, MPA_ERROR_CATASTROPHIC);
	assert_non_null(strstr(reason, "CRC"));
	e->errors++;
}

static void on_closed(void *user, int error)
{
}

static const struct mpa_user_ops ops = {.connected = on_connected,
	.request = on_request,
	.reply = on_reply,
	.ulpdu = on_ulpdu,
	.eof = on_eof,
	.error = on_error,
	.closed = on_closed};

static int accept_one(void *user, struct llp *l)
{
	struct end *e = user;

	mpa_init_responder(&e->m, l, &e->config, &ops, e);
	return 0;
}

static void send_one(struct end *e)
{
	uint8_t *p = mpa_reserve(&e->m, LEN, false);

	assert_non_null(p);
	for (unsigned i = 0; i < LEN; i++)
		p[i] = (uint8_t)(i * 3);
	mpa_commit(&e->m);
	mpa_push(&e->m);
}

static void connect_ends(struct llp_mem *net, struct end *i, struct end *r)
{
	static const struct llp_user_ops none;
	struct ip_endpoint at = llp_mem_endpoint(net, 1, 7174);
	struct llp_connect_params p = {.remote = at};
	struct llp_listener *listener;
	struct llp *l;

	assert_int_equal(llp_listen(llp_mem_stack(net, 1), &at, 1, accept_one, r, &listener), 0);
	assert_int_equal(llp_connect(llp_mem_stack(net, 0), &p, &none, NULL, &l), 0);
	mpa_init_initiator(&i->m, l, &i->config, &ops, i);
	llp_mem_run(net, 1000);
}

static void check_pair(struct end *i, struct end *r)
{
	bool crc = i->config.crc != MPA_CRC_OFF || r->config.crc != MPA_CRC_OFF;

	assert_int_equal(i->errors + r->errors, 0);
	assert_int_equal(r->peer_crc, i->config.crc != MPA_CRC_OFF);
	assert_int_equal(i->peer_crc, crc);
	assert_int_equal(r->peer_markers, i->config.markers);
	assert_int_equal(i->peer_markers, r->config.markers);
	assert_true(i->m.tx.crc == crc && i->m.rx.crc == crc);
	assert_true(r->m.tx.crc == crc && r->m.rx.crc == crc);
	assert_int_equal(i->m.tx.markers, r->config.markers);
	assert_int_equal(r->m.rx.markers, r->config.markers);
	assert_int_equal(r->m.tx.markers, i->config.markers);
	assert_int_equal(i->m.rx.markers, i->config.markers);
}

static void test_all_pairs(void **state)
{
	for (unsigned bits = 0; bits < 9 * 4 * 2; bits++) {
		struct end i = {.config = {.revision = bits & 4 ? 1 : 2, .markers = bits & 1}};
		struct end r = {.config = {.revision = 2, .markers = bits & 2}};
		struct llp_mem *net = llp_mem_create();

		i.config.crc = (uint8_t)(bits / 8 % 3);
		r.config.crc = (uint8_t)(bits / 8 / 3);
		llp_mem_set_segment(net, 700);
		connect_ends(net, &i, &r);
		check_pair(&i, &r);
		for (unsigned n = 1; n < 4; n++) {
			send_one(&i);
			llp_mem_run(net, 1000);
			assert_int_equal(r.ulpdus, n);
			send_one(&r);
			llp_mem_run(net, 1000);
			assert_int_equal(i.ulpdus, n);
		}
		assert_int_equal(i.errors + r.errors, 0);
		mpa_abort(&i.m);
		mpa_abort(&r.m);
		llp_mem_destroy(net);
	}
}

/* The tables of terms.h, word by word: also what we never answer ourselves. */
static void test_crc_table(void **state)
{
	static const struct {
		enum mpa_crc_use ours;
		enum mpa_role role;
		bool peer, closes, used;
	} t[] = {
		{MPA_CRC_OFF, MPA_INITIATOR, false, false, false},
		{MPA_CRC_OFF, MPA_INITIATOR, true, false, true},
		{MPA_CRC_PREFERRED, MPA_INITIATOR, false, false, true},
		{MPA_CRC_PREFERRED, MPA_INITIATOR, true, false, true},
		{MPA_CRC_REQUIRED, MPA_INITIATOR, false, true, true},
		{MPA_CRC_REQUIRED, MPA_INITIATOR, true, false, true},
		{MPA_CRC_OFF, MPA_RESPONDER, false, false, false},
		{MPA_CRC_OFF, MPA_RESPONDER, true, false, true},
		{MPA_CRC_PREFERRED, MPA_RESPONDER, false, false, true},
		{MPA_CRC_PREFERRED, MPA_RESPONDER, true, false, true},
		{MPA_CRC_REQUIRED, MPA_RESPONDER, false, false, true},
		{MPA_CRC_REQUIRED, MPA_RESPONDER, true, false, true},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct mpa_config ours = {.crc = (uint8_t)t[i].ours};
		const struct mpa_start peer = {.crc = t[i].peer};
		struct mpa_terms terms = {0};
		const char *reason = mpa_terms_of(&ours, t[i].role, &peer, &terms);

		assert_int_equal(reason != NULL, t[i].closes);
		assert_int_equal(terms.crc, t[i].used);
	}
}

static void answer_without_crc(void *user, const struct mpa_start *st)
{
	struct end *e = user;

	mpa_enframe_init(&e->m.tx, false, false); /* forget the C bit of the request */
	assert_int_equal(mpa_accept(&e->m, 1, 1, 0, NULL, 0), 0);
}

/* A peer that leaves out the C bit, against an initiator that requires it. */
static void test_required_refused(void **state)
{
	struct mpa_user_ops forgetful = ops;
	struct end i = {.config = {.revision = 2, .crc = MPA_CRC_REQUIRED}};
	struct end r = {.config = {.revision = 2}};
	struct llp_mem *net = llp_mem_create();
	struct ip_endpoint at = llp_mem_endpoint(net, 1, 7174);

	forgetful.request = answer_without_crc;
	connect_ends(net, &i, &r); /* the first pair agrees */
	assert_int_equal(i.errors, 0);
	mpa_abort(&i.m);
	mpa_abort(&r.m);
	llp_mem_run(net, 100);
	{
		static const struct llp_user_ops none;
		struct llp_connect_params p = {.remote = at};
		struct llp *l;

		assert_int_equal(llp_connect(llp_mem_stack(net, 0), &p, &none, NULL, &l), 0);
		mpa_init_initiator(&i.m, l, &i.config, &ops, &i);
		while (r.m.llp == NULL || r.m.state != MPA_WAIT_REQUEST)
			assert_true(llp_mem_step(net));
		mpa_set_user(&r.m, &forgetful, &r);
		llp_mem_run(net, 100);
	}
	assert_int_equal(i.errors, 1);
	assert_non_null(mpa_reserve(&i.m, 4, false)); /* for a Terminate */
	mpa_cancel(&i.m);
	mpa_abort(&i.m);
	mpa_abort(&r.m);
	llp_mem_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_crc_table),
		cmocka_unit_test(test_required_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
