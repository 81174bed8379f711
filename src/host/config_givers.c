/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_givers.h"

#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_GIVERS "UIWARP_SET_BY"

/** In a value: the length of UIWARP_SET, the options' part of it, and who gave the rest. */
#define CONFIG_GIVERS_ROOM 64

static const char *const config_givers_others[] = {"UIWARP_SET", "--config"};
#define CONFIG_GIVERS_OTHERS (sizeof config_givers_others / sizeof config_givers_others[0])

/** @return NULL: it is none. */
static const char *config_givers_other(const char *name)
{
	for (size_t i = 0; name && i < CONFIG_GIVERS_OTHERS; i++)
		if (strcmp(config_givers_others[i], name) == 0)
			return config_givers_others[i];
	return NULL;
}

static bool config_givers_number(const char *text, uint64_t max, uint64_t *number)
{
	return text && number_parse(text, 0, max, number);
}

struct config_givers config_givers_of(const char *set)
{
	const struct config_givers itself = {.others = config_givers_others[0]};
	const char *value = secure_getenv(CONFIG_GIVERS), *others;
	char copy[CONFIG_GIVERS_ROOM], *next = copy;
	uint64_t len, options;

	if (!value || strlen(value) >= sizeof copy)
		return itself;
	memcpy(copy, value, strlen(value) + 1);
	/* Of another length: somebody has changed UIWARP_SET since. */
	if (!config_givers_number(strsep(&next, " "), SIZE_MAX, &len) || len != strlen(set) ||
		!config_givers_number(strsep(&next, " "), len, &options))
		return itself;
	others = config_givers_other(next);
	return others ? (struct config_givers){(size_t)options, others} : itself;
}

void config_givers_export(const struct config_givers *by, const char *set)
{
	char value[CONFIG_GIVERS_ROOM];

	snprintf(value, sizeof value, "%zu %zu %s", strlen(set), by->options, by->others);
	setenv(CONFIG_GIVERS, value, 1);
}
