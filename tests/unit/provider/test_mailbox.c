/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include "support/unwinding.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static int open_box(void **state)
{
	static struct mailbox m;

	memset(&m, 0, sizeof m);
	*state = &m;
	return mailbox_open(&m);
}

static int close_box(void **state)
{
	mailbox_close(*state);
	mailbox_fini(*state);
	return 0;
}

static bool is_readable(const struct mailbox *m)
{
	struct pollfd p = {.fd = m->fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

static void set_nonblocking(const struct mailbox *m)
{
	assert_int_equal(fcntl(m->fd, F_SETFL, fcntl(m->fd, F_GETFL) | O_NONBLOCK), 0);
}

/** As a reader that finds its item. */
static int take(struct mailbox *m)
{
	int rc = mailbox_wait(m);

	if (rc >= 0)
		mailbox_took(m, rc, true);
	return rc;
}

/* Programs inherit nothing of it over exec(), and a new one waits as read() does. */
static void test_open(void **state)
{
	const struct mailbox *m = *state;

	assert_true((fcntl(m->fd, F_GETFD) & FD_CLOEXEC) != 0);
	assert_false((fcntl(m->fd, F_GETFL) & O_NONBLOCK) != 0);
	assert_false(is_readable(m));
}

static void test_one_token_for_each(void **state)
{
	struct mailbox *m = *state;

	for (int i = 0; i < 3; i++)
		mailbox_post(m, NULL);
	for (int i = 0; i < 3; i++) {
		assert_true(is_readable(m));
		assert_int_equal(take(m), 0);
	}
	assert_false(is_readable(m));
}

/* What programs set on the descriptor with fcntl() holds. */
static void test_nonblocking(void **state)
{
	struct mailbox *m = *state;

	set_nonblocking(m);
	assert_int_equal(take(m), -EAGAIN);
	mailbox_post(m, NULL);
	assert_int_equal(take(m), 0);
	assert_int_equal(take(m), -EAGAIN);
}

static void test_retract(void **state)
{
	struct mailbox *m = *state;

	for (int i = 0; i < 3; i++)
		mailbox_post(m, NULL);
	mailbox_retract(m, 0);
	mailbox_retract(m, 2);
	assert_true(is_readable(m));
	assert_int_equal(take(m), 0);
	assert_false(is_readable(m));
}

/* A reader may have taken them before: more than there are must not wait, on either kind. */
static void test_retract_too_many(void **state)
{
	struct mailbox *m = *state;

	mailbox_post(m, NULL);
	mailbox_retract(m, 5);
	assert_false(is_readable(m));
	/* But nobody reads: the next item has its token. */
	set_nonblocking(m);
	mailbox_post(m, NULL);
	assert_true(is_readable(m));
	mailbox_retract(m, 5);
	assert_int_equal(take(m), -EAGAIN);
}

/* A reader has taken the token of an item that goes before it looks, and finds the next one. */
static void test_retract_what_is_being_read(void **state)
{
	struct mailbox *m = *state;

	mailbox_post(m, NULL);
	assert_int_equal(mailbox_wait(m), 0);
	mailbox_retract(m, 1);
	mailbox_post(m, NULL);
	mailbox_took(m, 0, true);
	assert_false(is_readable(m));
	/* The next one has its token again. */
	mailbox_post(m, NULL);
	assert_true(is_readable(m));
}

/* The same, and there is nothing to be found; or another that goes as well. */
static void test_retract_all_that_is_being_read(void **state)
{
	struct mailbox *m = *state;

	for (int i = 0; i < 2; i++) {
		mailbox_post(m, NULL);
		assert_int_equal(mailbox_wait(m), 0);
		mailbox_retract(m, 1);
		if (i == 1) {
			mailbox_post(m, NULL);
			mailbox_retract(m, 1);
		}
		mailbox_took(m, 0, false);
		assert_false(is_readable(m));
		mailbox_post(m, NULL);
		assert_true(is_readable(m));
		assert_int_equal(take(m), 0);
	}
}

/* Three readers on their way, with a token each; one finds nothing. */
static void test_retract_one_of_three(void **state)
{
	struct mailbox *m = *state;

	for (int i = 0; i < 3; i++)
		mailbox_post(m, NULL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(mailbox_wait(m), 0);
	mailbox_retract(m, 1);
	mailbox_took(m, 0, true);
	mailbox_took(m, 0, false);
	/* The third has an item of its own. */
	mailbox_post(m, NULL);
	assert_true(is_readable(m));
	mailbox_took(m, 0, true);
	assert_int_equal(take(m), 0);
	assert_false(is_readable(m));
}

/* Under the engine's lock they are held back; those retracted meanwhile never come. */
static void test_with_the_engine(void **state)
{
	struct mailbox *m = *state;
	struct engine e = {0};

	for (int i = 0; i < 3; i++)
		mailbox_post(m, &e);
	assert_false(is_readable(m));
	assert_ptr_equal(atomic_load(&e.wakeups), &m->wakeup);
	mailbox_retract(m, 1);
	m->wakeup.serve(&m->wakeup);
	assert_int_equal(take(m), 0);
	assert_int_equal(take(m), 0);
	assert_false(is_readable(m));
	/* Served once more for what was retracted. */
	m->wakeup.serve(&m->wakeup);
	assert_false(is_readable(m));
}

static void *wait_for_token(void *arg)
{
	return (void *)(intptr_t)take(arg);
}

static void test_wait_is_woken(void **state)
{
	pthread_t thread;
	void *rc;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_token, *state), 0);
	mailbox_post(*state, NULL);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
	assert_false(is_readable(*state));
}

static _Thread_local bool cancelled_late;
static struct mailbox *to_retract_from; /* then, one; or NULL */
static _Thread_local bool slow;         /* it waits to be let go before it waits for a token */
static sem_t is_slow, let_go;

/* As with glibc before 2.41: a thread may be cancelled when it has what it asked for. */
ssize_t read(int fd, void *buf, size_t n)
{
	ssize_t got;

	if (slow) {
		sem_post(&is_slow);
		sem_wait(&let_go);
	}
	got = syscall(SYS_read, fd, buf, n);
	if (cancelled_late) {
		if (to_retract_from)
			mailbox_retract(to_retract_from, 1);
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return got;
}

static void *wait_and_be_cancelled(void *m)
{
	cancelled_late = true;
	mailbox_wait(m);
	return NULL;
}

static void take_and_be_cancelled(struct mailbox *m)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, wait_and_be_cancelled, m), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
}

