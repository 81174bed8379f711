/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** @param directory /proc/PID/task @return the letter of proc(5), or 0: it has ended. */
static char tasks_state(int directory, const char *task)
{
	char path[32], text[128], *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%.20s/stat", task);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* A name may have any character. */
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

bool tasks_sleep(pid_t pid, pid_t except)
{
	char path[48];
	struct dirent *task;
	bool seen = false, awake = false;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return false;
	while (!awake && (task = readdir(d)) != NULL) {
		long id = strtol(task->d_name, NULL, 10);
		char state = id > 0 ? tasks_state(dirfd(d), task->d_name) : '\0';

		seen = seen || state;
		awake = id != except && (state == 'R' || state == 'D');
	}
	closedir(d);
	return seen && !awake;
}
