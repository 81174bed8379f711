/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/alloc_fault.h"
#include "support/unwinding.h"
#include "unit/cm/client.h"

static void events_come_in_their_order(void **state)
{
	struct client c = client_open();
	uint32_t a = client_create(&c, 1), b = client_create(&c, 2);
	struct rdma_ucm_event_resp r;

	assert_int_equal(client_resolve(&c, b, "10.0.0.2"), 0);
	assert_int_equal(client_resolve(&c, a, "10.0.0.2"), 0);
	assert_int_equal(client_route(&c, b), 0);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 2);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 1);
	client_expect(&c, UCMA_EVENT_ROUTE_RESOLVED, 2);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	assert_int_equal(client_destroy(&c, b), 2);
	assert_int_equal(client_destroy(&c, a), 1);
	client_close(&c);
}

static void a_request_carries_the_listeners_name_and_a_new_id(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep);
	struct rdma_ucm_event_resp r;
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query q = {.response = (uintptr_t)&route};
	struct sockaddr_in6 src = client_sa("10.0.0.1", 7174), dst = client_sa("10.0.0.2", 50000);

	ep_fake_request(ep, "10.0.0.1", "10.0.0.2", "private", 7);
	r = client_expect(&c, UCMA_EVENT_CONNECT_REQUEST, 0x33);
	assert_int_not_equal(r.id, listener);
	/* The fake told: we may use 5, the peer may use 3. */
	assert_int_equal(r.param.conn.initiator_depth, 5);
	assert_int_equal(r.param.conn.responder_resources, 3);
	assert_int_equal(r.param.conn.private_data_len, 7);
	assert_memory_equal(r.param.conn.private_data, "private", 7);
	q.id = r.id;
	assert_int_equal(CALL_RESP(&c, QUERY_ROUTE, q, route), 0);
	assert_memory_equal(&route.src_addr, &src, sizeof src);
	assert_memory_equal(&route.dst_addr, &dst, sizeof dst);
	assert_int_equal(route.node_guid, GUID);
	/* It counts against the listener. */
	assert_int_equal(client_destroy(&c, r.id), 0);
	assert_int_equal(client_destroy(&c, listener), 1);
	client_close(&c);
}

static void a_v6_request_has_v6_addresses(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query q = {.response = (uintptr_t)&route};

	client_listener(&c, 0x33, &ep);
	ep_fake_request(ep, "fd00::1", "fd00::2", NULL, 0);
	q.id = client_expect(&c, UCMA_EVENT_CONNECT_REQUEST, 0x33).id;
	assert_int_equal(CALL_RESP(&c, QUERY_ROUTE, q, route), 0);
	assert_int_equal(route.dst_addr.sin6_family, AF_INET6);
	assert_int_equal(route.dst_addr.sin6_addr.s6_addr[15], 2);
	client_close(&c);
}

static void long_private_data_and_depths_are_cut(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = client_routed(&c, 1)};
	struct rdma_ucm_event_resp r;
	uint8_t data[512];

	memset(data, 'y', sizeof data);
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	ep_fake_emit_data(ep_fake.last, RNIC_EP_ESTABLISHED, data, sizeof data, 0x3fff, 300);
	r = client_expect(&c, UCMA_EVENT_ESTABLISHED, 1);
	assert_int_equal(r.param.conn.private_data_len, 255);
	assert_int_equal(r.param.conn.private_data[254], 'y');
	assert_int_equal(r.param.conn.private_data[255], 0);
	assert_int_equal(r.param.conn.responder_resources, 255);
	assert_int_equal(r.param.conn.initiator_depth, 255);
	client_close(&c);
}

/* A listener is destroyed before its requests are read: their endpoints end with it. */
static void unread_requests_end_with_their_listener(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep);
	struct rdma_ucm_event_resp r;

	ep_fake_request(ep, "10.0.0.1", "10.0.0.2", NULL, 0);
	ep_fake_request(ep, "10.0.0.1", "10.0.0.3", NULL, 0);
	assert_int_equal(ep_fake.live, 3);
	assert_int_equal(client_destroy(&c, listener), 0);
	assert_int_equal(ep_fake.live, 0);
	assert_int_equal(c.u->ids.used, 0);
	assert_false(client_readable(c.fd));
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	client_close(&c);
}

