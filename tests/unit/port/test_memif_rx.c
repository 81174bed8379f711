/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_pair.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_readable(const struct port *p)
{
	struct pollfd fd = {.fd = port_rx_fd(p), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static void send_one(struct port *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), 0x5a, 60);
	port_tx(p, m);
	port_flush(p);
}

static unsigned take_all(struct port *p)
{
	struct rte_mbuf *got[32];
	unsigned n, all = 0;

	while ((n = port_rx(p, got, 32)) > 0) {
		rte_pktmbuf_free_bulk(got, n);
		all += n;
	}
	return all;
}

/* ---- the interrupt ------------------------------------------------------------------------ */

static void masked_nobody_writes(void **state)
{
	send_one(client);
	assert_false(is_readable(server));
	assert_int_equal(take_all(server), 1);
}

static void armed_it_tells_of_frames(struct port *from, struct port *to)
{
	port_rx_arm(to);
	assert_false(is_readable(to));
	send_one(from);
	assert_true(is_readable(to));
	/* To receive takes it back, and the next frame is told again. */
	assert_int_equal(take_all(to), 1);
	assert_false(is_readable(to));
	send_one(from);
	assert_true(is_readable(to));
	port_rx_woken(to);
	assert_false(is_readable(to));
	send_one(from);
	assert_false(is_readable(to));
	assert_int_equal(take_all(to), 2);
}

static void both_ends_have_one(void **state)
{
	armed_it_tells_of_frames(client, server);
	armed_it_tells_of_frames(server, client);
}

/** A flag in memory of the peer's is no reason to ask the kernel at each burst. */
static void who_is_not_armed_takes_nothing(void **state)
{
	atomic_fetch_and(&server->memif.rx.end.ring->flags, (uint16_t)~MEMIF_RING_MASK_INT);
	send_one(client);
	assert_int_equal(take_all(server), 1);
	assert_true(is_readable(server));
	port_rx_woken(server);
	assert_false(is_readable(server));
}

/** Every connection has a ring and a descriptor of its own. */
static void it_goes_and_comes_with_the_peer(void **state)
{
	port_close(client);
	while (port_watch(server))
		memif_pair_nap();
	assert_int_equal(port_rx_fd(server), -1);
	assert_false(port_rx_is_interrupt(server));
	port_rx_arm(server);
	port_rx_woken(server);
	assert_int_equal(take_all(server), 0);
	memif_pair_open_client();
	memif_pair_connect();
	both_ends_have_one(state);
}

static void a_peer_that_came_back_unseen(void **state)
{
	struct memif_regions old = server->memif.regions;

	assert_true(memif_regions_are_current(&old));
	port_close(client);
	memif_pair_open_client();
	/* The server looks after its link again only when there is another one. */
	while (!port_watch(client))
		memif_pair_nap();
	memif_pair_connect();
	assert_true(memif_regions_are_current(&server->memif.regions));
	assert_false(memif_regions_are_current(&old));
	both_ends_have_one(state);
}

static void once_disbelieved_it_is_left_until_another_peer_comes(void **state)
{
	port_rx_disbelieve(server, 2);
	assert_true(port_watch(server));
	assert_int_equal(port_rx_fd(server), -1);
	send_one(client);
	assert_int_equal(take_all(server), 1);
	it_goes_and_comes_with_the_peer(state);
}

/* ---- frames ------------------------------------------------------------------------------- */

/** The descriptor of the ring to @p to that is read as the @p i th from now. */
static struct memif_desc *desc_of(struct port *to, unsigned i)
{
	struct memif_rx *rx = &to->memif.rx;

	return &rx->end.ring->desc[(rx->slot + i) & rx->end.mask];
}

/** The peer says that it has sent @p n descriptors more than there are. */
static void publish(struct port *to, unsigned n)
{
	struct memif_rx *rx = &to->memif.rx;
	_Atomic uint16_t *index = rx->end.client ? &rx->end.ring->tail : &rx->end.ring->head;

	atomic_store(index, (uint16_t)(atomic_load(index) + n));
}

static void what_is_no_frame_is_dropped(void **state)
{
	static const struct memif_desc bad[] = {
		{.region = 1, .length = 60},
		{.region = UINT16_MAX, .length = 60},
		{.offset = UINT32_MAX, .length = 60},
		{.length = UINT32_MAX},
		{.length = 0},
		{.length = 20000},
		{.length = 60, .flags = MEMIF_DESC_NEXT},
	};
	struct port *ends[] = {client, server};

	for (unsigned e = 0; e < 2; e++)
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
			struct memif_rx *rx = &ends[e]->memif.rx;
			struct memif_desc before = *desc_of(ends[e], 0);
			uint64_t dropped = port_rx_missed(ends[e]);

			*desc_of(ends[e], 0) = bad[i];
			publish(ends[e], 1);
			desc_of(ends[e], 0)->offset |= before.offset;
			assert_int_equal(take_all(ends[e]), 0);
			assert_int_equal(port_rx_missed(ends[e]), dropped + 1);
			before.length = rx->end.room;
			rx->end.ring->desc[(rx->slot - 1) & rx->end.mask] = before;
			/* The next is not harmed. */
			send_one(ends[1 - e]);
			assert_int_equal(take_all(ends[e]), 1);
		}
}

