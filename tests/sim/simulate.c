/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simulate: run one scenario by hand; see docs/simulator.md.
 */
#include "sim/pcapng.h"
#include "sim/report.h"
#include "wan/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Keys of options without a letter; those of a path's follow OPT_PATH. */
enum {
	OPT_RTT = 256,
	OPT_TIME,
	OPT_SETTLE,
	OPT_CC,
	OPT_FLOW,
	OPT_SEED,
	OPT_PLOT,
	OPT_SEQUENCE,
	OPT_PCAP,
	OPT_WINDOW,
	OPT_POLL,
	OPT_V6,
	OPT_ACKS,
	OPT_ECN,
	OPT_RED,
	OPT_TRACE,
	OPT_PATH
};

#define PATH_OPTIONS 32

struct command {
	struct sim_scenario_config scenario;
	struct wan_path_config path, acks;
	const char *cc, *plot, *sequence, *pcap;
	uint64_t trace_from, trace_to;
};

static void path_option(
	struct argp_state *state, struct wan_path_config *c, const char *key, const char *value)
{
	struct wan_options_error e;

	if (wan_options_set(c, key, value, &e))
		argp_error(state, "%s", e.text);
}

static uint64_t time_option(struct argp_state *state, const char *value)
{
	struct wan_path_config c;

	wan_options_init(&c);
	path_option(state, &c, "delay", value);
	return c.delay;
}

/** A size in bytes. */
static uint64_t size_option(struct argp_state *state, const char *value)
{
	struct wan_path_config c;

	wan_options_init(&c);
	path_option(state, &c, "queue", value);
	if (c.queue_unit != WAN_QUEUE_BYTES)
		argp_error(state, "\"%s\" is no size; expected bytes, such as 64KiB", value);
	return c.queue;
}

/** KIND[:CC[:START[:RTT]]] */
static void flow_option(struct argp_state *state, struct sim_scenario_config *c, char *value)
{
	struct sim_scenario_flow *f = &c->flow[c->n_flows];
	char *kind = strsep(&value, ":"), *cc = strsep(&value, ":"), *start = strsep(&value, ":");

	if (c->n_flows == SIM_SCENARIO_FLOWS)
		argp_error(state, "more than %d flows", SIM_SCENARIO_FLOWS);
	if (strcmp(kind, "rdma") != 0 && strcmp(kind, "stream") != 0)
		argp_error(state, "\"%s\" is no kind of flow; expected rdma or stream", kind);
	f->kind = *kind == 'r' ? SIM_FLOW_RDMA : SIM_FLOW_STREAM;
	f->cc = cc && *cc ? cc : NULL;
	f->start = start && *start ? time_option(state, start) : 0;
	f->rtt_more = value ? time_option(state, value) : 0;
	c->n_flows++;
}

static void red_option(struct argp_state *state, struct sim_red_config *c, char *value)
{
	const char *min = strsep(&value, ":");

	if (!value)
		argp_error(state, "\"%s\" is no MIN:MAX", min);
	c->min = size_option(state, min);
	c->max = size_option(state, value);
}

