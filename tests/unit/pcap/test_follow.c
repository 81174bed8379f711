/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"

#include "support/cap_maker.h"

#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "rdmap/rdmap_wire.h"
#include "support/cap_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/** What was told, in short: O(pened), R(equest), P (reply), F(PDU) with > or <, and so on. */
struct heard {
	char text[512];
	size_t len;
	unsigned connections, good, bad, unseen, unaligned, evicted;
	enum connection_end how;
};

static void say(struct heard *h, char what)
{
	if (h->len < sizeof h->text - 1)
		h->text[h->len++] = what;
}

static void on_opened(void *user, struct connection *c)
{
	struct heard *h = user;

	h->connections++;
	say(h, 'O');
}

static void on_start(void *user, struct connection *c, struct stream *s)
{
	say(user, s->start.error != NULL ? 'E' : s->start.kind == MPA_FRAME_REQUEST ? 'R' : 'P');
}

static void on_fpdu(void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct heard *h = user;

	say(h, stream_side(s) == 0 ? '>' : '<');
	h->good += f->result == MPA_DEFRAME_GOOD;
	h->bad += f->result != MPA_DEFRAME_GOOD;
	h->unseen += f->unseen;
	h->unaligned += !f->aligned;
}

static void on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	say(user, 'l');
}

static void on_found(void *user, struct connection *c, struct stream *s, uint64_t frame)
{
	say(user, 'f');
}

static void on_conflict(void *user, struct connection *c, struct stream *s, const struct piece *now,
	const struct piece *before)
{
	say(user, 'c');
}

static void on_missing(void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	say(user, p->lost ? 'm' : 's');
}

static void on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	say(user, rest == 0 ? '.' : '!');
}

static void on_closed(void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct heard *h = user;

	h->how = how;
	h->evicted += how == CONNECTION_EVICTED;
	say(h, 'C');
}

static const struct connection_ops ops = {
	.opened = on_opened,
	.start = on_start,
	.fpdu = on_fpdu,
	.lost = on_lost,
	.found = on_found,
	.conflict = on_conflict,
	.missing = on_missing,
	.fin = on_fin,
	.closed = on_closed,
};

