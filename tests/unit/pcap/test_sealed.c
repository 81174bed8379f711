/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections inside of TLS 1.3, opened with a key log: whole, cut, with holes, and not ours. */
#include "sealed_case.h"

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
	begin(0x1302);
	start();
	for (unsigned i = 0; i < 3; i++) {
		update(0);
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
	static const uint8_t ticket[200] = {TLS_NEW_SESSION_TICKET, 0, 0, 196};
	uint8_t fpdu[2048];
	uint32_t len;

	len = take_long_one(fpdu);
	make.sealed.snap = what == PADDED_CUT ? 80 : 0;
	padded(1, fpdu, 900, what == PADDED_CUT ? 64 : 0);
	make.sealed.snap = what == TICKET_CUT ? 80 : what == UPDATE_CUT ? 70 : 0;
	if (what == TICKET_CUT)
		record(1, TLS_HANDSHAKE, ticket, sizeof ticket);
	if (what == UPDATE_CUT)
		update(1);
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

static void keys_change_in_a_hole(void **state)
{
	/* With the cut records' headers, and without. */
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t lost = i / 2;

		begin(0x1303);
		make.clear.crc = true;
		start();
		update(0);
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

/** With what is between two changes, and the messages that say so, in no frame. */
static void keys_change_again_and_again_in_a_hole(void **state)
{
	for (unsigned updates = 1; updates <= 5; updates++) {
		begin(0x1301);
		make.clear.crc = true;
		start();
		make.skip_next = true;
		for (unsigned i = 0; i < updates; i++) {
			update(0);
			sends(2 + i, 3 + i);
			seal(1);
		}
		make.skip_next = false;
		sends(2 + updates, 40);
		seal(1);
		end();
		look();
		assert_int_equal(seen.connections, 1);
		assert_int_equal(seen.violations, 0);
		/* Behind more than four of them no record is opened, and that is told. */
		assert_int_equal(seen.fpdus[0], updates <= 4 ? 39 - updates : 1);
		assert_true(updates <= 4 || seen.closed >= 38 - updates);
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
		cmocka_unit_test(keys_change_in_a_hole),
		cmocka_unit_test(keys_change_again_and_again_in_a_hole),
		cmocka_unit_test(tries_are_bounded),
		cmocka_unit_test(tries_of_many_are_bounded),
		cmocka_unit_test(what_the_snap_length_cut_is_no_fault),
		cmocka_unit_test(nonsense_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
