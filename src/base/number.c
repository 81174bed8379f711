/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The whole number that @p s begins with; *rest is what follows. @return false: none, or too large.
 */
static bool parse_digits(const char *s, uint64_t max, uint64_t *out, const char **rest)
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

	if (!parse_digits(s, max, &n, &rest) || *rest != '\0' || n < min)
		return false;
	*out = n;
	return true;
}

/* The power of two that a suffix stands for; -1: no such suffix. */
static int shift_of(const char *suffix)
{
	static const char letters[] = "kmgt";
	const char *at;

	if (*suffix == '\0')
		return 0;
	at = strchr(letters, *suffix | 0x20);
	return at == NULL || suffix[1] != '\0' ? -1 : 10 * (int)(at - letters + 1);
}

bool number_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *suffix;
	uint64_t n;
	int shift;

	if (!parse_digits(s, max, &n, &suffix))
		return false;
	shift = shift_of(suffix);
	if (shift < 0 || n > max >> shift || n << shift < min)
		return false;
	*out = n << shift;
	return true;
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
