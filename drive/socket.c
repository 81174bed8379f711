/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets from their birth to their end; stream.c has what they carry. */
#include "drive/socket.h"

#include "drive/address.h"
#include "tcp/cc.h"

#include <errno.h>
#include <stdlib.h>

struct sock *sock_get(const struct uiwarp_tcp *h, int s)
{
	return s >= 0 && (unsigned)s < h->n_socks ? h->sock[s] : NULL;
}

/** A socket without a number. NULL: no memory. */
static struct sock *sock_new(struct uiwarp_tcp *h, int family)
{
	struct sock *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->h = h;
	s->family = family;
	s->congestion_control = h->cfg.congestion_control;
	s->waiting_tail = &s->waiting;
	return s;
}

static void sock_free(struct sock *s)
{
	free(s->rest);
	free(s);
}

/** Give @p s the lowest free number. @return it or -ENOMEM. */
static int sock_give_number(struct sock *s)
{
	struct uiwarp_tcp *h = s->h;
	struct sock **more;
	unsigned i = 0;

	while (i < h->n_socks && h->sock[i])
		i++;
	if (i == h->n_socks) {
		more = realloc(h->sock, (i + 1) * sizeof(struct sock *));
		if (!more)
			return -ENOMEM;
		h->sock = more;
		h->n_socks++;
	}
	h->sock[i] = s;
	return (int)i;
}

int uiwarp_tcp_socket(struct uiwarp_tcp *h, int family)
{
	struct sock *s;
	int n;

	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	s = sock_new(h, family);
	n = s ? sock_give_number(s) : -ENOMEM;
	if (n < 0)
		free(s);
	return n;
}

/**
 * The address that a socket of @p s's family may use. IPv4 may be had through IPv6 as well.
 * @param v6only the error of IPv4 where it may not.
 */
static int sock_load(const struct sock *s, const struct sockaddr *a, socklen_t len, int v6only,
	struct ip_endpoint *e)
{
	int err = address_load(a, len, e);

	if (err)
		return err == -EAFNOSUPPORT ? -EINVAL : err;
	if (ip_addr_is_v4(&e->addr))
		return s->v6only ? v6only : 0;
	return s->family == AF_INET ? -EINVAL : 0;
}

int uiwarp_tcp_bind(struct uiwarp_tcp *h, int n, const struct sockaddr *a, socklen_t len)
{
	struct sock *s = sock_get(h, n);
	struct ip_endpoint e;
	int err;

	if (!s)
		return -EBADF;
	if (s->bound || s->begun || s->listener)
		return -EINVAL;
	err = sock_load(s, a, len, -EINVAL, &e);
	if (!err)
		err = llp_port_reserve(h->llp, &e, s->v6only ? LLP_PORT_V6ONLY : 0);
	if (err)
		return err;
	s->local = e;
	s->bound = true;
	return 0;
}

static int sock_on_accept(void *user, struct llp *l)
{
	struct sock *listener = user, *s;

	if (listener->n_waiting >= (unsigned)listener->backlog)
		return -EAGAIN; /* later: the handshake is not over */
	s = sock_new(listener->h, listener->family);
	if (!s)
		return -ENOMEM;
	llp_endpoints(l, &s->last, &s->remote);
	s->llp = l;
	s->congestion_control = listener->congestion_control;
	s->v6only = listener->v6only;
	s->send_limit = listener->send_limit;
	s->tos = listener->tos; /* the connection has it already */
	s->begun = true;
	llp_set_user(l, &sock_ops, s);
	*listener->waiting_tail = s;
	listener->waiting_tail = &s->next;
	listener->n_waiting++;
	return 0;
}

