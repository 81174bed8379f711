/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stack_log.h The log of a stack: stderr or a file. Each line begins with "uiwarp: ". */
#ifndef HOST_STACK_LOG_H
#define HOST_STACK_LOG_H

#include "base/log.h"

struct stack_log {
	struct log_sink sink;
	int fd; /**< -1: stderr */
};

/** @param path a file to append to; empty: stderr. @return 0 or -errno. */
int stack_log_open(struct stack_log *l, enum log_level max_level, const char *path);
void stack_log_close(struct stack_log *l);

#endif
