/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_options.h"

#include "base/number.h"
#include "tools/help.h"

#include <stdio.h>
#include <string.h>

#define SECOND       UINT64_C(1000000000)
#define MAX_TIME     (365 * 86400.0)
#define MAX_RATE     1e12 /* bit/s */
#define MAX_AMOUNT   (UINT64_C(1) << 62)
#define MAX_MESSAGE  (1u << 30)
#define MAX_PARALLEL 10000

enum { TCP_KEY_COUNT = 256, TCP_KEY_STALL, TCP_KEY_SEED, TCP_KEY_ONCE };

static const char *const tcp_options_roles[] = {
	[TRAFFIC_SOURCE] = "source",
	[TRAFFIC_SINK] = "sink",
	[TRAFFIC_ECHO] = "echo",
	[TRAFFIC_PINGPONG] = "pingpong",
};

static bool tcp_options_parse_port(const char *s, uint16_t *out)
{
	uint64_t n;

	if (!number_parse(s, 1, 65535, &n))
		return false;
	*out = (uint16_t)n;
	return true;
}

/* "5001", ":5001", "*:5001", "10.0.0.1:5001", "[fd00::1]:5001". */
static bool tcp_options_parse_listen(const char *s, struct ip_endpoint *out)
{
	const char *colon = strrchr(s, ':');
	char text[IP_ADDR_STRLEN + 2];
	size_t n = !colon ? 0 : (size_t)(colon - s);

	*out = (struct ip_endpoint){0};
	if (!tcp_options_parse_port(!colon ? s : colon + 1, &out->port) || n >= sizeof text)
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	if (n == 0 || strcmp(text, "*") == 0)
		return true;
	if (text[0] == '[' && text[n - 1] == ']') {
		text[n - 1] = '\0';
		return strchr(text, ':') && ip_addr_parse(text + 1, &out->addr) == 0;
	}
	return !strchr(text, ':') && ip_addr_parse(text, &out->addr) == 0;
}

/* Options that are of use to some roles only. */
static void tcp_options_check_role(const struct tcp_options *o, int key, struct argp_state *state)
{
	static const struct {
		int key;
		const char *name;
		unsigned roles;
	} limited[] = {
		{'n', "--bytes", 1u << TRAFFIC_SOURCE},
		{'r', "--rate", 1u << TRAFFIC_SOURCE},
		{'m', "--message", 1u << TRAFFIC_PINGPONG},
		{TCP_KEY_COUNT, "--count", 1u << TRAFFIC_PINGPONG},
		{TCP_KEY_STALL, "--stall", 1u << TRAFFIC_SINK | 1u << TRAFFIC_ECHO},
		{'V', "--verify", 1u << TRAFFIC_SINK | 1u << TRAFFIC_PINGPONG},
	};

	for (size_t i = 0; i < sizeof limited / sizeof limited[0]; i++)
		if (limited[i].key == key && !(limited[i].roles >> o->role & 1))
			argp_error(state, "%s is of no use to a %s", limited[i].name,
				tcp_options_roles[o->role]);
}

static void tcp_options_wrong(
	struct argp_state *state, const char *option, const char *arg, const char *right)
{
	argp_error(state, "%s is \"%s\"; expected %s", option, arg, right);
}

static void tcp_options_seconds(
	struct argp_state *state, const char *option, const char *arg, uint64_t *out)
{
	if (!number_parse_seconds(arg, MAX_TIME, out))
		tcp_options_wrong(state, option, arg, "seconds, such as 10 or 0.5");
}

static void tcp_options_size(
	struct argp_state *state, const char *option, const char *arg, uint64_t max, uint64_t *out)
{
	char range[NUMBER_SIZE_RANGE], expected[sizeof range + 16];

	if (number_parse_size(arg, 1, max, out))
		return;
	snprintf(expected, sizeof expected, "a number %s", number_size_range(range, 1, max));
	tcp_options_wrong(state, option, arg, expected);
}

static void tcp_options_address(struct tcp_options *o, char *arg, struct argp_state *state)
{
	if (o->listen)
		argp_error(state, "expected --listen, or a host to connect to, not both");
	if (state->arg_num == 0)
		o->host = arg;
	else if (state->arg_num > 1)
		argp_error(state, "expected at most a host and a port");
	else if (!tcp_options_parse_port(arg, &o->port))
		tcp_options_wrong(state, "the port", arg, "a number from 1 to 65535");
}

static void tcp_options_finish(struct tcp_options *o, struct argp_state *state)
{
	bool sends = o->role == TRAFFIC_SOURCE || o->role == TRAFFIC_PINGPONG;

	if (!o->listen && !o->host)
		argp_error(state, "expected a host to connect to, or --listen [ADDRESS:]PORT");
	if (sends && o->time == UINT64_MAX && !o->bytes && !o->count)
		o->time = 10 * SECOND;
	if (o->time == UINT64_MAX)
		o->time = 0;
}

