/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_options.h
 * Which processes to ask: arguments that are PIDs, or PID.N for a stack of one, and --directory.
 */
#ifndef TOOLS_TELEMETRY_OPTIONS_H
#define TOOLS_TELEMETRY_OPTIONS_H

#include "tools/telemetry_client.h"

#include <argp.h>

#define TELEMETRY_OPTIONS_PIDS 64

/** Input of telemetry_options_argp; zero-initialised. */
struct telemetry_options {
	const char *directory;
	struct telemetry_asked asked[TELEMETRY_OPTIONS_PIDS + 1]; /**< up to a 0; none: all */
	unsigned n;
};

extern const struct argp telemetry_options_argp;

/** Connect. @return 0 or an exit status, and what is wrong was told. */
int telemetry_options_open(
	const struct telemetry_options *o, const char *command, struct telemetry_clients *c);

#endif
