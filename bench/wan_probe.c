/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of a path: stamped frames go out by one port and come back by another, and the time
 * between is measured by one clock. At a rate: how long they take beyond the delay that the path
 * should have. With a window: how many pass when there is always one more. Prints a line of JSON.
 */
#include "dpdk-port/clock.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/lcore.h"
#include "dpdk-port/port.h"

#include "base/histogram.h"

#include "base/argument.h"

#include <argp.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BURST       32u
#define LINK_WAIT_S 20
/** Without a frame for so long, those on the way are lost. */
#define QUIET_NS UINT64_C(200000000)
/** The beginning, of which nothing is counted. */
#define WARM_UP_NS UINT64_C(200000000)
/** Of a protocol for local experiments (RFC 9542 section 3.2). */
#define TYPE 0x88b5

struct options {
	const char *device[2];
	uint64_t rate;   /* bit/s of frames; 0: by the window */
	uint64_t window; /* frames on the way */
	uint64_t delay;  /* ns, of the path */
	uint64_t seconds;
	unsigned size;
};

struct probe {
	const struct options *o;
	struct port *port[2];
	struct port_clock clock;
	uint64_t begin, sent, received, bytes;
	uint64_t to_count, counted; /* since the warm-up: sent, received */
	uint64_t first, last;       /* when the first and the last that count came */
	struct histogram late;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'r':
		o->rate = argument_number(state, "rate", arg, 1000, UINT64_C(1000000000000));
		return 0;
	case 'w':
		o->window = argument_number(state, "window", arg, 1, 1000000);
		return 0;
	case 'd':
		o->delay = argument_number(state, "delay", arg, 0, UINT64_C(10000000000));
		return 0;
	case 't':
		o->seconds = argument_number(state, "seconds", arg, 1, 3600);
		return 0;
	case 'l':
		o->size = (unsigned)argument_number(state, "length", arg, 60, 1514);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_usage(state);
		o->device[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool wait_for_links(struct probe *p)
{
	for (int i = 0; i < LINK_WAIT_S * 20; i++) {
		/* Both, whatever the first says: the watch is what connects a port. */
		bool first = port_watch(p->port[0]), second = port_watch(p->port[1]);

		if (first && second)
			return true;
		usleep(50000);
	}
	fprintf(stderr, "the links do not come up\n");
	return false;
}

static bool counts(const struct probe *p, uint64_t stamp)
{
	return stamp >= p->begin + WARM_UP_NS;
}

static bool send_frame(struct probe *p, uint64_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p->port[0]));
	uint8_t *b;

	if (m == NULL)
		return false;
	m->data_len = (uint16_t)p->o->size;
	m->pkt_len = p->o->size;
	b = rte_pktmbuf_mtod(m, uint8_t *);
	memset(b, 0xff, 6);
	memcpy(b + 6, port_get_caps(p->port[0])->mac, 6);
	b[12] = TYPE >> 8;
	b[13] = TYPE & 0xff;
	memcpy(b + 14, &now, sizeof now);
	port_tx(p->port[0], m);
	p->sent++;
	p->to_count += counts(p, now);
	return true;
}

static void take_frame(struct probe *p, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *b = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t stamp;

	/* A kernel's interface brings others too. */
	if (b[12] != TYPE >> 8 || b[13] != (TYPE & 0xff))
		return;
	memcpy(&stamp, b + 14, sizeof stamp);
	p->received++;
	if (!counts(p, stamp))
		return;
	if (p->counted++ == 0)
		p->first = now;
	else
		p->bytes += m->pkt_len;
	p->last = now;
	/* Not early: the two stamps are of one clock. */
	histogram_add(&p->late, now - stamp > p->o->delay ? now - stamp - p->o->delay : 0);
}

