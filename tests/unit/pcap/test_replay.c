/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"
#include "pcap/replay.h"

#include "support/cap_bytes.h"
#include "support/cap_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TERMINATE 0x41, 0x47, [9] = 2, [13] = 1

static uint64_t run(struct cap_maker *m, bool responder, char **text)
{
	static const struct follow_config config;
	struct replay *r = calloc(1, sizeof *r);
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;
	uint64_t differences;
	size_t len;

	assert_non_null(r);
	assert_non_null(c);
	r->responder = responder;
	r->out = open_memstream(text, &len);
	assert_int_equal(follow_init(&w, &config, &replay_ops, r), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	fclose(r->out);
	assert_int_equal(r->sessions, 1);
	differences = r->differences;
	free(r);
	return differences;
}

/* Both sides of one capture; the text must have @p has. */
static void expect(struct cap_maker *m, bool responder, uint64_t differences, const char *has)
{
	char *text;
	uint64_t n = run(m, responder, &text);

	if (n != differences || strstr(text, has) == NULL)
		print_error("%s", text);
	assert_int_equal(n, differences);
	assert_non_null(strstr(text, has));
	free(text);
}

static void talk(struct cap_maker *m)
{
	cap_maker_start(m);
	for (uint32_t i = 1; i <= 3; i++) {
		cap_maker_send(m, 0, i, 3000);
		cap_maker_write(m, 0, 700);
		cap_maker_read_request(m, 0, i, 64);
		cap_maker_read_response(m, 1, 0x100, 64);
		cap_maker_send(m, 1, i, 11);
		cap_maker_read_request(m, 1, i, 20);
		cap_maker_read_response(m, 0, 0x100, 20);
	}
	cap_maker_fin(m, 0);
	cap_maker_fin(m, 1);
}

static void test_good(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct cap_maker m;

		cap_maker_init(&m);
		m.crc = kind & 1;
		m.markers = kind & 2;
		talk(&m);
		expect(&m, false, 0, "12 FPDUs fed, 3 Reads answered");
		expect(&m, true, 0, "9 FPDUs fed, 3 Reads answered");
		cap_maker_free(&m);
	}
}

/* The captured responder minded what we do not mind: it had no reason. */
static void test_terminate_of_theirs(void **state)
{
	static const uint8_t opcode[] = {TERMINATE, [18] = 0x02, [19] = 0x06, 0, 0};
	static const uint8_t rights[] = {TERMINATE, [18] = 0x01, [19] = 0x02, 0, 0};
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_fpdu(&m, 1, opcode, sizeof opcode);
	expect(&m, false, 1, "our stack accepts what was answered by a Terminate");
	cap_maker_free(&m);
	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_fpdu(&m, 1, rights, sizeof rights);
	expect(&m, false, 0, "comes of memory or buffers");
	cap_maker_free(&m);
}

static void test_terminate_of_ours(void **state)
{
	static const uint8_t stray[] = {0x41, 0x4c, [13] = 2, [17] = 0};
	static const uint8_t opcode[] = {TERMINATE, [18] = 0x02, [19] = 0x06, 0, 0};
	static const uint8_t version[] = {TERMINATE, [18] = 0x02, [19] = 0x05, 0, 0};
	struct cap_maker m;

	/* Nobody but us minds. */
	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_fpdu(&m, 0, stray, sizeof stray);
	expect(&m, false, 1, "our stack ends the stream: RDMA, remote operation error: unexpected");
	/* Both do, by the same code; then by another. */
	cap_maker_fpdu(&m, 1, opcode, sizeof opcode);
	expect(&m, false, 0, "2 FPDUs fed");
	cap_maker_free(&m);
	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_fpdu(&m, 0, stray, sizeof stray);
	cap_maker_fpdu(&m, 1, version, sizeof version);
	expect(&m, false, 1, "our Terminate says");
	cap_maker_free(&m);
}

static void test_unanswered(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_read_response(&m, 1, 0x100, 8);
	/* Nobody asked; nor shall we answer. */
	expect(&m, false, 0, "0 Reads answered");
	cap_maker_free(&m);
	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_read_request(&m, 0, 1, 8);
	cap_maker_read_response(&m, 1, 0x100, 8);
	/* With an MSN out of order our stack ends the stream, and does not answer. */
	cap_maker_read_request(&m, 0, 3, 8);
	cap_maker_read_response(&m, 1, 0x100, 8);
	expect(&m, false, 1, "our stack ends the stream: DDP, untagged buffer error: invalid MSN");
	cap_maker_free(&m);
}

/* FIN in an FPDU: our stack minds as the captured one did. */
static void test_fin_in_fpdu(void **state)
{
	static const uint8_t lost[] = {TERMINATE, [18] = 0x20, [19] = 0x01, 0, 0};
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_text(&m, 0, "\0\x20xx", 4);
	cap_maker_fin(&m, 0);
	cap_maker_fpdu(&m, 1, lost, sizeof lost);
	expect(&m, false, 0, "1 FPDUs fed");
	cap_maker_free(&m);
}

/* An Atomic Operation on memory that is aligned as its TO says. */
static void test_atomic(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		uint8_t request[70] = {0x41, 0x4a, [9] = 1, [13] = 1, [33] = 2, [37] = 8};
		static const uint8_t response[30] = {0x41, 0x4b, [9] = 3, [13] = 1};
		struct cap_maker m;

		request[18 + 19] = i == 0 ? 8 : 9;
		cap_maker_init(&m);
		cap_maker_start(&m);
		cap_maker_fpdu(&m, 0, request, sizeof request);
		cap_maker_fpdu(&m, 1, response, sizeof response);
		expect(&m, false, i, i == 0 ? "1 Reads answered" : "our stack ends the stream");
		cap_maker_free(&m);
	}
}

/* A few octets that ask for gigabytes. */
static void test_too_much(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_read_request(&m, 0, 1, 0xfffffff0);
	expect(&m, false, 0, "more is asked for than the capture has");
	cap_maker_free(&m);
}

/* What is not all there cannot be fed. */
static void test_hole(void **state)
{
	struct cap_maker m;
	size_t len;

	cap_maker_init(&m);
	cap_maker_start(&m);
	len = m.len;
	cap_maker_send(&m, 0, 1, 10);
	m.len = len;
	cap_maker_send(&m, 0, 2, 10);
	expect(&m, false, 0, "not replayed from here");
	cap_maker_free(&m);
	/* Nor to a stack without a known start-up frame of its own. */
	for (unsigned side = 0; side < 2; side++) {
		cap_maker_init(&m);
		if (side == 0)
			cap_maker_request(&m);
		else
			cap_maker_reply(&m);
		cap_maker_send(&m, side, 1, 10);
		expect(&m, side == 1, 0, "not replayed from here: its start-up");
		cap_maker_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_terminate_of_theirs),
		cmocka_unit_test(test_terminate_of_ours),
		cmocka_unit_test(test_unanswered),
		cmocka_unit_test(test_fin_in_fpdu),
		cmocka_unit_test(test_atomic),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
