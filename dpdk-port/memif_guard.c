/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_guard.h"

#include "dpdk-port/eal.h"
#include "dpdk-port/memif_control.h"

static struct memif_control memif_guard;

ssize_t memif_guard_received(int fd, const struct msghdr *m, ssize_t n)
{
	return memif_control_received(&memif_guard, fd, m, n, eal_log_memif_refused);
}

void memif_guard_sent(int fd, const struct msghdr *m)
{
	memif_control_sent(&memif_guard, fd, m);
}

void memif_guard_sweep(void)
{
	memif_control_sweep(&memif_guard);
}
