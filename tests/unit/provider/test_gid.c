/* SPDX-License-Identifier: BSD-2-Clause */
/* The GIDs of the port; the stack below is a double. */
#include "provider/verbs/objects.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

struct stack {
	struct config config;
};

static struct {
	struct stack stack;
	struct device device;
	struct ibv_context context;
} t;

const struct config *stack_config(const struct stack *s)
{
	return &s->config;
}

static int setup(void **state)
{
	static const uint8_t mac[6] = {2, 0x11, 0x22, 0x33, 0x44, 0x55};

	memset(&t, 0, sizeof t);
	memcpy(t.device.mac, mac, sizeof mac);
	t.device.stack = &t.stack;
	t.device.started = true;
	t.context.device = &t.device.ibv;
	return 0;
}

/* ---- connections are rdma_cm's: one GID, the MAC address ------------------------------------- */

static void test_gid(void **state)
{
	static const uint8_t expected[16] = {2, 0x11, 0x22, 0x33, 0x44, 0x55};
	union ibv_gid gid;
	int type = -1;

	memset(&gid, 0xff, sizeof gid);
	assert_int_equal(query_gid(&t.context, 1, 0, &gid), 0);
	assert_memory_equal(gid.raw, expected, 16);
	errno = 0;
	assert_int_equal(query_gid(&t.context, 1, 1, &gid), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(query_gid(&t.context, 1, -1, &gid), -1);
	assert_int_equal(query_gid(&t.context, 2, 0, &gid), -1);
	assert_int_equal(query_gid_type(&t.context, 1, 0, &type), 0);
	assert_int_equal(type, IBV_GID_TYPE_IB);
	assert_int_equal(query_gid_type(&t.context, 1, 1, &type), -1);
	assert_int_equal(query_gid_type(&t.context, 2, 0, &type), -1);
}

static void test_gid_entries(void **state)
{
	struct ibv_gid_entry e[2];
	const size_t size = sizeof e[0];

	memset(e, 0xff, sizeof e);
	assert_int_equal(query_gid_ex(&t.context, 1, 0, e, 0, size), 0);
	assert_memory_equal(e[0].gid.raw, t.device.mac, 6);
	assert_int_equal(e[0].gid_index, 0);
	assert_int_equal(e[0].port_num, 1);
	assert_int_equal(e[0].gid_type, IBV_GID_TYPE_IB);
	assert_int_equal(e[0].ndev_ifindex, 0);
	assert_int_equal(e[1].port_num, UINT32_MAX);
	assert_int_equal(query_gid_ex(&t.context, 1, 1, e, 0, size), EINVAL);
	assert_int_equal(query_gid_ex(&t.context, 2, 0, e, 0, size), EINVAL);
	assert_int_equal(query_gid_ex(&t.context, 1, 0, e, 1, size), EINVAL);
	memset(e, 0xff, sizeof e);
	assert_int_equal(query_gid_table(&t.context, e, 2, 0, size), 1);
	assert_int_equal(e[0].port_num, 1);
	assert_int_equal(e[1].port_num, UINT32_MAX);
	assert_int_equal(query_gid_table(&t.context, e, 0, 0, size), -EINVAL);
	assert_int_equal(query_gid_table(&t.context, e, 2, 1, size), -EINVAL);
}

/* ---- QPs connect by themselves: our addresses ------------------------------------------------ */

static int setup_addresses(void **state)
{
	setup(state);
	t.stack.config.connect_port = 1;
	t.stack.config.num_addresses = 2;
	assert_int_equal(ip_addr_parse("10.1.2.3", &t.stack.config.address[0].addr), 0);
	assert_int_equal(ip_addr_parse("fd00::7", &t.stack.config.address[1].addr), 0);
	return 0;
}

static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};
static const uint8_t v6[16] = {0xfd, [15] = 7};

static void test_addresses(void **state)
{
	struct ip_addr a;
	union ibv_gid gid;
	int type;

	assert_int_equal(gid_count(&t.device), 2);
	assert_int_equal(query_gid(&t.context, 1, 0, &gid), 0);
	assert_memory_equal(gid.raw, v4, 16);
	assert_int_equal(query_gid(&t.context, 1, 1, &gid), 0);
	assert_memory_equal(gid.raw, v6, 16);
	assert_int_equal(query_gid(&t.context, 1, 2, &gid), -1);
	assert_int_equal(query_gid_type(&t.context, 1, 1, &type), 0);
	assert_int_equal(query_gid_type(&t.context, 1, 2, &type), -1);
	assert_int_equal(gid_address(&t.device, 1, &a), 0);
	assert_memory_equal(a.b, v6, 16);
	assert_int_equal(gid_address(&t.device, 2, &a), -EINVAL);
	t.stack.config.connect_rdma_cm = true;
	assert_int_equal(gid_address(&t.device, 0, &a), -EINVAL);
	assert_int_equal(gid_count(&t.device), 1);
}

static void test_address_entries(void **state)
{
	struct ibv_gid_entry e[3];
	const size_t size = sizeof e[0];

	memset(e, 0xff, sizeof e);
	assert_int_equal(query_gid_table(&t.context, e, 3, 0, size), 2);
	assert_memory_equal(e[0].gid.raw, v4, 16);
	assert_memory_equal(e[1].gid.raw, v6, 16);
	assert_int_equal(e[1].gid_index, 1);
	assert_int_equal(e[2].port_num, UINT32_MAX);
	assert_int_equal(query_gid_table(&t.context, e, 1, 0, size), -EINVAL);
	assert_int_equal(query_gid_ex(&t.context, 1, 1, e, 0, size), 0);
	assert_memory_equal(e[0].gid.raw, v6, 16);
	assert_int_equal(query_gid_ex(&t.context, 1, 2, e, 0, size), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_gid, setup),
		cmocka_unit_test_setup(test_gid_entries, setup),
		cmocka_unit_test_setup(test_addresses, setup_addresses),
		cmocka_unit_test_setup(test_address_entries, setup_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
