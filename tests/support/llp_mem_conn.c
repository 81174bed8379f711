/* SPDX-License-Identifier: BSD-2-Clause */
/** The functions of a connection, as its user calls them. */
#include "support/llp_mem_priv.h"

#include "base/bytes.h"
#include "support/plain_sum.h"

#include <errno.h>

struct mem_end *mem_end_of(const struct llp *l)
{
	return ((const struct handle *)(const void *)l)->end;
}

struct mem_end *mem_end_other(struct mem_end *e)
{
	return &e->conn->end[e == &e->conn->end[0]];
}

static uint32_t mem_emss(const struct llp *l)
{
	return mem_end_of(l)->conn->m->emss;
}

static void *mem_reserve(struct llp *l, uint32_t len, bool join)
{
	struct mem_end *e = mem_end_of(l);

	/* Of a failure nothing is known before it is told. */
	if (!e->conn->established || e->fin_queued)
		return NULL;
	if (e->tx.bytes != 0 && e->tx.bytes + len > e->conn->m->buffer) {
		e->tell_writable = true;
		return NULL;
	}
	mem_piece_free(e->reserved);
	e->reserved = mem_piece_new(len);
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
	struct mem_end *e = mem_end_of(l);
	struct piece *p = e->reserved, *last = mem_fifo_last(&e->tx);
	uint32_t emss = e->conn->m->emss;

	e->reserved = NULL;
	if (p == NULL || len > p->len)
		abort();
	if (sum != LLP_SUM_UNKNOWN &&
		load_be16(&(uint16_t){(uint16_t)sum}) != plain_sum(p->data, len, 0))
		abort(); /* it is believed */
	if (len == 0) {
		mem_piece_free(p);
		return;
	}
	p->len = len;
	e->queued += len;
	if (e->join && last != NULL && !last->pushed && last->len + len <= emss) {
		append(last, p);
		e->tx.bytes += len;
		mem_piece_free(p);
		return;
	}
	for (size_t at = 0; at < len; at += emss) { /* a record over the EMSS is cut */
		size_t n = len - at < emss ? len - at : emss;
		struct piece *seg = mem_piece_new(n);

		memcpy(seg->data, p->data + at, n);
		seg->pushed = at + n < len;
		mem_fifo_put(&e->tx, seg);
	}
	mem_piece_free(p);
}

static void mem_push(struct llp *l)
{
	for (struct piece *p = mem_end_of(l)->tx.head; p != NULL; p = p->next)
		p->pushed = true;
}

static void mem_resume(struct llp *l)
{
	struct mem_end *e = mem_end_of(l);

	if (e->showing)
		e->look_again = true;
	else
		mem_end_look_again(e);
}

static bool mem_took_ooo(const struct llp *l)
{
	for (const struct piece *p = mem_end_other(mem_end_of(l))->tx.head; p != NULL;
		p = p->next) {
		if (p->note != NULL)
			return true;
	}
	return false;
}

static size_t mem_unacked(const struct llp *l)
{
	return mem_end_of(l)->tx.bytes;
}

static uint64_t mem_queued(const struct llp *l)
{
	return mem_end_of(l)->queued;
}

static uint64_t mem_acked(const struct llp *l)
{
	return mem_end_of(l)->acked;
}

static void mem_watch_acks(struct llp *l)
{
	mem_end_of(l)->watched = true;
}

void mem_end_acknowledge(struct mem_end *e, size_t len)
{
	e->acked += len;
	e->tell_acked = e->watched;
}

static void mem_shutdown(struct llp *l)
{
	struct mem_end *e = mem_end_of(l);
	struct piece *fin;

	if (e->fin_queued)
		return;
	e->fin_queued = true;
	mem_push(l);
	fin = mem_piece_new(0);
	fin->fin = true;
	fin->pushed = true;
	mem_fifo_put(&e->tx, fin);
}

void mem_end_let_go(struct mem_end *e)
{
	free(e->handle);
	e->handle = NULL;
	mem_piece_free(e->reserved);
	e->reserved = NULL;
	mem_fifo_clear(&e->rx);
}

static void mem_abort(struct llp *l)
{
	struct mem_end *e = mem_end_of(l), *o = mem_end_other(e);

	mem_end_let_go(e);
	mem_fifo_clear(&e->tx);
	mem_fifo_clear(&o->tx);
	if (o->handle != NULL && o->fail == 0)
		o->fail = -ECONNRESET;
}

static void mem_orphan(struct llp *l)
{
	mem_end_of(l)->orphan = true;
}

static void mem_release(struct llp *l)
{
	struct mem_end *e = mem_end_of(l);

	if (!e->conn->established) {
		mem_abort(l);
		return;
	}
	mem_shutdown(l);
	mem_end_let_go(e);
}

static void mem_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	*local = mem_end_of(l)->local;
	*remote = mem_end_of(l)->remote;
}

static bool mem_takes_external(const struct llp *l)
{
	return mem_end_of(l)->conn->m->external;
}

static bool mem_commit_external(
	struct llp *l, uint32_t len, uint32_t head, const struct llp_external *e)
{
	struct piece *p = mem_end_of(l)->reserved;

	if (p == NULL || len > p->len || head + e->len > len || e->memory == NULL)
		abort();
	memcpy(p->data + head, e->from, e->len);
	memset(p->data + head + e->len, 0, len - head - e->len);
	mem_end_of(l)->conn->m->externals++;
	mem_commit(l, len, LLP_SUM_UNKNOWN);
	return true;
}

static bool mem_own_external(struct llp *l)
{
	mem_end_of(l)->conn->m->owned++;
	return true;
}

static void mem_set_tos(struct llp *l, uint8_t tos)
{
	mem_end_of(l)->tos = tos;
}

uint8_t llp_mem_tos(const struct llp *l)
{
	return mem_end_of(l)->tos;
}

static bool mem_protects(const struct llp *l)
{
	const struct mem_end *e = mem_end_of(l);

	return e->conn->m->protects && e->conn->established && e->handle != NULL;
}

static void mem_demand_addr(struct llp *l)
{
	mem_end_of(l)->demanded = true;
}

bool llp_mem_demanded(const struct llp *l)
{
	return mem_end_of(l)->demanded;
}

static const struct llp_ops mem_ops = {
	.emss = mem_emss,
	.reserve = mem_reserve,
	.sums = mem_sums,
	.commit = mem_commit,
	.takes_external = mem_takes_external,
	.commit_external = mem_commit_external,
	.own_external = mem_own_external,
	.push = mem_push,
	.resume = mem_resume,
	.took_ooo = mem_took_ooo,
	.unacked = mem_unacked,
	.queued = mem_queued,
	.acked = mem_acked,
	.watch_acks = mem_watch_acks,
	.shutdown = mem_shutdown,
	.abort = mem_abort,
	.orphan = mem_orphan,
	.release = mem_release,
	.endpoints = mem_endpoints,
	.set_tos = mem_set_tos,
	.protects = mem_protects,
	.demand_addr = mem_demand_addr,
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
		mem_fifo_init(&c->end[i].tx);
		mem_fifo_init(&c->end[i].rx);
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = c;
	return c;
}

void mem_conn_free(struct mem_conn *c)
{
	for (unsigned i = 0; i < 2; i++) {
		mem_end_let_go(&c->end[i]);
		mem_fifo_clear(&c->end[i].tx);
	}
	free(c);
}