static void a_request_that_was_read_outlives_its_listener(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep), id = client_request(&c, 0x33, ep);
	struct rdma_ucm_accept q = {.uid = 0x44, .conn_param = client_param(), .id = id};

	assert_int_equal(client_destroy(&c, listener), 1);
	assert_int_equal(CALL(&c, ACCEPT, q), 0);
	client_close(&c);
}

static void unread_events_go_with_their_id(void **state)
{
	struct client c = client_open();
	uint32_t a = client_create(&c, 1), b = client_create(&c, 2);

	assert_int_equal(client_resolve(&c, a, "10.0.0.2"), 0);
	assert_int_equal(client_resolve(&c, b, "10.0.0.2"), 0);
	assert_int_equal(client_route(&c, a), 0);
	assert_int_equal(client_destroy(&c, a), 0);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 2);
	assert_false(client_readable(c.fd));
	assert_int_equal(client_destroy(&c, b), 1);
	client_close(&c);
}

static void nothing_is_told_before_accept(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	struct rdma_ucm_event_resp r;

	client_listener(&c, 0x33, &ep);
	client_request(&c, 0x33, ep);
	ep_fake_emit(ep_fake.last, RNIC_EP_DISCONNECTED, -ECONNRESET);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	client_close(&c);
}

/** Tell it when no memory is left. */
static void emit_without_memory(
	struct rnic_ep *ep, enum rnic_ep_event_type type, const void *data, uint16_t len)
{
	uint64_t failed = alloc_fault_failed();

	alloc_fault_chance(1, 1);
	ep_fake_emit_data(ep, type, data, len, 4, 4);
	alloc_fault_chance(0, 1);
	/* What is expected needs none. */
	assert_int_equal(alloc_fault_failed(), failed);
}

/* Who waits for one that is lost waits for ever: all that an id can be told comes. */
static void what_an_endpoint_tells_needs_no_memory(void **state)
{
	struct client c = client_open();
	uint32_t id;
	struct rdma_ucm_connect q = {.conn_param = client_param()};
	struct rdma_ucm_event_resp r;
	uint8_t data[UCMA_PRIVATE_MAX];

	memset(data, 'z', sizeof data);
	ep_fake.resolve_at_once = false;
	id = client_create(&c, 1);
	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	emit_without_memory(ep_fake.last, RNIC_EP_ADDR_RESOLVED, NULL, 0);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 1);
	assert_int_equal(client_route(&c, id), 0);
	client_expect(&c, UCMA_EVENT_ROUTE_RESOLVED, 1);
	q.id = id;
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	emit_without_memory(ep_fake.last, RNIC_EP_ESTABLISHED, data, sizeof data);
	emit_without_memory(ep_fake.last, RNIC_EP_DISCONNECTED, NULL, 0);
	r = client_expect(&c, UCMA_EVENT_ESTABLISHED, 1);
	assert_int_equal(r.param.conn.private_data_len, sizeof data);
	assert_memory_equal(r.param.conn.private_data, data, sizeof data);
	client_expect(&c, UCMA_EVENT_DISCONNECTED, 1);
	client_close(&c);
}

/* It takes nothing from what the end of the connection needs. */
static void the_removal_of_the_device_is_told(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = client_routed(&c, 1)};
	struct rdma_ucm_event_resp r;

	assert_int_equal(CALL(&c, CONNECT, q), 0);
	ep_fake_emit(ep_fake.last, RNIC_EP_ESTABLISHED, 0);
	client_expect(&c, UCMA_EVENT_ESTABLISHED, 1);
	ep_fake_emit(ep_fake.last, RNIC_EP_DEVICE_REMOVAL, 0);
	emit_without_memory(ep_fake.last, RNIC_EP_DISCONNECTED, NULL, 0);
	r = client_expect(&c, UCMA_EVENT_DEVICE_REMOVAL, 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.param.conn.private_data_len, 0);
	client_expect(&c, UCMA_EVENT_DISCONNECTED, 1);
	assert_int_equal(client_destroy(&c, q.id), 5);
	client_close(&c);
}

