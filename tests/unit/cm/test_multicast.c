/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/alloc_fault.h"
#include "unit/cm/client.h"

#define GROUP     "239.1.2.3"
#define GROUP_V6  "ff05::1:3"
#define QP_GROUP  0xffffff
#define UDP_QKEY  0x01234567
#define HOP_LIMIT 64

static struct client open_ud(void)
{
	struct client c = client_open();

	ep_fake.has_ud = true;
	ep_fake.group_ttl = 1;
	return c;
}

static uint32_t bound(const struct client *c, uint64_t uid)
{
	uint32_t id = client_create_ps(c, uid, RDMA_PS_UDP);

	assert_int_equal(client_bind(c, id, "10.0.0.1", 0), 0);
	return id;
}

/* @return the number of the join, or -errno. */
static int join(const struct client *c, uint32_t id, uint64_t uid, const char *group)
{
	struct rdma_ucm_create_id_resp r = {.id = UINT32_MAX};
	struct rdma_ucm_join_ip_mcast q = {
		.response = (uintptr_t)&r, .uid = uid, .addr = client_sa(group, 0), .id = id};
	int err = CALL_RESP(c, JOIN_IP_MCAST, q, r);

	return err ? err : (int)r.id;
}

static int join_ex(
	const struct client *c, uint32_t id, const char *group, uint16_t size, uint16_t flags)
{
	struct rdma_ucm_create_id_resp r = {.id = UINT32_MAX};
	struct rdma_ucm_join_mcast q = {.response = (uintptr_t)&r,
		.uid = 9,
		.id = id,
		.addr_size = size,
		.join_flags = flags};
	struct sockaddr_in6 sa = client_sa(group, 0);
	int err;

	memcpy(&q.addr, &sa, sizeof sa);
	err = CALL_RESP(c, JOIN_MCAST, q, r);
	return err ? err : (int)r.id;
}

/* @return events reported, or -errno. */
static int leave(const struct client *c, int fd, uint32_t number)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct rdma_ucm_destroy_id q = {.response = (uintptr_t)&r, .id = number};
	int err = client_raw(c, fd, RDMA_USER_CM_CMD_LEAVE_MCAST, &q, sizeof q, sizeof q, sizeof r);

	return err ? err : (int)r.events_reported;
}

static void a_join_has_an_event_that_says_where_to_send(void **state)
{
	static const uint8_t mapped[] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
	struct client c = open_ud();
	uint32_t id = bound(&c, 1);
	int number = join(&c, id, 7, GROUP);
	struct rdma_ucm_event_resp r = client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 7);

	assert_true(number >= 0);
	assert_int_equal(r.id, number);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.param.ud.qp_num, QP_GROUP);
	assert_int_equal(r.param.ud.qkey, UDP_QKEY);
	assert_int_equal(r.param.ud.private_data_len, 0);
	assert_int_equal(r.param.ud.ah_attr.is_global, 1);
	assert_int_equal(r.param.ud.ah_attr.port_num, 1);
	assert_int_equal(r.param.ud.ah_attr.grh.hop_limit, 1);
	assert_memory_equal(r.param.ud.ah_attr.grh.dgid, mapped, 16);
	assert_int_equal(ep_fake.joined, 1);
	assert_memory_equal(ep_fake.group.b, mapped, 16);
	/* The event is the join's, and the id's as well. */
	assert_int_equal(leave(&c, c.fd, (uint32_t)number), 1);
	assert_int_equal(ep_fake.joined, 0);
	assert_int_equal(leave(&c, c.fd, (uint32_t)number), -ENOENT);
	assert_int_equal(client_destroy(&c, id), 1);
	client_close(&c);
}

static void beyond_the_subnet_the_hop_limit_is_the_usual_one(void **state)
{
	struct client c = open_ud();
	uint32_t id = client_create_ps(&c, 1, RDMA_PS_UDP);
	struct rdma_ucm_event_resp r;

	ep_fake.group_ttl = 255;
	assert_int_equal(client_bind(&c, id, "fd00::1", 0), 0);
	assert_true(join(&c, id, 7, GROUP_V6) >= 0);
	r = client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 7);
	assert_int_equal(r.param.ud.ah_attr.grh.hop_limit, HOP_LIMIT);
	client_close(&c);
}

/* Each by its number; an unread event goes with its join, those of others stay. */
static void joins_are_apart(void **state)
{
	struct client c = open_ud();
	uint32_t id = bound(&c, 1);
	int first = join(&c, id, 7, GROUP), second = join(&c, id, 8, "239.1.2.4"),
	    again = join(&c, id, 9, GROUP);
	struct rdma_ucm_event_resp r;

	assert_true(first != second && second != again && first != again);
	assert_int_equal(ep_fake.joined, 3);
	assert_int_equal(leave(&c, c.fd, (uint32_t)second), 0);
	assert_int_equal(ep_fake.group.b[15], 4);
	client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 7);
	client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 9);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	assert_false(client_readable(c.fd));
	assert_int_equal(leave(&c, c.fd, (uint32_t)first), 1);
	assert_int_equal(ep_fake.joined, 1);
	client_close(&c);
}

