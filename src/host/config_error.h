/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_error.h Error sentences, and files. Private to config*.c. */
#ifndef HOST_CONFIG_ERROR_H
#define HOST_CONFIG_ERROR_H

#include "host/config.h"

#include <stdio.h>

/** The place of an assignment: a line of a file, or where it comes from when path is NULL. */
struct config_place {
	const char *path;
	unsigned line;      /**< 0: the file as a whole */
	const char *source; /**< without a path: as config_set() has it */
};

/** Untrusted text that is safe to print. */
struct config_shown {
	char text[100];
};

/** Copy @p text with its control bytes replaced, cut if it is long. @return the copy in @p s. */
const char *config_show(struct config_shown *s, const char *text);

/** Fill in @p e. @param where its text begins the sentence; may be NULL. @return @p rc. */
int config_complain(struct config_error *e, int rc, const struct config_place *where,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** The file or pipe @p path cannot be read. @param error an errno. @return -error. */
int config_unreadable(const char *path, int error, struct config_error *e);

/**
 * Read an ini file without sections from @p f.
 * @param path names it in sentences.
 * @param pairs gets its assignments, as lines of UIWARP_SET; or NULL.
 * @return as config_read_file().
 */
int config_read_stream(
	struct config *c, FILE *f, const char *path, FILE *pairs, struct config_error *e);

#endif
