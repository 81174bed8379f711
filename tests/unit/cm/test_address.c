/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

#include "provider/cm/address.h"

#include <infiniband/ib.h>

static struct rdma_ucm_query_route_resp route_of(const struct client *c, uint32_t id)
{
	struct rdma_ucm_query_route_resp r;
	struct rdma_ucm_query q = {.response = (uintptr_t)&r, .id = id};

	memset(&r, 0xff, sizeof r);
	assert_int_equal(CALL_RESP(c, QUERY_ROUTE, q, r), 0);
	return r;
}

static void sockaddrs_both_ways(void **state)
{
	struct sockaddr_in6 in = client_sa("10.1.2.3", 7174), out;
	struct ip_endpoint e;
	sa_family_t family;

	assert_int_equal(ucma_address_get(&in, &e, &family), 0);
	assert_int_equal(family, AF_INET);
	assert_int_equal(e.port, 7174);
	assert_true(ip_addr_is_v4(&e.addr));
	assert_int_equal(ucma_address_put(&e, family, &out), sizeof(struct sockaddr_in));
	assert_memory_equal(&in, &out, sizeof out);

	in = client_sa("fd00::1", 443);
	assert_int_equal(ucma_address_get(&in, &e, &family), 0);
	assert_int_equal(family, AF_INET6);
	assert_int_equal(ucma_address_put(&e, family, &out), sizeof(struct sockaddr_in6));
	assert_memory_equal(&in, &out, sizeof out);
}

static void any_is_any_in_the_family_of_the_id(void **state)
{
	static const struct ip_endpoint any4 = {{.b = {[10] = 0xff, [11] = 0xff}}, 5};
	struct sockaddr_in6 out, want = client_sa("::", 5);

	ucma_address_put(&any4, AF_INET6, &out);
	assert_memory_equal(&out, &want, sizeof out);
	assert_int_equal(ucma_address_put(&any4, AF_UNSPEC, &out), 0);
	assert_int_equal(out.sin6_port, 0);
}

static void other_families_are_refused(void **state)
{
	struct sockaddr_in6 in = {.sin6_family = 27};
	struct ip_endpoint e;
	sa_family_t family;

	assert_int_equal(ucma_address_get(&in, &e, &family), -EINVAL);
}

/* librdmacm's probe at start: with EINVAL it stays with the plain commands. */
static void af_ib_is_refused(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create_ps(&c, 1, RDMA_PS_IB);
	struct rdma_ucm_bind q = {.id = id, .addr_size = 48};

	q.addr.ss_family = 27;
	assert_int_equal(CALL(&c, BIND, q), -EINVAL);
	client_close(&c);
}

static void bind_ip_binds_once(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_bind(&c, id, "10.0.0.1", 7174), 0);
	assert_int_equal(ep_fake.bound.port, 7174);
	assert_int_equal(ep_fake.bound.addr.b[15], 1);
	assert_int_equal(client_bind(&c, id, "10.0.0.1", 7174), -EINVAL);
	client_close(&c);
}

/* libfabric asks so for any device; nobody can be reached there. */
static void loopback_can_be_bound_and_no_more(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_listen listen = {.id = id, .backlog = 1};
	struct rdma_ucm_resolve_ip resolve = {.id = id, .timeout_ms = 1000};
	struct sockaddr_in6 dst = client_sa("10.0.0.2", 7174);

	ep_fake.bound.port = 0;
	assert_int_equal(client_bind(&c, id, "127.0.0.1", 7174), 0);
	assert_int_equal(ep_fake.bound.port, 0);
	assert_int_equal(route_of(&c, id).num_paths, 0);
	assert_int_equal(CALL(&c, LISTEN, listen), -EADDRNOTAVAIL);
	memcpy(&resolve.dst_addr, &dst, sizeof dst);
	assert_int_equal(CALL(&c, RESOLVE_IP, resolve), -EADDRNOTAVAIL);
	client_close(&c);
}

