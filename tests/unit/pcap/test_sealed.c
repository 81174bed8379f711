/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections inside of TLS 1.3, opened with a key log: whole, cut, with holes, and not ours. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/bytes.h"
#include "pcap/check.h"
#include "pcap/follow.h"
#include "support/cap_bytes.h"
#include "support/cap_maker.h"
#include "tls/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** What is made: MPA's text by one maker, and with records around it by another. */
static struct {
	struct cap_maker clear, sealed;
	size_t done; /**< of the clear one's file */
	struct tls_direction keys[2];
	uint8_t secret[2][TLS_SECRET_MAX];
	const struct tls_suite *suite;
	uint32_t cut;                 /**< text of a segment; 0: a record each */
	uint32_t skip[2];             /**< this record of a side is not captured, from 1 */
	uint32_t count[2];            /**< records of a side */
	bool no_syn, no_hello;        /**< are not captured */
	bool skip_next;               /**< the next record is not captured */
	bool ticket_cut, ticket_lost; /**< the server's first record with the application's keys */
	bool tickets;                 /**< there is another before it, whole */
	bool request_first;           /**< the client's Request is before them */
} make;

static struct keylog_secrets secrets;
static struct keylog log_of = {.list = &secrets, .n = 1, .cap = 1};
static struct keylog *log_in_use = &log_of;

/* ---- making --------------------------------------------------------------------------------- */

static void text(unsigned side, const uint8_t *bytes, size_t len, bool captured)
{
	size_t piece = make.cut != 0 ? make.cut : len;

	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		if (captured)
			cap_maker_text(&make.sealed, side, bytes + at, n);
		else
			make.sealed.seq[side] += (uint32_t)n;
	}
}

static void hello(unsigned side, uint8_t type)
{
	uint8_t record[TLS_HEADER_LEN + 60] = {TLS_HANDSHAKE, 3, 3, 0, 60, type, 0, 0, 56, 3, 3};

	memset(record + 11, 0x55 + type, 32);
	if (type == 2)
		store_be16(record + 44, make.suite->id);
	text(side, record, sizeof record, type != 1 || !make.no_hello);
}

static void record(unsigned side, uint8_t type, const void *bytes, uint32_t len)
{
	uint8_t room[TLS_CONTENT_MAX + TLS_RECORD_OVERHEAD];

	memcpy(room + TLS_HEADER_LEN, bytes, len);
	assert_true(tls_record_seal(&make.keys[side], room, type, len));
	text(side, room, len + TLS_RECORD_OVERHEAD,
		++make.count[side] != make.skip[side] && !make.skip_next);
}

static void key(unsigned side)
{
	assert_true(tls_direction_key(&make.keys[side], make.suite, make.secret[side], true));
}

static void begin(uint16_t suite)
{
	memset(&make, 0, sizeof make);
	cap_maker_init(&make.clear);
	cap_maker_init(&make.sealed);
	make.clear.crc = false;
	make.suite = tls_suite_find(suite);
	memset(secrets.random, 0x56, sizeof secrets.random);
	for (unsigned i = 0; i < 2; i++) {
		memset(make.secret[i], 0x10 + (int)i, TLS_SECRET_MAX);
		memcpy(secrets.secret[i], make.secret[i], TLS_SECRET_MAX);
		secrets.len[i] = make.suite->secret_len;
	}
}

static void tickets(void)
{
	static const uint8_t ticket[] = {TLS_NEW_SESSION_TICKET, 0, 0, 2, 9, 9};

	if (make.tickets)
		record(1, TLS_HANDSHAKE, ticket, sizeof ticket);
	make.sealed.snap = make.ticket_cut ? 70 : 0;
	make.skip_next = make.ticket_lost;
	record(1, TLS_HANDSHAKE, ticket, sizeof ticket);
	make.sealed.snap = 0;
	make.skip_next = false;
	make.count[1] = 0;
}

