/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

#include "base/bytes.h"
#include "support/cap_bytes.h"

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

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* All that is told of a capture. The caller frees it. */
static char *told(struct cap_maker *m)
{
	static const struct follow_config config;
	struct check k = {.report = {0}};
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;
	char *text;
	size_t len;

	k.report.out = open_memstream(&text, &len);
	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, &check_ops, &k), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	fclose(k.report.out);
	return text;
}

/* The length of one FPDU is wrong: that is one finding, of its sender, and all behind it is read.
 */
static void test_length(void **state)
{
	static const uint8_t lengths[][2] = {{0xff, 0xff}, {0x1c, 0x00}, {0x00, 0x08}};

	for (unsigned i = 0; i < 3; i++) {
		struct cap_maker m;
		size_t at;
		char *text;

		cap_maker_init(&m);
		running(&m);
		at = m.len + RECORD + 14 + 20 + 20;
		cap_maker_send(&m, 0, 2, 10);
		assert_int_equal(m.bytes[at + 1], 0x1c);
		memcpy(m.bytes + at, lengths[i], 2);
		for (uint32_t k = 0; k < 20; k++) {
			cap_maker_read_request(&m, 0, 1 + k, 8);
			cap_maker_read_response(&m, 1, 0x100, 8);
		}
		cap_maker_read_request(&m, 0, 30, 8);
		cap_maker_fin(&m, 0);
		text = told(&m);
		assert_int_equal(count(text, "violation:"), 2);
		assert_int_equal(count(text, "violation: frame 8, "), 1);
		assert_int_equal(count(text, "MSN 30 on queue 1; 21 is due"), 1);
		assert_int_equal(count(text, "it looks little-endian"), i == 1);
		free(text);
		cap_maker_free(&m);
	}
}

/* One number is wrong, and all behind it is as it would be without: that is one finding. */
static void test_wrong_once(void **state)
{
	static const struct {
		const char *fpdus[5], *finding;
	} faults[] = {
		{{">" SEND("00000009") "aa", ">" SEND("00000003") "bb", ">" SEND("00000004") "cc"},
			"MSN 9 on queue 0; 2 is due"},
		/* It goes on from there. */
		{{">" SEND("00000009") "aa", ">" SEND("0000000a") "bb", ">" SEND("0000000b") "cc"},
			"MSN 9 on queue 0; 2 is due"},
		{{"> 0143 00000000 00000000 00000009 00000000 aaaa",
			 "> 4143 00000000 00000000 00000002 00000002 aaaa",
			 ">" SEND("00000003") "bb"},
			"MSN 9 on queue 0; 2 is due"},
		{{"> 0143 00000000 00000000 00000002 00000000 aaaa",
			 "> 0143 00000000 00000000 00000002 00000008 aaaa",
			 "> 4143 00000000 00000000 00000002 00000004 aaaa",
			 ">" SEND("00000003") "bb"},
			"MO 8 on queue 0; 2 is due"},
		{{"> 0144 00000005 00000000 00000002 00000000 aaaa",
			 "> 0144 00000006 00000000 00000002 00000002 aaaa",
			 "> 4144 00000005 00000000 00000002 00000004 aaaa"},
			"in the same message"},
		{{"> 8140 00000011 0000000000000100 aaaa", "> 8140 00000012 0000000000000102 aaaa",
			 "> c140 00000011 0000000000000104 aaaa"},
			"STag 0x12, in the same message"},
		{{"> 8140 00000011 0000000000000100 aaaa", "> 8140 00000011 0000000000000108 aaaa",
			 "> c140 00000011 0000000000000104 aaaa"},
			"TO 0x108; 0x102 is due"},
		{{"< " READ("00000001") "00000011 0000000000000100 00000006 00000022 "
					"0000000000000000",
			 "> 8142 00000012 0000000000000100 aaaa",
			 "> 8142 00000011 0000000000000102 aaaa",
			 "> c142 00000011 0000000000000104 aaaa"},
			"STag 0x12; the Read of frame 8"},
		{{"< " READ("00000001") "00000011 0000000000000100 00000006 00000022 "
					"0000000000000000",
			 "> 8142 00000011 0000000000000100 aaaa",
			 "> 8142 00000011 0000000000000108 aaaa",
			 "> c142 00000011 0000000000000104 aaaa"},
			"TO 0x108; 0x102 is due"},
	};

	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct cap_maker m;
		char *text;

		cap_maker_init(&m);
		running(&m);
		for (unsigned k = 0; faults[i].fpdus[k]; k++)
			fpdu(&m, faults[i].fpdus[k][0] == '<', faults[i].fpdus[k] + 1);
		text = told(&m);
		assert_int_equal(count(text, "violation:"), 1);
		assert_int_equal(count(text, faults[i].finding), 1);
		free(text);
		cap_maker_free(&m);
	}
}

static void test_meaning(void **state)
{
	struct cap_maker m;
	char *text;

	cap_maker_init(&m);
	running(&m);
	cap_maker_send(&m, 0, 0x02000000, 4);
	cap_maker_read_request(&m, 0, 3, 8);
	text = told(&m);
	assert_non_null(strstr(text, "MSN 33554432 on queue 0; 2 is due: it looks little-endian"));
	assert_non_null(strstr(text, "MSN 3 on queue 1; 1 is due: it is counted over all queues"));
	free(text);
	cap_maker_free(&m);
}

