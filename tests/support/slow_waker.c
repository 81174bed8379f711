/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/slow_waker.h"

#include "base/container_of.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void slow_waker_on_wake(struct engine_doorbell *d)
{
	struct slow_waker *s = container_of(d, struct slow_waker, wake);

	atomic_store(&s->begun, true);
	while (!atomic_load(&s->awaited))
		sched_yield();
	/* Who does not wait for this is back by now. */
	for (unsigned i = 0; i < 1000; i++)
		sched_yield();
	atomic_store(&s->done, true);
}

static void *slow_waker_main(void *arg)
{
	struct slow_waker *s = arg;

	engine_lock(s->engine);
	engine_wake_after(s->engine, &s->wake);
	engine_unlock(s->engine);
	return NULL;
}

void slow_waker_begin(struct slow_waker *s, struct engine *e)
{
	*s = (struct slow_waker){.engine = e, .wake.serve = slow_waker_on_wake};
	assert_int_equal(pthread_create(&s->thread, NULL, slow_waker_main, s), 0);
	while (!atomic_load(&s->begun))
		sched_yield();
}

void slow_waker_await(struct slow_waker *s)
{
	atomic_store(&s->awaited, true);
}

void slow_waker_end(struct slow_waker *s)
{
	assert_true(atomic_load(&s->done));
	pthread_join(s->thread, NULL);
}
