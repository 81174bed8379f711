/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem_priv.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "support/plain_sum.h"

#include <errno.h>
#include <stdio.h>

/* ---- pieces ------------------------------------------------------------------------------ */

static struct piece *piece_new(size_t len)
{
	struct piece *p = must(calloc(1, sizeof *p));

	p->data = must(malloc(len != 0 ? len : 1));
	p->len = len;
	return p;
}

static void piece_free(struct piece *p)
{
	if (p != NULL) {
		free(p->data);
		free(p->note);
	}
	free(p);
}

static void fifo_init(struct fifo *f)
{
	f->head = NULL;
	f->tail = &f->head;
	f->bytes = 0;
}

static void fifo_put(struct fifo *f, struct piece *p)
{
	p->next = NULL;
	*f->tail = p;
	f->tail = &p->next;
	f->bytes += p->len;
}

static void fifo_drop_head(struct fifo *f)
{
	struct piece *p = f->head;

	f->head = p->next;
	if (f->head == NULL)
		f->tail = &f->head;
	f->bytes -= p->len - p->at;
	piece_free(p);
}

static void fifo_consume(struct fifo *f, size_t len)
{
	while (len != 0 && f->head != NULL) {
		struct piece *p = f->head;
		size_t n = p->len - p->at;

		if (len < n) {
			p->at += len;
			f->bytes -= len;
			return;
		}
		len -= n;
		fifo_drop_head(f);
	}
}

static void fifo_clear(struct fifo *f)
{
	while (f->head != NULL)
		fifo_drop_head(f);
}

static struct piece *fifo_last(struct fifo *f)
{
	return f->head == NULL ? NULL : container_of(f->tail, struct piece, next);
}

/* ---- the functions of a connection ------------------------------------------------------- */

static struct mem_end *end_of(const struct llp *l)
{
	return ((const struct handle *)(const void *)l)->end;
}

static struct mem_end *other(struct mem_end *e)
{
	return &e->conn->end[e == &e->conn->end[0]];
}

static uint32_t mem_emss(const struct llp *l)
{
	return end_of(l)->conn->m->emss;
}

static void *mem_reserve(struct llp *l, uint32_t len, bool join)
{
	struct mem_end *e = end_of(l);

	if (!e->conn->established || e->fin_queued || e->fail != 0)
		return NULL;
	if (e->tx.bytes != 0 && e->tx.bytes + len > e->conn->m->buffer) {
		e->tell_writable = true;
		return NULL;
	}
	piece_free(e->reserved);
	e->reserved = piece_new(len);
	e->join = join;
	return e->reserved->data;
}

static void append(struct piece *to, const struct piece *from)
{
	uint8_t *both = must(malloc(to->len + from->len));

	memcpy(both, to->data, to->len);
	memcpy(both + to->len, from->data, from->len);
	free(to->data);
	to->data = both;
	to->len += from->len;
}

static bool mem_sums(const struct llp *l)
{
	return true;
}

static void mem_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	struct mem_end *e = end_of(l);
	struct piece *p = e->reserved, *last = fifo_last(&e->tx);
	uint32_t emss = e->conn->m->emss;

	e->reserved = NULL;
	if (p == NULL || len > p->len)
		abort();
	if (sum != LLP_SUM_UNKNOWN &&
		load_be16(&(uint16_t){(uint16_t)sum}) != plain_sum(p->data, len, 0))
		abort(); /* it is believed */
	if (len == 0) {
		piece_free(p);
		return;
	}
	p->len = len;
	e->queued += len;
	if (e->join && last != NULL && !last->pushed && last->len + len <= emss) {
		append(last, p);
		e->tx.bytes += len;
		piece_free(p);
		return;
	}
	for (size_t at = 0; at < len; at += emss) { /* a record over the EMSS is cut */
		size_t n = len - at < emss ? len - at : emss;
		struct piece *seg = piece_new(n);

		memcpy(seg->data, p->data + at, n);
		seg->pushed = at + n < len;
		fifo_put(&e->tx, seg);
	}
	piece_free(p);
}

static void mem_push(struct llp *l)
{
	for (struct piece *p = end_of(l)->tx.head; p != NULL; p = p->next)
		p->pushed = true;
}

static void mem_resume(struct llp *l)
{
	end_of(l)->look_again = true;
}

