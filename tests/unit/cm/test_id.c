/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

struct fixture {
	pthread_mutex_t lock;
	struct ucma_channels channels;
	struct ucma_channel *ch, *other;
	struct ucma_id_table ids;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	pthread_mutex_init(&f->lock, NULL);
	assert_int_equal(ucma_id_table_init(&f->ids), 0);
	assert_int_equal(ucma_channel_open(&f->channels, O_NONBLOCK, &f->ch), 0);
	assert_int_equal(ucma_channel_open(&f->channels, O_NONBLOCK, &f->other), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int fd[2] = {f->ch->fd, f->other->fd};

	assert_int_equal(f->ids.used, 0);
	ucma_channel_remove(&f->channels, f->ch);
	ucma_channel_remove(&f->channels, f->other);
	close(fd[0]);
	close(fd[1]);
	ucma_channels_fini(&f->channels);
	ucma_id_table_fini(&f->ids);
	free(f);
	return 0;
}

static void drop(struct fixture *f, struct ucma_id *id)
{
	ucma_id_remove(&f->ids, id);
	ucma_id_free(id);
}

static void hold_finds_by_number_and_channel(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id = ucma_id_new(NULL, &f->ids, f->ch), *found = NULL;

	assert_non_null(id);
	assert_true(id->held);
	ucma_id_release(&f->ids, id);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->ch, id->number, &found), 0);
	assert_ptr_equal(found, id);
	ucma_id_release(&f->ids, id);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->other, id->number, &found), -EINVAL);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->ch, id->number + 1, &found), -ENOENT);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->ch, UCMA_MAX_IDS, &found), -ENOENT);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->ch, UINT32_MAX, &found), -ENOENT);
	drop(f, id);
}

static void a_number_is_not_used_again_at_once(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id = ucma_id_new(NULL, &f->ids, f->ch), *found;
	uint32_t number = id->number;

	drop(f, id);
	id = ucma_id_new(NULL, &f->ids, f->ch);
	assert_int_not_equal(id->number, number);
	assert_int_equal(ucma_id_hold(&f->ids, &f->lock, f->ch, number, &found), -ENOENT);
	drop(f, id);
}

static void numbers_go_round_and_run_out(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id, *kept = ucma_id_new(NULL, &f->ids, f->ch);
	uint32_t number = kept->number;

	for (unsigned i = 1; i < UCMA_MAX_IDS; i++)
		assert_non_null(ucma_id_new(NULL, &f->ids, f->ch));
	assert_null(ucma_id_new(NULL, &f->ids, f->ch));
	drop(f, kept);
	id = ucma_id_new(NULL, &f->ids, f->ch);
	assert_non_null(id);
	assert_int_equal(id->number, number);
	while ((id = TAILQ_FIRST(&f->ch->ids)))
		drop(f, id);
}

static void none_on_a_closed_channel(void **state)
{
	struct fixture *f = *state;

	f->ch->closed = true;
	assert_null(ucma_id_new(NULL, &f->ids, f->ch));
}

struct waiter {
	struct fixture *f;
	uint32_t number;
	int result;
};

static void *hold_in_thread(void *arg)
{
	struct waiter *w = arg;
	struct ucma_id *id;

	pthread_mutex_lock(&w->f->lock);
	w->result = ucma_id_hold(&w->f->ids, &w->f->lock, w->f->ch, w->number, &id);
	if (!w->result)
		ucma_id_release(&w->f->ids, id);
	pthread_mutex_unlock(&w->f->lock);
	return NULL;
}

/* Whether the other thread is already waiting or comes later, its answer is the same. */
static void who_waits_for_a_held_id_gets_it_next(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id = ucma_id_new(NULL, &f->ids, f->ch);
	struct waiter w = {f, id->number, 1};
	pthread_t t;

	pthread_create(&t, NULL, hold_in_thread, &w);
	pthread_mutex_lock(&f->lock);
	ucma_id_release(&f->ids, id);
	pthread_mutex_unlock(&f->lock);
	pthread_join(t, NULL);
	assert_int_equal(w.result, 0);
	drop(f, id);
}

static void who_waits_for_one_that_goes_is_told(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id = ucma_id_new(NULL, &f->ids, f->ch);
	struct waiter w = {f, id->number, 1};
	pthread_t t;

	pthread_create(&t, NULL, hold_in_thread, &w);
	pthread_mutex_lock(&f->lock);
	ucma_id_remove(&f->ids, id);
	assert_true(id->dying);
	pthread_mutex_unlock(&f->lock);
	pthread_join(t, NULL);
	assert_int_equal(w.result, -ENOENT);
	ucma_id_free(id);
}

static void migrate_takes_the_events_along(void **state)
{
	struct fixture *f = *state;
	struct ucma_id *id = ucma_id_new(NULL, &f->ids, f->ch);
	struct ucma_event *ev = ucma_event_alloc(0);

	ev->id = id;
	ucma_channel_push(f->ch, ev);
	ucma_channel_tell(f->ch);
	ucma_id_migrate(id, f->other);
	assert_ptr_equal(id->channel, f->other);
	assert_true(TAILQ_EMPTY(&f->ch->ids));
	assert_false(client_readable(f->ch->fd));
	assert_true(client_readable(f->other->fd));
	drop(f, id);
	assert_false(client_readable(f->other->fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hold_finds_by_number_and_channel, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_number_is_not_used_again_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_go_round_and_run_out, setup, teardown),
		cmocka_unit_test_setup_teardown(none_on_a_closed_channel, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_waits_for_a_held_id_gets_it_next, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_waits_for_one_that_goes_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(migrate_takes_the_events_along, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
