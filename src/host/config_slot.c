/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_slot.h"

#include "base/number.h"
#include "host/config_key.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONFIG_PATTERN "%{"

/** Most slots in a group: as many 16-bit numbers as there are, but for 0. */
#define CONFIG_MAX_SLOT 65535

static bool config_slot_group(const char *v, size_t n)
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
	const char *colon = strchr(value, ':');
	const char *range = !colon ? value : colon + 1;
	const char *dash = strchr(range, '-');
	uint64_t first, last;
	char number[8];

	if (colon && (!config_slot_group(value, (size_t)(colon - value)) ||
			     (size_t)(colon - value) >= sizeof c->slot_group))
		return CONFIG_UNEXPECTED;
	if (!dash || (size_t)(dash - range) >= sizeof number)
		return CONFIG_UNEXPECTED;
	memcpy(number, range, (size_t)(dash - range));
	number[dash - range] = '\0';
	if (!number_parse(number, 1, CONFIG_MAX_SLOT, &first) ||
		!number_parse(dash + 1, first, CONFIG_MAX_SLOT, &last))
		return CONFIG_UNEXPECTED;
	if (colon)
		snprintf(c->slot_group, sizeof c->slot_group, "%.*s", (int)(colon - value), value);
	c->slot_first = (unsigned)first;
	c->slot_last = (unsigned)last;
	return NULL;
}

/** How a pattern wants its number. */
struct config_slot_format {
	unsigned width; /**< 0: as it comes */
	bool zeros, hex;
};

/** @p p behind "%{"; @return what follows the pattern, or NULL. */
static const char *config_slot_pattern(const char *p, struct config_slot_format *f)
{
	*f = (struct config_slot_format){0};
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

static int config_slot_print(
	char *out, size_t size, const struct config_slot_format *f, unsigned slot)
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

	while ((next = strstr(p, CONFIG_PATTERN)) != NULL) {
		size_t plain = (size_t)(next - p);
		struct config_slot_format f;

		next = config_slot_pattern(next + sizeof CONFIG_PATTERN - 1, &f);
		if (!next) {
			*right = "of patterns only %{slot}, or %{slot:FORMAT} with a FORMAT such "
				 "as 3, 03, x or 02x";
			return -EINVAL;
		}
		if (n + 16 >= CONFIG_MAX_EXPANDED || plain >= CONFIG_MAX_EXPANDED - n - 16) {
			*right = "a shorter value around %{slot}";
			return -EINVAL;
		}
		memcpy(out + n, p, plain);
		n += plain;
		n += (size_t)config_slot_print(out + n, CONFIG_MAX_EXPANDED - n, &f, slot);
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
