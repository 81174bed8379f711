/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp plot: what `uiwarp stat --record` has recorded, as a page with plots. */
#include "base/number.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/output.h"
#include "tools/plot_report.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cmd_plot_options {
	const char *file, *output;
	struct telemetry_asked asked;
	uint64_t qp;
};

enum { CMD_PLOT_PID = 256, CMD_PLOT_QP };

static const struct argp_option cmd_plot_argp_options[] = {
	{"output", 'o', "FILE.html", 0,
		"Write there (FILE with .html behind it); \"-\": standard output", 0},
	{"pid", CMD_PLOT_PID, "PID", 0, "Of this process only, or of its stack PID.N", 0},
	{"qp", CMD_PLOT_QP, "QP", 0, "Of the QP of this number only", 0}, {0}};

static error_t cmd_plot_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_plot_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case CMD_PLOT_PID:
		if (!telemetry_asked_parse(arg, &o->asked))
			argp_error(state, "--pid: expected the number of a process");
		return 0;
	case CMD_PLOT_QP:
		if (!number_parse(arg, 1, (1 << 24) - 1, &o->qp))
			argp_error(state, "--qp: expected the number of a QP");
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "expected one FILE");
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "expected the FILE that \"uiwarp stat --record\" wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_plot_argp_children[] = {{&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_plot_argp = {cmd_plot_argp_options, cmd_plot_parse_option, "FILE",
	"Draw goodput, RTT, windows, retransmissions and queues of each connection in FILE, which "
	"\"uiwarp stat --record\" wrote (\"-\": standard input), as one page of HTML.\v"
	"Exit status: 0; 1 if FILE is no record, has nothing to draw or the page cannot be "
	"written; 2 if the command line is wrong.",
	cmd_plot_argp_children, NULL, NULL};

static int cmd_plot_complain(const char *file, const char *text)
{
	fprintf(stderr, "uiwarp plot: %s: %s\n", file, text);
	return EXIT_FAILURE;
}

/** @return 0 or an exit status, and what is wrong was told. */
static int cmd_plot_read(
	const struct cmd_plot_options *o, struct stat_record_reader *r, struct plot_record *p)
{
	enum stat_record_result found;
	struct telemetry_row row;

	while ((found = stat_record_read(r, &row)) == STAT_RECORD_ROW)
		plot_record_add(p, &row, r->time_ns);
	if (found == STAT_RECORD_BAD)
		return cmd_plot_complain(o->file, r->error);
	if (r->cut)
		fprintf(stderr, "uiwarp plot: %s: the last line is cut off: it is left out\n",
			o->file);
	if (p->more)
		fprintf(stderr,
			"uiwarp plot: %s: only the first %d connections are drawn; --pid and --qp "
			"choose others\n",
			o->file, PLOT_RECORD_CONNECTIONS);
	return p->n ? 0 : cmd_plot_complain(o->file, "there is no such connection to draw");
}

static int cmd_plot_write(
	const struct cmd_plot_options *o, const struct stat_record_reader *r, struct plot_record *p)
{
	char beside[PATH_MAX];
	const char *output = o->output;
	struct stat record;
	bool failed;
	FILE *out;

	if (!output && strcmp(o->file, "-") != 0) {
		if (snprintf(beside, sizeof beside, "%s.html", o->file) >= (int)sizeof beside)
			return cmd_plot_complain(o->file, strerror(ENAMETOOLONG));
		output = beside;
	}
	if (!output || strcmp(output, "-") == 0) {
		plot_report_write(stdout, p, o->file, r->begun);
		return EXIT_SUCCESS; /* whether it arrives is looked at for all commands */
	}
	if (fstat(fileno(r->in), &record) == 0 && output_is_input(output, &record))
		return cmd_plot_complain(output, "that is the record itself");
	out = fopen(output, "we");
	if (!out)
		return cmd_plot_complain(output, strerror(errno));
	plot_report_write(out, p, o->file, r->begun);
	failed = ferror(out);
	return fclose(out) != 0 || failed ? cmd_plot_complain(output, strerror(errno))
					  : EXIT_SUCCESS;
}

int cmd_plot(int argc, char **argv)
{
	static char name[] = "uiwarp plot";
	static struct stat_record_reader reader;
	static struct plot_record record;
	struct cmd_plot_options o = {.file = NULL};
	int rc;

	argv[0] = name;
	argp_parse(&cmd_plot_argp, argc, argv, 0, NULL, &o);
	reader.in = strcmp(o.file, "-") == 0 ? stdin : fopen(o.file, "re");
	if (!reader.in)
		return cmd_plot_complain(o.file, strerror(errno));
	record.asked = o.asked;
	record.qp = (uint32_t)o.qp;
	rc = cmd_plot_read(&o, &reader, &record);
	if (!rc)
		rc = cmd_plot_write(&o, &reader, &record);
	plot_record_free(&record);
	fclose(reader.in);
	return rc;
}
