/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of DPDK's, in front of libc: dpdk-port/memif_send.h, memif_dontwait.h, memif_control.h and
 * fd_wait.h have the reasons. */
#include "dpdk-port/fd_wait.h"
#include "dpdk-port/memif_dontwait.h"
#include "dpdk-port/memif_file.h"
#include "dpdk-port/memif_send.h"
#include "provider/shim/shim.h"

#include <sys/epoll.h>

typedef ssize_t sendmsg_fn(int, const struct msghdr *, int);
typedef ssize_t recvmsg_fn(int, struct msghdr *, int);
typedef int accept_fn(int, struct sockaddr *, socklen_t *);
typedef memif_dontwait_connect_fn connect_fn;
typedef int epoll_create_fn(int);
typedef int memfd_create_fn(const char *, unsigned);

static void driver_tell_waiting(void)
{
	const struct provider *p = shim_running();

	if (p)
		p->descriptor_wanted();
}

static ssize_t driver_receive(recvmsg_fn *fn, int fd, struct msghdr *m, int flags)
{
	const struct provider *p = shim_running();
	ssize_t n = fn(fd, m, memif_dontwait_flags(fd, flags));

	if (memif_dontwait_is_idle(fd, m, n))
		return MEMIF_SEND_OCTETS;
	return p ? p->memif_received(fd, m, n) : n;
}

static void driver_sends(int fd, const struct msghdr *m)
{
	const struct provider *p = shim_running();

	if (p)
		p->memif_sent(fd, m);
}

SHIM_EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	static shim_slot real;
	sendmsg_fn *fn = (sendmsg_fn *)shim_real_libc(&real, "sendmsg");
	ssize_t n;

	if (!memif_send_is_message(m) || !shim_is_below(__builtin_return_address(0)))
		return fn(fd, m, flags);
	driver_sends(fd, m);
	n = fn(fd, m, memif_dontwait_flags(fd, flags));
	return memif_send_told(fd, m, n);
}

SHIM_EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	static shim_slot real;
	recvmsg_fn *fn = (recvmsg_fn *)shim_real_libc(&real, "recvmsg");

	if (!fd_wait_takes_one(m) || !shim_is_below(__builtin_return_address(0)))
		return fn(fd, m, flags);
	fd_wait_for_one(fd, driver_tell_waiting);
	return memif_send_is_message(m) ? driver_receive(fn, fd, m, flags) : fn(fd, m, flags);
}

SHIM_EXPORT int accept(int fd, __SOCKADDR_ARG addr, socklen_t *len)
{
	static shim_slot real;
	int rc = ((accept_fn *)shim_real_libc(&real, "accept"))(fd, addr.__sockaddr__, len);

	if (rc < 0 && shim_is_below(__builtin_return_address(0)))
		return fd_wait_accepted(rc, driver_tell_waiting);
	return rc;
}

SHIM_EXPORT int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t len)
{
	static shim_slot real;
	connect_fn *fn = (connect_fn *)shim_real_libc(&real, "connect");

	/* In this order: to find the caller's library can take far longer. */
	if (!memif_send_is_channel(fd) || !shim_is_below(__builtin_return_address(0)))
		return fn(fd, to.__sockaddr__, len);
	return memif_dontwait_connect(fn, fd, to.__sockaddr__, len);
}

SHIM_EXPORT int epoll_create(int size)
{
	static shim_slot real;
	epoll_create_fn *fn = (epoll_create_fn *)shim_real_libc(&real, "epoll_create");

	if (shim_is_below(__builtin_return_address(0)))
		return fd_wait_epoll_create(fn, size, driver_tell_waiting);
	return fn(size);
}

SHIM_EXPORT int memfd_create(const char *name, unsigned flags)
{
	static shim_slot real;

	if (shim_is_below(__builtin_return_address(0)))
		flags = memif_file_flags(flags);
	return ((memfd_create_fn *)shim_real_libc(&real, "memfd_create"))(name, flags);
}
