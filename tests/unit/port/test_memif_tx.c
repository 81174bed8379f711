/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static uint8_t octet(unsigned seed, unsigned i)
{
	return (uint8_t)(seed * 31 + i + i / 256);
}

/** A frame of @p len octets, in @p pieces mbufs. */
static struct rte_mbuf *frame(struct port *p, unsigned seed, unsigned len, unsigned pieces)
{
	struct rte_mbuf *first = NULL, *last = NULL;

	for (unsigned at = 0, k = 0; k < pieces; k++) {
		unsigned n = k + 1 < pieces ? len / pieces : len - at;
		struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));
		uint8_t *text;

		assert_non_null(m);
		text = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)n);
		assert_non_null(text);
		for (unsigned i = 0; i < n; i++, at++)
			text[i] = octet(seed, at);
		if (!first) {
			first = m;
		} else {
			last->next = m;
			first->nb_segs++;
			first->pkt_len += n;
		}
		last = m;
	}
	return first;
}

static void assert_is_frame(struct rte_mbuf *m, unsigned seed, unsigned len)
{
	static uint8_t copy[16384];
	const uint8_t *text = rte_pktmbuf_read(m, 0, m->pkt_len, copy);

	assert_int_equal(m->pkt_len, len);
	for (unsigned i = 0; i < len; i++)
		assert_int_equal(text[i], octet(seed, i));
}

/** Frames of @p len octets, a burst, which @p to gets as they are. */
static void assert_burst_arrives(
	struct port *from, struct port *to, unsigned n, unsigned len, unsigned pieces)
{
	struct rte_mbuf *got[32];
	unsigned have;

	for (unsigned i = 0; i < n; i++)
		port_tx(from, frame(from, len + i, len, pieces));
	port_flush(from);
	have = port_rx(to, got, 32);
	assert_int_equal(have, n);
	for (unsigned i = 0; i < n; i++)
		assert_is_frame(got[i], len + i, len);
	rte_pktmbuf_free_bulk(got, have);
}

/** Another connection, of a client with @p arguments. */
static void reopen(const char *arguments)
{
	port_close(client);
	while (port_watch(server))
		memif_pair_nap();
	memif_pair_client_arguments(arguments);
	memif_pair_open_client();
	memif_pair_connect();
}

/** Both ways to copy, all lengths of a last line, the ring around several times. */
static void assert_all_arrive(struct port *from, struct port *to)
{
	struct memif_tx *t = &from->memif.tx;

	assert_non_null(t->end.ring);
	for (unsigned way = 0; way < MEMIF_TX_WAYS; way++)
		for (unsigned len = 60; len < 1530; len += len < 640 || len > 1400 ? 1 : 61) {
			t->way = way;
			t->bursts = 0; /* the other is not tried */
			assert_burst_arrives(from, to, 1 + len % 8, len, 1);
		}
}

static void a_clients_frames_arrive(void **state)
{
	assert_true(client->memif.tx.end.client);
	assert_all_arrive(client, server);
}

static void a_servers_frames_arrive(void **state)
{
	assert_false(server->memif.tx.end.client);
	assert_all_arrive(server, client);
}

/** What lies in pieces, and what takes more than one buffer of the ring. */
static void frames_in_pieces_arrive(void **state)
{
	struct port *ends[] = {client, server};

	for (unsigned i = 0; i < 2; i++) {
		struct port *from = ends[i], *to = ends[1 - i];

		for (unsigned len = 60; len < 1500; len += 97) {
			assert_burst_arrives(from, to, 3, len, 3);
			assert_burst_arrives(from, to, 3, len, 1);
		}
	}
}

/** Frames that a receiver copies in several pieces. */
static void large_frames_arrive(void **state)
{
	struct port *ends[2];

	memif_pair_open_second("@uiwarp-test-tx-2", 9000, ends);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned len = 2000; len <= 9014; len += 167) {
			assert_burst_arrives(ends[i], ends[1 - i], 1, len, 1);
			assert_burst_arrives(ends[i], ends[1 - i], 7, len, 1);
		}
	port_close(ends[1]);
	port_close(ends[0]);
}

/** Buffers of 512 octets, 16 of them: both ways, all positions in the ring. */
static void frames_go_into_small_buffers(void **state)
{
	struct port *ends[] = {client, server};

	reopen(",rsize=4,bsize=512");
	for (unsigned i = 0; i < 2; i++) {
		struct port *from = ends[i] == server ? server : client;
		struct port *to = from == server ? client : server;

		for (unsigned len = 500; len < 2040; len += 31)
			for (unsigned pieces = 1; pieces < 4; pieces++) {
				from->memif.tx.way = len & 1;
				from->memif.tx.bursts = 0;
				assert_burst_arrives(from, to, 4, len, pieces);
			}
	}
	reopen(",rsize=4");
}

