/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that come and go, and how they change. */
#include "verbs_world.h"

#include <fcntl.h>

/* ---- objects --------------------------------------------------------------------------------- */

static struct ibv_pd *some_pd(void)
{
	for (unsigned i = 0; i < VERBS_SLOTS; i++)
		if (verbs_world.object[VERBS_PD][i])
			return verbs_world.object[VERBS_PD][i];
	return NULL;
}

static void *new_pd(void)
{
	struct ibv_parent_domain_init_attr a = {
		.pd = verbs_any_object(VERBS_PD), .td = verbs_any_object(VERBS_TD)};

	if (!a.pd || fuzz_u8(verbs_world.in) & 1)
		return pd_alloc(verbs_world.context);
	a.comp_mask = fuzz_u8(verbs_world.in) & 7;
	return parent_domain_alloc(verbs_world.context, &a);
}

static void *new_td(void)
{
	struct ibv_td_init_attr a = {.comp_mask = fuzz_u8(verbs_world.in) == 0xff};

	return td_alloc(verbs_world.context, &a);
}

static void *new_mr(struct ibv_pd *pd)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	const unsigned usual = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			       IBV_ACCESS_MW_BIND;

	if (how == 0xff)
		return mr_alloc_null(pd);
	if (how & 1)
		return mr_reg(pd, (void *)(uintptr_t)verbs_any_address(), verbs_any_length(),
			fuzz_u64(verbs_world.in), how & 2 ? usual : fuzz_u32(verbs_world.in));
	if (how & 4)
		return mr_reg(pd, NULL, SIZE_MAX, 0, usual | IBV_ACCESS_ON_DEMAND);
	return mr_reg(pd, verbs_world.arena, VERBS_ARENA, (uintptr_t)verbs_world.arena, usual);
}

static void *new_channel(void)
{
	struct ibv_comp_channel *ch = channel_create(verbs_world.context);

	if (ch)
		MUST(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	return ch;
}

static void *new_cq(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_cq_init_attr_ex a = {.cqe = how & 4 ? fuzz_u8(verbs_world.in) : 4 * VERBS_WRS,
		.channel = verbs_any_object(VERBS_CHANNEL),
		.cq_context = &verbs_world};

	if (how & 1)
		return cq_create(verbs_world.context,
			how & 2 ? (int)fuzz_u32(verbs_world.in) % 1000 : (int)a.cqe, &verbs_world,
			a.channel, how >> 6 == 3 ? (int)fuzz_u32(verbs_world.in) : 0);
	if (how & 8) {
		a.wc_flags = fuzz_u16(verbs_world.in);
		a.comp_mask = fuzz_u8(verbs_world.in) & 7;
		a.flags = fuzz_u8(verbs_world.in) & 7;
		a.comp_vector = fuzz_u8(verbs_world.in) & 1;
		a.parent_domain = verbs_any_object(VERBS_PD);
	}
	return cq_create_ex(verbs_world.context, &a);
}

static void *new_srq(struct ibv_pd *pd)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_srq_init_attr_ex a = {.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = pd,
		.attr = {.max_wr = VERBS_WRS, .max_sge = 2}};
	struct ibv_srq_init_attr plain;

	if (how & 1)
		a.attr = (struct ibv_srq_attr){.max_wr = (uint32_t)verbs_any_length(),
			.max_sge = (uint32_t)verbs_any_length()};
	if (how & 2) {
		a.comp_mask = fuzz_u8(verbs_world.in) & 31;
		a.srq_type = fuzz_u8(verbs_world.in) & 3;
		return srq_create_ex(verbs_world.context, &a);
	}
	plain = (struct ibv_srq_init_attr){.attr = a.attr};
	return srq_create(pd, &plain);
}

static void *new_qp(struct ibv_pd *pd)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_qp_init_attr plain = {.send_cq = verbs_any_object(VERBS_CQ),
		.recv_cq = verbs_any_object(VERBS_CQ),
		.srq = how & 8 ? verbs_any_object(VERBS_SRQ) : NULL,
		.qp_type = how >> 5 == 7 ? fuzz_u8(verbs_world.in) : IBV_QPT_RC,
		.sq_sig_all = how & 4,
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64}};
	struct ibv_qp_init_attr_ex a = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = WR_API_OPS,
		.pd = pd};

	if (how & 1)
		verbs_any_bytes(&plain.cap, sizeof plain.cap);
	if (how & 2)
		return qp_create(pd, &plain);
	memcpy(&a, &plain, offsetof(struct ibv_qp_init_attr, sq_sig_all) + sizeof(int));
	if (how & 16) {
		a.comp_mask = fuzz_u16(verbs_world.in);
		a.create_flags = fuzz_u8(verbs_world.in) & 1;
		a.send_ops_flags = fuzz_u16(verbs_world.in);
	}
	return qp_create_ex(verbs_world.context, &a);
}

static void *new_of_pd(enum verbs_kind kind)
{
	struct ibv_pd *pd = verbs_any_object(VERBS_PD);

	pd = pd ? pd : some_pd();
	if (!pd) {
		errno = EINVAL;
		return NULL;
	}
	switch (kind) {
	case VERBS_MR:
		return new_mr(pd);
	case VERBS_MW:
		return mw_alloc(pd, 1 + fuzz_u8(verbs_world.in) % 3);
	case VERBS_SRQ:
		return new_srq(pd);
	default:
		return new_qp(pd);
	}
}

void verbs_create(enum verbs_kind kind, unsigned slot)
{
	void *(*const of_context[VERBS_KINDS])(void) = {[VERBS_PD] = new_pd,
		[VERBS_TD] = new_td,
		[VERBS_CHANNEL] = new_channel,
		[VERBS_CQ] = new_cq};
	void **at = &verbs_world.object[kind][slot];

	if (verbs_world.closed)
		return;
	errno = 0;
	*at = of_context[kind] ? of_context[kind]() : new_of_pd(kind);
	MUST(*at || errno > 0);
}

