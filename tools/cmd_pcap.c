/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp pcap: what iWARP connections in capture files say, and whether they may. */
#include "pcap/capture_live.h"
#include "pcap/capture_set.h"
#include "pcap/check.h"
#include "pcap/follow.h"
#include "pcap/replay.h"
#include "pcap/show.h"
#include "pcap/stats.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/help.h"
#include "tools/output.h"
#include "tools/pcap_options.h"

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

/* A connection's statistics take more memory than a check of it. */
#define STATS_CONNECTIONS 4096
/* A session of our stack each. */
#define REPLAY_CONNECTIONS 256

/*
 * The file became shorter while it was read: what was found before is told, if anybody reads it.
 * Nothing of a file is printed but from a copy, so this comes while nobody is within stdio.
 */
static void cmd_pcap_on_bus_error(int number)
{
	static const char text[] = "uiwarp pcap: the file has been cut off meanwhile\n";

	ssize_t n;

	signal(SIGPIPE, SIG_IGN);
	n = write(STDERR_FILENO, text, sizeof text - 1);
	(void)n; /* there is nobody else to tell */
	fflush(NULL);
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
	bool filter_failed;
	int status; /**< EXIT_UNREADABLE: not all could be read */
};

/** True if the frame passes the filter. */
static bool cmd_pcap_filter(struct pcap_options *o, struct cmd_pcap_input *in,
	const struct cap_frame *f, struct cap_error *e)
{
	enum frame_filter_result r;

	if (!o->filter.expression || in->filter_failed)
		return !in->filter_failed;
	r = frame_filter_apply(&o->filter, f, e);
	if (r == FRAME_FILTER_BAD) {
		in->filter_failed = true;
		in->status = cmd_pcap_complain(in->name, e->text);
	}
	return r == FRAME_FILTER_TAKE;
}

/* By how much is not known, only that it is more: so no time is changed here. */
static void cmd_pcap_warn_ahead(const struct cmd_pcap_input *in, const struct connection_ahead *a)
{
	uint64_t answer = 0, question = 0;
	const char *early = cap_set_locate(&in->set, a->answer, &answer);
	const char *late = cap_set_locate(&in->set, a->question, &question);

	if (early && late)
		fprintf(stderr,
			"uiwarp pcap: frame %llu of %s answers frame %llu of %s, %llu.%06llu s "
			"before "
			"it: the clocks differ; add at least that to the times of %s (editcap "
			"-t)\n",
			(unsigned long long)answer, early, (unsigned long long)question, late,
			(unsigned long long)(a->ns / 1000000000u),
			(unsigned long long)(a->ns % 1000000000u / 1000u), early);
}

/* What has no times has no place among others. */
static void cmd_pcap_warn_times(const struct cap_set *s)
{
	for (unsigned i = 0; i < s->num_files; i++)
		if (s->files[i].follows && s->files[i].result == CAP_FRAME)
			fprintf(stderr, "uiwarp pcap: %s: has no times, so it is read behind %s\n",
				s->files[i].path, s->files[i - 1].path);
}

/** Nothing was looked at: that is no good news. */
static void cmd_pcap_warn_nothing(const char *file, const struct follow_counters *n, bool selects)
{
	fprintf(stderr,
		"uiwarp pcap: %s: no iWARP connection%s in %llu frames, %llu of them of TCP\n",
		file, selects ? " that was selected" : "", (unsigned long long)n->frames,
		(unsigned long long)n->kind[PACKET_TCP]);
	for (unsigned i = 0; i < FOLLOW_UNREAD_MAX && n->unread[i].name; i++)
		fprintf(stderr,
			"uiwarp pcap: %s: %llu frames have %s, which is not read, first frame "
			"%llu\n",
			file, (unsigned long long)n->unread[i].frames, n->unread[i].name,
			(unsigned long long)n->unread[i].first);
	if (n->kind[PACKET_OTHER] != n->unknown_links)
		fprintf(stderr, "uiwarp pcap: %s: %llu frames carry no TCP, first frame %llu\n",
			file, (unsigned long long)(n->kind[PACKET_OTHER] - n->unknown_links),
			(unsigned long long)n->first[PACKET_OTHER]);
}

/** Those that are not judged, and why. */
static void cmd_pcap_warn_tls(const char *file, const uint64_t n[SEALED_WHYS])
{
	static const char *const why[SEALED_WHYS] = {
		[SEALED_NO_HELLO] = "whose ClientHello is not in the capture, or not whole",
		[SEALED_NO_SECRETS] = "whose secrets are not in the key log",
		[SEALED_NO_RECORD] = "of which the capture has no whole record of the application",
		[SEALED_NO_KEY] = "of which the secrets in the key log open no record",
		[SEALED_NO_START] = "in which no start-up frame of MPA is found",
	};

	for (unsigned i = 0; i < SEALED_WHYS; i++)
		if (why[i] && n[i] != 0)
			fprintf(stderr, "uiwarp pcap: %s: %llu TLS connections %s\n", file,
				(unsigned long long)n[i], why[i]);
}

