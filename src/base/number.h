/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file number.h
 * Numbers that people write, in configuration files and on command lines. Digits and nothing else:
 * no blanks, no sign, no octal, hexadecimal or exponent surprises, nothing behind them. Where a
 * function returns false, @p out is not written.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** "42": a whole number from @p min to @p max, which may be UINT64_MAX. */
bool number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** "64", "16K", "4M", "1G", "1T" (in either case): the same, in powers of 1024. */
bool number_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/**
 * "2.5": a decimal number of at most 31 characters.
 * @param[out] rest what follows it, such as a unit.
 */
bool number_parse_decimal(const char *s, double *out, const char **rest);

#endif
