/* SPDX-License-Identifier: BSD-2-Clause */
/** QPs that their programs told of each other, without the connection manager, over bad paths. */
#include "sim/rdma_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE  (256u << 10)
#define GBIT  UINT64_C(1000000000)
#define PSN_A 0x111111u
#define PSN_B 0x222222u

static struct rdma_pair p;
static struct sim *s;

static void begin_under(
	const struct tls_config *tls, const struct sim_path_config *path, bool v6, uint64_t seed)
{
	struct sim_host_config h = {.tls = tls,
		.tcp.receive_buffer = 1 << 20,
		.rnic.pairing_port = 61525,
		.address = v6 ? "fd00::1/64" : "10.0.0.1/24"};
	struct sim_host *a, *b;

	s = sim_create(&(struct sim_config){.seed = seed, .packets = 4095, .copies = 2047});
	a = sim_host_create(s, &h);
	h.address = v6 ? "fd00::2/64" : "10.0.0.2/24";
	b = sim_host_create(s, &h);
	rdma_pair_create_on(&p, a, b, 7174, SIZE);
	sim_join(a, b, path, NULL, &p.link);
}

static void begin(const struct sim_path_config *path, bool v6, uint64_t seed)
{
	begin_under(NULL, path, v6, seed);
}

static void end(void)
{
	rdma_pair_destroy(&p);
	sim_run(s, 300 * SIM_S, NULL, NULL);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(p.a.host))->connections, 0);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(p.b.host))->connections, 0);
	sim_destroy(s);
}

/** RTR and RTS, as the program on @p side does it, which has heard of the other. */
static void pair_up(struct rdma_side *side)
{
	struct rdma_side *other = side == &p.a ? &p.b : &p.a;
	struct rnic_qp_attr rtr = {.state = RNIC_QP_RTR,
		.ird = 4,
		.path = {.local = sim_host_address(side->host),
			.remote = sim_host_address(other->host),
			.remote_qp = rnic_qp_num(other->qp),
			.rq_psn = side == &p.a ? PSN_B : PSN_A}};
	struct rnic_qp_attr rts = {.state = RNIC_QP_RTS,
		.ord = 4,
		.sq_psn = side == &p.a ? PSN_A : PSN_B,
		.patience = 120 * SIM_S};

	rdma_post_recv(side, SIZE / 2, SIZE / 2);
	assert_int_equal(
		rnic_qp_modify(side->qp, RNIC_QP_STATE | RNIC_QP_PATH | RNIC_QP_IRD, &rtr), 0);
	assert_int_equal(
		rnic_qp_modify(side->qp,
			RNIC_QP_STATE | RNIC_QP_ORD | RNIC_QP_SQ_PSN | RNIC_QP_PATIENCE, &rts),
		0);
}

/** Both send at once, and then one writes and reads: all of it arrives. */
static void exchange(void)
{
	for (size_t i = 0; i < SIZE / 2; i++) {
		p.a.buf[i] = (uint8_t)(i * 31 ^ i >> 9);
		p.b.buf[i] = (uint8_t)(i * 17 ^ i >> 7);
	}
	rdma_post(&p, &p.a, RDMAP_WR_SEND, 0, 0, 3000);
	rdma_post(&p, &p.b, RDMAP_WR_SEND, 0, 0, 5000);
	assert_true(rdma_complete(&p, &p.a, 2, 120 * SIM_S));
	assert_true(rdma_complete(&p, &p.b, 2, 120 * SIM_S));
	assert_memory_equal(p.b.buf + SIZE / 2, p.a.buf, 3000);
	assert_memory_equal(p.a.buf + SIZE / 2, p.b.buf, 5000);
	rdma_post(&p, &p.a, RDMAP_WR_WRITE, 0, SIZE / 2, SIZE / 2);
	rdma_post(&p, &p.a, RDMAP_WR_READ, SIZE / 2, 0, SIZE / 2);
	assert_true(rdma_complete(&p, &p.a, 2, 120 * SIM_S));
	assert_memory_equal(p.b.buf + SIZE / 2, p.a.buf, SIZE / 2);
	assert_memory_equal(p.a.buf + SIZE / 2, p.b.buf, SIZE / 2);
}

/** A fifth of all packets is lost, those of the hellos as well; either is first. */
static void over_loss(void **state)
{
	const struct sim_path_config path = {
		.queue.rate = GBIT, .delay = 5 * SIM_MS, .loss.chance.good = 0.2};

	for (uint64_t seed = 1; seed <= 12; seed++) {
		begin(&path, seed % 2, seed);
		pair_up(seed & 2 ? &p.a : &p.b);
		sim_run(s, seed * 30 * SIM_MS, NULL, NULL);
		pair_up(seed & 2 ? &p.b : &p.a);
		exchange();
		end();
	}
}

static void over_all_else(void **state)
{
	const struct sim_path_config path = {.queue.rate = GBIT,
		.delay = 5 * SIM_MS,
		.reorder = {0.05, 3 * SIM_MS},
		.duplicate = 0.05,
		.corrupt = 0.01};

	for (uint64_t seed = 1; seed <= 4; seed++) {
		begin(&path, seed % 2, seed);
		pair_up(&p.a);
		pair_up(&p.b);
		exchange();
		end();
	}
}

