/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"
#include "support/seeds.h"

#include <inttypes.h>
#include <pthread.h>

#define SEEDS_DEFAULT 300
/** That run programs at one time, of several seeds. */
#define THREADS 3

static void program_resize(struct program_cq *q)
{
	NEED(ibv_resize_cq(q->cq, 200 + (int)program_below(300)) == 0);
	NEED(q->cq->cqe >= 200);
}

static void program_query(struct program_end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	NEED(ibv_query_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init) == 0);
	NEED(attr.qp_state == IBV_QPS_RTS);
	NEED(init.cap.max_send_wr == e->cap.max_send_wr && init.send_cq == e->qp->send_cq &&
		init.srq == e->receives->srq && init.qp_context == e);
}

static void program_step(void)
{
	struct program_end *e = &program.end[program_below(PROGRAM_ENDS)];
	struct program_cq *q = &program.cq[program_below(PROGRAM_CQS)];
	uint32_t what = program_below(100);

	if (what < 40)
		program_post(e);
	else if (what < 65)
		program_post_receive(e);
	else if (what < 85)
		(void)program_poll(q);
	else if (what < 90 && (!q->armed || what == 89))
		program_arm(q);
	else if (what < 94)
		program_event(q, false);
	else if (what < 96)
		program_ack(q, program_below(q->unacked + 1));
	else if (what == 96)
		program_resize(q);
	else
		program_query(e);
}

static void program_run(uint64_t seed)
{
	program_open(seed);
	for (unsigned n = 50 + program_below(400); n; n--)
		program_step();
	if (program_chance(0.7))
		program_rest();
	program_end();
	program_close();
}

static struct seeds seeds;

/** Of a range each thread has its share. */
static void *program_thread(void *of)
{
	program.trace = seeds_are_one(&seeds);
	program_begin();
	for (uint64_t seed = seeds.first + (uintptr_t)of; seed <= seeds.last; seed += seeds.step)
		program_run(seed);
	program_stop();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	seeds = (struct seeds){.first = 1, .last = SEEDS_DEFAULT};
	if (!seeds_take(&seeds, argc, argv))
		return 2;
	seeds.step = seeds_are_one(&seeds) ? 1 : THREADS;
	for (uintptr_t i = 0; i < seeds.step; i++)
		NEED(pthread_create(&thread[i], NULL, program_thread, (void *)i) == 0);
	for (unsigned i = 0; i < seeds.step; i++)
		NEED(pthread_join(thread[i], NULL) == 0);
	printf("%" PRIu64 " programs\n", seeds.last - seeds.first + 1);
	return 0;
}
