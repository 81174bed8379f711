/* SPDX-License-Identifier: BSD-2-Clause */
/** @file units.h Numbers with units, as people write and read them. */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/** "800k", "100m", "2.5g", "9600": bits per second, in powers of 1000, 1 to 10^12. */
bool units_parse_rate(const char *s, double *out);

/** "10", "0.5": seconds, to @p max; in ns. */
bool units_parse_seconds(const char *s, double max, uint64_t *out);

/** Room for what the functions below write. */
#define UNITS_LEN 24

/** "12.5 MB": in powers of 1000. @return @p buf. */
const char *units_bytes(char buf[UNITS_LEN], double bytes);
/** "900.1 Mb/s". */
const char *units_rate(char buf[UNITS_LEN], double bits_per_second);
/** "100.2 ms", of ns. */
const char *units_time(char buf[UNITS_LEN], double ns);

#endif
