/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/help.h"

#include <stdio.h>
#include <string.h>

static error_t help_parse_option(int key, char *arg, struct argp_state *state)
{
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

static const struct argp_option help_argp_options[] = {
	{NULL, 'h', NULL, 0, "Give this help list", -1},
	{0},
};

const struct argp help_argp = {help_argp_options, help_parse_option, NULL, NULL, NULL, NULL, NULL};

bool help_is_asked(const char *arg)
{
	return strcmp(arg, "-h") == 0 || strcmp(arg, "--help") == 0;
}
