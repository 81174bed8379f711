/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_error.h The sentences that say what is wrong. Private to config*.c. */
#ifndef HOST_CONFIG_ERROR_H
#define HOST_CONFIG_ERROR_H

#include "host/config.h"

/** Where an assignment stands: a line of a file, or "--set" when path is NULL. */
struct config_place {
	const char *path;
	unsigned line; /**< 0: the file as a whole */
};

/** Text from outside, fit for a terminal. */
struct config_shown {
	char text[100];
};

/** @p text with its control bytes replaced, and cut if it is long. */
const char *config_show(struct config_shown *s, const char *text);

/** Fill in @p e. @param where begins the sentence; NULL: nothing does. @return @p rc. */
int config_complain(struct config_error *e, int rc, const struct config_place *where,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