static void what_an_accepted_id_is_told_needs_no_memory(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	struct rdma_ucm_accept q = {.uid = 0x44, .conn_param = client_param()};

	client_listener(&c, 0x33, &ep);
	q.id = client_request(&c, 0x33, ep);
	assert_int_equal(CALL(&c, ACCEPT, q), 0);
	emit_without_memory(ep_fake.last, RNIC_EP_ESTABLISHED, NULL, 0);
	emit_without_memory(ep_fake.last, RNIC_EP_DISCONNECTED, NULL, 0);
	client_expect(&c, UCMA_EVENT_ESTABLISHED, 0x44);
	client_expect(&c, UCMA_EVENT_DISCONNECTED, 0x44);
	client_close(&c);
}

/* Of requests there is any number: one that cannot be told of is refused, and leaves nothing. */
static void a_request_without_memory_is_refused(void **state)
{
	struct client c = client_open();
	uint32_t used;
	struct rnic_ep *ep;

	client_listener(&c, 0x33, &ep);
	used = c.u->ids.used;
	for (unsigned i = 0; i < 8; i++) {
		alloc_fault_at(2 + i % 2); /* the first is the double's own */
		assert_null(ep_fake_request(ep, "10.0.0.1", "10.0.0.2", "private", 7));
		alloc_fault_at(0);
		assert_false(client_readable(c.fd));
	}
	assert_int_equal(ep_fake.live, 1);
	assert_int_equal(c.u->ids.used, used);
	client_request(&c, 0x33, ep);
	client_close(&c);
}

/* What was told can be read: the peer waits, and so do the events behind it. */
static void a_request_is_read_without_memory(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_event_resp r;
	struct rnic_ep *ep;
	int err;

	client_listener(&c, 0x33, &ep);
	ep_fake_request(ep, "10.0.0.1", "10.0.0.2", "private", 7);
	alloc_fault_at(2); /* the first is the client's own */
	err = client_event(&c, &r);
	alloc_fault_at(0);
	assert_int_equal(err, 0);
	assert_int_equal(r.event, UCMA_EVENT_CONNECT_REQUEST);
	client_close(&c);
}

/* The numbers run out: of what comes then nothing is told, and what was told has its number. */
static void a_request_without_a_number_is_refused(void **state)
{
	struct client c = client_open();
	struct ucma_id_table *t = &c.u->ids;
	struct rnic_ep *ep;
	uint32_t left;

	client_listener(&c, 0x33, &ep);
	left = UCMA_MAX_IDS - t->used;
	t->used += left - 1;
	assert_non_null(ep_fake_request(ep, "10.0.0.1", "10.0.0.2", NULL, 0));
	assert_null(ep_fake_request(ep, "10.0.0.1", "10.0.0.2", NULL, 0));
	client_expect(&c, UCMA_EVENT_CONNECT_REQUEST, 0x33);
	assert_false(client_readable(c.fd));
	t->used -= left - 1;
	client_close(&c);
}

/* A call that fails for want of memory has done nothing: it may be made again. */
static void a_route_may_be_asked_for_again(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_resolve(&c, id, "10.0.0.2"), 0);
	client_expect(&c, UCMA_EVENT_ADDR_RESOLVED, 1);
	alloc_fault_at(2); /* the first is the client's own */
	assert_int_equal(client_route(&c, id), -ENOMEM);
	alloc_fault_at(0);
	assert_int_equal(client_route(&c, id), 0);
	client_expect(&c, UCMA_EVENT_ROUTE_RESOLVED, 1);
	client_close(&c);
}

/* An id waits for one event while it is connected, and keeps no room for data that came. */
static void a_connected_id_keeps_one_small_event(void **state)
{
	struct client c = client_open();
	uint32_t number = client_routed(&c, 1);
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = number};
	struct ucma_id *id = c.u->ids.by_number[number];
	struct ucma_event *ev;

	assert_true(TAILQ_EMPTY(&id->expected));
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	ep_fake_emit(ep_fake.last, RNIC_EP_ESTABLISHED, 0);
	client_expect(&c, UCMA_EVENT_ESTABLISHED, 1);
	ev = TAILQ_FIRST(&id->expected);
	assert_non_null(ev);
	assert_null(TAILQ_NEXT(ev, link));
	assert_int_equal(ev->room, 0);
	assert_true(sizeof *ev <= 56);
	client_close(&c);
}

