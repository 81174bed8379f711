/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

FILE *regular_file_open(const char *path, struct stat *st, int *rc, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *f;

	if (fd < 0 || fstat(fd, st) != 0) {
		*rc = -errno;
		*why = strerror(errno);
	} else if (!S_ISREG(st->st_mode)) {
		*rc = -EACCES;
		*why = "it is not a file";
	} else {
		f = fdopen(fd, "r");
		if (f)
			return f;
		*rc = -ENOMEM;
		*why = "no memory";
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}
