/* SPDX-License-Identifier: BSD-2-Clause */
/** @file telemetry_asked.h Processes that a command line names: PID, or PID.N for a stack of one.
 */
#ifndef TOOLS_TELEMETRY_ASKED_H
#define TOOLS_TELEMETRY_ASKED_H

#include <stdbool.h>
#include <sys/types.h>

struct telemetry_asked {
	pid_t pid;
	unsigned stack; /**< 1 and telemetry_socket_stack() of one; 0: all of the process's */
};

/** @return false: @p text is none. */
bool telemetry_asked_parse(const char *text, struct telemetry_asked *to);

/** Whether @p a means @p pid with a socket of that @p name. */
bool telemetry_asked_is(const struct telemetry_asked *a, pid_t pid, const char *name);

#endif
