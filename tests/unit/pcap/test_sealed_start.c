/* SPDX-License-Identifier: BSD-2-Clause */
/* How a connection inside of TLS 1.3 begins: what of that may be missing, and its key log. */
#include "sealed_case.h"

#include "base/bytes.h"
#include "support/thorough.h"

#include <unistd.h>

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

static void other_secrets_open_nothing(void **state)
{
	begin(0x1301);
	start();
	end();
	secrets.random[0] = 0;
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.unjudged[SEALED_NO_SECRETS], 1);
	begin(0x1301);
	start();
	end();
	secrets.secret[0][0] ^= 1;
	secrets.secret[1][0] ^= 1;
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.unjudged[SEALED_NO_KEY], 1);
}

/** A log with other secrets for the same random, too, and with those of each side in a line. */
static void secrets_may_contradict_each_other(void **state)
{
	for (unsigned right = 0; right < 4; right++) {
		struct keylog several = {.n = 0};

		begin(0x1301);
		start();
		end();
		for (unsigned i = 0; i < 4; i++) {
			struct keylog_secrets s = secrets;

			s.secret[0][0] ^= i == right ? 0 : 1 + i;
			s.secret[1][0] ^= i == 3 - right ? 0 : 1 + i;
			assert_true(keylog_add(&several, &s));
		}
		log_in_use = &several;
		look();
		log_in_use = NULL;
		keylog_free(&several);
		expect_all(1, 1);
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
	log_in_use = NULL;
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
			assert_int_equal(seen.unjudged[SEALED_NO_HELLO], 1);
		assert_int_equal(seen.connections, 1 - server);
	}
	/* Its SYN is there and the ClientHello is not. */
	begin(0x1301);
	make.no_hello = true;
	start();
	end();
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.unjudged[SEALED_NO_HELLO], 1);
}

/* ---- whatever is missing -------------------------------------------------------------------- */

/** Room for frames, and for those of a start-up. */
#define FRAMES 512

/** A capture of which parts are left out. */
static struct {
	const uint8_t *record[FRAMES];
	unsigned n, start; /**< start: frames up to the first Sends */
	uint8_t *bytes;
	size_t len;
} whole;

/** Make one. @param cut as make.cut, while it starts. */
static void make_whole(uint32_t cut)
{
	size_t at = 24;

	begin(0x1301);
	make.clear.crc = true;
	make.cut = cut;
	start();
	make.cut = 0;
	whole.start = (unsigned)make.sealed.frames;
	sends(2, 10);
	for (unsigned msn = 2; msn < 10; msn++)
		cap_maker_send(&make.clear, 1, msn, 40);
	seal(1);
	end();
	for (whole.n = 0; at < make.sealed.len; at += 16 + load_le32(make.sealed.bytes + at + 8)) {
		assert_true(whole.n < FRAMES);
		whole.record[whole.n++] = make.sealed.bytes + at;
	}
	whole.bytes = malloc(make.sealed.len);
	assert_non_null(whole.bytes);
}

static void free_whole(void)
{
	free(whole.bytes);
	cap_maker_free(&make.clear);
	cap_maker_free(&make.sealed);
}

/** Begin another without some. */
static void begin_part(void)
{
	memcpy(whole.bytes, make.sealed.bytes, 24);
	whole.len = 24;
}

/** @param captured octets of it at most. */
static void take_frame(unsigned i, uint32_t captured)
{
	uint8_t *to = whole.bytes + whole.len;
	uint32_t len = load_le32(whole.record[i] + 8);

	if (len > captured)
		len = captured;
	memcpy(to, whole.record[i], 16 + len);
	store_le32(to + 8, len);
	whole.len += 16 + len;
}

/** It is judged, and nothing is wrong with it; or one sentence says that it is not, and why. */
static void expect_judged_or_named(const char *what, unsigned a, unsigned b)
{
	struct check k = {.report = {0}};
	uint64_t named = 0;

	memset(&seen, 0, sizeof seen);
	look_at(whole.bytes, whole.len, &check_ops, &k);
	for (unsigned i = 0; i < SEALED_WHYS; i++)
		named += seen.unjudged[i];
	if (seen.connections + named != 1 || k.report.violations != 0)
		fail_msg("%s %u %u: %u judged, %u named, %u violations", what, a, b,
			seen.connections, (unsigned)named, (unsigned)k.report.violations);
}

/** MPA's start-up is missing; or all is cut that is behind the hellos. */
static void what_cannot_be_judged_is_named(void **state)
{
	begin(0x1301);
	make.skip[0] = make.skip[1] = 1;
	start();
	sends(2, 10);
	seal(1);
	end();
	look();
	assert_int_equal(seen.connections, 0);
	assert_int_equal(seen.unjudged[SEALED_NO_START], 1);
	make_whole(0);
	begin_part();
	for (unsigned i = 0; i < whole.n; i++)
		take_frame(i, i < 5 ? UINT32_MAX : 70);
	expect_judged_or_named("hellos", 5, 0);
	assert_int_equal(seen.unjudged[SEALED_NO_RECORD], 1);
	free_whole();
}

static void any_frames_of_a_start_may_be_lost(void **state)
{
	make_whole(0);
	assert_true(whole.start <= 13);
	for (unsigned lost = 0; lost < 1u << whole.start; lost += THOROUGH_STEP(7)) {
		begin_part();
		for (unsigned i = 0; i < whole.n; i++)
			if (i >= whole.start || !(lost >> i & 1))
				take_frame(i, UINT32_MAX);
		expect_judged_or_named("lost", lost, 0);
	}
	free_whole();
}

static void any_frame_of_a_start_may_be_cut(void **state)
{
	make_whole(0);
	for (unsigned cut = 0; cut < 2 * whole.start; cut++)
		for (uint32_t captured = 0; captured < 200; captured += THOROUGH_STEP(7)) {
			begin_part();
			/* One, or all from it on. */
			for (unsigned i = 0; i < whole.n; i++)
				take_frame(i,
					i == cut / 2 || (cut % 2 && i > cut / 2 && i < whole.start)
						? captured
						: UINT32_MAX);
			expect_judged_or_named("cut", cut, captured);
		}
	free_whole();
}

/** In segments of any size. */
static void any_run_of_a_start_may_be_lost(void **state)
{
	static const uint32_t cuts[] = {4, 5, 20, 43, 50};

	for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
		make_whole(cuts[c]);
		for (unsigned from = 0; from < whole.start; from++)
			for (unsigned to = from + 1; to <= whole.start; to++) {
				begin_part();
				for (unsigned i = 0; i < whole.n; i++)
					if (i < from || i >= to)
						take_frame(i, UINT32_MAX);
				expect_judged_or_named("run", from, to);
			}
		free_whole();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ticket_that_is_cut_hides_nothing),
		cmocka_unit_test(the_first_record_may_be_missing),
		cmocka_unit_test(a_lost_reply_is_no_fault),
		cmocka_unit_test(other_secrets_open_nothing),
		cmocka_unit_test(secrets_may_contradict_each_other),
		cmocka_unit_test(a_log_may_grow),
		cmocka_unit_test(it_may_begin_with_its_client_hello),
		cmocka_unit_test(what_cannot_be_judged_is_named),
		cmocka_unit_test(any_frames_of_a_start_may_be_lost),
		cmocka_unit_test(any_frame_of_a_start_may_be_cut),
		cmocka_unit_test(any_run_of_a_start_may_be_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
