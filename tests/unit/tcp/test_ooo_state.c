/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/ooo_state.h"

#include <rte_mbuf.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

/* It is there while something is held, and goes when the gap is filled and all is told. */
static void test_comes_and_goes(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	assert_null(c->ooo_state);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	assert_non_null(c->ooo_state);
	assert_int_equal(c->ooo_state->ooo.n, 1);
	assert_int_equal(h.tcp->rx_held, 1);
	peer_send_at(&p, TCP_ACK, p.seq, p.ack, "0123456789", 10);
	host_round(&h);
	assert_null(c->ooo_state);
	assert_int_equal(h.tcp->rx_held, 0);
	assert_int_equal(h.app.n_got, 11);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_clear_gives_the_packets_back(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	peer_send_at(&p, TCP_ACK, p.seq + 10, p.ack, "x", 1);
	tcp_ooo_state_clear(c);
	assert_null(c->ooo_state);
	assert_int_equal(h.tcp->rx_held, 0);
	tcp_ooo_state_clear(c); /* harmless when repeated */
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* RFC 2883 section 4.2: the first run of repeated bytes is told; without SACK, none. */
static void test_the_first_duplicate_is_told(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	tcp_ooo_state_duplicate(c, (struct tcp_range){p.seq - 5, p.seq - 3});
	tcp_ooo_state_duplicate(c, (struct tcp_range){p.seq - 2, p.seq - 1});
	assert_int_equal(c->ooo_state->sack.dup.left, p.seq - 5);
	assert_int_equal(tcp_stack_stats(h.tcp)->duplicate, 2);
	tcp_ooo_state_done(c);
	assert_non_null(c->ooo_state); /* it has yet to be told */
	host_end(&h);
	start(TCP_HAS_MSS);
	tcp_ooo_state_duplicate(c, (struct tcp_range){p.seq - 5, p.seq - 3});
	assert_null(c->ooo_state);
	host_end(&h);
}

/* ---- a user that takes what comes early ---------------------------------------------------- */

#define LEN 600u /* of a segment; larger than what shares packets */

static unsigned offers, takes, refuse;
static uint64_t ahead;
static uint8_t stream[64 * LEN];
static bool abort_in_taken, release_in_taken, resume_in_taken;

/* The text itself says where it belongs: that is the note. */
static bool take_ooo(void *user, const struct llp_iov *v, unsigned n, size_t total, uint64_t at,
	struct llp_note *note)
{
	offers++;
	ahead = at;
	if (refuse)
		return false;
	assert_true(v[0].len >= 2);
	memcpy(note->bytes, v[0].base, 2);
	memcpy(note->bytes + 2, &(uint16_t){(uint16_t)total}, 2);
	note->len = 4;
	return true;
}

static void taken(void *user, const struct llp_note *note)
{
	struct app *a = user;
	const struct llp_iov v = {.base = stream + (note->bytes[0] << 8 | note->bytes[1]),
		.len = (size_t)(note->bytes[3] << 8 | note->bytes[2])};
	size_t need;

	takes++;
	assert_int_equal(note->len, 4);
	app_ops.readable(user, &v, 1, v.len, &need);
	if (resume_in_taken)
		llp_resume(a->llp);
	if (abort_in_taken)
		llp_abort(a->llp);
	if (release_in_taken)
		llp_release(a->llp);
}

static struct llp_user_ops taker;

static void start_taking(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED, cfg);
	taker = app_ops;
	taker.ooo = take_ooo;
	taker.taken = taken;
	llp_set_user(h.app.llp, &taker, &h.app);
	offers = takes = refuse = 0;
	abort_in_taken = release_in_taken = resume_in_taken = false;
	for (uint32_t i = 0; i < sizeof stream; i += 2) {
		stream[i] = (uint8_t)(i >> 8);
		stream[i + 1] = (uint8_t)i;
	}
}

/** @p len bytes of the stream from @p from come. */
static void comes(uint32_t from, uint32_t len)
{
	peer_send_at(&p, TCP_ACK, p.seq + from, p.ack, stream + from, len);
}

static void chain(struct rte_mbuf *m, const uint8_t *text, uint32_t len)
{
	assert_int_equal(rte_pktmbuf_chain(m, test_packet(h.pool, text, len)), 0);
}

/** The same as @p pieces packets and an empty one behind the first, as a port may chain them. */
static void comes_in_pieces(uint32_t from, uint32_t len, uint32_t pieces)
{
	const struct ip_addr src = addr(REMOTE), dst = addr(LOCAL);
	const struct tcp_segment s = {.sport = RPORT,
		.dport = p.lport,
		.seq = p.seq + from,
		.ack = p.ack,
		.flags = TCP_ACK,
		.wnd = p.wnd};
	struct rte_mbuf *m = rte_pktmbuf_alloc(h.pool);
	unsigned header = tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *));

	assert_non_null(rte_pktmbuf_append(m, (uint16_t)header));
	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t at = len * i / pieces, end = len * (i + 1) / pieces;

		chain(m, stream + from + at, end - at);
		if (i == 0)
			chain(m, stream, 0);
	}
	ip_double_deliver(&h.ip, &src, &dst, m, h.now);
	host_round(&h);
}

