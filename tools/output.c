/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/output.h"

bool output_is_input(const char *path, const struct stat *input)
{
	struct stat out;

	return stat(path, &out) == 0 && S_ISREG(out.st_mode) && out.st_dev == input->st_dev &&
	       out.st_ino == input->st_ino;
}
