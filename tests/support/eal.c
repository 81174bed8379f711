/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/eal.h"

#include <rte_eal.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_eal_init(void)
{
	test_eal_init_with(256);
}

void test_eal_init_with(unsigned megabytes)
{
	static int done;
	char size[16];
	char *argv[] = {"test", "--no-huge", "-m", size, "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=error", "--iova-mode=va", "-l", "0", NULL};
	cpu_set_t cpus;

	if (done)
		return;
	sched_getaffinity(0, sizeof cpus, &cpus);
	snprintf(size, sizeof size, "%u", megabytes);
	if (rte_eal_init(sizeof argv / sizeof argv[0] - 1, argv) < 0) {
		fprintf(stderr, "rte_eal_init failed\n");
		exit(1);
	}
	/* The EAL binds this thread to its CPU, where all tests would wait for each other. */
	sched_setaffinity(0, sizeof cpus, &cpus);
	done = 1;
}

struct rte_mempool *test_pool(const char *name, unsigned n, unsigned room)
{
	struct rte_mempool *p =
		rte_pktmbuf_pool_create(name, n, 0, 0, room + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

	if (!p) {
		fprintf(stderr, "no memory for pool %s\n", name);
		exit(1);
	}
	return p;
}

unsigned test_pool_missing(const struct rte_mempool *pool)
{
	return rte_mempool_in_use_count(pool);
}

struct rte_mbuf *test_packet(struct rte_mempool *pool, const void *bytes, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *data = m ? rte_pktmbuf_append(m, len) : NULL;

	if (!data) {
		fprintf(stderr, "test_packet: no mbuf of %u bytes\n", len);
		exit(1);
	}
	memcpy(data, bytes, len);
	return m;
}
