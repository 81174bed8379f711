/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp wan: a long path between two interfaces, in real time. */
#include "base/argument.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/help.h"
#include "tools/interval.h"
#include "tools/wan_control.h"
#include "tools/wan_report.h"
#include "wan/options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_LISTS   16
#define MAX_OPTIONS 32
#define MAX_MEMORY  1048576

/** Keys of argp's for long options: those of the path begin at WAN_KEY_PATH. */
enum {
	WAN_KEY_A = 256,
	WAN_KEY_B,
	WAN_KEY_A_TO_B,
	WAN_KEY_B_TO_A,
	WAN_KEY_SEED,
	WAN_KEY_STATS,
	WAN_KEY_JSON,
	WAN_KEY_MEMORY,
	WAN_KEY_EAL,
	WAN_KEY_POLL,
	WAN_KEY_CONTROL,
	WAN_KEY_PATH
};

struct cmd_wan_options {
	const char *device[2];
	const char *eal;
	struct wan_path_config common;  /* of both directions */
	const char *list[2][MAX_LISTS]; /* of one: they win */
	unsigned lists[2];
	struct wan_path_config path[2];     /* as written */
	struct wan_path_config finished[2]; /* as run */
	uint64_t seed, stats;               /* ns between reports, 0: none */
	uint32_t memory;
	bool json, poll, control;
};

/** What the loop's callback works with. */
struct session {
	struct wan_bridge *bridge;
	struct wan_report report;
	struct wan_control control;
	uint64_t stats, next_stats;
};

static volatile sig_atomic_t cmd_wan_stop_wanted, cmd_wan_stats_wanted;

static void cmd_wan_on_signal(int number)
{
	if (number == SIGUSR1) {
		cmd_wan_stats_wanted = 1;
		return;
	}
	cmd_wan_stop_wanted = 1;
	ending_insist(number);
}

/* ---- the command line ----------------------------------------------------------------------- */

static void cmd_wan_set_device(
	struct argp_state *state, struct cmd_wan_options *o, unsigned i, const char *arg)
{
	if (o->device[i])
		argp_error(state, "--%c is given twice; expected it once", "ab"[i]);
	o->device[i] = arg;
}

static void cmd_wan_set_list(
	struct argp_state *state, struct cmd_wan_options *o, unsigned d, const char *arg)
{
	if (o->lists[d] == MAX_LISTS)
		argp_error(state, "--%s is given more than %d times", d == 0 ? "a-to-b" : "b-to-a",
			MAX_LISTS);
	else
		o->list[d][o->lists[d]++] = arg;
}

static void cmd_wan_set_stats(struct argp_state *state, struct cmd_wan_options *o, const char *arg)
{
	struct wan_path_config time;
	struct wan_options_error e;

	/* The same form as a path's times. */
	if (wan_options_set(&time, "delay", arg, &e) != 0 || time.delay < 100000000)
		argp_error(state, "\"stats\" is \"%s\"; expected a time from 100ms to 3600s", arg);
	o->stats = time.delay;
}

/** Two devices of DPDK's of one name are one, and the driver's complaint is of something else. */
static bool cmd_wan_is_same(const char *a, const char *b)
{
	size_t len = strcspn(a, ",");

	return len == strcspn(b, ",") && strncmp(a, b, len) == 0;
}

static void cmd_wan_finish(struct argp_state *state, struct cmd_wan_options *o)
{
	struct wan_options_error e;

	for (unsigned d = 0; d < 2; d++) {
		if (!o->device[d])
			argp_error(state,
				"no --%c; expected DPDK device arguments such as "
				"net_af_packet%u,iface=veth%u",
				"ab"[d], d, d);
		o->path[d] = o->common;
		for (unsigned i = 0; i < o->lists[d]; i++)
			if (wan_options_parse(&o->path[d], o->list[d][i], &e) != 0)
				argp_error(state, "--%s: %s", d == 0 ? "a-to-b" : "b-to-a", e.text);
	}
	if (cmd_wan_is_same(o->device[0], o->device[1]))
		argp_error(state,
			"--a and --b are both the device %.*s; expected two, with another number "
			"behind the name of one",
			(int)strcspn(o->device[0], ","), o->device[0]);
	for (unsigned d = 0; d < 2; d++) {
		o->finished[d] = o->path[d];
		if (wan_options_finish(&o->finished[d], &o->path[1 - d], &e) != 0)
			argp_error(state, "%s", e.text);
	}
}

