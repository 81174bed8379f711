/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

void log_printf(const struct log_sink *s, enum log_level level, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!s || !s->line || level > atomic_load_explicit(&s->max_level, memory_order_relaxed))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	s->line(s->ctx, level, text);
}
