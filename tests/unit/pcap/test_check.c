/* SPDX-License-Identifier: BSD-2-Clause */
/* Each demand that the checker judges: a capture that breaks it, and what is found. */
#include "pcap/check.h"
#include "pcap/follow.h"

#include "support/cap_maker.h"

#include "ddp/ddp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The ids found, each once, in the order of the table. */
static void check(struct cap_maker *m, const struct follow_config *config, char *ids, size_t size,
	struct check *k)
{
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;

	*k = (struct check){.report = {0}};
	assert_non_null(c);
	assert_int_equal(follow_init(&w, config, &check_ops, k), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	*ids = '\0';
	for (unsigned i = 0; i < REQUIREMENTS; i++)
		if (k->report.count[i] != 0) {
			size_t n = strlen(ids);

			snprintf(ids + n, size - n, "%s%s", n == 0 ? "" : " ",
				requirement((enum requirement_id)i)->id);
		}
}

/* ---- pieces of captures --------------------------------------------------------------------- */

/** A start-up frame; words < 0: without the enhanced words. */
static void start(struct cap_maker *m, unsigned side, const char *key, uint8_t flags,
	uint8_t revision, long ird, long ord)
{
	uint8_t p[MPA_HEADER_LEN + MPA_ENHANCED_LEN] = {0};
	bool words = ird >= 0;

	memcpy(p, key, MPA_KEY_LEN);
	p[MPA_AT_FLAGS] = flags;
	p[MPA_AT_REVISION] = revision;
	store_be16(p + MPA_AT_PD_LENGTH, words ? MPA_ENHANCED_LEN : 0);
	store_be16(p + MPA_AT_PRIVATE_DATA, (uint16_t)ird);
	store_be16(p + MPA_AT_PRIVATE_DATA + 2, (uint16_t)ord);
	cap_maker_text(m, side, p, words ? sizeof p : MPA_HEADER_LEN);
}

static void request(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord)
{
	cap_maker_handshake(m);
	start(m, 0, MPA_REQUEST_KEY, flags, revision, ird, ord);
}

static void reply(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord)
{
	start(m, 1, MPA_REPLY_KEY, flags, revision, ird, ord);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/** A ULPDU in hex; blanks count for nothing. */
static void fpdu(struct cap_maker *m, unsigned side, const char *hex)
{
	uint8_t p[256];
	size_t n = 0;

	for (; *hex != '\0'; hex++) {
		if (*hex == ' ')
			continue;
		p[n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex++;
	}
	cap_maker_fpdu(m, side, p, n);
}

/** After a good start and the first FPDU each way. */
static void running(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 4);
	cap_maker_send(m, 1, 1, 4);
}

#define SEND(msn)     "4143 00000000 00000000 " msn " 00000000 "
#define TERMINATE     "4147 00000000 00000002 00000001 00000000 "
#define READ(msn)     "4141 00000000 00000001 " msn " 00000000 "
#define ATOMIC        "414a 00000000 00000001 00000001 00000000 "
#define ATOMIC_ANSWER "414b 00000000 00000003 00000001 00000000 "
#define FETCH_ADD(id)                                                 \
	"00000000 " id " 00000022 0000000000000008 0000000000000001 " \
	"0000000000000000 0000000000000000 ffffffffffffffff"

/* ---- captures ------------------------------------------------------------------------------- */

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

/* ---- start-up */

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

/* ---- framing */

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

/* ---- DDP */

static void too_short(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4143 0000");
}

static void ddp_version(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4243 00000000 00000000 00000002 00000000");
}

static void ddp_reserved(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4543 00000000 00000000 00000002 00000000");
}

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

static void first_mo(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4143 00000000 00000000 00000002 00000004 aa");
}

static void mo_gap(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "0143 00000000 00000000 00000002 00000000 aaaa");
	fpdu(m, 0, "4143 00000000 00000000 00000002 00000004 aaaa");
}

static void other_opcode(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "0143 00000000 00000000 00000002 00000000 aaaa");
	fpdu(m, 0, "4145 00000000 00000000 00000002 00000002 aaaa");
}

static void other_stag(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "8140 00000011 0000000000000100 aaaa");
	fpdu(m, 0, "c140 00000012 0000000000000102 aaaa");
}

static void to_gap(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "8140 00000011 0000000000000100 aaaa");
	fpdu(m, 0, "c140 00000011 0000000000000104 aaaa");
}

static void tagged_mixed(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 1, 1, 4);
	fpdu(m, 0, "8140 00000011 0000000000000100 aaaa");
	fpdu(m, 0, "c142 00000011 0000000000000100 aaaaaaaa");
}

