/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

static int set(const struct client *c, uint32_t id, uint32_t level, uint32_t name,
	const void *value, uint32_t len)
{
	struct rdma_ucm_set_option q = {.optval = (uintptr_t)value,
		.id = id,
		.level = level,
		.optname = name,
		.optlen = len};

	return CALL(c, SET_OPTION, q);
}

static void values_reach_the_endpoint(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	struct rdma_ucm_connect q = {.conn_param = client_param()};
	uint8_t tos = 0x28, timeout = 14;
	int on = 7;

	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 4), 0);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, 4), 0);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1), 0);
	assert_int_equal(client_bind(&c, id, "::", 7174), 0);
	assert_true(ep_fake.reuse);
	assert_true(ep_fake.v6only);

	q.id = client_routed(&c, 2);
	assert_int_equal(set(&c, q.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	assert_int_equal(ep_fake.param.tos, 0x28);
	client_close(&c);
}

static void sizes_are_exact(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	int v = 1;

	for (uint32_t name = 0; name <= RDMA_OPTION_ID_ACK_TIMEOUT; name++) {
		assert_int_equal(set(&c, id, RDMA_OPTION_ID, name, &v, 0), -EINVAL);
		assert_int_equal(set(&c, id, RDMA_OPTION_ID, name, &v, 2), -EINVAL);
		assert_int_equal(set(&c, id, RDMA_OPTION_ID, name, &v, UINT32_MAX), -EINVAL);
	}
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1), -EFAULT);
	client_close(&c);
}

static void too_late_is_told(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t id = client_listener(&c, 1, &ep);
	int on = 1;

	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 4), -EINVAL);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, 4), -EINVAL);
	client_close(&c);
}

/* Once bound, both go on to the endpoint: its answer counts. */
static void bound_ids_are_bound_anew(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	int on = 1, off = 0;

	assert_int_equal(client_bind(&c, id, "::", 7174), 0);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, 4), 0);
	assert_true(ep_fake.v6only);
	assert_false(ep_fake.reuse);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 4), 0);
	assert_true(ep_fake.v6only);
	assert_true(ep_fake.reuse);
	/* The kernel's rdma_set_reuseaddr() takes no such thing back. */
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &off, 4), -EINVAL);
	ep_fake.fail = -EADDRINUSE;
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &off, 4), -EADDRINUSE);
	client_close(&c);
}

static void unknown_ones_are_unknown(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);
	int v = 1;

	assert_int_equal(set(&c, id, RDMA_OPTION_ID, 4, &v, 4), -ENOSYS);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, UINT32_MAX, &v, 4), -ENOSYS);
	assert_int_equal(set(&c, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &v, 4), -EINVAL);
	id = client_create_ps(&c, 2, RDMA_PS_UDP);
	assert_int_equal(set(&c, id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &v, 1), -EINVAL);
	assert_int_equal(set(&c, id, RDMA_OPTION_IB, 9, &v, 4), -ENOSYS);
	assert_int_equal(set(&c, id, 9, 0, &v, 4), -ENOSYS);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_reach_the_endpoint),
		cmocka_unit_test(sizes_are_exact),
		cmocka_unit_test(too_late_is_told),
		cmocka_unit_test(bound_ids_are_bound_anew),
		cmocka_unit_test(unknown_ones_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
