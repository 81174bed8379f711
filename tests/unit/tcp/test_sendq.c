/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/prng.h"
#include "host.h"
#include "tcp/mbuf.h"

static struct rte_mempool *pool;

static void push(struct tcp_sendq *q, uint32_t seq, const char *text)
{
	struct rte_mbuf *m = test_packet(pool, text, (unsigned)strlen(text));

	sendq_room(q);
	tcp_sendq_push(q, m, m->data_off, (uint32_t)strlen(text), seq, 0);
}

static void split(struct tcp_sendq *q, uint32_t i, uint32_t len)
{
	sendq_room(q);
	assert_int_equal(tcp_sendq_split(q, i, len, pool), 0);
}

/** Ten records of ten bytes from @p seq on, all sent at times 1, 2, ... */
static void push_ten(struct tcp_sendq *q, uint32_t seq)
{
	for (uint32_t i = 0; i < 10; i++) {
		push(q, seq + 10 * i, "0123456789");
		tcp_sendq_sent(q, i, i + 1);
	}
}

static struct tcp_delivery d; /* of the last call */

static void ack(struct tcp_sendq *q, uint32_t seq)
{
	d = (struct tcp_delivery){.credible_until = UINT64_MAX, .fack = d.fack};
	tcp_sendq_ack(q, seq, &d);
}

static uint32_t sack(struct tcp_sendq *q, uint32_t left, uint32_t right)
{
	d = (struct tcp_delivery){.credible_until = UINT64_MAX, .fack = d.fack};
	tcp_sendq_sack(q, (struct tcp_range){left, right}, &d);
	return d.sacked;
}

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("sendq", 1023, 256);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing ? -1 : 0;
}

static void test_ack_frees_across_the_wrap(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 0xffffffd8); /* the fourth ends at 0 */
	assert_int_equal(q.bytes, 100);
	ack(&q, 0xffffffd8 + 25);
	assert_int_equal(q.count, 8);
	assert_int_equal(q.nxt, 8);
	assert_int_equal(q.bytes, 75);
	assert_int_equal(d.rtt_sent_at, 2);
	assert_int_equal(tcp_sendq_at(&q, 0)->seq, 0xffffffd8 + 25);
	assert_memory_equal(tcp_record_text(tcp_sendq_at(&q, 0)), "56789", 5);
	ack(&q, 60);
	assert_int_equal(q.count, 0);
	assert_int_equal(q.bytes, 0);
	assert_int_equal(d.rtt_sent_at, 10);
	assert_int_equal(test_pool_missing(pool), 0);
	tcp_sendq_clear(&q);
}

static void test_old_ack_changes_nothing(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 1000);
	ack(&q, 1000);
	ack(&q, 900);
	assert_int_equal(q.count, 10);
	assert_int_equal(d.rtt_sent_at, 0);
	tcp_sendq_clear(&q);
}

static void test_find(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 0xfffffff0);
	assert_int_equal(tcp_sendq_find(&q, 0xfffffff0), 0);
	assert_int_equal(tcp_sendq_find(&q, 0xfffffff9), 0);
	assert_int_equal(tcp_sendq_find(&q, 0xfffffffa), 1);
	assert_int_equal(tcp_sendq_find(&q, 83), 9);
	assert_int_equal(tcp_sendq_find(&q, 84), 10);
	tcp_sendq_clear(&q);
}

static void test_scoreboard(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 100);
	/* Only whole records count. */
	assert_int_equal(sack(&q, 125, 155), 20);
	assert_int_equal(sack(&q, 125, 155), 0);
	assert_int_equal(q.sacked, 20);
	tcp_sendq_lose(&q, 0);
	tcp_sendq_lose(&q, 1);
	tcp_sendq_lose(&q, 3); /* SACKed: no */
	assert_int_equal(q.lost, 20);
	assert_int_equal(tcp_sendq_first_lost(&q), 0);
	tcp_sendq_sent(&q, 0, 50);
	assert_int_equal(q.rexmit, 10);
	assert_int_equal(tcp_sendq_first_lost(&q), 1);
	tcp_sendq_sent(&q, 1, 51);
	assert_int_equal(tcp_sendq_first_lost(&q), q.nxt);
	/* Lost again. */
	tcp_sendq_lose(&q, 0);
	assert_int_equal(q.rexmit, 10);
	assert_int_equal(tcp_sendq_first_lost(&q), 0);
	/* The retransmission is SACKed: all its marks go. */
	assert_int_equal(sack(&q, 110, 120), 10);
	assert_int_equal(q.lost, 10);
	assert_int_equal(q.rexmit, 0);
	ack(&q, 150);
	assert_int_equal(q.sacked, 0);
	assert_int_equal(q.lost, 0);
	assert_int_equal(q.rexmit, 0);
	tcp_sendq_clear(&q);
}

