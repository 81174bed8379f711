/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file log.h
 * One line of text per event worth telling a person; never on the data path.
 *
 * Below provider/ there are no globals, so the sink is handed down in each configuration.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log_sink {
	/** Take one line (no newline at its end). May be called from any thread. NULL: silence. */
	void (*line)(void *ctx, enum log_level level, const char *text);
	void *ctx;
	enum log_level max_level; /**< lines above are not even formatted */
};

/** Format and hand over one line of at most 511 bytes. @p s may be NULL. */
void log_printf(const struct log_sink *s, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** The level of what happens for the @p n th time: each time that it has doubled, a warning. */
static inline enum log_level log_level_of_count(uint64_t n)
{
	return (n & (n - 1)) == 0 ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG;
}

#endif
