/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mempool_ops.h DPDK without one of its drivers of mempools. */
#ifndef TESTS_SUPPORT_MEMPOOL_OPS_H
#define TESTS_SUPPORT_MEMPOOL_OPS_H

#include <rte_mempool.h>
#include <string.h>

/** As in an application that has left the driver of mempools @p name out; NULL: it has all. */
static inline void mempool_ops_leave_out(const char *name)
{
	static struct rte_mempool_ops *without;
	static char kept;

	if (without)
		without->name[0] = kept;
	without = NULL;
	for (unsigned i = 0; name && i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			without = &rte_mempool_ops_table.ops[i];
	if (!without)
		return;
	kept = without->name[0];
	without->name[0] = '-';
}

#endif
