/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/stack.h"

#include "base/fd_room.h"
#include "sock/conn.h"
#include "sock/held.h"
#include "sock/listen.h"
#include "sock/option.h"
#include "sock/ports.h"
#include "sock/udp_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/** Sockets that are looked at in one round. */
#define ROUND_EVENTS 32

/** Times that one round fills what it has emptied: bulk does not wait for the next. */
#define ROUND_SENDS 4

/** Between two calls of epoll_wait() while something is held to be sent, or one alone is read. */
#define LOOK_NS UINT64_C(3000)

/** Times that epoll has told of one connection alone before it is read without. */
#define LONE_STREAK 4

/** Peers with orphans, expected. */
#define ORPHAN_PEERS 1024

#define USER_TIMEOUT_MS 30000
#define MEMORY          (UINT64_C(64) << 20)

/* ---- descriptors ------------------------------------------------------------------------- */

int sock_watch(struct sock_stack *s, struct sock_source *source, uint32_t events)
{
	struct epoll_event e = {.events = events | EPOLLET, .data.ptr = source};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, source->fd, &e) ? -errno : 0;
}

void sock_watch_again(struct sock_stack *s, struct sock_source *source, uint32_t events)
{
	struct epoll_event e = {.events = events | EPOLLET, .data.ptr = source};

	if (source->fd >= 0)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, source->fd, &e);
}

void sock_let_go_of(struct sock_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}

void sock_unwatch(struct sock_stack *s, struct sock_source *source)
{
	/* close() alone does not take it from epoll while a child has a copy, until it executes. */
	if (source->fd >= 0)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	sock_let_go_of(source);
}

bool sock_is_ours(const struct sock_stack *s, const struct ip_addr *a)
{
	for (unsigned i = 0; i < s->cfg.num_addresses; i++)
		if (ip_addr_equal(&s->addresses[i], a))
			return true;
	return s->cfg.num_addresses == 0;
}

/* ---- life -------------------------------------------------------------------------------- */

static void sock_stack_configure(struct sock_stack *s, const struct sock_stack_config *cfg)
{
	s->cfg = *cfg;
	if (s->cfg.num_addresses > SOCK_ADDRESSES)
		s->cfg.num_addresses = SOCK_ADDRESSES;
	for (unsigned i = 0; i < s->cfg.num_addresses; i++)
		s->addresses[i] = cfg->addresses[i];
	s->cfg.addresses = s->addresses;
	if (!s->cfg.user_timeout_ms)
		s->cfg.user_timeout_ms = USER_TIMEOUT_MS;
	if (!s->cfg.memory)
		s->cfg.memory = MEMORY;
}

static int sock_stack_init_held(struct sock_stack *s)
{
	struct siphash_key key;
	int rc;

	s->cfg.random->fill(s->cfg.random->ctx, &key, sizeof key);
	rc = peer_set_init(&s->orphans, ORPHAN_PEERS, &key);
	rc = rc ? rc : sock_held_init(&s->rx, s->cfg.memory / 2, &key);
	return rc ? rc : sock_held_init(&s->tx, s->cfg.memory / 2, &key);
}

static void sock_stack_fini_held(struct sock_stack *s)
{
	sock_held_fini(&s->rx);
	sock_held_fini(&s->tx);
	peer_set_fini(&s->orphans);
	sock_buffers_fini(&s->buffers);
}

/** sock_flush(), at the end of this round, does what there is to do. */
static void sock_stack_on_held(struct timer *t, uint64_t now)
{
}

int sock_stack_create(const struct sock_stack_config *cfg, uint64_t now, struct sock_stack **out)
{
	struct sock_stack *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return -ENOMEM;
	s->llp.ops = &sock_llp_stack_ops;
	sock_stack_configure(s, cfg);
	s->now = now;
	TAILQ_INIT(&s->ready);
	TAILQ_INIT(&s->dirty);
	TAILQ_INIT(&s->accepting);
	TAILQ_INIT(&s->held);
	timer_init(&s->held_timer, sock_stack_on_held);
	rc = sock_stack_init_held(s);
	s->epoll = rc ? -1 : epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0) {
		rc = rc ? rc : -errno;
		sock_stack_fini_held(s);
		free(s);
		return rc;
	}
	s->epoll = fd_move_up(s->epoll);
	s->spare_fd = eventfd(0, EFD_CLOEXEC);
	*out = s;
	return 0;
}

/** What was ended in this round is not in use any more. */
static void sock_stack_bury(struct sock_stack *s)
{
	while (!LIST_EMPTY(&s->dead)) {
		struct sock_conn *c = LIST_FIRST(&s->dead);

		LIST_REMOVE(c, link);
		free(c);
	}
	while (!LIST_EMPTY(&s->dead_listeners)) {
		struct llp_listener *l = LIST_FIRST(&s->dead_listeners);

		LIST_REMOVE(l, link);
		free(l);
	}
	while (!LIST_EMPTY(&s->dead_udps)) {
		struct sock_udp *u = LIST_FIRST(&s->dead_udps);

		LIST_REMOVE(u, link);
		free(u);
	}
}

void sock_stack_destroy(struct sock_stack *s)
{
	timer_stop(s->cfg.wheel, &s->held_timer);
	while (!LIST_EMPTY(&s->conns))
		sock_conn_drop(LIST_FIRST(&s->conns));
	while (!LIST_EMPTY(&s->listeners))
		sock_unlisten(LIST_FIRST(&s->listeners));
	while (!LIST_EMPTY(&s->ports))
		sock_port_release(s, &LIST_FIRST(&s->ports)->local);
	while (!LIST_EMPTY(&s->udps))
		sock_udp_close(LIST_FIRST(&s->udps));
	sock_stack_bury(s);
	sock_stack_fini_held(s);
	close(s->epoll);
	if (s->spare_fd >= 0)
		close(s->spare_fd);
	free(s);
}

