/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_slot.h"

#include "base/number.h"
#include "provider/config_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPEN "%{"

/** Most slots in a group: as many 16-bit numbers as there are, but for 0. */
#define SLOT_MAX 65535

static bool is_name(const char *v, size_t n)
{
	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)v[i]) && v[i] != '_' && v[i] != '-')
			return false;
	return true;
}

const char *config_slot_range(struct config *c, const char *value)
{
	const char *right = "FIRST-LAST or GROUP:FIRST-LAST, with numbers from 1 to 65535 and a "
			    "name of at most 31 letters, digits, '_' or '-'";
	const char *colon = strchr(value, ':');
	const char *range = colon == NULL ? value : colon + 1;
	const char *dash = strchr(range, '-');
	uint64_t first, last;
	char number[8];

	if (colon != NULL && (!is_name(value, (size_t)(colon - value)) ||
				     (size_t)(colon - value) >= sizeof c->slot_group))
		return right;
	if (dash == NULL || (size_t)(dash - range) >= sizeof number)
		return right;
	memcpy(number, range, (size_t)(dash - range));
	number[dash - range] = '\0';
	if (!number_parse(number, 1, SLOT_MAX, &first) ||
		!number_parse(dash + 1, first, SLOT_MAX, &last))
		return right;
	if (colon != NULL)
		snprintf(c->slot_group, sizeof c->slot_group, "%.*s", (int)(colon - value), value);
	c->slot_first = (unsigned)first;
	c->slot_last = (unsigned)last;
	return NULL;
}

/** How a pattern wants its number. */
struct format {
	unsigned width; /**< 0: as it comes */
	bool zeros, hex;
};

/** @p p behind "%{"; @return what follows the pattern, or NULL. */
static const char *parse_pattern(const char *p, struct format *f)
{
	*f = (struct format){0};
	if (strncmp(p, "slot", 4) != 0)
		return NULL;
	p += 4;
	if (*p == ':') {
		p++;
		if (*p == '0') {
			f->zeros = true;
			p++;
		}
		if (*p >= '1' && *p <= '8')
			f->width = (unsigned)(*p++ - '0');
		if (*p == 'x') {
			f->hex = true;
			p++;
		}
	}
	return *p == '}' ? p + 1 : NULL;
}

static int print_slot(char *out, size_t size, const struct format *f, unsigned slot)
{
	int width = (int)f->width;

	if (f->hex)
		return snprintf(out, size, f->zeros ? "%0*x" : "%*x", width, slot);
	return snprintf(out, size, f->zeros ? "%0*u" : "%*u", width, slot);
}

int config_slot_expand(const char *value, unsigned slot, char *out, const char **right)
{
	const char *p = value;
	const char *next;
	size_t n = 0;
	int count = 0;

	while ((next = strstr(p, OPEN)) != NULL) {
		size_t plain = (size_t)(next - p);
		struct format f;

		next = parse_pattern(next + sizeof OPEN - 1, &f);
		if (next == NULL) {
			*right = "of patterns only %{slot}, or %{slot:FORMAT} with a FORMAT such "
				 "as 3, 03, x or 02x";
			return -EINVAL;
		}
		if (plain >= CONFIG_MAX_EXPANDED - n - 16) {
			*right = "a shorter value around %{slot}";
			return -EINVAL;
		}
		memcpy(out + n, p, plain);
		n += plain;
		n += (size_t)print_slot(out + n, CONFIG_MAX_EXPANDED - n, &f, slot);
		p = next;
		count++;
	}
	if (count == 0)
		return 0;
	if (strlen(p) >= CONFIG_MAX_EXPANDED - n) {
		*right = "a shorter value around %{slot}";
		return -EINVAL;
	}
	strcpy(out + n, p);
	return count;
}
