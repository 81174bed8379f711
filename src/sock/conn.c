/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/conn.h"

#include "sock/address.h"
#include "sock/held.h"
#include "sock/option.h"

#include <errno.h>
#include <linux/tcp.h> /* libc's tcp_info is older */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/** A peer that never closes its direction does not hold a released connection for longer. */
#define ORPHAN_NS UINT64_C(60000000000)

/** tcp_info.tcpi_state, which linux/tcp.h has no names for. */
#define STATE_CLOSE 7

/** Looks in the time in which a peer must acknowledge something. */
#define ACK_LOOKS 4

/** What the kernel must tell for a closed window to be known: Linux does since 4.6. */
#define SOCK_CONN_INFO_STALL (offsetof(struct tcp_info, tcpi_notsent_bytes) + sizeof(uint32_t))
/** And for one that shrank in front of what is in flight: since 5.4. */
#define SOCK_CONN_INFO_WINDOW (offsetof(struct tcp_info, tcpi_snd_wnd) + sizeof(uint32_t))

static void sock_conn_on_events(struct sock_source *source, uint32_t events);
static void sock_conn_on_timer(struct timer *t, uint64_t now);

/* ---- life -------------------------------------------------------------------------------- */

int sock_conn_new(struct sock_stack *s, int fd, enum sock_state state, struct sock_conn **out)
{
	struct sock_conn *c = calloc(1, sizeof *c);
	int rc;

	if (!c) {
		sock_option_disconnect(fd);
		close(fd);
		return -ENOMEM;
	}
	c->llp.ops = &sock_llp_ops;
	c->source = (struct sock_source){.fd = fd, .ready = sock_conn_on_events};
	c->s = s;
	c->state = state;
	timer_init(&c->timer, sock_conn_on_timer);
	rc = sock_watch(s, &c->source, EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP);
	if (rc) {
		sock_conn_close(c);
		free(c);
		return rc;
	}
	LIST_INSERT_HEAD(&s->conns, c, link);
	s->stats.connections++;
	*out = c;
	return 0;
}

/** What one record may have: a segment of the path as it is now, or more where `fpdu` says so. */
static uint32_t sock_conn_emss(const struct sock_conn *c)
{
	uint32_t mss = sock_option_mss(c->source.fd), most = c->s->cfg.record_max;

	return mss > most ? mss : most;
}

int sock_conn_opened(struct sock_conn *c)
{
	int rc = sock_address_local(c->source.fd, &c->local);

	c->emss = sock_conn_emss(c);
	c->state = SOCK_OPEN;
	return rc ? rc : sock_address_remote(c->source.fd, &c->remote);
}

void sock_conn_mark_dirty(struct sock_conn *c)
{
	if (c->is_dirty || c->state == SOCK_OVER)
		return;
	c->is_dirty = true;
	c->s->num_dirty++;
	TAILQ_INSERT_TAIL(&c->s->dirty, c, dirty_link);
}

void sock_conn_unmark_dirty(struct sock_conn *c)
{
	if (!c->is_dirty)
		return;
	c->is_dirty = false;
	c->s->num_dirty--;
	TAILQ_REMOVE(&c->s->dirty, c, dirty_link);
}

void sock_conn_hold(struct sock_conn *c)
{
	if (c->is_held || c->state == SOCK_OVER)
		return;
	c->is_held = true;
	TAILQ_INSERT_TAIL(&c->s->held, c, held_link);
}

void sock_conn_unhold(struct sock_conn *c)
{
	if (!c->is_held)
		return;
	c->is_held = false;
	TAILQ_REMOVE(&c->s->held, c, held_link);
}

void sock_conn_mark_ready(struct sock_conn *c)
{
	if (c->is_ready || c->state == SOCK_OVER)
		return;
	c->is_ready = true;
	c->s->num_ready++;
	TAILQ_INSERT_TAIL(&c->s->ready, c, ready_link);
}

void sock_conn_unmark_ready(struct sock_conn *c)
{
	if (!c->is_ready)
		return;
	c->is_ready = false;
	c->s->num_ready--;
	TAILQ_REMOVE(&c->s->ready, c, ready_link);
}

