/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa_user.h"

#include "base/bytes.h"
#include "mpa/crc.h"

#include <stdlib.h>

/* A Send and a Read Request as Linux siw framed them, CRC on. */
static const uint8_t siw_send[] = {0x00, 0x22, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x55, 0xc2, 0x99, 0x14,
	0x53, 0x70, 0xd7, 0x96, 0x9c, 0x00, 0x00, 0x00, 0x00, 0x40, 0xf5, 0x9f, 0xb3, 0xb8};
static const uint8_t siw_read[] = {0x00, 0x2e, 0x41, 0x41, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xe3, 0x0c, 0x37, 0x00, 0x00, 0x00,
	0x55, 0xa7, 0x39, 0xca, 0x15, 0x50, 0x00, 0x00, 0x00, 0x40, 0xd7, 0x96, 0x9c, 0x00, 0x00,
	0x00, 0x55, 0xc2, 0x99, 0x14, 0x53, 0x70, 0xac, 0xad, 0x5c, 0x39};

static struct mpa_user *operational(bool crc)
{
	struct mpa_user *u = mpa_user_new();

	u->config.crc = crc;
	mpa_user_initiate(u);
	assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
	FEED(u, "MPA ID Rep Frame\x10\x02\x00\x04\x00\x01\x00\x01");
	assert_int_equal(u->operational, 1);
	llp_mem_peer_consume(&u->peer, u->peer.rx_len);
	return u;
}

static void test_siw_frames_in_every_segmentation(void **state)
{
	uint8_t both[sizeof siw_send + sizeof siw_read];

	memcpy(both, siw_send, sizeof siw_send);
	memcpy(both + sizeof siw_send, siw_read, sizeof siw_read);
	for (size_t segment = 1; segment <= sizeof both; segment++) {
		struct mpa_user *u = operational(true);

		llp_mem_set_segment(u->net, segment);
		mpa_user_feed(u, both, sizeof both);
		assert_int_equal(u->errors, 0);
		assert_int_equal(u->ulpdus, 2);
		assert_int_equal(u->ulpdu_len[0], 34);
		assert_int_equal(u->ulpdu_len[1], 46);
		assert_memory_equal(u->rx, siw_send + 2, 34);
		assert_memory_equal(u->rx + 34, siw_read + 2, 46);
		mpa_user_free(u);
	}
}

/* Any single wrong byte is seen, and nothing behind it is handed up. */
static void test_every_wrong_byte(void **state)
{
	uint8_t bad[sizeof siw_send];

	for (size_t i = 2; i < sizeof siw_send; i++) {
		struct mpa_user *u = operational(true);

		memcpy(bad, siw_send, sizeof bad);
		bad[i] ^= 0x10;
		mpa_user_feed(u, bad, sizeof bad);
		mpa_user_feed(u, siw_read, sizeof siw_read);
		assert_int_equal(u->ulpdus, 0);
		assert_int_equal(u->errors, 1);
		assert_int_equal(u->error, MPA_ERROR_CRC);
		assert_non_null(mpa_reserve(u->m, 18, false)); /* the Terminate can go out */
		mpa_cancel(u->m);
		mpa_user_free(u);
	}
}

/* Without CRCs the field may hold anything (RFC 5044 section 4.1). */
static void test_crc_off(void **state)
{
	struct mpa_user *u = operational(false);

	FEED(u, "\x00\x05hello\x00\xde\xad\xbe\xef");
	assert_int_equal(u->ulpdus, 1);
	assert_memory_equal(u->rx, "hello", 5);
	assert_int_equal(u->errors, 0);
	mpa_user_free(u);
}

static void hold_first(struct mpa_user *u)
{
	if (u->ulpdus == 1 || u->ulpdus == 2)
		mpa_rx_pause(u->m);
}

/* What is held comes again when it is asked for, and nothing overtakes it. */
static void test_hold(void **state)
{
	struct mpa_user *u = operational(false);

	u->on_ulpdu = hold_first;
	FEED(u, "\x00\x05hello\x00\xde\xad\xbe\xef");
	FEED(u, "\x00\x05world\x00\xde\xad\xbe\xef");
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->eofs, 0);
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 2);
	assert_memory_equal(u->rx, "hellohello", 10);
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 4);
	assert_memory_equal(u->rx, "hellohellohelloworld", 20);
	assert_int_equal(u->eofs, 1);
	mpa_user_free(u);
}

