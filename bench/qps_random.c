/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message costs when there are many connected queue pairs, beside the same with ten: Writes
 * of the client's, each on a queue pair drawn at random, a few of them under way at any time. Few
 * and many take turns; a ratio is the median of neighbours'. One line of JSON.
 *
 *     qps_random [-n QPS] [ADDRESS]    without an address: the side that is written to
 */
#include "base/number.h"
#include "base/prng.h"
#include "completion.h"
#include "many_qps.h"
#include "sample.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FEW       10
#define TURNS     7
#define MESSAGES  100000
#define UNDER_WAY 16

static struct many_qps many = {.depth = UNDER_WAY};
static struct ibv_qp **qps; /* of their own: what leads to them is not what is measured */
static struct prng draws;

static void write_on(struct ibv_qp *qp, uint32_t size)
{
	struct ibv_sge sge = {(uintptr_t)many.block, size, many.block_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {many.target.addr, many.target.rkey}};

	completion_post_send(qp, &wr);
}

/** Nanoseconds for each of many Writes on the first @p n. */
static double turn(unsigned n, uint32_t size)
{
	uint64_t begin = sample_now_ns();
	unsigned sent = 0, done = 0;
	struct ibv_wc wc[UNDER_WAY];

	while (done < MESSAGES) {
		for (; sent < MESSAGES && sent - done < UNDER_WAY; sent++)
			write_on(qps[prng_below(&draws, n)], size);
		done += completion_reap(many.cq, wc, UNDER_WAY);
	}
	return (double)(sample_now_ns() - begin) / MESSAGES;
}

static void measure(uint32_t size)
{
	double few[TURNS], all[TURNS], ratio[TURNS];

	/* Each has been used before. */
	turn(FEW, size);
	turn(many.n, size);
	for (unsigned i = 0; i < TURNS; i++) {
		few[i] = turn(FEW, size);
		all[i] = turn(many.n, size);
		ratio[i] = all[i] / few[i];
	}
	printf(", \"ns_few_%u\": %.1f, \"ns_many_%u\": %.1f, \"ratio_%u\": %.3f", size,
		sample_median(few, TURNS), size, sample_median(all, TURNS), size,
		sample_median(ratio, TURNS));
}

static void collect_qps(void)
{
	qps = calloc(many.n, sizeof(struct ibv_qp *));
	if (!qps)
		err(1, "%u pointers", many.n);
	for (unsigned i = 0; i < many.n; i++)
		qps[i] = many.id[i]->qp;
}

/** The side that is written to polls until it is told that this is over. */
static void serve(void)
{
	struct ibv_wc wc;

	while (!completion_reap(many.cq, &wc, 1))
		;
}

static void usage(void)
{
	fprintf(stderr, "usage: qps_random [-n COUNT] [ADDRESS], COUNT of %u and more\n", FEW);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t n = 10000;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		if (opt != 'n' || !number_parse(optarg, FEW, UINT32_MAX, &n))
			usage();
	if (optind + 1 < argc)
		usage();
	many.n = (unsigned)n;
	many_qps_open(&many, argv[optind]);
	many_qps_connect(&many, many.n);
	if (many.client) {
		collect_qps();
		printf("{\"qps\": %u", many.n);
		measure(8);
		measure(MANY_QPS_BLOCK);
		printf("}\n");
		fflush(stdout);
		many_qps_send(&many, many.id[0]->qp);
	} else {
		serve();
	}
	many_qps_close(&many);
	free(qps);
	return 0;
}
