/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole stack on a port that gives back what it sends: what leaves comes in again. */
#include "dpdk-port/lcore.h"
#include "host/poller.h"

#include <poll.h>
#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct port *port;
static struct engine engine;
static struct poller poller;
static struct ip_stack *ip;
static struct tcp_stack *tcp;

static void random_fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x35, len);
}

static void rounds_carry_frames_up_and_down(void **state)
{
	const uint64_t arp = ip_stack_stats(ip)->arp_rx;
	struct ip_addr peer, self;
	struct ip_path path = {0};

	assert_int_equal(ip_addr_parse("10.9.0.2", &peer), 0);
	assert_int_equal(ip_addr_parse("10.9.0.1", &self), 0);
	engine_lock(&engine);
	assert_int_equal(ip_path_init(ip, &path, &self, &peer, engine.now), 0);
	engine_unlock(&engine);
	engine_drive(&engine); /* the probe of our own address went out when it was added */
	for (int i = 0; i < 10 && ip_stack_stats(ip)->arp_rx == arp; i++)
		engine_drive(&engine);
	assert_true(ip_stack_stats(ip)->arp_rx > arp);
	assert_true(port_get_stats(port)->tx_packets > 0);
}

/** A frame for nobody, to the port. */
static void transmit_frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(port));

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), 0x35, 60);
	poller_transmit(port, m);
}

static uint64_t sent(void)
{
	return port_get_stats(port)->tx_packets;
}

static void a_frame_that_is_alone_need_not_wait(void **state)
{
	uint64_t before;

	engine_lock(&engine);
	before = sent();
	transmit_frame();
	assert_int_equal(sent(), before);
	poller_expedite(&poller);
	assert_int_equal(sent(), before + 1);
	/* The second time, frames go together. */
	transmit_frame();
	poller_expedite(&poller);
	assert_int_equal(sent(), before + 1);
	engine_unlock(&engine);
	assert_int_equal(sent(), before + 2);
}

static void answers_to_a_burst_go_together(void **state)
{
	uint64_t before;

	while (engine_drive(&engine) > 0)
		;
	engine_lock(&engine);
	transmit_frame();
	transmit_frame();
	engine_unlock(&engine);
	assert_true(engine_trylock(&engine));
	assert_int_equal(poller_ops.poll(&poller, engine.now), 2);
	before = sent();
	transmit_frame();
	poller_expedite(&poller);
	assert_int_equal(sent(), before);
	engine_unlock(&engine);
	assert_int_equal(sent(), before + 1);
	/* To one that came alone, at once. */
	assert_true(engine_trylock(&engine));
	assert_int_equal(poller_ops.poll(&poller, engine.now), 1);
	transmit_frame();
	poller_expedite(&poller);
	assert_int_equal(sent(), before + 2);
	engine_unlock(&engine);
}

/** A frame in the port's queue is for somebody; and of a round without TCP nothing is left. */
static void a_flush_waits_for_nothing_that_is_to_leave(void **state)
{
	engine_lock(&engine);
	assert_false(poller_ops.flush_may_wait(&poller));
	transmit_frame();
	assert_true(port_has_queued(port));
	assert_false(poller_ops.flush_may_wait(&poller));
	engine_unlock(&engine);
	assert_false(port_has_queued(port));
	while (engine_drive(&engine) > 0)
		;
}

static void the_holder_has_the_engines_lcore(void **state)
{
	unsigned had = rte_lcore_id();

	assert_int_not_equal(poller.lcore, LCORE_ID_ANY);
	engine_lock(&engine);
	assert_int_equal(rte_lcore_id(), poller.lcore);
	engine_unlock(&engine);
	assert_int_equal(rte_lcore_id(), had);
}

static void time_never_goes_back(void **state)
{
	uint64_t last = poller_ops.clock(&poller), ahead;

	for (int i = 0; i < 1000; i++) {
		uint64_t now = poller_ops.clock(&poller);

		assert_true(now >= last);
		last = now;
	}
	/* As if another core's counter had been ahead. */
	ahead = poller.last += CLOCK_BACK_NS;
	assert_true(poller_ops.clock(&poller) >= ahead);
}

static bool has_fired;

static void fire(struct timer *t, uint64_t now)
{
	has_fired = true;
}

/** As by a live migration to a host whose counter is a day behind. */
static void timers_run_on_when_the_counter_goes_back(void **state)
{
	const unsigned __int128 day = (unsigned __int128)UINT64_C(86400000000000) << 32;
	struct timer t;

	if (!poller.clock.mult)
		skip();
	timer_init(&t, fire);
	engine_lock(&engine);
	timer_start(&engine.wheel, &t, engine.now + TIMER_TICK_NS);
	poller.clock.base.tsc += (uint64_t)(day / poller.clock.mult);
	engine_unlock(&engine);
	while (!has_fired)
		engine_drive(&engine);
}

static void wake_up_is_seen_and_cleared(void **state)
{
	struct pollfd p = {.fd = poller.wake_fd, .events = POLLIN};

	poller_wake_clear(&poller);
	assert_int_equal(poll(&p, 1, 0), 0);
	poller_ops.wake(&poller);
	poller_ops.wake(&poller);
	assert_int_equal(poll(&p, 1, 0), 1);
	poller_wake_clear(&poller);
	assert_int_equal(poll(&p, 1, 0), 0);
}

static int setup(void **state)
{
	struct port_config pc = {.device = "net_ring0", .memory_mib = 8};
	struct ip_stack_config ic = {.wheel = &engine.wheel, .transmit = poller_transmit};
	struct tcp_stack_config tc = {.wheel = &engine.wheel};
	struct port_error e;
	struct ip_addr self;

	if (port_open(&pc, &port, &e) || poller_init(&poller, &engine, port))
		return -1;
	memcpy(ic.mac, port_get_caps(port)->mac, 6);
	ic.mtu = port_get_caps(port)->mtu;
	ic.pool = port_pool(port);
	ic.transmit_ctx = port;
	ic.random.fill = random_fill;
	if (ip_stack_create(&ic, engine.now, &ip))
		return -1;
	poller.ip = ip;
	tc.ip = ip;
	tc.pool = port_pool(port);
	tc.random.fill = random_fill;
	if (tcp_stack_create(&tc, engine.now, &tcp))
		return -1;
	poller.tcp = tcp;
	return ip_addr_parse("10.9.0.1", &self) || ip_addr_add(ip, &self, 24, engine.now);
}

static int teardown(void **state)
{
	engine_lock(&engine);
	poller.tcp = NULL;
	tcp_stack_destroy(tcp);
	poller.ip = NULL;
	ip_stack_destroy(ip);
	engine_unlock(&engine);
	/* Without a stack above frames are freed: nothing has leaked. */
	while (engine_drive(&engine) > 0 ||
		port_get_stats(port)->rx_packets < port_get_stats(port)->tx_packets)
		;
	assert_int_equal(rte_mempool_in_use_count(port_pool(port)), 0);
	poller_fini(&poller);
	port_close(port);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_carry_frames_up_and_down),
		cmocka_unit_test(a_frame_that_is_alone_need_not_wait),
		cmocka_unit_test(answers_to_a_burst_go_together),
		cmocka_unit_test(a_flush_waits_for_nothing_that_is_to_leave),
		cmocka_unit_test(the_holder_has_the_engines_lcore),
		cmocka_unit_test(wake_up_is_seen_and_cleared),
		cmocka_unit_test(time_never_goes_back),
		cmocka_unit_test(timers_run_on_when_the_counter_goes_back),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