int uiwarp_tcp_listen(struct uiwarp_tcp *h, int n, int backlog)
{
	struct sock *s = sock_get(h, n);
	int err;

	if (!s)
		return -EBADF;
	if (!s->bound || s->begun)
		return -EINVAL;
	s->backlog = backlog > 0 ? backlog : 1;
	if (s->listener) {
		tcp_listener_set_backlog(s->listener, (unsigned)s->backlog);
		return 0;
	}
	err = llp_listen(h->llp, &s->local, (unsigned)s->backlog, sock_on_accept, s, &s->listener);
	if (err)
		return err;
	tcp_listener_set_tos(s->listener, s->tos);
	return tcp_listener_set_congestion_control(s->listener, s->congestion_control);
}

int uiwarp_tcp_accept(struct uiwarp_tcp *h, int n, struct sockaddr *a, socklen_t *len)
{
	struct sock *l = sock_get(h, n), *s;

	if (!l)
		return -EBADF;
	if (!l->listener)
		return -EINVAL;
	s = l->waiting;
	if (!s)
		return -EAGAIN;
	n = sock_give_number(s);
	if (n < 0)
		return n;
	l->waiting = s->next;
	if (!l->waiting)
		l->waiting_tail = &l->waiting;
	l->n_waiting--;
	address_copy(&s->remote, a, len);
	return n;
}

int uiwarp_tcp_connect(struct uiwarp_tcp *h, int n, const struct sockaddr *a, socklen_t len)
{
	struct sock *s = sock_get(h, n);
	struct llp_connect_params p = {0};
	int err;

	if (!s)
		return -EBADF;
	if (s->listener)
		return -EINVAL;
	if (s->begun)
		return s->connected ? -EISCONN : s->llp ? -EALREADY : -EINVAL;
	err = sock_load(s, a, len, -ENETUNREACH, &p.remote);
	if (err)
		return err;
	p.tos = s->tos;
	p.congestion_control = s->congestion_control;
	if (s->bound)
		p.local = s->local;
	err = llp_connect(h->llp, &p, &sock_ops, s, &s->llp);
	if (err)
		return err;
	s->begun = true;
	host_round(h);
	return -EINPROGRESS;
}

/** End the connection, in order or not. No upcall comes after this. */
static void sock_drop(struct sock *s, bool reset)
{
	struct llp *l = s->llp;

	s->llp = NULL;
	if (l && reset)
		llp_abort(l);
	else if (l)
		llp_release(l);
}

/** @p s has no number any more. */
static void sock_dispose(struct sock *s, bool reset)
{
	struct uiwarp_tcp *h = s->h;
	struct sock *next;

	sock_drop(s, reset);
	for (struct sock *w = s->waiting; w; w = next) {
		next = w->next;
		sock_drop(w, true); /* nobody will ever know of them */
		sock_free(w);
	}
	if (s->listener)
		llp_unlisten(h->llp, s->listener);
	if (s->bound)
		llp_port_release(h->llp, &s->local);
	sock_free(s);
}

static int sock_end(struct uiwarp_tcp *h, int n, bool reset)
{
	struct sock *s = sock_get(h, n);

	if (!s)
		return -EBADF;
	h->sock[n] = NULL;
	sock_dispose(s, reset || s->unread || s->rest_at < s->rest_len);
	host_round(h);
	return 0;
}

int uiwarp_tcp_close(struct uiwarp_tcp *h, int n)
{
	return sock_end(h, n, false);
}

int uiwarp_tcp_abort(struct uiwarp_tcp *h, int n)
{
	return sock_end(h, n, true);
}

void sockets_fini(struct uiwarp_tcp *h)
{
	for (unsigned i = 0; i < h->n_socks; i++)
		if (h->sock[i])
			sock_dispose(h->sock[i], true);
	free(h->sock);
	h->n_socks = 0;
}

int uiwarp_tcp_getsockname(struct uiwarp_tcp *h, int n, struct sockaddr *a, socklen_t *len)
{
	const struct sock *s = sock_get(h, n);
	struct ip_endpoint local, remote;

	if (!s)
		return -EBADF;
	if (!s->bound && !s->begun)
		return -ENOTCONN;
	local = s->begun ? s->last : s->local;
	if (s->llp)
		llp_endpoints(s->llp, &local, &remote);
	address_copy(&local, a, len);
	return 0;
}

