/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stack_log.h
 * The log of a stack: stderr or a file. Each line begins with "uiwarp: ". The last lines are kept.
 */
#ifndef HOST_STACK_LOG_H
#define HOST_STACK_LOG_H

#include "base/log.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Lines that are kept, and how much of each. */
#define STACK_LOG_KEPT 64
#define STACK_LOG_LINE 240

struct stack_log_entry {
	uint64_t time; /**< ns since 1970 */
	enum log_level level;
	char text[STACK_LOG_LINE];
};

#define STACK_LOG_WORDS ((sizeof(struct stack_log_entry) + sizeof(uint64_t) - 1) / sizeof(uint64_t))

/**
 * A line that is kept. Nobody waits for another here: who writes may be a signal's handler, of the
 * thread that it interrupts, or a child of fork(); and who reads takes what is whole.
 */
struct stack_log_kept {
	_Atomic uint64_t version; /**< odd: it is being written */
	_Atomic uint64_t number;  /**< of the line, from 0 */
	_Atomic uint64_t words[STACK_LOG_WORDS];
};

struct stack_log {
	struct log_sink sink;
	int fd;                 /**< -1: stderr */
	_Atomic uint64_t lines; /**< since it was opened; the last STACK_LOG_KEPT are kept */
	struct stack_log_kept kept[STACK_LOG_KEPT];
};

/** @param path a file to append to; empty: stderr. @return 0 or -errno. */
int stack_log_open(struct stack_log *l, enum log_level max_level, const char *path);
void stack_log_close(struct stack_log *l);

/** Report more or less from now on. Any thread. */
void stack_log_set_level(struct stack_log *l, enum log_level level);

/** "error", "warning", "info" or "debug". */
const char *stack_log_level_name(enum log_level level);

/**
 * The @p n th line since the log was opened, from 0. Any thread.
 * @return false: it is not kept any more, or not yet; or it was lost, as is a line that comes
 * while one of STACK_LOG_KEPT lines before is still being written.
 */
bool stack_log_get(struct stack_log *l, uint64_t n, struct stack_log_entry *out);

/** How many lines there were. Any thread. */
uint64_t stack_log_lines(struct stack_log *l);

#endif
