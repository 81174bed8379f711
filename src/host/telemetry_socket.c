/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_socket.h"

#include "base/fd_room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TELEMETRY_PREFIX "telemetry."
/** Of a socket that is not at its final name yet. */
#define TELEMETRY_TEMPORARY ".new." TELEMETRY_PREFIX
/** It is so for no longer than this. */
#define TELEMETRY_TEMPORARY_S 60

/** Stacks of one process, and processes of one number in different PID namespaces. */
#define TELEMETRY_NAMES 16

/** Connections that wait to be accepted. */
#define TELEMETRY_BACKLOG 128

/** The address of @p name in the open @p dir, whose path may be longer than an address. */
static struct sockaddr_un telemetry_socket_address(int dir, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%.*s", dir, TELEMETRY_NAME - 1,
		name);
	return a;
}

static int telemetry_socket_directory(const char *directory)
{
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dir < 0 ? -errno : dir;
}

static int telemetry_socket_open(int flags)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);

	return fd < 0 ? -errno : fd;
}

static int telemetry_socket_connect_at(int dir, const char *name, int flags)
{
	struct sockaddr_un a = telemetry_socket_address(dir, name);
	int fd = telemetry_socket_open(flags), rc;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int telemetry_socket_connect(const char *directory, const char *name)
{
	int dir = telemetry_socket_directory(directory), fd;

	if (dir < 0)
		return dir;
	/* A stopped process accepts nobody: behind a full backlog a connect() would wait for it. */
	fd = telemetry_socket_connect_at(dir, name, SOCK_NONBLOCK);
	close(dir);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

bool telemetry_socket_is_name(const char *name, pid_t *pid)
{
	char *end;
	long n;

	if (strncmp(name, TELEMETRY_PREFIX, strlen(TELEMETRY_PREFIX)) != 0)
		return false;
	name += strlen(TELEMETRY_PREFIX);
	if (strlen(name) > 16 || *name < '1' || *name > '9')
		return false;
	n = strtol(name, &end, 10);
	if (*end != '\0' && (*end != '.' || strspn(end + 1, "0123456789") != strlen(end + 1)))
		return false;
	*pid = (pid_t)n;
	return n > 0 && n == *pid;
}

unsigned telemetry_socket_stack(const char *name, pid_t pid)
{
	const char *dot;
	pid_t of;

	if (!telemetry_socket_is_name(name, &of) || of != pid)
		return 0;
	dot = strchr(name + strlen(TELEMETRY_PREFIX), '.');
	return dot ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
}

const char *telemetry_socket_process(const char *name, pid_t pid, char text[TELEMETRY_NAME])
{
	unsigned stack = telemetry_socket_stack(name, pid);

	snprintf(text, TELEMETRY_NAME, stack ? "%d.%u" : "%d", (int)pid, stack);
	return text;
}

static bool telemetry_socket_is_dead(int dir, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	/* A stopped process with a full backlog lives, too. */
	fd = telemetry_socket_connect_at(dir, name, SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

/**
 * Between the look and the removal the name must not become another's: they are one's who has the
 * directory's lock. Where somebody else has it now, the name is left to who comes by next.
 */
static void telemetry_socket_remove_dead(int dir, const char *name)
{
	if (flock(dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return;
	if (telemetry_socket_is_dead(dir, name))
		unlinkat(dir, name, 0);
	flock(dir, LOCK_UN);
}

void telemetry_socket_sweep(const char *directory, const char *name)
{
	int dir = telemetry_socket_directory(directory);

	if (dir < 0)
		return;
	telemetry_socket_remove_dead(dir, name);
	close(dir);
}

/* ---- listening --------------------------------------------------------------------------- */

/**
 * Listen at a name of its own first: at its final one it would be taken for dead by others, between
 * bind() and listen(). No other socket of the host has its inode's number, whatever a PID namespace
 * calls the process.
 */
static int telemetry_socket_begin(int dir, char temporary[TELEMETRY_NAME])
{
	int fd = telemetry_socket_open(SOCK_NONBLOCK), rc;
	struct sockaddr_un a;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	snprintf(temporary, TELEMETRY_NAME, TELEMETRY_TEMPORARY "%llu",
		(unsigned long long)st.st_ino);
	a = telemetry_socket_address(dir, temporary);
	/* One that was killed here may have left it. */
	unlinkat(dir, temporary, 0);
	/* The directory may be one that others may look into. bind() gives the file this mode. */
	if (fchmod(fd, 0600) == 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
		listen(fd, TELEMETRY_BACKLOG) == 0)
		return fd;
	rc = -errno;
	close(fd);
	unlinkat(dir, temporary, 0);
	return rc;
}

/** Give @p temporary the first name that nobody has. */
static int telemetry_socket_settle(int dir, const char *temporary, char *name)
{
	for (unsigned i = 0; i < TELEMETRY_NAMES; i++) {
		char suffix[16] = "";

		if (i > 0)
			snprintf(suffix, sizeof suffix, ".%u", i);
		snprintf(name, TELEMETRY_NAME, TELEMETRY_PREFIX "%d%s", (int)getpid(), suffix);
		telemetry_socket_remove_dead(dir, name);
		if (linkat(dir, temporary, dir, name, 0) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/** A temporary name of long before @p now. */
static bool telemetry_socket_is_left(int dir, const char *name, time_t now)
{
	struct stat st;

	return strncmp(name, TELEMETRY_TEMPORARY, strlen(TELEMETRY_TEMPORARY)) == 0 &&
	       strlen(name) < TELEMETRY_NAME && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now - st.st_mtime > TELEMETRY_TEMPORARY_S;
}

/**
 * What others have left that were killed before they had their final name. Ours, @p temporary, is
 * as old as a moment.
 */
static void telemetry_socket_sweep_temporaries(int dir, const char *temporary)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat own;

	if (fd >= 0 && !d)
		close(fd);
	if (!d)
		return;
	if (fstatat(dir, temporary, &own, AT_SYMLINK_NOFOLLOW) == 0)
		while ((e = readdir(d)) != NULL)
			if (telemetry_socket_is_left(dir, e->d_name, own.st_mtime))
				telemetry_socket_remove_dead(dir, e->d_name);
	closedir(d);
}

int telemetry_socket_listen(const char *directory, char *name)
{
	int dir = telemetry_socket_directory(directory), fd, rc;
	char temporary[TELEMETRY_NAME];

	if (dir < 0)
		return dir;
	fd = telemetry_socket_begin(dir, temporary);
	if (fd >= 0) {
		telemetry_socket_sweep_temporaries(dir, temporary);
		rc = telemetry_socket_settle(dir, temporary, name);
		unlinkat(dir, temporary, 0);
		if (rc) {
			close(fd);
			fd = rc;
		} else {
			fd = fd_move_up(fd);
		}
	}
	close(dir);
	return fd;
}

int telemetry_socket_each(const char *directory, void (*fn)(void *ctx, const char *name), void *ctx)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	pid_t pid;

	if (!d)
		return -errno;
	while ((e = readdir(d)) != NULL)
		if (telemetry_socket_is_name(e->d_name, &pid))
			fn(ctx, e->d_name);
	closedir(d);
	return 0;
}
