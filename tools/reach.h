/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reach.h Checks whether a library can be preloaded into a program. */
#ifndef TOOLS_REACH_H
#define TOOLS_REACH_H

/**
 * Examine the program that execvp() would start by this name.
 * @param path gets the file, to be freed; NULL: there is none.
 * @return the end of a sentence that tells why the library cannot be preloaded, or NULL: it may.
 *         Scripts and missing files are left to execvp().
 */
const char *reach_obstacle(const char *program, char **path);

#endif
