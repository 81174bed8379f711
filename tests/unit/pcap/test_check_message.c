/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/* RDMAP's messages that break a demand, and what is found. */

static void rdma_version_0(struct cap_maker *m)
{
	request(m, 0x40, 0, -1, 0);
	reply(m, 0x40, 0, -1, 0);
	fpdu(m, 0, "4103 00000000 00000000 00000001 00000000");
}

static void too_many_reads(struct cap_maker *m)
{
	running(m);
	for (uint32_t i = 1; i <= 5; i++)
		cap_maker_read_request(m, 0, i, 8);
}

static void as_many_reads(struct cap_maker *m)
{
	running(m);
	for (uint32_t i = 1; i <= 4; i++)
		cap_maker_read_request(m, 0, i, 8);
	cap_maker_read_response(m, 1, 0x100, 8);
	cap_maker_read_request(m, 0, 5, 8);
}

static void more_than_own_ord(struct cap_maker *m)
{
	request(m, 0x50, 2, 8, 2);
	reply(m, 0x50, 2, 8, 2);
	cap_maker_read_request(m, 0, 1, 8);
	for (uint32_t i = 1; i <= 3; i++)
		cap_maker_read_request(m, 1, i, 8);
}

/* The initiator's was what it asked for, and it was given more. */
static void more_than_was_asked_for(struct cap_maker *m)
{
	request(m, 0x50, 2, 8, 2);
	reply(m, 0x50, 2, 8, 8);
	for (uint32_t i = 1; i <= 8; i++)
		cap_maker_read_request(m, 0, i, 8);
}

/* What a broken request was nobody knows: its answer is not to blame. */
static void answer_to_broken(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0,
		"4181 00000000 00000001 00000001 00000000 00000011 0000000000000100 00000008 "
		"00000022 0000000000000000");
	cap_maker_read_response(m, 1, 0x100, 8);
	cap_maker_read_request(m, 0, 2, 16);
	cap_maker_read_response(m, 1, 0x100, 16);
}

static void stray_response(struct cap_maker *m)
{
	running(m);
	cap_maker_read_response(m, 1, 0x100, 8);
}

static void response_short(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 10);
	cap_maker_read_response(m, 1, 0x100, 9);
}

static void response_long(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 10);
	cap_maker_read_response(m, 1, 0x100, 11);
}

static void response_of_something(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 0);
	cap_maker_read_response(m, 1, 0x100, 1);
}

static void after_read_of_2(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 2);
}

static const struct check_case cases[] = {
	{"as many Reads as may be", as_many_reads, "", {NULL}},
	{"version 0 of the Consortium", rdma_version_0, "", {NULL}},
	{"RDMA version", NULL, "RDMAP-4.1-9", {"> 4183 00000000 00000000 00000002 00000000"}},
	{"RDMAP's reserved bits", NULL, "RDMAP-4.1-10",
		{"> 4153 00000000 00000000 00000002 00000000"}},
	{"Invalidate STag in Send", NULL, "RDMAP-4.1-11",
		{"> 4143 00000001 00000000 00000002 00000000"}},
	{"opcode", NULL, "RDMAP-4.1-6", {"> 414c 00000000 00000000 00000002 00000000"}},
	{"Write untagged", NULL, "RDMAP-5.1-1", {"> 4140 00000000 00000000 00000002 00000000"}},
	{"Send tagged", NULL, "RDMAP-5.3-1", {"> c143 00000011 0000000000000000"}},
	{"Send on queue 1", NULL, "RDMAP-5.3-4", {"> 4143 00000000 00000001 00000001 00000000"}},
	{"Send on queue 9", NULL, "RDMAP-5.3-4", {"> 4143 00000000 00000009 00000001 00000000"}},
	{"length of Immediate Data", NULL, "RDMAX-6.3-5",
		{"> 4148 00000000 00000000 00000002 00000000 01020304"}},
	{"length of a Read Request", NULL, "RDMAP-4.4-1", {"> " READ("00000001") "00000000"}},
	{"more Reads than IRD", too_many_reads, "RDMAP-6.1-4", {NULL}},
	{"as many as the IRD that was offered", more_than_was_asked_for, "", {NULL}},
	{"more Reads than its own ORD", more_than_own_ord, "RDMAP-6.1-4", {NULL}},
	{"an answer to a broken request", answer_to_broken, "RDMAP-4.1-9", {NULL}},
	{"a response to nothing", stray_response, "RDMAP-5.2-1", {NULL}},
	{"STag of a response", after_read_of_2, "RDMAP-4.4-2",
		{"< c142 00000012 0000000000000100 aaaa"}},
	{"TO of a response", after_read_of_2, "DDP-5.2-8",
		{"< c142 00000011 0000000000000110 aaaa"}},
	{"a response too short", response_short, "RDMAP-5.2.1-9", {NULL}},
	{"a response too long", response_long, "RDMAP-5.2.1-9", {NULL}},
	{"responses out of order", after_read_of_2, "RDMAP-5.5-10",
		{"> " READ(
			 "00000002") "00000044 0000000000000500 00000002 00000022 0000000000000000",
			"< c142 00000044 0000000000000500 aaaa"}},
	{"a response to a Read of nothing", response_of_something, "RDMAP-5.2.1-9", {NULL}},
	{"atomic operation code", NULL, "RDMAX-4.1-1",
		{"> " ATOMIC "00000001 00000009 00000022 0000000000000008 0000000000000001"
		 "0000000000000000 0000000000000000 ffffffffffffffff"}},
	{"atomic identifier", NULL, "RDMAX-5.2.2-6",
		{"> " ATOMIC FETCH_ADD("00000009"),
			"< " ATOMIC_ANSWER "0000000a 0000000000000005"}},
	{"an atomic response to nothing", NULL, "RDMAX-5.2.1-11",
		{"< " ATOMIC_ANSWER "0000000a 0000000000000005"}},
	{"atomic response on queue 0", NULL, "RDMAX-5.2.2-2",
		{"< 414b 00000000 00000000 00000002 00000000 0000000a 0000000000000005"}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