static error_t cmd_wan_parse_path_option(int key, const char *arg, struct argp_state *state)
{
	struct cmd_wan_options *o = state->input;
	struct wan_options_error e;

	if (key < WAN_KEY_PATH || key >= WAN_KEY_PATH + MAX_OPTIONS)
		return ARGP_ERR_UNKNOWN;
	if (wan_options_set(&o->common, wan_options[key - WAN_KEY_PATH].name, arg, &e) != 0)
		argp_error(state, "%s", e.text);
	return 0;
}

static error_t cmd_wan_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_wan_options *o = state->input;

	switch (key) {
	case WAN_KEY_A:
	case WAN_KEY_B:
		cmd_wan_set_device(state, o, key == WAN_KEY_B, arg);
		return 0;
	case WAN_KEY_A_TO_B:
	case WAN_KEY_B_TO_A:
		cmd_wan_set_list(state, o, key == WAN_KEY_B_TO_A, arg);
		return 0;
	case WAN_KEY_SEED:
		o->seed = argument_number(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case WAN_KEY_STATS:
		cmd_wan_set_stats(state, o, arg);
		return 0;
	case WAN_KEY_MEMORY:
		o->memory = (uint32_t)argument_number(state, "memory", arg, 0, MAX_MEMORY);
		return 0;
	case WAN_KEY_EAL:
		o->eal = arg;
		return 0;
	case WAN_KEY_JSON:
		o->json = true;
		return 0;
	case WAN_KEY_POLL:
		o->poll = true;
		return 0;
	case WAN_KEY_CONTROL:
		o->control = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is no option", arg);
		return 0;
	case ARGP_KEY_END:
		cmd_wan_finish(state, o);
		return 0;
	default:
		return cmd_wan_parse_path_option(key, arg, state);
	}
}

static const struct argp_option cmd_wan_fixed_options[] = {
	{0, 0, 0, 0, "What is joined:", 1},
	{"a", WAN_KEY_A, "DEVICE", 0,
		"One port, by DPDK device arguments: net_af_packet0,iface=veth0", 0},
	{"b", WAN_KEY_B, "DEVICE", 0, "The other port", 0},
	{0, 0, 0, 0, "The path, in both directions:", 2},
};

static const struct argp_option cmd_wan_more_options[] = {
	{0, 0, 0, 0, "The path, in one direction:", 3},
	{"a-to-b", WAN_KEY_A_TO_B, "LIST", 0, "Only from a to b; LIST as in delay=10ms,loss=1%", 0},
	{"b-to-a", WAN_KEY_B_TO_A, "LIST", 0, "Only from b to a", 0},
	{0, 0, 0, 0, "The rest:", 4},
	{"seed", WAN_KEY_SEED, "N", 0, "What chance is drawn from (default 1)", 0},
	{"stats", WAN_KEY_STATS, "TIME", 0, "Report every TIME: 1s", 0},
	{"json", WAN_KEY_JSON, NULL, 0, "Report in JSON, an object a line", 0},
	{"control", WAN_KEY_CONTROL, NULL, 0, "Read changes from standard input, a LIST a line", 0},
	{"poll", WAN_KEY_POLL, NULL, 0, "Never sleep: the core is ours", 0},
	{"memory", WAN_KEY_MEMORY, "MIB", 0, "Packet buffers for each direction", 0},
	{"eal", WAN_KEY_EAL, "ARGUMENTS", 0, "Further arguments for DPDK's EAL", 0},
};

