/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_parse.h Kinds of values that several keys share. Private to config*.c. */
#ifndef PROVIDER_CONFIG_PARSE_H
#define PROVIDER_CONFIG_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A decimal number from @p min to @p max. @return 0, -EINVAL, -ERANGE. */
int config_parse_range(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** "64K", "4M", "1G", or bytes. @return likewise. */
int config_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** Text without control characters that fits @p size bytes. @return 0, -EINVAL. */
int config_parse_text(const char *s, char *out, size_t size);

/** The index of @p s in a NULL-terminated list of words, or -1. */
int config_parse_word(const char *s, const char *const words[]);

/** @return NULL, or what would be right. */
const char *config_parse_switch(const char *s, bool *out);

#endif
