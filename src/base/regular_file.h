/* SPDX-License-Identifier: BSD-2-Clause */
/** @file regular_file.h Files that a configuration names, which may be something else. */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <stdio.h>
#include <sys/stat.h>

/**
 * Open a regular file for reading. Anything else is refused, and nobody waits for a FIFO's writer.
 * @param[out] st it.
 * @param[out] rc a negative errno, of NULL.
 * @param[out] why what is wrong, of NULL.
 */
FILE *regular_file_open(const char *path, struct stat *st, int *rc, const char **why);

#endif
