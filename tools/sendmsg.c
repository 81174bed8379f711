/* SPDX-License-Identifier: BSD-2-Clause */
/* sendmsg(), for memif's driver: dpdk-port/memif_send.h has the reason. */
#include "dpdk-port/memif_send.h"

#include <dlfcn.h>

typedef ssize_t sendmsg_fn(int, const struct msghdr *, int);

/* The program exports it to its libraries, under the name that they look for, in front of libc. */
ssize_t sendmsg_for_driver(int fd, const struct msghdr *m, int flags) __asm__("sendmsg");

__attribute__((visibility("default"))) ssize_t sendmsg_for_driver(
	int fd, const struct msghdr *m, int flags)
{
	static sendmsg_fn *_Atomic real;

	if (!real)
		real = (sendmsg_fn *)dlsym(RTLD_NEXT, "sendmsg");
	return memif_send_told(fd, m, real(fd, m, flags));
}
