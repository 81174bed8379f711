/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long messages take when there are many: a sender to which messages come at random times, so
 * many a second on the average, and a receiver on the same host, that poll. A message's time begins
 * when it was to be sent, also if the sender could not (else those who wait would not be seen), and
 * ends when the receiver has it. The receiver prints one line of JSON.
 *
 *     load [-t verbs|tcp|ucx] [-p PORT] [-q CONNECTIONS] [-l BYTES]                        receiver
 *     load ... [-n COUNT] [-r MESSAGES-PER-SECOND] ADDRESS        sender; without -r: as many as go
 */
#include "load.h"

#include "base/histogram.h"
#include "base/number.h"
#include "sample.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/** The stamp of a connection's last message; and of the first ones, which are not counted. */
#define LOAD_END  UINT64_MAX
#define LOAD_WARM 0

/** As many on each connection find all caches cold. */
#define LOAD_WARM_UP 200

struct load_receiver {
	struct histogram times;
	uint64_t first, last;
	unsigned ended;
};

static const struct load_transport *const load_transports[] = {
	&load_verbs,
	&load_tcp,
#ifdef LOAD_UCX
	&load_ucx,
#endif
};

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

static double load_us(const struct load_receiver *r, uint32_t ppm)
{
	return (double)histogram_quantile(&r->times, ppm) / 1e3;
}

static void load_receive(
	const struct load_transport *t, void *transport, const struct load_options *o)
{
	static struct load_receiver r;

	while (r.ended < o->connections)
		t->poll(transport, load_on_message, &r);
	if (r.times.count < 2)
		errx(1, "nothing has come");
	printf("{\"messages\": %llu, \"per_second\": %.0f, \"us_p50\": %.3f, \"us_p99\": %.3f, "
	       "\"us_p999\": %.3f, \"us_p9999\": %.3f, \"us_max\": %.3f}\n",
		(unsigned long long)r.times.count,
		(double)(r.times.count - 1) * 1e9 / (double)(r.last - r.first), load_us(&r, 500000),
		load_us(&r, 990000), load_us(&r, 999000), load_us(&r, 999900),
		(double)r.times.max / 1e3);
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

/** Nanoseconds to the next message: those of a Poisson process, always the same ones. */
static double load_pause(double per_second)
{
	return -log(1 - drand48()) * 1e9 / per_second;
}

static void load_send(const struct load_transport *t, void *transport, const struct load_options *o,
	uint64_t count, uint64_t per_second)
{
	double due;

	for (unsigned i = 0; i < LOAD_WARM_UP * o->connections; i++)
		load_send_one(t, transport, i % o->connections, LOAD_WARM);
	srand48(1);
	due = (double)sample_now_ns();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t now = sample_now_ns();

		due = per_second ? due + load_pause((double)per_second) : (double)now;
		for (; (double)now < due; now = sample_now_ns())
			t->poll(transport, load_nothing, NULL);
		load_send_one(t, transport, (unsigned)(i % o->connections), (uint64_t)due);
	}
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
	const struct load_transport *t = &load_verbs;
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
		load_send(t, transport, &o, count, per_second);
	else
		load_receive(t, transport, &o);
	fflush(stdout);
	t->close(transport);
	return 0;
}
