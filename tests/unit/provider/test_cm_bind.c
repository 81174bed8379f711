/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses and ports of ids: which may be bound, which conflict, which listener gets what.
 * Two rules differ from Linux's cma.c: it answers EADDRNOTAVAIL where one of two that are in each
 * other's way is a wildcard, and takes 0.0.0.0 to be in the way of IPv6 addresses.
 */
#include "cm_fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

enum { REUSE = 1, V6ONLY = 2, NOT_V6ONLY = 4 };

static struct rdma_cm_id *id_with(unsigned options)
{
	struct rdma_cm_id *id = cm_id();
	int on = 1, off = 0;

	if (options & REUSE)
		assert_int_equal(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on,
					 sizeof on),
			0);
	if (options & (V6ONLY | NOT_V6ONLY))
		assert_int_equal(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY,
					 options & V6ONLY ? &on : &off, sizeof on),
			0);
	return id;
}

/* ---- binding --------------------------------------------------------------------------------- */

static void test_addresses(void **state)
{
	static const struct {
		const char *address;
		int answer;
	} cases[] = {
		{CM_V4, 0},
		{CM_V6, 0},
		{"0.0.0.0", 0},
		{"::", 0},
		{"::ffff:" CM_V4, 0},
		{CM_NOBODY, EADDRNOTAVAIL},
		{"2001:db8:99::2", EADDRNOTAVAIL},
		{"224.0.0.1", EADDRNOTAVAIL},
		{"10.99.0.255", EADDRNOTAVAIL},
	};
	struct cm_address other = {.ss.ss_family = AF_UNIX};
	struct rdma_cm_id *id = cm_id();

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rdma_cm_id *one = cm_id();

		assert_int_equal(cm_bind(one, cases[i].address, 0), cases[i].answer);
		/* What failed may be tried again. */
		if (cases[i].answer != 0)
			assert_int_equal(cm_bind(one, CM_V4, 0), 0);
		assert_int_not_equal(cm_port(one), 0);
		cm_destroy(one);
	}
	assert_int_equal(cm_errno(rdma_bind_addr(id, cm_sockaddr(&other))), EINVAL);
	cm_destroy(id);
}

static void test_what_a_bound_id_shows(void **state)
{
	struct rdma_cm_id *id = cm_id();
	struct sockaddr_in *sin = (struct sockaddr_in *)rdma_get_local_addr(id);

	assert_null(id->verbs);
	assert_int_equal(cm_bind(id, "0.0.0.0", 0), 0);
	/* A wildcard has no device yet. */
	assert_null(id->verbs);
	assert_int_equal(sin->sin_family, AF_INET);
	assert_int_equal(sin->sin_addr.s_addr, 0);
	cm_destroy(id);
	id = cm_id();
	assert_int_equal(cm_bind(id, CM_V4, 1234), 0);
	sin = (struct sockaddr_in *)rdma_get_local_addr(id);
	assert_int_equal(cm_port(id), 1234);
	assert_int_equal(ntohl(sin->sin_addr.s_addr), 0x0a630001);
	assert_non_null(id->verbs);
	assert_string_equal(ibv_get_device_name(id->verbs->device), "uiw0");
	assert_int_equal(id->port_num, 1);
	cm_destroy(id);
}

/* Each in the way of the other, whichever comes first. */
static void test_conflicts(void **state)
{
	static const struct {
		const char *first;
		unsigned first_options;
		const char *second;
		unsigned second_options;
		int answer;
	} cases[] = {
		{CM_V4, 0, CM_V4, 0, EADDRINUSE},
		{CM_V4, 0, "0.0.0.0", 0, EADDRINUSE},
		{CM_V4, 0, "::", 0, EADDRINUSE},
		{CM_V4, 0, "::", NOT_V6ONLY, EADDRINUSE},
		{CM_V4, 0, "::", V6ONLY, 0},
		{CM_V4, 0, CM_V6, 0, 0},
		{CM_V6, 0, CM_V6, 0, EADDRINUSE},
		{CM_V6, 0, "0.0.0.0", 0, 0},
		{CM_V6, 0, "::", 0, EADDRINUSE},
		{CM_V6, 0, "::", V6ONLY, EADDRINUSE},
		{"0.0.0.0", 0, "0.0.0.0", 0, EADDRINUSE},
		{"0.0.0.0", 0, "::", 0, EADDRINUSE},
		{"0.0.0.0", 0, "::", V6ONLY, 0},
		{"::", 0, "::", V6ONLY, EADDRINUSE},
		{CM_V4, REUSE, CM_V4, REUSE, 0},
		{CM_V4, REUSE, CM_V4, 0, EADDRINUSE},
		{CM_V4, REUSE, "0.0.0.0", REUSE, 0},
		{"::", REUSE, "0.0.0.0", REUSE, 0},
	};

	for (unsigned i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
		struct rdma_cm_id *first = id_with(cases[i / 2].first_options);
		struct rdma_cm_id *second = id_with(cases[i / 2].second_options);
		const char *a = cases[i / 2].first, *b = cases[i / 2].second;

		if (i % 2 == 0) {
			assert_int_equal(cm_bind(first, a, 4000), 0);
			assert_int_equal(cm_bind(second, b, 4000), cases[i / 2].answer);
		} else {
			assert_int_equal(cm_bind(second, b, 4000), 0);
			assert_int_equal(cm_bind(first, a, 4000), cases[i / 2].answer);
		}
		cm_destroy(first);
		cm_destroy(second);
	}
}