static void to_wrap(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "c140 00000011 ffffffffffffffff aa");
	/* The last octet of all is none too many. */
	fpdu(m, 0, "c140 00000011 fffffffffffffffe aaaa");
	fpdu(m, 0, "c140 00000011 fffffffffffffffe aaaaaa");
}

static void empty_not_last(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "0143 00000000 00000000 00000002 00000000");
}

/* ---- RDMAP */

static void rdma_version(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4183 00000000 00000000 00000002 00000000");
}

static void rdma_version_0(struct cap_maker *m)
{
	request(m, 0x40, 0, -1, 0);
	reply(m, 0x40, 0, -1, 0);
	fpdu(m, 0, "4103 00000000 00000000 00000001 00000000");
}

static void rdma_reserved(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4153 00000000 00000000 00000002 00000000");
}

static void invalidate_in_send(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4143 00000001 00000000 00000002 00000000");
}

static void opcode_12(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "414c 00000000 00000000 00000002 00000000");
}

static void write_untagged(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4140 00000000 00000000 00000002 00000000");
}

static void send_tagged(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "c143 00000011 0000000000000000");
}

static void send_on_queue_1(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4143 00000000 00000001 00000001 00000000");
}

static void send_on_queue_9(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4143 00000000 00000009 00000001 00000000");
}

static void immediate_length(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, "4148 00000000 00000000 00000002 00000000 01020304");
}

static void read_request_length(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, READ("00000001") "00000000");
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

static void stray_response(struct cap_maker *m)
{
	running(m);
	cap_maker_read_response(m, 1, 0x100, 8);
}

static void response_stag(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 2);
	fpdu(m, 1, "c142 00000012 0000000000000100 aaaa");
}

static void response_to(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 2);
	fpdu(m, 1, "c142 00000011 0000000000000110 aaaa");
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

static void response_order(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 2);
	fpdu(m, 0, READ("00000002") "00000044 0000000000000500 00000002 00000022 0000000000000000");
	fpdu(m, 1, "c142 00000044 0000000000000500 aaaa");
}

static void response_of_something(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 0);
	cap_maker_read_response(m, 1, 0x100, 1);
}

static void atomic_code(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0,
		ATOMIC "00000001 00000009 00000022 0000000000000008 0000000000000001"
		       "0000000000000000 0000000000000000 ffffffffffffffff");
}

static void atomic_id(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, ATOMIC FETCH_ADD("00000009"));
	fpdu(m, 1, ATOMIC_ANSWER "0000000a 0000000000000005");
}

static void atomic_stray(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, ATOMIC_ANSWER "0000000a 0000000000000005");
}

static void atomic_queue(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, "414b 00000000 00000000 00000002 00000000 0000000a 0000000000000005");
}

/* ---- Terminate */

static void terminate_no_such(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, TERMINATE "3301 0000");
}

static void terminate_reserved(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, TERMINATE "0000 0001");
}

static void terminate_as_siw(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	/* DDP, tagged, invalid STag would read the same both ways; a bad version does not. */
	fpdu(m, 1, TERMINATE "2106 0300 0002 c140 00000033 0000000000000200");
}

static void terminate_good_quote(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	fpdu(m, 1, TERMINATE "1100 c000 0010 c140 00000033 0000000000000200");
}

static void terminate_good_read(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 100);
	/* After 16 octets. */
	fpdu(m, 1,
		TERMINATE "0101 e000 002e " READ(
			"00000001") "00000011 0000000000000110 00000054 00000022 0000000000000010");
}

static void terminate_bad_read(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 100);
	fpdu(m, 1,
		TERMINATE "0101 e000 002e " READ(
			"00000001") "00000011 0000000000000110 00000054 00000023 0000000000000010");
}

static void terminate_no_read(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 100);
	fpdu(m, 1, TERMINATE "0101 c000 002e " READ("00000001"));
}

/* RFC 7306 section 8.2: the header of an Atomic Request is not quoted. */
static void terminate_good_atomic(struct cap_maker *m)
{
	running(m);
	fpdu(m, 0, ATOMIC FETCH_ADD("00000009"));
	fpdu(m, 1, TERMINATE "0101 c000 0046 " ATOMIC);
}

static void terminate_length(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	fpdu(m, 1, TERMINATE "1100 c000 0002 c140 00000033 0000000000000200");
}

static void terminate_untrue(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	fpdu(m, 1, TERMINATE "1100 c000 0010 c140 00000034 0000000000000200");
}

static void terminate_cut(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	fpdu(m, 1, TERMINATE "1100 c000 0010 c140");
}

