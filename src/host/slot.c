/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/** Make it if needed; nobody else may write to it, even if it was there. */
static int slot_own_directory(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EPERM;
	return 0;
}

int slot_directory(char *path, size_t size)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int n;

	if (geteuid() == 0)
		n = snprintf(path, size, "/run/uiwarp");
	else if (runtime && runtime[0] == '/')
		n = snprintf(path, size, "%s/uiwarp", runtime);
	else
		n = snprintf(path, size, "/tmp/uiwarp-%u", (unsigned)geteuid());
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return slot_own_directory(path);
}

/** For people who look into the directory; the lock is what counts. */
static void slot_sign(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof text, "%d\n", (int)getpid());

	if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)n) != n)
		return;
}

/** @return the locked file, or -EWOULDBLOCK when somebody else has it. */
static int slot_try_slot(const char *directory, const char *group, unsigned slot)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/%s.%u", directory, group, slot);
	int fd, err;

	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	/* The files stay: one that was deleted could be locked by its old name and its new one. */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		slot_sign(fd);
		return fd;
	}
	err = errno;
	close(fd);
	return -err;
}

int slot_take(
	const char *directory, const char *group, unsigned first, unsigned last, unsigned *slot)
{
	for (unsigned i = first; i <= last; i++) {
		int fd = slot_try_slot(directory, group, i);

		if (fd == -EINTR || fd == -EWOULDBLOCK)
			continue;
		*slot = i;
		return fd;
	}
	return -EBUSY;
}
