/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/* Start-up frames that break a demand, and what is found. */

static void no_key(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	cap_maker_text(m, 1, "HTTP/1.0 400 Bad Request", 24);
}

static void two_initiators(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	start(m, 1, MPA_REQUEST_KEY, 0x50, 2, 4, 4);
}

static void revision_3(struct cap_maker *m)
{
	request(m, 0x50, 3, 4, 4);
}

static void private_data_600(struct cap_maker *m)
{
	cap_maker_handshake(m);
	cap_maker_text(m, 0, MPA_REQUEST_KEY "\x40\1\2\x58", 20);
}

static void s_without_words(struct cap_maker *m)
{
	request(m, 0x50, 2, -1, 0);
}

static void reserved_rev1(struct cap_maker *m)
{
	request(m, 0x48, 1, -1, 0);
}

static void s_in_rev1(struct cap_maker *m)
{
	request(m, 0x50, 1, 4, 4);
}

static void reserved_rev2(struct cap_maker *m)
{
	request(m, 0x51, 2, 4, 4);
}

static void flags_without_a(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x4004, 4);
}

static void reply_a_alone(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0xc004);
	reply(m, 0x50, 2, 0x8004, 4);
}

static void reply_without_a(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0xc004);
	reply(m, 0x50, 2, 4, 4);
}

static void reply_with_a(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x50, 2, 0x8004, 0x4004);
}

static void reply_plain(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x40, 2, -1, 0);
}

static void reply_enhanced(struct cap_maker *m)
{
	request(m, 0x40, 1, -1, 0);
	reply(m, 0x50, 2, 4, 4);
}

static void ord_above_ird(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x50, 2, 4, 5);
}

static void ird_unknown(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x3fff, 0x3fff);
	reply(m, 0x50, 2, 4, 4);
}

static void reply_early(struct cap_maker *m)
{
	uint32_t seq;

	cap_maker_handshake(m);
	seq = m->seq[0];
	cap_maker_request(m);
	m->seq[0] = seq;
	cap_maker_reply(m);
}

static void fpdu_early(struct cap_maker *m)
{
	uint32_t seq;

	cap_maker_handshake(m);
	cap_maker_request(m);
	seq = m->seq[1];
	cap_maker_reply(m);
	m->seq[1] = seq;
	cap_maker_send(m, 0, 1, 4);
}

static void responder_first(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 1, 1, 4);
}

static void responder_too_early(struct cap_maker *m)
{
	uint32_t seq;

	cap_maker_start(m);
	seq = m->seq[0];
	cap_maker_send(m, 0, 1, 4);
	m->seq[0] = seq + 4;
	cap_maker_send(m, 1, 1, 4);
}

static void no_rtr(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0xc004);
	reply(m, 0x50, 2, 0x8004, 0x8004);
	cap_maker_read_request(m, 0, 1, 0);
}

static void rtr_of_some_length(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0x4004);
	reply(m, 0x50, 2, 0x8004, 0x4004);
	cap_maker_read_request(m, 0, 1, 8);
}

static void near_key(struct cap_maker *m, unsigned side, unsigned octet)
{
	char key[] = MPA_REQUEST_KEY;

	if (side == 1)
		memcpy(key, MPA_REPLY_KEY, MPA_KEY_LEN);
	key[octet] ^= 0x41;
	start(m, side, key, 0x50, 2, 4, 4);
}

static void bad_request_good_reply(struct cap_maker *m)
{
	cap_maker_handshake(m);
	near_key(m, 0, 3);
	reply(m, 0x50, 2, 4, 4);
	cap_maker_send(m, 0, 1, 4);
	cap_maker_send(m, 1, 1, 4);
}

static void reply_before_request(struct cap_maker *m)
{
	cap_maker_handshake(m);
	reply(m, 0x50, 2, 4, 4);
	start(m, 0, MPA_REQUEST_KEY, 0x50, 2, 4, 4);
}

static void reject_without_a(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0x8004);
	reply(m, 0x70, 2, 4, 4);
}

static void reject_with_a_alone(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8004, 0x8004);
	reply(m, 0x70, 2, 0x8004, 4);
}

static void reject_with_a_unasked(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x70, 2, 0xc004, 4);
}

static void fpdus_after_reject(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x70, 2, 4, 4);
	cap_maker_send(m, 0, 1, 20);
	cap_maker_send(m, 1, 1, 20);
}

