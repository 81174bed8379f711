/* SPDX-License-Identifier: BSD-2-Clause */
/** @file units.h Formats numbers with units. base/number.h parses them. */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

/** Size of the text. */
#define UNITS_LEN 24

/** "12.5 MB": in powers of 1000. @return @p buf. */
const char *units_bytes(char buf[UNITS_LEN], double bytes);
/** "900.1 Mb/s". */
const char *units_rate(char buf[UNITS_LEN], double bits_per_second);
/** "100.2 ms", of ns. */
const char *units_time(char buf[UNITS_LEN], double ns);

#endif
