/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

#include <sys/resource.h>

/* Two ids are enough to tell their events apart; a channel never looks into them. */
static struct ucma_id a, b;

static void put(struct ucma_channel *ch, struct ucma_id *id, uint32_t mark)
{
	struct ucma_event *ev = ucma_event_alloc(0);

	assert_non_null(ev);
	ev->id = id;
	ev->number = mark;
	ucma_channel_push(ch, ev);
}

static void push(struct ucma_channel *ch, struct ucma_id *id, uint32_t mark)
{
	put(ch, id, mark);
	ucma_channel_tell(ch);
}

/** Sleep as a command does. @return 0 or -errno. */
static int wait_for(struct ucma_channel *ch)
{
	uint64_t counts;
	int err;

	ucma_channel_begin_wait(ch);
	err = ucma_channel_wait(ch, &counts);
	ucma_channel_end_wait(ch, counts);
	return err;
}

static uint32_t pop(struct ucma_channel *ch)
{
	struct ucma_event *ev = TAILQ_FIRST(&ch->events);
	uint32_t mark;

	assert_non_null(ev);
	TAILQ_REMOVE(&ch->events, ev, link);
	mark = ev->number;
	free(ev);
	ucma_channel_tell(ch);
	return mark;
}

static void end(struct ucma_channels *t, struct ucma_channel *ch)
{
	int fd = ch->fd;

	ucma_channel_remove(t, ch);
	close(fd);
}

static struct ucma_channels table_of_one;

/** The only channel of its table. */
static struct ucma_channel *alone(int flags)
{
	struct ucma_channel *ch;

	table_of_one = (struct ucma_channels){0};
	assert_int_equal(ucma_channel_open(&table_of_one, flags, &ch), 0);
	return ch;
}

static void end_alone(struct ucma_channel *ch)
{
	end(&table_of_one, ch);
	ucma_channels_fini(&table_of_one);
}