static void trace_option(struct argp_state *state, struct command *c, char *value)
{
	const char *from = strsep(&value, ":");

	if (!value)
		argp_error(state, "\"%s\" is no FROM:TO", from);
	c->trace_from = time_option(state, from);
	c->trace_to = time_option(state, value);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;
	struct sim_scenario_config *x = &c->scenario;
	struct wan_options_error e;

	switch (key) {
	case OPT_RTT:
		x->rtt = time_option(state, arg);
		break;
	case OPT_TIME:
		x->duration = time_option(state, arg);
		break;
	case OPT_SETTLE:
		x->settle = time_option(state, arg);
		break;
	case OPT_CC:
		c->cc = arg;
		break;
	case OPT_FLOW:
		flow_option(state, x, arg);
		break;
	case OPT_SEED:
		x->seed = strtoull(arg, NULL, 0);
		break;
	case OPT_PLOT:
		c->plot = arg;
		break;
	case OPT_SEQUENCE:
		c->sequence = arg;
		break;
	case OPT_PCAP:
		c->pcap = arg;
		break;
	case OPT_WINDOW:
		x->window = size_option(state, arg);
		break;
	case OPT_POLL:
		x->poll = time_option(state, arg);
		break;
	case OPT_V6:
		x->v6 = true;
		break;
	case OPT_ECN:
		x->forward.queue.ecn_threshold = size_option(state, arg);
		break;
	case OPT_RED:
		red_option(state, &x->forward.queue.red, arg);
		break;
	case OPT_TRACE:
		trace_option(state, c, arg);
		break;
	case OPT_ACKS:
		if (wan_options_parse(&c->acks, arg, &e))
			argp_error(state, "--acks: %s", e.text);
		break;
	default:
		if (key < OPT_PATH || key >= OPT_PATH + PATH_OPTIONS)
			return ARGP_ERR_UNKNOWN;
		path_option(state, &c->path, wan_options[key - OPT_PATH].name, arg);
	}
	return 0;
}

static const struct argp_option own_options[] = {
	{"rtt", OPT_RTT, "TIME", 0, "Round trip without queues: 100ms", 0},
	{"time", OPT_TIME, "TIME", 0, "Simulate so long (default 60s)", 0},
	{"settle", OPT_SETTLE, "TIME", 0, "Do not count so much at the beginning (default 5s)", 0},
	{"cc", OPT_CC, "NAME", 0, "Congestion control of flows that name none", 0},
	{"flow", OPT_FLOW, "KIND[:CC[:START[:RTT]]]", 0,
		"A flow, rdma or stream, from START on, with RTT more than others; may be repeated",
		0},
	{"seed", OPT_SEED, "NUMBER", 0, "Another run of chance", 0},
	{"window", OPT_WINDOW, "SIZE", 0, "Fix send and receive buffers", 0},
	{"poll", OPT_POLL, "TIME", 0, "Hosts look at their ports at most this often", 0},
	{"acks", OPT_ACKS, "LIST", 0, "The way back: loss=1%,rate=10m,...", 0},
	{"ecn-threshold", OPT_ECN, "SIZE", 0, "Mark from this much in the queue on", 0},
	{"red", OPT_RED, "MIN:MAX", 0, "Random early detection between these sizes", 0},
	{"ipv6", OPT_V6, NULL, 0, "Over IPv6", 0},
	{"plot", OPT_PLOT, "FILE", 0, "Goodput, windows, round trip, queue as SVG", 0},
	{"sequence", OPT_SEQUENCE, "FILE", 0, "Time-sequence plot of the first flow as SVG", 0},
	{"between", OPT_TRACE, "FROM:TO", 0, "Only this part for --sequence: 10s:10.5s", 0},
	{"pcap", OPT_PCAP, "FILE", 0, "What enters the bottleneck and comes back, as pcapng", 0},
};

#define N_OWN (sizeof own_options / sizeof own_options[0])