static unsigned eof_waits;

static void on_eof_waits(void *user)
{
	eof_waits++;
}

static void hold(struct mpa_user *u)
{
	mpa_rx_pause(u->m);
}

static void hold_second(struct mpa_user *u)
{
	if (u->ulpdus == 3)
		mpa_rx_pause(u->m);
}

/* Of what is unread the LLP shows one piece, and tells of an end that is behind it. */
static void show_little(struct mpa_user *u, struct mpa_user_ops *ops)
{
	ops->eof_waits = on_eof_waits;
	eof_waits = 0;
	mpa_set_user(u->m, ops, u);
	llp_mem_set_unread(u->net, 1);
}

/* The peer's end is behind so much that the LLP cannot show it. */
static void test_eof_behind_what_is_shown(void **state)
{
	struct mpa_user *u = operational(false);
	struct mpa_user_ops ops = mpa_user_ops;

	show_little(u, &ops);
	u->on_ulpdu = hold;
	FEED(u, "\x00\x05hello\x00\xde\xad\xbe\xef");
	FEED(u, "\x00\x05world\x00\xde\xad\xbe\xef");
	assert_int_equal(eof_waits, 0);
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(eof_waits, 1);
	u->on_ulpdu = hold_second;
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 3);
	assert_true(eof_waits >= 2);
	assert_int_equal(u->eofs, 0);
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 4);
	assert_memory_equal(u->rx, "hellohelloworldworld", 20);
	assert_int_equal(u->eofs, 1);
	assert_int_equal(u->errors, 0);
	mpa_user_free(u);
}

/* The LLP has told of it while there was no user, and need not again. */
static void test_eof_behind_what_waits_for_a_user(void **state)
{
	struct mpa_user *u = operational(false);
	struct mpa_user_ops ops = mpa_user_ops;

	ops.ulpdu = NULL;
	show_little(u, &ops);
	FEED(u, "\x00\x05hello\x00\xde\xad\xbe\xef");
	FEED(u, "\x00\x05wor");
	llp_shutdown(u->peer.llp);
	llp_mem_run(u->net, 100);
	assert_int_equal(eof_waits, 0);
	assert_int_equal(u->errors, 0);
	ops.ulpdu = mpa_user_ops.ulpdu;
	u->on_ulpdu = hold;
	mpa_rx_resume(u->m);
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(eof_waits, 1);
	u->on_ulpdu = NULL;
	mpa_rx_resume(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->ulpdus, 2);
	assert_int_equal(u->errors, 1);
	assert_int_equal(u->error, MPA_ERROR_CLOSED);
	mpa_user_free(u);
}

/* RFC 5044 section 4.1: only the CRC looks at the pad. */
static void test_pad_is_ignored(void **state)
{
	static const uint8_t body[] = "\x00\x05hello\xa5";
	uint8_t fpdu[12];
	struct mpa_user *u = operational(true);

	memcpy(fpdu, body, 8);
	store_le32(fpdu + 8, mpa_crc_end(mpa_crc_add(MPA_CRC_START, fpdu, 8)));
	mpa_user_feed(u, fpdu, sizeof fpdu);
	assert_int_equal(u->ulpdus, 1);
	assert_memory_equal(u->rx, "hello", 5);
	fpdu[7] = 0; /* now the CRC is wrong */
	mpa_user_feed(u, fpdu, sizeof fpdu);
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->error, MPA_ERROR_CRC);
	mpa_user_free(u);

	u = operational(false);
	FEED(u, "\x00\x05hello\xa5\x00\x00\x00\x00");
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->errors, 0);
	mpa_user_free(u);
}

