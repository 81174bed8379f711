/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa_user.h"

#include <errno.h>
#include <stdlib.h>

static void test_request_revision_2(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->config.crc = true;
	u->config.peer_to_peer = true;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 7, 9, "hello", 5), 0);
	EXPECT(u, REQ "\x50\x02\x00\x09\x80\x07\xc0\x09hello");
	assert_int_equal(mpa_request(u->m, 7, 9, NULL, 0), -ENOTCONN);
	assert_null(mpa_reserve(u->m, 4, false));
	FEED(u, REP "\x50\x02\x00\x05\x80\x09\x80\x07!");
	assert_int_equal(u->replies, 1);
	assert_int_equal(u->start.ird, 9);
	assert_int_equal(u->start.ord, 7);
	assert_int_equal(u->start.rtr, MPA_RTR_WRITE);
	assert_int_equal(u->operational, 1);
	assert_non_null(mpa_reserve(u->m, 4, false));
	mpa_cancel(u->m);
	mpa_user_free(u);
}

static void test_request_revision_1(void **state)
{
	static const uint8_t data[513];
	struct mpa_user *u = mpa_user_new();

	u->config.revision = 1;
	u->config.peer_to_peer = true;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 7, 9, data, 513), -EINVAL);
	assert_int_equal(mpa_request(u->m, 7, 9, "hello", 5), 0);
	EXPECT(u, REQ "\x00\x01\x00\x05hello");
	FEED(u, REP "\x40\x01\x00\x00"); /* C=1 although we did not ask: CRCs are used */
	assert_int_equal(u->operational, 1);
	assert_true(u->m->rx.crc && u->m->tx.crc);
	assert_int_equal(u->start.ird, MPA_DEPTH_UNKNOWN);
	mpa_user_free(u);
}

static void test_rejected(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, REP "\x30\x02\x00\x07\x00\x00\x00\x00why");
	assert_int_equal(u->replies, 1);
	assert_true(u->start.reject);
	assert_memory_equal(u->private_data, "why", 3);
	assert_int_equal(u->operational, 0);
	assert_null(mpa_reserve(u->m, 4, false));
	mpa_release(u->m);
	llp_mem_run(u->net, 100);
	assert_true(u->peer.eof);
	assert_int_equal(u->closeds, 0);
	mpa_user_free(u);
}

static void bad_reply(uint8_t revision, const void *bytes, size_t len)
{
	struct mpa_user *u = mpa_user_new();

	u->config.revision = revision;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	mpa_user_feed(u, bytes, len);
	assert_int_equal(u->replies, 0);
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_START);
	mpa_user_free(u);
}
#define BAD_REPLY(revision, literal) bad_reply(revision, literal, sizeof(literal) - 1)

static void test_bad_replies(void **state)
{
	BAD_REPLY(2, REQ "\x00\x01\x00\x00");
	BAD_REPLY(1, REP "\x10\x02\x00\x04\x00\x01\x00\x01"); /* above what was asked for */
	BAD_REPLY(2, REP "\x00\x04\x00\x00");
	BAD_REPLY(2, REP "\x00\x02\xff\xff");
}

static void test_reply_before_request(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	FEED(u, REP "\x00\x01\x00\x00");
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->replies, 0);
	mpa_user_free(u);
}

/* An FPDU right behind the reply, in the same segment, is legal. */
static void test_fpdu_behind_reply(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, REP "\x10\x02\x00\x04\x00\x01\x00\x01"
		    "\x00\x02hi\x00\x00\x00\x00"
		    "\x00");
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->ulpdus, 1);
	FEED(u, "\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->ulpdus, 2);
	assert_memory_equal(u->rx, "hiho", 4);
	mpa_user_free(u);
}

static void abort_and_free(struct mpa_user *u)
{
	mpa_abort(u->m);
	free(u->m);
	u->m = NULL;
}

