/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem_priv.h"

#include <errno.h>

static void peer_connected(void *user)
{
	((struct llp_mem_peer *)user)->connected = true;
}

static size_t peer_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct llp_mem_peer *p = user;

	if (p->rx_room - p->rx_len < total) {
		p->rx_room = (p->rx_len + total) * 2;
		p->rx = must(realloc(p->rx, p->rx_room));
	}
	for (unsigned i = 0; i < n; i++) {
		memcpy(p->rx + p->rx_len, v[i].base, v[i].len);
		p->rx_len += v[i].len;
	}
	return total;
}

static void peer_writable(void *user)
{
}

static void peer_eof(void *user)
{
	((struct llp_mem_peer *)user)->eof = true;
}

static void peer_closed(void *user, int error)
{
	struct llp_mem_peer *p = user;

	p->llp = NULL;
	p->closed = true;
	p->error = error;
}

static const struct llp_user_ops peer_ops = {
	.connected = peer_connected,
	.readable = peer_readable,
	.writable = peer_writable,
	.eof = peer_eof,
	.closed = peer_closed,
};

void llp_mem_peer_connect(
	struct llp_mem_peer *p, struct llp_mem *m, unsigned host, const struct ip_endpoint *to)
{
	struct llp_connect_params params = {.remote = *to};

	*p = (struct llp_mem_peer){.m = m};
	if (llp_connect(llp_mem_stack(m, host), &params, &peer_ops, p, &p->llp) != 0)
		abort();
}

static int peer_accept(void *user, struct llp *l)
{
	struct llp_mem_peer *p = user;

	if (p->llp != NULL)
		return -EBUSY;
	p->llp = l;
	llp_set_user(l, &peer_ops, p);
	return 0;
}

void llp_mem_peer_listen(struct llp_mem_peer *p, struct llp_mem *m, unsigned host, uint16_t port)
{
	struct ip_endpoint local = llp_mem_endpoint(m, host, port);

	*p = (struct llp_mem_peer){.m = m};
	if (llp_listen(llp_mem_stack(m, host), &local, 1, peer_accept, p, &p->listener) != 0)
		abort();
}

void llp_mem_peer_consume(struct llp_mem_peer *p, size_t len)
{
	if (len > p->rx_len)
		abort();
	p->rx_len -= len;
	memmove(p->rx, p->rx + len, p->rx_len);
}

void llp_mem_peer_done(struct llp_mem_peer *p)
{
	if (p->llp != NULL)
		llp_abort(p->llp);
	if (p->listener != NULL)
		llp_unlisten(llp_mem_stack(p->m, 0), p->listener);
	free(p->rx);
	*p = (struct llp_mem_peer){0};
}
