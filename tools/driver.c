/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of DPDK's, in front of libc: dpdk-port/memif_send.h, memif_dontwait.h, memif_control.h and
 * fd_wait.h have the reasons. */
#include "dpdk-port/eal.h"
#include "dpdk-port/fd_wait.h"
#include "dpdk-port/memif_dontwait.h"
#include "dpdk-port/memif_file.h"
#include "dpdk-port/memif_guard.h"
#include "dpdk-port/memif_send.h"

#include <dlfcn.h>
#include <stdatomic.h>

typedef ssize_t sendmsg_fn(int, const struct msghdr *, int);
typedef ssize_t recvmsg_fn(int, struct msghdr *, int);
typedef int accept_fn(int, struct sockaddr *, socklen_t *);
typedef memif_dontwait_connect_fn connect_fn;
typedef int epoll_create_fn(int);
typedef int memfd_create_fn(const char *, unsigned);

/* The program exports them to its libraries, under the names that they look for, in front of libc.
 */
#define DRIVER_EXPORT __attribute__((visibility("default")))
ssize_t sendmsg_for_driver(int fd, const struct msghdr *m, int flags) __asm__("sendmsg");
ssize_t recvmsg_for_driver(int fd, struct msghdr *m, int flags) __asm__("recvmsg");
int accept_for_driver(int fd, struct sockaddr *addr, socklen_t *len) __asm__("accept");
int connect_for_driver(int fd, const struct sockaddr *to, socklen_t len) __asm__("connect");
int epoll_create_for_driver(int size) __asm__("epoll_create");
int memfd_create_for_driver(const char *name, unsigned flags) __asm__("memfd_create");

/** The real function of this name, looked up once. */
#define DRIVER_REAL(name)                                             \
	({                                                            \
		static name##_fn *_Atomic real_;                      \
		if (!real_)                                           \
			real_ = (name##_fn *)dlsym(RTLD_NEXT, #name); \
		atomic_load(&real_);                                  \
	})

DRIVER_EXPORT ssize_t sendmsg_for_driver(int fd, const struct msghdr *m, int flags)
{
	memif_guard_sent(fd, m);
	flags = memif_dontwait_flags(fd, flags);
	return memif_send_told(fd, m, DRIVER_REAL(sendmsg)(fd, m, flags));
}

DRIVER_EXPORT ssize_t recvmsg_for_driver(int fd, struct msghdr *m, int flags)
{
	ssize_t n;

	if (!fd_wait_takes_one(m))
		return DRIVER_REAL(recvmsg)(fd, m, flags);
	fd_wait_for_one(fd, eal_log_descriptor_wanted);
	if (!memif_send_is_message(m))
		return DRIVER_REAL(recvmsg)(fd, m, flags);
	n = DRIVER_REAL(recvmsg)(fd, m, memif_dontwait_flags(fd, flags));
	return memif_dontwait_is_idle(fd, m, n) ? MEMIF_SEND_OCTETS
						: memif_guard_received(fd, m, n);
}

DRIVER_EXPORT int accept_for_driver(int fd, struct sockaddr *addr, socklen_t *len)
{
	return fd_wait_accepted(DRIVER_REAL(accept)(fd, addr, len), eal_log_descriptor_wanted);
}

DRIVER_EXPORT int connect_for_driver(int fd, const struct sockaddr *to, socklen_t len)
{
	return memif_dontwait_connect(DRIVER_REAL(connect), fd, to, len);
}

DRIVER_EXPORT int epoll_create_for_driver(int size)
{
	return fd_wait_epoll_create(DRIVER_REAL(epoll_create), size, eal_log_descriptor_wanted);
}

DRIVER_EXPORT int memfd_create_for_driver(const char *name, unsigned flags)
{
	return DRIVER_REAL(memfd_create)(name, memif_file_flags(flags));
}
