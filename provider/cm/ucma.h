/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ucma.h
 * The kernel's rdma_cm character device, in user space, for stock librdmacm. write() carries
 * commands (<rdma/rdma_user_cm.h>, ABI 4). The descriptor becomes readable with events.
 */
#ifndef PROVIDER_CM_UCMA_H
#define PROVIDER_CM_UCMA_H

#include "rnic/rnic.h"

#include <stddef.h>
#include <sys/types.h>

struct ucma;

/**
 * Create the device side.
 * @param guid node GUID in network byte order. librdmacm finds the verbs device by it.
 */
int ucma_create(struct rnic *r, uint64_t guid, struct ucma **out);

/** @return the index of our GID that is @p a; negative: none is. */
typedef int ucma_gid_fn(void *ctx, const struct ip_addr *a);

/** Before any channel is open: events of UD ids name our GIDs by index. Without it, index 0. */
void ucma_set_gids(struct ucma *u, ucma_gid_fn *fn, void *ctx);

/**
 * Open a channel: an eventfd, so that O_NONBLOCK, poll, select and epoll are native.
 * @return the descriptor, or -1 with errno.
 */
int ucma_open(struct ucma *u, int flags);

/** Execute a command, as write() to the device does. @return @p n, or -1 with errno. */
ssize_t ucma_write(struct ucma *u, int fd, const void *buf, size_t n);

/** exit() has stopped the RNIC: threads that wait for events do not wait for ever. */
void ucma_leave(struct ucma *u);

/** The descriptor is about to be closed: destroy its ids. The caller closes it. */
void ucma_close(struct ucma *u, int fd);

#endif
