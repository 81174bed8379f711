/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_eventfd.h
 * The descriptor of a ring's interrupt is the client's, which makes it and sends it, and both ends
 * have it then. The peer may send anything, take O_NONBLOCK off, and empty or fill the counter
 * between any two of our calls: a read() or write() may wait for ever. So what is no eventfd is
 * refused, and its counter is neither read nor written to by us (for the latter see memif_waker.h).
 */
#ifndef DPDK_PORT_MEMIF_EVENTFD_H
#define DPDK_PORT_MEMIF_EVENTFD_H

/** @return 0; -EBADFD: @p fd is no eventfd; -ENOSYS: /proc is not there to tell. The file is not
 * asked. */
int memif_eventfd_check(int fd);

/**
 * A descriptor that is readable after each write to the eventfd @p fd, until the write is taken:
 * that of an epoll instance, which nobody else has.
 * @return it, or -errno. The caller closes it.
 */
int memif_eventfd_watch(int fd);

/** Take the writes that @p watch, of memif_eventfd_watch(), tells of. It does not wait. */
void memif_eventfd_take(int watch);

#endif
