/* SPDX-License-Identifier: BSD-2-Clause */
/* What a responder takes of a start-up, and what it answers: see mpa/mpa.h. */
#include "mpa_user.h"

#include <errno.h>
#include <stdlib.h>

static void test_accept_revision_2(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x06\x80\x04\xc0\x08"
		    "ab");
	assert_int_equal(u->requests, 1);
	assert_int_equal(u->start.ird, 4);
	assert_int_equal(u->start.ord, 8);
	assert_int_equal(u->start.private_len, 2);
	assert_memory_equal(u->private_data, "ab", 2);
	assert_int_equal(mpa_accept(u->m, 8, 4, MPA_RTR_READ, "xyz", 3), 0);
	EXPECT(u, REP "\x10\x02\x00\x07\x80\x08\x40\x04xyz");
	assert_int_equal(u->operational, 0);
	mpa_user_free(u);
}

/* RFC 6581 section 9.2: the A flag MUST match, and some RTR type must be named. */
static void test_accept_mirrors_a(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x04\xc0\x01\x00\x01"); /* can do Send only */
	assert_int_equal(u->start.rtr, MPA_RTR_SEND);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), 0);
	EXPECT(u, REP "\x10\x02\x00\x04\x80\x01\xc0\x01"); /* ours: Write and Read */
	mpa_user_free(u);

	u = mpa_user_new();
	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x04\x00\x01\x00\x01");
	assert_int_equal(mpa_accept(u->m, 1, 1, MPA_RTR_READ, NULL, 0), 0);
	EXPECT(u, REP "\x10\x02\x00\x04\x00\x01\x00\x01");
	mpa_user_free(u);
}

/* The reply has the request's revision; without S it has no words. */
static void test_accept_old_revisions(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->config.crc = true;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x01z");
	assert_int_equal(mpa_accept(u->m, 5, 5, 0, "p", 1), 0);
	EXPECT(u, REP "\x40\x01\x00\x01p");
	mpa_user_free(u);

	u = mpa_user_new();
	mpa_user_respond(u);
	FEED(u, REQ "\x40\x00\x00\x00");
	assert_int_equal(mpa_accept(u->m, 5, 5, 0, NULL, 0), 0);
	EXPECT(u, REP "\x40\x00\x00\x00"); /* C: either side asks for both */
	mpa_user_free(u);
}

static void test_request_byte_by_byte(void **state)
{
	struct mpa_user *u = mpa_user_new();

	llp_mem_set_segment(u->net, 1);
	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x06\x80\x04\xc0\x08"
		    "a");
	assert_int_equal(u->requests, 0);
	FEED(u, "b");
	assert_int_equal(u->requests, 1);
	assert_int_equal(u->start.private_len, 2);
	mpa_user_free(u);
}

static uint8_t kept[MPA_FRAME_MAX];

static uint8_t *keep(void *user, size_t len)
{
	assert_true(len <= sizeof kept);
	return kept;
}

/* With room of its own for it, no byte of a frame waits in the LLP; a bad one is seen all the same.
 */
static void test_request_is_kept(void **state)
{
	static const char frame[] = REQ "\x10\x02\x00\x06\x80\x04\xc0\x08"
					"ab";
	struct mpa_user_ops ops = mpa_user_ops;

	ops.keep = keep;
	for (size_t first = 1; first < sizeof frame - 1; first++) {
		struct mpa_user *u = mpa_user_new();

		u->ops = &ops;
		mpa_user_respond(u);
		mpa_user_feed(u, frame, first);
		assert_int_equal(u->requests, 0);
		assert_true(u->m->rx_partial);
		mpa_user_feed(u, frame + first, sizeof frame - 1 - first);
		assert_int_equal(u->requests, 1);
		assert_int_equal(u->start.ord, 8);
		assert_int_equal(u->start.private_len, 2);
		assert_memory_equal(u->private_data, "ab", 2);
		assert_int_equal(mpa_accept(u->m, 8, 4, MPA_RTR_READ, NULL, 0), 0);
		EXPECT(u, REP "\x10\x02\x00\x04\x80\x08\x40\x04");
		mpa_user_free(u);

		u = mpa_user_new();
		u->ops = &ops;
		mpa_user_respond(u);
		mpa_user_feed(u, frame, first < 16 ? first : 15);
		FEED(u, "?????????????????????????");
		assert_int_equal(u->requests, 0);
		assert_int_equal(u->errors, 1);
		assert_int_equal(u->error, MPA_ERROR_START);
		mpa_user_free(u);
	}
}

