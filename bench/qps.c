/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connected queue pair costs in memory when it is idle: an ordinary program of verbs and
 * rdma_cm, one process for each side. All queue pairs share a CQ and an SRQ, so that the user's
 * queues are as small as they get; each is connected, carries a message each way, and is idle then.
 * Resident memory is read before the first of many and after the last: what librdmacm and this
 * program keep for each is in it. One line of JSON.
 *
 *     qps [-n QPS] [-w] [ADDRESS]    without an address: the side that listens; -w: all stays as it
 * is until a signal comes
 */
#include "base/number.h"
#include "completion.h"
#include "many_qps.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST  64 /* what the first ones bring with them is not counted */
#define ROUNDS 40 /* messages on each of these: the port's rings, too, have been used whole */

static struct many_qps many = {.depth = 1};
static unsigned wanted, received;

/** Take what has completed. The server answers. */
static void reap(void)
{
	struct ibv_wc wc[16];
	unsigned n = completion_reap(many.cq, wc, 16);

	for (unsigned i = 0; i < n; i++) {
		if (wc[i].wr_id == MANY_QPS_BUFFERS)
			continue;
		received++;
		many_qps_post_receive(&many, (unsigned)wc[i].wr_id);
		if (!many.client)
			many_qps_send(&many, many_qps_find(&many, wc[i].qp_num));
	}
}

/** A message each way on each from number @p from on. */
static void talk(unsigned from)
{
	unsigned sent = from, end = many.connected, first = wanted;

	wanted += end - from;
	while (received < wanted) {
		if (many.client && sent < end &&
			sent - from - (received - first) < MANY_QPS_UNDER_WAY)
			many_qps_send(&many, many.id[sent++]->qp);
		reap();
	}
	for (unsigned i = 0; i < 1000; i++)
		reap(); /* the last answers go out, and their ACKs come */
}

static void usage(void)
{
	fprintf(stderr, "usage: qps [-n COUNT] [-w] [ADDRESS], COUNT above %u\n", FIRST);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t n = 10000;
	bool waits = false;
	size_t before, fresh, used;
	int opt;

	while ((opt = getopt(argc, argv, "n:w")) != -1) {
		if (opt == 'w')
			waits = true;
		else if (opt != 'n' || !number_parse(optarg, FIRST + 1, UINT32_MAX, &n))
			usage();
	}
	if (optind + 1 < argc)
		usage();
	many.n = (unsigned)n;
	many_qps_open(&many, argv[optind]);
	many_qps_connect(&many, FIRST);
	for (unsigned i = 0; i < ROUNDS; i++)
		talk(0);
	before = sample_memory();
	many_qps_connect(&many, many.n);
	fresh = sample_memory() - before;
	talk(FIRST);
	used = sample_memory() - before;
	printf("{\"qps\": %u, \"bytes_new\": %zu, \"bytes_used\": %zu}\n", many.n,
		fresh / (many.n - FIRST), used / (many.n - FIRST));
	fflush(stdout);
	if (waits)
		pause();
	many_qps_close(&many);
	return 0;
}
