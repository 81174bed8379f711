/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/inspect.h"

#include "sock/conn.h"
#include "tests/unit/sock/fixture.h"

static struct fixture f;

static bool all_is_acknowledged(struct fixture *x)
{
	return llp_unacked(x->seen.llp) == 0;
}

static void it_tells_what_the_kernel_knows(void **state)
{
	struct ip_endpoint local, remote;
	struct sock_walk_item item;
	uint8_t next = 0;

	if (!fixture_has_tcp_info())
		skip();
	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(fixture_queue(&f, 1000, 500, &next), 1000);
	sock_walk_begin(f.s);
	assert_int_equal(sock_walk(f.s, &item), WALK_ITEM);
	assert_int_equal(item.queued, 1000);
	fixture_until(&f, all_is_acknowledged);
	sock_walk_begin(f.s);
	assert_int_equal(sock_walk(f.s, &item), WALK_ITEM);
	assert_int_equal(sock_walk(f.s, &(struct sock_walk_item){.unread = 0}), WALK_END);
	llp_endpoints(f.seen.llp, &local, &remote);
	assert_true(ip_addr_equal(&item.local.addr, &local.addr));
	assert_int_equal(item.local.port, local.port);
	assert_int_equal(item.remote.port, remote.port);
	assert_string_equal(item.state, "ESTABLISHED");
	assert_string_equal(item.ca_state, "open");
	assert_true(item.congestion_control[0] != '\0');
	assert_true(item.srtt > 0 && item.rto >= item.srtt && item.cwnd >= item.emss);
	assert_int_equal(item.bytes_sent, 1000);
	/* The kernel counts our SYN. */
	assert_in_range(item.bytes_acked, 1000, 1001);
	assert_int_equal(item.queued, 0);
	fixture_close(&f);
}

/** Whatever goes during a walk, what stays is found once, and what is gone is not touched. */
static void others_go_meanwhile(void **state)
{
	struct sock_walk_item item;
	uint16_t port, first;

	fixture_open(&f, NULL);
	port = fixture_peer_listens(&f, "127.0.0.1");
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(fixture_begin(&f, fixture_at("127.0.0.1", port)), 0);
	sock_walk_begin(f.s);
	assert_int_equal(sock_walk(f.s, &item), WALK_ITEM);
	first = item.local.port;
	/* The one that the walk would come to, and the one that it has shown. */
	sock_conn_drop(f.s->walk);
	sock_conn_drop(LIST_FIRST(&f.s->conns));
	fixture_round(&f);
	assert_int_equal(sock_walk(f.s, &item), WALK_ITEM);
	assert_int_not_equal(item.local.port, first);
	sock_conn_drop(f.s->walk);
	assert_int_equal(sock_walk(f.s, &item), WALK_END);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_what_the_kernel_knows),
		cmocka_unit_test(others_go_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
