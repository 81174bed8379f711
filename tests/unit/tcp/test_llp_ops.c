/* SPDX-License-Identifier: BSD-2-Clause */
/* Connecting, ports and addresses; what a user chooses for a connection. */
#include "host.h"

#include <errno.h>
#include <stdlib.h>

static struct host h;

/* From the next segment on; the ECN bits are ours. */
static void test_type_of_service(void **state)
{
	struct heard a;
	struct peer p;

	host_accepted(&h, &p, TCP_HAS_MSS, NULL);
	llp_set_tos(h.app.llp, 0x6b);
	app_queue(&h.app, 100, false);
	llp_push(h.app.llp);
	host_round(&h);
	host_expect(&h, &a);
	assert_int_equal(h.ip.taken_tos, 0x68);
	host_end(&h);
}

static void test_connect_errors(void **state)
{
	struct llp_connect_params to = {
		.local = {addr("10.7.7.7"), 0}, .remote = {addr(REMOTE), 7}};
	struct llp *l;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -EADDRNOTAVAIL);
	to.local.addr = addr("0.0.0.0");
	to.remote.addr = addr("fd00::1");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr("0.0.0.0");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr("224.0.0.1");
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -ENETUNREACH);
	to.remote.addr = addr(REMOTE);
	to.local.port = 1234;
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), 0);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -EADDRINUSE);
	host_end(&h);
}

static void test_endpoints_and_addresses(void **state)
{
	struct ip_endpoint local, remote;
	struct ip_addr a, b = addr(REMOTE);

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_endpoints(h.app.llp, &local, &remote);
	a = addr(LOCAL);
	assert_true(ip_addr_equal(&local.addr, &a));
	assert_true(local.port >= 49152);
	assert_true(ip_addr_equal(&remote.addr, &b));
	assert_int_equal(remote.port, RPORT);
	assert_true(llp_is_local(h.llp, &a));
	assert_false(llp_is_local(h.llp, &b));
	assert_int_equal(llp_source(h.llp, &b, &a), 0);
	host_end(&h);
}

static uint16_t port_of(struct llp *l)
{
	struct ip_endpoint local, remote;

	llp_endpoints(l, &local, &remote);
	return local.port;
}

/** RFC 6056 section 3.1: whatever is in use is passed over. */
static void test_chosen_port_is_free(void **state)
{
	struct llp_connect_params to = {.remote = {addr(REMOTE), RPORT}};
	struct ip_endpoint e = {addr(LOCAL), 0};
	struct llp_listener *listener;
	struct llp *l[4];
	uint16_t port;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[0]), 0);
	port = port_of(l[0]);
	assert_in_range(port, 49152, 65500); /* of this address and these keys */
	to.local.port = (uint16_t)(port + 1);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[1]), 0);
	e.port = (uint16_t)(port + 2);
	assert_int_equal(llp_port_reserve(h.llp, &e, 0), 0);
	e.port = (uint16_t)(port + 3);
	assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &listener), 0);
	to.local.port = 0;
	for (unsigned i = 2; i < 4; i++) {
		assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l[i]), 0);
		assert_int_equal(port_of(l[i]), port_of(l[0]) + 2 + i);
	}
	host_end(&h);
}

static void test_port_reservations(void **state)
{
	struct ip_endpoint e = {addr(LOCAL), 0}, same, foreign = {addr("10.7.7.7"), 1};
	struct llp_listener *l;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_port_reserve(h.llp, &foreign, 0), -EADDRNOTAVAIL);
	assert_int_equal(llp_port_reserve(h.llp, &e, 0), 0);
	assert_true(e.port >= 49152);
	same = e;
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), -EADDRINUSE);
	assert_int_equal(llp_listen(h.llp, &e, 1, NULL, NULL, &l), 0); /* it is ours */
	llp_port_release(h.llp, &e);
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), -EADDRINUSE); /* a listener */
	llp_unlisten(h.llp, l);
	assert_int_equal(llp_port_reserve(h.llp, &same, 0), 0);
	host_end(&h);
}

/** Both ends in one stack: what it sends comes back to it. */
static void test_connection_to_self(void **state)
{
	static struct app client;
	const struct llp_connect_params to = {.remote = {addr(LOCAL), PORT}};
	struct ip_addr src, dst;
	struct rte_mbuf *m;
	struct llp *l;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	client = (struct app){.take = SIZE_MAX};
	h.app.reply = true;
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &client, &l), 0);
	client.llp = l;
	for (int i = 0; i < 20; i++) {
		if (i == 5)
			app_send(&client, "echo", 4);
		while ((m = ip_double_take_from(&h.ip, &src, &dst)))
			ip_double_deliver(&h.ip, &src, &dst, m, h.now);
		host_round(&h);
	}
	assert_int_equal(client.n_got, 4);
	assert_memory_equal(client.got, "echo", 4);
	free(client.got);
	host_end(&h);
}

/** Those accepted have the listener's. */
static const char *accepted_with(void)
{
	struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 65535};
	struct tcp_segment third = {.seq = 1001, .flags = TCP_ACK, .wnd = 65535};
	struct tcp_info info;
	struct heard a;

	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	third.ack = a.h.seq + 1;
	host_hear(&h, PORT, &third, NULL);
	host_round(&h);
	tcp_get_info(h.app.llp, &info);
	return info.congestion_control;
}

static void test_congestion_control_is_chosen(void **state)
{
	struct llp_connect_params to = {
		.remote = {addr(REMOTE), RPORT}, .congestion_control = "vegas"};
	struct tcp_info info;

	host_init(&h, LOCAL, NULL);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &h.app.llp), -EINVAL);
	to.congestion_control = "bbr";
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &h.app.llp), 0);
	tcp_get_info(h.app.llp, &info); /* before it is established, too */
	assert_string_equal(info.congestion_control, "bbr");
	assert_int_equal(info.pacing_rate, 0);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "cubic"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_string_equal(info.congestion_control, "cubic");
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);

	host_listen(&h, 5);
	assert_int_equal(tcp_listener_set_congestion_control(h.listener, "vegas"), -EINVAL);
	assert_int_equal(tcp_listener_set_congestion_control(h.listener, "cubic"), 0);
	assert_string_equal(accepted_with(), "cubic");
	host_end(&h);
}

static void test_congestion_control_is_changed(void **state)
{
	struct tcp_info info;
	struct peer q;

	host_init(&h, LOCAL, NULL);
	peer_accepted(&q, &h, TCP_HAS_MSS);
	tcp_conn_of(h.app.llp)->cc.cwnd = 50000;
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "vegas"), -EINVAL);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "bbr"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_string_equal(info.phase, "Startup");
	assert_int_equal(info.cwnd, 50000);
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "newreno"), 0);
	tcp_get_info(h.app.llp, &info);
	assert_int_equal(info.cwnd, 50000);
	assert_int_equal(info.ssthresh, 50000); /* what BBR knew of the path */
	tcp_conn_of(h.app.llp)->cc.prior_cwnd = 60000;
	assert_int_equal(tcp_set_congestion_control(h.app.llp, "newreno"), 0);
	assert_int_equal(tcp_conn_of(h.app.llp)->cc.prior_cwnd, 60000); /* nothing was forgotten */
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_port_is_free),
		cmocka_unit_test(test_type_of_service),
		cmocka_unit_test(test_connect_errors),
		cmocka_unit_test(test_endpoints_and_addresses),
		cmocka_unit_test(test_port_reservations),
		cmocka_unit_test(test_connection_to_self),
		cmocka_unit_test(test_congestion_control_is_chosen),
		cmocka_unit_test(test_congestion_control_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
