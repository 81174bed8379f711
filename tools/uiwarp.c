/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/libraries.h"
#include "tools/commands.h"
#include "tools/configuration.h"
#include "tools/help.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} uiwarp_commands[] = {
	{"run", cmd_run, "start a program with an iWARP device of its own"},
	{"doctor", cmd_doctor, "what is wrong with a set-up, and what to do"},
	{"stat", cmd_stat, "what running processes do, as a table, JSON or metrics"},
	{"top", cmd_top, "the same in a terminal, again and again"},
	{"plot", cmd_plot, "a page with plots of what stat has recorded"},
	{"ctl", cmd_ctl, "log level and capture of a running process"},
	{"tcp", cmd_tcp, "plain TCP streams, to measure a path or to test with any TCP"},
	{"pcap", cmd_pcap, "iWARP in capture files: show it, check it against the RFCs"},
	{"wan", cmd_wan, "emulate a long path between two interfaces"},
};

#define NUM_COMMANDS (sizeof uiwarp_commands / sizeof uiwarp_commands[0])

static void uiwarp_usage(FILE *out)
{
	fprintf(out, "Usage: uiwarp COMMAND [ARGUMENT...]\n"
		     "       uiwarp help [COMMAND | keys]\n"
		     "       uiwarp --version\n"
		     "RDMA verbs over TCP/IP in user space.\n\nCommands:\n");
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", uiwarp_commands[i].name, uiwarp_commands[i].summary);
}

static const struct command *uiwarp_find_command(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (strcmp(uiwarp_commands[i].name, name) == 0)
			return &uiwarp_commands[i];
	return NULL;
}

/** The exit status of a command whose output is lost: 1 of pcap means something else. */
static int uiwarp_output_lost = EXIT_FAILURE;

/** At the end, however it comes: argp ends the process by itself behind its help. */
static void uiwarp_check_output(void)
{
	bool lost = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !lost)
		return;
	fprintf(stderr, "uiwarp: standard output cannot be written%s%s\n", errno != 0 ? ": " : "",
		errno != 0 ? strerror(errno) : "");
	_exit(uiwarp_output_lost);
}

static int uiwarp_unknown(const char *name)
{
	fprintf(stderr, "uiwarp: there is no command \"%s\"; see \"uiwarp help\"\n", name);
	return EXIT_USAGE;
}

static int uiwarp_help(int argc, char **argv)
{
	static char help_option[] = "--help";
	const struct command *c;

	if (argc < 3 || help_is_asked(argv[2])) {
		uiwarp_usage(stdout);
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[2], "keys") == 0) {
		configuration_print_keys(stdout);
		return EXIT_SUCCESS;
	}
	c = uiwarp_find_command(argv[2]);
	if (!c)
		return uiwarp_unknown(argv[2]);
	return c->run(2, (char *[]){argv[2], help_option, NULL});
}

static void uiwarp_version(void)
{
	struct libraries_one list[LIBRARIES];

	puts("uiwarp " UIWARP_VERSION);
	libraries_list(list);
	for (unsigned i = 0; i < LIBRARIES; i++)
		printf("%s %s\n", list[i].name, list[i].version);
}

/** What is opened next is not to be taken for standard input, output or error that was closed. */
static void uiwarp_fill_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct command *c;

	uiwarp_fill_descriptors();
	/* Whatever is wrong with the command line has one exit status. */
	argp_err_exit_status = EXIT_USAGE;
	atexit(uiwarp_check_output);
	if (argc < 2) {
		uiwarp_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		uiwarp_version();
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "help") == 0 || help_is_asked(argv[1]))
		return uiwarp_help(argc, argv);
	c = uiwarp_find_command(argv[1]);
	if (c && c->run == cmd_pcap)
		uiwarp_output_lost = EXIT_USAGE;
	return !c ? uiwarp_unknown(argv[1]) : c->run(argc - 1, argv + 1);
}