/* ---- damage --------------------------------------------------------------------------------- */

/* The last frame again, as it was sent: first is that which came, with another bit. */
static void damage_last(struct cap_maker *m, size_t at, bool again)
{
	uint8_t copy[512];
	size_t n = m->len - at;
	struct cap_maker here = *m;

	assert_true(n <= sizeof copy);
	memcpy(copy, m->bytes + at, n);
	m->bytes[m->len - 8] ^= 0x10;
	if (!again)
		return;
	/* Room comes from a packet of the same size. */
	cap_maker_packet(m, 0, 0, 0, 0, copy, n - RECORD - 54);
	memcpy(m->bytes + here.len, copy, n);
}

static void damaged(struct cap_maker *m, bool crc, bool again, uint32_t next)
{
	size_t at;

	m->sums = true;
	m->crc = crc;
	running(m);
	at = m->len;
	cap_maker_send(m, 0, 2, 40);
	damage_last(m, at, again);
	cap_maker_send(m, 0, next, 40);
	acks(m);
}

/* Whatever is wrong in a segment whose checksum is wrong was not sent so. */
static void test_damaged(void **state)
{
	static const struct follow_config config;

	for (unsigned i = 0; i < 8; i++) {
		bool crc = i & 1, again = i & 2, wrong = i & 4;
		char ids[CHECK_IDS_LEN], *text;
		struct cap_maker m;

		cap_maker_init(&m);
		damaged(&m, crc, again, wrong ? 9 : 3);
		check_found(&m, &config, ids);
		/* What is lost with it may have been the one before. */
		assert_string_equal(ids, wrong && again ? "DDP-4.3-8" : "");
		text = told(&m);
		assert_int_equal(count(text, "frame 8, 0.000007 s"), 1);
		assert_int_equal(count(text, "the TCP checksum is wrong"), 1);
		assert_int_equal(count(text, "in no frame"), !again);
		free(text);
		cap_maker_free(&m);
	}
}

/* Where no checksum was right before, a segment is read, and nothing of it is said against it. */
static void test_damaged_alone(void **state)
{
	struct cap_maker m;
	char *text;
	size_t at;

	cap_maker_init(&m);
	running(&m);
	at = m.len;
	m.sums = true;
	cap_maker_send(&m, 0, 2, 40);
	damage_last(&m, at, false);
	cap_maker_send(&m, 0, 3, 40);
	text = told(&m);
	assert_int_equal(count(text, "violation:"), 0);
	assert_int_equal(count(text, "the FPDU is not judged"), 1);
	free(text);
	cap_maker_free(&m);
}

/* Checksums that are all wrong were never meant: what is wrong is the sender's. */
static void test_sums_never_right(void **state)
{
	struct cap_maker m;
	char *text;
	size_t at;

	cap_maker_init(&m);
	at = m.len;
	running(&m);
	for (unsigned i = 0; i < 20; i++)
		cap_maker_packet(&m, 0, m.seq[0], m.seq[1], 0x10, NULL, 0);
	cap_maker_send(&m, 0, 2, 40);
	m.bytes[m.len - 1] ^= 1;
	for (; at < m.len; at += RECORD + load_le32(m.bytes + at + 8))
		m.bytes[at + RECORD + 34 + 16] = 0x77;
	text = told(&m);
	assert_int_equal(count(text, "violation:"), 1);
	assert_int_equal(count(text, "MPA-4.4-11"), 1);
	free(text);
	cap_maker_free(&m);
}

/* The same over and over is told three times, and counted. */
static void test_repeated(void **state)
{
	struct cap_maker m;
	char *text;

	cap_maker_init(&m);
	running(&m);
	for (unsigned i = 0; i < 20; i++)
		fpdu(&m, 0, "4140 00000000 00000000 00000002 00000000");
	text = told(&m);
	assert_int_equal(count(text, "violation:"), 3);
	assert_int_equal(count(text, "20 times in all: RDMAP-5.1-1"), 1);
	free(text);
	cap_maker_free(&m);
}

/* What has no end when the connection ends. */
static void test_unfinished(void **state)
{
	struct cap_maker m;
	char *text;

	cap_maker_init(&m);
	running(&m);
	cap_maker_read_request(&m, 0, 1, 100);
	fpdu(&m, 1, "8142 00000011 0000000000000100 0102030405060708");
	fpdu(&m, 0, "0143 00000000 00000000 00000002 00000000 aabbcc");
	cap_maker_fin(&m, 0);
	cap_maker_fin(&m, 1);
	text = told(&m);
	assert_non_null(
		strstr(text, "1 Reads and Atomic Operations have no answer; the first is of "
			     "frame 8, with 8 of 100 octets"));
	assert_non_null(strstr(text, "the last message of queue 0 has no segment with L"));
	assert_non_null(strstr(text, "the last tagged message has no segment with L"));
	assert_int_equal(count(text, "violation:"), 0);
	free(text);
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_joined_in_payload),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_meaning),
		cmocka_unit_test(test_wrong_once),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_damaged_alone),
		cmocka_unit_test(test_sums_never_right),
		cmocka_unit_test(test_unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