/* RFC 5044 section 8 code 3. The first marker of the stream says 0, the next one 508. */
static void test_wrong_marker(void **state)
{
	uint8_t fpdu[520] = {[4] = 0x01, [5] = 0xfa}; /* 506 octets, two markers, the CRC field */
	struct mpa_user *u;

	for (unsigned wrong = 0; wrong < 3; wrong++) {
		u = mpa_user_new();
		u->config.markers = true;
		mpa_user_initiate(u);
		assert_int_equal(mpa_request(u->m, 1, 1, NULL, 0), 0);
		FEED(u, "MPA ID Rep Frame\x10\x02\x00\x04\x00\x01\x00\x01");
		store_be16(fpdu + 514, wrong == 1 ? 512 : 508);
		fpdu[3] = wrong == 2 ? 4 : 0;
		mpa_user_feed(u, fpdu, sizeof fpdu);
		assert_int_equal(u->ulpdus, wrong == 0);
		assert_int_equal(u->errors, wrong != 0);
		if (wrong != 0)
			assert_int_equal(u->error, MPA_ERROR_MARKER);
		assert_non_null(u->m->llp); /* section 8: MPA does not close the connection */
		mpa_user_free(u);
	}
}

static void test_empty_ulpdu(void **state)
{
	struct mpa_user *u = operational(false);

	FEED(u, "\x00\x00\x00\x00\x00\x00\x00\x00"
		"\x00\x01x\x00\x00\x00\x00\x00");
	assert_int_equal(u->ulpdus, 2);
	assert_int_equal(u->ulpdu_len[0], 0);
	assert_int_equal(u->ulpdu_len[1], 1);
	mpa_user_free(u);
}

/* One rx_done() per arrival, however many FPDUs it brought. */
static void test_rx_done(void **state)
{
	struct mpa_user *u = operational(false);

	FEED(u, "\x00\x02hi\x00\x00\x00\x00"
		"\x00\x02ho\x00\x00\x00\x00"
		"\x00\x02");
	assert_int_equal(u->ulpdus, 2);
	assert_int_equal(u->rx_dones, 1);
	FEED(u, "h");
	assert_int_equal(u->rx_dones, 1);
	FEED(u, "a\x00\x00\x00\x00");
	assert_int_equal(u->rx_dones, 2);
	mpa_user_free(u);
}

/* RFC 5044 section 3: no longer one is sent, by whatever user. */
static void test_largest_fpdu(void **state)
{
	struct mpa_user *u = operational(true);
	uint8_t *p;

	llp_mem_set_segment(u->net, 700);
	p = mpa_reserve(u->m, 64768, false);
	assert_non_null(p);
	for (unsigned i = 0; i < 64768; i++)
		p[i] = (uint8_t)(i >> 3);
	mpa_commit(u->m);
	mpa_push(u->m);
	llp_mem_run(u->net, 1000);
	/* 2 + 64768 + 2 of pad + 4; back it comes, through the receiver. */
	assert_int_equal(u->peer.rx_len, 64776);
	mpa_user_feed(u, u->peer.rx, u->peer.rx_len);
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->ulpdu_len[0], 64768);
	assert_int_equal(u->rx[64767], 64767 >> 3 & 0xff);
	assert_null(mpa_reserve(u->m, 64769, false));
	mpa_user_free(u);
}

/* A peer may send all that the length can tell: it is taken. */
static void test_largest_fpdu_that_comes(void **state)
{
	static uint8_t fpdu[65544]; /* 2 + 65535 + 3 of pad + 4 */
	struct mpa_user *u = operational(true);
	struct mpa_enframe e;

	for (unsigned i = 0; i < 65535; i++)
		fpdu[MPA_FPDU_HEADER_LEN + i] = (uint8_t)(i >> 3);
	mpa_enframe_init(&e, true, false);
	assert_int_equal(mpa_enframe_len(&e, 65535), sizeof fpdu);
	mpa_enframe_finish(&e, fpdu, 65535);
	llp_mem_set_segment(u->net, 700);
	mpa_user_feed(u, fpdu, sizeof fpdu);
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->ulpdu_len[0], 65535);
	assert_int_equal(u->rx[65534], 65534 >> 3 & 0xff);
	mpa_user_free(u);
}

/* What siw sent, sent by us, has the same bytes. */
static void test_transmit_as_siw(void **state)
{
	struct mpa_user *u = operational(true);
	uint8_t both[sizeof siw_send + sizeof siw_read];

	memcpy(both, siw_send, sizeof siw_send);
	memcpy(both + sizeof siw_send, siw_read, sizeof siw_read);
	memcpy(mpa_reserve(u->m, 34, false), siw_send + 2, 34);
	mpa_commit(u->m);
	memcpy(mpa_reserve(u->m, 46, true), siw_read + 2, 46);
	mpa_commit(u->m);
	mpa_push(u->m);
	mpa_user_expect(u, both, sizeof both);
	mpa_user_free(u);
}