/** The fixed options with those of a path between them. */
static void cmd_wan_list_options(struct argp_option *to)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof cmd_wan_fixed_options / sizeof *cmd_wan_fixed_options; i++)
		to[n++] = cmd_wan_fixed_options[i];
	for (int i = 0; wan_options[i].name; i++)
		to[n++] = (struct argp_option){wan_options[i].name, WAN_KEY_PATH + i,
			wan_options[i].value, 0, wan_options[i].help, 0};
	for (size_t i = 0; i < sizeof cmd_wan_more_options / sizeof *cmd_wan_more_options; i++)
		to[n++] = cmd_wan_more_options[i];
	to[n] = (struct argp_option){0};
}

/* ---- running -------------------------------------------------------------------------------- */

static void cmd_wan_tick(void *ctx)
{
	struct session *s = ctx;

	wan_control_read(&s->control);
	if (s->stats != 0 && wan_bridge_elapsed(s->bridge) >= s->next_stats) {
		s->next_stats =
			interval_next(s->next_stats, s->stats, wan_bridge_elapsed(s->bridge));
		wan_report_interval(&s->report, s->bridge);
	}
	if (cmd_wan_stats_wanted != 0) {
		cmd_wan_stats_wanted = 0;
		wan_report_totals(&s->report, s->bridge);
	}
}

static void cmd_wan_log_line(void *ctx, enum log_level level, const char *text)
{
	/* Not by stdio: its streams stand in for DPDK's while the EAL starts. */
	dprintf(STDERR_FILENO, "uiwarp wan: %s\n", text);
}

static void cmd_wan_catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	/* What is being printed is printed whole. */
	const struct sigaction a = {.sa_handler = cmd_wan_on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!ending_is_ignored(numbers[i]))
			sigaction(numbers[i], &a, NULL);
}

static int cmd_wan_run(const struct cmd_wan_options *o)
{
	static const struct log_sink sink = {cmd_wan_log_line, NULL, LOG_LEVEL_WARNING};
	struct session s = {
		.report = {.json = o->json},
		.control = {.fd = o->control ? STDIN_FILENO : -1, .path = {o->path[0], o->path[1]}},
		.stats = o->stats,
		.next_stats = o->stats,
	};
	struct wan_bridge_config cfg = {
		.device = {o->device[0], o->device[1]},
		.eal = o->eal,
		.memory_mib = o->memory,
		.path = {o->finished[0], o->finished[1]},
		.seed = o->seed,
		.poll = o->poll,
		.wake_fd = &s.control.fd,
		.tick = cmd_wan_tick,
		.ctx = &s,
		.log = &sink,
	};
	struct port_error e = {""};

	cmd_wan_catch_signals();
	if (wan_bridge_open(&cfg, &s.bridge, &e) != 0) {
		fprintf(stderr, "uiwarp wan: %s\n", e.text);
		return EXIT_FAILURE;
	}
	s.control.bridge = s.bridge;
	wan_report_ready(&s.report, s.bridge, o->device);
	wan_bridge_run(s.bridge, &cmd_wan_stop_wanted);
	wan_report_totals(&s.report, s.bridge);
	wan_bridge_close(s.bridge);
	return EXIT_SUCCESS;
}

int cmd_wan(int argc, char **argv)
{
	static char name[] = "uiwarp wan";
	const struct argp_child help[] = {{&help_argp, 0, NULL, 0}, {0}};
	struct argp_option list[MAX_OPTIONS];
	const struct argp argp = {list, cmd_wan_parse_option, NULL,
		"Join two interfaces by a path with a rate, a delay, losses and more. Frames of "
		"any "
		"protocol pass unchanged otherwise.\v"
		"Ends by SIGINT or SIGTERM with statistics; SIGUSR1 asks for them. Frames that are "
		"on the way keep their times when the path is changed.\n\n"
		"Exit status: 0; 1 if a port cannot be opened; 2 if the command line is wrong.",
		help, NULL, NULL};
	struct cmd_wan_options o = {.seed = 1};

	argv[0] = name;
	wan_options_init(&o.common);
	cmd_wan_list_options(list);
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return cmd_wan_run(&o);
}
