/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file log.h
 * Log lines for people. The data path writes none.
 *
 * There are no globals below provider/, so each configuration carries the sink.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log_sink {
	/** Take one line (no newline at its end). May be called from any thread. NULL: silence. */
	void (*line)(void *ctx, enum log_level level, const char *text);
	void *ctx;
	/** Lines of a higher level are not formatted. It may be changed at any time. */
	_Atomic enum log_level max_level;
};

/** Format and hand over one line of at most 511 bytes. @p s may be NULL. */
void log_printf(const struct log_sink *s, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** The level for the @p n th event of a kind: a warning if @p n is a power of two, else debug. */
static inline enum log_level log_level_of_count(uint64_t n)
{
	return (n & (n - 1)) == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG;
}

#endif
