/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/eal_log.h"

#include <rte_log.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

/* All lines that came out: "LEVEL text|". */
static char said[4096];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, "%d %s|", (int)level, text);
}

static const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_DEBUG};

static void assert_said(const char *expected)
{
	assert_string_equal(said, expected);
	said[0] = '\0';
}

static FILE *open_stream(int level)
{
	FILE *f = eal_log_stream(level);

	assert_non_null(f);
	eal_log_to(&sink);
	said[0] = '\0';
	return f;
}

static void close_stream(FILE *f)
{
	assert_int_equal(fclose(f), 0);
	eal_log_to(NULL);
}

static void text_is_cut_into_lines(void **state)
{
	FILE *f = open_stream((int)RTE_LOG_NOTICE);

	fputs("one\ntwo\nand the ", f);
	fflush(f);
	assert_said("3 DPDK: one|3 DPDK: two|");
	fputs("third", f);
	fflush(f);
	assert_said("");
	fputs("\n\n\nfourth\n", f);
	fflush(f);
	/* Empty lines say nothing. */
	assert_said("3 DPDK: and the third|3 DPDK: fourth|");
	close_stream(f);
}

static void a_line_without_end_is_cut_off(void **state)
{
	FILE *f = open_stream((int)RTE_LOG_NOTICE);
	const char *text;

	for (int i = 0; i < 1000; i++)
		fputs("0123456789", f);
	fputs("\nnext\n", f);
	fflush(f);
	text = strstr(said, "DPDK: ");
	assert_non_null(text);
	/* What the sink itself takes of it may be less. */
	assert_in_range(strcspn(text, "|"), 100, 6 + 399);
	assert_int_equal(strncmp(text + 6, "01234567890", 11), 0);
	assert_non_null(strstr(said, "|3 DPDK: next|"));
	close_stream(f);
}

static void levels_are_ours(void **state)
{
	static const struct {
		uint32_t dpdk;
		const char *line;
	} levels[] = {
		{RTE_LOG_EMERG, "3 DPDK: x|"},
		{RTE_LOG_ALERT, "3 DPDK: x|"},
		{RTE_LOG_CRIT, "3 DPDK: x|"},
		{RTE_LOG_ERR, "3 DPDK: x|"},
		{RTE_LOG_WARNING, "3 DPDK: x|"},
		{RTE_LOG_NOTICE, "3 DPDK: x|"},
		{RTE_LOG_INFO, "3 DPDK: x|"},
		{RTE_LOG_DEBUG, "3 DPDK: x|"},
	};

	assert_int_equal(LOG_LEVEL_WARNING, 1);
	assert_int_equal(LOG_LEVEL_INFO, 2);
	assert_int_equal(LOG_LEVEL_DEBUG, 3);
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		FILE *f = open_stream((int)levels[i].dpdk);

		fputs("x\n", f);
		fflush(f);
		assert_said(levels[i].line);
		close_stream(f);
	}
}

/* The stream that DPDK itself gets knows the level of each line. */
static void a_stream_of_rte_log_has_each_line_s_own_level(void **state)
{
	FILE *f = open_stream(0), *before = rte_log_get_stream();

	rte_log_set_global_level(RTE_LOG_DEBUG);
	rte_log_set_level(RTE_LOGTYPE_USER1, RTE_LOG_DEBUG);
	assert_int_equal(rte_openlog_stream(f), 0);
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "an error\n");
	rte_log(RTE_LOG_INFO, RTE_LOGTYPE_USER1, "a %s, %d\n", "word", 7);
	assert_said("3 DPDK: an error|3 DPDK: a word, 7|");
	rte_openlog_stream(before);
	/* And outside of rte_log() a line has none. */
	fputs("other\n", f);
	fflush(f);
	assert_said("3 DPDK: other|");
	close_stream(f);
}

static void the_first_error_is_the_reason(void **state)
{
	FILE *error = open_stream((int)RTE_LOG_ERR), *notice = open_stream((int)RTE_LOG_NOTICE);
	char reason[64] = "as it was", cut[6];

	fputs("before\n", error);
	fflush(error);
	said[0] = '\0';
	eal_log_watch();
	fputs("no error\n", notice);
	fflush(notice);
	fputs("the first\nthe second\n", error);
	fflush(error);
	/* The caller says it in its own sentence, so here it is not a warning. */
	assert_said("3 DPDK: no error|3 DPDK: the first|3 DPDK: the second|");
	assert_true(eal_log_reason(reason, sizeof reason));
	assert_string_equal(reason, "the first");
	/* Taken once; nothing is watched any more. */
	assert_false(eal_log_reason(reason, sizeof reason));
	fputs("later\n", error);
	fflush(error);
	assert_said("3 DPDK: later|");
	assert_false(eal_log_reason(reason, sizeof reason));
	assert_string_equal(reason, "the first");
	eal_log_watch();
	fputs("too long\n", error);
	fflush(error);
	assert_true(eal_log_reason(cut, sizeof cut));
	assert_string_equal(cut, "too l");
	close_stream(notice);
	close_stream(error);
}

static void watching_again_forgets_the_last_reason(void **state)
{
	FILE *f = open_stream((int)RTE_LOG_ERR);
	char reason[64];

	eal_log_watch();
	fputs("of the last time\n", f);
	fflush(f);
	eal_log_watch();
	assert_false(eal_log_reason(reason, sizeof reason));
	close_stream(f);
}

static void quiet_swallows_lines_but_not_the_reason(void **state)
{
	FILE *f = open_stream((int)RTE_LOG_ERR);
	char reason[64];

	eal_log_watch();
	eal_log_quiet(true);
	fputs("refused\n", f);
	fflush(f);
	eal_log_quiet(false);
	assert_said("");
	assert_true(eal_log_reason(reason, sizeof reason));
	assert_string_equal(reason, "refused");
	fputs("heard\n", f);
	fflush(f);
	assert_said("3 DPDK: heard|");
	close_stream(f);
}

static void only_the_sink_in_force_is_released(void **state)
{
	const struct log_sink other = {.line = keep_line, .max_level = LOG_LEVEL_DEBUG};
	FILE *f = open_stream((int)RTE_LOG_NOTICE);

	eal_log_release(&other);
	fputs("x\n", f);
	fflush(f);
	assert_said("3 DPDK: x|");
	eal_log_release(&sink);
	fputs("y\n", f);
	fflush(f);
	assert_said("");
	close_stream(f);
}

/** A peer may come again and again. */
static void of_many_that_are_refused_few_are_warned_of(void **state)
{
	eal_log_to(&sink);
	said[0] = '\0';
	for (unsigned i = 1; i <= 4; i++)
		eal_log_memif_refused("memif at x");
	assert_said("1 memif at x|1 memif at x|3 memif at x|1 memif at x|");
	eal_log_to(NULL);
	eal_log_memif_refused("memif at x");
	assert_said("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_into_lines),
		cmocka_unit_test(a_line_without_end_is_cut_off),
		cmocka_unit_test(levels_are_ours),
		cmocka_unit_test(a_stream_of_rte_log_has_each_line_s_own_level),
		cmocka_unit_test(the_first_error_is_the_reason),
		cmocka_unit_test(watching_again_forgets_the_last_reason),
		cmocka_unit_test(quiet_swallows_lines_but_not_the_reason),
		cmocka_unit_test(only_the_sink_in_force_is_released),
		cmocka_unit_test(of_many_that_are_refused_few_are_warned_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
