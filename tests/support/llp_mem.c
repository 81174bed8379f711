/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem_priv.h"

#include <errno.h>

struct host *llp_mem_host_by_addr(struct llp_mem *m, const struct ip_addr *a)
{
	for (unsigned i = 0; i < LLP_MEM_HOSTS; i++) {
		if (ip_addr_equal(&m->host[i].addr, a))
			return &m->host[i];
	}
	return NULL;
}

struct llp_mem *llp_mem_create(void)
{
	struct llp_mem *m = must(calloc(1, sizeof *m));

	m->emss = 1448;
	m->buffer = 1 << 20;
	for (unsigned i = 0; i < LLP_MEM_HOSTS; i++) {
		const uint8_t v4[4] = {10, 0, 0, (uint8_t)(1 + i)};

		m->host[i].stack.ops = &llp_mem_stack_ops;
		m->host[i].m = m;
		m->host[i].addr = ip_addr_from_v4(v4);
		m->host[i].next_port = 49152;
	}
	return m;
}

void llp_mem_destroy(struct llp_mem *m)
{
	while (m->conns != NULL) {
		struct mem_conn *c = m->conns;

		m->conns = c->next;
		mem_conn_free(c);
	}
	for (unsigned i = 0; i < LLP_MEM_HOSTS; i++) {
		while (m->host[i].listeners != NULL)
			llp_unlisten(&m->host[i].stack, m->host[i].listeners);
		while (m->host[i].reservations != NULL) {
			struct ip_endpoint local = m->host[i].reservations->local;

			llp_port_release(&m->host[i].stack, &local);
		}
	}
	free(m);
}

struct llp_stack *llp_mem_stack(struct llp_mem *m, unsigned host)
{
	return &m->host[host].stack;
}

struct ip_endpoint llp_mem_endpoint(const struct llp_mem *m, unsigned host, uint16_t port)
{
	return (struct ip_endpoint){.addr = m->host[host].addr, .port = port};
}

void llp_mem_set_emss(struct llp_mem *m, uint32_t emss)
{
	m->emss = emss;
}

void llp_mem_set_protecting(struct llp_mem *m)
{
	m->protects = true;
}

void llp_mem_set_external(struct llp_mem *m)
{
	m->external = true;
}

unsigned llp_mem_externals(const struct llp_mem *m)
{
	return m->externals;
}

unsigned llp_mem_owned(const struct llp_mem *m)
{
	return m->owned;
}

unsigned llp_mem_memories(const struct llp_mem *m)
{
	return m->memories;
}

void llp_mem_set_segment(struct llp_mem *m, size_t bytes)
{
	m->segment = bytes;
	m->random = 0;
}

void llp_mem_set_random_segment(struct llp_mem *m, size_t bytes, uint32_t seed)
{
	m->segment = bytes;
	m->random = seed | 1;
}

void llp_mem_set_buffer(struct llp_mem *m, size_t bytes)
{
	m->buffer = bytes;
}

void llp_mem_set_unread(struct llp_mem *m, size_t bytes)
{
	m->unread = bytes;
}

void llp_mem_set_silent(struct llp_mem *m, unsigned host, bool silent)
{
	m->host[host].silent = silent;
}

void llp_mem_hold(struct llp *l, bool hold)
{
	mem_end_of(l)->hold = hold;
}

void llp_mem_fail(struct llp *l, int error)
{
	struct mem_end *e = mem_end_of(l), *o = mem_end_other(e);

	e->fail = error;
	if (o->handle != NULL)
		o->fail = -ECONNRESET;
	mem_fifo_clear(&e->tx);
	mem_fifo_clear(&o->tx);
}

struct llp *llp_mem_other(struct llp *l)
{
	struct handle *h = mem_end_other(mem_end_of(l))->handle;

	return h != NULL ? &h->llp : NULL;
}

bool llp_mem_ooo(struct llp *l, unsigned k)
{
	struct mem_end *e = mem_end_of(l), *o = mem_end_other(e);
	uint64_t ahead = o->rx.bytes;
	struct piece *p = e->tx.head;
	struct llp_note *note;
	struct llp_iov v;

	for (; p != NULL && k != 0; k--, p = p->next)
		ahead += p->len - p->at;
	/* The first is in order, and what is half delivered cannot come again. */
	if (p == NULL || p == e->tx.head || !p->pushed || p->fin || p->at != 0 || p->offered ||
		o->handle == NULL || o->handle->llp.user_ops->ooo == NULL)
		return false;
	p->offered = true;
	v = mem_piece_iov(o->handle, p);
	note = must(calloc(1, sizeof *note));
	if (!o->handle->llp.user_ops->ooo(o->handle->llp.user, &v, 1, p->len, ahead, note)) {
		free(note);
		return false;
	}
	p->note = note;
	free(p->data);
	p->data = NULL;
	return true;
}

unsigned llp_mem_pending(const struct llp *l, size_t *held)
{
	unsigned n = 0;

	*held = 0;
	for (const struct piece *p = mem_end_of(l)->tx.head; p != NULL; p = p->next, n++)
		*held += p->data != NULL ? p->len - p->at : 0;
	return n;
}

void llp_mem_send_raw(struct llp *l, const void *bytes, size_t len)
{
	struct piece *p = mem_piece_new(len);

	llp_push(l);
	memcpy(p->data, bytes, len);
	p->pushed = true;
	mem_fifo_put(&mem_end_of(l)->tx, p);
}

unsigned llp_mem_open_count(const struct llp_mem *m)
{
	unsigned n = 0;

	for (const struct mem_conn *c = m->conns; c != NULL; c = c->next)
		n += (c->end[0].handle != NULL) + (c->end[1].handle != NULL);
	return n;
}

unsigned llp_mem_orphans(const struct llp_mem *m)
{
	unsigned n = 0;

	for (const struct mem_conn *c = m->conns; c != NULL; c = c->next)
		for (unsigned i = 0; i < 2; i++)
			n += c->end[i].handle != NULL && c->end[i].orphan;
	return n;
}

unsigned llp_mem_segments(const struct llp_mem *m)
{
	return m->segments;
}
