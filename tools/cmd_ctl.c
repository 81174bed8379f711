/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp ctl: change what a running process reports and captures. */
#include "base/number.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/telemetry_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Files of a capture that rotates, if it is not told. */
#define CTL_FILES 4

struct cmd_ctl_options {
	struct telemetry_options asked;
	const char *log, *capture;
	uint64_t size, files;
};

static void cmd_ctl_assignment(
	struct cmd_ctl_options *o, const char *arg, const struct argp_state *state)
{
	const char *value = strchr(arg, '=');

	if (!value || value[1] == '\0')
		argp_error(state, "\"%s\": expected KEY=VALUE", arg);
	value++;
	if (strncmp(arg, "log=", 4) == 0)
		o->log = value;
	else if (strncmp(arg, "capture=", 8) == 0)
		o->capture = value;
	else if (strncmp(arg, "capture_size=", 13) == 0) {
		if (!number_parse_size(value, 64 << 10, UINT64_C(1) << 50, &o->size))
			argp_error(state, "\"%s\": expected a size from 64K, such as 100M", arg);
	} else if (strncmp(arg, "capture_files=", 14) == 0) {
		if (!number_parse(value, 1, 1000, &o->files))
			argp_error(state, "\"%s\": expected a number from 1 to 1000", arg);
	} else {
		argp_error(state,
			"\"%s\": the keys are log, capture, capture_size and capture_files", arg);
	}
}

static error_t cmd_ctl_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_ctl_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->asked;
		return 0;
	case ARGP_KEY_ARG:
		if (!strchr(arg, '='))
			return ARGP_ERR_UNKNOWN; /* a PID, of the child's */
		cmd_ctl_assignment(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (o->asked.n == 0)
			argp_error(state, "expected the number of a process");
		if (!o->log && !o->capture)
			argp_error(state, "expected log=LEVEL or capture=FILE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_ctl_argp_children[] = {
	{&telemetry_options_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_ctl_argp = {NULL, cmd_ctl_parse_option, "PID... KEY=VALUE...",
	"Change running processes: log=error|warning|info|debug, capture=FILE, capture=off.\v"
	"With capture_size=SIZE another file is begun whenever one is so large; capture_files=N "
	"are kept (4): FILE is the newest, then FILE.1, and so on.\n\n"
	"Exit status: 0; 1 if a process is not there or refuses; 2 if the command line is wrong.",
	cmd_ctl_argp_children, NULL, NULL};

/** @return 0 or an exit status, and what is wrong was told. */
static int cmd_ctl_tell(struct telemetry_client *c, const char *command)
{
	json_t *answer = telemetry_client_ask(c, command);
	char error[PATH_MAX + 128] = "the process has gone or does not answer";
	char process[TELEMETRY_NAME];
	/* Begun, and over already: a full disk, perhaps. */
	bool wrong = !answer || telemetry_client_error(answer, "error", error, sizeof error) ||
		     telemetry_client_error(answer, "failed", error, sizeof error);

	if (wrong)
		fprintf(stderr, "uiwarp ctl: process %s: %s\n",
			telemetry_socket_process(c->name, c->pid, process), error);
	json_decref(answer);
	return wrong ? EXIT_FAILURE : 0;
}

/** The process may have another working directory. */
static int cmd_ctl_capture(struct telemetry_client *c, const struct cmd_ctl_options *o)
{
	char directory[PATH_MAX] = "", command[2 * PATH_MAX + 64];

	if (strcmp(o->capture, "off") == 0)
		return cmd_ctl_tell(c, "/uiwarp/capture,off");
	if (o->capture[0] != '/' && !getcwd(directory, sizeof directory)) {
		fprintf(stderr, "uiwarp ctl: the working directory: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	snprintf(command, sizeof command, "/uiwarp/capture,%llu,%llu,%s%s%s",
		(unsigned long long)o->size, (unsigned long long)o->files, directory,
		*directory ? "/" : "", o->capture);
	return cmd_ctl_tell(c, command);
}

int cmd_ctl(int argc, char **argv)
{
	static char name[] = "uiwarp ctl";
	struct cmd_ctl_options o = {.files = CTL_FILES};
	struct telemetry_clients c;
	char command[64];
	int rc;

	argv[0] = name;
	argp_parse(&cmd_ctl_argp, argc, argv, 0, NULL, &o);
	rc = telemetry_options_open(&o.asked, name, &c);
	if (rc)
		return rc;
	for (unsigned i = 0; i < c.n; i++) {
		if (o.log) {
			snprintf(command, sizeof command, "/uiwarp/log,%.40s", o.log);
			rc |= cmd_ctl_tell(&c.client[i], command);
		}
		if (o.capture)
			rc |= cmd_ctl_capture(&c.client[i], &o);
	}
	telemetry_clients_close(&c);
	return rc;
}