static unsigned receive(struct probe *p)
{
	struct rte_mbuf *m[BURST];
	unsigned n = port_rx(p->port[1], m, BURST);
	uint64_t now = clock_ns(&p->clock);

	for (unsigned i = 0; i < n; i++)
		take_frame(p, m[i], now);
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

/** Frames that should have been sent by now and were not. */
static uint64_t due(const struct probe *p, uint64_t now, uint64_t lost)
{
	uint64_t target;

	if (p->o->rate == 0)
		return p->o->window - (p->sent - p->received - lost);
	target = (uint64_t)((unsigned __int128)(now - p->begin) * p->o->rate /
			    (p->o->size * UINT64_C(8000000000)));
	return target > p->sent ? target - p->sent : 0;
}

static void measure(struct probe *p)
{
	uint64_t now = clock_ns(&p->clock), quiet_since = now, lost = 0;
	uint64_t end;

	p->begin = now;
	end = now + p->o->seconds * UINT64_C(1000000000) + WARM_UP_NS;
	while (now < end) {
		uint64_t n = due(p, now, lost);

		for (uint64_t i = 0; i < n && i < BURST && port_backlog(p->port[0]) == 0; i++)
			if (!send_frame(p, clock_ns(&p->clock)))
				break;
		port_flush(p->port[0]);
		now = clock_ns(&p->clock);
		if (receive(p) != 0)
			quiet_since = now;
		else if (now - quiet_since > QUIET_NS)
			lost = p->sent - p->received;
	}
	/* What is still on the way belongs to the result. */
	end = now + p->o->delay + QUIET_NS;
	while (clock_ns(&p->clock) < end)
		receive(p);
}

static int report(const struct probe *p)
{
	double s = (double)(p->last - p->first) / 1e9;

	if (p->counted < 2) {
		fprintf(stderr, "nothing came\n");
		return 1;
	}
	printf("{\"test\": \"wan_probe\", \"driver\": \"%s\", \"length\": %u, \"frames\": %lu, "
	       "\"lost\": %ld, \"mpps\": %.6f, \"gbit_s\": %.6f, \"late_us_min\": %.3f, "
	       "\"late_us_p50\": %.3f, \"late_us_p99\": %.3f, \"late_us_max\": %.3f}\n",
		port_get_caps(p->port[0])->driver, p->o->size, (unsigned long)p->counted,
		(long)(p->to_count - p->counted), (double)(p->counted - 1) / s / 1e6,
		(double)p->bytes * 8 / s / 1e9, (double)p->late.min / 1e3,
		(double)histogram_quantile(&p->late, 500000) / 1e3,
		(double)histogram_quantile(&p->late, 990000) / 1e3, (double)p->late.max / 1e3);
	return 0;
}

static int run(const struct options *o)
{
	static struct probe p;
	struct port_error e = {""};
	unsigned lcore, had;
	int r = 1;

	p.o = o;
	for (int i = 0; i < 2; i++) {
		struct port_config cfg = {.device = o->device[i], .memory_mib = 64, .wire = true};

		if (port_open(&cfg, &p.port[i], &e) != 0) {
			fprintf(stderr, "%s\n", e.text);
			return 2;
		}
	}
	clock_init(&p.clock, eal_clock_sample());
	lcore = lcore_reserve();
	had = lcore_enter(lcore);
	if (wait_for_links(&p)) {
		measure(&p);
		r = report(&p);
	}
	lcore_leave(had);
	lcore_release(lcore);
	for (int i = 0; i < 2; i++)
		port_stop(p.port[i]);
	for (int i = 0; i < 2; i++)
		port_close(p.port[i]);
	return r;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"rate", 'r', "BITS", 0, "send so many bits a second", 0},
		{"window", 'w', "FRAMES", 0, "without a rate: keep so many on the way (256)", 0},
		{"delay", 'd', "NS", 0, "that the path has", 0},
		{"seconds", 't', "SECONDS", 0, "to measure (5)", 0},
		{"length", 'l', "BYTES", 0, "of a frame (1514)", 0},
		{0},
	};
	static const struct argp argp = {options, parse, "DEVICE DEVICE",
		"Send stamped frames by one DPDK port, receive them by another, and report rate "
		"and lateness.",
		NULL, NULL, NULL};
	struct options o = {.window = 256, .seconds = 5, .size = 1514};

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return run(&o);
}
