/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/listen.h"

#include "base/container_of.h"
#include "base/fd_room.h"
#include "sock/conn.h"
#include "sock/option.h"
#include "sock/ports.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/** Connections that are accepted before others have their turn. */
#define ACCEPT_BURST 16

/** Until a listener that could not accept looks again. */
#define ACCEPT_AGAIN_NS UINT64_C(50000000)

/* ---- accept ------------------------------------------------------------------------------ */

static int sock_accept_fd(const struct llp_listener *l)
{
	int fd = accept4(l->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/** True if somebody waits: without a descriptor accept() does not look. */
static bool sock_accept_is_due(const struct llp_listener *l)
{
	struct pollfd p = {.fd = l->source.fd, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

/**
 * No descriptor is left. A peer that waits in the kernel for an answer that never comes is worse
 * off than one that is reset: a descriptor is kept for that.
 * @return false: another thread has that one, too, or what waits cannot be had for another reason.
 */
static bool sock_accept_refuse(struct llp_listener *l, int rc)
{
	struct sock_stack *s = l->s;
	int fd;

	(void)sock_no_descriptor(s, rc);
	if (s->spare_fd < 0)
		return false;
	close(s->spare_fd);
	fd = sock_accept_fd(l);
	if (fd >= 0) {
		sock_option_disconnect(fd);
		close(fd);
	}
	s->spare_fd = eventfd(0, EFD_CLOEXEC);
	return fd >= 0 || fd == -EAGAIN;
}

static void sock_accept_take(struct llp_listener *l, int fd)
{
	struct sock_conn *c;

	if (sock_conn_new(l->s, fd_move_up(fd), SOCK_OPEN, &c))
		return;
	if (sock_conn_opened(c) || !sock_is_ours(l->s, &c->local.addr) ||
		l->accept(l->user, &c->llp)) {
		sock_conn_drop(c);
		return;
	}
	l->s->stats.accepts++;
	if (l->s->spare_fd < 0)
		l->s->spare_fd = eventfd(0, EFD_CLOEXEC);
}

/**
 * accept() has failed, and what waits is there as before: not at once again, where the kernel has
 * no memory, or the program has closed what it did not open.
 */
static void sock_accept_later(struct llp_listener *l)
{
	timer_start(l->s->cfg.wheel, &l->again, l->s->now + ACCEPT_AGAIN_NS);
}

/** @return false: nobody waits, or it is to be looked at later. */
static bool sock_accept_one(struct llp_listener *l)
{
	int fd = sock_accept_fd(l);

	if (fd >= 0) {
		sock_accept_take(l, fd);
		return true;
	}
	if (fd == -EAGAIN)
		return false;
	if (fd == -EMFILE || fd == -ENFILE) {
		if (!sock_accept_is_due(l))
			return false;
		if (sock_accept_refuse(l, fd))
			return true;
	}
	sock_accept_later(l);
	return false;
}

void sock_accept(struct llp_listener *l)
{
	for (unsigned i = 0; i < ACCEPT_BURST && l->source.fd >= 0; i++)
		if (!sock_accept_one(l))
			return;
	if (l->source.fd < 0 || l->is_accepting)
		return;
	l->is_accepting = true;
	TAILQ_INSERT_TAIL(&l->s->accepting, l, accepting_link);
}

static void sock_listen_on_events(struct sock_source *source, uint32_t events)
{
	sock_accept(container_of(source, struct llp_listener, source));
}

/** epoll has told of it once, and does not tell again. */
static void sock_listen_again(struct timer *t, uint64_t now)
{
	sock_accept(container_of(t, struct llp_listener, again));
}

/* ---- listen ------------------------------------------------------------------------------ */

void sock_listener_close(struct llp_listener *l)
{
	sock_option_disconnect(l->source.fd);
	sock_unwatch(l->s, &l->source);
}

int sock_listen(struct sock_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	struct llp_listener *l = calloc(1, sizeof *l);
	int rc;

	if (!l)
		return -ENOMEM;
	*l = (struct llp_listener){
		.s = s, .accept = accept, .user = user, .source = {.ready = sock_listen_on_events}};
	timer_init(&l->again, sock_listen_again);
	rc = l->source.fd = sock_port_take(s, local);
	if (rc >= 0)
		rc = listen(rc, backlog > INT_MAX ? INT_MAX : (int)backlog) ? -errno : 0;
	if (!rc)
		rc = sock_watch(s, &l->source, EPOLLIN);
	if (rc) {
		sock_listener_close(l);
		free(l);
		return rc;
	}
	LIST_INSERT_HEAD(&s->listeners, l, link);
	*out = l;
	return 0;
}

void sock_unlisten(struct llp_listener *l)
{
	sock_listener_close(l);
	timer_stop(l->s->cfg.wheel, &l->again);
	if (l->is_accepting)
		TAILQ_REMOVE(&l->s->accepting, l, accepting_link);
	l->is_accepting = false;
	LIST_REMOVE(l, link);
	LIST_INSERT_HEAD(&l->s->dead_listeners, l, link);
}