void sock_conn_close(struct sock_conn *c)
{
	/* What was closed in good order goes on without us. */
	if (!c->fin_sent || c->aborted)
		sock_option_disconnect(c->source.fd);
	sock_unwatch(c->s, &c->source);
}

void sock_conn_drop(struct sock_conn *c)
{
	struct sock_stack *s = c->s;

	if (c->state == SOCK_OVER)
		return;
	if (c->acks_watched)
		(void)sock_acks_to(c); /* the last look that there is */
	c->state = SOCK_OVER;
	sock_conn_close(c);
	timer_stop(s->cfg.wheel, &c->timer);
	timer_stop(s->cfg.wheel, &c->acks_timer);
	sock_conn_unmark_ready(c);
	sock_conn_unmark_dirty(c);
	sock_conn_unhold(c);
	sock_rx_give(c);
	sock_tx_give(c);
	peer_set_remove(&s->orphans, &c->parting);
	if (s->walk == c)
		s->walk = LIST_NEXT(c, link);
	if (s->lone == c) {
		s->lone = NULL;
		s->lone_streak = 0;
	}
	LIST_REMOVE(c, link);
	LIST_INSERT_HEAD(&s->dead, c, link);
	s->stats.connections--;
}

/** What has been sent goes on without us: the kernel waits for its acknowledgement and for the FIN.
 */
static void sock_conn_recycle_orphan(struct sock_conn *c)
{
	c->s->stats.orphans_recycled++;
	sock_conn_end(c, -ECONNABORTED);
}

void sock_conn_orphan(struct sock_conn *c)
{
	struct sock_stack *s = c->s;
	struct peer_charge *out =
		s->cfg.max_orphans
			? peer_set_in_the_way(&s->orphans, &c->remote.addr, s->cfg.max_orphans, 0)
			: NULL;

	if (out)
		sock_conn_recycle_orphan(container_of(out, struct sock_conn, parting));
	/* One that cannot be accounted for ends by its own time. */
	(void)peer_set_add(&s->orphans, &c->parting, &c->remote.addr);
	c->unacked_since = c->acked_at = s->now;
	sock_conn_expect_ack(c);
}

void sock_conn_end(struct sock_conn *c, int error)
{
	const struct llp_user_ops *ops = c->llp.user_ops;

	/* An error has reset it already, or the kernel gives up what a reset would tell of. */
	sock_conn_drop(c);
	if (ops)
		ops->closed(c->llp.user, error);
}

int sock_conn_error(int error)
{
	switch (error) {
	case 0:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EADDRNOTAVAIL:
		return error;
	case -EPIPE:
		return -ECONNRESET;
	case -EHOSTDOWN:
	case -ENONET:
	case -EACCES: /* a filter of the host's */
	case -EPERM:
		return -EHOSTUNREACH;
	case -ENETDOWN:
		return -ENETUNREACH;
	default:
		return -ECONNABORTED;
	}
}

/* ---- ends -------------------------------------------------------------------------------- */

