/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Payload that is sent from the program's memory, between two whole hosts: whose that memory is,
 * and when. Programs here keep to it, and free their memory as soon as they may, so that the
 * address sanitizer sees who reads it later. That the frames are the same is in test_tso.c.
 */
#include "sim/loss.h"
#include "sim/rdma_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GBIT  UINT64_C(1000000000)
#define DELAY (5 * SIM_MS)
#define SIZE  (256u << 10)

struct stage {
	struct sim *sim;
	struct rdma_pair p;
};

static struct sim_host *host(struct sim *s, const char *address, uint8_t crc)
{
	return sim_host_create(s,
		&(struct sim_host_config){.address = address,
			.tso = true,
			.gather = true,
			.rnic.mpa = {
				.revision = 2, .crc = crc, .rtr = MPA_RTR_WRITE | MPA_RTR_READ}});
}

static void stage_open(struct stage *t, uint8_t crc)
{
	const struct sim_path_config path = {.queue = {.rate = 10 * GBIT}, .delay = DELAY};

	t->sim = sim_create(&(struct sim_config){.seed = 15});
	rdma_pair_create_on(&t->p, host(t->sim, "10.0.0.1/24", crc),
		host(t->sim, "10.0.0.2/24", crc), 7174, SIZE);
	sim_join(t->p.a.host, t->p.b.host, &path, NULL, &t->p.link);
	assert_true(rdma_pair_connect(&t->p, 30 * SIM_S));
	rdma_fill(t->p.a.buf, SIZE, 7);
}

static void stage_close(struct stage *t)
{
	rdma_pair_destroy(&t->p);
	sim_run(t->sim, 120 * SIM_S, NULL, NULL);
	sim_destroy(t->sim);
}

static uint64_t gathered(const struct rdma_side *d)
{
	return sim_nic_get_stats(sim_host_nic(d->host))->gathered;
}

static void cut(struct stage *t, double chance)
{
	sim_loss_config(t->p.link.ab.loss)->chance.good = chance;
}

/** Post a Write of 12,000 bytes, which leave from where they lie, and none of which arrives. */
static void lose_a_write(struct stage *t)
{
	cut(t, 1);
	rdma_post(&t->p, &t->p.a, RDMAP_WR_WRITE, 0, 0, 12000);
	sim_run(t->sim, SIM_MS, NULL, NULL);
	assert_true(gathered(&t->p.a) >= 8);
}

/** One completion is there now. */
static bool polls(struct rdma_side *d, enum rdmap_wc_status status)
{
	struct rnic_wc wc;

	return rnic_cq_poll(d->cq, 1, &wc) == 1 && wc.wc.status == status;
}

/** Writing to what was sent before it is complete is the program's mistake; after it, it is not. */
static void a_write_completes_when_it_is_acknowledged(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, 0, 0, 12000);
	sim_run(t.sim, 2 * DELAY - SIM_MS, NULL, NULL);
	assert_true(gathered(&t.p.a) >= 8);
	assert_false(polls(&t.p.a, RDMAP_WC_SUCCESS));
	assert_memory_equal(t.p.a.buf, t.p.b.buf, 8000); /* it is there, and nobody knows */
	assert_true(rdma_complete(&t.p, &t.p.a, 1, SIM_S));
	stage_close(&t);
}

/** What was copied need not wait for itself, but for what was posted before it. */
static void completions_keep_their_order(void **state)
{
	struct stage t;
	struct rnic_wc wc;

	stage_open(&t, MPA_CRC_OFF);
	rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, 0, 0, 100);
	rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, 0, 0, 12000);
	rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, 0, 0, 200);
	sim_run(t.sim, SIM_MS, NULL, NULL);
	assert_int_equal(rnic_cq_poll(t.p.a.cq, 1, &wc), 1);
	assert_int_equal(wc.wc.byte_len, 100);
	assert_int_equal(rnic_cq_poll(t.p.a.cq, 1, &wc), 0);
	sim_run(t.sim, 3 * DELAY, NULL, NULL);
	assert_int_equal(rnic_cq_poll(t.p.a.cq, 1, &wc), 1);
	assert_int_equal(wc.wc.byte_len, 12000);
	assert_int_equal(rnic_cq_poll(t.p.a.cq, 1, &wc), 1);
	assert_int_equal(wc.wc.byte_len, 200);
	stage_close(&t);
}

/** A CRC would be of what was there before the NIC reads it. */
static void with_a_crc_all_is_copied(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_PREFERRED);
	rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, 0, 0, 12000);
	sim_run(t.sim, SIM_MS, NULL, NULL);
	assert_true(polls(&t.p.a, RDMAP_WC_SUCCESS));
	assert_int_equal(gathered(&t.p.a), 0);
	stage_close(&t);
}

