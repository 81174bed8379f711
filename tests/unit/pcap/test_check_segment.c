/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/* DDP's segments that break a demand, and what is found. */

static void first_msn(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 0, 4);
}

static void msn_again(struct cap_maker *m)
{
	running(m);
	cap_maker_send(m, 0, 1, 4);
}

static void tagged_mixed(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 1, 1, 4);
	fpdu(m, 0, "8140 00000011 0000000000000100 aaaa");
	fpdu(m, 0, "c142 00000011 0000000000000100 aaaaaaaa");
}

static const struct check_case cases[] = {
	{"too short", NULL, "DDP-4.4-1", {"> 4143 0000"}},
	{"DV", NULL, "DDP-4.1-9", {"> 4243 00000000 00000000 00000002 00000000"}},
	{"DDP's reserved bits", NULL, "DDP-4.1-8", {"> 4543 00000000 00000000 00000002 00000000"}},
	{"first MSN", first_msn, "DDP-4.3-9", {NULL}},
	{"MSN again", msn_again, "DDP-4.3-8", {NULL}},
	{"first MO", NULL, "DDP-4.3-12", {"> 4143 00000000 00000000 00000002 00000004 aa"}},
	{"MO", NULL, "DDP-5.2-6",
		{"> 0143 00000000 00000000 00000002 00000000 aaaa",
			"> 4143 00000000 00000000 00000002 00000004 aaaa"}},
	{"another opcode", NULL, "DDP-4.3-4",
		{"> 0143 00000000 00000000 00000002 00000000 aaaa",
			"> 4145 00000000 00000000 00000002 00000002 aaaa"}},
	{"another STag", NULL, "DDP-4.2-8",
		{"> 8140 00000011 0000000000000100 aaaa", "> c140 00000012 0000000000000102 aaaa"}},
	{"TO", NULL, "DDP-5.2-8",
		{"> 8140 00000011 0000000000000100 aaaa", "> c140 00000011 0000000000000104 aaaa"}},
	{"a Read Response in a Write", tagged_mixed, "DDP-4.2-4", {NULL}},
	/* The last octet of all is none too many. */
	{"TO wraps", NULL, "DDP-7.1-14",
		{"> c140 00000011 ffffffffffffffff aa", "> c140 00000011 fffffffffffffffe aaaa",
			"> c140 00000011 fffffffffffffffe aaaaaa"}},
	{"an empty segment that does not end", NULL, "DDP-5.2-9",
		{"> 0143 00000000 00000000 00000002 00000000"}},
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
