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

/** Room for what number_size_range() writes. */
#define NUMBER_SIZE_RANGE 96

/** "from 16K to 8M; K and M may follow it": what number_parse_size() takes. @return @p buf. */
const char *number_size_range(char buf[NUMBER_SIZE_RANGE], uint64_t min, uint64_t max);

/**
 * "2.5": a decimal number of at most 31 characters.
 * @param[out] rest what follows it, such as a unit.
 */
bool number_parse_decimal(const char *s, double *out, const char **rest);

/** What may follow a number (in either case; "": nothing), and what it is multiplied with then. */
struct number_unit {
	const char *name;
	double factor;
};

/** A decimal number and one of @p units, which end with a name of NULL. The range is inclusive. */
bool number_parse_unit(
	const char *s, const struct number_unit *units, double min, double max, double *out);

/** "9600", "800k", "2.5g", "100mbit": bits per second, in powers of 1000. */
bool number_parse_rate(const char *s, double min, double max, double *out);

/** "10", "0.5": seconds, to @p max of them. @param[out] ns in nanoseconds. */
bool number_parse_seconds(const char *s, double max, uint64_t *ns);

/** "50ms", "1.5s", "200us", "10ns", "0": a time with its unit, to @p max nanoseconds. */
bool number_parse_time(const char *s, double max, uint64_t *ns);

#endif