/** @return how much of it the kernel tells: older ones, and emulators, less; 0: nothing. */
static size_t sock_conn_info(const struct sock_conn *c, struct tcp_info *info)
{
	socklen_t len = sizeof *info;

	return getsockopt(c->source.fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0 ? len : 0;
}

bool sock_conn_is_lost(const struct sock_conn *c)
{
	struct tcp_info info;

	/* What has closed in good order was closed by us, too. */
	return c->broken ||
	       (!c->fin_sent && sock_conn_info(c, &info) && info.tcpi_state == STATE_CLOSE);
}

/** Something is unread, and the user may take it: it does not need more, which will not come. */
static bool sock_conn_has_reader(const struct sock_conn *c)
{
	return c->rx && c->rx->len && c->rx->len >= c->need && !c->orphan;
}

void sock_conn_end_if_closed(struct sock_conn *c)
{
	struct tcp_info info;

	/* An error is told at the end of the round: what has come may be lost by it. */
	if (c->error || !c->eof || !c->fin_sent || sock_conn_has_reader(c))
		return;
	/* TIME-WAIT is the kernel's own: the socket is in CLOSED by then. */
	if (sock_conn_info(c, &info) && info.tcpi_state == STATE_CLOSE)
		sock_conn_end(c, sock_conn_error(sock_option_error(c->source.fd)));
}

/* ---- time-outs --------------------------------------------------------------------------- */

#define MS UINT64_C(1000000)

/** The time to the next look at what is not acknowledged. */
static uint64_t sock_conn_look(const struct sock_conn *c)
{
	uint32_t ms = c->s->cfg.user_timeout_ms, zero = c->s->cfg.zero_window_timeout_ms;

	return (zero && zero < ms ? zero : ms) * MS / ACK_LOOKS;
}

void sock_conn_expect_ack(struct sock_conn *c)
{
	if (timer_running(&c->timer))
		return;
	c->unacked_since = c->acked_at = c->asked_at = c->s->now;
	timer_start(c->s->cfg.wheel, &c->timer, c->s->now + sock_conn_look(c));
}

/**
 * Has the kernel tried to send again, and had no way? Where the link is down, or a route is gone,
 * it counts its tries, but nothing that was sent again, nor the time of it.
 */
static bool sock_conn_tried_in_vain(struct sock_conn *c, const struct tcp_info *info)
{
	unsigned tries = (unsigned)info->tcpi_retransmits + info->tcpi_backoff;

	if (info->tcpi_total_retrans != c->resent || tries < c->tries) {
		c->resent = info->tcpi_total_retrans;
		c->tries = tries;
	}
	return tries > c->tries;
}

/**
 * Is an answer missing? What is in flight behind a window that the peer has shrunk is sent again
 * and again, and answered each time by an ACK that takes nothing. The kernel knows when it has sent
 * text last, but not when a FIN alone.
 */
static bool sock_conn_has_asked(struct sock_conn *c, const struct tcp_info *info)
{
	if (info->tcpi_probes || !info->tcpi_unacked)
		return info->tcpi_probes != 0;
	return sock_conn_tried_in_vain(c, info) ||
	       (c->fin_sent && sock_option_unacked(c->source.fd) == 1) ||
	       info->tcpi_last_data_sent < info->tcpi_last_ack_recv;
}

/**
 * RFC 9293 section 3.8.3. An answer to a probe of a closed window is one; and between two of them,
 * which may be two minutes, nothing is asked.
 */
static bool sock_conn_is_silent(struct sock_conn *c, const struct tcp_info *info, uint64_t now)
{
	uint32_t ms = c->s->cfg.user_timeout_ms;

	if (!sock_conn_has_asked(c, info))
		c->asked_at = 0;
	else if (!c->asked_at)
		c->asked_at = now;
	return c->asked_at && now - c->asked_at >= ms * MS && info->tcpi_last_ack_recv >= ms;
}

/** What a peer must take for its window not to count as closed: a quarter of what waits, or that.
 */
#define ACKED_ENOUGH (64u * 1024)

/** How long that may last, in ms; 0: for ever. An orphan must end by itself (RFC 6429 section 3).
 */
static uint32_t sock_conn_stall_limit(const struct sock_conn *c)
{
	uint32_t user = c->s->cfg.user_timeout_ms, zero = c->s->cfg.zero_window_timeout_ms;

	return c->orphan && (!zero || user < zero) ? user : zero;
}

/** All that waits is behind the peer's window, of which what is in flight is sent again. */
static bool sock_conn_is_shut(const struct tcp_info *info, size_t told)
{
	return info->tcpi_unacked == 0 ||
	       (told >= SOCK_CONN_INFO_WINDOW && info->tcpi_snd_wnd < info->tcpi_snd_mss);
}

/** It answers, but for long takes next to nothing. */
static bool sock_conn_is_stalled(
	struct sock_conn *c, const struct tcp_info *info, size_t told, uint64_t now)
{
	uint64_t waits = sock_queued(c) + sock_option_unacked(c->source.fd);
	uint64_t enough = waits / 4 < ACKED_ENOUGH ? waits / 4 : ACKED_ENOUGH;
	uint32_t limit = sock_conn_stall_limit(c);

	if (!waits || info->tcpi_bytes_acked - c->acked >= (enough ? enough : 1)) {
		c->acked = info->tcpi_bytes_acked;
		c->acked_at = now;
	}
	return limit && sock_conn_is_shut(info, told) && now - c->acked_at >= limit * MS;
}

/** Something waits for an acknowledgement. @return true: it is over. */
static bool sock_conn_end_if_dead(struct sock_conn *c, uint64_t now)
{
	struct tcp_info info = {0};
	size_t told = sock_conn_info(c, &info);
	bool stalled, silent;

	if (!told)
		return false;
	stalled = told >= SOCK_CONN_INFO_STALL && sock_conn_is_stalled(c, &info, told, now);
	silent = sock_conn_is_silent(c, &info, now);
	if (!stalled && !silent)
		return false;
	c->s->stats.zero_window_timeouts += stalled && !c->orphan;
	sock_conn_end(c, -ETIMEDOUT);
	return true;
}

/** Nothing of what @p c waited for at the deadline of its timer had a chance for so long. */
static void sock_conn_stood_still(struct sock_conn *c, uint64_t stood)
{
	uint64_t deadline = c->timer.deadline;

	/* What began since did so when we ran again, before the timer. */
	if (c->unacked_since <= deadline)
		c->unacked_since += stood;
	if (c->acked_at <= deadline)
		c->acked_at += stood;
	if (c->asked_at && c->asked_at <= deadline)
		c->asked_at += stood;
}

static void sock_conn_on_timer(struct timer *t, uint64_t now)
{
	struct sock_conn *c = container_of(t, struct sock_conn, timer);
	uint64_t stood = timer_stood_still(t, now);

	sock_conn_stood_still(c, stood);
	/* The path may have changed. */
	c->emss = sock_conn_emss(c);
	if (!sock_queued(c) && !sock_option_unacked(c->source.fd)) {
		if (c->orphan && now - c->unacked_since >= ORPHAN_NS)
			sock_conn_end(c, -ETIMEDOUT);
		else if (c->orphan)
			timer_start(c->s->cfg.wheel, &c->timer, now + ORPHAN_NS / ACK_LOOKS);
		return;
	}
	/* The kernel's own times went on: what they tell is known at the next look. */
	if (stood || !sock_conn_end_if_dead(c, now))
		timer_start(c->s->cfg.wheel, &c->timer, now + sock_conn_look(c));
}

/* ---- events ------------------------------------------------------------------------------ */

struct sock_conn *sock_conn_of_source(struct sock_source *source)
{
	return source->ready == sock_conn_on_events ? container_of(source, struct sock_conn, source)
						    : NULL;
}

static void sock_conn_on_connected(struct sock_conn *c)
{
	int rc = sock_option_error(c->source.fd);

	if (!rc)
		rc = sock_conn_opened(c);
	if (rc) {
		sock_conn_end(c, sock_conn_error(rc));
		return;
	}
	if (sock_queued(c) || c->fin_wanted)
		sock_conn_mark_dirty(c);
	if (c->llp.user_ops && c->llp.user_ops->connected)
		c->llp.user_ops->connected(c->llp.user);
}

static void sock_conn_on_events(struct sock_source *source, uint32_t events)
{
	struct sock_conn *c = container_of(source, struct sock_conn, source);

	if (c->error)
		return; /* it is told at the end of the round */
	if (c->state == SOCK_CONNECTING) {
		if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
			return;
		sock_conn_on_connected(c);
	}
	if (c->state == SOCK_OVER)
		return;
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		c->hangup = true;
	if (events & EPOLLOUT && c->blocked) {
		c->blocked = false;
		sock_conn_mark_dirty(c);
	}
	if (events & EPOLLPRI)
		c->urgent = true;
	if (events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
		c->more = true;
		sock_read(c);
	}
	if (c->state != SOCK_OVER)
		sock_conn_end_if_closed(c);
}