static void test_transmit_pad(void **state)
{
	struct mpa_user *u = operational(false);

	for (uint32_t len = 1; len <= 4; len++) {
		memset(mpa_reserve(u->m, len, true), 'a', len);
		mpa_commit(u->m);
	}
	mpa_push(u->m);
	EXPECT(u, "\x00\x01"
		  "a\x00\x00\x00\x00\x00"
		  "\x00\x02"
		  "aa\x00\x00\x00\x00"
		  "\x00\x03"
		  "aaa\x00\x00\x00\x00\x00\x00\x00"
		  "\x00\x04"
		  "aaaa\x00\x00\x00\x00\x00\x00");
	mpa_user_free(u);
}

/* The trailer is never cut off: an FPDU that fits the EMSS is one record, small ones join. */
static void test_joined_in_one_segment(void **state)
{
	struct mpa_user *u = operational(false);
	unsigned before = llp_mem_segments(u->net);

	for (unsigned i = 0; i < 10; i++) {
		memset(mpa_reserve(u->m, 22, true), (int)i, 22);
		mpa_commit(u->m);
	}
	mpa_push(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(llp_mem_segments(u->net) - before, 1);
	memset(mpa_reserve(u->m, mpa_mulpdu(u->m), true), 0, mpa_mulpdu(u->m));
	mpa_commit(u->m);
	mpa_push(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(llp_mem_segments(u->net) - before, 2);
	mpa_user_free(u);
}

static void test_no_room(void **state)
{
	struct mpa_user *u = operational(false);

	llp_mem_set_buffer(u->net, 100);
	assert_non_null(mpa_reserve(u->m, 80, false));
	mpa_commit(u->m);
	assert_null(mpa_reserve(u->m, 80, false));
	mpa_push(u->m);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->writables, 1);
	assert_non_null(mpa_reserve(u->m, 80, false));
	mpa_cancel(u->m);
	mpa_user_free(u);
}

static void abort_and_free(struct mpa_user *u)
{
	mpa_abort(u->m);
	free(u->m);
	u->m = NULL;
}

static void test_free_in_ulpdu(void **state)
{
	struct mpa_user *u = operational(false);

	u->on_ulpdu = abort_and_free;
	FEED(u, "\x00\x02hi\x00\x00\x00\x00"
		"\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->ulpdus, 1);
	assert_int_equal(u->rx_dones, 0);
	mpa_user_free(u);
}

static void test_free_in_error(void **state)
{
	struct mpa_user *u = operational(true);

	u->on_error = abort_and_free;
	FEED(u, "\x00\x02hi\x00\x00\x00\x00"
		"\x00\x02ho\x00\x00\x00\x00");
	assert_int_equal(u->errors, 1);
	mpa_user_free(u);
}

static void test_eof_inside_fpdu(void **state)
{
	for (size_t len = 1; len < sizeof siw_send; len++) {
		struct mpa_user *u = operational(true);

		mpa_user_feed(u, siw_send, len);
		llp_shutdown(u->peer.llp);
		llp_mem_run(u->net, 100);
		assert_int_equal(u->eofs, 0);
		assert_int_equal(u->errors, 1);
		assert_int_equal(u->error, MPA_ERROR_CLOSED);
		mpa_user_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siw_frames_in_every_segmentation),
		cmocka_unit_test(test_every_wrong_byte),
		cmocka_unit_test(test_crc_off),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_eof_behind_what_is_shown),
		cmocka_unit_test(test_eof_behind_what_waits_for_a_user),
		cmocka_unit_test(test_pad_is_ignored),
		cmocka_unit_test(test_wrong_marker),
		cmocka_unit_test(test_empty_ulpdu),
		cmocka_unit_test(test_rx_done),
		cmocka_unit_test(test_largest_fpdu),
		cmocka_unit_test(test_largest_fpdu_that_comes),
		cmocka_unit_test(test_transmit_as_siw),
		cmocka_unit_test(test_transmit_pad),
		cmocka_unit_test(test_joined_in_one_segment),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_free_in_ulpdu),
		cmocka_unit_test(test_free_in_error),
		cmocka_unit_test(test_eof_inside_fpdu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
