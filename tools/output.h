/* SPDX-License-Identifier: BSD-2-Clause */
/** @file output.h Files that the command writes, and those that it must not. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>
#include <sys/stat.h>

/** True if @p path names the regular file @p input, which is being read: it would be lost. */
bool output_is_input(const char *path, const struct stat *input);

#endif