/* rdma_listen(): a listener shares with nobody, before or after. */
static void test_listeners_share_with_nobody(void **state)
{
	struct rdma_cm_id *a = id_with(REUSE), *b = id_with(REUSE), *c = id_with(REUSE);

	assert_int_equal(cm_bind(a, CM_V4, 4000), 0);
	assert_int_equal(cm_bind(b, "0.0.0.0", 4000), 0);
	assert_int_equal(cm_errno(rdma_listen(a, 1)), EADDRINUSE);
	cm_destroy(b);
	assert_int_equal(cm_errno(rdma_listen(a, 1)), 0);
	assert_int_equal(cm_bind(c, CM_V4, 4000), EADDRINUSE);
	cm_destroy(a);
	assert_int_equal(cm_bind(c, CM_V4, 4000), 0);
	cm_destroy(c);
}

/* The options count as they are when it matters, not when they are set. */
static void test_options_of_bound_ids(void **state)
{
	struct rdma_cm_id *a = cm_id(), *b = cm_id();
	int on = 1, off = 0;

	assert_int_equal(cm_bind(a, "::", 4000), 0);
	assert_int_equal(cm_bind(b, "0.0.0.0", 4000), EADDRINUSE);
	assert_int_equal(
		rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on), 0);
	assert_int_equal(cm_bind(b, "0.0.0.0", 4000), 0);
	assert_int_equal(cm_errno(rdma_set_option(
				 a, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &off, sizeof off)),
		EADDRINUSE);
	assert_int_equal(rdma_listen(a, 1), 0);
	assert_int_equal(rdma_listen(b, 1), 0);
	cm_destroy(a);
	cm_destroy(b);
}

/* Where there is no device they are taken all the same. */
static void test_options_of_loopback_ids(void **state)
{
	struct rdma_cm_id *id = cm_id();
	int on = 1;

	assert_int_equal(cm_bind(id, "127.0.0.1", 4000), 0);
	assert_int_equal(
		rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on), 0);
	assert_int_equal(
		rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on), 0);
	cm_destroy(id);
}

static void test_ephemeral_ports(void **state)
{
	enum { N = 300 };
	struct rdma_cm_id *id[N];
	static bool seen[65536];

	memset(seen, 0, sizeof seen);
	for (unsigned i = 0; i < N; i++) {
		id[i] = cm_id();
		assert_int_equal(cm_bind(id[i], i % 2 ? CM_V4 : "0.0.0.0", 0), 0);
		assert_true(cm_port(id[i]) >= 49152);
		assert_false(seen[cm_port(id[i])]);
		seen[cm_port(id[i])] = true;
	}
	for (unsigned i = 0; i < N; i++)
		cm_destroy(id[i]);
}

/* ---- port spaces that are not here ----------------------------------------------------------- */

static void test_port_spaces(void **state)
{
	static const enum rdma_port_space spaces[] = {RDMA_PS_IB, RDMA_PS_IPOIB};
	struct cm_address to = cm_address(CM_V4, 4000), group = cm_address("239.1.2.3", 0);
	struct rdma_cm_id *id;

	for (unsigned i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
		assert_int_equal(rdma_create_id(cm_channel, &id, NULL, spaces[i]), 0);
		assert_int_equal(cm_bind(id, CM_V4, 0), ENODEV);
		assert_int_equal(
			cm_errno(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 1000)), ENODEV);
		assert_int_equal(cm_errno(rdma_listen(id, 1)), ENODEV);
		assert_int_equal(
			cm_errno(rdma_join_multicast(id, cm_sockaddr(&group), NULL)), EINVAL);
		assert_null(id->verbs);
		cm_destroy(id);
	}
	assert_int_equal(
		cm_errno(rdma_create_id(cm_channel, &id, NULL, (enum rdma_port_space)7)), EINVAL);
}

