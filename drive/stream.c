/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a socket. What is unread stays in TCP's queue, and so inside its window. */
#include "drive/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* ---- what the connection tells -------------------------------------------------------------- */

static void sock_on_connected(void *user)
{
	((struct sock *)user)->connected = true;
}

static size_t sock_on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct sock *s = user;
	size_t taken = 0;

	for (unsigned i = 0; i < n && s->want.room; i++) {
		size_t k = v[i].len < s->want.room ? v[i].len : s->want.room;

		memcpy(s->want.to + s->want.got, v[i].base, k);
		s->want.got += k;
		s->want.room -= k;
		taken += k;
	}
	if (s->want.peek)
		taken = 0;
	s->taken += taken;
	s->unread = total - taken;
	*need = 0;
	return taken;
}

static void sock_on_writable(void *user)
{
	((struct sock *)user)->write_blocked = false;
}

/** From TCP's queue. The peer's end may be told in here, which takes the rest. */
static size_t sock_take_unread(struct sock *s, void *buf, size_t len, bool peek)
{
	const struct sock_want outer = s->want;
	size_t got;

	s->want = (struct sock_want){.to = buf, .room = len, .peek = peek};
	llp_resume(s->llp);
	got = s->want.got;
	s->want = outer;
	return got;
}

/**
 * Take what is unread into a buffer of our own: the connection may end at any moment now. Without
 * memory it stays in TCP's queue, where recv() finds it until then.
 */
static void sock_save_unread(struct sock *s)
{
	/* TCP shows its queue in parts; each resume takes all that it shows until none is left. */
	while (s->unread) {
		size_t room = s->unread;
		uint8_t *more = realloc(s->rest, s->rest_len + room);

		if (!more)
			return;
		s->rest = more;
		s->unread = 0;
		s->rest_len += sock_take_unread(s, s->rest + s->rest_len, room, false);
	}
}

static void sock_on_eof(void *user)
{
	struct sock *s = user;

	s->eof = true;
	sock_save_unread(s);
}

static void sock_on_closed(void *user, int error)
{
	struct sock *s = user;
	struct ip_endpoint remote;

	llp_endpoints(s->llp, &s->last, &remote);
	s->llp = NULL;
	s->error = error;
	/* What was in the queue is gone, and the end that is behind it is not reached. */
	if (s->unread)
		s->eof = false;
	s->unread = 0;
	s->write_blocked = false;
}

const struct llp_user_ops sock_ops = {.connected = sock_on_connected,
	.readable = sock_on_readable,
	.writable = sock_on_writable,
	.eof = sock_on_eof,
	.closed = sock_on_closed};

/* ---- what the user asks --------------------------------------------------------------------- */

/** The reason why there is nothing to talk to: once the connection's end, then @p after. */
static int sock_why_not(struct sock *s, int after)
{
	int err = s->error;

	s->error = 0;
	if (err)
		return err;
	return s->begun ? after : -ENOTCONN;
}

size_t sock_send_room(const struct sock *s)
{
	size_t held = s->llp && s->send_limit ? llp_unacked(s->llp) : 0;

	if (!s->send_limit)
		return SIZE_MAX;
	return held < s->send_limit ? s->send_limit - held : 0;
}

/** @return how many bytes were queued: as many as TCP has room for. */
static size_t sock_queue(struct sock *s, const uint8_t *from, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t k = len - done, emss = llp_emss(s->llp);
		void *room;

		if (k > emss)
			k = emss;
		room = llp_reserve(s->llp, (uint32_t)k, true);
		if (!room)
			break;
		memcpy(room, from + done, k);
		llp_commit(s->llp, (uint32_t)k);
		done += k;
	}
	return done;
}

ssize_t uiwarp_tcp_send(struct uiwarp_tcp *h, int n, const void *buf, size_t len, int flags)
{
	struct sock *s = sock_get(h, n);
	size_t done, most;

	if (!s)
		return -EBADF;
	if (!s->llp)
		return sock_why_not(s, -EPIPE);
	if (s->shut_write)
		return -EPIPE;
	/* Until POLLOUT: a short message must not overtake the room that a longer one waits for. */
	if (s->write_blocked)
		return len ? -EAGAIN : 0;
	most = sock_send_room(s);
	most = most < len ? most : len;
	done = sock_queue(s, buf, most);
	s->write_blocked = done < most;
	/* Without room nothing more can share their segments, and no ACK would make any. */
	if (!(flags & MSG_MORE) || done < len || !sock_send_room(s))
		llp_push(s->llp);
	host_round(h);
	return done || !len ? (ssize_t)done : -EAGAIN;
}

static size_t sock_take_rest(struct sock *s, void *buf, size_t len, bool peek)
{
	size_t k = s->rest_len - s->rest_at;

	k = k < len ? k : len;
	memcpy(buf, s->rest + s->rest_at, k);
	if (!peek)
		s->rest_at += k;
	return k;
}

ssize_t uiwarp_tcp_recv(struct uiwarp_tcp *h, int n, void *buf, size_t len, int flags)
{
	struct sock *s = sock_get(h, n);
	bool peek = (flags & MSG_PEEK) != 0;
	size_t got = 0;

	if (!s)
		return -EBADF;
	if (!len)
		return 0;
	if (s->rest_at < s->rest_len)
		return (ssize_t)sock_take_rest(s, buf, len, peek);
	if (s->llp && s->unread) {
		got = sock_take_unread(s, buf, len, peek);
		host_round(h);
	}
	if (got || s->eof || s->shut_read)
		return (ssize_t)got;
	return s->llp ? -EAGAIN : sock_why_not(s, 0);
}

int uiwarp_tcp_shutdown(struct uiwarp_tcp *h, int n, int how)
{
	struct sock *s = sock_get(h, n);

	if (!s)
		return -EBADF;
	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	if (!s->llp)
		return -ENOTCONN;
	if (how != SHUT_WR)
		s->shut_read = true;
	if (how != SHUT_RD && s->llp && !s->shut_write) {
		s->shut_write = true;
		llp_shutdown(s->llp);
	}
	host_round(h);
	return 0;
}

int uiwarp_tcp_poll(struct uiwarp_tcp *h, int n)
{
	const struct sock *s = sock_get(h, n);
	bool over;
	int r = 0;

	if (!s)
		return -EBADF;
	if (s->listener)
		return s->waiting ? POLLIN : 0;
	over = s->begun && !s->llp;
	if (s->unread || s->rest_at < s->rest_len || s->eof || s->shut_read || over)
		r |= POLLIN;
	if (s->llp ? s->connected && !s->write_blocked && sock_send_room(s) : over)
		r |= POLLOUT;
	if (s->eof)
		r |= POLLRDHUP;
	if (over || !s->begun)
		r |= POLLHUP;
	if (s->error)
		r |= POLLERR;
	return r;
}
