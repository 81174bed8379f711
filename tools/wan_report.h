/* SPDX-License-Identifier: BSD-2-Clause */
/** @file wan_report.h The output of uiwarp wan: text, or one JSON object a line. */
#ifndef TOOLS_WAN_REPORT_H
#define TOOLS_WAN_REPORT_H

#include "wan/bridge.h"

/** The figures of the last report, for rates. Zero-initialised. */
struct wan_report {
	bool json;
	uint64_t at; /**< ns */
	uint64_t frames[2], bytes[2];
};

/** Report the start, with the ports and paths. */
void wan_report_ready(
	const struct wan_report *r, struct wan_bridge *b, const char *const device[2]);

/** Report the frames since the last call. */
void wan_report_interval(struct wan_report *r, struct wan_bridge *b);

/** Report all frames since the start. */
void wan_report_totals(const struct wan_report *r, struct wan_bridge *b);

#endif