/* ---- which listener -------------------------------------------------------------------------- */

/* Connect from an address to itself. @return the listener that heard it, or NULL: nobody did. */
static struct rdma_cm_id *heard(const char *to, uint16_t port)
{
	struct rdma_cm_id *id = cm_routed(to, port), *by = NULL;
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_event *ev;

	cm_qp(id);
	assert_int_equal(rdma_connect(id, &param), 0);
	assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		struct rdma_cm_id *passive = ev->id;

		by = ev->listen_id;
		assert_int_equal(
			passive->route.addr.src_addr.sa_family, id->route.addr.src_addr.sa_family);
		assert_int_equal(rdma_get_src_port(passive), htons(port));
		assert_int_equal(rdma_get_dst_port(passive), rdma_get_src_port(id));
		assert_non_null(passive->verbs);
		assert_int_equal(rdma_ack_cm_event(ev), 0);
		cm_destroy(passive);
		cm_expect(id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
	} else {
		assert_ptr_equal(ev->id, id);
		assert_int_equal(ev->event, RDMA_CM_EVENT_REJECTED);
		assert_int_equal(ev->status, -ECONNREFUSED);
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	cm_destroy(id);
	return by;
}

static struct rdma_cm_id *listens(const char *at, unsigned options)
{
	struct rdma_cm_id *id = id_with(options);

	assert_int_equal(cm_bind(id, at, 4000), 0);
	assert_int_equal(rdma_listen(id, 8), 0);
	return id;
}

static void test_wildcards(void **state)
{
	struct rdma_cm_id *any6 = listens("::", 0), *any4;

	assert_ptr_equal(heard(CM_V4, 4000), any6);
	assert_ptr_equal(heard(CM_V6, 4000), any6);
	assert_null(heard(CM_V4, 4001));
	cm_destroy(any6);
	any6 = listens("::", V6ONLY);
	assert_null(heard(CM_V4, 4000));
	any4 = listens("0.0.0.0", 0);
	assert_ptr_equal(heard(CM_V4, 4000), any4);
	assert_ptr_equal(heard(CM_V6, 4000), any6);
	cm_destroy(any6);
	assert_null(heard(CM_V6, 4000));
	cm_destroy(any4);
	/* One that was never bound is bound to any of IPv4. */
	any4 = cm_id();
	assert_int_equal(rdma_listen(any4, 1), 0);
	assert_ptr_equal(heard(CM_V4, cm_port(any4)), any4);
	cm_destroy(any4);
}

/* As tgt listens for iSER: the option on both, which takes nothing from the one of IPv4. */
static void test_a_wildcard_of_each_family(void **state)
{
	struct rdma_cm_id *any4 = listens("0.0.0.0", V6ONLY), *any6 = listens("::", V6ONLY);

	assert_ptr_equal(heard(CM_V4, 4000), any4);
	assert_ptr_equal(heard(CM_V6, 4000), any6);
	cm_destroy(any4);
	assert_null(heard(CM_V4, 4000));
	cm_destroy(any6);
}

static void test_specific_listeners(void **state)
{
	struct rdma_cm_id *v4 = listens(CM_V4, 0), *v6 = listens(CM_V6, 0);

	assert_ptr_equal(heard(CM_V4, 4000), v4);
	assert_ptr_equal(heard(CM_V6, 4000), v6);
	cm_destroy(v4);
	assert_null(heard(CM_V4, 4000));
	cm_destroy(v6);
}

/* ---- resolving ------------------------------------------------------------------------------- */

static void test_resolve_from_a_source(void **state)
{
	struct cm_address to = cm_address(CM_V4, 4000), from = cm_address(CM_V4, 4001),
			  v6 = cm_address(CM_V6, 4000), foreign = cm_address(CM_NOBODY, 0);
	struct rdma_cm_id *id = cm_id();

	assert_int_equal(
		cm_errno(rdma_resolve_addr(id, cm_sockaddr(&foreign), cm_sockaddr(&to), 1000)),
		EADDRNOTAVAIL);
	assert_int_equal(
		cm_errno(rdma_resolve_addr(id, cm_sockaddr(&v6), cm_sockaddr(&to), 1000)), EINVAL);
	assert_int_equal(rdma_resolve_addr(id, cm_sockaddr(&from), cm_sockaddr(&to), 1000), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(cm_port(id), 4001);
	assert_int_equal(rdma_get_dst_port(id), htons(4000));
	assert_int_equal(cm_errno(rdma_resolve_route(id, 0)), EINVAL);
	assert_int_equal(rdma_resolve_route(id, 1), 0);
	cm_expect(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	cm_destroy(id);
}

static void test_resolve_errors(void **state)
{
	static const char *const nowhere[] = {"192.0.2.1", "2001:db8:98::1", "127.0.0.1", "::1"};
	struct cm_address any = cm_address("0.0.0.0", 4000), group = cm_address("239.1.1.1", 4000);
	struct rdma_cm_id *id = cm_id();

	assert_int_equal(cm_errno(rdma_resolve_addr(id, NULL, cm_sockaddr(&any), 1000)), EINVAL);
	assert_int_equal(cm_errno(rdma_resolve_addr(id, NULL, cm_sockaddr(&group), 1000)), EINVAL);
	cm_destroy(id);
	for (unsigned i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
		struct cm_address to = cm_address(nowhere[i], 4000);

		id = cm_id();
		assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 1000), 0);
		cm_expect(id, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
		cm_destroy(id);
	}
}

/* It is said within the time given, and another try may find somebody else. */
static void test_resolve_nobody(void **state)
{
	struct cm_address nobody = cm_address(CM_NOBODY, 4000), v4 = cm_address(CM_V4, 4000),
			  v6 = cm_address("2001:db8:99::77", 4000);
	struct rdma_cm_id *id = cm_id(), *second = cm_id(), *dropped = cm_id();

	assert_int_equal(rdma_resolve_addr(dropped, NULL, cm_sockaddr(&nobody), 60000), 0);
	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&nobody), 50), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&v4), 50), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(rdma_resolve_addr(second, NULL, cm_sockaddr(&v6), 0), 0);
	cm_expect(second, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	cm_destroy(dropped);
	cm_destroy(second);
	cm_destroy(id);
}

