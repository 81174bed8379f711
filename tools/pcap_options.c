/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/pcap_options.h"

#include "base/argument.h"
#include "tools/commands.h"

#include <errno.h>

enum {
	KEY_JSON = 256,
	KEY_ALL,
	KEY_EACH,
	KEY_PLOT,
	KEY_CONNECTION,
	KEY_RESPONDER,
	KEY_HOST,
	KEY_FROM,
	KEY_TO,
	KEY_FILTER,
	KEY_LEVEL,
	KEY_SEVERITIES,
	KEY_DURATION,
	KEY_HTML,
	KEY_KEYLOG,
};

static void pcap_options_add_port(
	struct argp_state *state, struct follow_config *f, const char *arg)
{
	uint64_t n = argument_number(state, "port", arg, 1, 65535);

	if (f->num_ports == FOLLOW_PORTS_MAX)
		argp_error(state, "--port is given more than %d times", FOLLOW_PORTS_MAX);
	else
		f->ports[f->num_ports++] = (uint16_t)n;
}

static void pcap_options_add_connection(struct argp_state *state, struct select *s, const char *arg)
{
	uint64_t n = argument_number(state, "connection", arg, 1, UINT32_MAX);

	if (s->num_ids == SELECT_MAX)
		argp_error(state, "--connection is given more than %d times", SELECT_MAX);
	else
		s->ids[s->num_ids++] = n;
}

static void pcap_options_add_host(struct argp_state *state, struct select *s, const char *arg)
{
	struct select_net *n = &s->nets[s->num_nets];

	if (s->num_nets == SELECT_MAX)
		argp_error(state, "--host is given more than %d times", SELECT_MAX);
	else if (ip_addr_parse_cidr(arg, &n->addr, &n->prefix) != 0)
		argp_error(state, "--host is \"%s\"; expected ADDRESS or ADDRESS/PREFIX", arg);
	else
		s->num_nets++;
}

static void pcap_options_set_time(
	struct argp_state *state, struct select_time *t, const char *name, const char *arg)
{
	if (!select_parse_time(arg, t))
		argp_error(state,
			"--%s is \"%s\"; expected SECONDS of the capture, or @SECONDS since 1970",
			name, arg);
}

static void pcap_options_set_level(struct argp_state *state, enum severity *least, const char *arg)
{
	if (!severity_parse(arg, least) || *least == SEVERITY_IGNORE)
		argp_error(state, "--level is \"%s\"; expected violation, advice or note", arg);
}

static void pcap_options_read_severities(
	struct argp_state *state, struct severities *s, const char *path)
{
	FILE *in = fopen(path, "r");
	struct cap_error e;

	if (!in)
		argp_failure(state, EXIT_USAGE, errno, "%s", path);
	else if (!severities_read(s, in, &e))
		argp_failure(state, EXIT_USAGE, 0, "%s: %s", path, e.text);
	if (in)
		fclose(in);
}

/** What is written while an interface is captured is read meanwhile, and may be empty so far. */
static void pcap_options_read_keylog(struct argp_state *state, struct pcap_options *o)
{
	FILE *in = fopen(o->keylog_path, "r");
	struct cap_error e;
	bool good;

	if (!sealed_is_available()) {
		argp_failure(
			state, EXIT_USAGE, 0, "--keylog: this uiwarp was built without OpenSSL");
	} else if (!in) {
		argp_failure(state, EXIT_USAGE, errno, "%s", o->keylog_path);
	} else {
		good = keylog_read(&o->keylog, in, &e);
		if (o->interface)
			o->keylog.path = o->keylog_path;
		else if (!good)
			argp_failure(state, EXIT_USAGE, 0, "%s: %s", o->keylog_path, e.text);
	}
	if (in)
		fclose(in);
}

static void pcap_options_check_plot(struct argp_state *state, const struct pcap_options *o)
{
	if ((o->plot || o->html) && o->each && o->num_files > 1)
		argp_error(state, "--%s with --each and %d files; expected one",
			o->plot ? "plot" : "html", o->num_files);
}

static void pcap_options_check_live(struct argp_state *state, const struct pcap_options *o)
{
	if (o->interface && o->num_files != 0)
		argp_error(state, "--interface with \"%s\"; expected no FILE", o->files[0]);
	if (!o->interface && (o->write || o->duration != 0))
		argp_error(state, "--%s without --interface", o->write ? "write" : "duration");
}