static void test_sack_of_what_was_not_sent(void **state)
{
	struct tcp_sendq q = {0};

	for (uint32_t i = 0; i < 3; i++)
		push(&q, 100 + 10 * i, "0123456789");
	assert_int_equal(sack(&q, 100, 110), 0);
	tcp_sendq_sent(&q, 0, 1);
	assert_int_equal(sack(&q, 120, 130), 0);
	assert_int_equal(sack(&q, 130, 140), 0);
	assert_int_equal(q.sacked, 0);
	assert_int_equal(sack(&q, 100, 130), 10);
	tcp_sendq_clear(&q);
}

/** Whatever is lost, sent again and SACKed when: what is lost comes out once. */
static void losses_in_any_order(uint64_t seed)
{
	struct prng random = {seed};
	struct tcp_sendq q = {0};
	bool lost[10] = {false};

	push_ten(&q, 100);
	for (unsigned step = 0; step < 40; step++) {
		uint32_t i = prng_below(&random, 10), what = prng_below(&random, 5);

		if (step >= 30 || what == 4) {
			i = tcp_sendq_first_lost(&q);
			if (i == q.nxt)
				continue;
			assert_true(lost[i]);
			lost[i] = false;
			tcp_sendq_sent(&q, i, 100 + step);
		} else if (what == 3) {
			if (sack(&q, 100 + 10 * i, 110 + 10 * i))
				lost[i] = false;
		} else if (tcp_sendq_lose(&q, i)) {
			assert_false(lost[i]);
			lost[i] = true;
		}
	}
	for (unsigned i = 0; i < 10; i++)
		assert_false(lost[i]);
	assert_int_equal(tcp_sendq_first_lost(&q), q.nxt);
	tcp_sendq_clear(&q);
}

static void test_losses_in_any_order(void **state)
{
	for (uint64_t seed = 1; seed <= 500; seed++)
		losses_in_any_order(seed);
}

/* 3 was found lost after 5, and is the oldest when those before have come after all. */
static void test_the_oldest_lost_is_the_next(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 100);
	tcp_sendq_lose(&q, 1);
	tcp_sendq_lose(&q, 5);
	tcp_sendq_lose(&q, 3);
	assert_int_equal(tcp_sendq_first_lost(&q), 1);
	ack(&q, 130);
	assert_int_equal(tcp_sendq_first_lost(&q), 0);
	tcp_sendq_sent(&q, 0, 11);
	assert_int_equal(tcp_sendq_first_lost(&q), 2);
	tcp_sendq_sent(&q, 2, 11);
	assert_int_equal(tcp_sendq_first_lost(&q), q.nxt);
	tcp_sendq_clear(&q);
}

static void test_no_sample_from_what_was_sent_twice(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 100);
	tcp_sendq_lose(&q, 0);
	tcp_sendq_sent(&q, 0, 99);
	ack(&q, 110);
	assert_int_equal(d.rtt_sent_at, 0);
	ack(&q, 120);
	assert_int_equal(d.rtt_sent_at, 2);
	tcp_sendq_clear(&q);
}

static void test_ack_inside_a_lost_record(void **state)
{
	struct tcp_sendq q = {0};

	push_ten(&q, 100);
	tcp_sendq_lose(&q, 0);
	ack(&q, 104);
	assert_int_equal(q.lost, 6);
	tcp_sendq_forget_sacks(&q);
	tcp_sendq_clear(&q);
}