/** A frame that the whole ring has no room for does not keep the others back. */
static void what_never_fits_is_dropped(void **state)
{
	reopen(",rsize=1,bsize=512");
	for (unsigned i = 0; i < 2; i++) {
		struct port *from = i ? server : client, *to = i ? client : server;
		struct rte_mbuf *got[4];

		port_tx(from, frame(from, 1, 1500, 1));
		port_tx(from, frame(from, 2, 1000, 1));
		port_flush(from);
		assert_false(port_has_queued(from));
		assert_int_equal(port_rx(to, got, 4), 1);
		assert_is_frame(got[0], 2, 1000);
		rte_pktmbuf_free(got[0]);
	}
	reopen(",rsize=4");
}

/** A server whose peer takes buffers back, or points elsewhere. */
static void a_peers_buffers_may_be_anything(void **state)
{
	static const struct memif_desc bad[] = {{.region = 7, .length = 2048},
		{.offset = UINT32_MAX, .length = 2048}, {.length = UINT32_MAX}, {.length = 0}};
	struct memif_tx *t = &server->memif.tx;
	uint16_t slot = atomic_load(&t->end.ring->tail);

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		t->end.ring->desc[slot & t->end.mask] = bad[i];
		port_tx(server, frame(server, 1, 100, 1));
		port_flush(server);
		port_drop(server);
		slot = atomic_load(&t->end.ring->tail);
	}
	reopen(",rsize=4");
	assert_all_arrive(server, client);
}

static void what_has_no_room_waits(void **state)
{
	struct rte_mbuf *got[32];
	unsigned have = 0, n;

	for (unsigned i = 0; i < 40; i++)
		port_tx(client, frame(client, i, 1000, 1));
	port_flush(client);
	assert_true(port_backlog(client) > 0);
	while ((n = port_rx(server, got, 32)) > 0) {
		for (unsigned i = 0; i < n; i++)
			assert_is_frame(got[i], have + i, 1000);
		rte_pktmbuf_free_bulk(got, n);
		have += n;
		port_flush(client);
	}
	assert_int_equal(have, 40);
	assert_int_equal(port_backlog(client), 0);
}

static enum memif_tx_way way_after_a_burst(void)
{
	assert_burst_arrives(client, server, 8, 1500, 1);
	return client->memif.tx.way;
}

/** The other way is tried for a while now and then, and taken if it costs less. */
static void the_faster_way_is_taken(void **state)
{
	struct memif_tx *t = &client->memif.tx;

	for (unsigned i = 0; i < 4; i++) {
		enum memif_tx_way way = t->way, other = MEMIF_TX_WAYS - 1 - way;
		bool wins = i & 1;

		t->bursts = MEMIF_TX_BURSTS_PER_TRY;
		t->cost[other] = 0;
		for (unsigned n = 1; n < MEMIF_TX_BURSTS_OF_TRY; n++)
			assert_int_equal(way_after_a_burst(), way);
		assert_true(t->cost[other] > 0);
		t->cost[way] = wins ? UINT64_MAX : 1;
		assert_int_equal(way_after_a_burst(), wins ? other : way);
		assert_int_equal(t->bursts, 0);
	}
}

/** The first frames wait for no pages, though nothing has been sent yet. */
static void assert_is_populated(const struct port *p)
{
	const struct memif_region *m = &p->memif.regions.region[0];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (m->len + page - 1) / page;
	unsigned char there[4096];

	assert_in_range(pages, 2, sizeof there);
	assert_int_equal(mincore(m->memory, m->len, there), 0);
	for (size_t i = 0; i < pages; i++)
		assert_true(there[i] & 1);
}

/** Every connection has memory of its own. */
static void it_goes_and_comes_with_the_peer(void **state)
{
	port_close(client);
	while (port_watch(server))
		memif_pair_nap();
	assert_null(server->memif.tx.end.ring);
	memif_pair_open_client();
	memif_pair_connect();
	assert_is_populated(client);
	assert_is_populated(server);
	assert_all_arrive(client, server);
	assert_all_arrive(server, client);
}

static int open_both(void **state)
{
	memif_pair_open("@uiwarp-test-tx", ",rsize=4");
	return 0;
}

static int close_both(void **state)
{
	memif_pair_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clients_frames_arrive),
		cmocka_unit_test(a_servers_frames_arrive),
		cmocka_unit_test(frames_in_pieces_arrive),
		cmocka_unit_test(large_frames_arrive),
		cmocka_unit_test(frames_go_into_small_buffers),
		cmocka_unit_test(what_never_fits_is_dropped),
		cmocka_unit_test(a_peers_buffers_may_be_anything),
		cmocka_unit_test(what_has_no_room_waits),
		cmocka_unit_test(the_faster_way_is_taken),
		cmocka_unit_test(it_goes_and_comes_with_the_peer),
	};

	return cmocka_run_group_tests(tests, open_both, close_both);
}
