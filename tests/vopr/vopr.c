/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Random programs of verbs on simulated hosts, against a model: docs/testing.md.
 */
#include "vopr/shrink.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t current_seed;
static volatile sig_atomic_t stopped;

static void usage(FILE *to)
{
	fputs("usage: vopr [--seed N | --seeds FROM:TO] [--steps N] [--time SECONDS] [--trace]\n"
	      "            [--pcap FILE] [--shrink] [--first] [--list FILE] [--deliberate] "
	      "[--generator VERSION] [--floor N] [--version]\n",
		to);
}

/** What ends by abort(), an assertion or a sanitizer shall name its seed, too. */
static void on_abort(int sig)
{
	char text[64];
	int n = snprintf(
		text, sizeof text, "vopr: signal %d in seed %ju\n", sig, (uintmax_t)current_seed);

	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

/** The seed under way is the last. */
static void on_stop(int sig)
{
	stopped = 1;
	signal(sig, SIG_DFL);
}

struct sums {
	uint64_t seeds, wrong, simulated, operations, completions, received, failed, established;
	struct tally told;
};

static void add(struct sums *s, const struct run_result *r)
{
	s->seeds++;
	s->wrong += r->wrong[0] != 0;
	s->simulated += r->simulated;
	s->operations += r->operations;
	s->completions += r->completions;
	s->received += r->received;
	s->failed += r->failed;
	s->established += r->established;
	tally_add(&s->told, &r->told);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct options {
	uint64_t from, to;
	unsigned steps, version;
	double seconds;
	bool shrink;
	bool first;       /**< the first seed that fails is enough */
	const char *list; /**< file of seeds, or NULL */
	uint64_t floor;   /**< how often each way to end must come; 0: it may be missing */
	struct world_options world;
};

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
		{"seeds", required_argument, NULL, 'S'}, {"steps", required_argument, NULL, 'n'},
		{"time", required_argument, NULL, 't'}, {"trace", no_argument, NULL, 'v'},
		{"pcap", required_argument, NULL, 'p'}, {"shrink", no_argument, NULL, 'm'},
		{"first", no_argument, NULL, 'f'}, {"list", required_argument, NULL, 'l'},
		{"generator", required_argument, NULL, 'g'}, {"deliberate", no_argument, NULL, 'd'},
		{"floor", required_argument, NULL, 'F'}, {"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'}, {0}};
	char *end;
	int c;

	*o = (struct options){.from = 1,
		.to = UINT64_MAX - 1,
		.steps = 1500,
		.version = PROGRAM_VERSION,
		.seconds = 1e9};
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			o->from = o->to = strtoull(optarg, &end, 0);
			break;
		case 'S':
			o->from = strtoull(optarg, &end, 0);
			o->to = *end == ':' ? strtoull(end + 1, NULL, 0) : o->from;
			break;
		case 'n':
			o->steps = (unsigned)strtoul(optarg, &end, 0);
			break;
		case 't':
			o->seconds = strtod(optarg, &end);
			break;
		case 'v':
			o->world.trace = stdout;
			break;
		case 'p':
			o->world.pcap = optarg;
			break;
		case 'm':
			o->shrink = true;
			break;
		case 'f':
			o->first = true;
			break;
		case 'l':
			o->list = optarg;
			break;
		case 'g':
			o->version = (unsigned)strtoul(optarg, &end, 0);
			break;
		case 'F':
			o->floor = strtoull(optarg, &end, 0);
			break;
		case 'd':
			o->world.deliberate = true;
			break;
		case 'V':
			printf("%u\n", PROGRAM_VERSION);
			exit(0);
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc;
}

/** Find the shortest program, and run it once more for all to see. */
static void show_shortest(const struct options *o, struct program *p, const char *wrong)
{
	unsigned steps = p->n, runs = shrink(p, wrong, &o->world);
	struct run_result r;

	printf("seed %ju: %u of %u steps do it (%u runs):\n", (uintmax_t)p->profile.seed, p->n,
		steps, runs);
	for (unsigned i = 0; i < p->n; i++)
		printf("    host %u: %s\n", p->step[i].host, step_name(p->step[i].kind));
	run_program(p,
		&(struct world_options){
			.trace = stdout, .pcap = o->world.pcap, .deliberate = o->world.deliberate},
		&r);
}

static void run_seed(const struct options *o, uint64_t seed, struct sums *sums)
{
	struct program p;
	struct run_result r;

	current_seed = seed;
	program_generate(&p, seed, o->steps, o->version);
	if (!run_program(&p, &o->world, &r)) {
		printf("seed %ju: %s\n", (uintmax_t)seed, r.wrong);
		if (o->shrink)
			show_shortest(o, &p, r.wrong);
		fflush(stdout);
	}
	add(sums, &r);
	program_free(&p);
}

/** Each line: the generator's version, steps, seed, what it found. */
static bool run_list(struct options *o, struct sums *sums)
{
	FILE *f = fopen(o->list, "r");
	char line[256];
	uintmax_t seed;

	if (!f) {
		perror(o->list);
		return false;
	}
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%u %u %ju", &o->version, &o->steps, &seed) == 3)
			run_seed(o, seed, sums);
	fclose(f);
	return true;
}

int main(int argc, char **argv)
{
	struct sums s = {0};
	struct options o;

	if (!parse(argc, argv, &o)) {
		usage(stderr);
		return 2;
	}
	setlinebuf(stdout);
	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);
	signal(SIGXCPU, on_abort);
	signal(SIGINT, on_stop);
	signal(SIGTERM, on_stop);
	if (o.list && !run_list(&o, &s))
		return 2;
	for (uint64_t seed = o.from; !o.list && !stopped && seed <= o.to &&
				     cpu_seconds() < o.seconds && !(o.first && s.wrong);
		seed++)
		run_seed(&o, seed, &s);
	if (s.seeds > 1)
		tally_print(&s.told);
	printf("%ju seeds, %ju wrong; %.0f s simulated, %ju requests, %ju completions (%ju "
	       "messages "
	       "received, %ju requests failed), %ju ends of connections, in %.1f s\n",
		(uintmax_t)s.seeds, (uintmax_t)s.wrong, (double)s.simulated / 1e9,
		(uintmax_t)s.operations, (uintmax_t)s.completions, (uintmax_t)s.received,
		(uintmax_t)s.failed, (uintmax_t)s.established, cpu_seconds());
	if (o.floor && tally_missing(&s.told, o.floor))
		return 1;
	return s.wrong != 0;
}