/* Libraries from before ECE give room for 4 or 12 bytes less. */
static void the_answer_may_be_shorter(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_event_resp r;
	struct rdma_ucm_get_event q = {.response = (uintptr_t)&r};
	uint16_t shortest = offsetof(struct rdma_ucm_event_resp, reserved);

	memset(&r, 0xee, sizeof r);
	assert_int_equal(client_resolve(&c, client_create(&c, 1), "10.0.0.2"), 0);
	assert_int_equal(
		client_call(&c, RDMA_USER_CM_CMD_GET_EVENT, &q, sizeof q, shortest - 1), -ENOSPC);
	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_GET_EVENT, &q, sizeof q, shortest), 0);
	assert_int_equal(r.uid, 1);
	assert_int_equal(r.reserved, 0xeeeeeeee);
	client_close(&c);
}

struct reader {
	struct client *c;
	int fd;
	int got, err;
};

static void *read_one(void *arg)
{
	struct reader *r = arg;
	struct rdma_ucm_event_resp resp;

	r->err = client_event_on(r->c, r->fd, &resp);
	r->got = (int)resp.uid;
	return NULL;
}

static void several_readers_share_a_blocking_channel(void **state)
{
	struct client c = client_open();
	struct client blocking = {c.u, ucma_open(c.u, 0)};
	struct reader r[4];
	pthread_t t[4];
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		r[i] = (struct reader){&c, blocking.fd, 0, 0};
		pthread_create(&t[i], NULL, read_one, &r[i]);
	}
	for (unsigned i = 1; i <= 4; i++)
		assert_int_equal(
			client_resolve(&blocking, client_create(&blocking, i), "10.0.0.2"), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(r[i].err, 0);
		sum += r[i].got;
	}
	assert_int_equal(sum, 1 + 2 + 3 + 4);
	ucma_close(c.u, blocking.fd);
	close(blocking.fd);
	client_close(&c);
}

static const struct ucma_channel *of_the_reader;
static unsigned sleeping_then;
static bool told_then;

static void look_at_the_sleeper(void)
{
	sleeping_then = of_the_reader->sleeping;
}

static void look_at_the_driver(void)
{
	told_then = of_the_reader->told || client_readable(of_the_reader->fd);
}

/* What a thread is about to wait for may be there: it looks itself, without a wake-up. */
static void a_reader_drives_before_it_sleeps(void **state)
{
	struct client c = client_open();
	struct client blocking = {c.u, ucma_open(c.u, 0)};
	struct ucma_channel *ch = ucma_channel_find(&c.u->channels, blocking.fd);
	struct rdma_ucm_event_resp r;

	ep_fake.resolve_at_once = false;
	assert_int_equal(client_resolve(&blocking, client_create(&blocking, 1), "10.0.0.2"), 0);
	ep_fake.drive_emits = ep_fake.last;
	of_the_reader = ch;
	ep_fake.on_drive = look_at_the_driver;
	told_then = true;
	client_expect(&blocking, UCMA_EVENT_ADDR_RESOLVED, 1);
	assert_int_equal(ep_fake.drives, 1);
	assert_int_equal(ep_fake.handed_over, 0);
	assert_int_equal(ch->told, 0);
	assert_false(told_then);
	ep_fake.on_drive = NULL;
	/* Who polls leaves the driving to the engine's thread, which is to wake him. */
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	assert_int_equal(ep_fake.drives, 1);
	ucma_close(c.u, blocking.fd);
	close(blocking.fd);
	client_close(&c);
}

/** Or is about to. */
static void until_a_reader_sleeps(struct client *c, const struct ucma_channel *ch)
{
	unsigned sleeping;

	do {
		sched_yield();
		pthread_mutex_lock(&c->u->lock);
		sleeping = ch->sleeping;
		pthread_mutex_unlock(&c->u->lock);
	} while (!sleeping);
}

