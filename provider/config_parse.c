/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_parse.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

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