/** @param[out] w is finished afterwards, and tells its counters. */
static void cmd_pcap_follow(struct pcap_options *o, struct cmd_pcap_input *in, struct follow *w,
	const struct connection_ops *ops, void *user)
{
	struct cap_frame f;
	struct cap_error e;
	const char *path;
	enum cap_result r;

	*w = (struct follow){0};
	o->select.ops = ops;
	o->select.user = user;
	o->select.connections = 0;
	if (follow_init(w, &o->follow, &select_ops, &o->select) != 0) {
		in->status = cmd_pcap_complain(in->name, "out of memory");
		return;
	}
	while ((r = cap_set_next(&in->set, &f, &path, &e)) != CAP_END)
		if (r == CAP_BAD)
			in->status = cmd_pcap_complain(path ? path : in->name, e.text);
		else if (cmd_pcap_filter(o, in, &f, &e))
			follow_frame(w, &f);
	follow_finish(w);
	frame_filter_free(&o->filter);
	cmd_pcap_warn(in->name, &w->counters);
	cmd_pcap_warn_ahead(in, &w->shared.ahead);
	cmd_pcap_warn_tls(in->name, w->shared.unjudged);
	/* Of a file that is none, that was said. */
	if (o->select.connections == 0 && (in->status == EXIT_SUCCESS || w->counters.frames != 0))
		cmd_pcap_warn_nothing(in->name, &w->counters, w->shared.connections != 0);
}

static int cmd_pcap_worse(int status, int other)
{
	return other > status ? other : status;
}

static int cmd_pcap_show(struct pcap_options *o, struct cmd_pcap_input *in)
{
	struct show s = {.out = stdout, .json = o->json, .span = o->span};
	struct follow w;

	cmd_pcap_follow(o, in, &w, &show_ops, &s);
	return in->status;
}

static int cmd_pcap_check(struct pcap_options *o, struct cmd_pcap_input *in)
{
	struct check k = {.report = {.out = stdout,
				  .json = o->json,
				  .all = o->all,
				  .files = &in->set,
				  .span = o->span,
				  .severities = &o->severities,
				  .least_set = true,
				  .least = o->least}};
	struct follow w;

	cmd_pcap_follow(o, in, &w, &check_ops, &k);
	report_summary(&k.report, in->name, o->select.connections, w.counters.frames);
	o->connections += o->select.connections;
	return cmd_pcap_worse(
		in->status, k.report.violations != 0 ? EXIT_VIOLATIONS : EXIT_SUCCESS);
}

/** @return false, and it was said: @p output, which may be NULL, is one of the captures. */
static bool cmd_pcap_output_is_free(const struct cmd_pcap_input *in, const char *output)
{
	struct stat s;

	for (unsigned i = 0; output && i < in->n; i++)
		if (stat(in->paths[i], &s) == 0 && output_is_input(output, &s)) {
			cmd_pcap_complain(output, "that is the capture itself");
			return false;
		}
	return true;
}

static int cmd_pcap_draw(const struct pcap_options *o, const struct timeseq *t)
{
	int rc = timeseq_write(t, o->plot);

	if (rc == 0)
		return EXIT_SUCCESS;
	return cmd_pcap_complain(
		o->plot, rc == -ENODATA ? "there is no such connection to draw" : strerror(-rc));
}

static int cmd_pcap_stats(struct pcap_options *o, struct cmd_pcap_input *in)
{
	struct stats t = {.out = stdout, .json = o->json};
	struct follow w;
	int status;

	if (!cmd_pcap_output_is_free(in, o->html) || !cmd_pcap_output_is_free(in, o->plot))
		return EXIT_UNREADABLE;
	o->follow.max_connections = STATS_CONNECTIONS;
	if (o->plot)
		t.plot = STATS_PLOT_FIRST;
	if (o->html) {
		t.html = fopen(o->html, "w");
		if (!t.html)
			return cmd_pcap_complain(o->html, strerror(errno));
		stats_html_begin(&t, in->name);
	}
	cmd_pcap_follow(o, in, &w, &stats_ops, &t);
	status = in->status;
	if (o->html) {
		stats_html_end(&t);
		if (fclose(t.html) != 0)
			status = cmd_pcap_complain(o->html, strerror(errno));
	}
	if (o->plot)
		status = cmd_pcap_worse(status, cmd_pcap_draw(o, &t.timeseq));
	timeseq_free(&t.timeseq);
	return status;
}

