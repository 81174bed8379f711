/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp pcap: what iWARP connections in capture files say, and whether they may. */
#include "base/argument.h"
#include "pcap/capture_set.h"
#include "pcap/check.h"
#include "pcap/follow.h"
#include "pcap/replay.h"
#include "pcap/show.h"
#include "pcap/stats.h"
#include "tools/commands.h"
#include "tools/help.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Besides 0, by which check says that it found nothing. */
#define EXIT_VIOLATIONS 1
#define EXIT_UNREADABLE 2
#define EXIT_NOTHING    3

enum { KEY_JSON = 256, KEY_ALL, KEY_EACH, KEY_PLOT, KEY_CONNECTION, KEY_RESPONDER };

/* A connection's statistics take more memory than a check of it. */
#define STATS_CONNECTIONS 4096
/* A session of our stack each. */
#define REPLAY_CONNECTIONS 256

struct cmd_pcap_options {
	bool json, all, each, responder;
	const char *plot;
	uint64_t connection;
	struct follow_config follow;
	char **files;
	int num_files;
	uint64_t connections; /**< that were checked */
};

/* ---- the command line ----------------------------------------------------------------------- */

static void cmd_pcap_add_port(struct argp_state *state, struct follow_config *f, const char *arg)
{
	uint64_t n = argument_number(state, "port", arg, 1, 65535);

	if (f->num_ports == FOLLOW_PORTS_MAX)
		argp_error(state, "--port is given more than %d times", FOLLOW_PORTS_MAX);
	else
		f->ports[f->num_ports++] = (uint16_t)n;
}

static void cmd_pcap_check_plot(struct argp_state *state, const struct cmd_pcap_options *o)
{
	if (o->connection != 0 && !o->plot)
		argp_error(state, "--connection without --plot; it tells which to draw");
	if (o->plot && o->each && o->num_files > 1)
		argp_error(state, "--plot with --each and %d files; expected one", o->num_files);
}

