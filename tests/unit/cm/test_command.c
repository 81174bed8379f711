/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

#define COMMANDS (RDMA_USER_CM_CMD_JOIN_MCAST + 1)

/** Payload and answer of each command under librdmacm 44; 0 where it has none. */
static const struct {
	uint16_t in, out;
} sizes[COMMANDS] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {24, 4},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {16, 4},
	[RDMA_USER_CM_CMD_BIND_IP] = {40, 0},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {64, 0},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {8, 0},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {16, 208},
	[RDMA_USER_CM_CMD_CONNECT] = {288, 0},
	[RDMA_USER_CM_CMD_LISTEN] = {8, 0},
	[RDMA_USER_CM_CMD_ACCEPT] = {296, 0},
	[RDMA_USER_CM_CMD_REJECT] = {264, 0},
	[RDMA_USER_CM_CMD_DISCONNECT] = {4, 0},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {16, 144},
	[RDMA_USER_CM_CMD_GET_EVENT] = {8, 336},
	[RDMA_USER_CM_CMD_SET_OPTION] = {24, 0},
	[RDMA_USER_CM_CMD_NOTIFY] = {8, 0},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {16, 4},
	[RDMA_USER_CM_CMD_QUERY] = {16, 288},
	[RDMA_USER_CM_CMD_BIND] = {136, 0},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {272, 0},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {48, 4},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {16, 4},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {152, 4},
};

static void the_header_is_checked(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_listen q = {0};
	uint8_t few[8] = {0};

	for (size_t n = 0; n < sizeof few; n++) {
		assert_int_equal(ucma_write(c.u, c.fd, few, n), -1);
		assert_int_equal(errno, EINVAL);
	}
	/* It claims more than there is. */
	assert_int_equal(
		client_raw(&c, c.fd, RDMA_USER_CM_CMD_LISTEN, &q, sizeof q, 9, 0), -EINVAL);
	assert_int_equal(
		client_raw(&c, c.fd, RDMA_USER_CM_CMD_LISTEN, &q, sizeof q, 0xffff, 0), -EINVAL);
	assert_int_equal(client_raw(&c, c.fd, RDMA_USER_CM_CMD_LISTEN, NULL, 0, 8, 0), -EINVAL);
	client_close(&c);
}

static void unknown_commands(void **state)
{
	struct client c = client_open();
	uint8_t payload[300] = {0};

	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_GET_OPTION, payload, 300, 300), -ENOSYS);
	assert_int_equal(client_call(&c, COMMANDS, payload, 300, 300), -EINVAL);
	assert_int_equal(client_call(&c, UINT32_MAX, payload, 300, 300), -EINVAL);
	client_close(&c);
}

static void other_descriptors_are_not_ours(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_listen q = {0};

	assert_int_equal(
		client_raw(&c, c.fd + 1, RDMA_USER_CM_CMD_LISTEN, &q, sizeof q, 8, 0), -EBADF);
	assert_int_equal(client_raw(&c, -1, RDMA_USER_CM_CMD_LISTEN, &q, sizeof q, 8, 0), -EBADF);
	client_close(&c);
}

/* Every length short of the whole, for payload and answer, on an id that exists. */
static void short_ones_are_refused(void **state)
{
	struct client c = client_open();
	uint8_t payload[300] = {0};
	size_t ece = sizeof(struct rdma_ucm_ece);

	assert_int_equal(client_create(&c, 1), 0);
	for (uint32_t cmd = 0; cmd < COMMANDS; cmd++) {
		size_t full = sizes[cmd].in;

		if (cmd == RDMA_USER_CM_CMD_CONNECT || cmd == RDMA_USER_CM_CMD_ACCEPT)
			full -= ece;
		if (cmd == RDMA_USER_CM_CMD_QUERY_ROUTE)
			full = 12;
		for (size_t n = 0; n < full; n++)
			assert_int_equal(client_call(&c, cmd, payload, n, 512), -EINVAL);
	}
	client_close(&c);
}

