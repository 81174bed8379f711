/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/configuration.h"

#include "host/config_givers.h"
#include "host/config_kernel.h"
#include "host/config_value.h"
#include "tools/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *configuration_checked(void *p)
{
	if (!p) {
		perror("uiwarp");
		exit(EXIT_FAILURE);
	}
	return p;
}

char *configuration_join(const char *a, const char *separator, const char *b)
{
	char *s;

	if (!a || *a == '\0')
		return configuration_checked(strdup(!b ? "" : b));
	if (!b || *b == '\0')
		return configuration_checked(strdup(a));
	if (asprintf(&s, "%s%s%s", a, separator, b) < 0)
		s = NULL;
	return configuration_checked(s);
}

static error_t configuration_parse_option(int key, char *arg, struct argp_state *state)
{
	struct configuration *c = state->input;
	char *joined;

	switch (key) {
	case 'c':
		if (c->file)
			argp_error(state, "--config is given twice; expected it once");
		c->file = arg;
		return 0;
	case 's':
		/* A line end is what separates them in the environment. */
		if (strchr(arg, '\n'))
			argp_error(state, "--set has a line end in its value; expected key=value");
		joined = configuration_join(c->set, "\n", arg);
		free(c->set);
		c->set = joined;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option configuration_argp_options[] = {
	{"config", 'c', "FILE", 0, "Read the configuration from FILE", 0},
	{"set", 's', "KEY=VALUE", 0, "Set one key; wins over the file", 0},
	{0},
};

const struct argp configuration_argp = {
	configuration_argp_options, configuration_parse_option, NULL, NULL, NULL, NULL, NULL};

static int configuration_complain(const char *command, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", command, what, why);
	return EXIT_USAGE;
}

static int configuration_fail(const char *command, const struct config_error *e)
{
	fprintf(stderr, "%s: %s\n", command, e->text);
	return EXIT_USAGE;
}

/** A pipe is read to its end, which somebody may be slow to come to, or never come. */
#define CONFIGURATION_PIPE_MS 30000

/* The program may change its directory before it comes to verbs, and reads it again and again: a
 * pipe is there once, so that its assignments, for @set, take its place. */
static int configuration_export_file(const char *file, const char *command, char **set)
{
	struct config_error e;
	int rc = config_look_at(file, &e);
	char *path;

	if (rc > 0) {
		rc = config_read_pipe(file, CONFIGURATION_PIPE_MS, set, &e);
		file = "/dev/null";
	}
	if (rc < 0)
		return configuration_fail(command, &e);
	path = realpath(file, NULL);
	if (!path)
		return configuration_complain(command, file, strerror(errno));
	setenv("UIWARP_CONFIG", path, 1);
	free(path);
	return 0;
}

/* Of an assignment, without the blanks around it. */
static size_t configuration_key(const char **line)
{
	size_t n;

	*line += strspn(*line, " \t");
	n = strcspn(*line, "=\n");
	while (n && strchr(" \t", (*line)[n - 1]))
		n--;
	return n;
}

/* Whether one of @set's lines has the key of @line. */
static bool configuration_has_key(const char *set, const char *line)
{
	size_t n = configuration_key(&line);

	while (set) {
		const char *at = set;

		if (configuration_key(&at) == n && strncmp(at, line, n) == 0)
			return true;
		set = strchr(set, '\n');
		set = set ? set + 1 : NULL;
	}
	return false;
}

/* The lines of @inherited whose keys @set has not got: a list of it would be added to theirs. */
static char *configuration_remaining(const char *inherited, const char *set)
{
	char *copy = configuration_checked(strdup(inherited)), *next = copy, *line;
	char *all = configuration_checked(strdup("")), *joined;

	while ((line = strsep(&next, "\n"))) {
		if (*line == '\0' || configuration_has_key(set, line))
			continue;
		joined = configuration_join(all, "\n", line);
		free(all);
		all = joined;
	}
	free(copy);
	return all;
}

/* The lines of @under whose keys @over has not got, and those of @over behind them. */
static char *configuration_lay(const char *under, const char *over)
{
	char *rest = configuration_remaining(under ? under : "", over);
	char *all = configuration_join(rest, "\n", over);

	free(rest);
	return all;
}

/* The environment's; an empty one is none, as whoever cannot unset it writes. */
static const char *configuration_file(void)
{
	const char *file = getenv("UIWARP_CONFIG");

	return file && *file != '\0' ? file : NULL;
}

static void configuration_export_set(const struct configuration *c, const char *set)
{
	const struct config_givers by = {
		c->set ? strlen(c->set) : 0, c->file ? "--config" : "UIWARP_SET"};

	if (*set == '\0') {
		unsetenv("UIWARP_SET");
		return;
	}
	setenv("UIWARP_SET", set, 1);
	config_givers_export(&by, set);
}

/* Into the environment. What is there already gives way: all of it to a file, and to an assignment
 * what it has of that key. */
static int configuration_export(struct configuration *c, const char *command)
{
	const char *file = c->file ? c->file : configuration_file();
	char *pipe = NULL, *lower, *set;
	int rc = 0;

	if (file && *file == '\0')
		return configuration_complain(command, "--config is \"\"", "expected a file");
	if (file)
		rc = configuration_export_file(file, command, &pipe);
	if (rc != 0)
		return rc;
	lower = configuration_lay(pipe, c->file ? NULL : getenv("UIWARP_SET"));
	set = configuration_lay(lower, c->set);
	configuration_export_set(c, set);
	free(pipe);
	free(lower);
	free(set);
	return 0;
}

bool configuration_set_default(const struct configuration *c)
{
	const char *set = getenv("UIWARP_SET");

	if (c->file || c->set || configuration_file() || (set && *set != '\0'))
		return false;
	setenv("UIWARP_SET", "port=" CONFIG_KERNEL, 1);
	return true;
}

int configuration_apply(struct configuration *c, const char *command, struct config *out)
{
	struct config_error e;
	int rc = configuration_export(c, command);
	int found = rc == 0 ? config_from_environment(out, &e) : 0;

	free(c->set);
	c->set = NULL;
	if (rc != 0)
		return rc;
	if (found == 0)
		return configuration_complain(
			command, "no configuration", "expected --config FILE or --set KEY=VALUE");
	return found < 0 ? configuration_fail(command, &e) : 0;
}

int configuration_check_port(const struct config *c, const char *command)
{
	if (!config_is_kernel(c))
		return 0;
	return configuration_complain(command, "\"port\" is kernel",
		"the host's TCP is not ours to drive; expected DPDK device arguments, such as "
		"port=net_memif0,role=server,socket=/tmp/uiwarp.sock");
}

/* Words as in a usage message, which nothing else is: completions take them. */
static void configuration_print_values(const struct config_key *k, FILE *out)
{
	struct config_phrase p;

	if (!k->words || k->expected) {
		fputs(config_value_plain(k, &p), out);
		return;
	}
	for (const struct config_word *w = k->words; w->name && !w->old; w++)
		fprintf(out, "%s%s", w == k->words ? "" : "|", w->name);
}

void configuration_print_keys(FILE *out)
{
	fprintf(out, "Keys of the configuration with their defaults, and what they take. "
		     "uiwarp.conf(5) tells what they do.\n\n");
	for (unsigned i = 0; i < config_num_keys; i++) {
		const struct config_key *k = &config_keys[i];
		int room = 32 - (int)strlen(k->name);

		fprintf(out, "  %s=%-*s ", k->name, room, k->initial ? k->initial : "");
		configuration_print_values(k, out);
		fputc('\n', out);
	}
}
