/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reach.h Whether the preloaded library comes into a program at all. */
#ifndef TOOLS_REACH_H
#define TOOLS_REACH_H

/**
 * Look at the program that execvp() would start by this name.
 * @param path gets the file looked at, to be freed; NULL: there is none.
 * @return a sentence's end that tells why the library cannot reach it, or NULL: nothing is known
 * against it. Scripts and what is not there are for execvp() to tell about.
 */
const char *reach_obstacle(const char *program, char **path);

#endif