static void bind_tells_why_not(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_bind_ip q = {.id = id};

	assert_int_equal(CALL(&c, BIND_IP, q), -EINVAL);
	ep_fake.fail = -EADDRINUSE;
	assert_int_equal(client_bind(&c, id, "10.0.0.1", 7174), -EADDRINUSE);
	assert_int_equal(client_bind(&c, id, "10.0.0.1", 7174), 0);
	client_close(&c);
}

static void bind_checks_the_size_it_is_told(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_bind q = {.id = id};
	struct sockaddr_in6 sa = client_sa("10.0.0.1", 0);

	memcpy(&q.addr, &sa, sizeof sa);
	assert_int_equal(CALL(&c, BIND, q), -EINVAL);
	q.addr_size = 28;
	assert_int_equal(CALL(&c, BIND, q), -EINVAL);
	q.addr_size = 16;
	q.reserved = 1;
	assert_int_equal(CALL(&c, BIND, q), -EINVAL);
	q.reserved = 0;
	assert_int_equal(CALL(&c, BIND, q), 0);
	client_close(&c);
}

static void udp_finds_no_device(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create_ps(&c, 1, RDMA_PS_UDP);

	assert_int_equal(client_bind(&c, id, "10.0.0.1", 0), -ENODEV);
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), -ENODEV);
	assert_int_equal(client_listen(&c, id, 0), -ENODEV);
	client_close(&c);
}

static void resolution_is_an_event(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 0x11);
	struct rdma_ucm_event_resp r;

	ep_fake.resolve_at_once = false;
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), -EINVAL);
	assert_int_equal(client_route(&c, id), -EINVAL);
	ep_fake_emit(ep_fake.last, RNIC_EP_ADDR_RESOLVED, 0);
	r = client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 0x11);
	assert_int_equal(r.id, id);
	assert_int_equal(r.status, 0);
	assert_int_equal(client_route(&c, id), 0);
	client_expect(&c, UCMA_EVENT_ROUTE_RESOLVED, 0x11);
	assert_int_equal(client_route(&c, id), -EINVAL);
	client_close(&c);
}

static void a_failed_resolution_may_be_repeated(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 0x11);
	struct rdma_ucm_event_resp r;

	ep_fake.fail = -EINVAL;
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), -EINVAL);
	ep_fake.resolve_at_once = false;
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	ep_fake_emit(ep_fake.last, RNIC_EP_ADDR_ERROR, -ENETUNREACH);
	r = client_expect(&c, UCMA_EVENT_ADDR_ERROR, 0x11);
	assert_int_equal((int32_t)r.status, -ENETUNREACH);
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	client_close(&c);
}

static void resolve_binds_the_source_it_is_given(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_resolve_ip q = {.id = client_create(&c, 1),
		.src_addr = client_sa("10.0.0.1", 99),
		.dst_addr = client_sa("10.0.0.2", 7174)};

	assert_int_equal(CALL(&c, RESOLVE_IP, q), 0);
	assert_int_equal(ep_fake.bound.port, 99);
	client_close(&c);
}

/* The neighbour is asked however little time there is. */
static void resolve_has_the_time_it_is_given(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_resolve_ip q = {.dst_addr = client_sa("10.0.0.2", 7174)};

	q.id = client_create(&c, 1);
	assert_int_equal(CALL(&c, RESOLVE_IP, q), 0);
	assert_int_equal(ep_fake.patience, 1);
	q.id = client_create(&c, 2);
	q.timeout_ms = UINT32_MAX;
	assert_int_equal(CALL(&c, RESOLVE_IP, q), 0);
	assert_int_equal(ep_fake.patience, UINT32_MAX * UINT64_C(1000000));
	client_close(&c);
}

