/* SPDX-License-Identifier: BSD-2-Clause */
/** What happens to connections, and what their users are told. */
#include "support/llp_mem_priv.h"

#include "base/digest.h"

#include <errno.h>
#include <stdio.h>

static void tell_closed(struct mem_end *e, int error)
{
	const struct llp_user_ops *ops = e->handle->llp.user_ops;
	void *user = e->handle->llp.user;
	struct handle *h = e->handle; /* may be read until closed() returns */

	e->handle = NULL;
	ops->closed(user, error);
	free(h);
	mem_end_let_go(e);
	mem_fifo_clear(&e->tx);
}

/* Which listener a connection finds: the specific address before the any-address. */
static struct llp_listener *find_listener(struct host *h, const struct ip_endpoint *to)
{
	struct llp_listener *found = NULL;

	for (struct llp_listener *l = h->listeners; l != NULL; l = l->next) {
		if (l->local.port != to->port)
			continue;
		if (ip_addr_equal(&l->local.addr, &to->addr))
			return l;
		if (is_any(&l->local.addr) &&
			!(l->flags & LLP_PORT_V6ONLY && ip_addr_is_v4(&to->addr)))
			found = l;
	}
	return found;
}

static bool establish(struct mem_conn *c)
{
	struct mem_end *a = &c->end[0], *b = &c->end[1];
	struct host *h = llp_mem_host_by_addr(c->m, &a->remote.addr);
	struct llp_listener *l;

	if (h->silent || a->handle == NULL || a->fail != 0)
		return false;
	l = find_listener(h, &a->remote);
	if (l == NULL) {
		a->fail = -ECONNREFUSED;
		return true;
	}
	c->established = true;
	a->tell_connected = true;
	if (l->accept(l->user, llp_mem_handle(b)) != 0) {
		if (b->handle != NULL)
			mem_end_let_go(b);
		a->tell_connected = false;
		a->fail = -ECONNRESET;
	} else {
		b->tell_connected = b->handle != NULL;
	}
	return true;
}

/* What the user will want a CRC of has one, as if the checksum had been verified here. */
struct llp_iov mem_piece_iov(const struct handle *h, const struct piece *p)
{
	struct llp_iov v = {.base = p->data + p->at, .len = p->len - p->at};
	const struct llp_user_ops *ops = h->llp.user_ops;
	struct digest d = {.crc = DIGEST_CRC_START};

	if (p->at == 0 && v.len != 0 && ops->crc_covers != NULL)
		v.crc_len = (uint32_t)ops->crc_covers(h->llp.user, v.base, v.len);
	if (v.crc_len > v.len)
		abort();
	digest_add(&d, DIGEST_CRC, v.base, v.crc_len);
	v.crc = d.crc;
	return v;
}

static void show(struct mem_end *e)
{
	struct handle *h = e->handle;
	struct llp_iov *v;
	size_t need = 0, used, total = e->rx.bytes;
	unsigned n = 0;

	for (struct piece *p = e->rx.head; p != NULL; p = p->next)
		n++;
	e->told_eof_waits = false;
	v = must(calloc(n + 1, sizeof *v));
	n = 0;
	for (struct piece *p = e->rx.head; p != NULL; p = p->next)
		v[n++] = mem_piece_iov(h, p);
	e->showing = true;
	used = h->llp.user_ops->readable(h->llp.user, v, n, total, &need);
	e->showing = false;
	free(v);
	if (e->handle != h)
		return;
	if (used > total || (need != 0 && need <= total - used))
		abort(); /* took more than there is, or asks for what it has just seen */
	mem_fifo_consume(&e->rx, used);
	e->need = need;
}

void mem_end_look_again(struct mem_end *e)
{
	e->look_again = false;
	if (e->fail != 0)
		tell_closed(e, e->fail);
	else if (e->rx.bytes != 0)
		show(e);
}

static size_t next_size(struct llp_mem *m)
{
	if (m->random == 0)
		return m->segment;
	m->random = m->random * 1664525u + 1013904223u;
	m->random |= 1; /* never the 0 that means fixed segments */
	return 1 + (m->random >> 8) % m->segment;
}

/* The turn of a piece that was taken early; it is at the head of what e sends. */
static void deliver_taken(struct mem_end *e, struct piece *p)
{
	struct mem_end *o = mem_end_other(e);
	const struct llp_note note = *p->note;

	mem_end_acknowledge(e, p->len);
	mem_fifo_drop_head(&e->tx);
	e->conn->m->segments++;
	if (o->handle != NULL)
		o->handle->llp.user_ops->taken(o->handle->llp.user, &note);
}

