/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/* Terminates that break a demand, and what is found. */

static void after_read_of_100(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 100);
}

static void after_write(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
}

/* The segment that is quoted is the last but 63, or but 64: that is not kept any more. */
static void after_writes(struct cap_maker *m, unsigned n)
{
	after_write(m);
	for (unsigned i = 0; i < n; i++)
		cap_maker_send(m, 0, 2 + i, 4);
}

static void after_63(struct cap_maker *m)
{
	after_writes(m, 63);
}

static void after_64(struct cap_maker *m)
{
	after_writes(m, 64);
}

static void after_62(struct cap_maker *m)
{
	running(m);
	for (unsigned i = 0; i < 62; i++)
		cap_maker_send(m, 0, 2 + i, 4);
}

/* A Send with the MSN 2 and 4 octets of payload, whose length says that it has as many. */
static void after_length(struct cap_maker *m, uint8_t len)
{
	uint8_t p[2 + 22 + 4] = {0, len, 0x41, 0x43, [15] = 2};

	running(m);
	cap_maker_text(m, 0, p, sizeof p);
}

static void after_too_long(struct cap_maker *m)
{
	after_length(m, 26);
}

static void after_too_short(struct cap_maker *m)
{
	after_length(m, 18);
}

static const struct check_case cases[] = {
	{"Terminate: quotes the last but 63", after_63, "RDMAP-4.8-8",
		{"< " TERMINATE "1100 c000 0002 c140 00000033 0000000000000200"}},
	{"Terminate: quotes what is not kept", after_64, "",
		{"< " TERMINATE "1100 c000 0002 c140 00000033 0000000000000200"}},
	{"Terminate: quotes none of 63", after_62, "RDMAP-7.1-4",
		{"< " TERMINATE "1100 c000 0010 c140 00000033 0000000000000200"}},
	{"Terminate: no such error", NULL, "RDMAP-4.8-3", {"< " TERMINATE "3301 0000"}},
	{"Terminate: reserved bits", NULL, "RDMAP-4.8-7", {"< " TERMINATE "0000 0001"}},
	/* DDP, tagged, invalid STag would read the same both ways; a bad version does not. */
	{"Terminate: as siw", after_write, "RDMAP-4.8-2 RDMAP-4.8-7 RDMAP-4.8-8",
		{"< " TERMINATE "2106 0300 0002 c140 00000033 0000000000000200"}},
	{"Terminate: an untagged error of a tagged segment", after_write, "RDMAP-4.8-3",
		{"< " TERMINATE "1203 c000 0010 c140 00000033 0000000000000200"}},
	{"Terminate: a wrong version of a good one", after_write, "RDMAP-4.8-3",
		{"< " TERMINATE "1104 c000 0010 c140 00000033 0000000000000200"}},
	{"Terminate: good quote", after_write, "",
		{"< " TERMINATE "1100 c000 0010 c140 00000033 0000000000000200"}},
	/* After 16 octets. */
	{"Terminate: good Read", after_read_of_100, "",
		{"< " TERMINATE
		 "0101 e000 002e " READ("00000001") "00000011 0000000000000110 00000054 00000022 "
						    "0000000000000010"}},
	{"Terminate: bad Read", after_read_of_100, "RDMAP-7.1-5",
		{"< " TERMINATE
		 "0101 e000 002e " READ("00000001") "00000011 0000000000000110 00000054 00000023 "
						    "0000000000000010"}},
	{"Terminate: no Read header", after_read_of_100, "RDMAP-4.8-6",
		{"< " TERMINATE "0101 c000 002e " READ("00000001")}},
	/* RFC 7306 section 8.2: the header of an Atomic Request is not quoted. */
	{"Terminate: good Atomic", NULL, "",
		{"> " ATOMIC FETCH_ADD("00000009"), "< " TERMINATE "0101 c000 0046 " ATOMIC}},
	{"Terminate: segment length", after_write, "RDMAP-4.8-8",
		{"< " TERMINATE "1100 c000 0002 c140 00000033 0000000000000200"}},
	{"Terminate: untrue", after_write, "RDMAP-7.1-4",
		{"< " TERMINATE "1100 c000 0010 c140 00000034 0000000000000200"}},
	/* It quotes what should have been sent: its sender is not to blame. */
	{"Terminate: quotes no DDP reserved bits", NULL, "DDP-4.1-8",
		{"> 4543 00000000 00000000 00000002 00000000 aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes no RDMAP reserved bits", NULL, "RDMAP-4.1-10",
		{"> 4153 00000000 00000000 00000002 00000000 aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes no Invalidate STag", NULL, "RDMAP-4.1-11",
		{"> 4143 00000001 00000000 00000002 00000000 aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes the MSN that is due", NULL, "DDP-4.3-8",
		{"> " SEND("02000000") "aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes the MO that is due", NULL, "DDP-4.3-12",
		{"> 4143 00000000 00000000 00000002 00000004 aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes the TO that is due", NULL, "DDP-5.2-8",
		{"> 8140 00000011 0000000000000100 aaaa", "> c140 00000011 0000000000000104 aaaa",
			"< " TERMINATE "1100 c000 0010 c140 00000011 0000000000000102"}},
	{"Terminate: quotes what is wrong, and untrue", NULL, "RDMAP-4.1-11 RDMAP-7.1-4",
		{"> 4143 00000001 00000000 00000002 00000000 aaaaaaaa",
			"< " TERMINATE "1202 c000 0016 " SEND("00000003")}},
	{"Terminate: quotes the wrong as it came", NULL, "DDP-4.3-8 RDMAP-4.8-8",
		{"> " SEND("00000009") "aaaaaaaa",
			"< " TERMINATE "1202 c000 0002 " SEND("00000009")}},
	{"Terminate: quotes what does not end", after_too_long, "",
		{"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: quotes what was longer", after_too_short, "MPA-4.4-11",
		{"< " TERMINATE "1202 c000 0016 " SEND("00000002")}},
	{"Terminate: cut", after_write, "RDMAP-4.8-10", {"< " TERMINATE "1100 c000 0010 c140"}},
	{"Terminate: more than it tells", NULL, "RDMAP-4.8-1", {"< " TERMINATE "0207 0000 0000"}},
	{"Terminate: no DDP header", NULL, "RDMAP-4.8-5", {"< " TERMINATE "1100 0000"}},
	{"Terminate: length alone", NULL, "RDMAP-4.8-5", {"< " TERMINATE "0207 8000 0010"}},
	{"Terminate: MPA's with a header", after_write, "RDMAP-4.8-5",
		{"< " TERMINATE "2002 c000 0010 c140 00000033 0000000000000200"}},
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
