/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Its directory is one where others make files and links, too. */
static bool own_file_is_among_others(const char *path)
{
	const char *end = strrchr(path, '/');
	char directory[PATH_MAX];
	struct stat st;

	snprintf(directory, sizeof directory, "%.*s", end ? (int)(end - path) + 1 : 1,
		end ? path : ".");
	return stat(directory, &st) == 0 && (st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH);
}

static bool own_file_is_ours(const struct stat *st)
{
	return !(S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode)) ||
	       (st->st_uid == geteuid() && st->st_nlink <= 1);
}

int own_file_open(const char *path, int flags, mode_t mode)
{
	bool among_others = own_file_is_among_others(path);
	/* Emptied only when it is known whose it is. A FIFO that nobody reads holds nobody up. */
	int fd = open(path,
		(flags & ~O_TRUNC) | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			(among_others ? O_NOFOLLOW : 0),
		mode);
	struct stat st;

	if (fd < 0)
		return among_others && errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, &st) == 0 && (!among_others || own_file_is_ours(&st)) &&
		(!(flags & O_TRUNC) || !S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0))
		return fd;
	close(fd);
	return -EPERM;
}

const char *own_file_strerror(int rc)
{
	switch (rc) {
	case -EPERM:
		return "it is not taken: in a directory where everybody makes files no link, no "
		       "file of another user and none with two names is";
	case -ENXIO:
		return "nobody reads that FIFO, or it is a socket, or a device that is not there";
	default:
		return strerror(-rc);
	}
}
