/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud_pair.h"

#include "paired.h"

#include <string.h>

#define QKEY 0x11223344

struct ud_pair ud;

const struct rnic_ud_to ud_pair_to_b = {.local = {{1}}, .remote = {{2}}, .qkey = QKEY, .tos = 4};

static int wire_open(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct ud_wire *w = ctx;

	w->port = port;
	w->input = input;
	w->user = user;
	return w->open_rc;
}

static void wire_close(void *ctx)
{
	struct ud_wire *w = ctx;

	w->input = NULL;
}

static int wire_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct ud_wire *w = ctx;

	w->path = *path;
	w->to_port = port;
	w->len = len;
	*room = w->room;
	return w->begin_rc;
}

static void wire_commit(void *ctx, uint16_t sum)
{
	struct ud_wire *w = ctx;
	const struct ud_path path = {
		.local = w->path.remote, .remote = w->path.local, .tos = w->path.tos, .ttl = 61};

	w->commits++;
	if (w->sending)
		w->sending();
	if (w->peer->input)
		w->peer->input(w->peer->user, &path, w->room, w->len);
}

static void wire_cancel(void *ctx)
{
	struct ud_wire *w = ctx;

	w->cancels++;
}

static bool wire_flush(void *ctx)
{
	struct ud_wire *w = ctx;

	w->flushes++;
	return !w->stuck;
}

static void wire_prepare(void *ctx, const struct ip_addr *remote)
{
	struct ud_wire *w = ctx;

	w->prepared++;
}

struct rnic_qp *ud_pair_qp(struct side *s, struct rnic_srq *srq)
{
	struct rnic_qp_init init = {.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = srq,
		.max_send_wr = 128,
		.max_recv_wr = srq ? 0 : 64,
		.max_send_sge = 2,
		.max_recv_sge = srq ? 0 : 2,
		.max_inline = 64,
		.ud = true};
	struct rnic_qp *q;

	assert_int_equal(rnic_qp_create(s->pd, &init, &q), 0);
	return q;
}

void ud_pair_go(struct rnic_qp *q)
{
	const struct rnic_qp_attr attr = {.state = RNIC_QP_INIT, .qkey = QKEY};

	assert_int_equal(rnic_qp_modify(q, RNIC_QP_STATE | RNIC_QP_QKEY, &attr), 0);
	assert_int_equal(pair_go(q, RNIC_QP_RTR), 0);
	assert_int_equal(pair_go(q, RNIC_QP_RTS), 0);
}

int ud_pair_setup(void **state)
{
	static const struct ud_net net = {.open = wire_open,
		.close = wire_close,
		.begin = wire_begin,
		.commit = wire_commit,
		.cancel = wire_cancel,
		.flush = wire_flush,
		.prepare = wire_prepare,
		.max_message = UD_PAIR_MTU};
	struct side *const side[] = {&ud.pair.a, &ud.pair.b};

	pair_engine_init(&ud.pair);
	for (unsigned i = 0; i < 2; i++) {
		struct rnic_config cfg = {.mpa = {.revision = 2},
			.pairing_port = PAIRED_PORT,
			.ud = &ud.wire[i].net,
			.ud_port = UD_PAIR_PORT};

		ud.wire[i] = (struct ud_wire){.net = net, .peer = &ud.wire[!i]};
		ud.wire[i].net.ctx = &ud.wire[i];
		pair_rnic(&ud.pair, side[i], i, &cfg);
		pair_side(side[i]);
		ud.qp[i] = ud_pair_qp(side[i], NULL);
		ud_pair_go(ud.qp[i]);
	}
	return 0;
}

int ud_pair_teardown(void **state)
{
	for (unsigned i = 0; i < 2; i++)
		if (ud.qp[i])
			assert_int_equal(rnic_qp_destroy(ud.qp[i]), 0);
	pair_fini(&ud.pair);
	return 0;
}

struct rdmap_wqe *ud_pair_begin(uint64_t wr_id, uint32_t len, const struct rnic_ud_to *to)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(ud.qp[0]), 0);
	w = rnic_sq_next(ud.qp[0]);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->op = RDMAP_WR_SEND;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){
		.addr = (uintptr_t)ud.pair.a.buf, .len = len, .stag = rnic_mr_stag(ud.pair.a.mr)};
	w->remote_stag = rnic_qp_num(ud.qp[1]);
	rnic_ud_aim(w, to);
	return w;
}

void ud_pair_end(void)
{
	rnic_sq_commit(ud.qp[0]);
	rnic_sq_end(ud.qp[0]);
}

void ud_pair_send(uint64_t wr_id, uint32_t len)
{
	ud_pair_begin(wr_id, len, &ud_pair_to_b);
	ud_pair_end();
}

void ud_pair_expect_sent(uint64_t wr_id, unsigned status)
{
	assert_int_equal(pair_expect(&ud.pair, &ud.pair.a, wr_id, status).wc.op, RDMAP_WC_SEND);
}

void ud_pair_post_recv(uint64_t wr_id, uint32_t len)
{
	pair_post_recv(&ud.pair.b, ud.qp[1], wr_id, UD_PAIR_AT_B, len);
}

struct rdmap_wc ud_pair_expect_received(uint64_t wr_id, uint32_t len)
{
	struct rdmap_wc wc = pair_expect(&ud.pair, &ud.pair.b, wr_id, RDMAP_WC_SUCCESS).wc;

	assert_int_equal(wc.op, RDMAP_WC_RECV);
	assert_int_equal(wc.byte_len, RNIC_UD_GRH_LEN + len);
	assert_int_equal(wc.src_qp, rnic_qp_num(ud.qp[0]));
	assert_memory_equal(ud.pair.b.buf + UD_PAIR_AT_B + RNIC_UD_GRH_LEN, ud.pair.a.buf, len);
	return wc;
}

struct rnic_ud_stats ud_pair_stats(void)
{
	return rnic_ud_get_stats(ud.pair.b.rnic);
}

void ud_pair_send_many(unsigned n, uint8_t flags)
{
	ud_pair_begin(0, 10, &ud_pair_to_b)->flags = flags;
	for (unsigned i = 1; i < n; i++) {
		struct rdmap_wqe *first = rdmap_sq_at(&ud.qp[0]->sq, ud.qp[0]->sq_posted), *w;

		rnic_sq_commit(ud.qp[0]);
		w = rnic_sq_next(ud.qp[0]);
		assert_non_null(w);
		memcpy(w, first, sizeof *w + sizeof w->sge[0]);
	}
	ud_pair_end();
}