/* The token of a thread that is cancelled goes back: its item is another's. */
static void test_cancelled_with_a_token(void **state)
{
	struct mailbox *m = *state;

#ifdef UNWINDING_TRIPS_THE_SANITIZER
	skip();
#endif
	mailbox_post(m, NULL);
	take_and_be_cancelled(m);
	assert_true(is_readable(m));
	assert_int_equal(take(m), 0);
	assert_false(is_readable(m));
	/* It had none. */
	set_nonblocking(m);
	take_and_be_cancelled(m);
	assert_false(is_readable(m));
}

/* Of two that read one's item goes, and the other's is there for who is left. */
static void test_cancelled_with_the_token_of_what_is_gone(void **state)
{
	struct mailbox *m = *state;

#ifdef UNWINDING_TRIPS_THE_SANITIZER
	skip();
#endif
	for (int i = 0; i < 2; i++)
		mailbox_post(m, NULL);
	assert_int_equal(mailbox_wait(m), 0);
	to_retract_from = m;
	take_and_be_cancelled(m);
	to_retract_from = NULL;
	assert_false(is_readable(m));
	mailbox_took(m, 0, true);
	mailbox_post(m, NULL);
	assert_true(is_readable(m));
	assert_int_equal(take(m), 0);
	assert_false(is_readable(m));
}

/* All waiters, now and later, as often as they come; what is done to it later does not wait. */
static void test_end(void **state)
{
	struct mailbox *m = *state;
	pthread_t thread[3];
	void *rc;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, wait_for_token, m), 0);
	mailbox_end(m);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(thread[i], &rc), 0);
		assert_int_equal((intptr_t)rc, -EIO);
	}
	mailbox_post(m, NULL);
	mailbox_retract(m, 1);
	assert_true(is_readable(m));
	for (int i = 0; i < 10; i++)
		assert_int_equal(take(m), -EIO);
	set_nonblocking(m);
	assert_int_equal(take(m), -EIO);
}

static void *wait_slowly(void *m)
{
	slow = true;
	return (void *)(intptr_t)mailbox_wait(m);
}

/* A thread sleeps when exit() begins, and runs again long after. Others look meanwhile. */
static void test_exit_wakes_who_is_slow(void **state)
{
	struct mailbox *m = *state;
	pthread_t thread;
	void *rc;

	assert_int_equal(sem_init(&is_slow, 0, 0), 0);
	assert_int_equal(sem_init(&let_go, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_slowly, m), 0);
	while (sem_wait(&is_slow) != 0)
		;
	mailbox_leave_to_exit(m);
	assert_int_equal(mailbox_wait(m), MAILBOX_NO_TOKEN);
	mailbox_took(m, MAILBOX_NO_TOKEN, false);
	assert_true(is_readable(m));
	/* Nor do they with what they find. */
	mailbox_post(m, NULL);
	assert_int_equal(take(m), MAILBOX_NO_TOKEN);
	assert_true(is_readable(m));
	sem_post(&let_go);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
	mailbox_took(m, 0, false);
	/* Who polls the descriptor sees nothing of all that. */
	assert_false(is_readable(m));
}

int main(void)
{
#define BOX(f) cmocka_unit_test_setup_teardown(f, open_box, close_box)
	const struct CMUnitTest tests[] = {
		BOX(test_open),
		BOX(test_one_token_for_each),
		BOX(test_nonblocking),
		BOX(test_retract),
		BOX(test_retract_too_many),
		BOX(test_retract_what_is_being_read),
		BOX(test_retract_all_that_is_being_read),
		BOX(test_retract_one_of_three),
		BOX(test_with_the_engine),
		BOX(test_wait_is_woken),
		BOX(test_cancelled_with_a_token),
		BOX(test_cancelled_with_the_token_of_what_is_gone),
		BOX(test_end),
		BOX(test_exit_wakes_who_is_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
