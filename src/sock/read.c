/* SPDX-License-Identifier: BSD-2-Clause */
/* From the kernel to the user: into the connection's ring, and shown from there. */
#include "sock/conn.h"
#include "sock/held.h"
#include "sock/option.h"

#include <errno.h>
#include <sys/socket.h>

/* ---- show -------------------------------------------------------------------------------- */

static void sock_give_back_if_empty(struct sock_conn *c)
{
	if (c->rx && c->rx->len == 0)
		sock_rx_give(c);
}

/** What waits counts from now on, with the buffer that it has. */
static void sock_keep_rest(struct sock_conn *c)
{
	if (c->state == SOCK_OPEN && c->rx && !c->error && !c->orphan)
		sock_rx_keep(c);
}

/** @return how many bytes the user is done with. */
static size_t sock_show_once(struct sock_conn *c)
{
	struct iovec content[2];
	struct llp_iov v[2];
	unsigned n = sock_buffer_content(c->rx, content);
	size_t used = c->rx->len;

	for (unsigned i = 0; i < n; i++)
		v[i] = (struct llp_iov){.base = content[i].iov_base, .len = content[i].iov_len};
	c->need = 0;
	c->resume = false;
	c->showing = true;
	/* First: programs expect that what an answer is to has completed. */
	sock_acks_tell(c);
	if (c->llp.user_ops && !c->orphan)
		used = c->llp.user_ops->readable(c->llp.user, v, n, c->rx->len, &c->need);
	c->showing = false;
	return used;
}

void sock_show(struct sock_conn *c)
{
	bool again = true;

	if (c->showing)
		return;
	while (again && c->rx && c->rx->len >= c->need && c->llp.user_ops) {
		size_t used = sock_show_once(c);

		/* It may have ended in there. */
		if (c->state == SOCK_OVER || c->orphan)
			return;
		if (used)
			sock_rx_went_on(c);
		sock_buffer_consume(c->rx, used);
		again = used && c->resume;
		if (again)
			c->need = 0;
		sock_give_back_if_empty(c);
	}
	sock_keep_rest(c);
}

/* ---- read -------------------------------------------------------------------------------- */

/** Nobody is there to take it. @return as recvmsg(). */
static ssize_t sock_read_away(struct sock_conn *c)
{
	ssize_t n = recv(c->source.fd, NULL, SOCK_BUFFER, MSG_TRUNC | MSG_DONTWAIT);

	c->more = n == (ssize_t)SOCK_BUFFER || c->hangup || (n > 0 && c->urgent);
	return n;
}

/** @return as recvmsg(), with -ENOBUFS in errno if there is no room now. */
static ssize_t sock_read_in(struct sock_conn *c)
{
	struct iovec v[2];
	struct msghdr m = {.msg_iov = v};
	size_t room;
	ssize_t n;

	if (sock_rx_take(c))
		m.msg_iovlen = sock_buffer_space(c->rx, v);
	if (!m.msg_iovlen) {
		errno = ENOBUFS;
		return -1;
	}
	room = SOCK_BUFFER - c->rx->len;
	n = m.msg_iovlen == 1 ? recv(c->source.fd, v[0].iov_base, v[0].iov_len, MSG_DONTWAIT)
			      : recvmsg(c->source.fd, &m, MSG_DONTWAIT);
	c->s->stats.receives++;
	if (n > 0)
		c->rx->len += (uint32_t)n;
	/*
	 * A short read has emptied the socket, or stopped at an urgent byte; but what that or a
	 * hang-up left is told of no more.
	 */
	c->more = n == (ssize_t)room || (n > 0 && (c->hangup || c->urgent));
	return n;
}

static void sock_read_end(struct sock_conn *c)
{
	if (c->eof)
		return;
	c->eof = true;
	if (c->broken) {
		sock_conn_end(c, -ECONNRESET);
		return;
	}
	if (c->llp.user_ops && c->llp.user_ops->eof)
		c->llp.user_ops->eof(c->llp.user);
	if (c->state != SOCK_OVER)
		sock_conn_end_if_closed(c);
}

/** The peer has closed behind more than there is room for, unless it is lost. */
static void sock_read_end_waits(struct sock_conn *c)
{
	int error;

	if (sock_conn_is_lost(c)) {
		error = sock_conn_error(sock_option_error(c->source.fd));
		sock_conn_end(c, error ? error : -ECONNRESET);
	} else if (c->llp.user_ops && c->llp.user_ops->eof_waits) {
		c->llp.user_ops->eof_waits(c->llp.user);
	}
}

static void sock_read_failed(struct sock_conn *c, int error)
{
	switch (error) {
	case EAGAIN:
		c->urgent = false;
		c->more = false;
		break;
	case EINTR:
		c->more = true;
		break;
	case ENOBUFS:
		/* The user has left what it needs more for, or does not want any: sock_resume(). */
		if (!c->rx || c->rx->size < SOCK_BUFFER)
			sock_conn_mark_ready(c); /* no memory now */
		break;
	default:
		sock_conn_end(c, sock_conn_error(-error));
		break;
	}
}

void sock_read(struct sock_conn *c)
{
	ssize_t n;

	if (!c->more || c->eof || c->error || c->state != SOCK_OPEN)
		return;
	n = c->orphan ? sock_read_away(c) : sock_read_in(c);
	if (n > 0) {
		c->heard = true;
		c->s->stats.bytes_in += (uint64_t)n;
		if (!c->orphan)
			sock_show(c);
	} else {
		int error = errno;

		sock_give_back_if_empty(c);
		if (n == 0)
			sock_read_end(c);
		else
			sock_read_failed(c, error);
		/* A whole buffer was taken, for nothing. */
		sock_keep_rest(c);
	}
	if (c->state != SOCK_OPEN || !c->more || c->eof)
		return;
	if (!c->rx || c->rx->len < SOCK_BUFFER)
		sock_conn_mark_ready(c);
	else if (c->hangup && !c->error)
		sock_read_end_waits(c);
}

bool sock_read_try(struct sock_conn *c)
{
	uint64_t before = c->s->stats.bytes_in;

	c->more = true;
	sock_read(c);
	return c->s->stats.bytes_in != before;
}
