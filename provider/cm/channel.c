/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/channel.h"

#include "base/fd_room.h"
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
	int fd = eventfd(0, EFD_SEMAPHORE | (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) |
				    (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));

	return fd < 0 ? -1 : fd_move_up(fd);
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

/*
 * By syscall(), not by write(): that would be a cancellation point while the engine's lock is
 * held, and our own hook of write() lies before it.
 */
static void ucma_count(const struct ucma_channel *ch, uint64_t n)
{
	if (n)
		syscall(SYS_write, ch->own_fd, &n, sizeof n);
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
	ucma_count(ch, 1);
}

int ucma_channel_wait(const struct ucma_channel *ch)
{
	uint64_t one;

	return read(ch->own_fd, &one, sizeof one) == sizeof one ? 0 : -errno;
}

void ucma_channel_unwait(const struct ucma_channel *ch)
{
	ucma_count(ch, 1);
}

/*
 * Take back at most n counts without ever waiting, whatever O_NONBLOCK says. Where the kernel
 * cannot do that (before 5.12) the counts stay: a reader finds no event for them and waits again.
 */
static void ucma_uncount(const struct ucma_channel *ch, unsigned n)
{
	uint64_t one;
	struct iovec v = {&one, sizeof one};

	while (n-- && syscall(SYS_preadv2, ch->own_fd, &v, 1, -1L, -1L, RWF_NOWAIT) == sizeof one)
		;
}

void ucma_channel_purge(
	struct ucma_channel *ch, const struct ucma_id *id, const struct ucma_multicast *multicast)
{
	struct ucma_event *ev, *next;
	unsigned n = 0;

	for (ev = TAILQ_FIRST(&ch->events); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (ev->id != id || (multicast && !ucma_multicast_has(multicast, ev)))
			continue;
		TAILQ_REMOVE(&ch->events, ev, link);
		free(ev);
		n++;
	}
	ucma_uncount(ch, n);
}

void ucma_channel_move(struct ucma_channel *from, struct ucma_channel *to, const struct ucma_id *id)
{
	struct ucma_event *ev, *next;
	unsigned n = 0;

	if (from == to)
		return;
	for (ev = TAILQ_FIRST(&from->events); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (ev->id != id)
			continue;
		TAILQ_REMOVE(&from->events, ev, link);
		TAILQ_INSERT_TAIL(&to->events, ev, link);
		n++;
	}
	ucma_uncount(from, n);
	ucma_count(to, n);
}