static void handshake(void)
{
	static const uint8_t finished[] = {20, 0, 0, 4, 1, 2, 3, 4};
	static const uint8_t change[] = {TLS_CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1};
	uint8_t other[TLS_SECRET_MAX] = {1, 2, 3};

	if (!make.no_syn) {
		cap_maker_handshake(&make.sealed);
	} else {
		make.sealed.seq[0]++;
		make.sealed.seq[1]++;
	}
	cap_maker_handshake(&make.clear);
	make.done = make.clear.len;
	hello(0, 1);
	hello(1, 2);
	text(1, change, sizeof change, true);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(tls_direction_key(&make.keys[!i], make.suite, other, true));
		record(!i, TLS_HANDSHAKE, finished, sizeof finished);
		make.count[!i] = 0;
		key(!i);
	}
	if (!make.request_first)
		tickets();
}

/** What was made in the clear since, @p per segments in a record. */
static void seal(unsigned per)
{
	uint8_t together[8192];
	uint32_t len = 0, n = 0;
	unsigned from = 0;

	while (make.done < make.clear.len) {
		const uint8_t *frame = make.clear.bytes + make.done + 16;
		uint32_t here = load_le32(frame - 8), text_len = here - 54;
		unsigned side = frame[14 + 15] - 1;

		if (n != 0 && (side != from || n == per)) {
			record(from, TLS_APPLICATION_DATA, together, len);
			len = n = 0;
		}
		memcpy(together + len, frame + 54, text_len);
		len += text_len;
		from = side;
		n++;
		make.done += 16 + here;
	}
	if (n != 0)
		record(from, TLS_APPLICATION_DATA, together, len);
}

static void start(void)
{
	handshake();
	cap_maker_request(&make.clear);
	if (make.request_first) {
		seal(1);
		tickets();
	}
	cap_maker_reply(&make.clear);
	cap_maker_send(&make.clear, 0, 1, 20);
	cap_maker_send(&make.clear, 1, 1, 30);
	seal(1);
}

static void sends(unsigned from, unsigned to)
{
	for (unsigned msn = from; msn < to; msn++)
		cap_maker_send(&make.clear, 0, msn, msn);
}

static void end(void)
{
	static const uint8_t notify[] = {TLS_ALERT_WARNING, TLS_ALERT_CLOSE_NOTIFY};

	for (unsigned i = 0; i < 2; i++) {
		record(i, TLS_ALERT, notify, sizeof notify);
		cap_maker_fin(&make.sealed, i);
		tls_direction_clear(&make.keys[i]);
	}
}

/* ---- reading -------------------------------------------------------------------------------- */

static struct {
	unsigned connections, starts, fpdus[2], lost, missing, fins;
	size_t rest;
	uint64_t connections_sealed, tried, headless, unopened;
	unsigned violations;
} seen;

static void on_opened(void *user, struct connection *c)
{
	seen.connections++;
}

static void on_start(void *user, struct connection *c, struct stream *s)
{
	assert_null(s->start.error);
	seen.starts++;
}

static void on_fpdu(void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	assert_false(f->result != MPA_DEFRAME_GOOD);
	seen.fpdus[stream_side(s)]++;
}

static void on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	seen.lost++;
}

static void on_missing(void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	seen.missing++;
}

static void on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	seen.fins++;
	seen.rest += rest;
}

static void follow_made(const struct connection_ops *ops, void *user)
{
	struct follow_config config = {.keylog = log_in_use};
	struct cap_error e = {""};
	struct cap_file *c = cap_open_bytes(make.sealed.bytes, make.sealed.len, &e);
	struct follow w;

	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, ops, user), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	seen.connections_sealed = w.shared.sealed;
	seen.tried = w.shared.tried;
	seen.headless = w.shared.headless;
	seen.unopened = w.shared.unopened;
	assert_int_equal(w.memory, 0);
	cap_close(c);
}