static error_t tcp_options_parse_option(int key, char *arg, struct argp_state *state)
{
	struct tcp_options *o = state->input;
	uint64_t n = 0;

	tcp_options_check_role(o, key, state);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->configuration;
		return 0;
	case 'l':
		o->listen = true;
		if (!tcp_options_parse_listen(arg, &o->local))
			tcp_options_wrong(state, "--listen", arg,
				"[ADDRESS:]PORT, such as 5001, 10.0.0.1:5001 or [fd00::1]:5001");
		return 0;
	case 't':
		tcp_options_seconds(state, "--time", arg, &o->time);
		return 0;
	case 'i':
		tcp_options_seconds(state, "--interval", arg, &o->interval);
		return 0;
	case TCP_KEY_STALL:
		tcp_options_seconds(state, "--stall", arg, &o->stall);
		return 0;
	case 'n':
		tcp_options_size(state, "--bytes", arg, MAX_AMOUNT, &o->bytes);
		return 0;
	case 'm':
		tcp_options_size(state, "--message", arg, MAX_MESSAGE, &n);
		o->message = (uint32_t)n;
		return 0;
	case TCP_KEY_COUNT:
		tcp_options_size(state, "--count", arg, MAX_AMOUNT, &o->count);
		return 0;
	case 'P':
		tcp_options_size(state, "--parallel", arg, MAX_PARALLEL, &n);
		o->parallel = (unsigned)n;
		return 0;
	case TCP_KEY_SEED:
		if (!number_parse_size(arg, 0, UINT64_MAX, &o->seed))
			tcp_options_wrong(state, "--seed", arg, "a number");
		return 0;
	case 'r':
		if (!number_parse_rate(arg, 1, MAX_RATE, &o->rate))
			tcp_options_wrong(state, "--rate", arg,
				"bits per second, such as 800k, 100m or 2.5g");
		return 0;
	case 'C':
		o->congestion_control = arg;
		return 0;
	case 'V':
		o->verify = true;
		return 0;
	case 'J':
		o->json = true;
		return 0;
	case TCP_KEY_ONCE:
		o->once = true;
		return 0;
	case ARGP_KEY_ARG:
		tcp_options_address(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		tcp_options_finish(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option tcp_options_argp_options[] = {
	{"listen", 'l', "[ADDRESS:]PORT", 0, "Take connections instead of making one", 1},
	{"parallel", 'P', "N", 0, "Make N connections; with --once: take N", 1},
	{"once", TCP_KEY_ONCE, NULL, 0, "End when the first connection that was taken has ended",
		1},
	{"cc", 'C', "NAME", 0, "As --set congestion_control=NAME", 1},
	{"time", 't', "SECONDS", 0,
		"Use each connection that long; 0: until interrupted. Source and pingpong: 10 if "
		"nothing else limits them",
		2},
	{"bytes", 'n', "SIZE", 0, "source: send that much", 2},
	{"rate", 'r', "BITS", 0, "source: send so many bits per second at most", 2},
	{"message", 'm', "SIZE", 0, "pingpong: of a message (64)", 2},
	{"count", TCP_KEY_COUNT, "N", 0, "pingpong: send N messages", 2},
	{"stall", TCP_KEY_STALL, "SECONDS", 0, "sink, echo: read nothing for so long", 2},
	{"verify", 'V', NULL, 0, "sink, pingpong: compare what comes with the pattern", 2},
	{"seed", TCP_KEY_SEED, "N", 0, "Of the pattern that is sent and expected (1)", 2},
	{"interval", 'i', "SECONDS", 0, "Report that often (1); 0: at the end only", 3},
	{"json", 'J', NULL, 0, "Report in JSON, one object a line", 3},
	{0},
};

static const struct argp_child tcp_options_argp_children[] = {
	{&configuration_argp, 0, "The stack:", 4}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp tcp_options_argp = {tcp_options_argp_options, tcp_options_parse_option,
	"HOST [PORT]\n--listen [ADDRESS:]PORT",
	"Send, take in or send back a plain TCP stream over a stack of our own.\v"
	"The peer may be any TCP. The port is 5001 if none is given. The environment's "
	"UIWARP_CONFIG (a file) and UIWARP_SET (lines of KEY=VALUE) are read too; the command "
	"line wins.\n\n"
	"Exit status: 0 if all went well, 1 if a connection failed or brought wrong bytes, 2 if "
	"the command line or the configuration is wrong.",
	tcp_options_argp_children, NULL, NULL};

static bool tcp_options_find_role(const char *name, enum traffic_role *role)
{
	for (unsigned i = 0; i < sizeof tcp_options_roles / sizeof tcp_options_roles[0]; i++)
		if (strcmp(name, tcp_options_roles[i]) == 0) {
			*role = (enum traffic_role)i;
			return true;
		}
	return false;
}

bool tcp_options_parse(struct tcp_options *o, int argc, char **argv)
{
	static char name[32];

	*o = (struct tcp_options){
		.port = TCP_OPTIONS_PORT,
		.parallel = 1,
		.time = UINT64_MAX,
		.message = 64,
		.seed = 1,
		.interval = SECOND,
	};
	if (!tcp_options_find_role(argv[0], &o->role))
		return false;
	snprintf(name, sizeof name, "uiwarp tcp %s", argv[0]);
	argv[0] = name;
	argp_parse(&tcp_options_argp, argc, argv, 0, NULL, o);
	return true;
}
