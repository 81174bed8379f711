/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DPDK logs to one stream per process. Ours splits it into lines for the present sink, at debug
 * level, as our own messages report errors. It keeps the first error, which names the cause. Later
 * ones only say that something failed.
 */
#include "dpdk-port/eal_log.h"
#include "dpdk-port/eal.h"

#include <pthread.h>
#include <rte_log.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 400

/**
 * The EAL goes on: without a directory of its own where it has no use for one, and without a file
 * for its memory. What it has said just before, that it cannot be made, was an error, but is no
 * reason for anything.
 */
static const char *const eal_log_goes_on[] = {
	"EAL: No DPDK runtime directory created",
	"EAL: Falling back to anonymous map",
};

static struct {
	pthread_mutex_t lock;
	const struct log_sink *sink;
	char line[LINE_MAX_LEN];
	size_t len;
	char reason[LINE_MAX_LEN];
	bool watching, quiet;
	bool told_wanted; /**< that a descriptor is */
	uint64_t refused; /**< peers of memifs */
} eal_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool eal_log_line_goes_on(void)
{
	for (size_t i = 0; i < sizeof eal_log_goes_on / sizeof eal_log_goes_on[0]; i++)
		if (strcmp(eal_log.line, eal_log_goes_on[i]) == 0)
			return true;
	return false;
}

static void eal_log_line_done(int dpdk_level)
{
	eal_log.line[eal_log.len] = '\0';
	/* Such a line may be of an error's level itself. */
	if (eal_log_line_goes_on())
		eal_log.reason[0] = '\0';
	else if (eal_log.watching && dpdk_level <= (int)RTE_LOG_ERR && !eal_log.reason[0])
		memcpy(eal_log.reason, eal_log.line, eal_log.len + 1);
	if (eal_log.len && !eal_log.quiet)
		log_printf(eal_log.sink, LOG_LEVEL_DEBUG, "DPDK: %s", eal_log.line);
	eal_log.len = 0;
}

static ssize_t eal_log_write(void *cookie, const char *buf, size_t size)
{
	int level = cookie ? (int)(intptr_t)cookie : rte_log_cur_msg_loglevel();

	if (level <= 0)
		level = (int)RTE_LOG_DEBUG;
	pthread_mutex_lock(&eal_log.lock);
	for (size_t i = 0; i < size; i++) {
		if (buf[i] == '\n')
			eal_log_line_done(level);
		else if (eal_log.len < sizeof eal_log.line - 1)
			eal_log.line[eal_log.len++] = buf[i];
	}
	pthread_mutex_unlock(&eal_log.lock);
	return (ssize_t)size;
}

FILE *eal_log_stream(int level)
{
	FILE *f = fopencookie(
		(void *)(intptr_t)level, "w", (cookie_io_functions_t){.write = eal_log_write});

	if (f)
		setvbuf(f, NULL, _IOLBF, 0);
	return f;
}

void eal_log_to(const struct log_sink *log)
{
	pthread_mutex_lock(&eal_log.lock);
	eal_log.sink = log;
	pthread_mutex_unlock(&eal_log.lock);
}

void eal_log_descriptor_wanted(void)
{
	pthread_mutex_lock(&eal_log.lock);
	if (!eal_log.told_wanted)
		log_printf(eal_log.sink, LOG_LEVEL_WARNING,
			"no descriptor is left for the port, which waits for one: raise \"ulimit "
			"-n\"");
	eal_log.told_wanted = true;
	pthread_mutex_unlock(&eal_log.lock);
}

void eal_log_memif_refused(const char *sentence)
{
	pthread_mutex_lock(&eal_log.lock);
	log_printf(eal_log.sink, log_level_of_count(++eal_log.refused), "%s", sentence);
	pthread_mutex_unlock(&eal_log.lock);
}

void eal_log_release(const struct log_sink *log)
{
	pthread_mutex_lock(&eal_log.lock);
	if (eal_log.sink == log)
		eal_log.sink = NULL;
	pthread_mutex_unlock(&eal_log.lock);
}

void eal_log_watch(void)
{
	pthread_mutex_lock(&eal_log.lock);
	eal_log.watching = true;
	eal_log.reason[0] = '\0';
	pthread_mutex_unlock(&eal_log.lock);
}

static bool eal_log_take(char *buf, size_t len, bool keep)
{
	bool any;

	pthread_mutex_lock(&eal_log.lock);
	any = eal_log.watching && eal_log.reason[0];
	if (any)
		snprintf(buf, len, "%s", eal_log.reason);
	eal_log.watching = eal_log.watching && keep;
	pthread_mutex_unlock(&eal_log.lock);
	return any;
}

bool eal_log_look(char *buf, size_t len)
{
	return eal_log_take(buf, len, true);
}

bool eal_log_reason(char *buf, size_t len)
{
	return eal_log_take(buf, len, false);
}

void eal_log_quiet(bool quiet)
{
	pthread_mutex_lock(&eal_log.lock);
	eal_log.quiet = quiet;
	pthread_mutex_unlock(&eal_log.lock);
}
