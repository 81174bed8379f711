/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/external.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD 20
#define LEN  1000
#define TAIL 4
#define SIZE (HEAD + LEN + TAIL)

static struct host h;
static struct peer p;
static struct tcp_conn *c;
static struct rte_mempool *pool;
static struct llp_memory *memory;
static uint8_t *bytes; /* of the program's */
static unsigned mapped, settled;
static int map_error;
static struct rte_mbuf *with_device; /* what the port lets go of when it is asked to */
static uint8_t text[SIZE];           /* of a record, as the peer should see it */
static uint32_t seq;                 /* of the first */

/* ---- a port that gathers ------------------------------------------------------------------- */

static int map(void *ctx, const void *addr, size_t len)
{
	mapped += map_error == 0;
	return map_error;
}

static void unmap(void *ctx, const void *addr, size_t len)
{
	assert_non_null(addr);
	assert_int_equal(len, 2 * LEN);
	mapped--;
}

static bool settle(void *ctx)
{
	settled++;
	rte_pktmbuf_free(with_device);
	with_device = NULL;
	return settled < 3;
}

/** The port's queue; unless all that was sent waits for the neighbour. */
static void drop(
	void *ctx, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
	if (!h.ip.waits)
		ip_double_drop(&h.ip, is_of, arg);
}

/** What a record has now. */
static void expect_bytes(void)
{
	memset(text, 'h', HEAD);
	memcpy(text + HEAD, bytes, LEN);
	memset(text + HEAD + LEN, 0, TAIL);
}

static void start(unsigned mbufs)
{
	const struct tcp_stack_config tweak = {
		.external = {.map = map, .unmap = unmap, .settle = settle, .drop = drop}};
	struct tcp_stack_config t = tweak;

	test_eal_init();
	pool = t.external.pool = test_pool("external", mbufs, 0);
	settled = 0;
	map_error = 0;
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED, &t);
	seq = p.ack;
	h.ip.no_sums = true;
	assert_true(llp_takes_external(h.app.llp));
	bytes = malloc(2 * LEN);
	for (unsigned i = 0; i < 2 * LEN; i++)
		bytes[i] = (uint8_t)(i * 7);
	expect_bytes();
	memory = llp_memory_add(h.llp, bytes, 2 * LEN);
	assert_non_null(memory);
	assert_int_equal(mapped, 1);
}

static void finish(void)
{
	if (memory)
		llp_memory_remove(h.llp, memory);
	memory = NULL;
	host_end(&h);
	assert_int_equal(mapped, 0);
	assert_int_equal(test_pool_missing(pool), 0);
	rte_mempool_free(pool);
	free(bytes);
	bytes = NULL;
}

static bool commit(bool join)
{
	uint8_t *room = llp_reserve(h.app.llp, SIZE, join);

	assert_non_null(room);
	memset(room, 'h', HEAD);
	return llp_commit_external(
		h.app.llp, SIZE, HEAD, &(struct llp_external){memory, bytes, LEN});
}

static void send_one(void)
{
	assert_true(commit(false));
	llp_push(h.app.llp);
}

/** And the device has it. */
static void start_with_device(void)
{
	start(63);
	send_one();
	with_device = ip_double_take(&h.ip);
}

/** A frame of the record that begins at @p begin, cut by @p skip bytes in front. */
static void expect_text(uint32_t begin, uint32_t skip, uint32_t len)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.seq, begin + skip);
	assert_int_equal(a.len, len);
	assert_memory_equal(a.text, text + skip, len);
}

static unsigned references(void)
{
	return test_pool_missing(pool);
}

