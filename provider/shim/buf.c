/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/shim/buf.h"

#include "provider/shim/forward.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What programs hold as a `struct ibv_buf`, of which they know nothing. */
struct buf {
	const struct ibv_pd *pd;
	void *addr;
	size_t size;
	struct buf *next;
};

/* A handle does not name its owner, so ours are kept. */
static struct buf *shim_bufs;
static pthread_mutex_t shim_bufs_lock = PTHREAD_MUTEX_INITIALIZER;

void buf_forget_locks(void)
{
	pthread_mutex_init(&shim_bufs_lock, NULL);
}

/** With the lock held. @return the link that points to it, which is one to NULL for others' */
static struct buf **buf_find(const struct ibv_buf *handle)
{
	struct buf **p = &shim_bufs;

	while (*p && (const void *)*p != (const void *)handle)
		p = &(*p)->next;
	return p;
}

bool buf_is_ours(const struct ibv_buf *handle)
{
	bool found;

	pthread_mutex_lock(&shim_bufs_lock);
	found = *buf_find(handle) != NULL;
	pthread_mutex_unlock(&shim_bufs_lock);
	return found;
}

/* Lengths are compared by what is left, so that none wraps. */
static bool buf_holds(const struct buf *b, const void *addr, size_t length)
{
	uintptr_t from = (uintptr_t)b->addr, at = (uintptr_t)addr;

	return at >= from && at - from <= b->size && length <= b->size - (at - from);
}

int buf_verify(
	const struct ibv_buf *handle, const struct ibv_pd *pd, const void *addr, size_t length)
{
	const struct buf *b;
	bool good;

	pthread_mutex_lock(&shim_bufs_lock);
	b = *buf_find(handle);
	good = b && b->pd == pd && buf_holds(b, addr, length);
	pthread_mutex_unlock(&shim_bufs_lock);
	return good ? 0 : EINVAL;
}

static void *buf_alloc(const struct ibv_pd *pd, size_t size, struct ibv_buf **handle)
{
	struct buf *b = calloc(1, sizeof *b);
	int error = !b ? ENOMEM : posix_memalign(&b->addr, (size_t)sysconf(_SC_PAGESIZE), size);

	if (error != 0) {
		free(b);
		errno = error;
		return NULL;
	}
	b->pd = pd;
	b->size = size;
	pthread_mutex_lock(&shim_bufs_lock);
	b->next = shim_bufs;
	shim_bufs = b;
	pthread_mutex_unlock(&shim_bufs_lock);
	*handle = (struct ibv_buf *)(void *)b;
	return b->addr;
}

void *shim_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **handle)
{
	__typeof__(&shim_alloc_buf) real;

	if (forward_owns(pd->context)) {
		if (!shim_is_orphan())
			return buf_alloc(pd, size, handle);
		forward_gone();
		return NULL;
	}
	real = REAL_AS(shim_alloc_buf, "ibv_alloc_buf");
	if (real)
		return real(pd, size, handle);
	errno = ENOSYS;
	return NULL;
}

void shim_free_buf(struct ibv_buf *handle)
{
	__typeof__(&shim_free_buf) real;
	struct buf **p, *b;

	pthread_mutex_lock(&shim_bufs_lock);
	p = buf_find(handle);
	b = *p;
	if (b)
		*p = b->next;
	pthread_mutex_unlock(&shim_bufs_lock);
	if (b) {
		free(b->addr);
		free(b);
		return;
	}
	real = REAL_AS(shim_free_buf, "ibv_free_buf");
	if (real && handle)
		real(handle);
}

int shim_export_buf_dmabuf_fd(struct ibv_buf *handle)
{
	__typeof__(&shim_export_buf_dmabuf_fd) real = NULL;

	if (buf_is_ours(handle))
		errno = ENODATA; /* ibv_alloc_buf(3): not of a dma-buf */
	else if ((real = REAL_AS(shim_export_buf_dmabuf_fd, "ibv_export_buf_dmabuf_fd")) == NULL)
		errno = ENOSYS;
	return !real ? -1 : real(handle);
}
