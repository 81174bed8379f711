/* SPDX-License-Identifier: BSD-2-Clause */
/** @file show.h A line for each start-up frame, FPDU and port mapper message of a capture. */
#ifndef PCAP_SHOW_H
#define PCAP_SHOW_H

#include "pcap/select.h"

#include <stdio.h>

struct show {
	FILE *out;
	bool json;
	struct select_span span; /**< of what is shown */
};

/** For follow_init(), with a struct show. */
extern const struct connection_ops show_ops;

#endif
