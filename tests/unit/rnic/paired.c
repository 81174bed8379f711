/* SPDX-License-Identifier: BSD-2-Clause */
#include "paired.h"

#include "base/container_of.h"
#include "rnic/conn.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void paired_init(struct pair *p)
{
	const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED}, .pairing_port = PAIRED_PORT};

	pair_init(p, &config);
}

int paired_setup(void **state)
{
	paired_init(*state);
	return 0;
}

int paired_teardown(void **state)
{
	pair_fini(*state);
	return 0;
}

struct pair *paired_of(const struct side *s)
{
	return s->host == 0 ? container_of((struct side *)(uintptr_t)s, struct pair, a)
			    : container_of((struct side *)(uintptr_t)s, struct pair, b);
}

struct side *paired_other(const struct side *s)
{
	struct pair *p = paired_of(s);

	return s == &p->a ? &p->b : &p->a;
}

struct rnic_qp_attr paired_rtr_attr(const struct side *s)
{
	const struct side *o = paired_other(s);
	struct llp_mem *mem = paired_of(s)->mem;

	return (struct rnic_qp_attr){.state = RNIC_QP_RTR,
		.ird = 4,
		.path = {.local = llp_mem_endpoint(mem, s->host, 0).addr,
			.remote = llp_mem_endpoint(mem, o->host, 0).addr,
			.remote_qp = rnic_qp_num(o->qp),
			.rq_psn = s == &paired_of(s)->a ? PAIRED_PSN_B : PAIRED_PSN_A}};
}

int paired_rtr_as(const struct side *s, const struct rnic_qp_attr *attr)
{
	return rnic_qp_modify(s->qp, RNIC_QP_STATE | RNIC_QP_PATH | RNIC_QP_IRD, attr);
}

void paired_rtr(const struct side *s)
{
	struct rnic_qp_attr attr = paired_rtr_attr(s);

	assert_int_equal(paired_rtr_as(s, &attr), 0);
}

void paired_rts_with(const struct side *s, uint32_t psn)
{
	struct rnic_qp_attr attr = {
		.state = RNIC_QP_RTS, .ord = 4, .sq_psn = psn, .patience = 500 * PAIR_MS};

	assert_int_equal(
		rnic_qp_modify(s->qp,
			RNIC_QP_STATE | RNIC_QP_ORD | RNIC_QP_SQ_PSN | RNIC_QP_PATIENCE, &attr),
		0);
}

void paired_rts(const struct side *s)
{
	paired_rts_with(s, s == &paired_of(s)->a ? PAIRED_PSN_A : PAIRED_PSN_B);
}

enum rnic_qp_state paired_state(const struct side *s)
{
	return rnic_qp_get_state(s->qp);
}

size_t paired_frame(
	enum mpa_frame kind, const void *private_data, uint16_t len, uint8_t frame[MPA_FRAME_MAX])
{
	const struct mpa_start st = {.revision = 2,
		.enhanced = true,
		.crc = true,
		.peer_to_peer = true,
		.rtr = MPA_RTR_WRITE,
		.ird = 1,
		.ord = 1,
		.private_data = private_data,
		.private_len = len};
	int n = mpa_startup_build(kind, &st, frame);

	assert_true(n > 0);
	return (size_t)n;
}

void paired_send(struct side *s, uint64_t wr_id, uint8_t byte)
{
	s->buf[0] = byte;
	pair_post(s, s->qp, wr_id, RDMAP_WR_SEND, 0, 1, 0, 0);
}

void paired_recv(struct side *s, uint64_t wr_id)
{
	pair_post_recv(s, s->qp, wr_id, 64, 16);
}

void paired_expect_message(struct side *s, uint64_t wr_id, uint8_t byte)
{
	pair_expect(paired_of(s), s, wr_id, RDMAP_WC_SUCCESS);
	assert_int_equal(s->buf[64], byte);
}

void paired_connect(struct pair *p)
{
	paired_rtr(&p->a);
	paired_rtr(&p->b);
	paired_rts(&p->a);
	paired_rts(&p->b);
	pair_advance(p, 100);
	assert_true(qp_has_stream(p->a.qp));
	assert_true(qp_has_stream(p->b.qp));
}

const struct pairing *paired_answer(struct pair *p)
{
	const struct pairing *b;

	paired_rtr(&p->a);
	paired_rtr(&p->b);
	paired_rts(&p->a);
	paired_rts(&p->b);
	b = p->b.qp->pairing;
	for (unsigned i = 0; i < 1000 && b->state != PAIRING_ANSWERED; i++) {
		p->clock += PAIR_MS;
		engine_round(&p->engine);
		engine_lock(&p->engine);
		llp_mem_step(p->mem);
		engine_unlock(&p->engine);
	}
	assert_int_equal(b->state, PAIRING_ANSWERED);
	return b;
}

void paired_expect_retries(struct side *s)
{
	pair_advance(paired_of(s), 490);
	pair_expect_none(paired_of(s), s);
	assert_int_equal(paired_state(s), RNIC_QP_RTS);
	pair_advance(paired_of(s), 20);
}