/** Nothing passes for ten seconds while both try: they find each other when it does. */
static void after_an_outage(void **state)
{
	begin(&(struct sim_path_config){.queue.rate = GBIT, .delay = SIM_MS}, false, 5);
	sim_loss_config(p.link.ab.loss)->chance.good = 1;
	pair_up(&p.a);
	pair_up(&p.b);
	sim_run(s, 10 * SIM_S, NULL, NULL);
	sim_loss_config(p.link.ab.loss)->chance.good = 0;
	exchange();
	end();
}

/* ---- a peer that ends behind messages without receives ----------------------------------------
 */

static void expect_next(const struct rdma_side *side, unsigned op, unsigned status)
{
	struct rnic_wc wc;

	assert_int_equal(rnic_cq_poll(side->cq, 1, &wc), 1);
	assert_int_equal(wc.wc.op, op);
	assert_int_equal(wc.wc.status, status);
}

static void expect_no_more(const struct rdma_side *side)
{
	struct rnic_wc wc;

	assert_int_equal(rnic_cq_poll(side->cq, 1, &wc), 0);
}

/** More waits than TCP or TLS shows: the peer's end is known all the same. */
static void end_behind_much(const struct tls_config *tls)
{
	begin_under(tls, &(struct sim_path_config){.queue.rate = GBIT, .delay = SIM_MS}, false, 7);
	pair_up(&p.a);
	pair_up(&p.b);
	for (unsigned i = 0; i < 300; i++) {
		rdma_post(&p, &p.a, RDMAP_WR_SEND, 0, 0, 1300);
		assert_true(rdma_complete(&p, &p.a, 1, 120 * SIM_S));
	}
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	sim_run(s, SIM_S, NULL, NULL);
	expect_next(&p.b, RDMAP_WC_RECV, RDMAP_WC_SUCCESS);
	rdma_post(&p, &p.b, RDMAP_WR_READ, 0, 0, 8);
	sim_run(s, 9 * SIM_S, NULL, NULL);
	expect_no_more(&p.b);
	sim_run(s, 2 * SIM_S, NULL, NULL);
	expect_next(&p.b, RDMAP_WC_READ, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(rnic_qp_get_state(p.b.qp), RNIC_QP_ERROR);
	end();
}

static void ends_behind_much(void **state)
{
	end_behind_much(NULL);
}

static void ends_behind_much_under_tls(void **state)
{
	static const char key[] = "sim:00112233445566778899aabbccddeeff\n";
	struct tls_config tls = {.mode = TLS_REQUIRED};
	int fd;

	if (!tls_is_available())
		skip();
	fd = memfd_create("key", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(write(fd, key, strlen(key)), strlen(key));
	snprintf(tls.psk, sizeof tls.psk, "/proc/self/fd/%d", fd);
	end_behind_much(&tls);
	close(fd);
}

/* ---- a QP that is its own peer -----------------------------------------------------------------
 */

static void pair_with_itself(const struct rdma_side *side)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_INIT};
	const struct ip_addr own = sim_host_address(side->host);
	const unsigned path_mask = RNIC_QP_STATE | RNIC_QP_PATH | RNIC_QP_IRD;

	if (rnic_qp_get_state(side->qp) == RNIC_QP_RESET)
		assert_int_equal(rnic_qp_modify(side->qp, RNIC_QP_STATE, &attr), 0);
	attr = (struct rnic_qp_attr){.state = RNIC_QP_RTR,
		.ird = 4,
		.path = {own, own, rnic_qp_num(side->qp), .rq_psn = PSN_A}};
	assert_int_equal(rnic_qp_modify(side->qp, path_mask, &attr), 0);
	attr = (struct rnic_qp_attr){.state = RNIC_QP_RTS, .ord = 8, .sq_psn = PSN_A};
	assert_int_equal(
		rnic_qp_modify(side->qp, RNIC_QP_STATE | RNIC_QP_ORD | RNIC_QP_SQ_PSN, &attr), 0);
}

/** Halves of one buffer: a Send, a Write and a Read with both directions full of each other. */
static void exchange_with_itself(struct rdma_side *side)
{
	uint32_t half = SIZE / 2;

	for (size_t i = 0; i < half; i++)
		side->buf[i] = (uint8_t)(i * 13 ^ i >> 9);
	memset(side->buf + half, 0, half);
	rdma_post_recv(side, half, half);
	rdma_post(&p, side, RDMAP_WR_SEND, 0, 0, half);
	assert_true(rdma_complete(&p, side, 2, 10 * SIM_S));
	assert_memory_equal(side->buf, side->buf + half, half);
}

/** It takes no link; and as often as it is reset, a connection is left that ends by itself. */
static void of_its_own(void **state)
{
	begin(&(struct sim_path_config){.loss.chance.good = 1}, false, 6);
	for (int i = 0; i < 3; i++) {
		pair_with_itself(&p.a);
		exchange_with_itself(&p.a);
		assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE,
					 &(struct rnic_qp_attr){.state = RNIC_QP_RESET}),
			0);
	}
	pair_with_itself(&p.a);
	sim_run(s, SIM_S, NULL, NULL);
	assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
		0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_loss),
		cmocka_unit_test(over_all_else),
		cmocka_unit_test(after_an_outage),
		cmocka_unit_test(ends_behind_much),
		cmocka_unit_test(ends_behind_much_under_tls),
		cmocka_unit_test(of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