static bool is_external(uint32_t i)
{
	return tcp_sendq_at(&c->sendq, i)->flags & TCP_REC_EXTERNAL;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_sent_from_where_it_lies(void **state)
{
	start(63);
	send_one();
	assert_true(is_external(0));
	assert_int_equal(tcp_stack_stats(h.tcp)->external_out, 1);
	assert_int_equal(references(), 2);
	expect_text(seq, 0, SIZE);
	peer_send_at(&p, TCP_ACK, p.seq, seq + SIZE, NULL, 0);
	assert_int_equal(references(), 0);
	assert_int_equal(c->sendq.count, 0);
	finish();
}

/** What is committed reads the memory when it is sent, not before. */
static void test_read_when_it_is_sent(void **state)
{
	start(63);
	assert_true(commit(false));
	memset(bytes, 0x5a, LEN);
	expect_bytes();
	llp_push(h.app.llp);
	expect_text(seq, 0, SIZE);
	finish();
}

static void test_sent_again_from_a_copy(void **state)
{
	start(63);
	send_one();
	expect_text(seq, 0, SIZE);
	host_advance(&h, 2000 * MS);
	assert_false(is_external(0));
	assert_int_equal(tcp_stack_stats(h.tcp)->external_out, 1);
	assert_int_equal(references(), 0);
	expect_text(seq, 0, SIZE);
	ip_double_drain(&h.ip);
	finish();
}

static void acknowledge_one(void)
{
	ip_double_drain(&h.ip);
	peer_send_at(&p, TCP_ACK, p.seq, c->snd_nxt, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
}

/** It is sent again once, and not so often that the path's MTU is in doubt. */
static void lose_one(void)
{
	send_one();
	while (is_external(0))
		host_advance(&h, 50 * MS);
	acknowledge_one();
}

static void test_device_that_loses_them(void **state)
{
	start(63);
	for (unsigned i = 1; i < TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD; i++)
		lose_one();
	assert_true(llp_takes_external(h.app.llp));
	send_one();
	acknowledge_one();
	assert_int_equal(tcp_stack_stats(h.tcp)->external_backoffs, 1);
	assert_true(commit(false)); /* of a user that had asked before */
	llp_push(h.app.llp);
	assert_false(is_external(0));
	expect_text(c->snd_nxt - SIZE, 0, SIZE);
	acknowledge_one();
	host_advance(&h, 59000 * MS);
	assert_false(llp_takes_external(h.app.llp));
	host_advance(&h, 1000 * MS);
	assert_true(llp_takes_external(h.app.llp));
	finish();
}

/** The program writes there next: nobody reads it any more. */
static void own(void)
{
	assert_true(llp_own_external(h.app.llp));
	assert_int_equal(references(), 0);
	memset(bytes, 0x5a, LEN);
}

/** Copies are made for a while: of what is queued, too, when its memory is asked for. */
static void test_own_while_it_backs_off(void **state)
{
	start(63);
	for (unsigned i = 1; i < TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD; i++)
		lose_one();
	send_one();
	acknowledge_one();
	seq = c->snd_nxt;
	assert_true(commit(false)); /* of a user that had asked before */
	assert_false(llp_takes_external(h.app.llp));
	own();
	llp_push(h.app.llp);
	expect_text(seq, 0, SIZE);
	acknowledge_one();
	finish();
}

/** The port has not sent it yet: it keeps what it has, and the memory with it. */
static void test_sent_again_while_the_port_has_it(void **state)
{
	start(63);
	send_one();
	host_advance(&h, 2000 * MS);
	assert_false(is_external(0));
	assert_int_equal(references(), 2);
	expect_text(seq, 0, SIZE);
	assert_int_equal(references(), 0);
	expect_text(seq, 0, SIZE);
	ip_double_drain(&h.ip);
	finish();
}

/** A part of it is acknowledged: of its head, and beyond. */
static void test_acknowledged_in_part(void **state)
{
	static const uint32_t parts[] = {5, HEAD, HEAD + 1, HEAD + LEN, HEAD + LEN + 1};

	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		start(63);
		send_one();
		expect_text(seq, 0, SIZE);
		peer_send_at(&p, TCP_ACK, p.seq, seq + parts[i], NULL, 0);
		host_advance(&h, 3000 * MS);
		expect_text(seq, parts[i], SIZE - parts[i]);
		ip_double_drain(&h.ip);
		finish();
	}
}

/** The path takes less than it did: what waits is cut, of what was sent there is a copy. */
static void test_cut(void **state)
{
	start(63);
	assert_true(commit(false));
	h.ip.path_mtu = 600;
	llp_push(h.app.llp);
	expect_text(seq, 0, 560);
	expect_text(seq, 560, SIZE - 560);
	assert_int_equal(references(), 0);
	ip_double_drain(&h.ip);
	finish();
}

static void test_nothing_joins_it(void **state)
{
	struct heard a;

	start(63);
	assert_true(commit(false));
	assert_non_null(llp_reserve(h.app.llp, 10, true));
	llp_commit(h.app.llp, 10);
	assert_int_equal(c->sendq.count, 2);
	llp_push(h.app.llp);
	expect_text(seq, 0, SIZE);
	host_expect(&h, &a);
	assert_int_equal(a.len, 10);
	finish();
}

/** It joins others only as a copy. */
static void test_joins_as_a_copy(void **state)
{
	struct heard a;

	start(63);
	assert_non_null(llp_reserve(h.app.llp, 10, false));
	llp_commit(h.app.llp, 10);
	assert_true(commit(true));
	assert_int_equal(c->sendq.count, 1);
	assert_int_equal(references(), 0);
	llp_push(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.len, 10 + SIZE);
	assert_memory_equal(a.text + 10, text, SIZE);
	finish();
}

static void test_copies_without_mbufs(void **state)
{
	start(1);
	send_one();
	assert_false(is_external(0));
	expect_text(seq, 0, SIZE);
	finish();
}

/** Nobody reads the memory after that: the address sanitizer would tell. */
static void test_removed_under_way(void **state)
{
	start_with_device();
	llp_memory_remove(h.llp, memory);
	memory = NULL;
	assert_int_equal(settled, 1);
	assert_int_equal(mapped, 0);
	assert_int_equal(references(), 0);
	free(bytes);
	bytes = NULL;
	host_advance(&h, 2000 * MS);
	expect_text(seq, 0, SIZE);
	ip_double_drain(&h.ip);
	finish();
}

/** A driver keeps it: the mapping stays until that is over. */
static void test_removed_and_kept_by_the_port(void **state)
{
	struct rte_mbuf *kept;

	start(63);
	send_one();
	kept = ip_double_take(&h.ip);
	llp_memory_remove(h.llp, memory);
	memory = NULL;
	assert_int_equal(settled, 3);
	assert_int_equal(mapped, 1);
	rte_pktmbuf_free(kept);
	assert_int_equal(mapped, 0);
	finish();
}

/** There is no memory for the copy: the stream cannot go on, and its peer hears so. */
static void test_no_room_for_the_copy(void **state)
{
	struct rte_mbuf *all[4095], *kept;
	struct heard a;
	unsigned n = 0;

	start(63);
	send_one();
	kept = ip_double_take(&h.ip);
	while ((all[n] = rte_pktmbuf_alloc(h.pool)))
		n++;
	llp_memory_remove(h.llp, memory);
	memory = NULL;
	assert_int_equal(mapped, 1);
	for (unsigned i = 0; i < n; i++)
		rte_pktmbuf_free(all[i]);
	host_advance(&h, 100 * MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNABORTED);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	rte_pktmbuf_free(kept);
	assert_int_equal(mapped, 0);
	finish();
}

static void test_own(void **state)
{
	start(63);
	assert_true(commit(false));
	assert_true(commit(false));
	assert_int_equal(references(), 4);
	assert_true(llp_own_external(h.app.llp));
	assert_int_equal(references(), 0);
	memset(bytes, 0x5a, LEN);
	llp_push(h.app.llp);
	expect_text(seq, 0, SIZE);
	expect_text(seq + SIZE, 0, SIZE);
	finish();
}

static void expect_a_copy(void)
{
	host_advance(&h, 3000 * MS);
	expect_text(seq, 0, SIZE);
	ip_double_drain(&h.ip);
}

static void test_own_while_the_device_reads(void **state)
{
	start_with_device();
	own();
	assert_int_equal(settled, 1);
	expect_a_copy();
	finish();
}

/** What has been sent again, as a copy, the device may have yet to send for the first time. */
static void test_own_what_was_sent_again(void **state)
{
	start_with_device();
	host_advance(&h, 2000 * MS);
	assert_false(is_external(0));
	assert_int_equal(references(), 2);
	own();
	expect_text(seq, 0, SIZE);
	ip_double_drain(&h.ip);
	finish();
}

/** A peer may acknowledge what it cannot have. */
static void test_own_what_was_acknowledged(void **state)
{
	start_with_device();
	peer_send_at(&p, TCP_ACK, p.seq, seq + SIZE, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
	assert_int_equal(references(), 2);
	own();
	finish();
}

/** What the device has not been given is lost. Others' frames are not. */
static void test_own_what_waits(void **state)
{
	for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
		start(63);
		h.ip.waits = neighbour;
		assert_non_null(llp_reserve(h.app.llp, 10, false));
		llp_commit(h.app.llp, 10);
		send_one();
		assert_int_equal(ip_double_pending(&h.ip), 2);
		own();
		assert_int_equal(ip_double_pending(&h.ip), 1);
		ip_double_drain(&h.ip);
		peer_send_at(&p, TCP_ACK, p.seq, seq + 10, NULL, 0);
		host_advance(&h, 3000 * MS);
		expect_text(seq + 10, 0, SIZE);
		ip_double_drain(&h.ip);
		finish();
	}
}

static void test_remove_what_waits(void **state)
{
	for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
		start(63);
		h.ip.waits = neighbour;
		send_one();
		llp_memory_remove(h.llp, memory);
		memory = NULL;
		assert_int_equal(mapped, 0);
		free(bytes);
		bytes = NULL;
		expect_a_copy();
		finish();
	}
}

