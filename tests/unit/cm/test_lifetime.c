/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

#include <sched.h>

static int migrate(const struct client *from, int to, uint32_t id, uint32_t *reported)
{
	struct rdma_ucm_migrate_resp r = {.events_reported = 77};
	struct rdma_ucm_migrate_id q = {
		.response = (uintptr_t)&r, .id = id, .fd = (uint32_t)from->fd};
	int err =
		client_raw(from, to, RDMA_USER_CM_CMD_MIGRATE_ID, &q, sizeof q, sizeof q, sizeof r);

	*reported = r.events_reported;
	return err;
}

static void port_spaces(void **state)
{
	static const uint16_t good[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB};
	struct client c = client_open();
	struct rdma_ucm_create_id_resp r;
	struct rdma_ucm_create_id q = {.uid = 1, .response = (uintptr_t)&r, .ps = 0x9999};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		client_create_ps(&c, 1, good[i]);
	assert_int_equal(CALL_RESP(&c, CREATE_ID, q, r), -EINVAL);
	client_close(&c);
}

static void a_failed_create_leaves_nothing(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_create_id_resp r;
	struct rdma_ucm_create_id q = {.uid = 1, .response = (uintptr_t)&r, .ps = RDMA_PS_TCP};

	ep_fake.fail = -ENOMEM;
	assert_int_equal(CALL_RESP(&c, CREATE_ID, q, r), -ENOMEM);
	q.response = 0;
	assert_int_equal(CALL_RESP(&c, CREATE_ID, q, r), -EFAULT);
	assert_int_equal(ep_fake.live, 0);
	client_close(&c);
}

static void a_destroyed_id_is_unknown(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_destroy(&c, id), 0);
	assert_int_equal(client_destroy(&c, id), -ENOENT);
	assert_int_equal(client_bind(&c, id, "10.0.0.1", 0), -ENOENT);
	client_close(&c);
}

static void an_id_belongs_to_its_channel(void **state)
{
	struct client c = client_open(), d = {c.u, ucma_open(c.u, O_NONBLOCK)};
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_bind(&d, id, "10.0.0.1", 0), -EINVAL);
	assert_int_equal(client_destroy(&d, id), -EINVAL);
	ucma_close(d.u, d.fd);
	close(d.fd);
	client_close(&c);
}

static void migration_moves_id_and_events(void **state)
{
	struct client c = client_open(), d = {c.u, ucma_open(c.u, O_NONBLOCK)};
	uint32_t id = client_create(&c, 0x11), reported;
	struct rdma_ucm_event_resp r;

	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 0x11);
	assert_int_equal(client_route(&c, id), 0);
	assert_int_equal(migrate(&c, d.fd, id, &reported), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	assert_false(client_readable(c.fd));
	client_expect(&d, UCMA_EVENT_ROUTE_RESOLVED, 0x11);
	assert_int_equal(client_destroy(&c, id), -EINVAL);
	assert_int_equal(client_destroy(&d, id), 2);
	ucma_close(d.u, d.fd);
	close(d.fd);
	client_close(&c);
}

static void a_listeners_requests_move_along(void **state)
{
	struct client c = client_open(), d = {c.u, ucma_open(c.u, O_NONBLOCK)};
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep), reported, id;

	ep_fake_request(ep, "10.0.0.1", "10.0.0.2", NULL, 0);
	assert_int_equal(migrate(&c, d.fd, listener, &reported), 0);
	id = client_expect(&d, UCMA_EVENT_CONNECT_REQUEST, 0x33).id;
	assert_int_equal(client_destroy(&d, id), 0);
	assert_int_equal(client_destroy(&d, listener), 1);
	ucma_close(d.u, d.fd);
	close(d.fd);
	client_close(&c);
}

static void migration_tells_why_not(void **state)
{
	struct client c = client_open(), nowhere = {c.u, INT32_MAX}, negative = {c.u, -1},
		      file = {c.u, STDERR_FILENO};
	uint32_t id = client_create(&c, 1), reported;

	assert_int_equal(migrate(&nowhere, c.fd, id, &reported), -ENOENT);
	assert_int_equal(migrate(&negative, c.fd, id, &reported), -ENOENT);
	assert_int_equal(migrate(&c, c.fd, id + 1, &reported), -ENOENT);
	/* From a file that is no channel. */
	assert_int_equal(migrate(&file, c.fd, id, &reported), -EINVAL);
	assert_int_equal(migrate(&c, c.fd, id, &reported), 0);
	client_close(&c);
}

/** A migration in a thread of its own. */
struct move {
	struct client from;
	int to;
	uint32_t id, reported;
	int result;
};

static void *move_in_thread(void *arg)
{
	struct move *m = arg;

	m->result = migrate(&m->from, m->to, m->id, &m->reported);
	return NULL;
}

static void set_held(struct ucma *u, uint32_t number, bool held)
{
	pthread_mutex_lock(&u->lock);
	if (held)
		u->ids.by_number[number]->held = true;
	else
		ucma_id_release(&u->ids, u->ids.by_number[number]);
	pthread_mutex_unlock(&u->lock);
}

static unsigned count_refs(struct ucma *u, int fd)
{
	unsigned refs;

	pthread_mutex_lock(&u->lock);
	refs = ucma_channel_find(&u->channels, fd)->refs;
	pthread_mutex_unlock(&u->lock);
	return refs;
}

/* The id is busy, and the channel is closed while its turn is waited for: it stays where it is. */
static void nothing_migrates_to_a_channel_that_closes(void **state)
{
	struct client c = client_open();

	for (unsigned i = 0; i < 100; i++) {
		struct move m = {
			.from = c, .to = ucma_open(c.u, O_NONBLOCK), .id = client_create(&c, 1)};
		pthread_t t;

		set_held(c.u, m.id, true);
		pthread_create(&t, NULL, move_in_thread, &m);
		while (count_refs(c.u, m.to) < 2)
			sched_yield();
		sched_yield();
		ucma_close(c.u, m.to);
		set_held(c.u, m.id, false);
		pthread_join(t, NULL);
		close(m.to);
		assert_int_equal(m.result, -EINVAL);
		assert_int_equal(client_destroy(&c, m.id), 0);
	}
	client_close(&c);
}

static void *churn(void *arg)
{
	const struct client *c = arg;

	for (unsigned i = 0; i < 200; i++) {
		uint32_t id = client_create(c, 1 + i);

		assert_int_equal(client_resolve(c, id, "10.0.0.2"), 0);
		assert_int_equal(client_destroy(c, id), 0);
	}
	return NULL;
}

/* Every destroy finds its event still unread, or the counts would not come out even. */
static void threads_create_and_destroy_side_by_side(void **state)
{
	struct client c = client_open();
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, churn, &c);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_false(client_readable(c.fd));
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(port_spaces),
		cmocka_unit_test(a_failed_create_leaves_nothing),
		cmocka_unit_test(a_destroyed_id_is_unknown),
		cmocka_unit_test(an_id_belongs_to_its_channel),
		cmocka_unit_test(migration_moves_id_and_events),
		cmocka_unit_test(a_listeners_requests_move_along),
		cmocka_unit_test(migration_tells_why_not),
		cmocka_unit_test(nothing_migrates_to_a_channel_that_closes),
		cmocka_unit_test(threads_create_and_destroy_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
