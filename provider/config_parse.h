/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_parse.h
 * Kinds of values that several keys share, beside numbers (base/number.h). Private to config*.c.
 */
#ifndef PROVIDER_CONFIG_PARSE_H
#define PROVIDER_CONFIG_PARSE_H

#include <stdbool.h>
#include <stddef.h>

/** Text without control characters that fits @p size bytes. @return 0, -EINVAL. */
int config_parse_text(const char *s, char *out, size_t size);

/** The index of @p s in a NULL-terminated list of words, or -1. */
int config_parse_word(const char *s, const char *const words[]);

/** @return NULL, or what would be right. */
const char *config_parse_switch(const char *s, bool *out);

#endif
