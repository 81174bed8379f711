/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file configuration.h
 * The options --config and --set of commands that open a stack, and the environment.
 */
#ifndef TOOLS_CONFIGURATION_H
#define TOOLS_CONFIGURATION_H

#include "host/config.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

/** The input of configuration_argp; zero-initialise it. */
struct configuration {
	const char *file;
	char *set; /**< the --set options, one a line; malloc()ed */
};

/** For argp.children, with a struct configuration as its input. */
extern const struct argp configuration_argp;

/**
 * For commands of which the host's own TCP is the default: before configuration_apply().
 * @return true: no configuration is given, so that is it.
 */
bool configuration_set_default(const struct configuration *c);

/**
 * Export the options to the environment, where the preloaded library finds them, and read the
 * environment into @p out. Frees the memory of @p c.
 * @param command begins the sentences on stderr: "uiwarp run".
 * @return 0, or EXIT_USAGE with a sentence written.
 */
int configuration_apply(struct configuration *c, const char *command, struct config *out);

/**
 * For commands that drive our own TCP.
 * @return 0, or EXIT_USAGE with a sentence written: the port is the kernel.
 */
int configuration_check_port(const struct config *c, const char *command);

/** @p a and @p b with @p separator between them, malloc()ed; either may be NULL. Never NULL. */
char *configuration_join(const char *a, const char *separator, const char *b);

/** Tell each key, its default and its values, a line for each: words with "|" between them. */
void configuration_print_keys(FILE *out);

#endif
