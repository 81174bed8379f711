/* SPDX-License-Identifier: BSD-2-Clause */
/** @file llp_mem_priv.h Private to the in-memory LLP. */
#ifndef TESTS_SUPPORT_LLP_MEM_PRIV_H
#define TESTS_SUPPORT_LLP_MEM_PRIV_H

#include "base/container_of.h"
#include "support/llp_mem.h"

#include <stdlib.h>

struct piece {
	struct piece *next;
	uint8_t *data; /* an allocation of exactly len bytes, so that overruns are seen */
	size_t len;
	size_t at;   /* bytes of it that are done with */
	bool pushed; /* sent: may be delivered, nothing joins it any more */
	bool fin;
	bool offered;          /* by llp_mem_ooo() */
	struct llp_note *note; /* its receiver took it then: there is no data any more */
};

struct fifo {
	struct piece *head, **tail;
	size_t bytes;
};

struct mem_end;

struct handle {
	struct llp llp;
	struct mem_end *end;
};

struct mem_end {
	struct mem_conn *conn;
	struct handle *handle; /* NULL: the user is through with it */
	struct ip_endpoint local, remote;
	struct fifo tx, rx;
	uint64_t queued, acked; /* bytes: what was delivered is acknowledged */
	bool watched, tell_acked;
	size_t need;
	uint8_t tos;
	bool demanded; /* llp_demand_addr() */
	struct piece *reserved;
	bool join;
	bool tell_connected, tell_writable, look_again, hold;
	bool showing; /* inside readable() */
	bool fin_queued, fin_delivered, eof;
	bool orphan;
	bool told_eof_waits; /* since it was shown something */
	int fail;            /* closed() with it at the next step */
};

struct mem_conn {
	struct mem_conn *next;
	struct llp_mem *m;
	bool established;
	struct mem_end end[2];
};

struct llp_listener {
	struct llp_listener *next;
	struct host *host;
	struct ip_endpoint local;
	unsigned flags; /* enum llp_port_flags */
	llp_accept_fn *accept;
	void *user;
};

struct reservation {
	struct reservation *next;
	struct ip_endpoint local;
	unsigned flags;
};

struct host {
	struct llp_stack stack;
	struct llp_mem *m;
	struct ip_addr addr;
	bool silent;
	uint16_t next_port;
	struct llp_listener *listeners;
	struct reservation *reservations;
};

struct llp_mem {
	struct host host[LLP_MEM_HOSTS];
	struct mem_conn *conns;
	uint32_t emss;
	size_t segment, buffer;
	size_t unread;   /* 0: any */
	uint32_t random; /* 0: fixed segments */
	unsigned segments;
	bool external, protects;
	unsigned externals, owned, memories;
};

extern const struct llp_stack_ops llp_mem_stack_ops;

static inline void *must(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

static inline bool is_any(const struct ip_addr *a)
{
	static const struct ip_addr any6, any4 = {.b = {[10] = 0xff, [11] = 0xff}};

	return ip_addr_equal(a, &any6) || ip_addr_equal(a, &any4);
}

/* llp_mem_piece.c */
/** A piece of @p len bytes, which are whatever malloc() gives. */
struct piece *mem_piece_new(size_t len);
void mem_piece_free(struct piece *p);
void mem_fifo_init(struct fifo *f);
void mem_fifo_put(struct fifo *f, struct piece *p);
void mem_fifo_drop_head(struct fifo *f);
/** Take @p len bytes, or all, from its front. */
void mem_fifo_consume(struct fifo *f, size_t len);
void mem_fifo_clear(struct fifo *f);
/** @return NULL: it is empty. */
struct piece *mem_fifo_last(struct fifo *f);

/* llp_mem_conn.c */
struct mem_end *mem_end_of(const struct llp *l);
struct mem_end *mem_end_other(struct mem_end *e);
/** Its user is through with it. */
void mem_end_let_go(struct mem_end *e);
/** @p len more bytes of @p e have arrived. */
void mem_end_acknowledge(struct mem_end *e, size_t len);
void mem_conn_free(struct mem_conn *c);

/* llp_mem_event.c */
/** Show its user again what that left unread, or tell it that the connection is over. */
void mem_end_look_again(struct mem_end *e);
/** What is left of a piece, as its receiver is shown it. */
struct llp_iov mem_piece_iov(const struct handle *h, const struct piece *p);

/** The host that has this address, or NULL. */
struct host *llp_mem_host_by_addr(struct llp_mem *m, const struct ip_addr *a);

/** A new handle for one end of a connection. */
struct llp *llp_mem_handle(struct mem_end *e);

/** A new connection, not established, without handles. */
struct mem_conn *llp_mem_conn(struct llp_mem *m);

#endif