static void test_split_and_renew(void **state)
{
	struct tcp_sendq q = {0};
	struct rte_mbuf *held;

	push_ten(&q, 100);
	split(&q, 2, 4);
	assert_int_equal(q.count, 11);
	assert_int_equal(q.nxt, 11);
	assert_int_equal(q.bytes, 100);
	assert_int_equal(tcp_sendq_at(&q, 2)->len, 4);
	assert_int_equal(tcp_sendq_at(&q, 3)->seq, 124);
	assert_memory_equal(tcp_record_text(tcp_sendq_at(&q, 3)), "456789", 6);
	assert_int_equal(tcp_sendq_at(&q, 4)->seq, 130);
	held = tcp_sendq_at(&q, 0)->m;
	rte_mbuf_refcnt_update(held, 1);
	assert_int_equal(tcp_sendq_renew(&q, 0, pool), 0);
	assert_ptr_not_equal(tcp_sendq_at(&q, 0)->m, held);
	assert_int_equal(rte_mbuf_refcnt_read(held), 1);
	assert_memory_equal(tcp_record_text(tcp_sendq_at(&q, 0)), "0123456789", 10);
	rte_pktmbuf_free(held);
	tcp_sendq_clear(&q);
}

static void test_split_of_the_unsent(void **state)
{
	struct tcp_sendq q = {0};

	push(&q, 100, "0123456789");
	assert_non_null(tcp_sendq_unsent_tail(&q));
	split(&q, 0, 1);
	assert_int_equal(q.nxt, 0);
	tcp_sendq_sent(&q, 0, 1);
	tcp_sendq_sent(&q, 1, 1);
	assert_null(tcp_sendq_unsent_tail(&q));
	tcp_sendq_clear(&q);
}

static void test_fin_takes_one(void **state)
{
	struct tcp_sendq q = {0};

	sendq_room(&q);
	tcp_sendq_push(&q, NULL, 0, 0, 77, TCP_REC_FIN);
	tcp_sendq_sent(&q, 0, 5);
	assert_int_equal(tcp_record_end(tcp_sendq_at(&q, 0)), 78);
	ack(&q, 77);
	assert_int_equal(q.count, 1);
	ack(&q, 78);
	assert_int_equal(q.count, 0);
	tcp_sendq_clear(&q);
}

static void test_fin_behind_text(void **state)
{
	struct tcp_sendq q = {0};

	push(&q, 70, "abcdefg");
	tcp_sendq_at(&q, 0)->flags |= TCP_REC_FIN;
	assert_int_equal(tcp_record_end(tcp_sendq_at(&q, 0)), 78);
	split(&q, 0, 4);
	assert_int_equal(tcp_record_end(tcp_sendq_at(&q, 0)), 74);
	assert_int_equal(tcp_record_end(tcp_sendq_at(&q, 1)), 78);
	tcp_sendq_sent(&q, 0, 5);
	tcp_sendq_sent(&q, 1, 5);
	ack(&q, 77);
	assert_int_equal(q.count, 1);
	assert_int_equal(q.bytes, 0);
	assert_null(tcp_sendq_at(&q, 0)->m);
	ack(&q, 78);
	assert_int_equal(q.count, 0);
	tcp_sendq_clear(&q);
}

/* ---- invariants ---------------------------------------------------------------------------- */

static bool in_flight(const struct tcp_record *r)
{
	return !(r->flags & TCP_REC_SACKED) &&
	       (r->flags & (TCP_REC_LOST | TCP_REC_REXMIT)) != TCP_REC_LOST;
}

static void check_chain(const struct tcp_sendq *q, const struct tcp_chain *ch, bool flying)
{
	uint32_t id = ch->first;

	for (uint32_t k = 0; k < ch->n; k++) {
		const struct tcp_record *r = tcp_sendq_by_id(q, id);

		assert_true(id - q->head < q->nxt);
		assert_false(r->flags & TCP_REC_SACKED);
		assert_int_equal(in_flight(r), flying);
		if (k + 1 == ch->n) {
			assert_int_equal(id, ch->last);
		} else {
			assert_int_equal(tcp_sendq_by_id(q, r->next)->prev, id);
			id = r->next;
		}
	}
}

static void check_sacked(const struct tcp_sendq *q, uint32_t i)
{
	const struct tcp_record *r = tcp_sendq_at(q, i);
	uint32_t to = r->next - q->head;

	assert_true(to > i && to <= q->nxt);
	for (uint32_t k = i; k < to; k++)
		assert_true(tcp_sendq_at(q, k)->flags & TCP_REC_SACKED);
}

