/* SPDX-License-Identifier: BSD-2-Clause */
/** @file link.h Programs on a port alone wait until the other end is there. */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include "dpdk-port/port.h"

#include <unistd.h>

#define LINK_WATCHES  1000 /**< so many, a fiftieth of a second apart */
#define LINK_WATCH_US 20000

/** @return false: the link of @p p has not come up. */
static inline bool link_wait(struct port *p)
{
	for (unsigned i = 0; i < LINK_WATCHES; i++) {
		if (port_watch(p))
			return true;
		usleep(LINK_WATCH_US);
	}
	return false;
}

#endif
