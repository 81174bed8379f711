/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file number.h
 * Numbers in configuration files, on command lines and in text that is written. They are decimal.
 * Blanks, signs, octal, hexadecimal and exponents are refused, and so is text behind the number.
 * When a function returns false, the result is not written.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** "42": a whole number from @p min to @p max, which may be UINT64_MAX. */
bool number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** Room for what number_put() writes. */
#define NUMBER_DIGITS 20

/** Write a number: several times as fast as printf(). @return where it ends; no NUL is there. */
char *number_put(char *at, uint64_t value);

/** "64", "16K", "4M", "1G", "1T" (in either case): a whole number with a unit in powers of 1024. */
bool number_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/** Room for what number_size_range() writes. */
#define NUMBER_SIZE_RANGE 96

/**
 * The range in words, as number_parse_size() takes it: "from 16K to 8M; K and M may follow it".
 * @return @p buf.
 */
const char *number_size_range(char buf[NUMBER_SIZE_RANGE], uint64_t min, uint64_t max);

/**
 * "2.5": a decimal number of at most 31 characters.
 * @param[out] rest the text behind it, such as a unit.
 */
bool number_parse_decimal(const char *s, double *out, const char **rest);

/** A unit (in either case; "": none) and its factor. */
struct number_unit {
	const char *name;
	double factor;
};

/** A decimal number and one of @p units. A name of NULL ends that list. The range is inclusive. */
bool number_parse_unit(
	const char *s, const struct number_unit *units, double min, double max, double *out);

/** "9600", "800k", "2.5g", "100mbit": bits per second, in powers of 1000. */
bool number_parse_rate(const char *s, double min, double max, double *out);

/** "10", "0.5": seconds, at most @p max. @param[out] ns the same in nanoseconds. */
bool number_parse_seconds(const char *s, double max, uint64_t *ns);

/** "50ms", "1.5s", "200us", "10ns", "0": a time with its unit, at most @p max nanoseconds. */
bool number_parse_time(const char *s, double max, uint64_t *ns);

#endif