struct llp_stack *sock_llp_stack(struct sock_stack *s)
{
	return &s->llp;
}

int sock_fd(const struct sock_stack *s)
{
	return s->epoll;
}

const struct sock_stats *sock_stack_stats(const struct sock_stack *s)
{
	return &s->stats;
}

/* ---- rounds ------------------------------------------------------------------------------ */

void sock_set_now(struct sock_stack *s, uint64_t now)
{
	s->now = now;
}

/** One turn for each that epoll will not tell of again. @return how many. */
static unsigned sock_read_ready(struct sock_stack *s)
{
	unsigned turn = s->num_ready, n;

	for (n = 0; n < turn && !TAILQ_EMPTY(&s->ready); n++) {
		struct sock_conn *c = TAILQ_FIRST(&s->ready);

		sock_conn_unmark_ready(c);
		sock_read(c);
	}
	return n;
}

/**
 * Of two system calls for each message that comes, epoll_wait() is one. So where all that comes is
 * of one connection, that one is simply read. Others are told of one look later.
 */
static struct sock_conn *sock_lone(const struct sock_stack *s)
{
	return s->lone_streak >= LONE_STREAK && sock_read_may_try(s->lone) ? s->lone : NULL;
}

static void sock_note_alone(struct sock_stack *s, int n, const struct epoll_event *events)
{
	struct sock_conn *c;

	if (n == 0)
		return;
	c = n == 1 ? sock_conn_of_source(events[0].data.ptr) : NULL;
	s->lone_streak = c && c == s->lone ? s->lone_streak + 1 : 0;
	s->lone = c;
}

/** A program that posts without a pause polls as often, and does not wait for an answer. */
static bool sock_shall_look(struct sock_stack *s, const struct sock_conn *lone)
{
	if ((lone || !TAILQ_EMPTY(&s->held)) && s->now - s->looked_at < LOOK_NS)
		return false;
	s->looked_at = s->now;
	return true;
}

unsigned sock_poll(struct sock_stack *s)
{
	struct epoll_event events[ROUND_EVENTS];
	unsigned handled = sock_read_ready(s);
	struct llp_listener *l = TAILQ_FIRST(&s->accepting);
	struct sock_conn *lone = sock_lone(s);
	int n = 0;

	if (sock_shall_look(s, lone)) {
		n = epoll_wait(s->epoll, events, ROUND_EVENTS, 0);
		sock_note_alone(s, n, events);
	} else if (lone) {
		handled += sock_read_try(lone);
	}
	for (int i = 0; i < n; i++) {
		struct sock_source *source = events[i].data.ptr;

		if (source->fd >= 0)
			source->ready(source, events[i].events);
	}
	if (l && l->is_accepting) {
		TAILQ_REMOVE(&s->accepting, l, accepting_link);
		l->is_accepting = false;
		sock_accept(l);
	}
	return handled + (n > 0 ? (unsigned)n : 0) + (l != NULL);
}

static void sock_flush_conn(struct sock_conn *c)
{
	if (c->error)
		sock_conn_end(c, c->error);
	else
		sock_send(c);
}

bool sock_flush(struct sock_stack *s)
{
	sock_send_held(s);
	for (unsigned i = 0; i < ROUND_SENDS; i++) {
		unsigned turn = s->num_dirty;

		for (unsigned n = 0; n < turn && !TAILQ_EMPTY(&s->dirty); n++) {
			struct sock_conn *c = TAILQ_FIRST(&s->dirty);

			sock_conn_unmark_dirty(c);
			sock_flush_conn(c);
		}
	}
	sock_send_held(s);
	sock_stack_bury(s);
	return !TAILQ_EMPTY(&s->dirty) || !TAILQ_EMPTY(&s->ready) || !TAILQ_EMPTY(&s->accepting);
}

/* ---- ends -------------------------------------------------------------------------------- */

void sock_reset_all(struct sock_stack *s)
{
	struct sock_conn *c;
	struct llp_listener *l;

	LIST_FOREACH (c, &s->conns, link)
		sock_conn_close(c);
	LIST_FOREACH (l, &s->listeners, link)
		sock_listener_close(l);
}

void sock_let_go(struct sock_stack *s)
{
	struct sock_conn *c;
	struct llp_listener *l;
	struct sock_port *p;
	struct sock_udp *u;

	/* Sockets and epoll are the parent's, too: only the descriptors may go. */
	LIST_FOREACH (c, &s->conns, link)
		sock_let_go_of(&c->source);
	LIST_FOREACH (l, &s->listeners, link)
		sock_let_go_of(&l->source);
	LIST_FOREACH (p, &s->ports, link)
		if (p->fd >= 0)
			close(p->fd);
	LIST_FOREACH (u, &s->udps, link)
		sock_udp_let_go(u);
	close(s->epoll);
	if (s->spare_fd >= 0)
		close(s->spare_fd);
}

bool sock_is_parting(const struct sock_stack *s)
{
	const struct sock_conn *c;

	LIST_FOREACH (c, &s->conns, link)
		if (c->state == SOCK_OPEN && (sock_queued(c) || (c->fin_wanted && !c->fin_sent) ||
						     sock_option_unacked(c->source.fd)))
			return true;
	return false;
}
