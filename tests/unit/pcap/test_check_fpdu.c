/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/* Framing that break a demand, and what is found. */

static void bad_crc(struct cap_maker *m)
{
	running(m);
	cap_maker_send(m, 0, 2, 4);
	m->bytes[m->len - 8] ^= 1;
}

static void dirty_pad(struct cap_maker *m)
{
	request(m, 0x10, 2, 4, 4);
	reply(m, 0x10, 2, 4, 4);
	m->crc = false;
	cap_maker_send(m, 0, 1, 3);
	m->bytes[m->len - 5] = 1;
}

static void bad_marker(struct cap_maker *m)
{
	uint8_t out[1000], ulpdu[18] = {0x41, 0x43, [13] = 1};
	size_t n;

	m->markers = true;
	m->crc = false;
	cap_maker_start(m);
	n = cap_maker_frame(m, 0, ulpdu, sizeof ulpdu, out);
	out[3] = 8; /* should be 0, right before the FPDU */
	cap_maker_text(m, 0, out, n);
}

static void marker_bits(struct cap_maker *m)
{
	uint8_t out[1000], ulpdu[18] = {0x41, 0x43, [13] = 1};
	size_t n;

	m->markers = true;
	m->crc = false;
	cap_maker_start(m);
	n = cap_maker_frame(m, 0, ulpdu, sizeof ulpdu, out);
	out[0] = 1;
	out[3] = 2;
	cap_maker_text(m, 0, out, n);
}

/* The terms have markers or not, and the FPDUs of both ends are the other way. */
static void other_markers(struct cap_maker *m, bool asked)
{
	m->markers = asked;
	cap_maker_start(m);
	m->markers = !asked;
	for (unsigned i = 1; i <= 5; i++)
		cap_maker_send(m, 0, i, 700);
	for (unsigned i = 1; i <= 5; i++)
		cap_maker_send(m, 1, i, 1300);
}

static void markers_absent(struct cap_maker *m)
{
	other_markers(m, true);
}

static void markers_uncalled(struct cap_maker *m)
{
	other_markers(m, false);
}

/* The first FPDU comes in two segments. */
static void markers_absent_in_pieces(struct cap_maker *m)
{
	uint8_t out[1000], ulpdu[18] = {0x41, 0x43, [13] = 1};
	size_t n;

	m->markers = true;
	cap_maker_start(m);
	m->markers = false;
	n = cap_maker_frame(m, 0, ulpdu, sizeof ulpdu, out);
	cap_maker_text(m, 0, out, 7);
	cap_maker_text(m, 0, out + 7, n - 7);
	cap_maker_send(m, 0, 2, 700);
}

static void huge(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 64000);
	cap_maker_send(m, 0, 2, 64769 - 18);
}

static void after_terminate(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, TERMINATE "0000 0000");
	cap_maker_send(m, 0, 2, 4);
}

static void cut_by_fin(struct cap_maker *m)
{
	running(m);
	cap_maker_text(m, 0, "\0\x20xx", 4);
	cap_maker_fin(m, 0);
}

static const struct check_case cases[] = {
	{"CRC", bad_crc, "MPA-4.4-11", {NULL}},
	{"pad", dirty_pad, "MPA-4.1-2", {NULL}},
	{"marker", bad_marker, "MPA-4.3-10", {NULL}},
	{"markers absent", markers_absent, "MPA-7.1.1-7", {NULL}},
	{"markers absent, in pieces", markers_absent_in_pieces, "MPA-7.1.1-7", {NULL}},
	{"markers not asked for", markers_uncalled, "MPA-7.1.1-6", {NULL}},
	{"marker bits", marker_bits, "MPA-4.2-2 MPA-4.2-3", {NULL}},
	{"a ULPDU of 64,769 octets", huge, "MPA-3-5", {NULL}},
	{"after Terminate", after_terminate, "RDMAP-5.4-7", {NULL}},
	{"FIN in an FPDU", cut_by_fin, "DDP-6.2.1-1", {NULL}},
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