/** Read what was made, and let the checker judge it. */
static void look(void)
{
	static const struct connection_ops ops = {.opened = on_opened,
		.start = on_start,
		.fpdu = on_fpdu,
		.lost = on_lost,
		.missing = on_missing,
		.fin = on_fin};
	struct check k = {.report = {.out = fopen("/dev/null", "w"), .all = true}};

	memset(&seen, 0, sizeof seen);
	assert_non_null(k.report.out);
	follow_made(&ops, NULL);
	follow_made(&check_ops, &k);
	seen.violations = (unsigned)k.report.violations;
	fclose(k.report.out);
	cap_maker_free(&make.clear);
	cap_maker_free(&make.sealed);
}

static void expect_all(unsigned client, unsigned server)
{
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.starts, 2);
	assert_int_equal(seen.fpdus[0], client);
	assert_int_equal(seen.fpdus[1], server);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(seen.missing, 0);
	assert_int_equal(seen.fins, 2);
	assert_int_equal(seen.rest, 0);
	assert_int_equal(seen.violations, 0);
	assert_int_equal(seen.connections_sealed, 0);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void all_suites_are_opened(void **state)
{
	for (uint16_t suite = 0x1301; suite <= 0x1303; suite++) {
		begin(suite);
		start();
		sends(2, 60);
		seal(1);
		end();
		look();
		expect_all(59, 1);
	}
}

static void records_lie_as_they_like(void **state)
{
	static const uint32_t cuts[] = {1, 3, 6, 100, 1460};

	for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
		for (unsigned per = 1; per < 5; per++) {
			begin(0x1301);
			make.cut = cuts[i];
			start();
			sends(2, 30);
			seal(per);
			end();
			look();
			expect_all(29, 1);
		}
}

static void keys_change(void **state)
{
	static const uint8_t update[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};

	begin(0x1302);
	start();
	for (unsigned i = 0; i < 3; i++) {
		record(0, TLS_HANDSHAKE, update, sizeof update);
		assert_true(tls_suite_next_secret(make.suite, make.secret[0]));
		key(0);
		sends(2 + 10 * i, 12 + 10 * i);
		seal(1);
	}
	end();
	look();
	expect_all(31, 1);
}

static void a_hole_is_no_fault(void **state)
{
	for (unsigned skip = 3; skip < 20; skip++) {
		begin(0x1301);
		make.skip[0] = skip;
		start();
		sends(2, 60);
		seal(1);
		/* The peer has it all. */
		cap_maker_send(&make.clear, 1, 2, 10);
		seal(1);
		end();
		look();
		assert_int_equal(seen.connections, 1);
		assert_int_equal(seen.violations, 0);
		assert_true(seen.missing != 0);
		/* What is behind it is found again: without CRCs that takes some FPDUs. */
		assert_true(seen.fpdus[0] >= 57);
		assert_int_equal(seen.fpdus[1], 2);
	}
}

/** What comes between two parts of an FPDU, of which the first may be cut or padded. */
enum between { TICKET_CUT, PADDED_CUT, UPDATE_CUT, BETWEENS };

/** RFC 8446 section 5.4: a record is as long as its sender likes. */
static void padded(unsigned side, const void *bytes, uint32_t len, uint32_t pad)
{
	uint8_t content[2048] = {0};

	memcpy(content, bytes, len);
	content[len] = TLS_APPLICATION_DATA;
	record(side, 0, content, len + 1 + pad);
}

/** The server's second message, which is to be sealed in parts. @return its length. */
static uint32_t take_long_one(uint8_t fpdu[2048])
{
	uint32_t len;

	cap_maker_send(&make.clear, 1, 2, 1500);
	len = (uint32_t)(make.clear.len - make.done - 16 - 54);
	memcpy(fpdu, make.clear.bytes + make.done + 16 + 54, len);
	make.done = make.clear.len;
	return len;
}

