/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_cm from many threads: channels that several read, ids that change channels and threads. */
#include "cm_server.h"
#include "must.h"
#include "support/in_syscall.h"
#include "support/limit.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define VISITORS 4
#define VISITS   50

/* ---- many at once ---------------------------------------------------------------------------- */

static void *visit_often(void *server)
{
	for (unsigned i = 0; i < VISITS; i++)
		cm_server_visit(server);
	return NULL;
}

static void test_threads_connect_at_once(void **state)
{
	pthread_t thread[VISITORS];
	struct cm_server s;

	cm_server_start(&s);
	for (unsigned i = 0; i < VISITORS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, visit_often, &s), 0);
	for (unsigned i = 0; i < VISITORS; i++)
		pthread_join(thread[i], NULL);
	cm_server_stop(&s);
	assert_int_equal(s.requests, VISITORS * VISITS);
	assert_int_equal(s.established, VISITORS * VISITS);
	assert_int_equal(s.requests, VISITORS * VISITS); /* and each has ended */
}

/* ---- ids that move --------------------------------------------------------------------------- */

#define MOVERS 64

struct reader {
	struct rdma_event_channel *channel;
	_Atomic unsigned *left; /* of the events of all channels */
	sem_t *all_read;
};

static void *count_resolutions(void *arg)
{
	struct reader *r = arg;
	struct rdma_cm_event *ev;

	while (atomic_load(r->left) != 0) {
		if (rdma_get_cm_event(r->channel, &ev) != 0)
			return NULL;
		/* The last one, of nobody among them, ends the wait of each. */
		if (ev->event == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			MUST(rdma_ack_cm_event(ev) == 0);
			return NULL;
		}
		/* The library asks for the route over the channel that the id had a moment ago:
		 * when it moves meanwhile, Linux too refuses that, and an error is told. */
		MUST(ev->event == RDMA_CM_EVENT_ADDR_RESOLVED ||
			ev->event == RDMA_CM_EVENT_ADDR_ERROR);
		MUST(rdma_ack_cm_event(ev) == 0);
		if (atomic_fetch_sub(r->left, 1) == 1)
			MUST(sem_post(r->all_read) == 0);
	}
	return NULL;
}

/* Wherever an id is when its event comes or is read, it comes once. */
static void test_ids_change_channels(void **state)
{
	struct cm_address to = cm_address(CM_V4, 4000);
	struct rdma_cm_id *id[MOVERS], *last[2];
	_Atomic unsigned left = MOVERS;
	struct reader reader[2];
	pthread_t thread[2];
	sem_t all_read;

	assert_int_equal(sem_init(&all_read, 0, 0), 0);
	for (unsigned i = 0; i < 2; i++) {
		reader[i] = (struct reader){rdma_create_event_channel(), &left, &all_read};
		assert_int_equal(rdma_create_id(reader[i].channel, &last[i], NULL, RDMA_PS_TCP), 0);
	}
	for (unsigned i = 0; i < MOVERS; i++)
		assert_int_equal(
			rdma_create_id(reader[i % 2].channel, &id[i], NULL, RDMA_PS_TCP), 0);
	for (unsigned i = 0; i < MOVERS; i++)
		assert_int_equal(rdma_resolve_addr(id[i], NULL, cm_sockaddr(&to), 2000), 0);
	/* Both channels have events, unread; half of them go to the other channel, and some back,
	 * while both are read. */
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&thread[i], NULL, count_resolutions, &reader[i]), 0);
	for (unsigned i = 0; i < MOVERS; i++) {
		assert_int_equal(rdma_migrate_id(id[i], reader[1 - i % 2].channel), 0);
		if (i % 3 == 0)
			assert_int_equal(rdma_migrate_id(id[i], reader[i % 2].channel), 0);
	}
	must_wait(&all_read);
	assert_int_equal(atomic_load(&left), 0);
	for (unsigned i = 0; i < 2; i++) {
		/* Resolved where none of them looks; its route is told to a thread that still
		 * waits. */
		assert_int_equal(rdma_migrate_id(last[i], cm_channel), 0);
		assert_int_equal(rdma_resolve_addr(last[i], NULL, cm_sockaddr(&to), 2000), 0);
		cm_expect(last[i], RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		assert_int_equal(rdma_migrate_id(last[i], reader[i].channel), 0);
		assert_int_equal(rdma_resolve_route(last[i], 2000), 0);
		pthread_join(thread[i], NULL);
		cm_destroy(last[i]);
	}
	for (unsigned i = 0; i < MOVERS; i++)
		cm_destroy(id[i]);
	for (unsigned i = 0; i < 2; i++)
		rdma_destroy_event_channel(reader[i].channel);
	sem_destroy(&all_read);
}

