/* SPDX-License-Identifier: BSD-2-Clause */
/** @file line.h A line of text that is built piece by piece. */
#ifndef PCAP_LINE_H
#define PCAP_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/ip_addr.h"

/** Text that does not fit is cut off. Zero-initialised is empty. */
struct line {
	size_t len;
	char text[512];
};

__attribute__((format(printf, 2, 3))) void line_add(struct line *l, const char *format, ...);

/** "10.0.0.1:4420", "[fe80::1]:4420". */
void line_add_endpoint(struct line *l, const struct ip_endpoint *e);

/** Bytes in hex, at most @p max of them, then "...". */
void line_add_hex(struct line *l, const uint8_t *p, size_t len, size_t max);

/** Seconds with six digits, of ns. */
void line_add_seconds(struct line *l, uint64_t ns);

#endif