static void send_with(enum between what)
{
	static const uint8_t update[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};
	static const uint8_t ticket[200] = {TLS_NEW_SESSION_TICKET, 0, 0, 196};
	uint8_t fpdu[2048];
	uint32_t len;

	len = take_long_one(fpdu);
	make.sealed.snap = what == PADDED_CUT ? 80 : 0;
	padded(1, fpdu, 900, what == PADDED_CUT ? 64 : 0);
	make.sealed.snap = what == TICKET_CUT ? 80 : what == UPDATE_CUT ? 70 : 0;
	if (what == TICKET_CUT)
		record(1, TLS_HANDSHAKE, ticket, sizeof ticket);
	if (what == UPDATE_CUT) {
		record(1, TLS_HANDSHAKE, update, sizeof update);
		assert_true(tls_suite_next_secret(make.suite, make.secret[1]));
		key(1);
	}
	make.sealed.snap = 0;
	padded(1, fpdu + 900, len - 900, 0);
}

static void what_a_cut_record_has_is_not_known(void **state)
{
	for (unsigned what = 0; what < BETWEENS; what++) {
		begin(0x1301);
		make.clear.crc = true;
		start();
		send_with(what);
		for (unsigned msn = 3; msn < 30; msn++)
			cap_maker_send(&make.clear, 1, msn, 40);
		seal(1);
		cap_maker_send(&make.clear, 0, 2, 10);
		seal(1);
		end();
		look();
		assert_int_equal(seen.connections, 1);
		assert_int_equal(seen.violations, 0);
		assert_int_equal(seen.fpdus[0], 2);
		/* What is behind it is found again. */
		assert_true(seen.fpdus[1] >= 28);
	}
}

/** Of an FPDU in three records, two with others between them that have no text. */
static void what_has_no_text_takes_none_away(void **state)
{
	static const uint8_t ticket[] = {TLS_NEW_SESSION_TICKET, 0, 0, 2, 9, 9};
	uint8_t fpdu[2048];
	uint32_t len;

	begin(0x1301);
	make.clear.crc = true;
	start();
	len = take_long_one(fpdu);
	record(1, TLS_APPLICATION_DATA, fpdu, 500);
	record(1, TLS_HANDSHAKE, ticket, sizeof ticket);
	record(1, TLS_APPLICATION_DATA, fpdu, 0);
	record(1, TLS_APPLICATION_DATA, fpdu + 500, 500);
	record(1, TLS_APPLICATION_DATA, fpdu + 1000, len - 1000);
	cap_maker_send(&make.clear, 1, 3, 40);
	seal(1);
	end();
	look();
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.violations, 0);
	assert_int_equal(seen.fpdus[1], 3);
}

/** The second of two tickets, where the first has shown the keys, and one behind the Request. */
static void a_ticket_that_is_cut_hides_nothing(void **state)
{
	for (unsigned first = 0; first < 2; first++) {
		begin(0x1301);
		make.clear.crc = true;
		make.tickets = make.ticket_cut = true;
		make.request_first = first != 0;
		start();
		sends(2, 10);
		seal(1);
		end();
		look();
		assert_int_equal(seen.connections, 1);
		assert_int_equal(seen.starts, 2);
		assert_int_equal(seen.violations, 0);
		assert_int_equal(seen.fpdus[0], 9);
		assert_int_equal(seen.fpdus[1], 1);
	}
}

/** The first record with the application's keys is not there, or not whole. */
static void the_first_record_may_be_missing(void **state)
{
	for (unsigned lost = 0; lost < 3; lost++)
		for (unsigned broken = 0; broken < 2; broken++) {
			begin(0x1302);
			make.clear.crc = true;
			make.ticket_cut = lost == 1;
			make.ticket_lost = lost == 2;
			start();
			sends(2, 10);
			cap_maker_send(&make.clear, 1, 2 + 3 * broken, 30);
			seal(1);
			end();
			look();
			assert_int_equal(seen.connections, 1);
			assert_int_equal(seen.starts, 2);
			assert_int_equal(seen.fpdus[1], 2);
			assert_int_equal(seen.violations, broken);
		}
}

