/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wan_report.h What uiwarp wan says of the paths: text for people, one JSON object a line.
 */
#ifndef TOOLS_WAN_REPORT_H
#define TOOLS_WAN_REPORT_H

#include "wan/bridge.h"

/** What the last report said, for rates since then. All zero at first. */
struct wan_report {
	bool json;
	uint64_t at; /**< ns */
	uint64_t frames[2], bytes[2];
};

/** That frames are being carried, and how. */
void wan_report_ready(
	const struct wan_report *r, struct wan_bridge *b, const char *const device[2]);

/** What passed since the last call. */
void wan_report_interval(struct wan_report *r, struct wan_bridge *b);

/** Everything since the start. */
void wan_report_totals(const struct wan_report *r, struct wan_bridge *b);

#endif