/** There is an end to waiting for the device. The memory is mapped until then. */
static void test_own_and_kept_by_the_port(void **state)
{
	struct rte_mbuf *kept;

	start(63);
	send_one();
	kept = ip_double_take(&h.ip);
	assert_true(llp_own_external(h.app.llp));
	assert_int_equal(settled, 3);
	assert_int_equal(references(), 2);
	/* It was waited for once: not again while nothing has changed. */
	settled = 0;
	assert_true(llp_own_external(h.app.llp));
	llp_abort(h.app.llp);
	host_advance(&h, 100 * MS);
	ip_double_drain(&h.ip);
	assert_int_equal(settled, 0);
	settled = 3;
	llp_memory_remove(h.llp, memory);
	memory = NULL;
	assert_int_equal(mapped, 1);
	rte_pktmbuf_free(kept);
	assert_int_equal(mapped, 0);
	assert_int_equal(references(), 0);
	finish();
}

/** Its user hears that it is over: then its requests are flushed. */
/** What is not copied has its references until the connection ends, at once: they are not waited
 * for. */
static void test_own_without_room(void **state)
{
	struct rte_mbuf *all[4095], *kept;
	unsigned n = 0;

	start(63);
	send_one();
	kept = ip_double_take(&h.ip);
	while ((all[n] = rte_pktmbuf_alloc(h.pool)))
		n++;
	assert_false(llp_own_external(h.app.llp));
	assert_int_equal(settled, 1);
	for (unsigned i = 0; i < n; i++)
		rte_pktmbuf_free(all[i]);
	rte_pktmbuf_free(kept);
	host_advance(&h, 100 * MS);
	assert_int_equal(h.app.closed, 1);
	ip_double_drain(&h.ip);
	finish();
}

