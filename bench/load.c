/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long messages take when there are many: a sender to which messages come at random times, so
 * many a second on the average, and a receiver on the same host, that poll. A message's time begins
 * when it was to be sent, also if the sender could not (else those who wait would not be seen), and
 * ends when the receiver has it. Each prints one line of JSON: the receiver these times, the sender
 * what of them had passed when it got to send.
 *
 *     load [-t verbs|tcp|ucx] [-p PORT] [-q CONNECTIONS] [-l BYTES]                        receiver
 *     load ... [-n COUNT] [-r MESSAGES-PER-SECOND] ADDRESS        sender; without -r: as many as go
 *
 * load_port is the same over a DPDK port alone: PORT and ADDRESS are the devices of the two ends.
 */
#include "load.h"

#include "base/histogram.h"
#include "base/number.h"
#include "base/prng.h"
#include "sample.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/** The stamp of a connection's last message; and of the first ones, which are not counted. */
#define LOAD_END  UINT64_MAX
#define LOAD_WARM 0

/** Of the messages that are counted, as many come before: at the same times, so that none waits for
 * what came faster. */
#define LOAD_WARM_UP(count) ((count) / 8)

/** What is sent at most without a look at what has come, which lets go of more. */
#define LOAD_UNPOLLED (64 * 1024)

/** Times between two messages, of which one is drawn: as many as fit into a small part of a cache,
 * and cost the same with and without a rate. */
#define LOAD_PAUSES 2048

struct load_pauses {
	struct prng draws;
	float mean_1[LOAD_PAUSES]; /**< as likely as each other, 1 on the average */
};

struct load_receiver {
	struct histogram times;
	uint64_t first, last;
	unsigned ended;
};

static const struct load_transport *const load_transports[] = {
#ifdef LOAD_PORT
	&load_port,
#else
	&load_verbs,
	&load_tcp,
#ifdef LOAD_UCX
	&load_ucx,
#endif
#endif
};

/* ---- figures ------------------------------------------------------------------------------ */

static double load_us(const struct histogram *h, uint32_t ppm)
{
	return (double)histogram_quantile(h, ppm) / 1e3;
}

static void load_print(const struct histogram *h, double per_second)
{
	printf("{\"messages\": %llu, \"per_second\": %.0f, \"us_p50\": %.3f, \"us_p99\": %.3f, "
	       "\"us_p999\": %.3f, \"us_p9999\": %.3f, \"us_max\": %.3f}\n",
		(unsigned long long)h->count, per_second, load_us(h, 500000), load_us(h, 990000),
		load_us(h, 999000), load_us(h, 999900), (double)h->max / 1e3);
}

/* ---- receiver ----------------------------------------------------------------------------- */

static void load_on_message(void *ctx, uint64_t stamp)
{
	struct load_receiver *r = ctx;
	uint64_t now;

	if (stamp == LOAD_END) {
		r->ended++;
		return;
	}
	if (stamp == LOAD_WARM)
		return;
	now = sample_now_ns();
	r->first = r->first ? r->first : now;
	r->last = now;
	histogram_add(&r->times, now > stamp ? now - stamp : 0);
}

static void load_receive(
	const struct load_transport *t, void *transport, const struct load_options *o)
{
	static struct load_receiver r;

	while (r.ended < o->connections)
		t->poll(transport, load_on_message, &r);
	if (r.times.count < 2)
		errx(1, "nothing has come");
	load_print(&r.times, (double)(r.times.count - 1) * 1e9 / (double)(r.last - r.first));
}

/* ---- sender ------------------------------------------------------------------------------- */

static void load_nothing(void *ctx, uint64_t stamp)
{
}

static void load_send_one(
	const struct load_transport *t, void *transport, unsigned connection, uint64_t stamp)
{
	while (!t->send(transport, connection, stamp))
		t->poll(transport, load_nothing, NULL);
}