/** The Reply is not there: what is behind it is no wrong key. */
static void a_lost_reply_is_no_fault(void **state)
{
	begin(0x1301);
	make.clear.crc = true;
	make.ticket_lost = true;
	make.skip[1] = 1;
	start();
	for (unsigned msn = 2; msn < 10; msn++)
		cap_maker_send(&make.clear, 1, msn, 40);
	sends(2, 10);
	seal(1);
	end();
	look();
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.violations, 0);
	assert_true(seen.fpdus[1] >= 8);
}

static void keys_change_in_a_hole(void **state)
{
	static const uint8_t update[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};

	/* With the cut records' headers, and without. */
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t lost = i / 2;

		begin(0x1303);
		make.clear.crc = true;
		start();
		record(0, TLS_HANDSHAKE, update, sizeof update);
		assert_true(tls_suite_next_secret(make.suite, make.secret[0]));
		key(0);
		make.sealed.snap = i % 2 != 0 ? 60 : 56;
		sends(2, 2 + lost);
		seal(1);
		make.sealed.snap = 0;
		sends(2 + lost, 40);
		seal(1);
		end();
		look();
		assert_int_equal(seen.connections, 1);
		assert_int_equal(seen.violations, 0);
		assert_int_equal(seen.fpdus[0], 39 - lost);
	}
}

/** Records that no key opens cost a bounded time, whatever is missing before them. */
static void tries_are_bounded(void **state)
{
	static uint8_t closed[TLS_HEADER_LEN + 16000] = {
		TLS_APPLICATION_DATA, 3, 3, 16000 >> 8, 16000 & 0xff};
	uint64_t captured;

	begin(0x1301);
	start();
	make.sealed.seq[0] += 1 << 20;
	for (unsigned i = 0; i < 200; i++)
		text(0, closed, sizeof closed, true);
	end();
	captured = make.sealed.len;
	look();
	assert_true(seen.tried <= (4u << 20) + 32 * captured);
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.violations, 0);
}

/** Connections have no more tries together than one, and take none that another has paid for. */
static void tries_of_many_are_bounded(void **state)
{
	static uint8_t closed[TLS_HEADER_LEN + 16000] = {
		TLS_APPLICATION_DATA, 3, 3, 16000 >> 8, 16000 & 0xff};
	uint64_t captured;

	begin(0x1301);
	for (unsigned i = 0; i < 20; i++) {
		handshake();
		make.sealed.seq[0] += 1 << 20;
		text(0, closed, sizeof closed, true);
		end();
		make.sealed.seq[0] += 1 << 20;
		make.sealed.seq[1] += 1 << 20;
	}
	start();
	sends(2, 30);
	seal(1);
	end();
	captured = make.sealed.len;
	look();
	assert_true(seen.tried > 4u << 20);
	assert_true(seen.tried <= (4u << 20) + 32 * captured);
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.fpdus[0], 29);
	assert_int_equal(seen.violations, 0);
}

static void what_the_snap_length_cut_is_no_fault(void **state)
{
	begin(0x1303);
	start();
	make.sealed.snap = 80;
	sends(2, 60);
	seal(1);
	make.sealed.snap = 0;
	cap_maker_send(&make.clear, 1, 2, 10);
	seal(1);
	end();
	look();
	assert_int_equal(seen.connections, 1);
	assert_int_equal(seen.violations, 0);
	assert_int_equal(seen.fpdus[1], 2);
	assert_true(seen.missing != 0);
}

static void other_secrets_open_nothing(void **state)
{
	begin(0x1301);
	start();
	end();
	secrets.random[0] = 0;
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.connections_sealed, 1);
	begin(0x1301);
	start();
	end();
	secrets.secret[0][0] ^= 1;
	secrets.secret[1][0] ^= 1;
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.unopened, 1);
}