/* One piece from e arrives at its peer. */
static void deliver(struct mem_end *e)
{
	struct mem_end *o = mem_end_other(e);
	struct piece *p = e->tx.head, *copy;
	size_t n = p->len - p->at, max = next_size(e->conn->m);

	if (p->fin) {
		mem_fifo_drop_head(&e->tx);
		e->fin_delivered = true;
		o->eof = true;
		if (o->handle != NULL)
			o->handle->llp.user_ops->eof(o->handle->llp.user);
		return;
	}
	if (p->note != NULL) {
		deliver_taken(e, p);
		return;
	}
	if (max != 0 && n > max)
		n = max;
	copy = mem_piece_new(n);
	memcpy(copy->data, p->data + p->at, n);
	mem_fifo_consume(&e->tx, n);
	mem_end_acknowledge(e, n);
	e->conn->m->segments++;
	if (o->handle == NULL) {
		mem_piece_free(copy);
		return;
	}
	mem_fifo_put(&o->rx, copy);
	if (o->need == 0 || o->rx.bytes >= o->need)
		show(o);
}

/* Its user has left too much to be shown more. */
static bool is_full(const struct mem_end *e)
{
	size_t most = e->conn->m->unread;

	return e->handle != NULL && most != 0 && e->rx.bytes >= most && e->rx.bytes >= e->need;
}

static bool tell_eof_waits(struct mem_end *e)
{
	const struct piece *last = mem_fifo_last(&mem_end_other(e)->tx);
	const struct llp_user_ops *ops = e->handle->llp.user_ops;

	if (!last->fin || e->told_eof_waits || ops->eof_waits == NULL)
		return false;
	e->told_eof_waits = true;
	ops->eof_waits(e->handle->llp.user);
	return true;
}

static bool step_end(struct mem_end *e)
{
	struct handle *h = e->handle;
	bool silent = llp_mem_host_by_addr(e->conn->m, &e->local.addr)->silent ||
		      llp_mem_host_by_addr(e->conn->m, &e->remote.addr)->silent;

	if (h != NULL && e->fail != 0) {
		tell_closed(e, e->fail);
		return true;
	}
	if (h != NULL && e->tell_connected) {
		e->tell_connected = false;
		h->llp.user_ops->connected(h->llp.user);
		return true;
	}
	if (h != NULL && e->look_again) {
		mem_end_look_again(e);
		return true;
	}
	if (h != NULL && e->tell_acked) {
		e->tell_acked = false;
		h->llp.user_ops->acked(h->llp.user);
		return true;
	}
	if (e->tx.head != NULL && e->tx.head->pushed && !e->hold && !silent &&
		!mem_end_other(e)->tell_connected) {
		if (!is_full(mem_end_other(e))) {
			deliver(e);
			return true;
		}
		if (tell_eof_waits(mem_end_other(e)))
			return true;
	}
	if (h != NULL && e->tell_writable && e->tx.bytes <= e->conn->m->buffer / 2) {
		e->tell_writable = false;
		h->llp.user_ops->writable(h->llp.user);
		return true;
	}
	if (h != NULL && e->fin_delivered && e->eof &&
		(e->rx.bytes == 0 || e->rx.bytes < e->need)) {
		tell_closed(e, 0);
		return true;
	}
	return false;
}

bool llp_mem_step(struct llp_mem *m)
{
	for (struct mem_conn **at = &m->conns; *at != NULL;) {
		struct mem_conn *c = *at;

		if (c->end[0].handle == NULL && c->end[1].handle == NULL) {
			*at = c->next;
			mem_conn_free(c);
			continue;
		}
		if (!c->established && establish(c))
			return true;
		if (step_end(&c->end[0]) || step_end(&c->end[1])) {
			/* The next step serves the next connection first. */
			struct mem_conn **last = &c->next;

			at = &m->conns;
			while (*at != c)
				at = &(*at)->next;
			if (c->next != NULL) {
				*at = c->next;
				while (*last != NULL)
					last = &(*last)->next;
				*last = c;
				c->next = NULL;
			}
			return true;
		}
		at = &c->next;
	}
	return false;
}

unsigned llp_mem_run(struct llp_mem *m, unsigned max)
{
	unsigned n = 0;

	while (llp_mem_step(m)) {
		if (++n > max) {
			fprintf(stderr, "llp_mem: no rest after %u steps\n", max);
			abort();
		}
	}
	return n;
}