static void flags_are_those_of_open(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *x, *y;

	assert_int_equal(ucma_channel_open(&t, O_NONBLOCK | O_CLOEXEC, &x), 0);
	assert_true(fcntl(x->fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(x->fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(ucma_channel_open(&t, 0, &y), 0);
	assert_false(fcntl(y->fd, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(y->fd, F_GETFD) & FD_CLOEXEC);
	end(&t, x);
	end(&t, y);
	ucma_channels_fini(&t);
}

static void find_knows_its_own_descriptors_only(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch;
	int fd;

	assert_null(ucma_channel_find(&t, 0));
	assert_int_equal(ucma_channel_open(&t, O_NONBLOCK, &ch), 0);
	fd = ch->fd;
	assert_ptr_equal(ucma_channel_find(&t, fd), ch);
	assert_null(ucma_channel_find(&t, fd + 1));
	assert_null(ucma_channel_find(&t, -1));
	assert_null(ucma_channel_find(&t, INT32_MAX));
	end(&t, ch);
	assert_null(ucma_channel_find(&t, fd));
	ucma_channels_fini(&t);
}

static void the_table_grows(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch[200];

	for (size_t i = 0; i < 200; i++)
		assert_int_equal(ucma_channel_open(&t, O_NONBLOCK, &ch[i]), 0);
	for (size_t i = 0; i < 200; i++)
		assert_ptr_equal(ucma_channel_find(&t, ch[i]->fd), ch[i]);
	for (size_t i = 0; i < 200; i++)
		end(&t, ch[i]);
	ucma_channels_fini(&t);
}

static void it_is_readable_while_there_are_events(void **state)
{
	struct ucma_channel *ch = alone(O_NONBLOCK);

	assert_true(ch->clears);
	assert_int_equal(wait_for(ch), -EAGAIN);
	push(ch, &a, 1);
	push(ch, &b, 2);
	assert_int_equal(ch->told, 1);
	assert_int_equal(pop(ch), 1);
	assert_true(client_readable(ch->fd));
	assert_int_equal(pop(ch), 2);
	assert_false(client_readable(ch->fd));
	assert_int_equal(wait_for(ch), -EAGAIN);
	/* Who has slept takes one event, and leaves the others told of. */
	push(ch, &a, 3);
	push(ch, &b, 4);
	assert_int_equal(wait_for(ch), 0);
	assert_false(client_readable(ch->fd));
	assert_int_equal(pop(ch), 3);
	assert_true(client_readable(ch->fd));
	assert_int_equal(pop(ch), 4);
	assert_false(client_readable(ch->fd));
	end_alone(ch);
}

static void who_looks_tells_of_what_it_leaves(void **state)
{
	struct ucma_channel *ch = alone(0);

	ch->looking++;
	push(ch, &a, 1);
	push(ch, &a, 2);
	assert_false(client_readable(ch->fd));
	ch->looking--;
	assert_int_equal(pop(ch), 1);
	assert_true(client_readable(ch->fd));
	assert_int_equal(pop(ch), 2);
	assert_false(client_readable(ch->fd));
	end_alone(ch);
}

/* Who polls, or finds an event without sleeping, was not woken, and need not be left the core. */
static void a_woken_sleeper_is_told_from_others(void **state)
{
	struct ucma_channel *ch = alone(0);

	ucma_channel_begin_wait(ch);
	assert_false(ucma_channel_tell(ch));
	ucma_channel_cancel_wait(ch);
	put(ch, &a, 1);
	assert_false(ucma_channel_tell(ch));
	ucma_channel_begin_wait(ch);
	assert_true(ucma_channel_tell(ch));
	ch->looking++;
	assert_false(ucma_channel_tell(ch));
	ch->looking--;
	ucma_channel_cancel_wait(ch);
	assert_int_equal(pop(ch), 1);
	end_alone(ch);
}

/* It has read what was told, but not come back yet: another event is for another sleeper. */
static void a_sleeper_on_its_way_back_takes_one_event(void **state)
{
	struct ucma_channel *ch = alone(0);
	uint64_t counts;

	push(ch, &a, 1);
	ucma_channel_begin_wait(ch);
	assert_int_equal(ucma_channel_wait(ch, &counts), 0);
	push(ch, &a, 2);
	assert_true(client_readable(ch->fd));
	ucma_channel_end_wait(ch, counts);
	assert_int_equal(pop(ch), 1);
	assert_int_equal(pop(ch), 2);
	assert_false(client_readable(ch->fd));
	assert_int_equal(ch->told, 0);
	end_alone(ch);
}

/* A cancellation may have come between the kernel's answer and the thread. */
static void what_a_cancelled_sleeper_has_read_is_told_again(void **state)
{
	struct ucma_channel *ch = alone(0);
	uint64_t counts;

	push(ch, &a, 1);
	ucma_channel_begin_wait(ch);
	assert_int_equal(ucma_channel_wait(ch, &counts), 0);
	ucma_channel_cancel_wait(ch);
	assert_true(client_readable(ch->fd));
	assert_int_equal(pop(ch), 1);
	assert_false(client_readable(ch->fd));
	/* Nor is it told of nothing. */
	push(ch, &a, 2);
	ucma_channel_begin_wait(ch);
	assert_int_equal(pop(ch), 2);
	ucma_channel_cancel_wait(ch);
	assert_false(client_readable(ch->fd));
	assert_int_equal(ch->told, 0);
	end_alone(ch);
}

/* Before Linux 5.12 only who waits can read an eventfd that others may read, too. */
static void where_it_cannot_be_cleared_it_is_read_before_an_event_is_taken(void **state)
{
	struct ucma_channel *ch = alone(0);

	ch->clears = false;
	assert_false(ucma_channel_is_read_first(ch));
	for (uint32_t i = 1; i <= 2; i++)
		push(ch, &a, i);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_true(ucma_channel_is_read_first(ch));
		assert_int_equal(wait_for(ch), 0);
		assert_false(ucma_channel_is_read_first(ch));
		assert_int_equal(pop(ch), i);
	}
	assert_false(client_readable(ch->fd));
	end_alone(ch);
}

static void o_nonblock_is_asked_for_each_time(void **state)
{
	struct ucma_channel *ch = alone(0);

	assert_true(ucma_channel_may_sleep(ch));
	assert_int_equal(fcntl(ch->fd, F_SETFL, O_NONBLOCK), 0);
	assert_false(ucma_channel_may_sleep(ch));
	end_alone(ch);
}

static void purge_takes_the_counts_of_a_blocking_channel_too(void **state)
{
	struct ucma_channel *ch = alone(0);

	push(ch, &a, 1);
	push(ch, &b, 2);
	push(ch, &a, 3);
	ucma_channel_purge(ch, &a, NULL);
	assert_int_equal(pop(ch), 2);
	assert_false(client_readable(ch->fd));
	end_alone(ch);
}

/* A reader has its count already, and the event is gone before it looks: nobody may hang. */
static void purge_survives_a_reader_who_was_faster(void **state)
{
	struct ucma_channel *ch = alone(0);
	uint64_t counts;

	push(ch, &a, 1);
	ucma_channel_begin_wait(ch);
	assert_int_equal(ucma_channel_wait(ch, &counts), 0);
	ucma_channel_purge(ch, &a, NULL);
	ucma_channel_end_wait(ch, counts);
	assert_true(TAILQ_EMPTY(&ch->events));
	assert_int_equal(ch->told, 0);
	assert_false(client_readable(ch->fd));
	end_alone(ch);
}

static void move_keeps_order_and_counts(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *x, *y;

	assert_int_equal(ucma_channel_open(&t, 0, &x), 0);
	assert_int_equal(ucma_channel_open(&t, 0, &y), 0);
	push(y, &b, 1);
	push(x, &a, 2);
	push(x, &b, 3);
	push(x, &a, 4);
	ucma_channel_move(x, y, &a);
	ucma_channel_move(y, y, &a);
	assert_int_equal(pop(x), 3);
	assert_false(client_readable(x->fd));
	assert_int_equal(pop(y), 1);
	assert_int_equal(pop(y), 2);
	assert_int_equal(pop(y), 4);
	assert_false(client_readable(y->fd));
	end(&t, x);
	end(&t, y);
	ucma_channels_fini(&t);
}

static void the_last_reference_frees(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch;

	assert_int_equal(ucma_channel_open(&t, 0, &ch), 0);
	ucma_channel_ref(ch);
	end(&t, ch);
	assert_true(ch->closed);
	ucma_channel_unref(ch);
	ucma_channels_fini(&t);
}

/* The number of a channel that is closed under a reader may be a stranger's a moment later. */
static void nothing_is_read_from_or_written_to_the_number_s_next_owner(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch;
	uint64_t eight = 0;
	int fd, pipefd[2];

	assert_int_equal(ucma_channel_open(&t, O_NONBLOCK, &ch), 0);
	fd = ch->fd;
	ucma_channel_ref(ch);
	end(&t, ch);
	assert_int_equal(pipe2(pipefd, O_NONBLOCK), 0);
	assert_int_equal(dup2(pipefd[0], fd), fd);
	close(pipefd[0]);
	pipefd[0] = fd;
	assert_int_equal(write(pipefd[1], "stranger", 8), 8);
	assert_int_equal(wait_for(ch), -EAGAIN);
	assert_int_equal(read(pipefd[0], &eight, sizeof eight), 8);
	assert_memory_equal(&eight, "stranger", 8);
	/* And the other way: what is told late is not written into the pipe. */
	assert_int_equal(dup2(pipefd[1], fd), fd);
	push(ch, &a, 1);
	assert_int_equal(wait_for(ch), 0);
	assert_int_equal(pop(ch), 1);
	ucma_channel_unref(ch);
	close(fd);
	close(pipefd[1]);
	ucma_channels_fini(&t);
}

static void closing_leaves_no_descriptor(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch;
	int first = dup(0), last, fd = -1;

	close(first);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ucma_channel_open(&t, 0, &ch), 0);
		assert_true(i == 0 || ch->fd == fd);
		fd = ch->fd;
		assert_int_equal(ch->own_fd, fd + 1);
		assert_true(fcntl(ch->own_fd, F_GETFD) & FD_CLOEXEC);
		end(&t, ch);
	}
	last = dup(0);
	assert_int_equal(last, first);
	close(last);
	ucma_channels_fini(&t);
}

/* One number is left: not enough for a channel, and neither is kept. */
static void too_many_descriptors_give_an_error_and_leave_none(void **state)
{
	struct ucma_channels t = {0};
	struct ucma_channel *ch;
	struct rlimit was, one;
	int first = dup(0), got;

	close(first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	one = (struct rlimit){(rlim_t)first + 1, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &one), 0);
	got = ucma_channel_open(&t, 0, &ch);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(got, -EMFILE);
	got = dup(0);
	assert_int_equal(got, first);
	close(got);
	ucma_channels_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_those_of_open),
		cmocka_unit_test(find_knows_its_own_descriptors_only),
		cmocka_unit_test(the_table_grows),
		cmocka_unit_test(it_is_readable_while_there_are_events),
		cmocka_unit_test(who_looks_tells_of_what_it_leaves),
		cmocka_unit_test(a_woken_sleeper_is_told_from_others),
		cmocka_unit_test(a_sleeper_on_its_way_back_takes_one_event),
		cmocka_unit_test(what_a_cancelled_sleeper_has_read_is_told_again),
		cmocka_unit_test(where_it_cannot_be_cleared_it_is_read_before_an_event_is_taken),
		cmocka_unit_test(o_nonblock_is_asked_for_each_time),
		cmocka_unit_test(purge_takes_the_counts_of_a_blocking_channel_too),
		cmocka_unit_test(purge_survives_a_reader_who_was_faster),
		cmocka_unit_test(move_keeps_order_and_counts),
		cmocka_unit_test(the_last_reference_frees),
		cmocka_unit_test(nothing_is_read_from_or_written_to_the_number_s_next_owner),
		cmocka_unit_test(closing_leaves_no_descriptor),
		cmocka_unit_test(too_many_descriptors_give_an_error_and_leave_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
