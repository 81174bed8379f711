/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stack_log.h"

#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void stack_log_keep(struct stack_log *l, enum log_level level, const char *text)
{
	struct stack_log_entry *e;
	struct timespec t;

	/* A line is not worth a wait: the lock's holder may be the thread that this interrupts. */
	if (pthread_mutex_trylock(&l->lock) != 0)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	e = &l->kept[l->lines++ % STACK_LOG_KEPT];
	e->time = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
	e->level = level;
	snprintf(e->text, sizeof e->text, "%s", text);
	pthread_mutex_unlock(&l->lock);
}

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
	stack_log_keep(l, level, text);
	/* One write, so that lines of two threads or processes do not mix; and not by stdio, which
	 * is the application's. */
	if (write(l->fd >= 0 ? l->fd : STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

int stack_log_open(struct stack_log *l, enum log_level max_level, const char *path)
{
	*l = (struct stack_log){
		.sink = {.line = stack_log_line, .ctx = l, .max_level = max_level}, .fd = -1};
	pthread_mutex_init(&l->lock, NULL);
	if (!*path)
		return 0;
	l->fd = own_file_open(path, O_WRONLY | O_APPEND, 0644);
	return l->fd < 0 ? l->fd : 0;
}

void stack_log_close(struct stack_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	pthread_mutex_destroy(&l->lock);
}

void stack_log_set_level(struct stack_log *l, enum log_level level)
{
	atomic_store_explicit(&l->sink.max_level, level, memory_order_relaxed);
}

const char *stack_log_level_name(enum log_level level)
{
	static const char *const name[] = {"error", "warning", "info", "debug"};

	return name[level];
}

bool stack_log_get(struct stack_log *l, uint64_t n, struct stack_log_entry *out)
{
	bool kept;

	pthread_mutex_lock(&l->lock);
	kept = n < l->lines && l->lines - n <= STACK_LOG_KEPT;
	if (kept)
		*out = l->kept[n % STACK_LOG_KEPT];
	pthread_mutex_unlock(&l->lock);
	return kept;
}

uint64_t stack_log_lines(struct stack_log *l)
{
	uint64_t lines;

	pthread_mutex_lock(&l->lock);
	lines = l->lines;
	pthread_mutex_unlock(&l->lock);
	return lines;
}
