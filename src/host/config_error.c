/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *config_show(struct config_shown *s, const char *text)
{
	size_t n = strlen(text);
	size_t max = sizeof s->text - 1;

	for (size_t i = 0; i < n && i < max; i++)
		s->text[i] = (char)(iscntrl((unsigned char)text[i]) ? '?' : text[i]);
	s->text[n < max ? n : max] = '\0';
	if (n > max)
		memcpy(s->text + max - 3, "...", 3);
	return s->text;
}

int config_complain(
	struct config_error *e, int rc, const struct config_place *where, const char *fmt, ...)
{
	struct config_shown s;
	va_list ap;
	size_t n = 0;

	if (where && where->path && where->line != 0)
		n = (size_t)snprintf(e->text, sizeof e->text,
			"%s, line %u: ", config_show(&s, where->path), where->line);
	else if (where && where->path)
		n = (size_t)snprintf(e->text, sizeof e->text, "%s: ", config_show(&s, where->path));
	else if (where)
		n = (size_t)snprintf(e->text, sizeof e->text, "%s: ", where->source);
	va_start(ap, fmt);
	vsnprintf(e->text + n, sizeof e->text - n, fmt, ap);
	va_end(ap);
	return rc;
}
