/* SPDX-License-Identifier: BSD-2-Clause */
/** @file help.h The option -h of every command: argp itself has --help and -? alone. */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <argp.h>
#include <stdbool.h>

/** To be a child of a command's own. */
extern const struct argp help_argp;

/** Is @p arg -h or --help? */
bool help_is_asked(const char *arg);

#endif