/* ---- rdma_getaddrinfo ------------------------------------------------------------------------ */

static int lookup(const char *node, const char *service, int flags, struct rdma_addrinfo **out)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP};

	return rdma_getaddrinfo(node, service, &hints, out);
}

static void test_getaddrinfo(void **state)
{
	struct rdma_addrinfo *ai;
	struct sockaddr_in *v4;
	struct sockaddr_in6 *v6;

	assert_int_equal(lookup(NULL, "4000", RAI_PASSIVE, &ai), 0);
	assert_true(ai->ai_flags & RAI_PASSIVE);
	assert_int_equal(ai->ai_qp_type, IBV_QPT_RC);
	v4 = (struct sockaddr_in *)ai->ai_src_addr; /* both families have the port there */
	assert_int_equal(v4->sin_port, htons(4000));
	rdma_freeaddrinfo(ai);
	assert_int_equal(lookup(CM_V4, "4000", RAI_NUMERICHOST, &ai), 0);
	v4 = (struct sockaddr_in *)ai->ai_dst_addr;
	assert_int_equal(ai->ai_family, AF_INET);
	assert_int_equal(v4->sin_port, htons(4000));
	assert_int_equal(ntohl(v4->sin_addr.s_addr), 0x0a630001);
	rdma_freeaddrinfo(ai);
	assert_int_equal(lookup(CM_V6, "4000", RAI_NUMERICHOST, &ai), 0);
	v6 = (struct sockaddr_in6 *)ai->ai_dst_addr;
	assert_int_equal(ai->ai_family, AF_INET6);
	assert_int_equal(v6->sin6_port, htons(4000));
	rdma_freeaddrinfo(ai);
	assert_int_not_equal(lookup("no.such.host.invalid", "4000", RAI_NUMERICHOST, &ai), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_addresses),
		CM(test_what_a_bound_id_shows),
		CM(test_conflicts),
		CM(test_listeners_share_with_nobody),
		CM(test_options_of_bound_ids),
		CM(test_options_of_loopback_ids),
		CM(test_ephemeral_ports),
		CM(test_port_spaces),
		CM(test_wildcards),
		CM(test_a_wildcard_of_each_family),
		CM(test_specific_listeners),
		CM(test_resolve_from_a_source),
		CM(test_resolve_errors),
		CM(test_resolve_nobody),
		CM(test_getaddrinfo),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