int uiwarp_tcp_getpeername(struct uiwarp_tcp *h, int n, struct sockaddr *a, socklen_t *len)
{
	const struct sock *s = sock_get(h, n);
	struct ip_endpoint local, remote;

	if (!s)
		return -EBADF;
	if (!s->llp)
		return -ENOTCONN;
	llp_endpoints(s->llp, &local, &remote);
	address_copy(&remote, a, len);
	return 0;
}

/** TCP shows its queue in parts: s->unread may be less. */
static size_t sock_unread(const struct sock *s)
{
	struct tcp_info t = {.bytes_received = s->taken};

	if (s->llp)
		tcp_get_info(s->llp, &t);
	return (size_t)(t.bytes_received - s->taken) + s->rest_len - s->rest_at;
}

/** What MSG_MORE keeps goes when it leaves no room: no ACK would make any. */
static void sock_limit_send(struct sock *s, size_t limit)
{
	s->send_limit = limit;
	if (!s->llp || sock_send_room(s))
		return;
	llp_push(s->llp);
	host_round(s->h);
}

int uiwarp_tcp_set(struct uiwarp_tcp *h, int n, enum uiwarp_tcp_option option, int value)
{
	struct sock *s = sock_get(h, n);

	if (!s)
		return -EBADF;
	if (option == UIWARP_TCP_TOS) {
		s->tos = (uint8_t)value & 0xfc;
		if (s->llp)
			tcp_set_tos(s->llp, s->tos);
		if (s->listener)
			tcp_listener_set_tos(s->listener, s->tos);
	} else if (option == UIWARP_TCP_SEND_BUFFER && value >= 0) {
		sock_limit_send(s, (size_t)value);
	} else if (option == UIWARP_TCP_V6ONLY && s->family == AF_INET6 && !s->bound && !s->begun) {
		s->v6only = value != 0;
	} else {
		return -ENOPROTOOPT;
	}
	return 0;
}

int uiwarp_tcp_get(struct uiwarp_tcp *h, int n, enum uiwarp_tcp_option option, int *value)
{
	struct sock *s = sock_get(h, n);

	if (!s)
		return -EBADF;
	switch (option) {
	case UIWARP_TCP_ERROR:
		*value = -s->error;
		s->error = 0;
		return 0;
	case UIWARP_TCP_UNREAD:
		*value = (int)sock_unread(s);
		return 0;
	case UIWARP_TCP_UNACKED:
		*value = s->llp ? (int)llp_unacked(s->llp) : 0;
		return 0;
	case UIWARP_TCP_TOS:
		*value = s->tos;
		return 0;
	case UIWARP_TCP_V6ONLY:
		*value = s->v6only;
		return 0;
	case UIWARP_TCP_SEND_BUFFER:
		*value = (int)s->send_limit;
		return 0;
	}
	return -ENOPROTOOPT;
}

int uiwarp_tcp_set_congestion_control(struct uiwarp_tcp *h, int n, const char *name)
{
	struct sock *s = sock_get(h, n);
	const struct tcp_cc_ops *cc = tcp_cc_find(name);

	if (!s)
		return -EBADF;
	if (!cc)
		return -EINVAL;
	if (s->begun && !s->llp)
		return -ENOTCONN;
	s->congestion_control = cc->name;
	if (s->llp)
		return tcp_set_congestion_control(s->llp, cc->name);
	if (s->listener)
		return tcp_listener_set_congestion_control(s->listener, cc->name);
	return 0;
}

int uiwarp_tcp_info(struct uiwarp_tcp *h, int n, struct uiwarp_tcp_info *info)
{
	const struct sock *s = sock_get(h, n);
	struct tcp_info t = {.state = "CLOSED"};

	if (!s)
		return -EBADF;
	t.congestion_control = s->congestion_control;
	if (s->llp)
		tcp_get_info(s->llp, &t);
	else if (s->listener)
		t.state = "LISTEN";
	host_fill_info(info, &t);
	return 0;
}