/* The calls belong to the states of RFC 5044 section 7.1; elsewhere they change nothing. */
static void test_calls_out_of_turn(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_initiate(u);
	assert_int_equal(mpa_reject(u->m, NULL, 0), -ENOTCONN);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), -ENOTCONN);
	llp_mem_set_buffer(u->net, 1); /* and full */
	llp_mem_hold(u->m->llp, true);
	assert_non_null(llp_reserve(u->m->llp, 1, false));
	llp_commit(u->m->llp, 1);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), -ENOMEM);
	llp_mem_set_buffer(u->net, 1 << 20);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), -ENOTCONN);
	assert_int_equal(mpa_begin_alone(u->m), -ENOTCONN);
	mpa_abort(u->m);
	assert_int_equal(mpa_begin_alone(u->m), -ENOTCONN);
	assert_int_equal(mpa_reject(u->m, NULL, 0), -ENOTCONN);
	assert_null(mpa_reserve(u->m, 1, false));
	mpa_user_free(u);
}

static void test_reject(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x04\x00\x01\x00\x01");
	assert_int_equal(mpa_reject(u->m, "no", 2), 0);
	EXPECT(u, REP "\x30\x02\x00\x06\x00\x00\x00\x00no");
	assert_true(u->peer.eof);
	assert_int_equal(u->closeds, 0);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), -ENOTCONN);
	mpa_user_free(u);
}

/* RFC 6581 section 9.1: depths that are left to the users are so in a reply that rejects, too. */
static void test_reject_without_depths(void **state)
{
	static const struct {
		const char *ask, *answer;
	} cases[] = {
		{REQ "\x10\x02\x00\x04\x3f\xff\x3f\xff", REP "\x30\x02\x00\x04\x3f\xff\x3f\xff"},
		{REQ "\x10\x02\x00\x04\x3f\xff\x00\x05", REP "\x30\x02\x00\x04\x00\x00\x3f\xff"},
		{REQ "\x10\x02\x00\x04\x00\x05\x3f\xff", REP "\x30\x02\x00\x04\x3f\xff\x00\x00"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mpa_user *u = mpa_user_new();

		mpa_user_respond(u);
		mpa_user_feed(u, cases[i].ask, 24);
		assert_int_equal(mpa_reject(u->m, NULL, 0), 0);
		mpa_user_expect(u, cases[i].answer, 24);
		mpa_user_free(u);
	}
}

static void reject_and_free(struct mpa_user *u)
{
	assert_int_equal(mpa_reject(u->m, NULL, 0), 0);
	free(u->m);
	u->m = NULL;
}

/* The user may free the struct inside an upcall. */
static void test_reject_in_upcall(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->on_request = reject_and_free;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	EXPECT(u, REP "\x20\x01\x00\x00");
	mpa_user_free(u);
}

static void test_private_data_limits(void **state)
{
	static const uint8_t data[513];
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x10\x02\x00\x04\x00\x01\x00\x01");
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, data, 509), -EINVAL);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, data, 65536 + 4), -EINVAL);
	u->m->config.private_max = 256;
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, data, 253), -EINVAL);
	u->m->config.private_max = 0;
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, data, 508), 0);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->peer.rx_len, 532);
	mpa_user_free(u);
}

