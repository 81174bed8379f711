/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp stat: what running processes do, once or again and again, for people and programs. */
#include "base/clock_id.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/stat_print.h"
#include "tools/stat_prometheus.h"
#include "tools/stat_record.h"
#include "tools/telemetry_options.h"
#include "tools/telemetry_sample.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPTION_JSON = 256, OPTION_PROMETHEUS, OPTION_FOLLOW, OPTION_RECORD };

struct cmd_stat_options {
	struct telemetry_options asked;
	bool json, prometheus, follow;
	const char *record;
	unsigned long qp;
	double interval;
	unsigned long count;
};

static const struct argp_option cmd_stat_argp_options[] = {
	{"json", OPTION_JSON, NULL, 0, "All that the processes tell, as JSON", 0},
	{"prometheus", OPTION_PROMETHEUS, NULL, 0,
		"Metrics in Prometheus' text format, for a collector of text files or a scrape", 0},
	{"follow", OPTION_FOLLOW, "QP", 0, "A line for each interval of the QP of this number", 0},
	{"record", OPTION_RECORD, "FILE", 0,
		"Write samples of all QPs and connections to FILE (\"-\": standard output), for "
		"\"uiwarp plot\", until a signal comes or the processes PID have ended",
		0},
	{"interval", 'i', "SECONDS", 0,
		"With --follow and --record: time between two lines, or samples (1)", 0},
	{"count", 'c', "NUMBER", 0, "With --follow and --record: end after so many", 0}, {0}};

static error_t cmd_stat_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_stat_options *o = state->input;
	char *end = NULL;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->asked;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case OPTION_PROMETHEUS:
		o->prometheus = true;
		return 0;
	case OPTION_FOLLOW:
		o->follow = true;
		o->qp = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end != '\0' || o->qp >= 1 << 24)
			argp_error(state, "--follow: expected the number of a QP");
		return 0;
	case OPTION_RECORD:
		o->record = arg;
		return 0;
	case 'i':
		o->interval = strtod(arg, &end);
		if (end == arg || *end != '\0' || !(o->interval >= 0.01 && o->interval <= 86400))
			argp_error(state, "--interval: expected seconds from 0.01 to 86400");
		return 0;
	case 'c':
		o->count = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end != '\0' || o->count == 0)
			argp_error(state, "--count: expected a number from 1");
		return 0;
	case ARGP_KEY_END:
		if (o->json + o->prometheus + o->follow + (o->record != NULL) > 1)
			argp_error(state,
				"expected one of --json, --prometheus, --follow and --record");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_stat_argp_children[] = {
	{&telemetry_options_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_stat_argp = {cmd_stat_argp_options, cmd_stat_parse_option, "[PID...]",
	"Show what the processes with a device of ours do: all of this user's, or those of PID.\v"
	"Exit status: 0; 1 if a process or the QP is not there; 2 if the command line is wrong.",
	cmd_stat_argp_children, NULL, NULL};

static void cmd_stat_nap(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

/** @param of the process that has it; of none yet: of any. */
static const struct telemetry_row *cmd_stat_find_qp(
	const struct telemetry_sample *s, uint32_t qp, const struct telemetry_row *of)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->row[i].qp == qp &&
			(!of->pid || telemetry_row_compare_process(&s->row[i], of) == 0))
			return &s->row[i];
	return NULL;
}

/** Such as the first stack of a process has to be asked for, where there are others. */
static const char *cmd_stat_stack(const struct telemetry_row *r, char text[TELEMETRY_NAME + 2])
{
	telemetry_row_process(r, text);
	return strchr(text, '.') ? text : strcat(text, ".0");
}

static void cmd_stat_tell_several(const struct telemetry_row *r, const struct telemetry_row *other)
{
	char first[TELEMETRY_NAME + 2], second[TELEMETRY_NAME + 2];

	if (r->pid != other->pid)
		fprintf(stderr,
			"uiwarp stat: processes %d and %d have a QP %u; expected the PID of one\n",
			(int)r->pid, (int)other->pid, r->qp);
	else if (strcmp(r->socket, other->socket) != 0)
		fprintf(stderr,
			"uiwarp stat: stacks %s and %s have a QP %u; expected one of them\n",
			cmd_stat_stack(r, first), cmd_stat_stack(other, second), r->qp);
	else
		fprintf(stderr,
			"uiwarp stat: process %d of %s and of %s has a QP %u; expected the "
			"--directory of one\n",
			(int)r->pid, r->directory, other->directory, r->qp);
}

/** Stacks with ports of their own give their QPs the same numbers. @return true, and it was told.
 */
static bool cmd_stat_is_of_several(const struct telemetry_sample *s, const struct telemetry_row *r)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct telemetry_row *other = &s->row[i];

		if (other->qp != r->qp || telemetry_row_compare_process(other, r) == 0)
			continue;
		cmd_stat_tell_several(r, other);
		return true;
	}
	return false;
}