static void expect_got(uint32_t len)
{
	assert_int_equal(h.app.n_got, len);
	assert_memory_equal(h.app.got, stream, len);
	assert_int_equal(c->rcv_nxt, p.seq + len);
}

static void end_taking(void)
{
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* Taken text holds no packet, is SACKed, and its turn comes between the others'. */
static void test_taken_in_turn(void **state)
{
	struct heard a;

	start_taking(NULL);
	ip_double_drain(&h.ip);
	assert_false(llp_took_ooo(h.app.llp));
	comes(2 * LEN, LEN);
	assert_true(llp_took_ooo(h.app.llp));
	assert_int_equal(ahead, 2 * LEN);
	assert_int_equal(offers, 1);
	assert_int_equal(h.tcp->rx_held, 1); /* a block of notes */
	host_expect(&h, &a);
	assert_int_equal(a.h.n_sack, 1);
	assert_int_equal(a.h.sack[0].left, p.seq + 2 * LEN);
	assert_int_equal(a.h.sack[0].right, p.seq + 3 * LEN);
	comes(3 * LEN, LEN);
	refuse = 1;
	comes(4 * LEN, LEN);
	refuse = 0;
	comes(5 * LEN, LEN);
	comes(5 * LEN, LEN); /* again: not offered */
	assert_int_equal(offers, 4);
	assert_int_equal(tcp_stack_stats(h.tcp)->taken_ooo, 3);
	assert_int_equal(h.tcp->rx_held, 2);
	assert_int_equal(takes, 0);
	comes(0, LEN);
	expect_got(LEN);
	comes(LEN, LEN);
	assert_int_equal(takes, 3);
	expect_got(6 * LEN);
	assert_int_equal(h.tcp->rx_held, 0);
	host_round(&h);
	assert_null(c->ooo_state);
	end_taking();
}

/* What the user has not read yet counts into where early text begins. */
static void test_ahead_of_what_is_unread(void **state)
{
	start_taking(NULL);
	h.app.take = 100;
	comes(0, LEN);
	comes(2 * LEN, LEN);
	assert_int_equal(ahead, 2 * LEN - 100);
	end_taking();
}

/* RFC 5044 appendix A.3: what came first stays, whatever comes over it. */
static void test_overlaps_of_taken_text(void **state)
{
	start_taking(NULL);
	comes(LEN, LEN);
	comes(3 * LEN, LEN);
	comes(2 * LEN - 100, LEN); /* a part of it is new: not offered, but kept */
	assert_int_equal(offers, 2);
	comes(0, LEN + 100); /* reaches into taken text */
	assert_int_equal(takes, 1);
	expect_got(3 * LEN - 100);
	comes(3 * LEN - 200, 2 * LEN); /* covers what is taken, and more */
	assert_int_equal(takes, 2);
	expect_got(5 * LEN - 200);
	end_taking();
}

/* It fills two gaps, and what lies behind them is taken: that is not given again. */
static void test_covers_text_and_taken_text(void **state)
{
	start_taking(NULL);
	refuse = 1;
	comes(300, 300);
	refuse = 0;
	comes(900, 300);
	comes(0, 1300);
	assert_int_equal(takes, 1);
	expect_got(1300);
	end_taking();
}

/*
 * With memory short, text that waits is forgotten for what brings the connection on, but nothing
 * that the user took: of that it hears once.
 */
static void test_memory_pressure(void **state)
{
	start_taking(NULL);
	for (uint32_t i = 1; i < 12; i++) {
		refuse = i % 3 == 0;
		comes(i * LEN, LEN);
	}
	h.app.take = 0;
	refuse = 1;
	comes(0, LEN / 2); /* waits to be read */
	h.tcp->rx_hard_limit = h.tcp->rx_held - 2;
	h.app.take = SIZE_MAX;
	comes(LEN / 2, LEN / 2);
	assert_true(tcp_stack_stats(h.tcp)->reneged >= 3);
	h.tcp->rx_hard_limit = UINT32_MAX;
	offers = 0;
	for (uint32_t i = 1; i < 12; i++)
		comes(i * LEN, LEN);
	assert_int_equal(offers, 0); /* it is all in order, or was taken */
	assert_int_equal(takes, 8);
	expect_got(12 * LEN);
	end_taking();
}

/* What a user is offered has pieces that are not empty, and not too many. */
static void test_pieces(void **state)
{
	start_taking(NULL);
	comes_in_pieces(LEN, LEN, 15);
	assert_int_equal(offers, 1);
	comes_in_pieces(2 * LEN, LEN, 16);
	assert_int_equal(offers, 1);
	comes(0, LEN);
	assert_int_equal(takes, 1);
	expect_got(3 * LEN);
	end_taking();
}

static void test_small_text_is_not_offered(void **state)
{
	start_taking(NULL);
	comes(LEN, TCP_PIECE_SMALL);
	assert_int_equal(offers, 0);
	comes(LEN + TCP_PIECE_SMALL, TCP_PIECE_SMALL + 1);
	assert_int_equal(offers, 1);
	end_taking();
}

/* A long window without a packet: only blocks of notes are held. */
static void test_memory_stays_flat(void **state)
{
	start_taking(NULL);
	for (uint32_t i = 1; i < 60; i++)
		comes(i * LEN, LEN);
	assert_int_equal(h.tcp->rx_held, (59 + TCP_NOTES_PER_BLOCK - 1) / TCP_NOTES_PER_BLOCK);
	comes(0, LEN);
	expect_got(60 * LEN);
	assert_int_equal(takes, 59);
	assert_int_equal(h.tcp->rx_held, 0);
	end_taking();
}

/* Without memory for more notes nothing is offered, and nothing is SACKed. */
static void test_no_memory_for_notes(void **state)
{
	start_taking(NULL);
	for (uint32_t i = 1; i <= TCP_NOTES_PER_BLOCK; i++)
		comes(i * LEN, LEN);
	h.tcp->rx_limit = h.tcp->rx_held;
	comes((TCP_NOTES_PER_BLOCK + 1) * LEN, LEN);
	assert_int_equal(offers, TCP_NOTES_PER_BLOCK);
	assert_int_equal(tcp_stack_stats(h.tcp)->out_of_order_drops, 1);
	comes(0, LEN);
	expect_got((TCP_NOTES_PER_BLOCK + 1) * LEN);
	end_taking();
}

static void test_the_user_ends_it_in_its_turn(void **state)
{
	for (unsigned how = 0; how < 3; how++) {
		start_taking(NULL);
		comes(LEN, LEN);
		comes(2 * LEN, LEN);
		comes(4 * LEN, LEN);
		abort_in_taken = how == 0;
		release_in_taken = how == 1;
		resume_in_taken = how == 2;
		comes(0, LEN);
		assert_int_equal(takes, how == 2 ? 2 : 1);
		end_taking(); /* and every packet is back */
	}
}

/* A connection that goes away with notes gives their memory back. */
static void test_ends_with_notes(void **state)
{
	start_taking(NULL);
	comes(LEN, LEN);
	tcp_ooo_state_clear(c);
	assert_int_equal(h.tcp->rx_held, 0);
	comes(LEN, LEN);
	assert_int_equal(offers, 2);
	end_taking();
}

/* The FIN comes after what was taken. */
static void test_fin_behind_taken_text(void **state)
{
	start_taking(NULL);
	peer_send_at(&p, TCP_ACK | TCP_FIN, p.seq + LEN, p.ack, stream + LEN, LEN);
	assert_int_equal(h.app.eof, 0);
	comes(0, LEN);
	assert_int_equal(takes, 1);
	assert_int_equal(h.app.n_got, 2 * LEN);
	assert_int_equal(h.app.eof, 1);
	end_taking();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_clear_gives_the_packets_back),
		cmocka_unit_test(test_the_first_duplicate_is_told),
		cmocka_unit_test(test_taken_in_turn),
		cmocka_unit_test(test_ahead_of_what_is_unread),
		cmocka_unit_test(test_overlaps_of_taken_text),
		cmocka_unit_test(test_covers_text_and_taken_text),
		cmocka_unit_test(test_memory_pressure),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_small_text_is_not_offered),
		cmocka_unit_test(test_memory_stays_flat),
		cmocka_unit_test(test_no_memory_for_notes),
		cmocka_unit_test(test_the_user_ends_it_in_its_turn),
		cmocka_unit_test(test_ends_with_notes),
		cmocka_unit_test(test_fin_behind_taken_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
