/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_parse.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* A decimal number and nothing else: no sign, no blanks, no octal or hexadecimal surprises. */
static int parse_number(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (*s == '\0')
		return -EINVAL;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		n = n * 10 + (unsigned)(*s - '0');
		if (n > max)
			return -ERANGE;
	}
	*out = n;
	return 0;
}

int config_parse_range(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	int rc = parse_number(s, max, out);

	return rc == 0 && *out < min ? -ERANGE : rc;
}

int config_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	char digits[24];
	size_t n = strlen(s);
	unsigned shift = 0;
	int rc;

	if (n == 0 || n >= sizeof digits)
		return -EINVAL;
	memcpy(digits, s, n + 1);
	switch (toupper((unsigned char)digits[n - 1])) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (shift != 0)
		digits[n - 1] = '\0';
	rc = parse_number(digits, max >> shift, out);
	if (rc != 0)
		return rc;
	*out <<= shift;
	return *out < min ? -ERANGE : 0;
}

int config_parse_text(const char *s, char *out, size_t size)
{
	size_t n = strlen(s);

	if (n >= size)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)s[i]))
			return -EINVAL;
	memcpy(out, s, n + 1);
	return 0;
}

int config_parse_word(const char *s, const char *const words[])
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	return -1;
}

const char *config_parse_switch(const char *v, bool *out)
{
	const char *const words[] = {"off", "on", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "on or off";
	*out = i == 1;
	return NULL;
}