static void resolve_wants_one_family(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_resolve_ip q = {.id = client_create(&c, 1),
		.src_addr = client_sa("fd00::1", 0),
		.dst_addr = client_sa("10.0.0.2", 7174)};

	assert_int_equal(CALL(&c, RESOLVE_IP, q), -EINVAL);
	q.src_addr.sin6_family = 99;
	assert_int_equal(CALL(&c, RESOLVE_IP, q), -EINVAL);
	q.src_addr = client_sa("10.0.0.1", 0);
	q.dst_addr.sin6_family = 0;
	assert_int_equal(CALL(&c, RESOLVE_IP, q), -EINVAL);
	assert_int_equal(client_bind(&c, q.id, "fd00::1", 0), 0);
	assert_int_equal(client_resolve(&c, q.id, "10.0.0.2"), -EINVAL);
	assert_int_equal(client_resolve(&c, q.id, "fd00::2"), 0);
	client_close(&c);
}

static void resolve_addr_is_the_same_with_sizes(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_resolve_addr q = {
		.id = client_create(&c, 1), .dst_size = 16, .timeout_ms = 1500};
	struct sockaddr_in6 dst = client_sa("10.0.0.2", 7174);

	memcpy(&q.dst_addr, &dst, sizeof dst);
	q.src_size = 16;
	assert_int_equal(CALL(&c, RESOLVE_ADDR, q), -EINVAL);
	q.src_size = 0;
	q.dst_size = 28;
	assert_int_equal(CALL(&c, RESOLVE_ADDR, q), -EINVAL);
	q.dst_size = 16;
	assert_int_equal(CALL(&c, RESOLVE_ADDR, q), 0);
	assert_int_equal(ep_fake.patience, 1500 * UINT64_C(1000000));
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 1);
	client_close(&c);
}

static void query_route_tells_what_is_known(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct sockaddr_in6 want = client_sa("0.0.0.0", 7174);
	struct rdma_ucm_query_route_resp r = route_of(&c, id);

	assert_int_equal(r.src_addr.sin6_family, 0);
	assert_int_equal(r.node_guid, 0);
	assert_int_equal(r.ibdev_index, UINT32_MAX);

	assert_int_equal(client_bind(&c, id, "0.0.0.0", 7174), 0);
	r = route_of(&c, id);
	assert_memory_equal(&r.src_addr, &want, sizeof want);
	assert_int_equal(r.node_guid, 0);
	assert_int_equal(r.port_num, 0);

	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	r = route_of(&c, id);
	want = client_sa("10.0.0.2", 7174);
	assert_memory_equal(&r.dst_addr, &want, sizeof want);
	assert_int_equal(r.node_guid, GUID);
	assert_int_equal(r.port_num, 1);
	assert_int_equal(r.num_paths, 0);
	assert_int_equal(r.ibdev_index, UINT32_MAX);
	client_close(&c);
}

static int bind_scoped(struct client *c, uint32_t id, const char *text, uint32_t scope)
{
	struct rdma_ucm_bind_ip q = {.id = id};

	q.addr = client_sa(text, 7174);
	q.addr.sin6_scope_id = scope;
	return CALL(c, BIND_IP, q);
}

/* As with the kernel's: of a link-local address it has to be known which interface it is of. */
static void a_link_local_address_has_a_scope(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_resolve_ip resolve = {.id = id, .timeout_ms = 1000};
	struct rdma_ucm_query_route_resp r;
	struct sockaddr_in6 sa;

	ep_fake.has_scopes = true;
	assert_int_equal(bind_scoped(&c, id, "fe80::1", 0), -EINVAL);
	assert_int_equal(bind_scoped(&c, id, "fe80::1", 3), 0);
	assert_int_equal(ip_addr_scope(&ep_fake.bound.addr), 3);
	resolve.dst_addr = client_sa("fe80::2", 9);
	assert_int_equal(CALL(&c, RESOLVE_IP, resolve), -EINVAL);
	resolve.dst_addr.sin6_scope_id = 3;
	assert_int_equal(CALL(&c, RESOLVE_IP, resolve), 0);
	r = route_of(&c, id);
	sa = client_sa("fe80::1", 7174);
	sa.sin6_scope_id = 3;
	assert_memory_equal(&r.src_addr, &sa, sizeof sa);
	sa = client_sa("fe80::2", 9);
	sa.sin6_scope_id = 3;
	assert_memory_equal(&r.dst_addr, &sa, sizeof sa);
	client_close(&c);
}

