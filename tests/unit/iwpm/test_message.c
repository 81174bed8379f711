/* SPDX-License-Identifier: BSD-2-Clause */
/** The port mapper's messages, octet by octet, as iwpmd sends them. */
#include "iwpm/message.h"
#include "world.h"

/** 10.0.0.2 port 40000 asks for 10.0.0.1 port 7174, and will come from port 50001. */
static const uint8_t request_v4[IWPM_MESSAGE_MAX] = {0x04, 0, 0xc3, 0x51, 0x1c, 0x06, 0x9c, 0x40, 1,
	2, 3, 4, 5, 6, 7, 8, 10, 0, 0, 2, [32] = 10, 0, 0, 1, [48] = 10, 0, 0, 2};
static const uint8_t accept_v6[IWPM_ANSWER_LEN] = {0x16, 0, 0, 0, 0x83, 0xf5, 0x9c, 0x40, 1, 2, 3,
	4, 5, 6, 7, 8, 0xfd, [31] = 2, 0xfd, [47] = 1};

static void requests_are_as_iwpmd_sends_them(void **state)
{
	const struct ip_endpoint ap = world_at("10.0.0.1", 7174), cp = world_at("10.0.0.2", 40000),
				 mapped = world_at("10.0.0.2", 50001);
	uint8_t out[IWPM_MESSAGE_MAX];
	struct iwpm_message m;

	assert_true(iwpm_message_get(&m, request_v4, sizeof request_v4));
	assert_int_equal(m.type, IWPM_REQUEST);
	assert_true(m.handle == UINT64_C(0x0102030405060708));
	assert_true(world_same(&m.accepting, &ap));
	assert_true(world_same(&m.connecting, &cp));
	assert_true(world_same(&m.mapped, &mapped));
	assert_int_equal(iwpm_message_put(&m, out), IWPM_MESSAGE_MAX);
	assert_memory_equal(out, request_v4, sizeof out);
}

static void answers_are_shorter(void **state)
{
	const struct ip_endpoint ap = world_at("fd00::1", 33781), cp = world_at("fd00::2", 40000);
	uint8_t out[IWPM_MESSAGE_MAX];
	struct iwpm_message m;

	assert_true(iwpm_message_get(&m, accept_v6, sizeof accept_v6));
	assert_int_equal(m.type, IWPM_ACCEPT);
	assert_true(world_same(&m.accepting, &ap));
	assert_true(world_same(&m.connecting, &cp));
	assert_int_equal(m.mapped.port, 0);
	assert_int_equal(iwpm_message_put(&m, out), IWPM_ANSWER_LEN);
	assert_memory_equal(out, accept_v6, sizeof accept_v6);
	m.type = IWPM_ACK;
	assert_int_equal(iwpm_message_put(&m, out), IWPM_ANSWER_LEN);
	assert_int_equal(out[0], 0x26);
	m.type = IWPM_REJECT;
	iwpm_message_put(&m, out);
	assert_int_equal(out[0], 0x36);
}

/** iwpmd copies sixteen octets from where it has written four. */
static void what_is_behind_an_ipv4_address_does_not_matter(void **state)
{
	const struct ip_endpoint ap = world_at("10.0.0.1", 7174);
	uint8_t odd[IWPM_MESSAGE_MAX];
	struct iwpm_message m;

	memcpy(odd, request_v4, sizeof odd);
	memset(odd + 20, 0xa5, 12);
	memset(odd + 36, 0xa5, 12);
	memset(odd + 52, 0xa5, 12);
	assert_true(iwpm_message_get(&m, odd, sizeof odd));
	assert_true(world_same(&m.accepting, &ap));
}

static void others_are_no_messages(void **state)
{
	uint8_t bad[IWPM_MESSAGE_MAX + 1] = {0};
	struct iwpm_message m;

	memcpy(bad, request_v4, sizeof request_v4);
	for (size_t len = 0; len < IWPM_MESSAGE_MAX; len++)
		assert_false(iwpm_message_get(&m, bad, len));
	assert_true(iwpm_message_get(&m, bad, IWPM_MESSAGE_MAX + 1));
	bad[0] = 0x44; /* version 1 */
	assert_false(iwpm_message_get(&m, bad, IWPM_MESSAGE_MAX));
	for (unsigned family = 0; family < 16; family++) {
		bad[0] = (uint8_t)family;
		assert_int_equal(
			iwpm_message_get(&m, bad, IWPM_MESSAGE_MAX), family == 4 || family == 6);
	}
	memcpy(bad, accept_v6, sizeof accept_v6);
	for (size_t len = 0; len < IWPM_ANSWER_LEN; len++)
		assert_false(iwpm_message_get(&m, bad, len));
	/* IPv4 in the clothes of IPv6. */
	memcpy(bad + 32, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	assert_false(iwpm_message_get(&m, bad, IWPM_ANSWER_LEN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_as_iwpmd_sends_them),
		cmocka_unit_test(answers_are_shorter),
		cmocka_unit_test(what_is_behind_an_ipv4_address_does_not_matter),
		cmocka_unit_test(others_are_no_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
