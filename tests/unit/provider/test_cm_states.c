/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each rdma_cm call in each state of an id: what it answers, by the state machine of Linux's cma.c.
 * And that an id may be destroyed in each of them, with its events unread.
 */
#include "cm_fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* ---- the states -------------------------------------------------------------------------- */

static struct cm_pair pair;
static struct rdma_cm_id *under_test;

static void idle(void)
{
	under_test = pair.active = cm_id();
}

static void bound_to_any(void)
{
	idle();
	assert_int_equal(cm_bind(under_test, "0.0.0.0", 0), 0);
}

static void bound(void)
{
	idle();
	assert_int_equal(cm_bind(under_test, CM_V4, 0), 0);
}

static void resolved(void)
{
	under_test = pair.active = cm_resolved(CM_V4, 4321);
}

static void routed(void)
{
	under_test = pair.active = cm_routed(CM_V4, 4321);
}

/* The neighbour is still being asked. */
static void resolving(void)
{
	struct cm_address to = cm_address(CM_NOBODY, 4321);

	bound();
	assert_int_equal(rdma_resolve_addr(under_test, NULL, cm_sockaddr(&to), 60000), 0);
}

/* To a peer that does not read the request. */
static void connecting(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	pair.listener = cm_listener(1);
	under_test = pair.active = cm_routed(CM_V4, cm_port(pair.listener));
	cm_qp(under_test);
	assert_int_equal(rdma_connect(under_test, &param), 0);
}

static void listening(void)
{
	under_test = pair.listener = cm_listener(3);
}

static void requested(void)
{
	cm_request(&pair);
	under_test = pair.passive;
}

static void connected(void)
{
	cm_connect(&pair);
	under_test = pair.active;
}

static void accepted(void)
{
	cm_connect(&pair);
	under_test = pair.passive;
}

static void disconnected(void)
{
	connected();
	cm_disconnect(&pair);
}

static void was_disconnected(void)
{
	accepted();
	cm_disconnect(&pair);
}

static void rejected(void)
{
	requested();
	assert_int_equal(rdma_reject(pair.passive, NULL, 0), 0);
	cm_expect(pair.active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
	under_test = pair.active;
}

static void has_rejected(void)
{
	rejected();
	under_test = pair.passive;
}

/* A resolution that failed: it may be tried again. */
static void unreachable(void)
{
	struct cm_address to = cm_address("192.0.2.1", 4321);

	bound();
	assert_int_equal(rdma_resolve_addr(under_test, NULL, cm_sockaddr(&to), 2000), 0);
	cm_expect(under_test, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
}

/* ---- the calls --------------------------------------------------------------------------- */

static int call_bind(void)
{
	return cm_bind(under_test, CM_V4, 0);
}

static int call_resolve_addr(void)
{
	struct cm_address to = cm_address(CM_V4, 4321);

	return cm_errno(rdma_resolve_addr(under_test, NULL, cm_sockaddr(&to), 2000));
}

static int call_resolve_route(void)
{
	return cm_errno(rdma_resolve_route(under_test, 2000));
}

static int call_connect(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	if (under_test->qp == NULL)
		cm_qp(under_test);
	return cm_errno(rdma_connect(under_test, &param));
}

static int call_listen(void)
{
	return cm_errno(rdma_listen(under_test, 1));
}

static int call_accept(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	if (under_test->qp == NULL)
		cm_qp(under_test);
	return cm_errno(rdma_accept(under_test, &param));
}

static int call_reject(void)
{
	return cm_errno(rdma_reject(under_test, NULL, 0));
}

static int call_disconnect(void)
{
	return cm_errno(rdma_disconnect(under_test));
}

static int set(int level, int name, void *value, size_t len)
{
	return cm_errno(rdma_set_option(under_test, level, name, value, len));
}

static int call_reuse(void)
{
	int on = 1;

	return set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on);
}

static int call_no_reuse(void)
{
	int off = 0;

	return set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &off, sizeof off);
}

static int call_v6only(void)
{
	int on = 1;

	return set(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on);
}

static int call_tos(void)
{
	uint8_t tos = 0x20;

	return set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos);
}

static int call_ib_path(void)
{
	struct ibv_path_data path = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL};

	return set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path);
}

static int call_notify(void)
{
	return cm_errno(rdma_notify(under_test, IBV_EVENT_COMM_EST));
}

static int call_qp_attr(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	return cm_errno(rdma_init_qp_attr(under_test, &attr, &mask));
}

static int call_join(void)
{
	struct cm_address group = cm_address("239.1.2.3", 0);

	return cm_errno(rdma_join_multicast(under_test, cm_sockaddr(&group), NULL));
}