static void test_reset_while_the_device_reads(void **state)
{
	start_with_device();
	peer_send_at(&p, TCP_RST, p.seq, 0, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(references(), 0);
	finish();
}

static void test_abort_while_the_device_reads(void **state)
{
	start_with_device();
	llp_abort(h.app.llp);
	assert_int_equal(references(), 0);
	ip_double_drain(&h.ip);
	finish();
}

static void test_release_while_the_device_reads(void **state)
{
	start_with_device();
	llp_release(h.app.llp);
	assert_int_equal(references(), 0);
	ip_double_drain(&h.ip);
	finish();
}

static void test_release(void **state)
{
	struct heard a;

	start(63);
	send_one();
	expect_text(seq, 0, SIZE);
	llp_release(h.app.llp);
	assert_int_equal(references(), 0);
	memset(bytes, 0x5a, LEN);
	ip_double_drain(&h.ip); /* the FIN */
	host_advance(&h, 2000 * MS);
	do /* and once more */
		host_expect(&h, &a);
	while (!a.len);
	assert_int_equal(a.len, SIZE);
	assert_memory_equal(a.text, text, SIZE);
	ip_double_drain(&h.ip);
	finish();
}

static void test_abort(void **state)
{
	start(63);
	assert_true(commit(false));
	llp_abort(h.app.llp);
	assert_int_equal(references(), 0);
	finish();
}

static void test_not_mapped(void **state)
{
	start(63);
	map_error = -EBUSY;
	assert_null(llp_memory_add(h.llp, bytes, 2 * LEN));
	assert_int_equal(mapped, 1);
	finish();
}

static void test_off(void **state)
{
	c = host_accepted(&h, &p, 0, NULL);
	h.ip.no_sums = true;
	assert_false(llp_takes_external(h.app.llp));
	assert_true(llp_own_external(h.app.llp));
	assert_null(llp_memory_add(h.llp, &h, sizeof h));
	host_end(&h);
}

/** Then the sum would have to be made here, of what may change. */
static void test_not_where_we_sum(void **state)
{
	start(63);
	h.ip.no_sums = false;
	assert_false(llp_takes_external(h.app.llp));
	h.ip.no_sums = true;
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent_from_where_it_lies),
		cmocka_unit_test(test_read_when_it_is_sent),
		cmocka_unit_test(test_sent_again_from_a_copy),
		cmocka_unit_test(test_device_that_loses_them),
		cmocka_unit_test(test_own_while_it_backs_off),
		cmocka_unit_test(test_sent_again_while_the_port_has_it),
		cmocka_unit_test(test_acknowledged_in_part),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_nothing_joins_it),
		cmocka_unit_test(test_joins_as_a_copy),
		cmocka_unit_test(test_copies_without_mbufs),
		cmocka_unit_test(test_removed_under_way),
		cmocka_unit_test(test_removed_and_kept_by_the_port),
		cmocka_unit_test(test_no_room_for_the_copy),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_own_while_the_device_reads),
		cmocka_unit_test(test_own_what_was_sent_again),
		cmocka_unit_test(test_own_what_was_acknowledged),
		cmocka_unit_test(test_own_what_waits),
		cmocka_unit_test(test_remove_what_waits),
		cmocka_unit_test(test_own_and_kept_by_the_port),
		cmocka_unit_test(test_own_without_room),
		cmocka_unit_test(test_reset_while_the_device_reads),
		cmocka_unit_test(test_abort_while_the_device_reads),
		cmocka_unit_test(test_release_while_the_device_reads),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_not_mapped),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_not_where_we_sum),
	};

	return cmocka_run_group_tests_name("tcp-external", tests, NULL, NULL);
}
