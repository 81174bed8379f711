/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of what processes tell, and how much of that is kept for them. */
#include "tools/stat_prometheus.h"

#include "stat_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *metrics_of(const struct stat_prometheus *all)
{
	static char *text;
	static size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	stat_prometheus_write(out, all);
	fclose(out);
	return text;
}

/** Metrics are the same of what is kept, which is less. */
static void what_is_kept_makes_the_same_metrics(void **state)
{
	struct stat_process p = process();
	struct stat_prometheus whole = {.process = &p, .n = 1};
	struct stat_prometheus kept = {.room = STAT_PROMETHEUS_BYTES};
	char *expected = metrics_of(&whole), *text;

	assert_int_equal(stat_prometheus_keep(&kept, &p), 0);
	text = metrics_of(&kept);
	assert_string_equal(text, expected);
	assert_non_null(strstr(text, "uiwarp_connection_rtt_seconds{"));
	assert_non_null(strstr(text, "uiwarp_cq_size{"));
	assert_true(kept.process[0].list[STAT_CONNECTIONS].len < p.list[STAT_CONNECTIONS].len);
	free(text);
	free(expected);
	stat_prometheus_free(&kept);
	stat_process_free(&p);
}

/** More than that is an error, and never fewer processes. */
static void more_than_is_kept_is_an_error(void **state)
{
	struct stat_process p = process();
	struct stat_prometheus kept = {.room = STAT_PROMETHEUS_BYTES};
	size_t each;

	assert_int_equal(stat_prometheus_keep(&kept, &p), 0);
	each = STAT_PROMETHEUS_BYTES - kept.room;
	assert_in_range(each, sizeof about_text, 100 * sizeof about_text);
	kept.room = 2 * each - 1;
	assert_int_equal(stat_prometheus_keep(&kept, &p), 0);
	assert_int_equal(kept.room, each - 1);
	/* Wherever in it that is. */
	for (size_t room = 0; room < each; room++) {
		kept.room = room;
		assert_int_equal(stat_prometheus_keep(&kept, &p), -ENOBUFS);
		assert_int_equal(kept.room, room);
		assert_int_equal(kept.n, 2);
	}
	stat_prometheus_free(&kept);
	stat_process_free(&p);
}

/** Prometheus takes nothing of a text that has a sample twice. */
static void processes_of_two_directories_are_told_apart(void **state)
{
	struct stat_process p[2] = {process(), process()};
	struct stat_prometheus all = {.room = STAT_PROMETHEUS_BYTES};
	char *text, *line, *rest;

	json_object_set_new(p[1].about, "directory", json_string("/tmp/uiwarp-0"));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(stat_prometheus_keep(&all, &p[i]), 0);
		stat_process_free(&p[i]);
	}
	text = metrics_of(&all);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_true(*line == '#' || !strstr(rest, line));
	free(text);
	stat_prometheus_free(&all);
}

/** The length of the label that begins so. */
static size_t label_of(const struct stat_prometheus *all, const char *begins)
{
	char *text = metrics_of(all), *at = strstr(text, begins);
	size_t len;

	assert_non_null(at);
	len = strcspn(at + strlen(begins), "\"");
	free(text);
	return len;
}

/** Each sample has them, and they may be anybody's: they are cut, between two characters. */
static void labels_are_cut(void **state)
{
	static char name[1 << 16], reason[1 << 16];
	struct stat_process p = process();
	struct stat_prometheus all = {.process = &p, .n = 1};

	memset(reason, 'r', sizeof reason - 1);
	json_object_set_new(json_object_get(json_object_get(p.about, "stats"), "drops"), reason,
		json_integer(1));
	/* The limit is before, within and behind a character of two bytes, and one of four. */
	for (unsigned lead = 0; lead < 4; lead++)
		for (unsigned wide = 2; wide <= 4; wide += 2) {
			const char *character = wide == 2 ? "\xc3\xa9" : "\xf0\x9f\x98\x80";

			memset(name, 'a', lead);
			for (size_t at = lead; at + wide < sizeof name; at += wide)
				memcpy(name + at, character, wide + 1);
			json_object_set_new(
				json_object_get(p.about, "info"), "program", json_string(name));
			assert_int_equal(label_of(&all, ",program=\""),
				lead + (STAT_PROMETHEUS_LABEL - lead) / wide * wide);
			assert_int_equal(label_of(&all, ",reason=\"r"), STAT_PROMETHEUS_LABEL - 1);
		}
	/* One that is as long as may be is whole. */
	memset(name, 'a', STAT_PROMETHEUS_LABEL);
	name[STAT_PROMETHEUS_LABEL] = '\0';
	json_object_set_new(json_object_get(p.about, "info"), "program", json_string(name));
	assert_int_equal(label_of(&all, ",program=\""), STAT_PROMETHEUS_LABEL);
	stat_process_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_makes_the_same_metrics),
		cmocka_unit_test(more_than_is_kept_is_an_error),
		cmocka_unit_test(processes_of_two_directories_are_told_apart),
		cmocka_unit_test(labels_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