/** The emulator's keys that the simulator has too. The delay is --rtt's. */
static bool has_option(const char *name)
{
	static const char *const names[] = {"rate", "queue", "loss", "gilbert-elliott", "reorder",
		"reorder-by", "duplicate", "corrupt", "mtu"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void parse_command(int argc, char **argv, struct command *c)
{
	struct argp_option options[N_OWN + PATH_OPTIONS] = {{0}};
	const struct argp argp = {options, parse_option, NULL,
		"Run flows between hosts over one bottleneck, in virtual time.", NULL, NULL, NULL};
	size_t n = N_OWN;

	memcpy(options, own_options, sizeof own_options);
	for (int i = 0; wan_options[i].name && n < N_OWN + PATH_OPTIONS - 1; i++)
		if (has_option(wan_options[i].name))
			options[n++] = (struct argp_option){.name = wan_options[i].name,
				.key = OPT_PATH + i,
				.arg = wan_options[i].value,
				.doc = wan_options[i].help};
	argp_parse(&argp, argc, argv, 0, NULL, c);
}

static struct sim_path_config path_of(const struct wan_path_config *c)
{
	return (struct sim_path_config){
		.queue.rate = c->rate,
		.queue.limit = c->queue_unit == WAN_QUEUE_BYTES ? c->queue : 0,
		.loss.chance = c->loss,
		.reorder = {c->reorder, c->reorder_by},
		.duplicate = c->duplicate,
		.corrupt = c->corrupt,
		.mtu.mtu = (uint16_t)c->mtu,
	};
}

/** What the emulator's options say, in the scenario's terms. */
static void fill_in(struct command *c)
{
	struct sim_scenario_config *x = &c->scenario;
	struct sim_queue_config queue = x->forward.queue;

	x->rate = c->path.rate ? c->path.rate : UINT64_C(1000000000);
	x->forward = path_of(&c->path);
	x->forward.queue.red = queue.red;
	x->forward.queue.ecn_threshold = queue.ecn_threshold;
	x->backward = path_of(&c->acks);
	x->queue = x->forward.queue.limit;
	if (!x->n_flows)
		x->flow[x->n_flows++].kind = SIM_FLOW_RDMA;
	for (unsigned i = 0; i < x->n_flows; i++)
		if (!x->flow[i].cc)
			x->flow[i].cc = c->cc;
	if (x->settle >= x->duration)
		x->settle = x->duration / 2;
}

static void complain(const char *file, int r)
{
	fprintf(stderr, "simulate: %s: %s\n", file, strerror(-r));
	exit(EXIT_FAILURE);
}

static void add_taps(struct sim_scenario *x, sim_tap_fn *sent, sim_tap_fn *came, void *ctx)
{
	sim_path_prepend(&x->forward, sim_tap_create(x->sim, sent, ctx));
	sim_switch_set_trunk(x->left, x->forward.in);
	sim_path_append(&x->backward, sim_tap_create(x->sim, came, ctx));
}

static void write_plots(const struct command *c, const struct sim_scenario *x,
	const struct sim_trace *trace, const char *title)
{
	int r;

	if (c->plot && (r = sim_report_plot(x, title, c->plot)))
		complain(c->plot, r);
	if (c->sequence && (r = sim_report_plot_trace(x, trace, title, c->sequence)))
		complain(c->sequence, r);
}

static void run(const struct command *c, const char *title)
{
	struct sim_scenario *x = sim_scenario_create(&c->scenario);
	struct sim_pcapng *pcap = NULL;
	struct sim_trace *trace = NULL;
	int r;

	if (c->pcap) {
		pcap = sim_pcapng_open(c->pcap, "bottleneck");
		if (!pcap)
			complain(c->pcap, -errno);
		add_taps(x, sim_pcapng_packet, sim_pcapng_packet, pcap);
	}
	if (c->sequence) {
		trace = sim_trace_create(SIM_SCENARIO_PORT, x->began + c->trace_from,
			x->began + (c->trace_to ? c->trace_to : c->scenario.duration));
		add_taps(x, sim_trace_sent, sim_trace_came, trace);
	}
	sim_scenario_run(x);
	sim_report_print(x, stdout);
	write_plots(c, x, trace, title);
	sim_scenario_destroy(x); /* its last packets pass the taps */
	if (trace)
		sim_trace_destroy(trace);
	if (pcap && (r = sim_pcapng_close(pcap)))
		complain(c->pcap, r);
}

/** The command line, as the title of plots. */
static void join(int argc, char **argv, char *to, size_t size)
{
	size_t n = 0;

	*to = '\0';
	for (int i = 1; i < argc && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", i > 1 ? " " : "", argv[i]);
}

int main(int argc, char **argv)
{
	struct command c = {.scenario = {.seed = 1,
				    .rtt = 20 * SIM_MS,
				    .duration = 60 * SIM_S,
				    .settle = 5 * SIM_S}};
	char title[200];

	join(argc, argv, title, sizeof title);
	wan_options_init(&c.path);
	wan_options_init(&c.acks);
	parse_command(argc, argv, &c);
	fill_in(&c);
	run(&c, title);
	return 0;
}
