/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/line.h"

#include "base/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool esp_refuse(struct esp_line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, l->size, fmt, ap);
	va_end(ap);
	return false;
}

bool esp_line_split(struct esp_line *l, char *text)
{
	for (;;) {
		char *end;

		text += strspn(text, " \t\r\n");
		if (*text == '\0' || *text == '#')
			return true;
		if (l->n == ESP_WORDS_MAX)
			return esp_refuse(l, "expected at most %u words", ESP_WORDS_MAX);
		if (*text == '\'' || *text == '"') {
			end = strchr(text + 1, *text);
			if (!end || !strchr(" \t\r\n", end[1]))
				return esp_refuse(l, "a quote is not closed");
			text++;
		} else {
			end = text + strcspn(text, " \t\r\n");
		}
		l->word[l->n++] = text;
		if (*end == '\0')
			return true;
		*end = '\0';
		text = end + 1;
	}
}

const char *esp_next(struct esp_line *l)
{
	return l->at < l->n ? l->word[l->at++] : NULL;
}

bool esp_next_is(struct esp_line *l, const char *word)
{
	if (l->at == l->n || strcmp(l->word[l->at], word) != 0)
		return false;
	l->at++;
	return true;
}

bool esp_number(struct esp_line *l, const char *of, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *w = esp_next(l);

	if (w && w[0] == '0' && w[1] == 'x') {
		char *end;

		errno = 0;
		*out = strtoull(w + 2, &end, 16);
		if (w[2] != '\0' && strspn(w + 2, "0123456789abcdefABCDEF") == strlen(w + 2) &&
			errno == 0 && *out >= min && *out <= max)
			return true;
	} else if (w && number_parse(w, min, max, out)) {
		return true;
	}
	if (min == max)
		return esp_refuse(l, "expected %llu behind \"%s\"", (unsigned long long)min, of);
	return esp_refuse(l, "expected a number from %llu to %llu behind \"%s\"",
		(unsigned long long)min, (unsigned long long)max, of);
}

bool esp_number_u32(struct esp_line *l, const char *of, uint32_t min, uint32_t *out)
{
	uint64_t v;

	if (!esp_number(l, of, min, UINT32_MAX, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

bool esp_port(struct esp_line *l, const char *of, uint16_t *out)
{
	uint64_t v;

	if (!esp_number(l, of, 1, UINT16_MAX, &v))
		return false;
	*out = (uint16_t)v;
	return true;
}

bool esp_address(struct esp_line *l, const char *of, struct ip_addr *out)
{
	const char *w = esp_next(l);

	if (!w || ip_addr_parse(w, out) != 0)
		return esp_refuse(l, "expected an address behind \"%s\"", of);
	return true;
}

bool esp_choice(struct esp_line *l, const char *of, const char *no, const char *yes, bool *out)
{
	const char *w = esp_next(l);

	if (!w || (strcmp(w, no) != 0 && strcmp(w, yes) != 0))
		return esp_refuse(l, "expected %s or %s behind \"%s\"", no, yes, of);
	*out = strcmp(w, yes) == 0;
	return true;
}

bool esp_take_all(struct esp_line *l, const struct esp_parameter *list)
{
	while (l->at < l->n) {
		const struct esp_parameter *p = list;

		while (p->name && strcmp(p->name, l->word[l->at]) != 0)
			p++;
		if (!p->name)
			return true;
		l->at++;
		if (!p->take(l))
			return false;
	}
	return true;
}

bool esp_all_taken(struct esp_line *l)
{
	/* It may be a key in a wrong place: not a word of it. */
	return l->at == l->n ||
	       esp_refuse(l, "word %u belongs to no parameter that is known here", l->at + 1);
}