static void what_is_sent_again_is_read_again(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	lose_a_write(&t);
	memset(t.p.a.buf, 0x5a, 12000);
	cut(&t, 0);
	assert_true(rdma_complete(&t.p, &t.p.a, 1, 10 * SIM_S));
	assert_memory_equal(t.p.a.buf, t.p.b.buf, 11000); /* the rest fills no segment: a copy */
	stage_close(&t);
}

/** Take the memory of @p d away, and free it. */
static void withdraw(struct rdma_side *d)
{
	assert_int_equal(rnic_mr_dereg(d->mr), 0);
	assert_int_equal(sim_host_mapped(d->host), 0);
	free(d->buf);
	d->buf = calloc(1, SIZE);
	assert_int_equal(rnic_mr_reg(d->pd, d->buf, SIZE, RDMA_IOVA,
				 RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, &d->mr),
		0);
}

/** As with copies: what was on its way when the region goes still comes. */
static void memory_may_go_while_it_is_under_way(void **state)
{
	struct stage t;
	uint8_t *sent = malloc(SIZE);

	stage_open(&t, MPA_CRC_OFF);
	memcpy(sent, t.p.a.buf, SIZE);
	lose_a_write(&t);
	withdraw(&t.p.a);
	cut(&t, 0);
	assert_true(rdma_complete(&t.p, &t.p.a, 1, 10 * SIM_S));
	assert_memory_equal(sent, t.p.b.buf, 12000);
	free(sent);
	stage_close(&t);
}

static void memory_may_go_under_a_read(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	rdma_fill(t.p.b.buf, SIZE, 9);
	sim_loss_config(t.p.link.ba.loss)->chance.good = 0.5;
	rdma_post(&t.p, &t.p.a, RDMAP_WR_READ, 0, 0, 12000);
	while (!gathered(&t.p.b))
		sim_run(t.sim, SIM_MS, NULL, NULL);
	withdraw(&t.p.b);
	sim_loss_config(t.p.link.ba.loss)->chance.good = 0;
	assert_true(rdma_complete(&t.p, &t.p.a, 1, 10 * SIM_S));
	rdma_fill(t.p.b.buf, SIZE, 9);
	assert_memory_equal(t.p.a.buf, t.p.b.buf, 12000);
	stage_close(&t);
}

/** A flushed request has given its memory back, also if it arrives after all. */
static void a_flush_gives_memory_back(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	lose_a_write(&t);
	assert_int_equal(rnic_qp_modify(t.p.a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	assert_true(polls(&t.p.a, RDMAP_WC_WR_FLUSH_ERR));
	assert_int_equal(rte_mempool_in_use_count(t.sim->external), 0);
	memset(t.p.a.buf, 0x5a, SIZE);
	cut(&t, 0);
	sim_run(t.sim, 10 * SIM_S, NULL, NULL);
	for (unsigned i = 0; i < 12000; i++)
		assert_int_not_equal(t.p.b.buf[i] == 0x5a && t.p.b.buf[i + 1] == 0x5a &&
					     t.p.b.buf[i + 2] == 0x5a,
			1);
	stage_close(&t);
}

static void a_queue_pair_may_go_with_its_memory(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	lose_a_write(&t);
	assert_int_equal(rnic_qp_destroy(t.p.a.qp), 0);
	t.p.a.qp = NULL;
	assert_int_equal(rte_mempool_in_use_count(t.sim->external), 0);
	withdraw(&t.p.a);
	cut(&t, 0);
	sim_run(t.sim, 10 * SIM_S, NULL, NULL);
	stage_close(&t);
}

/** Lost, cut smaller, sent again in part: the bytes are those that the program gave. */
static void bad_paths_change_nothing(void **state)
{
	struct stage t;

	stage_open(&t, MPA_CRC_OFF);
	cut(&t, 0.05);
	for (unsigned i = 0; i < 4; i++)
		rdma_post(&t.p, &t.p.a, RDMAP_WR_WRITE, i * SIZE / 4, i * SIZE / 4, SIZE / 4);
	sim_run(t.sim, 4 * DELAY, NULL, NULL);
	*sim_mtu_config(t.p.link.ab.mtu) = (struct sim_mtu_config){.mtu = 1000};
	assert_true(rdma_complete(&t.p, &t.p.a, 4, 120 * SIM_S));
	assert_true(gathered(&t.p.a) >= 8);
	assert_memory_equal(t.p.a.buf, t.p.b.buf, SIZE);
	stage_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_completes_when_it_is_acknowledged),
		cmocka_unit_test(completions_keep_their_order),
		cmocka_unit_test(with_a_crc_all_is_copied),
		cmocka_unit_test(what_is_sent_again_is_read_again),
		cmocka_unit_test(memory_may_go_while_it_is_under_way),
		cmocka_unit_test(memory_may_go_under_a_read),
		cmocka_unit_test(a_flush_gives_memory_back),
		cmocka_unit_test(a_queue_pair_may_go_with_its_memory),
		cmocka_unit_test(bad_paths_change_nothing),
	};

	return cmocka_run_group_tests_name("sim-external", tests, NULL, NULL);
}
