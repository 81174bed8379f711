/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uiwarp run: checks the configuration, puts it and the preloaded library into the environment, and
 * executes the program.
 */
#include "host/claim.h"
#include "host/config_kernel.h"
#include "host/slot.h"
#include "tools/commands.h"
#include "tools/configuration.h"
#include "tools/help.h"
#include "tools/reach.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libuiwarp-preload.so"

struct cmd_run_options {
	struct configuration configuration;
	char **program; /* with its arguments */
};

static error_t cmd_run_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_run_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->configuration;
		return 0;
	case ARGP_KEY_ARGS:
		o->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected a program to start");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_run_argp_children[] = {
	{&configuration_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_run_argp = {NULL, cmd_run_parse_option, "[--] PROGRAM [ARGUMENT...]",
	"Start PROGRAM with an iWARP device of its own, which it finds through libibverbs and "
	"librdmacm.\v"
	"The environment's UIWARP_CONFIG (a file) and UIWARP_SET (lines of KEY=VALUE) are read "
	"too; the command line wins.\n\n"
	"Exit status: the program's own; 2 if the configuration is wrong, 127 if there is no such "
	"program, 126 if it cannot be started, or not so that it would find the device.",
	cmd_run_argp_children, NULL, NULL};

static int cmd_run_complain(const char *what, const char *why)
{
	fprintf(stderr, "uiwarp run: %s: %s\n", what, why);
	return EXIT_USAGE;
}

/* Beside this program in the build tree, or where it was installed. */
static char *cmd_run_find_preload(void)
{
	/* Relative ones are so to this program's directory. */
	static const char *const places[] = {
		"../provider/shim/" PRELOAD,
		PRELOAD,
		"../" UIWARP_LIBDIR "/" PRELOAD, /* also when the whole was moved elsewhere */
		UIWARP_PREFIX "/" UIWARP_LIBDIR "/" PRELOAD,
	};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *found = NULL;

	exe[n < 0 ? 0 : n] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	for (size_t i = 0; !found && i < sizeof places / sizeof places[0]; i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof path, "%s%s%s", places[i][0] == '/' ? "" : exe,
			places[i][0] == '/' ? "" : "/", places[i]);
		found = realpath(path, NULL);
	}
	return found;
}

static int cmd_run_set_preload(void)
{
	char *path = cmd_run_find_preload();
	char *all;

	if (!path)
		return cmd_run_complain(PRELOAD,
			"not found beside this program, nor in " UIWARP_PREFIX "/" UIWARP_LIBDIR);
	/* ld.so(8): blanks and colons separate the elements and cannot be escaped. */
	if (strpbrk(path, " :")) {
		cmd_run_complain(path, "the dynamic linker takes no path with a blank or a colon");
		free(path);
		return EXIT_USAGE;
	}
	all = configuration_join(path, ":", getenv("LD_PRELOAD"));
	setenv("LD_PRELOAD", all, 1);
	free(all);
	free(path);
	return 0;
}

/* Better to say so than to start a program that finds no device. */
static int cmd_run_check_reach(const char *program)
{
	char *path;
	const char *why = reach_obstacle(program, &path);

	if (why)
		cmd_run_complain(path, why);
	free(path);
	return !why ? 0 : EXIT_NOT_EXECUTABLE;
}

/* Those that are named must be the host's. That it has any is told when the program needs one. */
static int cmd_run_check_addresses(struct config *c)
{
	struct config_error e;

	if (!config_is_kernel(c) || c->num_addresses == 0 || config_kernel_addresses(c, &e) == 0)
		return 0;
	fprintf(stderr, "uiwarp run: %s\n", e.text);
	return EXIT_USAGE;
}

/* What programs left that were killed. Here, as this process has no claim of its own; not with the
 * host's own TCP, which has none. */
static void cmd_run_sweep(const struct config *c)
{
	struct slot_places places;

	if (config_is_kernel(c) || slot_find_places(&places) != 0)
		return;
	for (unsigned i = 0; i < places.n; i++)
		claim_sweep(places.path[i]);
}

int cmd_run(int argc, char **argv)
{
	static char name[] = "uiwarp run";
	struct cmd_run_options o = {0};
	struct config config;
	int rc;

	argv[0] = name;
	/* In order: what follows the program's name is the program's. */
	argp_parse(&cmd_run_argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	configuration_set_default(&o.configuration);
	rc = configuration_apply(&o.configuration, name, &config);
	if (rc == 0)
		rc = cmd_run_check_addresses(&config);
	if (rc == 0)
		rc = cmd_run_set_preload();
	if (rc == 0)
		rc = cmd_run_check_reach(o.program[0]);
	if (rc != 0)
		return rc;
	cmd_run_sweep(&config);
	execvp(o.program[0], o.program);
	rc = errno;
	cmd_run_complain(o.program[0], strerror(rc));
	return rc == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
