/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a port can do without our stack: echo round trips, or one-way throughput, between two
 * processes. The port is opened as the stack opens it; the frames go through the driver's burst
 * functions alone. The client (echo) or the server (oneway) prints one line of JSON.
 */
#include "dpdk-port/clock.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/lcore.h"
#include "dpdk-port/port_private.h"

#include "base/argument.h"
#include "link.h"
#include "sample.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BURST 32
/** Without a frame for so long the other side is gone. */
#define QUIET_NS UINT64_C(2000000000)

enum role { ROLE_SERVER, ROLE_CLIENT };
enum mode { MODE_ECHO, MODE_ONEWAY };

struct options {
	const char *port, *eal;
	enum role role;
	enum mode mode;
	unsigned size;
	uint64_t count;
};

struct bench {
	const struct options *o;
	struct port *port;
	struct port_clock clock;
};

static void parse_argument(struct options *o, struct argp_state *state, const char *arg)
{
	switch (state->arg_num) {
	case 0:
		o->port = arg;
		break;
	case 1:
		if (strcmp(arg, "echo") && strcmp(arg, "oneway"))
			argp_error(state, "MODE is echo or oneway");
		o->mode = strcmp(arg, "echo") ? MODE_ONEWAY : MODE_ECHO;
		break;
	case 2:
		if (strcmp(arg, "server") && strcmp(arg, "client"))
			argp_error(state, "ROLE is server or client");
		o->role = strcmp(arg, "server") ? ROLE_CLIENT : ROLE_SERVER;
		break;
	case 3:
		o->count = argument_number(state, "COUNT", arg, 100, UINT32_MAX);
		break;
	case 4:
		o->size = (unsigned)argument_number(state, "LENGTH", arg, 14, 2000);
		break;
	default:
		argp_usage(state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e':
		o->eal = arg;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(o, state, arg);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 3)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct rte_mbuf *frame(struct bench *b)
{
	struct rte_mbuf *m;
	uint8_t *p;

	do
		m = rte_pktmbuf_alloc(b->port->pool);
	while (!m);
	p = rte_pktmbuf_mtod(m, uint8_t *);
	m->data_len = (uint16_t)b->o->size;
	m->pkt_len = b->o->size;
	/* Broadcast, of a protocol for local experiments (RFC 9542 section 3.2). */
	memset(p, 0xff, 6);
	memcpy(p + 6, b->port->caps.mac, 6);
	p[12] = 0x88;
	p[13] = 0xb5;
	return m;
}

/** True for our frames; a kernel's interface brings others too. */
static bool ours(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	return p[12] == 0x88 && p[13] == 0xb5;
}

static void send_one(struct bench *b, struct rte_mbuf *m)
{
	while (!rte_eth_tx_burst(b->port->id, 0, &m, 1))
		rte_pause();
}

static int echo_server(struct bench *b)
{
	struct rte_mbuf *m[BURST];
	uint64_t done = 0, last = 0;

	while (done < b->o->count) {
		unsigned n = rte_eth_rx_burst(b->port->id, 0, m, BURST);

		for (unsigned i = 0; i < n; i++) {
			if (!ours(m[i])) {
				rte_pktmbuf_free(m[i]);
				continue;
			}
			send_one(b, m[i]);
			done++;
		}
		if (n)
			last = clock_ns(&b->clock);
		else if (last && clock_ns(&b->clock) - last > QUIET_NS)
			break;
	}
	usleep(100000); /* the last one is still in a ring that goes with us */
	return 0;
}

/** Wait for the answer. @return false if there is none. */
static bool receive_one(struct bench *b, uint64_t since)
{
	struct rte_mbuf *m[BURST];
	bool got = false;

	for (uint64_t spins = 0; !got; spins++) {
		unsigned n = rte_eth_rx_burst(b->port->id, 0, m, BURST);

		for (unsigned i = 0; i < n; i++) {
			got |= ours(m[i]);
			rte_pktmbuf_free(m[i]);
		}
		if (!got && spins % 1024 == 0 && clock_ns(&b->clock) - since > QUIET_NS)
			return false;
	}
	return true;
}

static int echo_client(struct bench *b)
{
	uint64_t n = b->o->count, *rtt = calloc(n, sizeof *rtt), sum = 0, start;

	if (!rtt)
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		struct rte_mbuf *m = frame(b);

		start = clock_ns(&b->clock);
		send_one(b, m);
		if (!receive_one(b, start)) {
			fprintf(stderr, "no answer to frame %lu\n", (unsigned long)i);
			free(rtt);
			return 1;
		}
		rtt[i] = clock_ns(&b->clock) - start;
		sum += rtt[i];
	}
	sample_sort(rtt, n);
	printf("{\"test\": \"raw_echo\", \"driver\": \"%s\", \"length\": %u, \"count\": %lu, "
	       "\"rtt_us_min\": %.3f, \"rtt_us_p50\": %.3f, \"rtt_us_mean\": %.3f, "
	       "\"rtt_us_p99\": %.3f, \"rtt_us_p999\": %.3f, \"rtt_us_p9999\": %.3f, "
	       "\"rtt_us_max\": %.3f}\n",
		b->port->caps.driver, b->o->size, (unsigned long)n, (double)rtt[0] / 1e3,
		(double)rtt[n / 2] / 1e3, (double)sum / (double)n / 1e3,
		(double)rtt[n * 99 / 100] / 1e3, (double)rtt[n * 999 / 1000] / 1e3,
		(double)rtt[n * 9999 / 10000] / 1e3, (double)rtt[n - 1] / 1e3);
	free(rtt);
	return 0;
}

static int oneway_server(struct bench *b)
{
	struct rte_mbuf *m[BURST];
	uint64_t frames = 0, bytes = 0, first = 0, last = 0;
	double s;

	while (frames < b->o->count) {
		unsigned n = rte_eth_rx_burst(b->port->id, 0, m, BURST);

		if (!n) {
			if (first && clock_ns(&b->clock) - last > QUIET_NS)
				break;
			continue;
		}
		last = clock_ns(&b->clock);
		if (!first)
			first = last;
		for (unsigned i = 0; i < n; i++) {
			if (!ours(m[i]))
				continue;
			frames++;
			bytes += m[i]->pkt_len;
		}
		rte_pktmbuf_free_bulk(m, n);
	}
	s = (double)(last - first) / 1e9;
	if (!frames || last == first) {
		fprintf(stderr, "nothing came\n");
		return 1;
	}
	printf("{\"test\": \"raw_oneway\", \"driver\": \"%s\", \"length\": %u, \"frames\": %lu, "
	       "\"seconds\": %.6f, \"mpps\": %.3f, \"gbit_s\": %.3f}\n",
		b->port->caps.driver, b->o->size, (unsigned long)frames, s,
		(double)frames / s / 1e6, (double)bytes * 8 / s / 1e9);
	return 0;
}

/** Send until the server, which counts, has gone: frames get lost on some ports. */
static int oneway_client(struct bench *b)
{
	uint64_t sent = 0, stuck = 0;

	while (sent < b->o->count * 4) {
		struct rte_mbuf *m[BURST];
		unsigned n;

		for (unsigned i = 0; i < BURST; i++)
			m[i] = frame(b);
		n = rte_eth_tx_burst(b->port->id, 0, m, BURST);
		rte_pktmbuf_free_bulk(m + n, BURST - n);
		sent += n;
		stuck = n ? 0 : stuck + 1;
		if (stuck && stuck % 1000 == 0 && !port_watch(b->port))
			break;
	}
	return 0;
}

static int run(const struct options *o)
{
	struct port_config cfg = {.device = o->port, .eal = o->eal};
	struct bench b = {.o = o};
	struct port_error e = {""};
	unsigned lcore, had;
	int r = 1;

	if (port_open(&cfg, &b.port, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	/* Frames are the driver's, so the gate keeps the end of a memif's connection out of bursts.
	 */
	b.port->copies = false;
	clock_init(&b.clock, eal_clock_sample());
	lcore = lcore_reserve();
	had = lcore_enter(lcore);
	if (!link_wait(b.port))
		fprintf(stderr, "the link of %s does not come up\n", o->port);
	else if (o->role == ROLE_SERVER)
		r = o->mode == MODE_ECHO ? echo_server(&b) : oneway_server(&b);
	else
		r = o->mode == MODE_ECHO ? echo_client(&b) : oneway_client(&b);
	lcore_leave(had);
	lcore_release(lcore);
	port_close(b.port);
	return r;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"eal", 'e', "ARGS", 0, "further EAL arguments", 0},
		{0},
	};
	static const struct argp argp = {options, parse, "DEVICE MODE ROLE [COUNT [LENGTH]]",
		"Measure a DPDK port between two processes: round trips (MODE echo; the client "
		"reports) or throughput (oneway; the server does).",
		NULL, NULL, NULL};
	struct options o = {.size = 64, .count = 100000};

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return run(&o);
}
