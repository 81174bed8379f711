/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/buffer.h"

#include <stdlib.h>

_Static_assert((SOCK_BUFFER & (SOCK_BUFFER - 1)) == 0, "indices wrap by a mask");

struct sock_buffer *sock_buffer_take(struct sock_buffers *all)
{
	struct sock_buffer *b = all->spare;

	if (b) {
		all->spare = b->next;
		all->count--;
	} else {
		b = malloc(sizeof *b);
		if (!b)
			return NULL;
	}
	b->head = b->len = 0;
	return b;
}

void sock_buffer_give(struct sock_buffers *all, struct sock_buffer *b)
{
	if (!b)
		return;
	if (all->count == SOCK_BUFFERS_SPARE) {
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

/** The ring's bytes from index @p at, @p len of them. */
static unsigned sock_buffer_pieces(
	struct sock_buffer *b, uint32_t at, uint32_t len, struct iovec v[2])
{
	uint32_t first = SOCK_BUFFER - at;

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
	return sock_buffer_pieces(
		b, (b->head + b->len) & (SOCK_BUFFER - 1), SOCK_BUFFER - b->len, v);
}

unsigned sock_buffer_content(struct sock_buffer *b, struct iovec v[2])
{
	return sock_buffer_pieces(b, b->head, b->len, v);
}

void sock_buffer_consume(struct sock_buffer *b, size_t n)
{
	b->len -= (uint32_t)n;
	b->head = b->len ? (b->head + (uint32_t)n) & (SOCK_BUFFER - 1) : 0;
}