static void terminate_more(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, TERMINATE "0207 0000 0000");
}

static void terminate_no_header(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, TERMINATE "1100 0000");
}

static void terminate_length_alone(struct cap_maker *m)
{
	running(m);
	fpdu(m, 1, TERMINATE "0207 8000 0010");
}

static void terminate_of_mpa(struct cap_maker *m)
{
	running(m);
	cap_maker_write(m, 0, 2);
	fpdu(m, 1, TERMINATE "2002 c000 0010 c140 00000033 0000000000000200");
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

static const struct {
	const char *name;
	void (*make)(struct cap_maker *m);
	const char *ids;
} cases[] = {
	{"good", good, ""},
	{"good, with markers", good_markers, ""},
	{"good, revision 1", good_rev1, ""},
	{"good, peer to peer", good_p2p, ""},
	{"good, rejected", good_reject, ""},
	{"a hole with Reads", hole_with_reads, ""},
	{"the reply was not captured", reply_not_seen, ""},
	{"as many Reads as may be", as_many_reads, ""},
	{"version 0 of the Consortium", rdma_version_0, ""},
	{"no key", no_key, "MPA-7.1.1-3"},
	{"two initiators", two_initiators, "MPA-7.1.1-3"},
	{"revision 3", revision_3, "MPA-7.1.1-12"},
	{"600 octets of private data", private_data_600, "MPA-7.1.1-17"},
	{"S without words", s_without_words, "MPA2-6-5"},
	{"reserved bits, revision 1", reserved_rev1, "MPA-7.1.1-11"},
	{"S in revision 1", s_in_rev1, "MPA2-6-3"},
	{"reserved bits, revision 2", reserved_rev2, "MPA2-6-1"},
	{"flags without A", flags_without_a, "MPA2-9.2-13"},
	{"A alone in a reply", reply_a_alone, "MPA2-9.2-7"},
	{"no A in a reply", reply_without_a, "MPA2-9.2-4"},
	{"A in a reply", reply_with_a, "MPA2-9.2-12"},
	{"no S in a reply", reply_plain, "MPA2-10-5"},
	{"S in a reply", reply_enhanced, "MPA2-10-6"},
	{"ORD above IRD", ord_above_ird, "MPA2-9.1-3"},
	{"IRD not negotiated", ird_unknown, "MPA2-9.1-9 MPA2-9.1-11"},
	{"a reply before the request", reply_early, "MPA-7.1.2-2"},
	{"an FPDU before the reply", fpdu_early, "MPA-7.1.2-8"},
	{"the responder begins", responder_first, "MPA-7.1.2-12"},
	{"the responder is too early", responder_too_early, "MPA-7.1.2-12"},
	{"no RTR", no_rtr, "MPA2-9.2-8"},
	{"an RTR Read of 8 octets", rtr_of_some_length, "MPA2-9.2-8"},
	{"CRC", bad_crc, "MPA-4.4-11"},
	{"pad", dirty_pad, "MPA-4.1-2"},
	{"marker", bad_marker, "MPA-4.3-10"},
	{"marker bits", marker_bits, "MPA-4.2-2 MPA-4.2-3"},
	{"a ULPDU of 64,769 octets", huge, "MPA-3-5"},
	{"after Terminate", after_terminate, "RDMAP-5.4-7"},
	{"FIN in an FPDU", cut_by_fin, "DDP-6.2.1-1"},
	{"too short", too_short, "DDP-4.4-1"},
	{"DV", ddp_version, "DDP-4.1-9"},
	{"DDP's reserved bits", ddp_reserved, "DDP-4.1-8"},
	{"first MSN", first_msn, "DDP-4.3-9"},
	{"MSN again", msn_again, "DDP-4.3-8"},
	{"first MO", first_mo, "DDP-4.3-12"},
	{"MO", mo_gap, "DDP-5.2-6"},
	{"another opcode", other_opcode, "DDP-4.3-4"},
	{"another STag", other_stag, "DDP-4.2-8"},
	{"TO", to_gap, "DDP-5.2-8"},
	{"a Read Response in a Write", tagged_mixed, "DDP-4.2-4"},
	{"TO wraps", to_wrap, "DDP-7.1-14"},
	{"an empty segment that does not end", empty_not_last, "DDP-5.2-9"},
	{"RDMA version", rdma_version, "RDMAP-4.1-9"},
	{"RDMAP's reserved bits", rdma_reserved, "RDMAP-4.1-10"},
	{"Invalidate STag in Send", invalidate_in_send, "RDMAP-4.1-11"},
	{"opcode", opcode_12, "RDMAP-4.1-6"},
	{"Write untagged", write_untagged, "RDMAP-5.1-1"},
	{"Send tagged", send_tagged, "RDMAP-5.3-1"},
	{"Send on queue 1", send_on_queue_1, "RDMAP-5.3-4"},
	{"Send on queue 9", send_on_queue_9, "RDMAP-5.3-4"},
	{"length of Immediate Data", immediate_length, "RDMAX-6.3-5"},
	{"length of a Read Request", read_request_length, "RDMAP-4.4-1"},
	{"more Reads than IRD", too_many_reads, "RDMAP-6.1-4"},
	{"a response to nothing", stray_response, "RDMAP-5.2-1"},
	{"STag of a response", response_stag, "RDMAP-4.4-2"},
	{"TO of a response", response_to, "DDP-5.2-8"},
	{"a response too short", response_short, "RDMAP-5.2.1-9"},
	{"a response too long", response_long, "RDMAP-5.2.1-9"},
	{"responses out of order", response_order, "RDMAP-5.5-10"},
	{"a response to a Read of nothing", response_of_something, "RDMAP-5.2.1-9"},
	{"atomic operation code", atomic_code, "RDMAX-4.1-1"},
	{"atomic identifier", atomic_id, "RDMAX-5.2.2-6"},
	{"an atomic response to nothing", atomic_stray, "RDMAX-5.2.1-11"},
	{"atomic response on queue 0", atomic_queue, "RDMAX-5.2.2-2"},
	{"Terminate: no such error", terminate_no_such, "RDMAP-4.8-3"},
	{"Terminate: reserved bits", terminate_reserved, "RDMAP-4.8-7"},
	{"Terminate: as siw", terminate_as_siw, "RDMAP-4.8-2 RDMAP-4.8-7 RDMAP-4.8-8"},
	{"Terminate: good quote", terminate_good_quote, ""},
	{"Terminate: good Read", terminate_good_read, ""},
	{"Terminate: bad Read", terminate_bad_read, "RDMAP-7.1-5"},
	{"Terminate: no Read header", terminate_no_read, "RDMAP-4.8-6"},
	{"Terminate: good Atomic", terminate_good_atomic, ""},
	{"Terminate: segment length", terminate_length, "RDMAP-4.8-8"},
	{"Terminate: untrue", terminate_untrue, "RDMAP-7.1-4"},
	{"Terminate: cut", terminate_cut, "RDMAP-4.8-10"},
	{"Terminate: more than it tells", terminate_more, "RDMAP-4.8-1"},
	{"Terminate: no DDP header", terminate_no_header, "RDMAP-4.8-5"},
	{"Terminate: length alone", terminate_length_alone, "RDMAP-4.8-5"},
	{"Terminate: MPA's with a header", terminate_of_mpa, "RDMAP-4.8-5"},
};

static void test_cases(void **state)
{
	static const struct follow_config config;
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cap_maker m;
		struct check k;
		char ids[512];

		cap_maker_init(&m);
		cases[i].make(&m);
		check(&m, &config, ids, sizeof ids, &k);
		if (strcmp(ids, cases[i].ids) != 0) {
			print_error("%s: found \"%s\", expected \"%s\"\n", cases[i].name, ids,
				cases[i].ids);
			failed++;
		}
		cap_maker_free(&m);
	}
	assert_int_equal(failed, 0);
}

