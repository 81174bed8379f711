/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

#include "support/cap_bytes.h"

/* Captures in which nothing is wrong, or nothing can be known to be. */

static void good(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 100);
	cap_maker_write(m, 0, 0);
	cap_maker_read_request(m, 0, 1, 100);
	cap_maker_read_request(m, 0, 2, 0);
	/* In two segments of one message. */
	fpdu(m, 1, "8142 00000011 0000000000000100 0102030405060708");
	cap_maker_read_response(m, 1, 0x108, 92);
	cap_maker_read_response(m, 1, 0, 0);
	cap_maker_send(m, 1, 2, 33);
	fpdu(m, 0, "0143 00000000 00000000 00000002 00000000 aabbcc");
	fpdu(m, 0, "4143 00000000 00000000 00000002 00000003 ddee");
	fpdu(m, 0, "4146 00000077 00000000 00000003 00000000");
	fpdu(m, 0, "4148 00000000 00000000 00000004 00000000 0102030405060708");
	fpdu(m, 0, "414a 00000000 00000001 00000003 00000000" FETCH_ADD("00000009"));
	fpdu(m, 1, ATOMIC_ANSWER "00000009 0000000000000005");
	fpdu(m, 1, TERMINATE "0207 0000");
	cap_maker_fin(m, 1);
	cap_maker_fin(m, 0);
}

static void good_markers(struct cap_maker *m)
{
	m->markers = true;
	running(m);
	for (uint32_t i = 2; i < 40; i++)
		cap_maker_send(m, i % 2, 1 + i / 2, 13 * i);
}

static void good_rev1(struct cap_maker *m)
{
	request(m, 0x40, 1, -1, 0);
	reply(m, 0x40, 1, -1, 0);
	/* SMB Direct begins with a Read of nothing. */
	cap_maker_read_request(m, 0, 1, 0);
	cap_maker_read_response(m, 1, 0, 0);
}

static void good_p2p(struct cap_maker *m)
{
	request(m, 0x50, 2, 0x8000, 0xc000);
	reply(m, 0x50, 2, 0x8000, 0x4000);
	cap_maker_read_request(m, 0, 1, 0);
	cap_maker_read_response(m, 1, 0, 0);
	cap_maker_send(m, 1, 1, 4);
}

static void good_reject(struct cap_maker *m)
{
	request(m, 0x50, 2, 1, 1);
	reply(m, 0x70, 2, 0, 9);
	cap_maker_fin(m, 1);
}

/* ---- what was not seen is not judged */

static void drop_last(struct cap_maker *m, size_t from)
{
	m->len = from;
}

static void acks(struct cap_maker *m)
{
	for (unsigned i = 0; i < 80; i++)
		cap_maker_packet(m, i % 2, m->seq[i % 2], m->seq[!(i % 2)], 0x10, NULL, 0);
}

static void hole_with_reads(struct cap_maker *m)
{
	size_t at;

	running(m);
	cap_maker_read_request(m, 0, 1, 8);
	at = m->len;
	cap_maker_read_request(m, 0, 2, 16);
	cap_maker_send(m, 0, 2, 16);
	drop_last(m, at);
	cap_maker_read_request(m, 0, 3, 8);
	cap_maker_send(m, 0, 3, 8);
	cap_maker_read_response(m, 1, 0x100, 8);
	cap_maker_read_response(m, 1, 0x100, 16);
	cap_maker_read_response(m, 1, 0x100, 8);
	acks(m);
	cap_maker_read_request(m, 0, 4, 8);
	cap_maker_read_response(m, 1, 0x100, 8);
}

static void reply_not_seen(struct cap_maker *m)
{
	size_t at;

	cap_maker_handshake(m);
	cap_maker_request(m);
	at = m->len;
	cap_maker_reply(m);
	drop_last(m, at);
	cap_maker_send(m, 0, 1, 4);
	cap_maker_send(m, 1, 1, 4);
	acks(m);
	cap_maker_send(m, 1, 2, 4);
}

static const struct check_case cases[] = {
	{"good", good, "", {NULL}},
	{"good, with markers", good_markers, "", {NULL}},
	{"good, revision 1", good_rev1, "", {NULL}},
	{"good, peer to peer", good_p2p, "", {NULL}},
	{"good, rejected", good_reject, "", {NULL}},
	{"a hole with Reads", hole_with_reads, "", {NULL}},
	{"the reply was not captured", reply_not_seen, "", {NULL}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

/* Joined in the middle: numbers and Reads are taken as they come. */
static void test_mid_stream(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	struct cap_maker m;
	char ids[CHECK_IDS_LEN];

	cap_maker_init(&m);
	cap_maker_read_response(&m, 1, 0x180, 8);
	for (uint32_t i = 100; i < 110; i++) {
		cap_maker_send(&m, 0, i, 10);
		cap_maker_read_request(&m, 0, i, 8);
		cap_maker_read_response(&m, 1, 0x100, 8);
	}
	check_found(&m, &config, ids);
	assert_string_equal(ids, "");
	cap_maker_send(&m, 0, 7, 10);
	check_found(&m, &config, ids);
	assert_string_equal(ids, "DDP-4.3-8");
	cap_maker_free(&m);
}

/* Followed for its port alone: that nothing was found in it is no good news. */
static void test_nothing_to_judge(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};

	for (unsigned sends = 0; sends < 2; sends++) {
		struct check k = {.report = {.all = true}};
		struct cap_maker m;
		struct cap_file *c;
		struct cap_error e;
		struct follow w;
		char *said = NULL;
		size_t len;

		cap_maker_init(&m);
		for (uint32_t i = 0; i < 20; i++)
			if (sends)
				cap_maker_send(&m, 0, 100 + i, 10);
			else
				cap_maker_text(&m, 0, "\x17\3\3\0\x40 something else", 20);
		k.report.out = open_memstream(&said, &len);
		assert_non_null(k.report.out);
		c = cap_open_bytes(m.bytes, m.len, &e);
		assert_non_null(c);
		assert_int_equal(follow_init(&w, &config, &check_ops, &k), 0);
		assert_int_equal(follow_capture(&w, c, &e), CAP_END);
		assert_int_equal(fclose(k.report.out), 0);
		assert_int_equal(w.shared.connections, 1);
		assert_int_equal(strstr(said, "nothing is judged") != NULL, !sends);
		cap_close(c);
		free(said);
		cap_maker_free(&m);
	}
}

/* Flipping any bit of an FPDU with CRC is found. */
static void test_every_bit(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	size_t from, len;
	char ids[CHECK_IDS_LEN];

	cap_maker_init(&m);
	running(&m);
	from = m.len + 16 + 14 + 20 + 20;
	cap_maker_send(&m, 0, 2, 3);
	len = m.len;
	for (size_t bit = 8 * (from + 2); bit < 8 * len; bit++) {
		m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check_found(&m, &config, ids);
		assert_non_null(strstr(ids, "MPA-4.4-11"));
		m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_mid_stream),
		cmocka_unit_test(test_nothing_to_judge),
		cmocka_unit_test(test_every_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
