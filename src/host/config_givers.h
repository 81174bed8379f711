/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_givers.h
 * Who gave the lines of UIWARP_SET. On the way from the command line of `uiwarp run` to its program
 * all of them stand there; UIWARP_SET_BY, beside it, lets also the program name the right one.
 */
#ifndef HOST_CONFIG_GIVERS_H
#define HOST_CONFIG_GIVERS_H

#include <stddef.h>

struct config_givers {
	size_t options;     /**< bytes of the last lines, which are of --set */
	const char *others; /**< who gave those before: "UIWARP_SET", or "--config": a pipe */
};

/** Whoever gave @p set, the value of UIWARP_SET now. Another's UIWARP_SET_BY is not believed. */
struct config_givers config_givers_of(const char *set);

/** Write UIWARP_SET_BY for @p set, which becomes the value of UIWARP_SET. */
void config_givers_export(const struct config_givers *by, const char *set);

#endif
