/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file configuration.h
 * --config and --set, for every command that has a stack below it, with what the environment says.
 */
#ifndef TOOLS_CONFIGURATION_H
#define TOOLS_CONFIGURATION_H

#include "host/config.h"

#include <argp.h>

/** The input of configuration_argp; zero-initialise it. */
struct configuration {
	const char *file;
	char *set; /**< the --set options, one a line; malloc()ed */
};

/** For argp.children, with a struct configuration as its input. */
extern const struct argp configuration_argp;

/**
 * Put what was given into the environment, where other programs of ours find it, and read all of
 * that into @p out. Frees what @p c holds.
 * @param who begins the sentences on stderr: "uiwarp run".
 * @return 0, or EXIT_USAGE with a sentence written.
 */
int configuration_apply(struct configuration *c, const char *who, struct config *out);

/** @p a and @p b with @p separator between them, malloc()ed; either may be NULL. Never NULL. */
char *configuration_join(const char *a, const char *separator, const char *b);

#endif