static bool pcap_options_select(int key, char *arg, struct argp_state *state)
{
	struct pcap_options *o = state->input;

	switch (key) {
	case KEY_CONNECTION:
		pcap_options_add_connection(state, &o->select, arg);
		return true;
	case KEY_HOST:
		pcap_options_add_host(state, &o->select, arg);
		return true;
	case KEY_FROM:
		pcap_options_set_time(state, &o->span.from, "from", arg);
		return true;
	case KEY_TO:
		pcap_options_set_time(state, &o->span.to, "to", arg);
		return true;
	case KEY_FILTER:
		o->filter.expression = arg;
		return true;
	case KEY_LEVEL:
		pcap_options_set_level(state, &o->least, arg);
		return true;
	case 'i':
		o->interface = arg;
		return true;
	case 'w':
		o->write = arg;
		return true;
	case KEY_HTML:
		o->html = arg;
		return true;
	case KEY_DURATION:
		o->duration = (unsigned)argument_number(state, "duration", arg, 1, 1000000000);
		return true;
	case KEY_KEYLOG:
		o->keylog_path = arg;
		o->follow.keylog = &o->keylog;
		return true;
	case KEY_SEVERITIES:
		pcap_options_read_severities(state, &o->severities, arg);
		return true;
	default:
		return false;
	}
}

error_t pcap_options_parse(int key, char *arg, struct argp_state *state)
{
	struct pcap_options *o = state->input;

	switch (key) {
	case 'p':
		pcap_options_add_port(state, &o->follow, arg);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_PLOT:
		o->plot = arg;
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
		pcap_options_check_plot(state, o);
		pcap_options_check_live(state, o);
		if (o->keylog_path)
			pcap_options_read_keylog(state, o);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!o->interface)
			argp_error(state, "no FILE; expected capture files, - for standard input, "
					  "or --interface");
		return 0;
	default:
		return pcap_options_select(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

#define OPTIONS_OF_ALL                                                                             \
	{"interface", 'i', "INTERFACE", 0, "Capture there, not from files, until SIGINT", 0},      \
		{"write", 'w', "FILE", 0, "Keep what is captured there", 0},                       \
		{"duration", KEY_DURATION, "SECONDS", 0, "End capturing then", 0},                 \
		{"each", KEY_EACH, NULL, 0,                                                        \
			"Every file is a capture of its own, not a part of one", 0},               \
		{"filter", KEY_FILTER, "EXPRESSION", 0,                                            \
			"Read only frames that this expression of pcap-filter(7) takes", 0},       \
		{"connection", KEY_CONNECTION, "N", 0,                                             \
			"Only the N-th connection; may be given again for others", 0},             \
		{"keylog", KEY_KEYLOG, "FILE", 0,                                                  \
			"Open TLS connections with the secrets of tls_keylog or SSLKEYLOGFILE",    \
			0},                                                                        \
	{                                                                                          \
		"host", KEY_HOST, "ADDRESS[/PREFIX]", 0, "Only connections of this host or net", 0 \
	}

#define OPTIONS_OF_READERS                                                      \
	{"port", 'p', "PORT", 0,                                                \
		"Follow connections of this TCP port although their start was " \
		"not captured",                                                 \
		0},                                                             \
	{                                                                       \
		"json", KEY_JSON, NULL, 0, "An object a line", 0                \
	}

#define OPTIONS_OF_SPAN                                                              \
	{"from", KEY_FROM, "SECONDS", 0,                                             \
		"Only from this time of the capture on; @SECONDS is since 1970", 0}, \
	{                                                                            \
		"to", KEY_TO, "SECONDS", 0, "Only up to this time", 0                \
	}

const struct argp_option pcap_options_of_check[] = {
	OPTIONS_OF_ALL,
	OPTIONS_OF_READERS,
	OPTIONS_OF_SPAN,
	{"all", KEY_ALL, NULL, 0, "Tell every violation, not the first three of a kind", 0},
	{"level", KEY_LEVEL, "LEVEL", 0, "Tell no less than violation, advice or note (default)",
		0},
	{"severities", KEY_SEVERITIES, "FILE", 0, "Lines of SEVERITY ID [from ADDRESS] [# why]", 0},
	{0},
};

const struct argp_option pcap_options_of_show[] = {
	OPTIONS_OF_ALL, OPTIONS_OF_READERS, OPTIONS_OF_SPAN, {0}};

const struct argp_option pcap_options_of_stats[] = {
	OPTIONS_OF_ALL,
	OPTIONS_OF_READERS,
	{"html", KEY_HTML, "FILE.html", 0, "Write a report with plots, in one file", 0},
	{"plot", KEY_PLOT, "FILE.svg", 0,
		"Draw time and sequence numbers of the first connection, of those that are "
		"selected",
		0},
	{0},
};

const struct argp_option pcap_options_of_replay[] = {
	OPTIONS_OF_ALL,
	{"responder", KEY_RESPONDER, NULL, 0,
		"Feed what responders sent to our initiator, not the other way round", 0},
	{0},
};
