/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stack_log.h"

#include "base/log_write.h"
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void stack_log_keep(struct stack_log *l, enum log_level level, const char *text)
{
	uint64_t number = atomic_fetch_add_explicit(&l->lines, 1, memory_order_relaxed);
	struct stack_log_kept *k = &l->kept[number % STACK_LOG_KEPT];
	uint64_t version = atomic_load_explicit(&k->version, memory_order_relaxed);
	struct stack_log_entry e = {.level = level};
	uint64_t words[STACK_LOG_WORDS] = {0};
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	e.time = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
	snprintf(e.text, sizeof e.text, "%s", text);
	memcpy(words, &e, sizeof e);
	if (version && atomic_load_explicit(&k->number, memory_order_relaxed) > number)
		return; /* it came late */
	/* A line is not worth a wait: who writes here may be the thread that this interrupts. */
	if (version & 1 || !atomic_compare_exchange_strong_explicit(&k->version, &version,
				   version + 1, memory_order_acquire, memory_order_relaxed))
		return;
	/* Each after the odd version, and read before the version is looked at again. */
	atomic_store_explicit(&k->number, number, memory_order_release);
	for (unsigned i = 0; i < STACK_LOG_WORDS; i++)
		atomic_store_explicit(&k->words[i], words[i], memory_order_release);
	atomic_store_explicit(&k->version, version + 2, memory_order_release);
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
	if (l->fd >= 0)
		log_write(l->fd, line, (size_t)n);
	else
		log_write_stderr(line, (size_t)n);
}

int stack_log_open(struct stack_log *l, enum log_level max_level, const char *path)
{
	*l = (struct stack_log){
		.sink = {.line = stack_log_line, .ctx = l, .max_level = max_level}, .fd = -1};
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
	struct stack_log_kept *k = &l->kept[n % STACK_LOG_KEPT];
	uint64_t version = atomic_load_explicit(&k->version, memory_order_acquire), number;
	uint64_t words[STACK_LOG_WORDS];

	if (!version || version & 1)
		return false;
	number = atomic_load_explicit(&k->number, memory_order_acquire);
	for (unsigned i = 0; i < STACK_LOG_WORDS; i++)
		words[i] = atomic_load_explicit(&k->words[i], memory_order_acquire);
	/* If it changed meanwhile, it is a later one now. */
	if (number != n || atomic_load_explicit(&k->version, memory_order_relaxed) != version)
		return false;
	memcpy(out, words, sizeof *out);
	return true;
}

uint64_t stack_log_lines(struct stack_log *l)
{
	return atomic_load_explicit(&l->lines, memory_order_relaxed);
}
