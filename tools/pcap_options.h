/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pcap_options.h The command line of uiwarp pcap. */
#ifndef TOOLS_PCAP_OPTIONS_H
#define TOOLS_PCAP_OPTIONS_H

#include "pcap/follow.h"
#include "pcap/frame_filter.h"
#include "pcap/keylog.h"
#include "pcap/severities.h"

#include <argp.h>

struct pcap_options {
	bool json, all, each, responder;
	const char *plot, *html;
	const char *interface, *write; /**< live: where from, and the file that keeps it */
	unsigned duration;             /**< s; 0: until a signal */
	struct follow_config follow;
	struct select select;
	struct select_span span;
	struct frame_filter filter; /**< without an expression: none */
	struct severities severities;
	const char *keylog_path; /**< NULL: none */
	struct keylog keylog;
	enum severity least; /**< that is told of */
	char **files;
	int num_files;
	uint64_t connections; /**< that were checked */
};

/** For struct argp, with a struct pcap_options as its input. A wrong line ends the program. */
error_t pcap_options_parse(int key, char *arg, struct argp_state *state);

extern const struct argp_option pcap_options_of_check[], pcap_options_of_show[],
	pcap_options_of_stats[], pcap_options_of_replay[];

#endif
