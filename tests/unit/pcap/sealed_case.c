/* SPDX-License-Identifier: BSD-2-Clause */
#include "sealed_case.h"

#include "base/bytes.h"
#include "support/cap_bytes.h"

struct sealed_make make;
struct keylog_secrets secrets;
struct keylog *log_in_use;
struct sealed_seen seen;

/* ---- making --------------------------------------------------------------------------------- */

void text(unsigned side, const uint8_t *bytes, size_t len, bool captured)
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
	uint8_t bytes[TLS_HEADER_LEN + 60] = {TLS_HANDSHAKE, 3, 3, 0, 60, type, 0, 0, 56, 3, 3};

	memset(bytes + 11, 0x55 + type, 32);
	if (type == 2)
		store_be16(bytes + 44, make.suite->id);
	text(side, bytes, sizeof bytes, type != 1 || !make.no_hello);
}

void record(unsigned side, uint8_t type, const void *bytes, uint32_t len)
{
	uint8_t room[TLS_CONTENT_MAX + TLS_RECORD_OVERHEAD];

	memcpy(room + TLS_HEADER_LEN, bytes, len);
	assert_true(tls_record_seal(&make.keys[side], room, type, len));
	text(side, room, len + TLS_RECORD_OVERHEAD,
		++make.count[side] != make.skip[side] && !make.skip_next);
}

void key(unsigned side)
{
	assert_true(tls_direction_key(&make.keys[side], make.suite, make.secret[side], true));
}

void update(unsigned side)
{
	static const uint8_t message[] = {TLS_KEY_UPDATE, 0, 0, 1, 0};

	record(side, TLS_HANDSHAKE, message, sizeof message);
	assert_true(tls_suite_next_secret(make.suite, make.secret[side]));
	key(side);
}

void begin(uint16_t suite)
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

void handshake(void)
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

void seal(unsigned per)
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

void start(void)
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

void sends(unsigned from, unsigned to)
{
	for (unsigned msn = from; msn < to; msn++)
		cap_maker_send(&make.clear, 0, msn, msn);
}

void end(void)
{
	static const uint8_t notify[] = {TLS_ALERT_WARNING, TLS_ALERT_CLOSE_NOTIFY};

	for (unsigned i = 0; i < 2; i++) {
		record(i, TLS_ALERT, notify, sizeof notify);
		cap_maker_fin(&make.sealed, i);
		tls_direction_clear(&make.keys[i]);
	}
}

/* ---- reading -------------------------------------------------------------------------------- */

static void on_opened(void *user, struct connection *c)
{
	assert_true(c->id != 0);
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
	seen.closed += p->closed;
}

static void on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	seen.fins++;
	seen.rest += rest;
}

void look_at(const uint8_t *bytes, size_t len, const struct connection_ops *ops, void *user)
{
	static const struct connection_ops counting = {.opened = on_opened,
		.start = on_start,
		.fpdu = on_fpdu,
		.lost = on_lost,
		.missing = on_missing,
		.fin = on_fin};
	struct keylog log_of = {.n = 0};
	/* The memory of a large table costs more than the look, with AddressSanitizer. */
	struct follow_config config = {
		.max_flows = 16, .keylog = log_in_use ? log_in_use : &log_of};
	struct cap_error e = {""};
	struct cap_file *c = cap_open_bytes(bytes, len, &e);
	struct follow w;

	assert_non_null(c);
	assert_true(keylog_add(&log_of, &secrets));
	assert_int_equal(follow_init(&w, &config, ops ? ops : &counting, user), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	keylog_free(&log_of);
	seen.connections = (unsigned)w.shared.connections;
	seen.tried = w.shared.tried;
	memcpy(seen.unjudged, w.shared.unjudged, sizeof seen.unjudged);
	assert_int_equal(w.memory, 0);
	cap_close(c);
}

void look(void)
{
	struct check k = {.report = {.out = fopen("/dev/null", "w"), .all = true}};

	memset(&seen, 0, sizeof seen);
	assert_non_null(k.report.out);
	look_at(make.sealed.bytes, make.sealed.len, NULL, NULL);
	look_at(make.sealed.bytes, make.sealed.len, &check_ops, &k);
	seen.violations = (unsigned)k.report.violations;
	fclose(k.report.out);
	cap_maker_free(&make.clear);
	cap_maker_free(&make.sealed);
}

void expect_all(unsigned client, unsigned server)
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
	for (unsigned i = 0; i < SEALED_WHYS; i++)
		assert_int_equal(seen.unjudged[i], 0);
}