/** A frame with a bad one on both sides, all at once. */
static void those_beside_it_arrive(void **state)
{
	struct rte_mbuf *got[32];
	struct memif_desc before;

	for (unsigned i = 0; i < 3; i++)
		send_one(client);
	before = *desc_of(server, 1);
	desc_of(server, 1)->region = 9;
	assert_int_equal(port_rx(server, got, 32), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(got[i]->pkt_len, 60);
		assert_int_equal(*rte_pktmbuf_mtod(got[i], uint8_t *), 0x5a);
	}
	rte_pktmbuf_free_bulk(got, 2);
	server->memif.rx.end.ring->desc[(server->memif.rx.slot - 2) & server->memif.rx.end.mask] =
		before;
}

/** What a burst has no room for is there for the next. */
static void a_small_burst_leaves_the_rest(void **state)
{
	struct rte_mbuf *got[3];
	unsigned n, all = 0;

	for (unsigned i = 0; i < 8; i++)
		send_one(server);
	while ((n = port_rx(client, got, 3)) > 0) {
		assert_in_range(n, 1, 3);
		rte_pktmbuf_free_bulk(got, n);
		all += n;
	}
	assert_int_equal(all, 8);
}

/** A pool that has run out costs no frame: they wait in the ring. */
static void without_buffers_frames_wait(void **state)
{
	static struct rte_mbuf *held[1 << 16];
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++)
		send_one(client);
	while (n < sizeof held / sizeof *held && (held[n] = rte_pktmbuf_alloc(port_pool(server))))
		n++;
	assert_in_range(n, 4, sizeof held / sizeof *held - 1);
	assert_int_equal(take_all(server), 0);
	/* Too few for all of them at once. */
	rte_pktmbuf_free_bulk(held, 3);
	assert_int_equal(take_all(server), 8);
	rte_pktmbuf_free_bulk(held + 3, n - 3);
}

/** Whatever is in a ring, its other end goes on. */
static void nothing_in_a_ring_does_harm(void **state)
{
	unsigned seed = 20261124;
	struct rte_mbuf *got[32];

	for (unsigned round = 0; round < 20000; round++) {
		struct port *p = round & 1 ? client : server;
		struct memif_rx *rx = &p->memif.rx;
		struct memif_desc *d = &rx->end.ring->desc[rand_r(&seed) & rx->end.mask];
		unsigned n;

		switch (rand_r(&seed) % 4) {
		case 0:
			d->flags = (uint16_t)rand_r(&seed);
			break;
		case 1:
			d->region = (uint16_t)(rand_r(&seed) % 3);
			break;
		case 2:
			d->offset = (uint32_t)rand_r(&seed) * 2;
			break;
		default:
			d->length = (uint32_t)rand_r(&seed) % 4096;
		}
		publish(p, (unsigned)rand_r(&seed) % 64);
		n = port_rx(p, got, 32);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(got[i]->pkt_len, got[i]->data_len);
		rte_pktmbuf_free_bulk(got, n);
		send_one(p);
	}
	/* A new connection has rings of its own. */
	it_goes_and_comes_with_the_peer(state);
}

/* ---- life --------------------------------------------------------------------------------- */

/** Without the link nothing is known of the connection, and nothing is touched. */
static void nothing_is_received_before_the_link_was_seen(void **state)
{
	struct memif_rx none = {0};

	memif_ring_close(&none.end);
	port_close(client);
	while (port_watch(server))
		memif_pair_nap();
	memif_pair_open_client();
	while (!port_watch(client) || !port_link(server, NULL))
		memif_pair_nap();
	send_one(client);
	assert_int_equal(take_all(server), 0);
	memif_pair_connect();
	assert_int_equal(take_all(server), 1);
}

static void without_regions_there_is_no_ring(void **state)
{
	struct memif_regions regions, none = {0};
	struct memif_rx rx = {0};

	assert_int_equal(memif_regions_open(&regions, RTE_MAX_ETHPORTS - 1), -ENOENT);
	assert_false(memif_regions_are_current(&regions));
	assert_int_equal(memif_rx_open(&rx, &none, server->id), -EPROTO);
	assert_null(rx.end.ring);
}

static int setup(void **state)
{
	memif_pair_open("@uiwarp-test-rx", ",rsize=4");
	return 0;
}

static int teardown(void **state)
{
	memif_pair_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masked_nobody_writes),
		cmocka_unit_test(both_ends_have_one),
		cmocka_unit_test(who_is_not_armed_takes_nothing),
		cmocka_unit_test(it_goes_and_comes_with_the_peer),
		cmocka_unit_test(a_peer_that_came_back_unseen),
		cmocka_unit_test(once_disbelieved_it_is_left_until_another_peer_comes),
		cmocka_unit_test(what_is_no_frame_is_dropped),
		cmocka_unit_test(those_beside_it_arrive),
		cmocka_unit_test(a_small_burst_leaves_the_rest),
		cmocka_unit_test(without_buffers_frames_wait),
		cmocka_unit_test(nothing_in_a_ring_does_harm),
		cmocka_unit_test(nothing_is_received_before_the_link_was_seen),
		cmocka_unit_test(without_regions_there_is_no_ring),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
