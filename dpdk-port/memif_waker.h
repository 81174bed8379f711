/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_waker.h
 * Interrupts for a memif's peer. write() to an eventfd waits while its counter is full, unless
 * O_NONBLOCK is set, and both are the peer's to change at any time (memif_eventfd.h); there is no
 * other write that does not wait. But the kernel itself adds to an eventfd at the end of an
 * asynchronous request, and never waits. So such a request is made, to read nothing. It is one
 * system call, as write() is.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_WAKER_H
#define DPDK_PORT_MEMIF_WAKER_H

#include <stdbool.h>

/** Zero-initialised: it wakes nobody. */
struct memif_waker {
	unsigned long context; /**< of the requests; 0: none */
	int file;              /**< an empty one of our own */
	unsigned ended;        /**< requests that the context still has the results of */
	bool writes;           /**< the process has no asynchronous requests: by write() */
};

/**
 * @return 0, also where it was open before; or -errno: -EAGAIN: other processes have all of
 * fs.aio-max-nr.
 */
int memif_waker_open(struct memif_waker *w);

/** Add 1 to eventfd @p fd. A full one stays as it is: who waits for it is awake. */
void memif_waker_wake(struct memif_waker *w, int fd);

/** Nothing is done where it is not open. */
void memif_waker_close(struct memif_waker *w);

#endif
