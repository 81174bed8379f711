/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

#include "base/bytes.h"

/*
 * Captures that do not show all, or not in its order: what is missing makes nothing wrong, and what
 * is wrong behind it is found again.
 */

#define RECORD 16

/* The frame that was made last is moved to before the one that begins at @p from. */
static void last_before(struct cap_maker *m, size_t from, size_t last)
{
	uint8_t copy[2048];
	size_t n = m->len - last;

	assert_true(n <= sizeof copy);
	memcpy(copy, m->bytes + last, n);
	memmove(m->bytes + from + n, m->bytes + from, last - from);
	memcpy(m->bytes + from, copy, n);
}

static void acks(struct cap_maker *m)
{
	for (unsigned i = 0; i < 80; i++)
		cap_maker_packet(m, i % 2, m->seq[i % 2], m->seq[!(i % 2)], 0x10, NULL, 0);
}

static void response_first(struct cap_maker *m)
{
	size_t from, last;

	running(m);
	from = m->len;
	cap_maker_read_request(m, 0, 1, 8);
	last = m->len;
	cap_maker_read_response(m, 1, 0x100, 8);
	last_before(m, from, last);
	cap_maker_read_request(m, 0, 2, 9);
	cap_maker_read_response(m, 1, 0x100, 9);
}

static void response_first_and_wrong(struct cap_maker *m)
{
	size_t from, last;

	running(m);
	from = m->len;
	cap_maker_read_request(m, 0, 1, 8);
	last = m->len;
	cap_maker_read_response(m, 1, 0x100, 7);
	last_before(m, from, last);
}

/* Requests to one sink, the second of them not seen; MSNs tell. */
static void same_sink(struct cap_maker *m)
{
	size_t at;

	running(m);
	cap_maker_read_request(m, 0, 1, 8);
	at = m->len;
	cap_maker_read_request(m, 0, 2, 16);
	m->len = at;
	cap_maker_read_request(m, 0, 3, 24);
	cap_maker_read_response(m, 1, 0x100, 8);
	cap_maker_read_response(m, 1, 0x100, 16);
	cap_maker_read_response(m, 1, 0x100, 24);
	acks(m);
}

static void same_sink_then_wrong(struct cap_maker *m)
{
	same_sink(m);
	cap_maker_read_request(m, 0, 4, 8);
	cap_maker_read_response(m, 1, 0x100, 9);
}

/* Responses to one sink, one of them not seen: which is due is not known until one fits but one. */
static void response_missing(struct cap_maker *m)
{
	size_t at;

	running(m);
	cap_maker_read_request(m, 0, 1, 8);
	cap_maker_read_request(m, 0, 2, 16);
	cap_maker_read_request(m, 0, 3, 24);
	at = m->len;
	cap_maker_read_response(m, 1, 0x100, 8);
	m->len = at;
	cap_maker_read_response(m, 1, 0x100, 16);
	acks(m);
	cap_maker_read_response(m, 1, 0x100, 24);
}

static void response_missing_then_wrong(struct cap_maker *m)
{
	response_missing(m);
	cap_maker_read_request(m, 0, 4, 40);
	fpdu(m, 1, "8142 00000011 0000000000000120 0102030405060708");
	fpdu(m, 1, "c142 00000011 0000000000000128 010203");
}

/* All requests, none of the answers; then FIN. */
static void one_way(struct cap_maker *m, bool wrong)
{
	uint32_t peer = m->seq[1];

	for (unsigned i = 0; i < 60; i++) {
		cap_maker_send(m, 0, 1 + i + (wrong && i == 50), 4);
		m->seq[1] = peer += 24;
	}
	cap_maker_packet(m, 0, m->seq[0], m->seq[1], 0x11, NULL, 0);
}

static void one_way_good(struct cap_maker *m)
{
	cap_maker_handshake(m);
	cap_maker_request(m);
	m->seq[1] += 24;
	one_way(m, false);
}

static void one_way_wrong(struct cap_maker *m)
{
	cap_maker_handshake(m);
	cap_maker_request(m);
	m->seq[1] += 24;
	one_way(m, true);
}

/* Half of a short connection that ends before anything is given up. */
static void one_way_short(struct cap_maker *m)
{
	cap_maker_handshake(m);
	cap_maker_request(m);
	m->seq[1] += 24;
	cap_maker_send(m, 0, 1, 4);
	cap_maker_packet(m, 0, m->seq[0], m->seq[1], 0x11, NULL, 0);
}

static void terminate_one_way(struct cap_maker *m)
{
	size_t at;

	cap_maker_handshake(m);
	at = m->len;
	cap_maker_request(m);
	m->len = at;
	cap_maker_reply(m);
	/* The DDP header of a Send that was not seen is quoted. */
	fpdu(m, 1, TERMINATE "1202 c000 0016 4143 00000000 00000000 00000009 00000000");
}

/* The SYN and what follows it come in any order. */
static void late_syn(struct cap_maker *m)
{
	size_t syn = m->len, last;

	running(m);
	last = m->len;
	/* The first two frames, SYN and SYN with ACK, go to the end. */
	for (unsigned i = 0; i < 2; i++) {
		uint8_t copy[256];
		size_t n = RECORD + load_le32(m->bytes + syn + 8);

		memcpy(copy, m->bytes + syn, n);
		memmove(m->bytes + syn, m->bytes + syn + n, last - syn - n);
		memcpy(m->bytes + last - n, copy, n);
	}
	cap_maker_send(m, 0, 2, 4);
	cap_maker_send(m, 0, 9, 4);
}

static const struct check_case cases[] = {
	{"a response before its request", response_first, "", {NULL}},
	{"a wrong response before its request", response_first_and_wrong, "RDMAP-5.2.1-9", {NULL}},
	{"a request to the same sink is missing", same_sink, "", {NULL}},
	{"and the next response is wrong", same_sink_then_wrong, "RDMAP-5.2.1-9", {NULL}},
	{"a response is missing", response_missing, "", {NULL}},
	{"and the next response is too short", response_missing_then_wrong, "RDMAP-5.2.1-9",
		{NULL}},
	{"one way", one_way_good, "", {NULL}},
	{"one way, a wrong MSN", one_way_wrong, "DDP-4.3-8", {NULL}},
	{"one way, to the FIN", one_way_short, "", {NULL}},
	{"a Terminate that quotes what was not seen", terminate_one_way, "", {NULL}},
	{"SYN and answer behind all", late_syn, "DDP-4.3-8", {NULL}},
	{"a quote of one of two Writes", NULL, "",
		{"> c140 00000011 0000000000000100 0102",
			"> c140 00000011 0000000000000100 01020304",
			"< " TERMINATE "1101 c000 0010 c140 00000011 0000000000000100"}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

/* Joined in the middle without CRCs: payload that looks nearly like an FPDU blames nobody. */
static void test_joined_in_payload(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	uint8_t payload[600] = {0};
	struct cap_maker m;
	char ids[CHECK_IDS_LEN];

	cap_maker_init(&m);
	m.crc = false;
	/* A tagged header with a good length, and rubbish behind. */
	memcpy(payload, "\x00\x20\xc1\x40", 4);
	memset(payload + 38, 0x77, 40);
	cap_maker_text(&m, 0, payload, sizeof payload);
	for (uint32_t i = 100; i < 130; i++)
		cap_maker_send(&m, 0, i, 10);
	check_found(&m, &config, ids);
	assert_string_equal(ids, "");
	/* So many FPDUs behind each other are some. */
	cap_maker_send(&m, 0, 7, 10);
	check_found(&m, &config, ids);
	assert_string_equal(ids, "DDP-4.3-8");
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_joined_in_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
