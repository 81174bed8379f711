/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t sysfs_number_of(int fd)
{
	char text[32], *end;
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	uint64_t number;

	/* A longer one is no number of 64 bits. */
	if (n <= 0 || n == sizeof text - 1)
		return 0;
	text[n] = '\0';
	if (!isdigit((unsigned char)*text))
		return 0;
	errno = 0;
	number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	return errno || (*end && strcmp(end, "\n") != 0) ? 0 : number;
}

uint64_t sysfs_number(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t number;

	if (fd < 0)
		return 0;
	number = sysfs_number_of(fd);
	close(fd);
	return number;
}