/** Every record is where it belongs, and the sums are right. */
static void check(const struct tcp_sendq *q)
{
	uint32_t n_sacked = 0, sacked = 0, lost = 0, rexmit = 0, bytes = 0;

	for (uint32_t i = 0; i < q->count; i++) {
		const struct tcp_record *r = tcp_sendq_at(q, i);

		if (i)
			assert_int_equal(r->seq, tcp_record_end(tcp_sendq_at(q, i - 1)));
		bytes += r->len;
		if (r->flags & TCP_REC_SACKED) {
			n_sacked++;
			sacked += tcp_record_space(r);
			check_sacked(q, i);
		}
		lost += r->flags & TCP_REC_LOST ? tcp_record_space(r) : 0;
		rexmit += r->flags & TCP_REC_REXMIT ? tcp_record_space(r) : 0;
	}
	assert_int_equal(q->bytes, bytes);
	assert_int_equal(q->n_sacked, n_sacked);
	assert_int_equal(q->sacked, sacked);
	assert_int_equal(q->lost, lost);
	assert_int_equal(q->rexmit, rexmit);
	assert_int_equal(q->flight.n + q->rtx_queue.n + n_sacked, q->nxt);
	check_chain(q, &q->flight, true);
	check_chain(q, &q->rtx_queue, false);
}

static uint32_t below(uint32_t n)
{
	static uint32_t x = 7;

	x = x * 1664525 + 1013904223;
	return n ? (x >> 8) % n : 0;
}

static uint32_t first_seq(const struct tcp_sendq *q, uint32_t end)
{
	return q->count ? tcp_sendq_at(q, 0)->seq : end;
}

static void step(struct tcp_sendq *q, uint32_t *end, uint64_t now)
{
	uint32_t una = first_seq(q, *end), span = *end - una, i = below(q->nxt);

	switch (below(9)) {
	case 0:
	case 1:
		if (q->count < 40) {
			push(q, *end, "0123456789");
			*end += 10;
			if (below(4) == 0) { /* wherever it is, it is split off and acknowledged */
				tcp_sendq_at(q, q->count - 1)->flags |= TCP_REC_FIN;
				*end += 1;
			}
		}
		break;
	case 2:
	case 3:
		if (q->nxt < q->count)
			tcp_sendq_sent(q, q->nxt, now);
		break;
	case 4: {
		uint32_t left = una + 1 + below(span);

		if (q->nxt)
			sack(q, left, left + below(60));
		break;
	}
	case 5:
		for (uint32_t n = below(4); q->nxt && n; n--)
			tcp_sendq_lose(q, below(q->nxt));
		break;
	case 6:
		i = tcp_sendq_first_lost(q);
		if (i < q->nxt) {
			if (tcp_sendq_at(q, i)->len > 1 && below(3) == 0)
				split(q, i, 1);
			tcp_sendq_sent(q, i, now);
		}
		break;
	case 7:
		if (q->nxt && below(3) == 0)
			ack(q, una + below(tcp_record_end(tcp_sendq_at(q, q->nxt - 1)) - una + 1));
		break;
	default:
		if (below(20) == 0)
			tcp_sendq_unlose(q);
		else if (below(20) == 0)
			tcp_sendq_forget_sacks(q);
		else if (q->nxt && !(tcp_sendq_at(q, i)->flags & TCP_REC_SACKED) && below(4) == 0)
			tcp_sendq_sent(q, i, now); /* a probe: sent again though not lost */
	}
}

static void test_anything_goes(void **state)
{
	struct tcp_sendq q = {0};
	uint32_t end = 0xffffff00;

	q.head = 0xfffffff0; /* ids wrap as well */
	for (uint64_t now = 1; now < 200000; now++) {
		step(&q, &end, now);
		check(&q);
	}
	tcp_sendq_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ack_frees_across_the_wrap),
		cmocka_unit_test(test_old_ack_changes_nothing),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_scoreboard),
		cmocka_unit_test(test_sack_of_what_was_not_sent),
		cmocka_unit_test(test_losses_in_any_order),
		cmocka_unit_test(test_the_oldest_lost_is_the_next),
		cmocka_unit_test(test_no_sample_from_what_was_sent_twice),
		cmocka_unit_test(test_ack_inside_a_lost_record),
		cmocka_unit_test(test_split_and_renew),
		cmocka_unit_test(test_split_of_the_unsent),
		cmocka_unit_test(test_fin_takes_one),
		cmocka_unit_test(test_fin_behind_text),
		cmocka_unit_test(test_anything_goes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