static void bad_request(const void *bytes, size_t len)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	mpa_user_feed(u, bytes, len);
	assert_int_equal(u->requests, 0);
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_START);
	mpa_user_feed(u, bytes, len); /* dropped without a word */
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->peer.rx_len, 0);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), -ENOTCONN);
	mpa_user_free(u);
}
#define BAD(literal) bad_request(literal, sizeof(literal) - 1)

static void test_bad_requests(void **state)
{
	BAD(REP "\x00\x01\x00\x00");
	BAD("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	BAD(REQ "\x00\x03\x00\x00");
	BAD(REQ "\x00\x01\x02\x01");
	BAD(REQ "\x10\x02\x00\x03xyz");
	BAD(REQ "\x00\x01\x00\x00"
		"\x00"); /* data before the reply */
}

static void test_data_before_reply_later(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(u->requests, 1);
	FEED(u, "x");
	assert_int_equal(u->errors, 1);
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), -ENOTCONN);
	mpa_user_free(u);
}

/* In however many pieces it lies behind the frame: no more is looked at than a frame can be long.
 */
static void test_more_than_a_frame(void **state)
{
	static const uint8_t more[300];
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	mpa_rx_pause(u->m);
	FEED(u, REQ "\x10\x02\x00\x04\x80\x04\xc0\x08");
	for (unsigned i = 0; i < 3; i++)
		mpa_user_feed(u, more, sizeof more);
	assert_int_equal(u->requests + u->errors, 0);
	mpa_rx_resume(u->m);
	assert_int_equal(u->requests, 0);
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_START);
	mpa_user_free(u);
}

/* RFC 5044 section 7.1.1: the M bit of the request is for what the responder sends. */
static void test_request_for_markers(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x80\x01\x00\x00");
	assert_int_equal(u->requests, 1);
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	EXPECT(u, REP "\x00\x01\x00\x00");
	FEED(u, "\x00\x02hi\x00\x00\x00\x00"); /* no markers this way */
	assert_int_equal(u->ulpdus, 1);
	memcpy(mpa_reserve(u->m, 2, false), "ho", 2);
	mpa_commit(u->m);
	mpa_push(u->m);
	/* Section 7.1.2 rule 7: the first octets are the special marker. */
	EXPECT(u, "\x00\x00\x00\x00\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->errors, 0);
	mpa_user_free(u);
}

/* ... and that of the reply for what the initiator sends. */
static void test_reply_for_markers(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->config.markers = true;
	u->config.revision = 1;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	EXPECT(u, REQ "\x80\x01\x00\x00");
	FEED(u, REP "\x00\x01\x00\x00");
	memcpy(mpa_reserve(u->m, 2, false), "hi", 2);
	mpa_commit(u->m);
	mpa_push(u->m);
	EXPECT(u, "\x00\x02hi\x00\x00\x00\x00");
	FEED(u, "\x00\x00\x00\x00\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->ulpdus, 1);
	assert_memory_equal(u->rx, "ho", 2);
	mpa_user_free(u);
}

static void test_responder_waits_for_first_fpdu(void **state)
{
	struct mpa_user *u = mpa_user_new();

	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	assert_null(mpa_reserve(u->m, 4, false));
	FEED(u, "\x00\x02hi\x00\x00\x00\x00");
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->first_len, 2);
	assert_int_equal(u->ulpdus, 1);
	assert_non_null(mpa_reserve(u->m, 4, false));
	mpa_cancel(u->m);
	FEED(u, "\x00\x02hi\x00\x00\x00\x00");
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->ulpdus, 2);
	mpa_user_free(u);
}

static void abort_it(struct mpa_user *u)
{
	mpa_abort(u->m);
}

static void stop_hearing(struct mpa_user *u)
{
	mpa_drop_input(u->m);
}

/* Who aborts when he is told that it is open does not hear of the FPDU that opened it. */
static void test_abort_when_open(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->on_open = abort_it;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	FEED(u, "\x00\x02hi\x00\x00\x00\x00");
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->ulpdus, 0);
	assert_int_equal(u->rx_dones, 0);
	assert_int_equal(u->errors, 0);
	mpa_user_free(u);
}

