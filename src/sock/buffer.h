/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file buffer.h
 * The buffers between the kernel's sockets and MPA. A connection has one for each direction only as
 * long as there is something in it, so idle connections have none.
 */
#ifndef SOCK_BUFFER_H
#define SOCK_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/** Bytes in a whole buffer; more than the largest record takes. */
#define SOCK_BUFFER (256u * 1024)

/** Spare buffers that are kept. */
#define SOCK_BUFFERS_SPARE 16

struct sock_buffer {
	struct sock_buffer *next; /**< while it is spare */
	uint32_t size;            /**< SOCK_BUFFER, or less */
	uint32_t head;            /**< index of the first byte */
	uint32_t len;
	uint8_t data[];
};

/** Last in, first out: the one that is taken is in the caches. */
struct sock_buffers {
	struct sock_buffer *spare;
	unsigned count;
};

/** A whole empty buffer. @return NULL: no memory. */
struct sock_buffer *sock_buffer_take(struct sock_buffers *all);

/** An empty one of @p size bytes. @return NULL: no memory. */
struct sock_buffer *sock_buffer_new(uint32_t size);

/** Give back @p b. */
void sock_buffer_give(struct sock_buffers *all, struct sock_buffer *b);

/** Free the spare ones. */
void sock_buffers_fini(struct sock_buffers *all);

/* As a ring, for what comes. */

/** The free bytes. @return pieces, 0 to 2. */
unsigned sock_buffer_space(struct sock_buffer *b, struct iovec v[2]);

/** The bytes in it. @return pieces, 0 to 2. */
unsigned sock_buffer_content(struct sock_buffer *b, struct iovec v[2]);

/** Drop @p n bytes at the front. An empty buffer begins anew. */
void sock_buffer_consume(struct sock_buffer *b, size_t n);

/** All that is in @p from to the empty @p to, which has the room. */
void sock_buffer_move(struct sock_buffer *to, struct sock_buffer *from);

/* Without a wrap, for what goes: a record is contiguous. */

/** Bytes that fit behind the last. */
static inline uint32_t sock_buffer_tail_room(const struct sock_buffer *b)
{
	return b->size - b->head - b->len;
}

static inline uint8_t *sock_buffer_tail(struct sock_buffer *b)
{
	return b->data + b->head + b->len;
}

#endif