/* A thread waits; ids come and go under it with their events; the one event that stays is its. */
static void *wait_for_one(void *arg)
{
	struct rdma_cm_event *ev;

	MUST(rdma_get_cm_event(arg, &ev) == 0);
	return ev;
}

static void test_destroy_under_a_waiting_thread(void **state)
{
	struct cm_address to = cm_address(CM_V4, 4000);
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	pthread_t thread;
	void *got;

	/* On another channel, so that the events are unread for sure when they go. */
	for (unsigned i = 0; i < 50; i++) {
		id = cm_id();
		assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000), 0);
		cm_destroy(id);
	}
	assert_int_equal(pthread_create(&thread, NULL, wait_for_one, channel), 0);
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
		cm_destroy(id);
	}
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000), 0);
	pthread_join(thread, &got);
	ev = got;
	assert_ptr_equal(ev->id, id);
	assert_int_equal(ev->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_destroy(id);
	rdma_destroy_event_channel(channel);
}

/* ---- signals that come while a thread waits ---------------------------------------------------
 */

static struct rdma_cm_id *interrupting;
static sem_t handled;

static void destroy_in_handler(int sig)
{
	MUST(rdma_destroy_id(interrupting) == 0);
	MUST(sem_post(&handled) == 0);
}

static _Atomic pid_t waiter;

static void *wait_for_one_and_say_so(void *channel)
{
	waiter = gettid();
	return wait_for_one(channel);
}

/*
 * A wait is no call that a handler would have to keep out of. ThreadSanitizer keeps signals back
 * until read() is over.
 */
static void test_a_handler_uses_the_channel_of_a_wait(void **state)
{
	struct sigaction a = {.sa_handler = destroy_in_handler, .sa_flags = SA_RESTART};
	struct cm_address to = cm_address(CM_V4, 4000);
	struct rdma_cm_id *id;
	struct rdma_cm_event *ev;
	pthread_t thread;
	uint16_t port;
	void *got;

#ifdef __SANITIZE_THREAD__
	skip();
#endif
	id = cm_id();
	interrupting = cm_listener(1);
	port = cm_port(interrupting);
	assert_int_equal(sem_init(&handled, 0, 0), 0);
	assert_int_equal(sigaction(SIGUSR1, &a, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_one_and_say_so, cm_channel), 0);
	wait_until_in_syscall(&waiter, SYS_read);
	assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
	must_wait(&handled);
	/* Its port is free. */
	interrupting = cm_id();
	assert_int_equal(cm_bind(interrupting, CM_V4, port), 0);
	cm_destroy(interrupting);
	/* And the wait went on. */
	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000), 0);
	pthread_join(thread, &got);
	ev = got;
	assert_ptr_equal(ev->id, id);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_destroy(id);
	sem_destroy(&handled);
}

/* rdma_destroy_id() waits for threads that have yet to acknowledge. */
static void *destroy(void *id)
{
	MUST(rdma_destroy_id(id) == 0);
	return NULL;
}

static void test_destroy_waits_for_acknowledgement(void **state)
{
	struct cm_address to = cm_address(CM_V4, 4000);
	struct rdma_cm_id *id = cm_id();
	struct rdma_cm_event *ev;
	pthread_t thread;

	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000), 0);
	ev = cm_next(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(pthread_create(&thread, NULL, destroy, id), 0);
	/* Its memory is there until then: a sanitizer would say if not. */
	for (unsigned i = 0; i < 100; i++) {
		assert_ptr_equal(ev->id, id);
		assert_ptr_equal(id->channel, cm_channel);
		sched_yield();
	}
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_threads_connect_at_once),
		CM(test_ids_change_channels),
		CM(test_destroy_under_a_waiting_thread),
		CM(test_a_handler_uses_the_channel_of_a_wait),
		CM(test_destroy_waits_for_acknowledgement),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
