/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device tells of itself; the stack and the RNIC below are doubles. */
#include "provider/verbs/objects.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

struct stack {
	struct config config;
	uint16_t mtu;
	uint32_t speed;
	bool up;
};

static struct {
	struct stack stack;
	struct rnic_limits limits;
	struct device device;
	struct ibv_context context;
} t;

const struct config *stack_config(const struct stack *s)
{
	return &s->config;
}

void stack_link(const struct stack *s, uint16_t *mtu, uint32_t *speed, bool *up)
{
	*mtu = s->mtu;
	*speed = s->speed;
	*up = s->up;
}

uint64_t rnic_clock(struct rnic *r)
{
	return 0;
}

const struct rnic_limits *rnic_default_limits(void)
{
	return &t.limits;
}

static int setup(void **state)
{
	memset(&t, 0, sizeof t);
	strcpy(t.stack.config.port, "net_null0");
	t.stack.mtu = 1500;
	t.stack.up = true;
	t.limits = (struct rnic_limits){.max_pd = 1,
		.max_mr = 2,
		.max_mw = 13,
		.max_cq = 3,
		.max_cqe = 4,
		.max_srq = 5,
		.max_srq_wr = 6,
		.max_qp = 7,
		.max_qp_wr = 8,
		.max_sge = 9,
		.max_sge_read = 10,
		.max_ird = 11,
		.max_ord = 12,
		.max_mr_size = UINT64_C(1) << 40,
		.max_message = INT32_MAX};
	memcpy(t.device.mac, "\x02\x11\x22\x33\x44\x55", 6);
	t.device.guid = 0x1234;
	t.device.stack = &t.stack;
	t.device.started = true;
	t.context.device = &t.device.ibv;
	return 0;
}

static struct ibv_port_attr port_with(uint16_t mtu, uint32_t speed)
{
	struct ibv_port_attr a;

	t.stack.mtu = mtu;
	t.stack.speed = speed;
	assert_int_equal(query_port(&t.context, 1, &a, sizeof a), 0);
	return a;
}