static int destroy_one(enum verbs_kind kind, void *o)
{
	switch (kind) {
	case VERBS_PD:
		return pd_dealloc(o);
	case VERBS_TD:
		return td_dealloc(o);
	case VERBS_MR:
		return mr_dereg(o);
	case VERBS_MW:
		return mw_dealloc(o);
	case VERBS_CHANNEL:
		return channel_destroy(o);
	case VERBS_CQ:
		return cq_destroy(o);
	case VERBS_SRQ:
		return srq_destroy(o);
	default:
		return qp_destroy(o);
	}
}

void verbs_destroy(enum verbs_kind kind, unsigned slot)
{
	int rc = destroy_one(kind, verbs_world.object[kind][slot]);

	MUST(rc == 0 || rc == EBUSY);
	if (rc)
		return;
	verbs_world.object[kind][slot] = NULL;
	if (kind == VERBS_QP)
		verbs_forget((uint8_t)(1 + slot));
}

void verbs_create_or_destroy(void)
{
	uint8_t what = fuzz_u8(verbs_world.in);
	enum verbs_kind kind = what % VERBS_KINDS;
	unsigned slot = (what >> 3) % VERBS_SLOTS;

	if (verbs_world.object[kind][slot])
		verbs_destroy(kind, slot);
	else
		verbs_create(kind, slot);
}

/* ---- queue pairs ----------------------------------------------------------------------------- */

/** What a program says that connects without rdma_cm, to the VERBS_QP in @p peer. */
static int usual_step(struct ibv_qp *qp, const struct ibv_qp *peer, enum ibv_qp_state to)
{
	static const int mask[] = {
		[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		[IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		[IBV_QPS_RTS] = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		[IBV_QPS_ERR] = 0};
	struct ibv_qp_attr a = {.qp_state = to,
		.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer ? peer->qp_num : qp->qp_num,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.timeout = 14,
		.ah_attr = {.is_global = 1, .port_num = 1}};

	memcpy(a.ah_attr.grh.dgid.raw, verbs_world.stack.config.address[0].addr.b, 16);
	return qp_modify(qp, &a, IBV_QP_STATE | mask[to]);
}

void verbs_modify(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	unsigned slot = how % VERBS_SLOTS;
	struct ibv_qp *qp = verbs_world.object[VERBS_QP][slot],
		      *peer = verbs_world.object[VERBS_QP][(how >> 2) % VERBS_SLOTS];
	struct ibv_qp_attr a;
	int rc;

	if (!qp)
		return;
	if (how & 128) {
		verbs_any_bytes(&a, sizeof a);
		rc = qp_modify(qp, &a, (int)fuzz_u32(verbs_world.in));
	} else if (how & 64) {
		a.qp_state = fuzz_u8(verbs_world.in) % (IBV_QPS_ERR + 2);
		rc = qp_modify(qp, &a, IBV_QP_STATE);
	} else {
		rc = 0;
		for (enum ibv_qp_state to = IBV_QPS_INIT; to <= IBV_QPS_RTS && !rc; to++)
			rc = usual_step(qp, peer, to);
	}
	MUST(rc >= 0);
	if (qp->state == IBV_QPS_RESET)
		verbs_forget(
			(uint8_t)(1 + slot)); /* their completions are taken out of the VERBS_CQ */
}

void verbs_query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_srq_attr limits;
	struct ibv_qp_attr a;
	struct ibv_qp *qp = verbs_any_object(VERBS_QP);
	struct ibv_srq *srq = verbs_any_object(VERBS_SRQ);

	if (qp) {
		MUST(!qp_query(qp, &a, (int)fuzz_u32(verbs_world.in),
			fuzz_u8(verbs_world.in) & 1 ? &init : NULL));
		MUST(a.qp_state == qp->state);
	}
	if (!srq)
		return;
	verbs_any_bytes(&limits, sizeof limits);
	MUST(srq_modify(srq, &limits, fuzz_u8(verbs_world.in) & 7) >= 0);
	MUST(!srq_query(srq, &limits));
}

/* ---- memory
 * --------------------------------------------------------------------------------------- */

void verbs_memory(void)
{
	struct ibv_mr *mr = verbs_any_object(VERBS_MR);
	struct ibv_pd *pd = verbs_any_object(VERBS_PD);
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_sge *sge;

	if (how & 1 && pd) {
		sge = verbs_any_list(false);
		MUST(mr_advise(pd, how >> 1 & 3, how >> 3 & 3, sge, how >> 5 & 7) >= 0);
		free(sge);
	} else if (mr) {
		mr_rereg(mr, how >> 1 & 15, pd, (void *)(uintptr_t)verbs_any_address(),
			verbs_any_length(),
			how & 32 ? (int)fuzz_u32(verbs_world.in) : IBV_ACCESS_LOCAL_WRITE);
	}
}

void verbs_destroy_all(void)
{
	static const enum verbs_kind order[] = {VERBS_QP, VERBS_MW, VERBS_MR, VERBS_SRQ, VERBS_CQ,
		VERBS_CHANNEL, VERBS_PD, VERBS_PD, VERBS_TD};

	for (unsigned k = 0; k < sizeof order / sizeof order[0]; k++)
		for (unsigned i = VERBS_SLOTS; i--;)
			if (verbs_world.object[order[k]][i])
				verbs_destroy(order[k], i);
	for (unsigned k = 0; k < VERBS_KINDS; k++)
		for (unsigned i = 0; i < VERBS_SLOTS; i++)
			MUST(!verbs_world.object[k][i]);
}
