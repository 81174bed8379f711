/* SPDX-License-Identifier: BSD-2-Clause */
#include "statement_case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static char why[200];

static int parse(const char *text, struct esp_statement *s)
{
	char line[1024];

	snprintf(line, sizeof line, "%s", text);
	why[0] = '\0';
	return esp_statement_parse(line, s, why, sizeof why);
}

struct esp_statement statement_good(const char *text)
{
	struct esp_statement s;

	if (parse(text, &s) != 0)
		fail_msg("%s: %s", text, why);
	return s;
}

void statement_bad(const char *text, const char *reason)
{
	struct esp_statement s;

	assert_int_equal(parse(text, &s), -EINVAL);
	if (!strstr(why, reason))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, why, reason);
	/* Not a digit of a key. */
	assert_null(strstr(why, "0a0b"));
}
