/* SPDX-License-Identifier: BSD-2-Clause */
#include "asked.h"

#include "support/engine_still.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct child c;
char directory[64], pid[16];
struct telemetry *telemetry;
atomic_bool stuck;
atomic_uint started;
char log_level[512], capture[512];
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct engine engine;
static _Atomic unsigned asked; /**< each answer has more of everything */

static void answer_info(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	if (stuck)
		json_text_string(j, "error", "the engine is not released");
	json_text_number(j, "pid", (uint64_t)getpid());
	json_text_string(j, "program", "a \"b\"\n\x1b[2J\xc2\x9b\xc3\xa9");
	json_text_string(j, "device", "uiw7");
	if (started)
		json_text_number(j, "started_ns", started++);
	json_text_object_end(j);
}

static void answer_stats(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	json_text_object(j, "tcp");
	json_text_number(j, "retransmits", 12);
	json_text_number(j, "connections", 3);
	json_text_object_end(j);
	json_text_object(j, "drops");
	json_text_number(j, "tcp_bad_cksum", 5);
	json_text_object_end(j);
	json_text_object_end(j);
}

static void answer_rnic(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	json_text_array(j, "terminates");
	json_text_object(j, NULL);
	json_text_number(j, "layer", 1);
	json_text_number(j, "type", 1);
	json_text_number(j, "code", 0);
	json_text_number(j, "sent", 4);
	json_text_number(j, "received", 0);
	json_text_object_end(j);
	json_text_array_end(j);
	json_text_object_end(j);
}

/** Written by telemetry's thread. */
static void answer_change(void *ctx, const char *parameters, struct json_text *j)
{
	bool bad = strcmp(parameters, "loud") == 0, full = strstr(parameters, "/full") != NULL;

	json_text_object(j, NULL);
	json_text_string(j, bad ? "error" : "was", bad ? "not so" : parameters);
	json_text_string(j, "failed", full ? "no room" : NULL);
	json_text_object_end(j);
	if (bad || !*parameters)
		return;
	pthread_mutex_lock(&changing);
	snprintf(ctx, 512, "%s", parameters);
	pthread_mutex_unlock(&changing);
}

atomic_uint more_qps;

static enum walk step(void *ctx, void *cursor, void *item)
{
	uint32_t *at = cursor;

	*(uint32_t *)item = *at;
	return (*at)++ < QPS + more_qps ? WALK_ITEM : WALK_END;
}

static void ends(struct json_text *j, uint32_t n)
{
	char text[32];

	snprintf(text, sizeof text, "10.0.0.2:%u", 1000 + n);
	json_text_string(j, "local", "10.0.0.1:7");
	json_text_string(j, "remote", text);
}

static void qp(void *ctx, const void *item, struct json_text *j)
{
	uint32_t n = *(const uint32_t *)item;

	json_text_number(j, "qp", n + 1);
	json_text_string(j, "state", n == 5 ? "ERROR" : "RTS");
	json_text_number(j, "send_posted", UINT32_MAX - 3 + 50);
	json_text_number(j, "send_completed", UINT32_MAX - 3);
	ends(j, n);
	if (more_qps) {
		static char much[30000];

		memset(much, 'x', sizeof much - 1);
		json_text_string(j, "much", much);
	}
}

/** The one with the most to tell is the last but one. */
static void connection(void *ctx, const void *item, struct json_text *j)
{
	uint32_t n = *(const uint32_t *)item;

	if (n == 0)
		atomic_fetch_add(&asked, 1);
	ends(j, n);
	json_text_string(j, "congestion_control", "cubic");
	json_text_number(j, "srtt_ns", 1000 * (n + 1));
	json_text_number(j, "cwnd", 14600);
	json_text_number(j, "retransmits", n == QPS - 2 ? 77 : 0);
	json_text_number(
		j, "bytes_acked", n == QPS - 2 ? atomic_load(&asked) * UINT64_C(1000000000) : 0);
}

static const struct telemetry_list qps = {.item_size = 4, .step = step, .format = qp};
static const struct telemetry_list connections = {
	.item_size = 4, .step = step, .format = connection};
static const struct telemetry_command commands[] = {
	{"/uiwarp/info", "", .answer = answer_info},
	{"/uiwarp/stats", "", .answer = answer_stats},
	{"/uiwarp/rnic", "", .answer = answer_rnic},
	{"/uiwarp/qps", "", .list = &qps},
	{"/uiwarp/connections", "", .list = &connections},
};
static const struct telemetry_command log_command[] = {
	{"/uiwarp/log", "", .answer = answer_change}};
static const struct telemetry_command capture_command[] = {
	{"/uiwarp/capture", "", .answer = answer_change}};

int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-stat.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	engine_init(&engine, &engine_still_ops, NULL);
	telemetry = telemetry_create(
		&(struct telemetry_config){.engine = &engine, .directory = directory});
	telemetry_add(telemetry, commands, sizeof commands / sizeof commands[0], NULL);
	telemetry_add(telemetry, log_command, 1, log_level);
	telemetry_add(telemetry, capture_command, 1, capture);
	return telemetry_start(telemetry);
}

int teardown(void **state)
{
	telemetry_stop(telemetry);
	telemetry_destroy(telemetry);
	engine_fini(&engine);
	return rmdir(directory);
}

struct telemetry *another_process(void)
{
	struct telemetry *other = telemetry_create(
		&(struct telemetry_config){.engine = &engine, .directory = directory});

	telemetry_add(other, commands, sizeof commands / sizeof commands[0], NULL);
	assert_int_equal(telemetry_start(other), 0);
	return other;
}

void end_process(struct telemetry *other)
{
	telemetry_stop(other);
	telemetry_destroy(other);
}
