/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ucma.h
 * The kernel's rdma_cm character device, answered in user space under stock librdmacm: write()
 * carries commands (<rdma/rdma_user_cm.h>, ABI 4), a pollable descriptor tells of events.
 */
#ifndef PROVIDER_CM_UCMA_H
#define PROVIDER_CM_UCMA_H

#include "rnic/rnic.h"

#include <stddef.h>
#include <sys/types.h>

struct ucma;

/**
 * The device side: what commands act on.
 * @param guid node GUID in network byte order, by which librdmacm matches the verbs device.
 * @param qp_find from the number that programs know to the QP; NULL when unknown.
 */
int ucma_create(struct rnic *r, uint64_t guid, struct ucma **out);

/**
 * Open a channel: an EFD_SEMAPHORE eventfd, so that O_NONBLOCK, poll, select and epoll are native.
 * @return the descriptor, or -1 with errno.
 */
int ucma_open(struct ucma *u, int flags);

/** One command, as write() to the device would take it. @return @p n, or -1 with errno. */
ssize_t ucma_write(struct ucma *u, int fd, const void *buf, size_t n);

/** The descriptor is about to be closed: destroy its ids. The caller closes it. */
void ucma_close(struct ucma *u, int fd);

#endif
