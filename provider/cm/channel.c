/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/channel.h"

#include "base/fd_room.h"
#include "provider/cm/call.h"
#include "provider/cm/multicast.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FIRST_SIZE 64

static int ucma_make_room(struct ucma_channels *t, int fd)
{
	size_t size = t->size ? t->size : FIRST_SIZE;
	struct ucma_channel **p;

	while (size <= (size_t)fd)
		size *= 2;
	if (size == t->size)
		return 0;
	p = reallocarray(t->by_fd, size, sizeof *p);
	if (!p)
		return -ENOMEM;
	for (size_t i = t->size; i < size; i++)
		p[i] = NULL;
	t->by_fd = p;
	t->size = size;
	return 0;
}

/* librdmacm gives an rsocket the number of its channel. librspreload's select() looks from 0 up for
 * the descriptor that stands for an rsocket, and takes one of the rsocket's own number for it: so
 * this number is above those of the program. */
static int ucma_open_fd(int flags)
{
	int fd = eventfd(
		0, (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));

	return fd < 0 ? -1 : fd_move_up(fd);
}

/*
 * By syscall(), not by write(): that would be a cancellation point, and our own hook of write()
 * lies before it.
 */
static void ucma_count(const struct ucma_channel *ch)
{
	uint64_t one = 1;

	syscall(SYS_write, ch->own_fd, &one, sizeof one);
}

/** Read all counts, without ever waiting, whatever O_NONBLOCK says. @return how many, or -errno. */
static int64_t ucma_uncount(const struct ucma_channel *ch)
{
	uint64_t n;
	struct iovec v = {&n, sizeof n};

	if (syscall(SYS_preadv2, ch->own_fd, &v, 1, -1L, -1L, RWF_NOWAIT) != sizeof n)
		return -errno;
	return (int64_t)n;
}

int ucma_channel_open(struct ucma_channels *t, int flags, struct ucma_channel **out)
{
	struct ucma_channel *ch = calloc(1, sizeof *ch);
	int err;

	if (!ch)
		return -ENOMEM;
	ch->fd = ucma_open_fd(flags);
	if (ch->fd < 0) {
		err = -errno;
		free(ch);
		return err;
	}
	ch->own_fd = fcntl(ch->fd, F_DUPFD_CLOEXEC, ch->fd);
	err = ch->own_fd < 0 ? -errno : ucma_make_room(t, ch->fd);
	if (err) {
		if (ch->own_fd >= 0)
			close(ch->own_fd);
		close(ch->fd);
		free(ch);
		return err;
	}
	ch->refs = 1;
	ch->clears = ucma_uncount(ch) == -EAGAIN;
	TAILQ_INIT(&ch->events);
	TAILQ_INIT(&ch->ids);
	t->by_fd[ch->fd] = ch;
	*out = ch;
	return 0;
}

struct ucma_channel *ucma_channel_find(const struct ucma_channels *t, int fd)
{
	return fd >= 0 && (size_t)fd < t->size ? t->by_fd[fd] : NULL;
}

void ucma_channel_remove(struct ucma_channels *t, struct ucma_channel *ch)
{
	t->by_fd[ch->fd] = NULL;
	ch->closed = true;
	ucma_channel_unref(ch);
}

void ucma_channel_ref(struct ucma_channel *ch)
{
	ch->refs++;
}

void ucma_channel_unref(struct ucma_channel *ch)
{
	if (--ch->refs)
		return;
	close(ch->own_fd);
	free(ch);
}

struct ucma_event *ucma_event_alloc(uint8_t room)
{
	/* Not less than the type's size, which is rounded up. */
	size_t size = offsetof(struct ucma_event, private_data) + room;
	struct ucma_event *ev = calloc(1, size > sizeof *ev ? size : sizeof *ev);

	if (ev)
		ev->room = room;
	return ev;
}

void ucma_channel_push(struct ucma_channel *ch, struct ucma_event *ev)
{
	TAILQ_INSERT_TAIL(&ch->events, ev, link);
}

static void ucma_account(struct ucma_channel *ch, uint64_t counts)
{
	ch->told -= counts < ch->told ? counts : ch->told;
}

/*
 * What cannot be read now was read by a thread that sleeps no more, and will account for it. Where
 * the kernel cannot read without waiting, counts of events that were removed stay: a reader finds
 * no event for them and waits again.
 */
static void ucma_clear(struct ucma_channel *ch)
{
	int64_t n = ch->clears ? ucma_uncount(ch) : 0;

	if (n > 0)
		ucma_account(ch, (uint64_t)n);
}

bool ucma_channel_tell(struct ucma_channel *ch)
{
	if (ch->looking)
		return false;
	if (TAILQ_EMPTY(&ch->events) && !(ch->left && ch->sleeping)) {
		if (ch->told)
			ucma_clear(ch);
		return false;
	}
	/* A thread that was woken may have read what was told, and take one event alone. */
	if (!ch->told || ch->sleeping) {
		ucma_count(ch);
		ch->told++;
	}
	return ch->sleeping;
}

void ucma_channel_leave(struct ucma_channel *ch)
{
	ch->left = true;
	ucma_channel_tell(ch);
}

bool ucma_channel_is_read_first(const struct ucma_channel *ch)
{
	return !ch->clears && ch->told && !ch->left;
}

bool ucma_channel_may_sleep(const struct ucma_channel *ch)
{
	int flags = fcntl(ch->own_fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

int ucma_channel_wait(const struct ucma_channel *ch, uint64_t *counts)
{
	ssize_t n = read(ch->own_fd, counts, sizeof *counts);

	if (n == sizeof *counts)
		return 0;
	*counts = 0;
	return -errno;
}

void ucma_channel_begin_wait(struct ucma_channel *ch)
{
	ch->sleeping++;
}

void ucma_channel_end_wait(struct ucma_channel *ch, uint64_t counts)
{
	ch->sleeping--;
	ucma_account(ch, counts);
}

void ucma_channel_cancel_wait(struct ucma_channel *ch)
{
	ch->sleeping--;
	if (!ch->told)
		return;
	ucma_clear(ch);
	/* What is left over nobody else can have read. */
	if (!ch->sleeping)
		ch->told = 0;
	ucma_channel_tell(ch);
}

void ucma_channel_purge(
	struct ucma_channel *ch, const struct ucma_id *id, const struct ucma_multicast *multicast)
{
	struct ucma_event *ev, *next;

	for (ev = TAILQ_FIRST(&ch->events); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (ev->id != id || (multicast && !ucma_multicast_has(multicast, ev)))
			continue;
		TAILQ_REMOVE(&ch->events, ev, link);
		if (ev->request)
			ucma_id_give_back(&ev->request->ucma->ids, ev->request);
		free(ev);
	}
	ucma_channel_tell(ch);
}

void ucma_channel_move(struct ucma_channel *from, struct ucma_channel *to, const struct ucma_id *id)
{
	struct ucma_event *ev, *next;

	if (from == to)
		return;
	for (ev = TAILQ_FIRST(&from->events); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (ev->id != id)
			continue;
		TAILQ_REMOVE(&from->events, ev, link);
		TAILQ_INSERT_TAIL(&to->events, ev, link);
	}
	ucma_channel_tell(from);
	ucma_channel_tell(to);
}
