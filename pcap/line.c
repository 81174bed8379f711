/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/line.h"

#include <stdarg.h>
#include <stdio.h>

void line_add(struct line *l, const char *format, ...)
{
	size_t room = sizeof l->text - l->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->len, room, format, args);
	va_end(args);
	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
}

void line_add_endpoint(struct line *l, const struct ip_endpoint *e)
{
	char text[IP_ENDPOINT_STRLEN];

	line_add(l, "%s", ip_endpoint_format(e, text));
}

void line_add_hex(struct line *l, const uint8_t *p, size_t len, size_t max)
{
	for (size_t i = 0; i < len && i < max; i++)
		line_add(l, "%02x", p[i]);
	if (len > max)
		line_add(l, "...");
}

void line_add_seconds(struct line *l, uint64_t ns)
{
	line_add(l, "%llu.%06llu", (unsigned long long)(ns / 1000000000u),
		(unsigned long long)(ns % 1000000000u / 1000));
}
