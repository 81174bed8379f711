/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/slot.h"

#include "base/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/** Nobody else may write to it. */
static int slot_check_directory(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EPERM;
	return 0;
}

/** Make it if needed; it is checked even if it was there. */
static int slot_own_directory(const char *path)
{
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	return slot_check_directory(path);
}

/** The root of a user namespace is a user outside, who has a directory of that number. */
static unsigned slot_user(void)
{
	unsigned inside = 0, outside = 0;
	FILE *f;

	if (geteuid() != 0)
		return geteuid();
	f = fopen("/proc/self/uid_map", "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u %u", &inside, &outside) != 2 || inside != 0)
		outside = 0;
	fclose(f);
	return outside;
}

static int slot_name_temporary(char *path, size_t size)
{
	return snprintf(path, size, "/tmp/uiwarp-%u", slot_user());
}

static int slot_own_named(const char *path, int n, size_t size)
{
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : slot_own_directory(path);
}

/** /run is read-only in some containers, and in a user namespace it is another root's. */
static int slot_root_directory(char *path, size_t size)
{
	if (slot_own_named(path, snprintf(path, size, "/run/uiwarp"), size) == 0 &&
		faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
		return 0;
	return slot_own_named(path, slot_name_temporary(path, size), size);
}

int slot_directory(char *path, size_t size)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int n;

	if (geteuid() == 0)
		return slot_root_directory(path, size);
	if (runtime && runtime[0] == '/')
		n = snprintf(path, size, "%s/uiwarp", runtime);
	else
		n = slot_name_temporary(path, size);
	return slot_own_named(path, n, size);
}

/* ---- places --------------------------------------------------------------------------------- */

static bool slot_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/**
 * Add path[n], if @p rc is not why that is none. One that is there by another name is not added: a
 * process that locked a file by two names would be in its own way.
 * @return rc.
 */
static int slot_add_place(struct slot_places *p, int rc)
{
	bool known = false;

	if (rc == -EPERM || rc == -ENOTDIR)
		memcpy(p->refused, p->path[p->n], SLOT_PATH);
	for (unsigned i = 0; i < p->n && !rc; i++)
		known = known || slot_is_same(p->path[i], p->path[p->n]);
	if (!rc && !known)
		p->n++;
	return rc;
}

/** By the number alone, whatever the environment says, where logind has made it. */
static int slot_runtime_directory(char path[SLOT_PATH])
{
	int rc;

	snprintf(path, SLOT_PATH, "/run/user/%u", (unsigned)geteuid());
	rc = slot_check_directory(path);
	if (rc)
		return rc == -EPERM ? -EACCES : rc; /* logind's, and nobody's fault */
	strcat(path, "/uiwarp");
	return slot_own_directory(path);
}

/** In a user namespace it may be another root's, which is nobody's fault. */
static int slot_run_directory(const char *path)
{
	int rc = slot_own_directory(path);
	struct stat st;

	if (rc == -EPERM && slot_user() != 0 && lstat(path, &st) == 0 && st.st_uid != 0)
		return -EACCES;
	return rc;
}

/** Where there is /run/uiwarp, only those meet in the other one that cannot have that. */
static int slot_find_places_of_root(struct slot_places *p)
{
	bool has_run;
	int rc;

	strcpy(p->path[0], "/run/uiwarp");
	has_run = slot_add_place(p, slot_run_directory(p->path[0])) == 0;
	slot_name_temporary(p->path[p->n], SLOT_PATH);
	rc = slot_add_place(p, slot_own_directory(p->path[p->n]));
	if (p->n == 0)
		return rc;
	/* Anybody can have made the second one, and only root the first. */
	if (has_run)
		p->refused[0] = '\0';
	return 0;
}

int slot_find_places(struct slot_places *p)
{
	int rc;

	p->n = 0;
	p->refused[0] = '\0';
	if (geteuid() == 0)
		return slot_find_places_of_root(p);
	/* That of all processes comes first: those that meet there do so at once. */
	slot_name_temporary(p->path[p->n], SLOT_PATH);
	slot_add_place(p, slot_own_directory(p->path[p->n]));
	slot_add_place(p, slot_runtime_directory(p->path[p->n]));
	rc = slot_add_place(p, slot_directory(p->path[p->n], SLOT_PATH));
	return p->n ? 0 : rc;
}

/* ---- slots ---------------------------------------------------------------------------------- */

/** For people who look into the directory; the lock is what counts. */
static void slot_sign(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof text, "%d\n", (int)getpid());

	/* At the limit of a file's size write() would end the process. */
	if (ftruncate(fd, 0) == 0)
		log_write(fd, text, (size_t)n);
}

bool slot_file_is_there(int fd, int directory, const char *name)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 &&
	       fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/** @return the locked file, or -EWOULDBLOCK when somebody else has it. */
static int slot_lock(const char *directory, const char *group, unsigned slot)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/%s.%u", directory, group, slot);
	int fd, err;

	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	for (;;) {
		/* The files stay: one that was deleted could be locked by its old name and its new
		 * one. */
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			err = errno;
			close(fd);
			return -err;
		}
		if (slot_file_is_there(fd, AT_FDCWD, path)) {
			slot_sign(fd);
			return fd;
		}
		close(fd);
	}
}

void slot_release(struct slot_hold *hold)
{
	while (hold->n)
		close(hold->fd[--hold->n]);
}

/** In all places. @return 0; -EWOULDBLOCK: somebody has it in one; or why there is no lock. */
static int slot_try(
	const struct slot_places *p, const char *group, unsigned slot, struct slot_hold *hold)
{
	int rc = -ENOENT;

	for (unsigned i = 0; i < p->n; i++) {
		int fd = slot_lock(p->path[i], group, slot);

		if (fd == -EINTR || fd == -EWOULDBLOCK) {
			slot_release(hold);
			return -EWOULDBLOCK;
		}
		if (fd >= 0)
			hold->fd[hold->n++] = fd;
		else
			rc = fd;
	}
	return hold->n ? 0 : rc;
}

int slot_take(const struct slot_places *p, const char *group, unsigned first, unsigned last,
	unsigned *slot, struct slot_hold *hold)
{
	hold->n = 0;
	for (unsigned i = first; i <= last; i++) {
		int rc = slot_try(p, group, i, hold);

		if (rc == -EWOULDBLOCK)
			continue;
		*slot = i;
		return rc;
	}
	return -EBUSY;
}
