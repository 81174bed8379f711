/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem_priv.h"

struct piece *mem_piece_new(size_t len)
{
	struct piece *p = must(calloc(1, sizeof *p));

	p->data = must(malloc(len != 0 ? len : 1));
	p->len = len;
	return p;
}

void mem_piece_free(struct piece *p)
{
	if (p != NULL) {
		free(p->data);
		free(p->note);
	}
	free(p);
}

void mem_fifo_init(struct fifo *f)
{
	f->head = NULL;
	f->tail = &f->head;
	f->bytes = 0;
}

void mem_fifo_put(struct fifo *f, struct piece *p)
{
	p->next = NULL;
	*f->tail = p;
	f->tail = &p->next;
	f->bytes += p->len;
}

void mem_fifo_drop_head(struct fifo *f)
{
	struct piece *p = f->head;

	f->head = p->next;
	if (f->head == NULL)
		f->tail = &f->head;
	f->bytes -= p->len - p->at;
	mem_piece_free(p);
}

void mem_fifo_consume(struct fifo *f, size_t len)
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
		mem_fifo_drop_head(f);
	}
}

void mem_fifo_clear(struct fifo *f)
{
	while (f->head != NULL)
		mem_fifo_drop_head(f);
}

struct piece *mem_fifo_last(struct fifo *f)
{
	return f->head == NULL ? NULL : container_of(f->tail, struct piece, next);
}