static error_t cmd_pcap_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_pcap_options *o = state->input;

	switch (key) {
	case 'p':
		cmd_pcap_add_port(state, &o->follow, arg);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_PLOT:
		o->plot = arg;
		return 0;
	case KEY_CONNECTION:
		o->connection = argument_number(state, "connection", arg, 1, UINT32_MAX);
		return 0;
	case KEY_EACH:
		o->each = true;
		return 0;
	case KEY_RESPONDER:
		o->responder = true;
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->files = state->argv + state->next;
		o->num_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		cmd_pcap_check_plot(state, o);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no FILE; expected capture files, or - for standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

#define OPTION_PORT                                                                     \
	{                                                                               \
		"port", 'p', "PORT", 0,                                                 \
			"Follow connections of this TCP port although their start was " \
			"not captured",                                                 \
			0                                                               \
	}
#define OPTION_JSON                                              \
	{                                                        \
		"json", KEY_JSON, NULL, 0, "An object a line", 0 \
	}

#define OPTION_EACH                                                                \
	{                                                                          \
		"each", KEY_EACH, NULL, 0,                                         \
			"Every file is a capture of its own, not a part of one", 0 \
	}

static const struct argp_option cmd_pcap_check_options[] = {
	OPTION_PORT,
	OPTION_JSON,
	OPTION_EACH,
	{"all", KEY_ALL, NULL, 0, "Tell every violation, not the first three of a kind", 0},
	{0},
};

static const struct argp_option cmd_pcap_show_options[] = {
	OPTION_PORT, OPTION_JSON, OPTION_EACH, {0}};

static const struct argp_option cmd_pcap_stats_options[] = {
	OPTION_PORT,
	OPTION_JSON,
	OPTION_EACH,
	{"plot", KEY_PLOT, "FILE.svg", 0, "Draw time and sequence numbers of a connection", 0},
	{"connection", KEY_CONNECTION, "N", 0, "Draw the N-th (default: the first)", 0},
	{0},
};

static const struct argp_option cmd_pcap_replay_options[] = {
	OPTION_EACH,
	{"responder", KEY_RESPONDER, NULL, 0,
		"Feed what responders sent to our initiator, not the other way round", 0},
	{0},
};

/* ---- running -------------------------------------------------------------------------------- */

/* The file became shorter while it was read. */
static void cmd_pcap_on_bus_error(int number)
{
	static const char text[] = "uiwarp pcap: the file has been cut off meanwhile\n";

	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(EXIT_UNREADABLE);
	_exit(EXIT_UNREADABLE);
}

static int cmd_pcap_complain(const char *file, const char *text)
{
	fflush(stdout);
	fprintf(stderr, "uiwarp pcap: %s: %s\n", file, text);
	return EXIT_UNREADABLE;
}

/* What of a capture could not be used. */
static void cmd_pcap_warn(const char *file, const struct follow_counters *n)
{
	static const char *const what[PACKET_KINDS] = {
		[PACKET_CUT] = "frames with headers that the snap length cut off",
		[PACKET_BAD] = "frames with headers that cannot be",
	};

	if (n->kind[PACKET_FRAGMENT] != n->fragments_used)
		fprintf(stderr,
			"uiwarp pcap: %s: %llu of %llu fragments of IP packets, the first in frame "
			"%llu, cannot be put together\n",
			file, (unsigned long long)(n->kind[PACKET_FRAGMENT] - n->fragments_used),
			(unsigned long long)n->kind[PACKET_FRAGMENT],
			(unsigned long long)n->first[PACKET_FRAGMENT]);
	if (n->unknown_links != 0)
		fprintf(stderr,
			"uiwarp pcap: %s: %llu frames of link types that are not read, first "
			"%u\n",
			file, (unsigned long long)n->unknown_links, n->unknown_link);
	for (int k = 0; k < PACKET_KINDS; k++)
		if (what[k] && n->kind[k] != 0)
			fprintf(stderr, "uiwarp pcap: %s: %llu %s, first frame %llu\n", file,
				(unsigned long long)n->kind[k], what[k],
				(unsigned long long)n->first[k]);
}

static void cmd_pcap_refuse(const char *file, const char *why)
{
	cmd_pcap_complain(file, why);
}

/** Files that are one capture. */
struct cmd_pcap_input {
	char *const *paths;
	unsigned n;
	const char *name; /**< in lines of text */
	struct cap_set set;
	int status; /**< EXIT_UNREADABLE: not all could be read */
};

/** @param[out] w is finished afterwards, and tells its counters. */
static void cmd_pcap_follow(struct cmd_pcap_options *o, struct cmd_pcap_input *in, struct follow *w,
	const struct connection_ops *ops, void *user)
{
	struct cap_frame f;
	struct cap_error e;
	const char *path;
	enum cap_result r;

	*w = (struct follow){0};
	if (follow_init(w, &o->follow, ops, user) != 0) {
		in->status = cmd_pcap_complain(in->name, "out of memory");
		return;
	}
	while ((r = cap_set_next(&in->set, &f, &path, &e)) != CAP_END) {
		if (r == CAP_FRAME)
			follow_frame(w, &f);
		else
			in->status = cmd_pcap_complain(path, e.text);
	}
	follow_finish(w);
	cmd_pcap_warn(in->name, &w->counters);
}

static int cmd_pcap_worse(int status, int other)
{
	return other > status ? other : status;
}

static int cmd_pcap_show(struct cmd_pcap_options *o, struct cmd_pcap_input *in)
{
	struct show s = {.out = stdout, .json = o->json};
	struct follow w;

	cmd_pcap_follow(o, in, &w, &show_ops, &s);
	return in->status;
}

/* Nothing was checked: that is no good news. */
static void cmd_pcap_warn_nothing(const char *file, const struct follow_counters *n)
{
	fprintf(stderr,
		"uiwarp pcap: %s: no iWARP connection in %llu frames, %llu of them of TCP\n", file,
		(unsigned long long)n->frames, (unsigned long long)n->kind[PACKET_TCP]);
	if (n->kind[PACKET_OTHER] != n->unknown_links)
		fprintf(stderr,
			"uiwarp pcap: %s: %llu frames carry no TCP, or in a tunnel that is not "
			"read, "
			"first frame %llu\n",
			file, (unsigned long long)(n->kind[PACKET_OTHER] - n->unknown_links),
			(unsigned long long)n->first[PACKET_OTHER]);
}

static int cmd_pcap_check(struct cmd_pcap_options *o, struct cmd_pcap_input *in)
{
	struct check k = {
		.report = {.out = stdout, .json = o->json, .all = o->all, .files = &in->set}};
	struct follow w;

	cmd_pcap_follow(o, in, &w, &check_ops, &k);
	report_summary(&k.report, in->name, w.shared.connections, w.counters.frames);
	o->connections += w.shared.connections;
	if (w.shared.connections == 0)
		cmd_pcap_warn_nothing(in->name, &w.counters);
	return cmd_pcap_worse(
		in->status, k.report.violations != 0 ? EXIT_VIOLATIONS : EXIT_SUCCESS);
}

static int cmd_pcap_draw(const struct cmd_pcap_options *o, const struct timeseq *t)
{
	int rc = timeseq_write(t, o->plot);

	if (rc == 0)
		return EXIT_SUCCESS;
	return cmd_pcap_complain(
		o->plot, rc == -ENODATA ? "there is no such connection to draw" : strerror(-rc));
}

static int cmd_pcap_stats(struct cmd_pcap_options *o, struct cmd_pcap_input *in)
{
	struct stats t = {.out = stdout, .json = o->json};
	struct follow w;
	int status;

	o->follow.max_connections = STATS_CONNECTIONS;
	if (o->plot)
		t.plot = o->connection != 0 ? o->connection : 1;
	cmd_pcap_follow(o, in, &w, &stats_ops, &t);
	status = in->status;
	if (o->plot)
		status = cmd_pcap_worse(status, cmd_pcap_draw(o, &t.timeseq));
	timeseq_free(&t.timeseq);
	return status;
}

static int cmd_pcap_replay(struct cmd_pcap_options *o, struct cmd_pcap_input *in)
{
	static struct replay r;
	struct follow w;

	r = (struct replay){.out = stdout, .responder = o->responder};
	o->follow.max_connections = REPLAY_CONNECTIONS;
	cmd_pcap_follow(o, in, &w, &replay_ops, &r);
	printf("%s: %llu connections replayed, %llu differences\n", in->name,
		(unsigned long long)r.sessions, (unsigned long long)r.differences);
	return cmd_pcap_worse(in->status, r.differences != 0 ? EXIT_VIOLATIONS : EXIT_SUCCESS);
}

static const struct subcommand {
	const char *name;
	int (*run)(struct cmd_pcap_options *o, struct cmd_pcap_input *in);
	const struct argp_option *options;
	const char *doc;
} cmd_pcap_subcommands[] = {
	{"check", cmd_pcap_check, cmd_pcap_check_options,
		"Check what both ends of iWARP connections send against RFC 5040, 5041, 5044, 6581 "
		"and 7306.\v"
		"A violation names the demand that the sender of a frame did not meet; advice is "
		"the same for a SHOULD; a note is worth knowing and no fault.\n\n"
		"Exit status: 0 without violations; 1 with; 2 if a file cannot be read to its end, "
		"or the command line is wrong; 3 if no file has an iWARP connection."},
	{"replay", cmd_pcap_replay, cmd_pcap_replay_options,
		"Feed what initiators sent in capture files to our own stack as responder, and see "
		"that "
		"it accepts it and answers as the captured responder did.\v"
		"Exit status: 0 without differences; 1 with; 2 if a file cannot be read to its "
		"end, or "
		"the command line is wrong."},
	{"show", cmd_pcap_show, cmd_pcap_show_options,
		"Show each MPA frame and FPDU of iWARP connections in capture files, a line each.\v"
		"Exit status: 0; 2 if a file cannot be read to its end, or the command line is "
		"wrong."},
	{"stats", cmd_pcap_stats, cmd_pcap_stats_options,
		"Tell of each iWARP connection in capture files what it carried and how fast.\v"
		"Latency of Reads is from the request to the end of its response, as captured.\n\n"
		"Exit status: 0; 2 if a file cannot be read to its end, or the command line is "
		"wrong."},
};

#define NUM_SUBCOMMANDS (sizeof cmd_pcap_subcommands / sizeof *cmd_pcap_subcommands)

static void cmd_pcap_usage(FILE *out)
{
	fprintf(out, "Usage: uiwarp pcap COMMAND [OPTION...] FILE...\n"
		     "iWARP in capture files (pcap or pcapng).\n\nCommands:\n");
	for (size_t i = 0; i < NUM_SUBCOMMANDS; i++) {
		const char *doc = cmd_pcap_subcommands[i].doc;

		fprintf(out, "  %-8s %.*s\n", cmd_pcap_subcommands[i].name, (int)strcspn(doc, "\v"),
			doc);
	}
	fprintf(out, "\nuiwarp pcap COMMAND --help tells the options.\n");
}

static int cmd_pcap_run_input(
	const struct subcommand *s, struct cmd_pcap_options *o, char *const *paths, unsigned n)
{
	struct cmd_pcap_input in = {.paths = paths, .n = n, .name = paths[0]};
	char name[32];
	int status;

	if (n > 1) {
		snprintf(name, sizeof name, "%u files", n);
		in.name = name;
	}
	if (cap_set_open(&in.set, paths, n, cmd_pcap_refuse) != 0)
		return cmd_pcap_complain(in.name, "out of memory");
	if (in.set.num_files != n)
		in.status = EXIT_UNREADABLE;
	status = s->run(o, &in);
	cap_set_close(&in.set);
	return status;
}

static int cmd_pcap_run_all(const struct subcommand *s, struct cmd_pcap_options *o)
{
	int status = EXIT_SUCCESS;

	if (!o->each)
		return cmd_pcap_run_input(s, o, o->files, (unsigned)o->num_files);
	for (int i = 0; i < o->num_files; i++) {
		if (o->num_files > 1 && !o->json)
			printf("%s:\n", o->files[i]);
		status = cmd_pcap_worse(status, cmd_pcap_run_input(s, o, &o->files[i], 1));
	}
	return status;
}

static int cmd_pcap_run(const struct subcommand *s, int argc, char **argv)
{
	static char name[32];
	const struct argp_child help[] = {{&help_argp, 0, NULL, 0}, {0}};
	const struct argp argp = {
		s->options, cmd_pcap_parse_option, "FILE...", s->doc, help, NULL, NULL};
	struct cmd_pcap_options o = {0};
	int status;

	snprintf(name, sizeof name, "uiwarp pcap %s", s->name);
	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (getrandom(&o.follow.key, sizeof o.follow.key, 0) != sizeof o.follow.key)
		return cmd_pcap_complain("getrandom", strerror(errno));
	signal(SIGBUS, cmd_pcap_on_bus_error);
	status = cmd_pcap_run_all(s, &o);
	/* Only a check counts them. */
	return status == EXIT_SUCCESS && s->run == cmd_pcap_check && o.connections == 0
		       ? EXIT_NOTHING
		       : status;
}

int cmd_pcap(int argc, char **argv)
{
	if (argc < 2) {
		cmd_pcap_usage(stderr);
		return EXIT_USAGE;
	}
	if (help_is_asked(argv[1])) {
		cmd_pcap_usage(stdout);
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; i < NUM_SUBCOMMANDS; i++)
		if (strcmp(argv[1], cmd_pcap_subcommands[i].name) == 0)
			return cmd_pcap_run(&cmd_pcap_subcommands[i], argc - 1, argv + 1);
	fprintf(stderr, "uiwarp pcap: there is no command \"%s\"; see \"uiwarp pcap --help\"\n",
		argv[1]);
	return EXIT_USAGE;
}