static void room_for_the_answer_is_checked_first(void **state)
{
	struct client c = client_open();
	uint8_t payload[300] = {0}, answer[512];
	uint64_t where = (uintptr_t)answer;

	for (uint32_t cmd = 0; cmd < COMMANDS; cmd++) {
		if (!sizes[cmd].out)
			continue;
		memset(payload, 0, sizeof payload);
		memcpy(payload + (cmd == RDMA_USER_CM_CMD_CREATE_ID ? 8 : 0), &where, 8);
		assert_int_equal(client_call(&c, cmd, payload, sizes[cmd].in, 0), -ENOSPC);
		assert_int_equal(client_call(&c, cmd, payload, sizes[cmd].in, 3), -ENOSPC);
		memset(payload, 0, sizeof payload);
		assert_int_equal(client_call(&c, cmd, payload, sizes[cmd].in, 512), -EFAULT);
	}
	assert_int_equal(ep_fake.live, 0);
	client_close(&c);
}

/* A newer library may send more than we know. */
static void long_ones_are_taken(void **state)
{
	struct client c = client_open();
	struct {
		struct rdma_ucm_bind_ip q;
		uint8_t more[1000];
	} big = {.q = {.addr = client_sa("10.0.0.1", 7174), .id = client_create(&c, 1)}};

	assert_int_equal(CALL(&c, BIND_IP, big), 0);
	client_close(&c);
}

static void unknown_ids_are_unknown_to_all(void **state)
{
	static const uint32_t with_id[] = {RDMA_USER_CM_CMD_DESTROY_ID, RDMA_USER_CM_CMD_BIND_IP,
		RDMA_USER_CM_CMD_RESOLVE_IP, RDMA_USER_CM_CMD_RESOLVE_ROUTE,
		RDMA_USER_CM_CMD_QUERY_ROUTE, RDMA_USER_CM_CMD_CONNECT, RDMA_USER_CM_CMD_LISTEN,
		RDMA_USER_CM_CMD_ACCEPT, RDMA_USER_CM_CMD_REJECT, RDMA_USER_CM_CMD_DISCONNECT,
		RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_SET_OPTION, RDMA_USER_CM_CMD_NOTIFY,
		RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_CMD_BIND, RDMA_USER_CM_CMD_RESOLVE_ADDR};
	struct client c = client_open();
	uint8_t payload[300];

	/* All ones: whatever the field, the id is 0xffffffff, and the answer's address not 0. */
	memset(payload, 0xff, sizeof payload);
	for (size_t i = 0; i < sizeof with_id / sizeof with_id[0]; i++)
		assert_int_equal(
			client_call(&c, with_id[i], payload, sizes[with_id[i]].in, 512), -ENOENT);
	client_close(&c);
}

/* Random payloads behind every command number; addresses of memory are kept harmless. */
static void noise_does_no_harm(void **state)
{
	struct client c = client_open();
	uint8_t payload[320], answer[512];
	uint64_t where = (uintptr_t)answer, seed = 42;

	client_create(&c, 1);
	client_create(&c, 2);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t cmd, id;

		for (size_t j = 0; j < sizeof payload; j++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			payload[j] = (uint8_t)(seed >> 56);
		}
		cmd = payload[300] % COMMANDS;
		id = payload[301] % 4;
		memcpy(payload + (cmd == RDMA_USER_CM_CMD_CREATE_ID ? 8 : 0), &where, 8);
		if (sizes[cmd].out)
			memcpy(payload + 8, &id, 4);
		if (cmd == RDMA_USER_CM_CMD_CREATE_ID)
			memcpy(payload + 8, &where, 8);
		client_call(&c, cmd, payload, payload[302] % 8 ? sizes[cmd].in : payload[303],
			sizes[cmd].out);
	}
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_is_checked),
		cmocka_unit_test(unknown_commands),
		cmocka_unit_test(other_descriptors_are_not_ours),
		cmocka_unit_test(short_ones_are_refused),
		cmocka_unit_test(room_for_the_answer_is_checked_first),
		cmocka_unit_test(long_ones_are_taken),
		cmocka_unit_test(unknown_ids_are_unknown_to_all),
		cmocka_unit_test(noise_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