static void test_abort_in_reply(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->on_reply = abort_and_free;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, REP "\x10\x02\x00\x04\x00\x01\x00\x01"
		    "\x00\x02hi\x00\x00\x00\x00");
	assert_int_equal(u->operational, 0);
	assert_int_equal(u->ulpdus, 0);
	assert_true(u->peer.closed);
	assert_int_equal(u->peer.error, -ECONNRESET);
	mpa_user_free(u);
}

/* A user without ulpdu() is not given any; the next one finds them all. */
static void test_handover(void **state)
{
	struct mpa_user *u = mpa_user_new();
	struct mpa_user_ops waiting = mpa_user_ops;

	waiting.ulpdu = NULL;
	u->ops = &waiting;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	FEED(u, "\x00\x02hi\x00\x00\x00\x00"
		"\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->operational, 0);
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->eofs, 0);
	mpa_set_user(u->m, &mpa_user_ops, u);
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->ulpdus, 2);
	assert_int_equal(u->eofs, 1);
	mpa_user_free(u);
}

/* ---- ends -------------------------------------------------------------------------------- */

static void test_orderly_close(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, REP "\x10\x02\x00\x04\x00\x01\x00\x01");
	mpa_shutdown(u->m);
	assert_null(mpa_reserve(u->m, 4, false));
	llp_mem_run(u->net, 100);
	assert_true(u->peer.eof);
	FEED(u, "\x00\x02hi\x00\x00\x00\x00"); /* receiving goes on */
	assert_int_equal(u->ulpdus, 1);
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->eofs, 1);
	assert_int_equal(u->closeds, 1);
	assert_int_equal(u->closed_error, 0);
	assert_null(u->m->llp);
	mpa_shutdown(u->m); /* all of these do nothing now */
	mpa_push(u->m);
	mpa_rx_resume(u->m);
	mpa_release(u->m);
	mpa_abort(u->m);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), -ENOTCONN);
	mpa_user_free(u);
}

static void test_reset(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	llp_abort(u->peer.llp);
	u->peer.llp = NULL;
	llp_mem_run(u->net, 100);
	assert_int_equal(u->closeds, 1);
	assert_int_equal(u->closed_error, -ECONNRESET);
	assert_false(mpa_takes_external(u->m));
	mpa_own_external(u->m); /* there is nothing to own */
	mpa_user_free(u);
}

static void test_drop_input(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, REP "\x10\x02\x00\x04\x00\x01\x00\x01"
		    "\x00\x02h");
	mpa_drop_input(u->m);
	FEED(u, "i\x00\x00\x00\x00"
		"\x00\x02hi\x00\x00\x00\x00");
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus + u->errors + u->eofs, 0);
	mpa_user_free(u);
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void test_mulpdu(void **state)
{
	static const struct {
		uint32_t emss, mulpdu;
	} t[] = {{1448, 1442}, {1460, 1454}, {1449, 1442}, {1451, 1442}, {8948, 8942}, {100, 128},
		{134, 128}, {136, 130}, {137, 130}, {64774, 64766}, {64776, 64768}, {64778, 64768},
		{1 << 20, 64768}};
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		llp_mem_set_emss(u->net, t[i].emss);
		assert_int_equal(mpa_mulpdu(u->m), t[i].mulpdu);
	}
	u->m->config.fpdu_max = 1000;
	assert_int_equal(mpa_mulpdu(u->m), 994);
	llp_mem_set_emss(u->net, 1004);
	assert_int_equal(mpa_mulpdu(u->m), 994);
	llp_mem_set_emss(u->net, 1000);
	assert_int_equal(mpa_mulpdu(u->m), 994);
	llp_mem_set_emss(u->net, 500);
	assert_int_equal(mpa_mulpdu(u->m), 494);
	mpa_user_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_revision_2),
		cmocka_unit_test(test_request_revision_1),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_bad_replies),
		cmocka_unit_test(test_reply_before_request),
		cmocka_unit_test(test_fpdu_behind_reply),
		cmocka_unit_test(test_abort_in_reply),
		cmocka_unit_test(test_handover),
		cmocka_unit_test(test_orderly_close),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_drop_input),
		cmocka_unit_test(test_mulpdu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