static bool mem_took_ooo(const struct llp *l)
{
	for (const struct piece *p = other(end_of(l))->tx.head; p != NULL; p = p->next) {
		if (p->note != NULL)
			return true;
	}
	return false;
}

static size_t mem_unacked(const struct llp *l)
{
	return end_of(l)->tx.bytes;
}

static uint64_t mem_queued(const struct llp *l)
{
	return end_of(l)->queued;
}

static uint64_t mem_acked(const struct llp *l)
{
	return end_of(l)->acked;
}

static void mem_watch_acks(struct llp *l)
{
	end_of(l)->watched = true;
}

static void mem_acknowledge(struct mem_end *e, size_t len)
{
	e->acked += len;
	e->tell_acked = e->watched;
}

static void mem_shutdown(struct llp *l)
{
	struct mem_end *e = end_of(l);
	struct piece *fin;

	if (e->fin_queued)
		return;
	e->fin_queued = true;
	mem_push(l);
	fin = piece_new(0);
	fin->fin = true;
	fin->pushed = true;
	fifo_put(&e->tx, fin);
}

static void let_go(struct mem_end *e)
{
	free(e->handle);
	e->handle = NULL;
	piece_free(e->reserved);
	e->reserved = NULL;
	fifo_clear(&e->rx);
}

static void mem_abort(struct llp *l)
{
	struct mem_end *e = end_of(l), *o = other(e);

	let_go(e);
	fifo_clear(&e->tx);
	fifo_clear(&o->tx);
	if (o->handle != NULL && o->fail == 0)
		o->fail = -ECONNRESET;
}

static void mem_release(struct llp *l)
{
	struct mem_end *e = end_of(l);

	if (!e->conn->established) {
		mem_abort(l);
		return;
	}
	mem_shutdown(l);
	let_go(e);
}

static void mem_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	*local = end_of(l)->local;
	*remote = end_of(l)->remote;
}

static const struct llp_ops mem_ops = {
	.emss = mem_emss,
	.reserve = mem_reserve,
	.sums = mem_sums,
	.commit = mem_commit,
	.push = mem_push,
	.resume = mem_resume,
	.took_ooo = mem_took_ooo,
	.unacked = mem_unacked,
	.queued = mem_queued,
	.acked = mem_acked,
	.watch_acks = mem_watch_acks,
	.shutdown = mem_shutdown,
	.abort = mem_abort,
	.release = mem_release,
	.endpoints = mem_endpoints,
};

struct llp *llp_mem_handle(struct mem_end *e)
{
	e->handle = must(calloc(1, sizeof *e->handle));
	e->handle->llp.ops = &mem_ops;
	e->handle->end = e;
	return &e->handle->llp;
}

struct mem_conn *llp_mem_conn(struct llp_mem *m)
{
	struct mem_conn *c = must(calloc(1, sizeof *c)), **at = &m->conns;

	c->m = m;
	for (unsigned i = 0; i < 2; i++) {
		c->end[i].conn = c;
		fifo_init(&c->end[i].tx);
		fifo_init(&c->end[i].rx);
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = c;
	return c;
}

struct host *llp_mem_host_by_addr(struct llp_mem *m, const struct ip_addr *a)
{
	for (unsigned i = 0; i < LLP_MEM_HOSTS; i++) {
		if (ip_addr_equal(&m->host[i].addr, a))
			return &m->host[i];
	}
	return NULL;
}

/* ---- events ------------------------------------------------------------------------------ */

static void tell_closed(struct mem_end *e, int error)
{
	const struct llp_user_ops *ops = e->handle->llp.user_ops;
	void *user = e->handle->llp.user;
	struct handle *h = e->handle; /* may be read until closed() returns */

	e->handle = NULL;
	ops->closed(user, error);
	free(h);
	let_go(e);
	fifo_clear(&e->tx);
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
			let_go(b);
		a->tell_connected = false;
		a->fail = -ECONNRESET;
	} else {
		b->tell_connected = b->handle != NULL;
	}
	return true;
}