/* Follow what was made, and free it. */
static void follow(struct cap_maker *m, const struct follow_config *config, struct heard *h)
{
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;

	assert_non_null(c);
	*h = (struct heard){.how = CONNECTION_CAPTURE_END};
	assert_int_equal(follow_init(&w, config, &ops, h), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	assert_int_equal(w.shared.budget.used, 0);
	assert_int_equal(w.open, 0);
	cap_close(c);
	cap_maker_free(m);
}

/* A capture of a connection without text so far. */
static void connected(struct cap_maker *m)
{
	cap_maker_init(m);
	cap_maker_handshake(m);
}

static void expect(struct cap_maker *m, const char *text)
{
	static const struct follow_config config;
	struct heard h;

	follow(m, &config, &h);
	assert_string_equal(h.text, text);
}

/* What is there goes on with a start-up and a Send, and is taken for that. */
static void expect_whole(struct cap_maker *m)
{
	cap_maker_request(m);
	cap_maker_reply(m);
	cap_maker_send(m, 0, 1, 10);
	expect(m, "ORP>C");
}

static void test_whole(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	cap_maker_send(&m, 1, 1, 11);
	cap_maker_fin(&m, 0);
	cap_maker_fin(&m, 1);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP><..C");
	assert_int_equal(h.good, 2);
	assert_int_equal(h.unaligned, 0);
	assert_int_equal(h.how, CONNECTION_CLOSED);
}

/* All the text of one side, octet by octet, in segments of one to fifty. */
static void test_any_segmentation(void **state)
{
	static const struct follow_config config;

	for (unsigned step = 1; step <= 50; step += step < 8 ? 1 : 7) {
		for (int markers = 0; markers < 2; markers++) {
			static uint8_t text[4096];
			struct cap_maker m;
			struct heard h;
			size_t n = 24;

			cap_maker_init(&m);
			m.markers = markers;
			cap_maker_handshake(&m);
			memcpy(text, MPA_REQUEST_KEY "\0\2\0\4\0\4\0\4", 24);
			text[16] =
				MPA_FLAG_ENHANCED | MPA_FLAG_CRC | (markers ? MPA_FLAG_MARKERS : 0);
			for (size_t at = 0; at < n; at += step)
				cap_maker_text(&m, 0, text + at, n - at < step ? n - at : step);
			cap_maker_reply(&m);
			n = cap_maker_frame(
				&m, 0, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0hi", 20, text);
			n += cap_maker_frame(
				&m, 0, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0", 18, text + n);
			for (unsigned i = 0; i < 4; i++) {
				static uint8_t send[700] = {0x41, 0x43, [13] = 3};

				n += cap_maker_frame(&m, 0, send, sizeof send, text + n);
			}
			for (size_t at = 0; at < n; at += step)
				cap_maker_text(&m, 0, text + at, n - at < step ? n - at : step);
			follow(&m, &config, &h);
			assert_string_equal(h.text, "ORP>>>>>>C");
			assert_int_equal(h.good, 6);
		}
	}
}

static void test_not_iwarp(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, "GET / HTTP/1.0", 14);
	cap_maker_text(&m, 1, "MPA ID Re", 9);
	cap_maker_text(&m, 1, "al", 2);
	expect(&m, "");
}

/* RFC 5044 section 7.1.3: the ULP may talk before. */
static void test_delayed_start(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, "hello, shall we?", 16);
	cap_maker_text(&m, 1, "yes", 3);
	expect_whole(&m);
}

static void test_without_syn(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	expect_whole(&m);
}

static void test_reject(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_request(&m);
	cap_maker_text(&m, 1, MPA_REPLY_KEY "\x20\1\0\0", 20);
	cap_maker_text(&m, 0, "so be it", 8);
	expect(&m, "ORPC");
}

static void test_bad_start(void **state)
{
	struct cap_maker m;

	connected(&m);
	cap_maker_text(&m, 0, MPA_REQUEST_KEY "\0\7\0\0", 20);
	expect(&m, "OEC");
	connected(&m);
	cap_maker_request(&m);
	cap_maker_text(&m, 1, "HTTP/1.0 400 Bad Request", 24);
	expect(&m, "OREC");
}

/* Only one direction was captured: what was negotiated is found out from the FPDUs. */
static void test_half(void **state)
{
	static const struct follow_config config;

	for (int markers = 0; markers < 2; markers++) {
		for (unsigned side = 0; side < 2; side++) {
			struct cap_maker m;
			struct heard h;

			cap_maker_init(&m);
			m.markers = markers;
			if (side == 0)
				cap_maker_request(&m);
			else
				cap_maker_reply(&m);
			for (uint32_t i = 1; i <= 5; i++)
				cap_maker_send(&m, side, i, 600);
			follow(&m, &config, &h);
			assert_string_equal(h.text, side == 0 ? "OR>>>>>C" : "OP<<<<<C");
			assert_int_equal(h.good, 5);
		}
	}
}

/* The capture begins between the request and the reply. */
static void test_request_missing(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_reply(&m);
	for (uint32_t i = 1; i <= 3; i++) {
		cap_maker_send(&m, 0, i, 60);
		cap_maker_send(&m, 1, i, 60);
	}
	follow(&m, &config, &h);
	assert_string_equal(h.text, "OP><><><C");
	assert_int_equal(h.bad, 0);
}

static void test_mid_stream(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		cap_maker_init(&m);
		m.crc = crc;
		/* In the middle of an FPDU. */
		cap_maker_text(&m, 0, "the rest of one", 15);
		for (uint32_t i = 7; i < 12; i++) {
			cap_maker_send(&m, 0, i, 60);
			cap_maker_send(&m, 1, i, 60);
		}
		follow(&m, &config, &h);
		/* Without CRCs it takes some that look right to know that there are none, and as
		 * long as there might be markers each waits for the next. */
		assert_string_equal(h.text, crc ? "Of>f<><><><><C" : "Off><><><C");
		assert_int_equal(h.bad, 0);
	}
	cap_maker_init(&m);
	cap_maker_send(&m, 0, 1, 60);
	expect(&m, "");
}

