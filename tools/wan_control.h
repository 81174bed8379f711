/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wan_control.h
 * Changes to the paths while they run, a line each from a descriptor: "delay=80ms,loss=1%" for
 * both directions, "a-to-b rate=100m" for one.
 */
#ifndef TOOLS_WAN_CONTROL_H
#define TOOLS_WAN_CONTROL_H

#include "wan/bridge.h"

#include <stddef.h>

struct wan_control {
	int fd; /**< -1 after its end */
	struct wan_bridge *bridge;
	struct wan_path_config path[2]; /**< as written, before wan_options_finish() */
	size_t len;
	char line[512];
};

/** Read what has come, without waiting, and do it. A wrong line gets a sentence on stderr. */
void wan_control_read(struct wan_control *c);

#endif
