/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_pair.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/** Peers that go while the other end is in the middle of a burst, which takes long enough for it.
 */
#define GOES  20
#define BURST 1024

static void *close_client(void *arg)
{
	port_close(client);
	return NULL;
}

/** The peer sends without end, as far as the server can tell. */
static void feed(struct port *p)
{
	struct memif_ring *ring = p->memif.rx.end.ring;

	for (unsigned i = 0; i <= p->memif.rx.end.mask; i++)
		ring->desc[i].length = 1500;
	atomic_store(&ring->head, (uint16_t)(atomic_load(&ring->tail) + BURST));
}

static void burst(struct port *p)
{
	static struct rte_mbuf *got[BURST];
	struct rte_mbuf *m;
	unsigned n;

	feed(p);
	n = port_rx(p, got, BURST);

	rte_pktmbuf_free_bulk(got, n);
	/* Nobody takes what is queued: when the ring is full, one frame at a time waits. */
	if (!port_has_queued(p)) {
		m = rte_pktmbuf_alloc(port_pool(p));
		assert_non_null(m);
		assert_non_null(rte_pktmbuf_append(m, 1000));
		port_tx(p, m);
	}
	port_flush(p);
}

/** The driver unmaps what both share as soon as it hears of the end, which may be now. */
static void a_peer_goes_while_it_is_sent_to(void **state)
{
	for (unsigned i = 0; i < GOES; i++) {
		pthread_t other;

		assert_true(memif_link_is_open(&server->memif));
		assert_int_equal(pthread_create(&other, NULL, close_client, NULL), 0);
		while (port_link(server, NULL))
			burst(server);
		pthread_join(other, NULL);
		assert_true(memif_link_is_open(&server->memif));
		assert_false(port_watch(server));
		port_flush(server);
		assert_false(port_has_queued(server));
		assert_false(memif_link_is_open(&server->memif));
		memif_pair_open_client();
		memif_pair_connect();
	}
}

/** Of a driver that is not known, bursts are its own, and the gate is shut meanwhile. */
static void a_driver_that_does_not_copy_does_it_all(void **state)
{
	struct memif_link l = {0};

	memif_link_watch(&l, server->id, false, false, NULL);
	assert_false(l.by_driver);
	memif_link_watch(&l, server->id, true, false, NULL);
	assert_true(l.by_driver);
	assert_false(memif_link_is_open(&l));
	memif_link_watch(&l, server->id, true, false, NULL);
	assert_true(l.by_driver);
	memif_link_watch(&l, server->id, false, false, NULL);
	assert_false(l.by_driver);
}

/** A peer that spoils its rings is not left to the driver, which believes what they say. */
static void a_spoilt_ring_is_not_the_driver_s(void **state)
{
	struct memif_ring *ring = server->memif.rx.end.ring;
	struct memif_link l = {0};

	assert_non_null(ring);
	atomic_fetch_xor(&ring->cookie, 1);
	memif_link_watch(&l, server->id, true, true, NULL);
	assert_false(l.by_driver);
	assert_false(memif_link_is_open(&l));
	atomic_fetch_xor(&ring->cookie, 1);
	memif_link_watch(&l, server->id, true, true, NULL);
	assert_true(memif_link_is_open(&l));
	memif_link_free(&l);
}

/** A server may spoil what its client finds of its own. */
static void buffers_that_are_none_are_refused(void **state)
{
	static const uint32_t bad[] = {0, UINT16_MAX + 1, UINT32_MAX};
	struct memif_ring *ring = client->memif.rx.end.ring;
	uint32_t before = ring->desc[1].offset;
	struct memif_link l = {0};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ring->desc[1].offset = ring->desc[0].offset + bad[i];
		memif_link_watch(&l, client->id, true, true, NULL);
		assert_int_equal(l.refused, -EPROTO);
		assert_false(l.by_driver);
		assert_false(memif_link_is_open(&l));
	}
	ring->desc[1].offset = before;
	memif_link_watch(&l, client->id, true, true, NULL);
	assert_true(memif_link_is_open(&l));
	assert_int_equal(l.refused, 0);
	memif_link_free(&l);
}

static struct rte_mbuf *taken(struct port *p)
{
	struct rte_mbuf *m = NULL;

	while (port_rx(p, &m, 1) == 0)
		memif_pair_nap();
	return m;
}

/** The driver can take over, and the rings are as it wants them. */
static void frames_go_by_the_driver(void **state)
{
	struct port *ends[2];

	/* From its beginning, as it keeps indices of its own. */
	port_close(client);
	while (port_watch(server))
		memif_pair_nap();
	memif_pair_open_client();
	client->copies = server->copies = false;
	memif_pair_connect();
	ends[0] = client;
	ends[1] = server;
	assert_true(client->memif.by_driver && server->memif.by_driver);
	assert_false(memif_link_is_open(&server->memif));
	assert_int_equal(port_rx_fd(server), -1);
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(ends[i]));

		/* A server sends into what the client's driver offers when it receives. */
		assert_int_equal(port_rx(ends[1 - i], &m, 0), 0);
		assert_non_null(rte_pktmbuf_append(m, 100 + i));
		port_tx(ends[i], m);
		port_flush(ends[i]);
		m = taken(ends[1 - i]);
		assert_int_equal(m->pkt_len, 100 + i);
		rte_pktmbuf_free(m);
	}
	client->copies = server->copies = true;
}

static void send_octet(struct port *p, uint8_t octet)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), octet, 60);
	port_tx(p, m);
	port_flush(p);
}

/** Which of the files of the process is whose. */
static void each_of_several_has_its_own(void **state)
{
	struct port *first[] = {server, client};
	struct port *end[2];

	memif_pair_open_second("@uiwarp-test-link-2", 0, end);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(end[i]->memif.regions.cookie != server->memif.regions.cookie);
		assert_true(end[i]->memif.regions.cookie != client->memif.regions.cookie);
	}
	for (uint8_t i = 0; i < 2; i++) {
		struct rte_mbuf *m;

		send_octet(end[i], (uint8_t)(10 + i));
		send_octet(first[i], (uint8_t)(20 + i));
		m = taken(end[1 - i]);
		assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), 10 + i);
		rte_pktmbuf_free(m);
		m = taken(first[1 - i]);
		assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), 20 + i);
		rte_pktmbuf_free(m);
	}
	port_close(end[1]);
	port_close(end[0]);
}

static int setup(void **state)
{
	memif_pair_open("@uiwarp-test-link", ",rsize=11");
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
		cmocka_unit_test(a_peer_goes_while_it_is_sent_to),
		cmocka_unit_test(a_driver_that_does_not_copy_does_it_all),
		cmocka_unit_test(a_spoilt_ring_is_not_the_driver_s),
		cmocka_unit_test(buffers_that_are_none_are_refused),
		cmocka_unit_test(each_of_several_has_its_own),
		cmocka_unit_test(frames_go_by_the_driver),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
