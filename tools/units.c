/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/units.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

/* The power that a suffix stands for, from a list such as "kmg"; -1: no such suffix. */
static int power_of(const char *suffix, const char *letters)
{
	const char *at;

	if (*suffix == '\0')
		return 0;
	at = strchr(letters, *suffix | 0x20);
	return at == NULL || suffix[1] != '\0' ? -1 : (int)(at - letters) + 1;
}

bool units_parse_rate(const char *s, double *out)
{
	const char *end;
	int power;

	if (!number_parse_decimal(s, out, &end))
		return false;
	power = power_of(end, "kmg");
	if (power < 0)
		return false;
	while (power-- > 0)
		*out *= 1000;
	return *out >= 1 && *out <= 1e12;
}

bool units_parse_seconds(const char *s, double max, uint64_t *out)
{
	const char *end;
	double seconds;

	if (!number_parse_decimal(s, &seconds, &end) || *end != '\0' || seconds > max)
		return false;
	*out = (uint64_t)(seconds * 1e9);
	return true;
}

static const char *format(char buf[UNITS_LEN], double n, const char *const *units)
{
	while (n >= 999.95 && units[1] != NULL) {
		n /= 1000;
		units++;
	}
	snprintf(buf, UNITS_LEN, "%.*f %s", n < 10 ? 2 : 1, n, *units);
	return buf;
}

const char *units_bytes(char buf[UNITS_LEN], double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", NULL};

	return format(buf, bytes, units);
}

const char *units_rate(char buf[UNITS_LEN], double bits_per_second)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", NULL};

	return format(buf, bits_per_second, units);
}

const char *units_time(char buf[UNITS_LEN], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	return format(buf, ns, units);
}