/* It drives, finds nothing, says that it goes to sleep, and is woken. */
static void a_reader_that_sleeps_hands_over_and_is_known_to_be_woken(void **state)
{
	struct client c = client_open();
	struct client blocking = {c.u, ucma_open(c.u, 0)};
	struct ucma_channel *ch = ucma_channel_find(&c.u->channels, blocking.fd);
	struct engine *e = rnic_engine(ep_fake_rnic());
	struct reader r = {&c, blocking.fd, 0, 0};
	uint64_t woken = engine_count_woken(e);
	pthread_t t;

	of_the_reader = ch;
	ep_fake.on_hand_over = look_at_the_sleeper;
	pthread_create(&t, NULL, read_one, &r);
	until_a_reader_sleeps(&c, ch);
	client_resolve(&blocking, client_create(&blocking, 1), "10.0.0.2");
	pthread_join(t, NULL);
	assert_int_equal(r.err, 0);
	assert_int_equal(r.got, 1);
	assert_int_equal(ep_fake.handed_over, 1);
	/* Who has the engine next must know that it wakes one that slept. */
	assert_int_equal(sleeping_then, 1);
	assert_int_equal(engine_count_woken(e), woken + 1);
	assert_false(client_readable(blocking.fd));
	ucma_close(c.u, blocking.fd);
	close(blocking.fd);
	client_close(&c);
}

/* Without a heap block of its own, which would be lost. */
static void *cancelled_reader(void *arg)
{
	static struct rdma_ucm_event_resp resp;
	const struct reader *r = arg;
	struct {
		struct rdma_ucm_cmd_hdr h;
		struct rdma_ucm_get_event q;
	} cmd = {{RDMA_USER_CM_CMD_GET_EVENT, sizeof cmd.q, sizeof resp}, {(uintptr_t)&resp}};

	ucma_write(r->c->u, r->fd, &cmd, sizeof cmd);
	return NULL;
}

/* rping cancels its event thread inside rdma_get_cm_event(); nothing may stay locked or leak. */
static void a_blocked_reader_can_be_cancelled(void **state)
{
#ifdef UNWINDING_TRIPS_THE_SANITIZER
	skip();
#endif
	struct client c = client_open();
	struct client blocking = {c.u, ucma_open(c.u, 0)};
	struct ucma_channel *ch = ucma_channel_find(&c.u->channels, blocking.fd);
	struct reader r = {&c, blocking.fd, 0, 0};
	pthread_t t;
	void *result;

	pthread_create(&t, NULL, cancelled_reader, &r);
	until_a_reader_sleeps(&c, ch);
	pthread_cancel(t);
	pthread_join(t, &result);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(ch->refs, 1);
	assert_int_equal(ch->sleeping, 0);
	client_create(&blocking, 1);
	ucma_close(c.u, blocking.fd);
	close(blocking.fd);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_in_their_order),
		cmocka_unit_test(a_request_carries_the_listeners_name_and_a_new_id),
		cmocka_unit_test(a_v6_request_has_v6_addresses),
		cmocka_unit_test(long_private_data_and_depths_are_cut),
		cmocka_unit_test(unread_requests_end_with_their_listener),
		cmocka_unit_test(a_request_that_was_read_outlives_its_listener),
		cmocka_unit_test(unread_events_go_with_their_id),
		cmocka_unit_test(nothing_is_told_before_accept),
		cmocka_unit_test(what_an_endpoint_tells_needs_no_memory),
		cmocka_unit_test(the_removal_of_the_device_is_told),
		cmocka_unit_test(what_an_accepted_id_is_told_needs_no_memory),
		cmocka_unit_test(a_request_without_memory_is_refused),
		cmocka_unit_test(a_request_is_read_without_memory),
		cmocka_unit_test(a_request_without_a_number_is_refused),
		cmocka_unit_test(a_route_may_be_asked_for_again),
		cmocka_unit_test(a_connected_id_keeps_one_small_event),
		cmocka_unit_test(the_answer_may_be_shorter),
		cmocka_unit_test(several_readers_share_a_blocking_channel),
		cmocka_unit_test(a_reader_drives_before_it_sleeps),
		cmocka_unit_test(a_reader_that_sleeps_hands_over_and_is_known_to_be_woken),
		cmocka_unit_test(a_blocked_reader_can_be_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