static void test_device(void **state)
{
	struct ibv_device_attr a;

	memset(&a, 0xff, sizeof a);
	assert_int_equal(query_device(&t.context, &a), 0);
	assert_int_equal(a.max_pd, 1);
	assert_int_equal(a.max_mr, 2);
	assert_int_equal(a.max_mw, 13);
	assert_int_equal(a.max_cq, 3);
	assert_int_equal(a.max_cqe, 4);
	assert_int_equal(a.max_srq, 5);
	assert_int_equal(a.max_srq_wr, 6);
	assert_int_equal(a.max_srq_sge, 9);
	assert_int_equal(a.max_qp, 7);
	assert_int_equal(a.max_qp_wr, 8);
	assert_int_equal(a.max_sge, 9);
	assert_int_equal(a.max_sge_rd, 10);
	assert_int_equal(a.max_qp_rd_atom, 11);
	assert_int_equal(a.max_qp_init_rd_atom, 12);
	assert_int_equal(a.max_res_rd_atom, 77);
	assert_true(a.max_mr_size == UINT64_C(1) << 40);
	assert_int_equal(a.page_size_cap, sysconf(_SC_PAGESIZE));
	assert_true(a.node_guid == 0x1234 && a.sys_image_guid == 0x1234);
	/* Nobody's: a locally administered OUI of three octets (IEEE 802, clause 8). */
	assert_true(a.vendor_id <= 0xffffff && (a.vendor_id >> 16 & 3) == 2);
	assert_int_not_equal(a.vendor_part_id, 0);
	assert_int_equal(a.phys_port_cnt, 1);
	assert_int_equal(a.max_pkeys, 1);
	assert_true(strlen(a.fw_ver) > 0);
	assert_int_equal(a.atomic_cap, IBV_ATOMIC_GLOB);
	assert_int_equal(a.max_ah, 65536);
	/* What iWARP or this device does not have. */
	assert_int_equal(a.max_mcast_grp, 128);
	assert_int_equal(a.max_mcast_qp_attach, 1024);
	assert_int_equal(a.max_raw_ipv6_qp, 0);
	assert_int_equal(a.max_fmr, 0);
	assert_true((a.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0);
	assert_true((a.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0);
	assert_true((a.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0);
	assert_true((a.device_cap_flags & IBV_DEVICE_CURR_QP_STATE_MOD) != 0);
	assert_true((a.device_cap_flags & IBV_DEVICE_PORT_ACTIVE_EVENT) != 0);
	assert_false(
		(a.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_RESIZE_MAX_WR |
					      IBV_DEVICE_SRQ_RESIZE)) != 0);
}

/* verbs counts in int. */
static void test_large_limits(void **state)
{
	struct ibv_device_attr a;

	t.limits.max_qp = UINT32_MAX;
	t.limits.max_cqe = UINT32_MAX;
	t.limits.max_srq = 0;
	assert_int_equal(query_device(&t.context, &a), 0);
	assert_int_equal(a.max_qp, INT_MAX);
	assert_int_equal(a.max_cqe, INT_MAX);
	assert_int_equal(a.max_res_rd_atom, INT_MAX);
	assert_int_equal(a.max_srq_sge, 0);
}

static void test_device_ex(void **state)
{
	struct ibv_query_device_ex_input input = {0};
	struct ibv_device_attr_ex a;
	struct ibv_device_attr plain;

	assert_int_equal(query_device(&t.context, &plain), 0);
	memset(&a, 0xff, sizeof a);
	assert_int_equal(query_device_ex(&t.context, &input, &a, sizeof a), 0);
	assert_memory_equal(&a.orig_attr, &plain, sizeof plain);
	assert_int_equal(a.comp_mask, 0);
	assert_int_equal(a.phys_port_cnt_ex, 1);
	assert_true(a.device_cap_flags_ex == plain.device_cap_flags);
	assert_int_equal(a.odp_caps.general_caps, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	assert_int_equal(a.odp_caps.per_transport_caps.ud_odp_caps, 0);
	assert_true(a.completion_timestamp_mask == UINT64_MAX);
	assert_int_equal(a.cq_mod_caps.max_cq_count, UINT16_MAX);
	assert_int_equal(a.tso_caps.max_tso, 0);
	input.comp_mask = 1;
	assert_int_equal(query_device_ex(&t.context, &input, &a, sizeof a), EINVAL);
	/* Programs of an earlier library know less of it, and nothing behind is touched. */
	memset(&a, 0xff, sizeof a);
	assert_int_equal(query_device_ex(&t.context, NULL, &a, sizeof plain), 0);
	assert_memory_equal(&a.orig_attr, &plain, sizeof plain);
	assert_int_equal(a.comp_mask, UINT32_MAX);
	assert_int_equal(query_device_ex(&t.context, NULL, &a, sizeof plain - 1), EOPNOTSUPP);
}

static void test_port(void **state)
{
	struct ibv_port_attr a = port_with(1500, 10000);

	assert_int_equal(a.state, IBV_PORT_ACTIVE);
	assert_int_equal(a.phys_state, 5);
	assert_int_equal(a.max_msg_sz, INT32_MAX);
	assert_int_equal(a.gid_tbl_len, 1);
	assert_int_equal(a.pkey_tbl_len, 1);
	assert_int_equal(a.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(a.lid, 0);
	assert_int_equal(a.port_cap_flags, IBV_PORT_CM_SUP);
	assert_int_equal(query_port(&t.context, 0, &a, sizeof a), EINVAL);
	assert_int_equal(query_port(&t.context, 2, &a, sizeof a), EINVAL);
	t.stack.up = false;
	a = port_with(1500, 0);
	assert_int_equal(a.state, IBV_PORT_DOWN);
	assert_int_equal(a.phys_state, 3);
	/* The peer's process may come later. */
	strcpy(t.stack.config.port, "net_memif0,role=server");
	assert_int_equal(port_with(1500, 0).state, IBV_PORT_ACTIVE);
}

static void test_mtu(void **state)
{
	static const struct {
		uint16_t bytes;
		enum ibv_mtu mtu;
	} cases[] = {{UINT16_MAX, IBV_MTU_4096}, {9000, IBV_MTU_4096}, {4096, IBV_MTU_4096},
		{4095, IBV_MTU_2048}, {2048, IBV_MTU_2048}, {2047, IBV_MTU_1024},
		{1500, IBV_MTU_1024}, {1024, IBV_MTU_1024}, {1023, IBV_MTU_512}, {512, IBV_MTU_512},
		{511, IBV_MTU_256}, {0, IBV_MTU_256}};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ibv_port_attr a = port_with(cases[i].bytes, 0);

		assert_int_equal(a.active_mtu, cases[i].mtu);
		assert_true(a.active_mtu <= a.max_mtu);
	}
}

/* Width times speed, as ibv_devinfo and others multiply it, is the link's speed in 100 Mb/s. */
static void test_speed(void **state)
{
	static const struct {
		uint32_t mbps, told;
	} cases[] = {{400000, 2000}, {200000, 2000}, {100000, 1000}, {50000, 500}, {40000, 400},
		{25000, 250}, {10000, 100}, {9999, 25}, {1000, 25}, {0, 25}};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ibv_port_attr a = port_with(1500, cases[i].mbps);
		uint32_t lanes = a.active_width == 1 ? 1 : a.active_width == 2 ? 4 : 0;
		uint32_t lane = a.active_speed == 1    ? 25
				: a.active_speed == 4  ? 100
				: a.active_speed == 32 ? 250
				: a.active_speed == 64 ? 500
						       : 0;

		assert_int_equal(lanes * lane, cases[i].told);
	}
}

/* Callers of before, with the shorter structure, and of after, with a longer one. */
static void test_port_sizes(void **state)
{
	struct {
		struct ibv_port_attr attr;
		uint8_t behind[8];
	} a;
	const size_t compat = offsetof(struct ibv_port_attr, port_cap_flags2);
	const uint8_t *bytes = (const uint8_t *)&a;

	memset(&a, 0xff, sizeof a);
	assert_int_equal(query_port_compat(&t.context, 1, (void *)&a), 0);
	assert_int_equal(a.attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(bytes[compat - 1], 0);
	for (size_t i = compat; i < sizeof a; i++)
		assert_int_equal(bytes[i], 0xff);
	assert_int_equal(query_port_compat(&t.context, 3, (void *)&a), EINVAL);
	memset(&a, 0xff, sizeof a);
	assert_int_equal(query_port(&t.context, 1, &a.attr, sizeof a), 0);
	assert_int_equal(a.behind[7], 0);
}

static void test_pkey(void **state)
{
	__be16 pkey = 0;

	assert_int_equal(query_pkey(&t.context, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	errno = 0;
	assert_int_equal(query_pkey(&t.context, 1, 1, &pkey), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(query_pkey(&t.context, 2, 0, &pkey), -1);
	assert_int_equal(query_pkey_index(&t.context, 1, 0xffff), 0);
	assert_int_equal(query_pkey_index(&t.context, 1, 0x7fff), -1);
	assert_int_equal(query_pkey_index(&t.context, 2, 0xffff), -1);
}

/* ibv_query_port_speed(3): in 100 Mb/s, and what active_speed says where no speed is told. */
static void test_port_speed(void **state)
{
	static const struct {
		uint32_t mbps;
		uint64_t told;
	} cases[] = {{0, 25}, {10, 1}, {100, 1}, {1000, 10}, {2500, 25}, {400000, 4000},
		{UINT32_MAX, 42949673}};
	uint64_t speed = 7;

	assert_int_equal(query_port_speed(&t.context, 0, &speed), EINVAL);
	assert_int_equal(query_port_speed(&t.context, 2, &speed), EINVAL);
	assert_int_equal(speed, 7);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		t.stack.speed = cases[i].mbps;
		assert_int_equal(query_port_speed(&t.context, 1, &speed), 0);
		assert_int_equal(speed, cases[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_device, setup),
		cmocka_unit_test_setup(test_large_limits, setup),
		cmocka_unit_test_setup(test_device_ex, setup),
		cmocka_unit_test_setup(test_port, setup),
		cmocka_unit_test_setup(test_mtu, setup),
		cmocka_unit_test_setup(test_speed, setup),
		cmocka_unit_test_setup(test_port_speed, setup),
		cmocka_unit_test_setup(test_port_sizes, setup),
		cmocka_unit_test_setup(test_pkey, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
