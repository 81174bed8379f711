/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/buffer.h"

#include <stdlib.h>
#include <string.h>

struct sock_buffer *sock_buffer_new(uint32_t size)
{
	struct sock_buffer *b = malloc(sizeof *b + size);

	if (!b)
		return NULL;
	b->size = size;
	b->head = b->len = 0;
	return b;
}

struct sock_buffer *sock_buffer_take(struct sock_buffers *all)
{
	struct sock_buffer *b = all->spare;

	if (!b)
		return sock_buffer_new(SOCK_BUFFER);
	all->spare = b->next;
	all->count--;
	b->head = b->len = 0;
	return b;
}

void sock_buffer_give(struct sock_buffers *all, struct sock_buffer *b)
{
	if (b->size < SOCK_BUFFER || all->count == SOCK_BUFFERS_SPARE) {
		free(b);
		return;
	}
	b->next = all->spare;
	all->spare = b;
	all->count++;
}

void sock_buffers_fini(struct sock_buffers *all)
{
	while (all->spare) {
		struct sock_buffer *b = all->spare;

		all->spare = b->next;
		free(b);
	}
	all->count = 0;
}

static uint32_t sock_buffer_index(const struct sock_buffer *b, uint32_t at)
{
	return at < b->size ? at : at - b->size;
}

/** The ring's bytes from index @p at, @p len of them. */
static unsigned sock_buffer_pieces(
	struct sock_buffer *b, uint32_t at, uint32_t len, struct iovec v[2])
{
	uint32_t first = b->size - at;

	if (len == 0)
		return 0;
	v[0] = (struct iovec){b->data + at, len < first ? len : first};
	if (len <= first)
		return 1;
	v[1] = (struct iovec){b->data, len - first};
	return 2;
}

unsigned sock_buffer_space(struct sock_buffer *b, struct iovec v[2])
{
	return sock_buffer_pieces(b, sock_buffer_index(b, b->head + b->len), b->size - b->len, v);
}

unsigned sock_buffer_content(struct sock_buffer *b, struct iovec v[2])
{
	return sock_buffer_pieces(b, b->head, b->len, v);
}

void sock_buffer_consume(struct sock_buffer *b, size_t n)
{
	b->len -= (uint32_t)n;
	b->head = b->len ? sock_buffer_index(b, b->head + (uint32_t)n) : 0;
}

void sock_buffer_move(struct sock_buffer *to, struct sock_buffer *from)
{
	struct iovec v[2];
	unsigned n = sock_buffer_content(from, v);

	for (unsigned i = 0; i < n; i++) {
		memcpy(to->data + to->len, v[i].iov_base, v[i].iov_len);
		to->len += (uint32_t)v[i].iov_len;
	}
	from->head = from->len = 0;
}
