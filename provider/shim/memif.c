/* SPDX-License-Identifier: BSD-2-Clause */
/* sendmsg(), for memif's driver: dpdk-port/memif_send.h has the reason. */
#include "dpdk-port/memif_send.h"
#include "provider/shim/shim.h"

typedef ssize_t sendmsg_fn(int, const struct msghdr *, int);

SHIM_EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	static shim_slot real;
	ssize_t n = ((sendmsg_fn *)shim_real_libc(&real, "sendmsg"))(fd, m, flags);

	if (n < 0 && shim_is_below(__builtin_return_address(0)))
		return memif_send_told(fd, m, n);
	return n;
}
