/* SPDX-License-Identifier: BSD-2-Clause */
/* How uiwarps agree on Send with Immediate, and others do not (docs/connect.md). */
#include "mpa_user.h"

#include "mpa/startup.h"

/*
 * Send with Immediate: offered and agreed to in the reserved bits, exactly so. Who does not know it
 * leaves them zero, and agrees to nothing by an echo of them.
 */
static void test_send_imm_taken(void **state)
{
	static const struct {
		bool knows;
		uint8_t request, reply;
	} t[] = {{true, 0x15, 0x1a}, {true, 0x10, 0x10}, {true, 0x14, 0x10}, {true, 0x1f, 0x10},
		{true, 0x1a, 0x10}, {false, 0x15, 0x10}};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		uint8_t request[] = REQ "\x10\x02\x00\x04\x80\x01\xc0\x01";
		uint8_t reply[] = REP "\x10\x02\x00\x04\x80\x01\x80\x01";
		struct mpa_user *u = mpa_user_new();

		u->config.send_imm = t[i].knows;
		request[MPA_AT_FLAGS] = t[i].request;
		reply[MPA_AT_FLAGS] = t[i].reply;
		mpa_user_respond(u);
		mpa_user_feed(u, request, sizeof request - 1);
		assert_int_equal(mpa_accept(u->m, 1, 1, MPA_RTR_WRITE, NULL, 0), 0);
		mpa_user_expect(u, reply, sizeof reply - 1);
		assert_int_equal(u->m->send_imm, t[i].reply == 0x1a);
		mpa_user_free(u);
	}
}

/* A reply that rejects agrees to nothing; nor is there room for it in older frames. */
static void test_send_imm_not_taken(void **state)
{
	struct mpa_user *u = mpa_user_new();

	u->config.send_imm = true;
	mpa_user_respond(u);
	FEED(u, REQ "\x15\x02\x00\x04\x80\x01\xc0\x01");
	assert_int_equal(mpa_reject(u->m, NULL, 0), 0);
	EXPECT(u, REP "\x30\x02\x00\x04\x80\x00\xc0\x00");
	mpa_user_free(u);

	u = mpa_user_new();
	u->config.send_imm = true;
	mpa_user_respond(u);
	FEED(u, REQ "\x05\x01\x00\x00");
	assert_int_equal(mpa_accept(u->m, 1, 1, 0, NULL, 0), 0);
	EXPECT(u, REP "\x00\x01\x00\x00");
	assert_false(u->m->send_imm);
	mpa_user_free(u);
}

static void test_send_imm_offered(void **state)
{
	static const uint8_t replies[] = {0x1a, 0x10, 0x15, 0x1b, 0x18};
	struct mpa_user *u;

	for (unsigned i = 0; i < sizeof replies; i++) {
		uint8_t reply[] = REP "\x10\x02\x00\x04\x80\x01\x80\x01";

		u = mpa_user_new();
		u->config.send_imm = true;
		u->config.peer_to_peer = true;
		mpa_user_initiate(u);
		assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
		EXPECT(u, REQ "\x15\x02\x00\x04\x80\x01\xc0\x01");
		reply[MPA_AT_FLAGS] = replies[i];
		mpa_user_feed(u, reply, sizeof reply - 1);
		assert_int_equal(u->operational, 1);
		assert_int_equal(u->m->send_imm, i == 0);
		mpa_user_free(u);
	}
	u = mpa_user_new();
	u->config.send_imm = true;
	u->config.revision = 1;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	EXPECT(u, REQ "\x00\x01\x00\x00");
	mpa_user_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_imm_taken),
		cmocka_unit_test(test_send_imm_not_taken),
		cmocka_unit_test(test_send_imm_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