/** A log with other secrets for the same random, too, and with those of each side in a line. */
static void secrets_may_contradict_each_other(void **state)
{
	for (unsigned right = 0; right < 4; right++) {
		struct keylog_secrets list[4];
		struct keylog several = {.list = list, .n = 4, .cap = 4};

		begin(0x1301);
		start();
		end();
		for (unsigned i = 0; i < 4; i++) {
			list[i] = secrets;
			list[i].secret[0][0] ^= i == right ? 0 : 1 + i;
			list[i].secret[1][0] ^= i == 3 - right ? 0 : 1 + i;
		}
		log_in_use = &several;
		look();
		log_in_use = &log_of;
		expect_all(1, 1);
		assert_int_equal(seen.unopened, 0);
	}
}

/** Secrets that are written while it is read. */
static void a_log_may_grow(void **state)
{
	char path[] = "/tmp/uiwarp-keylog-XXXXXX";
	struct keylog grows = {.path = path};
	int file = mkstemp(path);
	FILE *out;

	assert_true(file >= 0);
	out = fdopen(file, "w");
	assert_non_null(out);
	begin(0x1301);
	start();
	end();
	for (unsigned side = 0; side < 2; side++) {
		fprintf(out, "%s_TRAFFIC_SECRET_0 ", side == 0 ? "CLIENT" : "SERVER");
		for (unsigned i = 0; i < KEYLOG_RANDOM_LEN; i++)
			fprintf(out, "%02x", secrets.random[i]);
		fputc(' ', out);
		for (unsigned i = 0; i < secrets.len[side]; i++)
			fprintf(out, "%02x", secrets.secret[side][i]);
		fputc('\n', out);
	}
	assert_int_equal(fclose(out), 0);
	log_in_use = &grows;
	look();
	log_in_use = &log_of;
	expect_all(1, 1);
	keylog_free(&grows);
	unlink(path);
}

static void it_may_begin_with_its_client_hello(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		begin(0x1301);
		make.no_syn = true;
		make.no_hello = server != 0;
		start();
		end();
		look();
		if (server == 0)
			expect_all(1, 1);
		else
			assert_int_equal(seen.connections, 0);
	}
	/* Its SYN is there and the ClientHello is not. */
	begin(0x1301);
	make.no_hello = true;
	start();
	end();
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.headless, 1);
}

/** From some octet on the client's text is nonsense: nothing is blamed for it, or read from it. */
static void nonsense_is_passed_over(void **state)
{
	uint8_t nonsense[3000];

	for (unsigned i = 0; i < 40; i++) {
		srandom(i);
		for (size_t at = 0; at < sizeof nonsense; at++)
			nonsense[at] = (uint8_t)random();
		begin(0x1301);
		start();
		nonsense[0] = (uint8_t)(20 + i % 5);
		nonsense[1] = 3;
		nonsense[3] = (uint8_t)(i % 3 * 4);
		make.cut = 1 + i * 97;
		text(0, nonsense, sizeof nonsense, true);
		make.cut = 0;
		end();
		look();
		assert_int_equal(seen.fpdus[0], 1);
		assert_int_equal(seen.violations, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_suites_are_opened),
		cmocka_unit_test(records_lie_as_they_like),
		cmocka_unit_test(keys_change),
		cmocka_unit_test(a_hole_is_no_fault),
		cmocka_unit_test(what_a_cut_record_has_is_not_known),
		cmocka_unit_test(what_has_no_text_takes_none_away),
		cmocka_unit_test(a_ticket_that_is_cut_hides_nothing),
		cmocka_unit_test(the_first_record_may_be_missing),
		cmocka_unit_test(a_lost_reply_is_no_fault),
		cmocka_unit_test(keys_change_in_a_hole),
		cmocka_unit_test(tries_are_bounded),
		cmocka_unit_test(tries_of_many_are_bounded),
		cmocka_unit_test(what_the_snap_length_cut_is_no_fault),
		cmocka_unit_test(other_secrets_open_nothing),
		cmocka_unit_test(secrets_may_contradict_each_other),
		cmocka_unit_test(a_log_may_grow),
		cmocka_unit_test(it_may_begin_with_its_client_hello),
		cmocka_unit_test(nonsense_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