/** The quantiles of an exponential distribution: what a Poisson process has between its events. */
static void load_pauses_init(struct load_pauses *p)
{
	double sum = 0;

	p->draws = (struct prng){1};
	for (unsigned i = 0; i < LOAD_PAUSES; i++) {
		p->mean_1[i] = (float)-log(1 - (i + 0.5) / LOAD_PAUSES);
		sum += (double)p->mean_1[i];
	}
	for (unsigned i = 0; i < LOAD_PAUSES; i++)
		p->mean_1[i] *= (float)(LOAD_PAUSES / sum);
}

/** The next one, 1 on the average; always the same ones. */
static double load_pause(struct load_pauses *p)
{
	return (double)p->mean_1[prng_below(&p->draws, LOAD_PAUSES)];
}

static void load_send(const struct load_transport *t, void *transport, const struct load_options *o,
	uint64_t count, double per_second)
{
	const uint64_t warm_up = LOAD_WARM_UP(count);
	const double mean = per_second > 0 ? 1e9 / per_second : 0;
	static struct load_pauses pauses;
	static struct histogram late;
	double due = (double)sample_now_ns(), begin = due;
	size_t unpolled = 0;

	load_pauses_init(&pauses);
	for (uint64_t i = 0; i < warm_up + count; i++) {
		double now = (double)sample_now_ns();

		due = mean > 0 ? due + mean * load_pause(&pauses) : now + 0 * load_pause(&pauses);
		begin = i == warm_up ? due : begin;
		for (; now < due || unpolled >= LOAD_UNPOLLED; now = (double)sample_now_ns()) {
			t->poll(transport, load_nothing, NULL);
			unpolled = 0;
		}
		if (i >= warm_up)
			histogram_add(&late, (uint64_t)(now - due));
		load_send_one(t, transport, (unsigned)(i % o->connections),
			i < warm_up ? LOAD_WARM : (uint64_t)due);
		unpolled += o->size;
	}
	load_print(&late, (double)count * 1e9 / (due - begin));
	for (unsigned i = 0; i < o->connections; i++)
		load_send_one(t, transport, i, LOAD_END);
}

/* ---- program ------------------------------------------------------------------------------ */

static void load_usage(void)
{
	errx(2, "usage: load [-t verbs|tcp|ucx] [-p PORT] [-q CONNECTIONS] [-l BYTES] "
		"[[-n COUNT] [-r MESSAGES-PER-SECOND] ADDRESS]");
}

static const struct load_transport *load_transport_named(const char *name)
{
	for (unsigned i = 0; i < sizeof load_transports / sizeof *load_transports; i++)
		if (strcmp(load_transports[i]->name, name) == 0)
			return load_transports[i];
	errx(2, "no transport \"%s\" here", name);
}

int main(int argc, char **argv)
{
	const struct load_transport *t = load_transports[0];
	uint64_t count = 1000000, per_second = 0, connections = 1, size = 64;
	struct load_options o = {.port = "7483"};
	void *transport;
	int opt;

	while ((opt = getopt(argc, argv, "t:p:q:l:n:r:")) != -1) {
		if (opt == 't')
			t = load_transport_named(optarg);
		else if (opt == 'p')
			o.port = optarg;
		else if (!(opt == 'q' && number_parse(optarg, 1, 1024, &connections)) &&
			 !(opt == 'l' && number_parse(optarg, 8, LOAD_SIZE, &size)) &&
			 !(opt == 'n' && number_parse(optarg, 2, UINT32_MAX, &count)) &&
			 !(opt == 'r' && number_parse(optarg, 1, UINT32_MAX, &per_second)))
			load_usage();
	}
	if (optind + 1 < argc)
		load_usage();
	o.address = argv[optind];
	o.connections = (unsigned)connections;
	o.size = size;
	transport = t->open(&o);
	if (o.address)
		load_send(t, transport, &o, count, (double)per_second);
	else
		load_receive(t, transport, &o);
	fflush(stdout);
	t->close(transport);
	return 0;
}
