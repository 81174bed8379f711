/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal_leftover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EAL_LEFTOVER_PREFIX "uiwarp-"

void eal_leftover_prefix(char *buf, size_t len, pid_t pid)
{
	snprintf(buf, len, EAL_LEFTOVER_PREFIX "%d", (int)pid);
}

/** True of "uiwarp-PID" with a PID that no process has. */
static bool eal_leftover_is_stale(const char *name)
{
	const char *digits = name + strlen(EAL_LEFTOVER_PREFIX);
	char *end;
	long pid;

	if (strncmp(name, EAL_LEFTOVER_PREFIX, strlen(EAL_LEFTOVER_PREFIX)) != 0 ||
		!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	pid = strtol(digits, &end, 10);
	if (errno || *end || pid <= 0 || pid > INT_MAX)
		return false;
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void eal_leftover_remove(const char *directory)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(directory, '/');
	struct dirent *entry;
	DIR *all;

	if (!slash)
		return;
	rmdir(directory);
	snprintf(parent, sizeof parent, "%.*s", (int)(slash - directory), directory);
	all = opendir(parent);
	if (!all)
		return;
	while ((entry = readdir(all)))
		if (eal_leftover_is_stale(entry->d_name))
			unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
	closedir(all);
}
