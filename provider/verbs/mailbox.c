/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include "base/container_of.h"
#include "provider/exit_wait.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

static void mailbox_add_due(struct engine_doorbell *wakeup);

/** All but the descriptor. */
static void mailbox_begin(struct mailbox *m)
{
	pthread_mutex_init(&m->lock, NULL);
	m->due = 0;
	m->owed = 0;
	m->wakeup = (struct engine_doorbell){.serve = mailbox_add_due};
	atomic_store(&m->users, 1);
}

int mailbox_open(struct mailbox *m)
{
	m->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	mailbox_begin(m);
	return 0;
}

int mailbox_inherit(struct mailbox *m)
{
	int flags = fcntl(m->fd, F_GETFL);
	int fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	int rc = 0;

	mailbox_begin(m); /* the waiters are the parent's threads */
	if (flags < 0 || fd < 0 || fcntl(fd, F_SETFL, flags) < 0 || dup3(fd, m->fd, O_CLOEXEC) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

static void mailbox_leave(struct mailbox *m)
{
	if (atomic_fetch_sub(&m->users, 1) == 1) {
		close(m->fd);
		m->fd = -1;
	}
}

/** @return false: it is closed, and its number may be somebody else's. */
static bool mailbox_enter(struct mailbox *m)
{
	unsigned users = atomic_load(&m->users);

	do {
		if (users == 0)
			return false;
	} while (!atomic_compare_exchange_weak(&m->users, &users, users + 1));
	return true;
}

void mailbox_close(struct mailbox *m)
{
	mailbox_leave(m);
}

void mailbox_fini(struct mailbox *m)
{
	pthread_mutex_destroy(&m->lock);
}

void mailbox_end(struct mailbox *m)
{
	atomic_store(&m->ended, true);
	/* More tokens than anybody takes, and far from as many as would make this wait. */
	eventfd_write(m->fd, (eventfd_t)1 << 62);
}

/*
 * No more tokens than there are sleepers: a program that polls the descriptor has other means to be
 * stopped, and should not see it readable. Who comes later sees that exit() has begun.
 */
void mailbox_leave_to_exit(struct mailbox *m)
{
	unsigned users;

	atomic_store(&m->left, exit_clock());
	if (!mailbox_enter(m))
		return;
	users = atomic_load(&m->users);
	if (users > 2)
		eventfd_write(m->fd, users - 2);
	mailbox_leave(m);
}

int mailbox_wait_again(struct mailbox *m, int fd)
{
	uint64_t left = atomic_load(&m->left);

	return left == 0 ? 0 : exit_wait(left, fd);
}

static void mailbox_add(struct mailbox *m)
{
	if (m->due == 0 || !mailbox_enter(m))
		return;
	/* Blocks at 2^64 - 2 tokens only, and fails only when a program closed the descriptor. */
	eventfd_write(m->fd, m->due);
	m->due = 0;
	mailbox_leave(m);
}

static void mailbox_add_due(struct engine_doorbell *wakeup)
{
	struct mailbox *m = container_of(wakeup, struct mailbox, wakeup);

	pthread_mutex_lock(&m->lock);
	mailbox_add(m);
	pthread_mutex_unlock(&m->lock);
}

/** How much of what is owed a thread can still have: one each of those that wait. */
static unsigned mailbox_owed(const struct mailbox *m)
{
	unsigned users = atomic_load(&m->users), most = users != 0 ? users - 1 : 0;

	return m->owed < most ? m->owed : most;
}

/** @return a thread looks already for what is new, or has the token of what is gone. */
static bool mailbox_settle(struct mailbox *m)
{
	m->owed = mailbox_owed(m);
	if (m->owed == 0)
		return false;
	m->owed--;
	return true;
}

void mailbox_post(struct mailbox *m, struct engine *e)
{
	if (mailbox_settle(m))
		return;
	m->due++;
	if (e)
		engine_wake_after(e, &m->wakeup);
	else
		mailbox_add(m);
}

struct mailbox_waiter {
	struct mailbox *m;
	eventfd_t token; /**< 0: none yet */
};

/*
 * With glibc before 2.41 a thread may be cancelled when the kernel has just given it a token. That
 * goes back, unless its item is gone: else an item stays without one, and from then on each is read
 * when the next one comes.
 */
static void mailbox_cancel_wait(void *waiter)
{
	const struct mailbox_waiter *w = waiter;
	struct mailbox *m = w->m;

	pthread_mutex_lock(&m->lock);
	if (w->token != 0 && !mailbox_settle(m))
		eventfd_write(m->fd, 1);
	mailbox_leave(m);
	pthread_mutex_unlock(&m->lock);
}

/** Take a token if there is one, whatever O_NONBLOCK says. */
static bool mailbox_try(struct mailbox *m)
{
	eventfd_t v;
	struct iovec iov = {.iov_base = &v, .iov_len = sizeof v};

	return preadv2(m->fd, &iov, 1, -1, RWF_NOWAIT) >= 0;
}

int mailbox_wait(struct mailbox *m)
{
	struct mailbox_waiter w = {.m = m};
	int rc;

	if (!mailbox_enter(m))
		return -EBADF;
	/* A token that is there may be that of one whom exit() has woken, and who sleeps yet. */
	if (atomic_load(&m->left) != 0 && !atomic_load(&m->ended))
		return MAILBOX_NO_TOKEN;
	/* This thread may be cancelled while it waits. */
	pthread_cleanup_push(mailbox_cancel_wait, &w);
	rc = read(m->fd, &w.token, sizeof w.token) == sizeof w.token ? 0 : -errno;
	pthread_cleanup_pop(0);
	if (rc == 0 && atomic_load(&m->ended))
		rc = -EIO;
	if (rc != 0)
		mailbox_leave(m);
	return rc;
}

void mailbox_took(struct mailbox *m, int waited, bool found)
{
	if (found && waited == MAILBOX_NO_TOKEN)
		mailbox_retract(m, 1);
	else if (!found && waited == 0 && m->owed != 0)
		m->owed--;
	mailbox_leave(m);
}

void mailbox_retract(struct mailbox *m, unsigned n)
{
	unsigned due = n < m->due ? n : (unsigned)m->due;

	m->due -= due;
	n -= due;
	/*
	 * Without waiting, as a reader may have taken the token already: it finds the next item, or
	 * nothing, and goes back to waiting.
	 */
	while (n > 0 && mailbox_try(m))
		n--;
	m->owed += n;
	m->owed = mailbox_owed(m);
}
