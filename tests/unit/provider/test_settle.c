/* SPDX-License-Identifier: BSD-2-Clause */
/* What is freed while another thread is about to wake its reader; the objects are bare. */
#include "provider/verbs/objects.h"
#include "support/slow_waker.h"
#include "unit/rnic/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct {
	struct pair pair;
	struct device device;
	struct context context;
	struct slow_waker waker;
} t;

static int setup(void **state)
{
	memset(&t, 0, sizeof t);
	pair_init(&t.pair, NULL);
	pthread_mutex_init(&t.device.lock, NULL);
	t.device.started = true;
	t.device.rnic = t.pair.a.rnic;
	t.context.device = &t.device;
	t.context.ibv.device = &t.device.ibv;
	atomic_init(&t.context.refs, 1);
	STAILQ_INIT(&t.context.events);
	pthread_mutex_init(&t.context.objects_lock, NULL);
	LIST_INSERT_HEAD(&t.device.contexts, &t.context, link);
	assert_int_equal(mailbox_open(&t.context.async), 0);
	return 0;
}

static int teardown(void **state)
{
	pthread_mutex_destroy(&t.context.objects_lock);
	pthread_mutex_destroy(&t.device.lock);
	pair_fini(&t.pair);
	return 0;
}

static void someone_wakes(void)
{
	slow_waker_begin(&t.waker, &t.pair.engine);
	slow_waker_await(&t.waker);
}

static void test_channel(void **state)
{
	struct channel *ch = calloc(1, sizeof *ch);

	assert_non_null(ch);
	assert_int_equal(mailbox_open(&ch->box), 0);
	TAILQ_INIT(&ch->ready);
	atomic_init(&ch->refs, 1);
	ch->ibv.context = &t.context.ibv;
	context_add(&t.context.ibv, &ch->object, OBJECT_CHANNEL);
	someone_wakes();
	assert_int_equal(channel_destroy(&ch->ibv), 0);
	slow_waker_end(&t.waker);
	async_end(&t.context);
	mailbox_fini(&t.context.async);
}

static void test_asynchronous_events(void **state)
{
	someone_wakes();
	async_end(&t.context);
	slow_waker_end(&t.waker);
	mailbox_fini(&t.context.async);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_channel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asynchronous_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