/*
 * Markers that nobody has told of, and nothing says where: in large FPDUs, which are found by them,
 * and in small ones, which mostly look as without. From every place that a capture may begin at.
 */
static void test_mid_stream_with_markers(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	static const size_t sizes[] = {30, 60, 476, 600, 1300};
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			for (unsigned at = 0; at < 512; at += 4) {
				cap_maker_init(&m);
				m.crc = crc;
				m.markers = true;
				m.at[0] = at;
				/* MSNs that are as a marker there would be; without CRCs nothing
				 * tells them from one. */
				for (uint32_t i = 0; i < 40; i++)
					cap_maker_send(&m, 0, i + (crc ? 7 : 1000), sizes[k]);
				follow(&m, &config, &h);
				assert_int_equal(h.bad, 0);
				/* Octet 4 is behind a marker that is not there; without CRCs it
				 * takes some. */
				assert_true(h.good >= (crc ? 39 + (at != 4) : 36));
				assert_null(strchr(h.text, 'l'));
			}
		}
	}
}

/* FPDUs that do not begin with a segment: only markers tell of them. */
static void test_mid_stream_unaligned(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	uint8_t ulpdu[700] = {DDP_CONTROL_LAST | DDP_VERSION, RDMAP_CONTROL(RDMAP_OP_SEND)};
	static uint8_t text[40000];
	struct cap_maker m;
	struct heard h;

	for (int crc = 0; crc < 2; crc++) {
		size_t len = 0;

		cap_maker_init(&m);
		m.crc = crc;
		m.markers = true;
		m.at[0] = 76;
		for (unsigned i = 0; i < 40; i++)
			len += cap_maker_frame(&m, 0, ulpdu, sizeof ulpdu, text + len);
		for (size_t at = 333; at < len; at += 1000)
			cap_maker_text(&m, 0, text + at, len - at < 1000 ? len - at : 1000);
		follow(&m, &config, &h);
		assert_int_equal(h.bad, 0);
		/* The first is cut, and without CRCs it takes some. */
		assert_true(h.good >= (crc ? 39 : 36));
	}
}

/* A hole in the capture: FPDUs are found again at the beginning of a segment, or by a marker. */
static void test_hole(void **state)
{
	static const struct follow_config config;

	for (int markers = 0; markers < 2; markers++) {
		struct cap_maker m;
		struct heard h;
		size_t len;

		cap_maker_init(&m);
		m.markers = markers;
		cap_maker_start(&m);
		cap_maker_send(&m, 0, 1, 800);
		len = m.len;
		cap_maker_send(&m, 0, 2, 800);
		m.len = len;
		for (uint32_t i = 3; i < 6; i++)
			cap_maker_send(&m, 0, i, 800);
		for (int i = 0; i < 40; i++)
			cap_maker_packet(&m, 1, m.seq[1], m.seq[0], 0x10, NULL, 0);
		follow(&m, &config, &h);
		assert_string_equal(h.text, "ORP>mlf>>>C");
		assert_int_equal(h.good, 4);
		assert_int_equal(h.unseen, 0);
	}
}

/* A hole within the payload of one FPDU costs its CRC, no more. */
static void test_hole_inside(void **state)
{
	static const struct follow_config config;
	uint8_t ulpdu[1000] = {0x41, 0x43, [13] = 1}, out[1600];
	struct cap_maker m;
	struct heard h;
	size_t n;

	cap_maker_init(&m);
	cap_maker_start(&m);
	n = cap_maker_frame(&m, 0, ulpdu, sizeof ulpdu, out);
	cap_maker_text(&m, 0, out, 100);
	m.seq[0] += 200;
	cap_maker_text(&m, 0, out + 300, n - 300);
	cap_maker_send(&m, 0, 2, 5);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPm>>C");
	assert_int_equal(h.unseen, 1);
}

