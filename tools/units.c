/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/units.h"

#include <stddef.h>
#include <stdio.h>

static const char *units_format(char buf[UNITS_LEN], double n, const char *const *units)
{
	while (n >= 999.95 && units[1]) {
		n /= 1000;
		units++;
	}
	snprintf(buf, UNITS_LEN, "%.*f %s", n < 10 ? 2 : 1, n, *units);
	return buf;
}

const char *units_bytes(char buf[UNITS_LEN], double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", NULL};

	return units_format(buf, bytes, units);
}

const char *units_rate(char buf[UNITS_LEN], double bits_per_second)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", NULL};

	return units_format(buf, bits_per_second, units);
}

const char *units_time(char buf[UNITS_LEN], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	return units_format(buf, ns, units);
}