static int cmd_pcap_replay(struct pcap_options *o, struct cmd_pcap_input *in)
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
	int (*run)(struct pcap_options *o, struct cmd_pcap_input *in);
	const struct argp_option *options;
	const char *doc;
} cmd_pcap_subcommands[] = {
	{"check", cmd_pcap_check, pcap_options_of_check,
		"Check what both ends of iWARP connections send against RFC 5040, 5041, 5044, 6581 "
		"and 7306.\v"
		"A violation names the demand that the sender of a frame did not meet; advice is "
		"the same for a SHOULD; a note is worth knowing and no fault.\n\n"
		"Exit status: 0 without violations; 1 with; 2 if a file cannot be read to its end, "
		"or the command line is wrong; 3 if no file has an iWARP connection."},
	{"replay", cmd_pcap_replay, pcap_options_of_replay,
		"Feed what initiators sent in capture files to our own stack as responder, and see "
		"that "
		"it accepts it and answers as the captured responder did.\v"
		"Exit status: 0 without differences; 1 with; 2 if a file cannot be read to its "
		"end, or "
		"the command line is wrong."},
	{"show", cmd_pcap_show, pcap_options_of_show,
		"Show each MPA frame and FPDU of iWARP connections in capture files, a line each.\v"
		"Exit status: 0; 2 if a file cannot be read to its end, or the command line is "
		"wrong."},
	{"stats", cmd_pcap_stats, pcap_options_of_stats,
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
	const struct subcommand *s, struct pcap_options *o, char *const *paths, unsigned n)
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
	cmd_pcap_warn_times(&in.set);
	status = s->run(o, &in);
	cap_set_close(&in.set);
	return status;
}

static struct cap_file *volatile cmd_pcap_live;

static void cmd_pcap_on_stop(int number)
{
	cap_live_stop(cmd_pcap_live);
	ending_insist(number);
}

/** --duration is over: nobody insists, however long the report takes. */
static void cmd_pcap_on_alarm(int number)
{
	cap_live_stop(cmd_pcap_live);
}

static void cmd_pcap_stop_by_signals(void)
{
	/* What is being printed is printed whole. */
	const struct sigaction stop = {.sa_handler = cmd_pcap_on_stop, .sa_flags = SA_RESTART};
	const struct sigaction over = {.sa_handler = cmd_pcap_on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGALRM, &over, NULL);
}

static int cmd_pcap_run_live(const struct subcommand *s, struct pcap_options *o)
{
	const struct cap_live_config config = {
		.interface = o->interface, .filter = o->filter.expression, .path = o->write};
	struct cmd_pcap_input in = {.name = o->interface};
	struct cap_error e;
	struct cap_file *c;
	uint64_t dropped;
	int status;

	c = cap_live_open(&config, &e);
	if (!c)
		return cmd_pcap_complain(in.name, e.text);
	o->filter.expression = NULL; /* the kernel has it */
	if (cap_set_take(&in.set, o->write, c) != 0)
		return cmd_pcap_complain(in.name, "out of memory");
	cmd_pcap_live = c;
	cmd_pcap_stop_by_signals();
	setvbuf(stdout, NULL, _IOLBF, 0);
	fprintf(stderr, "uiwarp pcap: capturing on %s\n", o->interface);
	alarm(o->duration);
	status = s->run(o, &in);
	alarm(0);
	dropped = cap_live_dropped(c);
	if (dropped != 0)
		fprintf(stderr,
			"uiwarp pcap: %s: %llu frames came too fast and are not in the capture\n",
			o->interface, (unsigned long long)dropped);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	cap_set_close(&in.set);
	return status;
}

static int cmd_pcap_run_all(const struct subcommand *s, struct pcap_options *o)
{
	int status = EXIT_SUCCESS;

	if (o->interface)
		return cmd_pcap_run_live(s, o);
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
		s->options, pcap_options_parse, "[FILE...]", s->doc, help, NULL, NULL};
	struct pcap_options o = {.least = SEVERITY_NOTE};
	int status;

	snprintf(name, sizeof name, "uiwarp pcap %s", s->name);
	argv[0] = name;
	if (getrandom(&o.follow.key, sizeof o.follow.key, 0) != sizeof o.follow.key)
		return cmd_pcap_complain("getrandom", strerror(errno));
	o.keylog.key = o.follow.key;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	signal(SIGBUS, cmd_pcap_on_bus_error);
	status = cmd_pcap_run_all(s, &o);
	severities_free(&o.severities);
	keylog_free(&o.keylog);
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
