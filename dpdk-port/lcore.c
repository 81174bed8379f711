/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/lcore.h"

unsigned lcore_reserve(void)
{
	unsigned had = lcore_enter(LCORE_ID_ANY);
	unsigned id = LCORE_ID_ANY;

	if (rte_thread_register() == 0)
		id = rte_lcore_id();
	lcore_leave(had);
	return id;
}

void lcore_release(unsigned id)
{
	unsigned had;

	if (id == LCORE_ID_ANY)
		return;
	had = lcore_enter(id);
	rte_thread_unregister();
	lcore_leave(had);
}
