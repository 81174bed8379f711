/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's TCP: sockets that never wait, and with several of them epoll. */
#include "load.h"

#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/** What one call reads; more than a message by far. */
#define TCP_READ (64 * 1024)

struct tcp_connection {
	int fd;
	uint8_t out[LOAD_SIZE];           /**< the last message */
	size_t unsent;                    /**< of out, its end */
	uint8_t in[LOAD_SIZE + TCP_READ]; /**< what has come, and is no whole message */
	size_t filled;
};

struct tcp {
	struct tcp_connection *connection;
	unsigned n;
	int epoll;
	size_t size;
	bool sender;
};

static void tcp_connection_set(struct tcp *t, unsigned i, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
	int on = 1;

	t->connection[i].fd = fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
		err(1, "TCP_NODELAY");
	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e))
		err(1, "epoll");
}

static void *tcp_open(const struct load_options *o)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
		.ai_family = o->address ? AF_UNSPEC : AF_INET6,
		.ai_flags = o->address ? 0 : AI_PASSIVE};
	struct tcp *t = calloc(1, sizeof *t);
	struct addrinfo *at;
	int listener = -1, on = 1;

	if (!t)
		err(1, "memory");
	t->n = o->connections;
	t->size = o->size;
	t->sender = o->address != NULL;
	t->connection = calloc(t->n, sizeof *t->connection);
	t->epoll = epoll_create1(0);
	if (!t->connection || t->epoll < 0 || getaddrinfo(o->address, o->port, &hints, &at))
		err(1, "%s", o->address ? o->address : "listen");
	if (!t->sender) {
		listener = socket(at->ai_family, SOCK_STREAM, 0);
		if (listener < 0 ||
			setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
			bind(listener, at->ai_addr, at->ai_addrlen) || listen(listener, (int)t->n))
			err(1, "listen");
	}
	for (unsigned i = 0; i < t->n; i++) {
		int fd = t->sender ? socket(at->ai_family, SOCK_STREAM, 0)
				   : accept(listener, NULL, NULL);

		if (fd < 0 || (t->sender && connect(fd, at->ai_addr, at->ai_addrlen)))
			err(1, "connection");
		tcp_connection_set(t, i, fd);
	}
	freeaddrinfo(at);
	if (!t->sender)
		close(listener);
	return t;
}

static bool tcp_is_full(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK;
}

static void tcp_push(struct tcp *t, struct tcp_connection *c)
{
	ssize_t done =
		send(c->fd, c->out + t->size - c->unsent, c->unsent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (done >= 0)
		c->unsent -= (size_t)done;
	else if (!tcp_is_full())
		err(1, "send");
}

static bool tcp_send(void *transport, unsigned connection, uint64_t stamp)
{
	struct tcp *t = transport;
	struct tcp_connection *c = &t->connection[connection];

	if (c->unsent)
		tcp_push(t, c);
	if (c->unsent)
		return false;
	memcpy(c->out, &stamp, sizeof stamp);
	c->unsent = t->size;
	tcp_push(t, c);
	return true;
}

static void tcp_take(struct tcp *t, struct tcp_connection *c, load_arrived_fn *arrived, void *ctx)
{
	ssize_t n = recv(c->fd, c->in + c->filled, TCP_READ, MSG_DONTWAIT);
	size_t taken = 0;
	uint64_t stamp;

	if (n < 0 && !tcp_is_full())
		err(1, "recv");
	if (n <= 0)
		return;
	for (c->filled += (size_t)n; c->filled - taken >= t->size; taken += t->size) {
		memcpy(&stamp, c->in + taken, sizeof stamp);
		arrived(ctx, stamp);
	}
	c->filled -= taken;
	memmove(c->in, c->in + taken, c->filled);
}

static void tcp_poll(void *transport, load_arrived_fn *arrived, void *ctx)
{
	struct tcp *t = transport;
	struct epoll_event e[16];
	int n;

	if (t->sender) {
		for (unsigned i = 0; i < t->n; i++)
			if (t->connection[i].unsent)
				tcp_push(t, &t->connection[i]);
		return;
	}
	if (t->n == 1) {
		tcp_take(t, t->connection, arrived, ctx);
		return;
	}
	n = epoll_wait(t->epoll, e, 16, 0);
	for (int i = 0; i < n; i++)
		tcp_take(t, &t->connection[e[i].data.u32], arrived, ctx);
}

static void tcp_close(void *transport)
{
	struct tcp *t = transport;

	for (unsigned i = 0; i < t->n; i++) {
		while (t->connection[i].unsent)
			tcp_push(t, &t->connection[i]);
		close(t->connection[i].fd);
	}
	close(t->epoll);
	free(t->connection);
	free(t);
}

const struct load_transport load_tcp = {"tcp", tcp_open, tcp_send, tcp_poll, tcp_close};