/** It is there, and says nothing. */
static bool cmd_stat_is_silent(const struct telemetry_clients *c, const struct telemetry_row *of)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->client[i].pid == of->pid && strcmp(c->client[i].name, of->socket) == 0 &&
			!c->client[i].greeted)
			return true;
	return false;
}

static int cmd_stat_follow(struct telemetry_clients *c, const struct cmd_stat_options *o)
{
	struct telemetry_sample before = {.n = 0}, now;
	struct telemetry_row of = {.pid = 0};
	const struct telemetry_row *r;
	unsigned long lines = 0;
	int rc = EXIT_SUCCESS, failed;

	while (!(failed = telemetry_sample_take(&now, c, before.time > 0 ? &before : NULL))) {
		telemetry_sample_free(&before);
		before = now;
		r = cmd_stat_find_qp(&before, (uint32_t)o->qp, &of);
		if (!r && !cmd_stat_is_silent(c, &of)) {
			fprintf(stderr, "uiwarp stat: there is no QP %lu%s\n", o->qp,
				lines ? " any more" : "");
			rc = EXIT_FAILURE;
			break;
		}
		if (r && !of.pid && cmd_stat_is_of_several(&before, r)) {
			rc = EXIT_FAILURE;
			break;
		}
		if (r) {
			of = *r;
			stat_print_follow(stdout, &before, r, lines % 20 == 0);
			fflush(stdout);
			if (++lines == o->count || ferror(stdout))
				break;
		}
		cmd_stat_nap(o->interval);
		telemetry_clients_renew(c);
	}
	telemetry_sample_free(&before);
	if (failed)
		fprintf(stderr, "uiwarp stat: %s\n", telemetry_sample_error(failed));
	return failed ? EXIT_FAILURE : rc;
}

/* ---- record ------------------------------------------------------------------------------ */

/**
 * Have the signals that end a record wait to be asked for: then none comes between two looks.
 * One that is ignored, as by nohup(1), stays so.
 */
static void cmd_stat_hold_signals(sigset_t *held)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction a;

	sigemptyset(held);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (sigaction(ends[i], NULL, &a) == 0 && a.sa_handler != SIG_IGN)
			sigaddset(held, ends[i]);
	sigprocmask(SIG_BLOCK, held, NULL);
}

/** Wait until the clock is @p until. @return false: a signal has come. */
static bool cmd_stat_wait(const sigset_t *held, double until)
{
	double left = until - clock_id_s(CLOCK_MONOTONIC);
	struct timespec t = {.tv_sec = 0};
	int got;

	do {
		if (left > 0) {
			t.tv_sec = (time_t)left;
			t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
		}
		got = sigtimedwait(held, NULL, &t);
		left = until - clock_id_s(CLOCK_MONOTONIC);
	} while (got < 0 && errno == EINTR && left > 0);
	return got < 0;
}

/** @return 1: go on; 0: the processes that were asked for have ended; or a negative errno. */
static int cmd_stat_record_sample(
	struct telemetry_clients *c, const struct cmd_stat_options *o, FILE *out, double begun)
{
	struct telemetry_sample s;
	int rc;

	telemetry_clients_renew(c);
	rc = telemetry_sample_take(&s, c, NULL);
	if (rc)
		return rc;
	rc = stat_record_write(out, &s, s.clock > begun ? (uint64_t)((s.clock - begun) * 1e9) : 0);
	if (!rc)
		rc = o->asked.n == 0 || c->n > 0;
	telemetry_sample_free(&s);
	return rc;
}

