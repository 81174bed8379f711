/* SPDX-License-Identifier: BSD-2-Clause */
#define ALLOW_EXPERIMENTAL_API

#include "dpdk-port/intr_gate.h"
#include "support/eal.h"

#include <pthread.h>
#include <rte_interrupts.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static struct rte_intr_handle *handle;
static int fd;
static _Atomic unsigned handled;

/** Another source of the interrupt thread's, as a driver has. */
static void on_interrupt(void *arg)
{
	uint64_t n;

	if (read(fd, &n, sizeof n) == sizeof n)
		atomic_fetch_add(&handled, 1);
}

static void interrupt(void)
{
	uint64_t one = 1;

	assert_int_equal(write(fd, &one, sizeof one), sizeof one);
}

static void nothing_is_handled_while_it_is_shut(void **state)
{
	struct intr_gate *g = intr_gate_create();

	assert_non_null(g);
	intr_gate_shut(g);
	for (unsigned i = 0; i < 200; i++) {
		unsigned before = atomic_load(&handled);

		interrupt();
		sched_yield();
		assert_int_equal(atomic_load(&handled), before);
		/* A pass or two: the order of two events in one batch is the kernel's. */
		intr_gate_pass(g);
		intr_gate_pass(g);
		assert_int_equal(atomic_load(&handled), before + 1);
	}
	intr_gate_destroy(g);
}

static void an_open_gate_lets_all_through(void **state)
{
	struct intr_gate *g = intr_gate_create();
	unsigned before = atomic_load(&handled);

	intr_gate_pass(g);
	intr_gate_shut(g);
	intr_gate_shut(g);
	interrupt();
	intr_gate_open(g);
	while (atomic_load(&handled) == before)
		sched_yield();
	intr_gate_destroy(g);
}

static void there_is_one(void **state)
{
	struct intr_gate *g = intr_gate_create();

	assert_non_null(g);
	assert_null(intr_gate_create());
	intr_gate_destroy(g);
	g = intr_gate_create();
	assert_non_null(g);
	intr_gate_destroy(g);
	intr_gate_shut(NULL);
	intr_gate_pass(NULL);
	intr_gate_open(NULL);
	intr_gate_destroy(NULL);
}

static _Atomic bool over;

static void *let_go_again_and_again(void *arg)
{
	while (!atomic_load(&over))
		intr_gate_let_go();
	return NULL;
}

/** A port without a gate lets go of another's, which comes and goes meanwhile. */
static void another_port_lets_go_of_it(void **state)
{
	pthread_t thread;

	atomic_store(&over, false);
	assert_int_equal(pthread_create(&thread, NULL, let_go_again_and_again, NULL), 0);
	for (unsigned i = 0; i < 100; i++) {
		struct intr_gate *g = intr_gate_create();

		assert_non_null(g);
		intr_gate_destroy(g);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static int setup(void **state)
{
	test_eal_init();
	fd = eventfd(0, EFD_NONBLOCK);
	handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	return fd < 0 || !handle || rte_intr_fd_set(handle, fd) ||
	       rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) ||
	       rte_intr_callback_register(handle, on_interrupt, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_handled_while_it_is_shut),
		cmocka_unit_test(an_open_gate_lets_all_through),
		cmocka_unit_test(there_is_one),
		cmocka_unit_test(another_port_lets_go_of_it),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
