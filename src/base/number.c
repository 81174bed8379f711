/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/**
 * Parse the whole number at the start of @p s. *rest is the text behind it. @return false: there is
 * none, or it is too large.
 */
static bool number_parse_digits(const char *s, uint64_t max, uint64_t *out, const char **rest)
{
	uint64_t n = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		unsigned digit = (unsigned)(*s - '0');

		if (digit > max || n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*out = n;
	*rest = s;
	return true;
}

bool number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *rest;
	uint64_t n;

	if (!number_parse_digits(s, max, &n, &rest) || *rest != '\0' || n < min)
		return false;
	*out = n;
	return true;
}

char *number_put(char *at, uint64_t value)
{
	/* Two at a time: half the divisions. */
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[NUMBER_DIGITS];
	size_t first = sizeof digits;

	for (; value >= 100; value /= 100)
		memcpy(&digits[first -= 2], &pairs[value % 100 * 2], 2);
	if (value >= 10)
		memcpy(&digits[first -= 2], &pairs[value * 2], 2);
	else
		digits[--first] = (char)('0' + value);
	memcpy(at, &digits[first], sizeof digits - first);
	return at + (sizeof digits - first);
}

/* The suffixes of sizes: each stands for 1024 times the one before it. */
static const char number_letters[] = "KMGT";

/* The power of two that a suffix stands for; -1: no such suffix. */
static int number_shift_of(const char *suffix)
{
	const char *at;

	if (*suffix == '\0')
		return 0;
	at = strchr(number_letters, toupper((unsigned char)*suffix));
	return !at || suffix[1] != '\0' ? -1 : 10 * (int)(at - number_letters + 1);
}

bool number_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *suffix;
	uint64_t n;
	int shift;

	if (!number_parse_digits(s, max, &n, &suffix))
		return false;
	shift = number_shift_of(suffix);
	if (shift < 0 || n > max >> shift || n << shift < min)
		return false;
	*out = n << shift;
	return true;
}

/* With the largest suffix that divides it. */
static int number_print_size(char *buf, size_t size, uint64_t n)
{
	int i = 0;

	for (; n != 0 && n % 1024 == 0 && number_letters[i] != '\0'; i++)
		n /= 1024;
	return snprintf(
		buf, size, "%llu%.*s", (unsigned long long)n, i > 0, &number_letters[i - (i > 0)]);
}

const char *number_size_range(char buf[NUMBER_SIZE_RANGE], uint64_t min, uint64_t max)
{
	const size_t size = NUMBER_SIZE_RANGE;
	size_t n = (size_t)snprintf(buf, size, "from ");
	int letters = 0;

	n += (size_t)number_print_size(buf + n, size - n, min);
	n += (size_t)snprintf(buf + n, size - n, " to ");
	n += (size_t)number_print_size(buf + n, size - n, max);
	while (number_letters[letters] != '\0' && max >> 10 * (letters + 1) != 0)
		letters++;
	for (int i = 0; i < letters; i++) {
		const char *before = i == 0 ? "; " : i + 1 == letters ? " and " : ", ";

		n += (size_t)snprintf(buf + n, size - n, "%s%c", before, number_letters[i]);
	}
	if (letters != 0)
		snprintf(buf + n, size - n, " may follow it");
	return buf;
}

bool number_parse_decimal(const char *s, double *out, const char **rest)
{
	size_t len = strspn(s, "0123456789.");
	char digits[32];
	double n;
	char *end;

	if (len == 0 || len >= sizeof digits)
		return false;
	memcpy(digits, s, len);
	digits[len] = '\0';
	n = strtod(digits, &end);
	if (end == digits || *end != '\0')
		return false;
	*out = n;
	*rest = s + len;
	return true;
}

bool number_parse_unit(
	const char *s, const struct number_unit *units, double min, double max, double *out)
{
	const char *unit;
	double n;

	if (!number_parse_decimal(s, &n, &unit))
		return false;
	while (units->name && strcasecmp(unit, units->name) != 0)
		units++;
	if (!units->name)
		return false;
	n *= units->factor;
	if (n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool number_parse_rate(const char *s, double min, double max, double *out)
{
	static const struct number_unit units[] = {{"", 1}, {"bit", 1}, {"k", 1e3}, {"kbit", 1e3},
		{"m", 1e6}, {"mbit", 1e6}, {"g", 1e9}, {"gbit", 1e9}, {NULL, 0}};

	return number_parse_unit(s, units, min, max, out);
}

/** A time in one of @p units, rounded to nanoseconds. */
static bool number_parse_ns(
	const char *s, const struct number_unit *units, double max, uint64_t *ns)
{
	double n;

	if (!number_parse_unit(s, units, 0, max, &n))
		return false;
	*ns = (uint64_t)(n + 0.5);
	return true;
}

bool number_parse_seconds(const char *s, double max, uint64_t *ns)
{
	static const struct number_unit units[] = {{"", 1e9}, {NULL, 0}};

	return number_parse_ns(s, units, max * 1e9, ns);
}

bool number_parse_time(const char *s, double max, uint64_t *ns)
{
	static const struct number_unit units[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};

	/* No unit is needed for none of it. */
	return number_parse_ns(strcmp(s, "0") == 0 ? "0s" : s, units, max, ns);
}
