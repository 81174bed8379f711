/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wan_control.h
 * Reads changes to the running paths from a descriptor, one a line: "delay=80ms,loss=1%" for both
 * directions, "a-to-b rate=100m" for one.
 */
#ifndef TOOLS_WAN_CONTROL_H
#define TOOLS_WAN_CONTROL_H

#include "wan/bridge.h"

#include <stddef.h>

struct wan_control {
	int fd; /**< -1 after its end */
	struct wan_bridge *bridge;
	struct wan_path_config path[2]; /**< as given, before wan_options_finish() */
	size_t len;
	char line[512];
};

/** Read and execute the available lines, without waiting. Errors are reported on stderr. */
void wan_control_read(struct wan_control *c);

#endif
