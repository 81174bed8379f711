/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets that wait for a neighbour's answer. */
#include "ip/neighbour_priv.h"
#include "ip/stack.h"
#include "neighbour_case.h"
#include "support/eal.h"

#include <rte_mbuf.h>

static void queue_keeps_the_youngest(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	for (unsigned i = 0; i < NEIGHBOUR_QUEUE + 3; i++) {
		p.tos = (uint8_t)(i << 2);
		neighbour_case_send(h, &p);
	}
	host_forget(h);
	host_input_hex(h, REPLY);
	assert_int_equal(h->n_tx, NEIGHBOUR_QUEUE);
	for (unsigned i = 0; i < NEIGHBOUR_QUEUE; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(h->tx[i], uint8_t *, 15), (i + 3) << 2);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 3);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	host_free(h);
}

static bool has_odd_tos(const struct rte_mbuf *m, const void *arg)
{
	return *rte_pktmbuf_mtod_offset(m, const uint8_t *, 15) >> 2 & *(const uint8_t *)arg;
}

/** Also room for others is made by what is dropped. */
static void some_of_what_waits_is_dropped(void **state)
{
	const uint8_t odd = 1;
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	for (unsigned i = 0; i < 4; i++) {
		p.tos = (uint8_t)(i << 2);
		neighbour_case_send(h, &p);
	}
	ip_drop_waiting(h->ip, has_odd_tos, &odd);
	assert_int_equal(neighbour_case_entry(h)->queued, 2);
	assert_int_equal(h->ip->neighbours.queued, 2);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 2);
	host_forget(h);
	host_input_hex(h, REPLY);
	assert_int_equal(h->n_tx, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(h->tx[i], uint8_t *, 15), i << 3);
	assert_int_equal(h->ip->neighbours.queued, 0);
	host_free(h);
}

static bool is_any(const struct rte_mbuf *m, const void *arg)
{
	++*(unsigned *)(uintptr_t)arg;
	return true;
}

/** Wherever in the table they wait, the last place included. */
static void all_that_waits_is_dropped(void **state)
{
	static const unsigned place[] = {0, 1, NEIGHBOUR_MAX - 1};
	struct host *h = host_new_v4();
	struct ip_neighbour *e = h->ip->neighbours.e;
	unsigned asked = 0;

	for (unsigned i = 0; i < 3; i++) {
		e[place[i]].stack = h->ip;
		neighbour_enqueue(h->ip, &e[place[i]], host_segment(h, 20));
	}
	ip_drop_waiting(h->ip, is_any, &asked);
	assert_int_equal(asked, 3);
	assert_int_equal(h->ip->neighbours.queued, 0);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 3);
	host_free(h);
}

static void waiting_packets_are_freed_with_the_stack(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	neighbour_case_send(h, &p);
	host_free(h);
}

static void strangers_do_not_fill_the_pool(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("fd00::2");

	for (unsigned i = 0; i < 400; i++) {
		struct ip_path p = {.tos = 0};

		dst.b[14] = (uint8_t)(1 + i / 256);
		dst.b[15] = (uint8_t)i;
		assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now);
		assert_int_equal(h->n_tx, 1); /* whichever it is, it is asked for */
		host_run(h, SECOND / 200);
		host_forget(h);
	}
	assert_int_equal(test_pool_missing(h->pool), NEIGHBOUR_QUEUED_MAX);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 400 - NEIGHBOUR_QUEUED_MAX);
	for (unsigned i = 0; i < 500; i++) { /* and in time all are given up */
		host_run(h, SECOND / 100);
		host_forget(h);
	}
	assert_int_equal(test_pool_missing(h->pool), 0);
	assert_int_equal(h->ip->neighbours.queued, 0);
	host_free(h);
}

/** Emptied, it is as at first, and what it had is the taker's. */
static void what_is_taken_is_not_there_any_more(void **state)
{
	struct host *h = host_new_v4();
	struct ip_neighbour *n = neighbour_case_entry(h);
	struct rte_mbuf *m[NEIGHBOUR_QUEUE], *taken[NEIGHBOUR_QUEUE], *none[NEIGHBOUR_QUEUE];

	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < NEIGHBOUR_QUEUE - turn; i++)
			neighbour_enqueue(h->ip, n, m[i] = host_segment(h, 20));
		assert_int_equal(h->ip->neighbours.queued, NEIGHBOUR_QUEUE - turn);
		assert_int_equal(neighbour_take_queue(n, taken), NEIGHBOUR_QUEUE - turn);
		assert_int_equal(neighbour_take_queue(n, none), 0);
		assert_int_equal(h->ip->neighbours.queued, 0);
		for (unsigned i = 0; i < NEIGHBOUR_QUEUE - turn; i++) {
			assert_ptr_equal(taken[i], m[i]);
			rte_pktmbuf_free(m[i]);
		}
	}
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 0);
	host_free(h);
}

/** Where all have what they may together, one that is full has its youngest all the same. */
static void a_full_queue_goes_on_where_all_are_full(void **state)
{
	struct host *h = host_new_v4();
	struct ip_neighbour *n = neighbour_case_entry(h), *other;
	struct ip_addr a = host_addr("10.0.0.3");
	struct rte_mbuf *youngest;

	for (unsigned i = 0; i < NEIGHBOUR_QUEUE; i++)
		neighbour_enqueue(h->ip, n, host_segment(h, 20));
	other = neighbour_get(h->ip, &a, h->now);
	h->ip->neighbours.queued = NEIGHBOUR_QUEUED_MAX;
	neighbour_enqueue(h->ip, other, host_segment(h, 20));
	assert_int_equal(other->queued, 0);
	neighbour_enqueue(h->ip, n, youngest = host_segment(h, 20));
	assert_int_equal(n->queued, NEIGHBOUR_QUEUE);
	assert_ptr_equal(n->queue[NEIGHBOUR_QUEUE - 1], youngest);
	assert_int_equal(h->ip->neighbours.queued, NEIGHBOUR_QUEUED_MAX);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_queue_drops, 2);
	h->ip->neighbours.queued = NEIGHBOUR_QUEUE;
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_keeps_the_youngest),
		cmocka_unit_test(some_of_what_waits_is_dropped),
		cmocka_unit_test(all_that_waits_is_dropped),
		cmocka_unit_test(waiting_packets_are_freed_with_the_stack),
		cmocka_unit_test(strangers_do_not_fill_the_pool),
		cmocka_unit_test(what_is_taken_is_not_there_any_more),
		cmocka_unit_test(a_full_queue_goes_on_where_all_are_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