/* Section 7.1.2: both may go on with what is no MPA. */
static void text_after_reject(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x70, 2, 4, 4);
	cap_maker_text(m, 0, "GET /over/plain/tcp/instead HTTP/1.1\r\n\r\n", 40);
}

/* What uiwarps do with the reserved bits (docs/connect.md); nobody else does. */
static void offer(struct cap_maker *m)
{
	request(m, 0x55, 2, 4, 4);
}

static void agree(struct cap_maker *m)
{
	offer(m);
	reply(m, 0x5a, 2, 4, 4);
}

static void agree_alone(struct cap_maker *m)
{
	request(m, 0x50, 2, 4, 4);
	reply(m, 0x5a, 2, 4, 4);
}

static void offer_alone(struct cap_maker *m)
{
	offer(m);
	reply(m, 0x50, 2, 4, 4);
}

static const struct check_case cases[] = {
	{"a bad Request key, a good Reply", bad_request_good_reply, "MPA-7.1.1-1", {NULL}},
	{"a Reply before the Request", reply_before_request, "MPA-7.1.2-2", {NULL}},
	{"a reject without A", reject_without_a, "", {NULL}},
	{"a reject with A alone", reject_with_a_alone, "", {NULL}},
	{"a reject with A unasked", reject_with_a_unasked, "", {NULL}},
	{"FPDUs after a reject", fpdus_after_reject, "MPA-7.1.2-5 MPA-7.1.2-10", {NULL}},
	{"text after a reject", text_after_reject, "", {NULL}},
	{"Send with Immediate offered", offer, "", {NULL}},
	{"Send with Immediate agreed", agree, "",
		{"> 4163 00000000 00000000 00000001 00000000",
			"> 4153 00000001 00000000 00000002 00000000"}},
	{"Send with Immediate agreed, not offered", agree_alone, "MPA2-6-1", {NULL}},
	{"Send with Immediate not agreed", offer_alone, "RDMAP-4.1-10",
		{"> 4163 00000000 00000000 00000001 00000000"}},
	{"no key", no_key, "MPA-7.1.1-3", {NULL}},
	{"two initiators", two_initiators, "MPA-7.1.1-3", {NULL}},
	{"revision 3", revision_3, "MPA-7.1.1-12", {NULL}},
	{"600 octets of private data", private_data_600, "MPA-7.1.1-17", {NULL}},
	{"S without words", s_without_words, "MPA2-6-5", {NULL}},
	{"reserved bits, revision 1", reserved_rev1, "MPA-7.1.1-11", {NULL}},
	{"S in revision 1", s_in_rev1, "MPA2-6-3", {NULL}},
	{"reserved bits, revision 2", reserved_rev2, "MPA2-6-1", {NULL}},
	{"flags without A", flags_without_a, "MPA2-9.2-13", {NULL}},
	{"A alone in a reply", reply_a_alone, "MPA2-9.2-7", {NULL}},
	{"no A in a reply", reply_without_a, "MPA2-9.2-4", {NULL}},
	{"A in a reply", reply_with_a, "MPA2-9.2-12", {NULL}},
	{"no S in a reply", reply_plain, "MPA2-10-5", {NULL}},
	{"S in a reply", reply_enhanced, "MPA2-10-6", {NULL}},
	{"ORD above IRD", ord_above_ird, "MPA2-9.1-3", {NULL}},
	{"IRD not negotiated", ird_unknown, "MPA2-9.1-9 MPA2-9.1-11", {NULL}},
	{"a reply before the request", reply_early, "MPA-7.1.2-2", {NULL}},
	{"an FPDU before the reply", fpdu_early, "MPA-7.1.2-8", {NULL}},
	{"the responder begins", responder_first, "MPA-7.1.2-12", {NULL}},
	{"the responder is too early", responder_too_early, "MPA-7.1.2-12", {NULL}},
	{"no RTR", no_rtr, "MPA2-9.2-8", {NULL}},
	{"an RTR Read of 8 octets", rtr_of_some_length, "MPA2-9.2-8", {NULL}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

/* Whichever octet of a Reply's key is wrong. */
static void test_reply_key(void **state)
{
	static const struct follow_config config;

	for (unsigned i = 0; i < MPA_KEY_LEN; i++) {
		char ids[CHECK_IDS_LEN];
		struct cap_maker m;

		cap_maker_init(&m);
		request(&m, 0x50, 2, 4, 4);
		near_key(&m, 1, i);
		cap_maker_send(&m, 0, 1, 4);
		check_found(&m, &config, ids);
		assert_string_equal(ids, "MPA-7.1.1-3");
		cap_maker_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reply_key),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