static int cmd_stat_record_to(FILE *out, struct telemetry_clients *c,
	const struct cmd_stat_options *o, const sigset_t *held)
{
	const double begun = clock_id_s(CLOCK_MONOTONIC);
	double next = begun, now;
	unsigned long samples = 0;
	int rc = stat_record_begin(out, (double)time(NULL), o->interval);

	if (rc)
		return rc;
	do {
		rc = cmd_stat_record_sample(c, o, out, begun);
		if (rc <= 0 || ++samples == o->count)
			break;
		/* One that took longer than the interval is not made up for. */
		next += o->interval;
		now = clock_id_s(CLOCK_MONOTONIC);
		next = next > now ? next : now;
	} while (cmd_stat_wait(held, next));
	return rc < 0 ? rc : 0;
}

static int cmd_stat_record(struct telemetry_clients *c, const struct cmd_stat_options *o)
{
	bool is_stdout = strcmp(o->record, "-") == 0;
	FILE *out = is_stdout ? stdout : fopen(o->record, "we");
	sigset_t held;
	int rc = out ? 0 : -errno;

	if (!rc) {
		cmd_stat_hold_signals(&held);
		rc = cmd_stat_record_to(out, c, o, &held);
		if (!is_stdout && fclose(out) != 0 && !rc)
			rc = -errno;
	}
	if (rc)
		fprintf(stderr, "uiwarp stat: %s: %s\n", o->record, telemetry_sample_error(rc));
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- once -------------------------------------------------------------------------------- */

/** @return false: what was written is not all, as one of them has told more than is kept. */
static bool cmd_stat_tell_refused(const struct telemetry_clients *c)
{
	char process[TELEMETRY_NAME];
	bool whole = true;

	for (unsigned i = 0; i < c->n; i++) {
		const struct telemetry_client *one = &c->client[i];

		if (one->refused[0])
			fprintf(stderr, "uiwarp stat: process %s: %s\n",
				telemetry_socket_process(one->name, one->pid, process),
				one->refused);
		whole = whole && !one->excessive;
	}
	return whole;
}

static int cmd_stat_table(struct telemetry_clients *c)
{
	struct telemetry_sample s;
	int rc = telemetry_sample_take(&s, c, NULL);

	if (rc) {
		fprintf(stderr, "uiwarp stat: %s\n", telemetry_sample_error(rc));
		return EXIT_FAILURE;
	}
	stat_print_table(stdout, &s);
	telemetry_sample_free(&s);
	return EXIT_SUCCESS;
}

/** Each process is forgotten before the next one is asked. */
static int cmd_stat_json(struct telemetry_clients *c)
{
	const char *before = "[\n ";
	bool whole = true;

	for (unsigned i = 0; i < c->n && whole; i++) {
		struct stat_process p;

		if (!stat_process_collect(&p, &c->client[i], false))
			continue;
		fputs(before, stdout);
		before = ",\n ";
		whole = stat_print_json(stdout, &p);
		stat_process_free(&p);
	}
	puts(*before == '[' ? "[]" : "\n]");
	if (!whole)
		fprintf(stderr, "uiwarp stat: no memory\n");
	return whole ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cmd_stat_prometheus(struct telemetry_clients *c)
{
	struct stat_prometheus all = {.room = STAT_PROMETHEUS_BYTES};
	int rc = 0;

	for (unsigned i = 0; i < c->n && !rc; i++) {
		struct stat_process p;

		if (!stat_process_collect(&p, &c->client[i], true))
			continue;
		rc = stat_prometheus_keep(&all, &p);
		stat_process_free(&p);
	}
	if (rc)
		fprintf(stderr, "uiwarp stat: %s\n", telemetry_sample_error(rc));
	else
		stat_prometheus_write(stdout, &all);
	stat_prometheus_free(&all);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_stat(int argc, char **argv)
{
	static char name[] = "uiwarp stat";
	struct cmd_stat_options o = {.interval = 1};
	struct telemetry_clients c;
	int rc;

	argv[0] = name;
	argp_parse(&cmd_stat_argp, argc, argv, 0, NULL, &o);
	rc = telemetry_options_open(&o.asked, name, &c);
	if (rc)
		return rc;
	if (o.follow)
		rc = cmd_stat_follow(&c, &o);
	else if (o.record)
		rc = cmd_stat_record(&c, &o);
	else if (o.json)
		rc = cmd_stat_json(&c);
	else if (o.prometheus)
		rc = cmd_stat_prometheus(&c);
	else
		rc = cmd_stat_table(&c);
	if (!o.follow && !o.record && !cmd_stat_tell_refused(&c))
		rc = EXIT_FAILURE;
	telemetry_clients_close(&c);
	return rc;
}