static void test_snap_length(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	m.snap = 128;
	cap_maker_start(&m);
	for (uint32_t i = 1; i <= 3; i++)
		cap_maker_send(&m, 0, i, 500);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPs>s>s>C");
	assert_int_equal(h.unseen, 3);
}

static void test_bad_crc(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	m.bytes[m.len - 1] ^= 1;
	cap_maker_send(&m, 0, 2, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP>>C");
	assert_int_equal(h.bad, 1);
}

static void test_sent_again(void **state)
{
	struct cap_maker m;
	uint32_t seq;

	cap_maker_init(&m);
	cap_maker_start(&m);
	seq = m.seq[0];
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = seq;
	m.at[0] = 0;
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = seq;
	m.at[0] = 0;
	cap_maker_send(&m, 0, 2, 10);
	cap_maker_send(&m, 1, 1, 10);
	expect(&m, "ORP>c<C");
}

static void test_fin_in_fpdu(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_text(&m, 0, "\0\x20", 2);
	cap_maker_fin(&m, 0);
	expect(&m, "ORP!C");
}

static void test_reset(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_packet(&m, 1, m.seq[1], m.seq[0], PACKET_RST, NULL, 0);
	cap_maker_send(&m, 0, 1, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORPC");
	assert_int_equal(h.how, CONNECTION_RESET);
}

/* A RST counts where its receiver takes it (RFC 5961 section 3.2), or else nobody would need to own
 * it. */
static void test_foreign_reset(void **state)
{
	static const struct follow_config config;
	static const struct {
		uint32_t off;
		bool fin, counts;
	} resets[] = {{0, false, true}, {1, false, false}, {(uint32_t)-1, false, false},
		{0x70000000, false, false}, {1, true, true}, {2, true, false}};

	for (unsigned i = 0; i < sizeof resets / sizeof *resets; i++) {
		struct cap_maker m;
		struct heard h;
		uint32_t next;

		cap_maker_init(&m);
		cap_maker_start(&m);
		next = m.seq[1];
		if (resets[i].fin)
			cap_maker_packet(&m, 1, next, m.seq[0], PACKET_FIN | PACKET_ACK, NULL, 0);
		cap_maker_packet(&m, 1, next + resets[i].off, 0, PACKET_RST, NULL, 0);
		cap_maker_send(&m, 0, 1, 10);
		follow(&m, &config, &h);
		assert_int_equal(h.good, !resets[i].counts);
		assert_int_equal(h.how == CONNECTION_RESET, resets[i].counts);
	}
}

/* A SYN alone begins nothing; what is sent behind it does, where its answer was not captured. */
static void test_foreign_syn(void **state)
{
	struct cap_maker m;

	for (unsigned side = 0; side < 2; side++) {
		connected(&m);
		cap_maker_packet(&m, side, 0x70000000, 0, PACKET_SYN, NULL, 0);
		cap_maker_request(&m);
		cap_maker_reply(&m);
		cap_maker_packet(&m, side, 0x70000000, 0, PACKET_SYN, NULL, 0);
		cap_maker_send(&m, 0, 1, 10);
		expect(&m, "ORP>C");
	}
	cap_maker_init(&m);
	cap_maker_start(&m);
	m.seq[0] = 900000;
	m.at[0] = 0;
	cap_maker_packet(&m, 0, m.seq[0]++, 0, PACKET_SYN, NULL, 0);
	cap_maker_packet(&m, 0, m.seq[0], 700001, PACKET_ACK, NULL, 0);
	cap_maker_request(&m);
	expect(&m, "ORPCORC");
}

/* The answer to the second SYN is missing: the first one's says nothing of it. */
static void test_reused_half_seen(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_handshake(&m);
	cap_maker_packet(&m, 0, m.seq[0], 0, PACKET_RST, NULL, 0);
	m.seq[0] = 900000;
	cap_maker_packet(&m, 0, m.seq[0]++, 0, PACKET_SYN, NULL, 0);
	m.seq[1] = 0x70000001;
	cap_maker_packet(&m, 0, m.seq[0], m.seq[1], PACKET_ACK, NULL, 0);
	cap_maker_request(&m);
	cap_maker_reply(&m);
	cap_maker_send(&m, 0, 1, 10);
	expect(&m, "ORP>C");
}

/* The same addresses and ports again, with other sequence numbers. */
static void test_reused(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = 90000;
	m.seq[1] = 70000;
	m.at[0] = 0;
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP>CORP>C");
	assert_int_equal(h.connections, 2);
}

static void test_bounds(void **state)
{
	static const struct follow_config config = {.max_flows = 4, .max_connections = 2};
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	for (unsigned i = 0; i < 10; i++) {
		size_t at = m.len;

		m.seq[0] = 1000;
		m.seq[1] = 5000;
		cap_maker_start(&m);
		/* From another port. */
		while (at < m.len) {
			uint8_t *tcp = m.bytes + at + 16 + 14 + 20;
			bool from = load_be16(tcp) == 40000;

			store_be16(tcp + (from ? 0 : 2), (uint16_t)(40001 + i));
			at += 16 + load_le32(m.bytes + at + 8);
		}
	}
	follow(&m, &config, &h);
	assert_int_equal(h.connections, 10);
	assert_string_equal(h.text, "ORPORPCORPCORPCORPCORPCORPCORPCORPCORPCC");
}

/* The same bound by memory: what was idle for longest goes, a flow of something else, too. */
static void test_memory(void **state)
{
	static const struct follow_config config = {.max_memory = 6000};
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	for (unsigned i = 0; i < 10; i++) {
		size_t at = m.len;

		m.seq[0] = 1000;
		m.seq[1] = 5000;
		cap_maker_start(&m);
		while (at < m.len) {
			uint8_t *tcp = m.bytes + at + 16 + 14 + 20;
			bool from = load_be16(tcp) == 40000;

			store_be16(tcp + (from ? 0 : 2), (uint16_t)(40001 + i));
			at += 16 + load_le32(m.bytes + at + 8);
		}
	}
	follow(&m, &config, &h);
	assert_int_equal(h.connections, 10);
	assert_int_equal(h.evicted, 7);
}

/* What is not read is named, with its first frame. */
static void test_unread(void **state)
{
	static const uint8_t frame[] = "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0"
				       "\x45\0\0\x24\0\0\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
				       "\x12\x34\x17\xc1\0\x10\0\0\0\0\x65\x58\0\0\0\0";
	struct cap_frame f = {.link = 1, .bytes = frame};
	struct follow_config config = {.max_flows = 4};
	struct follow w;

	f.len = f.captured = sizeof frame - 1;
	assert_int_equal(follow_init(&w, &config, &ops, NULL), 0);
	for (f.number = 5; f.number < 8; f.number++)
		follow_frame(&w, &f);
	follow_finish(&w);
	assert_string_equal(w.counters.unread[0].name, "GENEVE");
	assert_int_equal(w.counters.unread[0].frames, 3);
	assert_int_equal(w.counters.unread[0].first, 5);
	assert_null(w.counters.unread[1].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_any_segmentation),
		cmocka_unit_test(test_not_iwarp),
		cmocka_unit_test(test_delayed_start),
		cmocka_unit_test(test_without_syn),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_bad_start),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_request_missing),
		cmocka_unit_test(test_mid_stream),
		cmocka_unit_test(test_mid_stream_with_markers),
		cmocka_unit_test(test_mid_stream_unaligned),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_hole_inside),
		cmocka_unit_test(test_snap_length),
		cmocka_unit_test(test_bad_crc),
		cmocka_unit_test(test_sent_again),
		cmocka_unit_test(test_fin_in_fpdu),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_foreign_reset),
		cmocka_unit_test(test_foreign_syn),
		cmocka_unit_test(test_reused),
		cmocka_unit_test(test_reused_half_seen),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