static void an_id_ends_with_its_joins(void **state)
{
	struct client c = open_ud();
	uint32_t id = bound(&c, 1);
	int read = join(&c, id, 7, GROUP), unread;

	client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 7);
	unread = join(&c, id, 8, GROUP);
	/* Who destroys the id waits until the one event that was read is acknowledged. */
	assert_int_equal(client_destroy(&c, id), 1);
	assert_false(client_readable(c.fd));
	assert_int_equal(leave(&c, c.fd, (uint32_t)read), -ENOENT);
	assert_int_equal(leave(&c, c.fd, (uint32_t)unread), -ENOENT);
	/* And with its channel. */
	id = bound(&c, 1);
	assert_true(join(&c, id, 7, GROUP) >= 0);
	client_close(&c);
}

static void a_join_is_of_its_channel(void **state)
{
	struct client c = open_ud();
	int other = ucma_open(c.u, O_NONBLOCK | O_CLOEXEC);
	uint32_t id = bound(&c, 1);
	int number = join(&c, id, 7, GROUP);
	struct rdma_ucm_migrate_resp r;
	struct rdma_ucm_migrate_id q = {.response = (uintptr_t)&r, .id = id, .fd = (uint32_t)c.fd};

	assert_int_equal(leave(&c, other, (uint32_t)number), -EINVAL);
	/* It moves with its id, and its event too. */
	assert_int_equal(client_raw(&c, other, RDMA_USER_CM_CMD_MIGRATE_ID, &q, sizeof q, sizeof q,
				 sizeof r),
		0);
	assert_false(client_readable(c.fd));
	assert_true(client_readable(other));
	assert_int_equal(leave(&c, c.fd, (uint32_t)number), -EINVAL);
	assert_int_equal(leave(&c, other, (uint32_t)number), 0);
	assert_false(client_readable(other));
	ucma_close(c.u, other);
	close(other);
	client_close(&c);
}

static void only_ids_for_datagrams_that_have_an_address_and_no_more(void **state)
{
	struct client c = open_ud();
	uint32_t tcp = client_create(&c, 1), idle = client_create_ps(&c, 2, RDMA_PS_UDP);
	uint32_t id = bound(&c, 3);

	assert_int_equal(client_bind(&c, tcp, "10.0.0.1", 0), 0);
	assert_int_equal(join(&c, tcp, 7, GROUP), -EINVAL);
	assert_int_equal(join(&c, idle, 7, GROUP), -EINVAL);
	assert_int_equal(join(&c, 77, 7, GROUP), -ENOENT);
	assert_int_equal(join(&c, id, 7, "10.0.0.9"), -EINVAL); /* no group */
	ep_fake.fail = -ENOSPC;
	assert_int_equal(join(&c, id, 7, GROUP), -ENOSPC);
	assert_int_equal(client_listen(&c, id, 1), 0);
	assert_int_equal(join(&c, id, 7, GROUP), -EINVAL);
	assert_int_equal(ep_fake.joined, 0);
	assert_false(client_readable(c.fd));
	client_close(&c);
}

static void flags_and_sizes(void **state)
{
	struct client c = open_ud();
	uint32_t id = bound(&c, 3);
	const uint16_t v4 = sizeof(struct sockaddr_in), v6 = sizeof(struct sockaddr_in6);
	int number;

	assert_int_equal(join_ex(&c, id, GROUP, 0, 0), -EINVAL);
	assert_int_equal(join_ex(&c, id, GROUP, v6, 0), -EINVAL);
	assert_int_equal(join_ex(&c, id, GROUP_V6, v4, 0), -EINVAL);
	assert_int_equal(join_ex(&c, id, GROUP, v4, RDMA_MC_JOIN_FLAG_RESERVED), -EINVAL);
	assert_true(join_ex(&c, id, GROUP, v4, RDMA_MC_JOIN_FLAG_FULLMEMBER) >= 0);
	client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 9);
	assert_int_equal(ep_fake.joined, 1);
	/* Who only sends needs no membership. */
	number = join_ex(&c, id, GROUP, v4, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	assert_true(number >= 0);
	client_expect(&c, UCMA_EVENT_MULTICAST_JOIN, 9);
	assert_int_equal(ep_fake.joined, 1);
	assert_int_equal(leave(&c, c.fd, (uint32_t)number), 1);
	assert_int_equal(ep_fake.joined, 1);
	client_close(&c);
}

static void without_memory_nothing_is_joined(void **state)
{
	struct client c = open_ud();
	uint32_t id = bound(&c, 3);

	for (unsigned n = 0; n < 2; n++) {
		alloc_fault_at(n + 2); /* the first is the client's own */
		assert_int_equal(join(&c, id, 7, GROUP), -ENOMEM);
		alloc_fault_at(0);
		assert_int_equal(ep_fake.joined, 0);
		assert_false(client_readable(c.fd));
	}
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_has_an_event_that_says_where_to_send),
		cmocka_unit_test(beyond_the_subnet_the_hop_limit_is_the_usual_one),
		cmocka_unit_test(joins_are_apart),
		cmocka_unit_test(an_id_ends_with_its_joins),
		cmocka_unit_test(a_join_is_of_its_channel),
		cmocka_unit_test(only_ids_for_datagrams_that_have_an_address_and_no_more),
		cmocka_unit_test(flags_and_sizes),
		cmocka_unit_test(without_memory_nothing_is_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