static int call_migrate(void)
{
	struct rdma_event_channel *elsewhere = rdma_create_event_channel(), *back = cm_channel;
	int first = cm_errno(rdma_migrate_id(under_test, elsewhere));
	int second = cm_errno(rdma_migrate_id(under_test, back));

	rdma_destroy_event_channel(elsewhere);
	return first != 0 ? first : second;
}

/* ---- the table --------------------------------------------------------------------------- */

static int (*const calls[])(void) = {call_bind, call_resolve_addr, call_resolve_route, call_connect,
	call_listen, call_accept, call_reject, call_disconnect, call_reuse, call_no_reuse,
	call_v6only, call_tos, call_ib_path, call_notify, call_qp_attr, call_join, call_migrate};
#define CALLS (sizeof calls / sizeof calls[0])

/* 0: done; X: EINVAL; a dot where librdmacm itself fails, as the id has no device. */
static const struct {
	const char *name;
	void (*enter)(void);
	const char answers[CALLS + 1];
} states[] = {
	/*                               b r r c l a r d r n v t i n q j m
	 *                               i e o o i c e i e o 6 o b o p o i
	 *                               n s u n s c j s u r o s p t   i g */
	{"idle", idle, /*             */
		"00..0.X.000"
		"0XXXX0"},
	{"bound to any", bound_to_any, /* */
		"X0..0.X.0X0"
		"0XXXX0"},
	{"bound", bound, /*           */
		"X0XX0XXX0X0"
		"0X00X0"},
	{"resolving", resolving, /*   */
		"XXXXXXXX0XX"
		"0X00X0"},
	{"resolved", resolved, /*     */
		"XX0XXXXX0XX"
		"0X00X0"},
	{"routed", routed, /*         */
		"XXX0XXXX0XX"
		"0X00X0"},
	{"connecting", connecting, /* */
		"XXXXXXX00XX"
		"0X00X0"},
	{"listening", listening, /*   */
		"XXXXXXXXXXX"
		"0X00X0"},
	{"requested", requested, /*   */
		"XXXXX0000XX"
		"0X00X0"},
	{"connected", connected, /*   */
		"XXXXXXX00XX"
		"0X00X0"},
	{"accepted", accepted, /*     */
		"XXXXXXX00XX"
		"0X00X0"},
	{"disconnected", disconnected,
		"XXXXXXX00XX"
		"0X00X0"},
	{"was disconnected", was_disconnected,
		"XXXXXXX00XX"
		"0X00X0"},
	{"rejected", rejected, /*     */
		"XXXXXXX00XX"
		"0X00X0"},
	{"has rejected", has_rejected,
		"XXXXXXX00XX"
		"0X00X0"},
	{"unreachable", unreachable, /* */
		"X0XX0XXX0X0"
		"0X00X0"},
};

static char letter(int error)
{
	return error == 0 ? '0' : error == EINVAL ? 'X' : '?';
}

static void test_calls_in_states(void **state)
{
	bool wrong = false;

	for (unsigned s = 0; s < sizeof states / sizeof states[0]; s++) {
		char got[CALLS + 1] = "";

		for (unsigned c = 0; c < CALLS; c++) {
			got[c] = '.';
			if (states[s].answers[c] == '.')
				continue;
			states[s].enter();
			got[c] = letter(calls[c]());
			cm_end(&pair);
		}
		if (strcmp(got, states[s].answers) != 0) {
			print_error("%s: %s, not %s\n", states[s].name, got, states[s].answers);
			wrong = true;
		}
	}
	assert_false(wrong);
}

/* In each state, from another thread's point of view: the events that it has still are unread. */
static void test_destroy_in_states(void **state)
{
	for (unsigned s = 0; s < sizeof states / sizeof states[0]; s++) {
		for (unsigned first = 0; first < 3; first++) {
			struct rdma_cm_id **ids[] = {&pair.active, &pair.passive, &pair.listener};

			states[s].enter();
			cm_destroy(*ids[first]);
			*ids[first] = NULL;
			cm_end(&pair);
		}
	}
}

/* The listener goes while its request waits to be read: the request goes with it. */
static void test_destroy_with_unread_request(void **state)
{
	struct pollfd p = {.fd = cm_channel->fd, .events = POLLIN};
	struct rdma_conn_param param = cm_param(NULL, 0);

	pair.listener = cm_listener(1);
	pair.active = cm_routed(CM_V4, cm_port(pair.listener));
	cm_qp(pair.active);
	assert_int_equal(rdma_connect(pair.active, &param), 0);
	/* Readable, but not read. */
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	cm_destroy(pair.listener);
	pair.listener = NULL;
	cm_expect(pair.active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
	cm_end(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_calls_in_states),
		CM(test_destroy_in_states),
		CM(test_destroy_with_unread_request),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
