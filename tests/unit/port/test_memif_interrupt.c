/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/intr_gate.h"
#include "memif_pair.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/** The interrupt is there with the link. */
static void connect_both(void)
{
	memif_pair_connect();
	assert_true(port_rx_fd(server) >= 0);
	assert_true(port_rx_is_interrupt(server));
}

static bool is_readable(const struct port *p)
{
	struct pollfd fd = {.fd = port_rx_fd(p), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static void send_one(struct port *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	assert_non_null(rte_pktmbuf_append(m, 60));
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

static void masked_nobody_writes(void **state)
{
	send_one(client);
	assert_false(is_readable(server));
	assert_int_equal(take_all(server), 1);
}

static void armed_it_tells_of_frames(void **state)
{
	port_rx_arm(server);
	assert_false(is_readable(server));
	send_one(client);
	assert_true(is_readable(server));
	/* To receive takes it back, and the next frame is told again. */
	assert_int_equal(take_all(server), 1);
	assert_false(is_readable(server));
	send_one(client);
	assert_true(is_readable(server));
	port_rx_woken(server);
	assert_false(is_readable(server));
	send_one(client);
	assert_false(is_readable(server));
	assert_int_equal(take_all(server), 2);
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
	memif_pair_open_client();
	connect_both();
	armed_it_tells_of_frames(state);
}

static void a_peer_that_came_back_unseen(void **state)
{
	struct memif_interrupt old = server->memif_interrupt;

	assert_true(memif_interrupt_is_current(&old, server->id));
	port_close(client);
	memif_pair_open_client();
	/* The server looks after its link again only when there is another one. */
	while (!port_watch(client)) {
		intr_gate_pass(server->intr_gate);
		memif_pair_nap();
	}
	connect_both();
	assert_true(memif_interrupt_is_current(&server->memif_interrupt, server->id));
	assert_true(old.map.ino != server->memif_interrupt.map.ino);
	armed_it_tells_of_frames(state);
}

static void once_disbelieved_it_is_left_until_another_peer_comes(void **state)
{
	port_rx_disbelieve(server, 2);
	assert_true(port_watch(server));
	assert_int_equal(port_rx_fd(server), -1);
	it_goes_and_comes_with_the_peer(state);
}

/** The driver's pools and ports are looked at before anything else of it. */
static void another_port_has_none(void **state)
{
	struct memif_interrupt i;

	assert_int_not_equal(memif_interrupt_open(&i, server->id, port_pool(client)), 0);
	assert_null(i.map.ring);
	assert_int_equal(i.fd, -1);
	memif_interrupt_arm(&i);
	memif_interrupt_mask(&i);
	memif_interrupt_close(&i);
}

static int setup(void **state)
{
	memif_pair_open("@uiwarp-test-interrupt", "");
	connect_both();
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
		cmocka_unit_test(armed_it_tells_of_frames),
		cmocka_unit_test(it_goes_and_comes_with_the_peer),
		cmocka_unit_test(a_peer_that_came_back_unseen),
		cmocka_unit_test(once_disbelieved_it_is_left_until_another_peer_comes),
		cmocka_unit_test(another_port_has_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