/* With one interface there is nothing to tell, and bits that look like a scope are the peer's. */
static void without_interfaces_there_is_no_scope(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct sockaddr_in6 sa = client_sa("fe80::5:0:0:0:1", 7174);
	struct rdma_ucm_query_route_resp r;

	assert_int_equal(bind_scoped(&c, id, "fe80::5:0:0:0:1", 3), 0);
	assert_int_equal(ip_addr_scope(&ep_fake.bound.addr), 5);
	r = route_of(&c, id);
	assert_memory_equal(&r.src_addr, &sa, sizeof sa);
	client_close(&c);
}

static void query_addr_and_path(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_query_addr_resp r = {.ibdev_index = 77};
	struct rdma_ucm_query q = {
		.response = (uintptr_t)&r, .id = id, .option = RDMA_USER_CM_QUERY_ADDR};

	assert_int_equal(client_bind(&c, id, "10.0.0.1", 7174), 0);
	assert_int_equal(CALL_RESP(&c, QUERY, q, r), 0);
	assert_int_equal(r.node_guid, GUID);
	assert_int_equal(r.src_size, 16);
	assert_int_equal(r.dst_size, 0);
	assert_int_equal(r.ibdev_index, 77);
	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_QUERY, &q, sizeof q, 64), -ENOSPC);

	q.option = RDMA_USER_CM_QUERY_PATH;
	assert_int_equal(CALL_RESP(&c, QUERY, q, r), 0);
	assert_int_equal(((struct rdma_ucm_query_path_resp *)&r)->num_paths, 0);
	q.option = RDMA_USER_CM_QUERY_GID;
	assert_int_equal(CALL_RESP(&c, QUERY, q, r), 0);
	assert_int_equal(r.node_guid, GUID);
	assert_int_equal(r.src_size, sizeof(struct sockaddr_ib));
	assert_int_equal(((struct sockaddr_ib *)&r.src_addr)->sib_family, AF_IB);
	assert_int_equal(((struct sockaddr_ib *)&r.dst_addr)->sib_pkey, 0xffff);
	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_QUERY, &q, sizeof q, 64), -ENOSPC);
	q.option = 1000;
	assert_int_equal(CALL_RESP(&c, QUERY, q, r), -ENOSYS);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockaddrs_both_ways),
		cmocka_unit_test(any_is_any_in_the_family_of_the_id),
		cmocka_unit_test(other_families_are_refused),
		cmocka_unit_test(af_ib_is_refused),
		cmocka_unit_test(bind_ip_binds_once),
		cmocka_unit_test(loopback_can_be_bound_and_no_more),
		cmocka_unit_test(bind_tells_why_not),
		cmocka_unit_test(bind_checks_the_size_it_is_told),
		cmocka_unit_test(udp_finds_no_device),
		cmocka_unit_test(resolution_is_an_event),
		cmocka_unit_test(a_failed_resolution_may_be_repeated),
		cmocka_unit_test(resolve_binds_the_source_it_is_given),
		cmocka_unit_test(resolve_has_the_time_it_is_given),
		cmocka_unit_test(resolve_wants_one_family),
		cmocka_unit_test(resolve_addr_is_the_same_with_sizes),
		cmocka_unit_test(query_route_tells_what_is_known),
		cmocka_unit_test(a_link_local_address_has_a_scope),
		cmocka_unit_test(without_interfaces_there_is_no_scope),
		cmocka_unit_test(query_addr_and_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
