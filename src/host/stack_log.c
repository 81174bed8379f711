/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stack_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void stack_log_line(void *ctx, enum log_level level, const char *text)
{
	static const char *const word[] = {"error: ", "warning: ", "", ""};
	struct stack_log *l = ctx;
	char line[640];
	int n = snprintf(line, sizeof line, "uiwarp: %s%s\n", word[level], text);

	if (n >= (int)sizeof line) {
		n = sizeof line - 1;
		line[n - 1] = '\n';
	}
	/* One write, so that lines of two threads or processes do not mix; and not by stdio, which
	 * is the application's. */
	if (write(l->fd >= 0 ? l->fd : STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

int stack_log_open(struct stack_log *l, enum log_level max_level, const char *path)
{
	*l = (struct stack_log){
		.sink = {.line = stack_log_line, .ctx = l, .max_level = max_level}, .fd = -1};
	if (!*path)
		return 0;
	l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return l->fd < 0 ? -errno : 0;
}

void stack_log_close(struct stack_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