/* What the user will want a CRC of has one, as if the checksum had been verified here. */
static struct llp_iov piece_iov(const struct handle *h, const struct piece *p)
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
	v = must(calloc(n + 1, sizeof *v));
	n = 0;
	for (struct piece *p = e->rx.head; p != NULL; p = p->next)
		v[n++] = piece_iov(h, p);
	used = h->llp.user_ops->readable(h->llp.user, v, n, total, &need);
	free(v);
	if (e->handle != h)
		return;
	if (used > total || (need != 0 && need <= total - used))
		abort(); /* took more than there is, or asks for what it has just seen */
	fifo_consume(&e->rx, used);
	e->need = need;
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
	struct mem_end *o = other(e);
	const struct llp_note note = *p->note;

	mem_acknowledge(e, p->len);
	fifo_drop_head(&e->tx);
	e->conn->m->segments++;
	if (o->handle != NULL)
		o->handle->llp.user_ops->taken(o->handle->llp.user, &note);
}

/* One piece from e arrives at its peer. */
static void deliver(struct mem_end *e)
{
	struct mem_end *o = other(e);
	struct piece *p = e->tx.head, *copy;
	size_t n = p->len - p->at, max = next_size(e->conn->m);

	if (p->fin) {
		fifo_drop_head(&e->tx);
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
	copy = piece_new(n);
	memcpy(copy->data, p->data + p->at, n);
	fifo_consume(&e->tx, n);
	mem_acknowledge(e, n);
	e->conn->m->segments++;
	if (o->handle == NULL) {
		piece_free(copy);
		return;
	}
	fifo_put(&o->rx, copy);
	if (o->need == 0 || o->rx.bytes >= o->need)
		show(o);
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
		e->look_again = false;
		if (e->rx.bytes != 0)
			show(e);
		return true;
	}
	if (h != NULL && e->tell_acked) {
		e->tell_acked = false;
		h->llp.user_ops->acked(h->llp.user);
		return true;
	}
	if (e->tx.head != NULL && e->tx.head->pushed && !e->hold && !silent &&
		!other(e)->tell_connected) {
		deliver(e);
		return true;
	}
	if (h != NULL && e->tell_writable && e->tx.bytes <= e->conn->m->buffer / 2) {
		e->tell_writable = false;
		h->llp.user_ops->writable(h->llp.user);
		return true;
	}
	if (h != NULL && e->fin_delivered && e->eof) {
		tell_closed(e, 0);
		return true;
	}
	return false;
}

static void conn_free(struct mem_conn *c)
{
	for (unsigned i = 0; i < 2; i++) {
		let_go(&c->end[i]);
		fifo_clear(&c->end[i].tx);
	}
	free(c);
}

bool llp_mem_step(struct llp_mem *m)
{
	for (struct mem_conn **at = &m->conns; *at != NULL;) {
		struct mem_conn *c = *at;

		if (c->end[0].handle == NULL && c->end[1].handle == NULL) {
			*at = c->next;
			conn_free(c);
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

/* ---- control ----------------------------------------------------------------------------- */

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
		conn_free(c);
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

void llp_mem_set_silent(struct llp_mem *m, unsigned host, bool silent)
{
	m->host[host].silent = silent;
}

void llp_mem_hold(struct llp *l, bool hold)
{
	end_of(l)->hold = hold;
}

void llp_mem_fail(struct llp *l, int error)
{
	struct mem_end *e = end_of(l), *o = other(e);

	e->fail = error;
	if (o->handle != NULL)
		o->fail = -ECONNRESET;
	fifo_clear(&e->tx);
	fifo_clear(&o->tx);
}

struct llp *llp_mem_other(struct llp *l)
{
	struct handle *h = other(end_of(l))->handle;

	return h != NULL ? &h->llp : NULL;
}

bool llp_mem_ooo(struct llp *l, unsigned k)
{
	struct mem_end *e = end_of(l), *o = other(e);
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
	v = piece_iov(o->handle, p);
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
	for (const struct piece *p = end_of(l)->tx.head; p != NULL; p = p->next, n++)
		*held += p->data != NULL ? p->len - p->at : 0;
	return n;
}

void llp_mem_send_raw(struct llp *l, const void *bytes, size_t len)
{
	struct piece *p = piece_new(len);

	mem_push(l);
	memcpy(p->data, bytes, len);
	p->pushed = true;
	fifo_put(&end_of(l)->tx, p);
}

unsigned llp_mem_open_count(const struct llp_mem *m)
{
	unsigned n = 0;

	for (const struct mem_conn *c = m->conns; c != NULL; c = c->next)
		n += (c->end[0].handle != NULL) + (c->end[1].handle != NULL);
	return n;
}

unsigned llp_mem_segments(const struct llp_mem *m)
{
	return m->segments;
}