/* Joined in the middle: numbers and Reads are taken as they come. */
static void test_mid_stream(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	struct cap_maker m;
	struct check k;
	char ids[512];

	cap_maker_init(&m);
	cap_maker_read_response(&m, 1, 0x180, 8);
	for (uint32_t i = 100; i < 110; i++) {
		cap_maker_send(&m, 0, i, 10);
		cap_maker_read_request(&m, 0, i, 8);
		cap_maker_read_response(&m, 1, 0x100, 8);
	}
	check(&m, &config, ids, sizeof ids, &k);
	assert_string_equal(ids, "");
	cap_maker_send(&m, 0, 7, 10);
	check(&m, &config, ids, sizeof ids, &k);
	assert_string_equal(ids, "DDP-4.3-8");
	cap_maker_free(&m);
}

/* Flipping any bit of an FPDU with CRC is found. */
static void test_every_bit(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	size_t from, len;
	struct check k;
	char ids[512];

	cap_maker_init(&m);
	running(&m);
	from = m.len + 16 + 14 + 20 + 20;
	cap_maker_send(&m, 0, 2, 3);
	len = m.len;
	for (size_t bit = 8 * (from + 2); bit < 8 * len; bit++) {
		m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check(&m, &config, ids, sizeof ids, &k);
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
		cmocka_unit_test(test_every_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
