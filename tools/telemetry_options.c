/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static error_t telemetry_options_parse(int key, char *arg, struct argp_state *state)
{
	struct telemetry_options *o = state->input;

	if (key == 'd') {
		o->directory = arg;
		return 0;
	}
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (o->n == TELEMETRY_OPTIONS_PIDS)
		argp_error(state, "expected at most %d processes", TELEMETRY_OPTIONS_PIDS);
	if (!telemetry_asked_parse(arg, &o->asked[o->n++]))
		argp_error(state, "\"%s\": expected the number of a process", arg);
	return 0;
}

static const struct argp_option telemetry_options_list[] = {
	{"directory", 'd', "DIRECTORY", 0,
		"Where the processes' sockets are (this user's: see uiwarp-stat(1))", 1},
	{0}};

const struct argp telemetry_options_argp = {
	telemetry_options_list, telemetry_options_parse, NULL, NULL, NULL, NULL, NULL};

int telemetry_options_open(
	const struct telemetry_options *o, const char *command, struct telemetry_clients *c)
{
	char process[TELEMETRY_NAME];
	int rc;

	/* Without one that is named, it is no fault that there is none: nothing ran yet. */
	if (o->directory && access(o->directory, R_OK | X_OK) != 0) {
		fprintf(stderr, "%s: %s: %s\n", command, o->directory, strerror(errno));
		return EXIT_FAILURE;
	}
	rc = telemetry_clients_open(c, o->directory, o->asked);
	if (rc && rc != -ESRCH)
		fprintf(stderr, "%s: the directory of the sockets: %s\n", command, strerror(-rc));
	for (unsigned i = 0; !rc && i < c->n; i++)
		if (!c->client[i].greeted)
			fprintf(stderr, "%s: process %s does not answer: it is stopped, or stuck\n",
				command,
				telemetry_socket_process(
					c->client[i].name, c->client[i].pid, process));
	if (!rc && c->error)
		fprintf(stderr, "%s: %s%s%s%s: %s\n", command, c->failed_place,
			*c->failed ? "/" : "", c->failed,
			c->unasked > 1 ? " and others cannot be asked" : " cannot be asked",
			strerror(-c->error));
	if (!rc && c->error && c->n == 0)
		rc = c->error;
	if (rc)
		telemetry_clients_close(c);
	return rc ? EXIT_FAILURE : 0;
}
