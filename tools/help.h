/* SPDX-License-Identifier: BSD-2-Clause */
/** @file help.h The option -h of every command. argp itself has only --help and -?. */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <argp.h>
#include <stdbool.h>

/** For argp.children. */
extern const struct argp help_argp;

/** True if @p arg is -h or --help. */
bool help_is_asked(const char *arg);

#endif