/* Who has heard enough by then may still speak. */
static void test_drop_input_when_open(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->on_open = stop_hearing;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	EXPECT(u, REP "\x00\x01\x00\x00");
	FEED(u, "\x00\x02hi\x00\x00\x00\x00\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->operational, 1);
	assert_int_equal(u->ulpdus, 0);
	assert_int_equal(u->rx_dones, 0);
	assert_int_equal(u->errors, 0);
	memcpy(mpa_reserve(u->m, 2, false), "ah", 2);
	mpa_commit(u->m);
	mpa_push(u->m);
	EXPECT(u, "\x00\x02"
		  "ah\x00\x00\x00\x00");
	mpa_user_free(u);
}

/* A first FPDU that is not valid does not open our direction (RFC 5044 7.1.2 rule 4). */
/* No message may follow it, but the answer that says why. */
static void test_bad_first_fpdu(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->config.crc = true;
	mpa_user_respond(u);
	FEED(u, REQ "\x00\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
	FEED(u, "\x00\x02hi\x00\x00\x00\x00");
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_CRC);
	assert_int_equal(u->operational, 0);
	assert_non_null(mpa_reserve(u->m, 4, false));
	mpa_cancel(u->m);
	mpa_user_free(u);
}

/* However it is cut. */
static void test_bad_fpdu_in_pieces(void **state)
{
	static const char fpdu[] = "\x00\x02hi\x00\x00\x00\x00";

	for (size_t cut = 1; cut < 8; cut++) {
		struct mpa_user *u = mpa_user_new();

		u->config.crc = true;
		mpa_user_respond(u);
		FEED(u, REQ "\x00\x01\x00\x00");
		assert_int_equal(mpa_accept(u->m, 0, 0, 0, NULL, 0), 0);
		mpa_user_feed(u, fpdu, cut);
		assert_int_equal(u->errors, 0);
		mpa_user_feed(u, fpdu + cut, 8 - cut);
		assert_int_equal(u->errors, 1);
		assert_int_equal(u->error, MPA_ERROR_CRC);
		assert_int_equal(u->ulpdus, 0);
		mpa_user_free(u);
	}
}

static void eof_in_start_up(const struct mpa_user_ops *ops)
{
	struct mpa_user *u = mpa_user_new();

	u->ops = ops;
	mpa_user_respond(u);
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->eofs, 1);
	mpa_user_free(u);

	u = mpa_user_new();
	u->ops = ops;
	mpa_user_respond(u);
	FEED(u, REQ);
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->eofs, 0);
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_CLOSED);
	mpa_user_free(u);
}

/* Also of a user that takes FPDUs only later, as the RNIC's start-up does. */
static void test_eof_in_start_up(void **state)
{
	struct mpa_user_ops starting = mpa_user_ops;

	eof_in_start_up(&mpa_user_ops);
	starting.ulpdu = NULL;
	eof_in_start_up(&starting);
	starting.keep = keep;
	eof_in_start_up(&starting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept_revision_2),
		cmocka_unit_test(test_accept_mirrors_a),
		cmocka_unit_test(test_accept_old_revisions),
		cmocka_unit_test(test_request_byte_by_byte),
		cmocka_unit_test(test_request_is_kept),
		cmocka_unit_test(test_calls_out_of_turn),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_reject_without_depths),
		cmocka_unit_test(test_reject_in_upcall),
		cmocka_unit_test(test_private_data_limits),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_data_before_reply_later),
		cmocka_unit_test(test_more_than_a_frame),
		cmocka_unit_test(test_request_for_markers),
		cmocka_unit_test(test_reply_for_markers),
		cmocka_unit_test(test_responder_waits_for_first_fpdu),
		cmocka_unit_test(test_abort_when_open),
		cmocka_unit_test(test_drop_input_when_open),
		cmocka_unit_test(test_bad_first_fpdu),
		cmocka_unit_test(test_bad_fpdu_in_pieces),
		cmocka_unit_test(test_eof_in_start_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
