/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/ud.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "base/guarded.h"
#include "rnic/mr.h"
#include "rnic/pairing_service.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

/* A Q_Key with this bit in a request stands for the QP's own (verbs). */
#define UD_QKEY_OWN 0x80000000u

/* ---- the work request ---------------------------------------------------------------------- */

_Static_assert(2 * sizeof(struct ip_addr) == sizeof((struct rdmap_wqe *)0)->local_arg, "both fit");

void rnic_ud_aim(struct rdmap_wqe *w, const struct rnic_ud_to *to)
{
	w->remote_to = to->qkey | (uint64_t)to->tos << 32 | (uint64_t)to->ttl << 40;
	memcpy(&w->local_arg[0], &to->local, sizeof to->local);
	memcpy(&w->local_arg[2], &to->remote, sizeof to->remote);
}

static struct rnic_ud_to ud_aim_of(const struct rdmap_wqe *w)
{
	struct rnic_ud_to to = {.qkey = (uint32_t)w->remote_to,
		.tos = (uint8_t)(w->remote_to >> 32),
		.ttl = (uint8_t)(w->remote_to >> 40)};

	memcpy(&to.local, &w->local_arg[0], sizeof to.local);
	memcpy(&to.remote, &w->local_arg[2], sizeof to.remote);
	return to;
}

/* ---- sending ------------------------------------------------------------------------------- */

static bool ud_gather_all(struct rnic_qp *qp, const struct rdmap_wqe *w, struct ud_writer *out)
{
	uint32_t left = w->length;

	if (w->flags & RDMAP_WR_INLINE)
		return ud_gather(out, w->sge, left);
	for (unsigned i = 0; left != 0 && i < w->num_sge; i++) {
		const struct rdmap_sge *sge = &w->sge[i];
		uint32_t n = sge->len < left ? sge->len : left;
		uint8_t *mem;

		if (n == 0)
			continue; /* its key says nothing */
		if (mr_check(qp, sge->stag, sge->addr, n, RDMAP_ACCESS_LOCAL_READ, &mem) ||
			!ud_gather(out, mem, n))
			return false;
		left -= n;
	}
	return left == 0;
}

static struct ud_header ud_header_of(const struct rnic_qp *qp, const struct rdmap_wqe *w)
{
	struct rnic_ud_to to = ud_aim_of(w);
	bool imm = w->op == RDMAP_WR_SEND_IMM;

	return (struct ud_header){.flags = (imm ? UD_WITH_IMM : 0) |
					   (w->flags & RDMAP_WR_SOLICITED ? UD_SOLICITED : 0),
		.len = (uint16_t)w->length,
		.to_qp = w->remote_stag & UD_QP_MASK,
		.from_qp = qp->num,
		.qkey = to.qkey & UD_QKEY_OWN ? qp->ud->qkey : to.qkey,
		.imm = imm ? w->imm : 0};
}

/** @return an RDMAP_WC_*, or -EAGAIN: later. What cannot be sent is lost, as on its way. */
static int ud_send_one(struct rnic_qp *qp, const struct rdmap_wqe *w)
{
	const struct ud_service *s = &qp->rnic->ud;
	struct rnic_ud_to to = ud_aim_of(w);
	struct ud_path path = {
		.local = to.local, .remote = to.remote, .tos = to.tos, .ttl = to.ttl};
	struct ud_header h = ud_header_of(qp, w);
	struct ud_writer out;
	uint8_t *room;
	int rc;

	if (w->op != RDMAP_WR_SEND && w->op != RDMAP_WR_SEND_IMM)
		return RDMAP_WC_LOC_QP_OP_ERR;
	if (w->length > s->net->max_message)
		return RDMAP_WC_LOC_LEN_ERR;
	rc = s->net->begin(s->net->ctx, &path,
		(uint16_t)(s->port + (h.to_qp >> RNIC_QP_SPACE_SHIFT)), UD_OVERHEAD + w->length,
		&room);
	if (rc == -EAGAIN)
		return rc;
	if (rc) {
		qp->rnic->ud.stats.no_way++;
		return RDMAP_WC_SUCCESS;
	}
	ud_begin(&out, room, &h);
	if (!ud_gather_all(qp, w, &out)) {
		s->net->cancel(s->net->ctx);
		return RDMAP_WC_LOC_PROT_ERR;
	}
	s->net->commit(s->net->ctx, ud_finish(&out));
	qp->rnic->ud.stats.sent++;
	return RDMAP_WC_SUCCESS;
}

static bool ud_has_sends(const struct rnic_qp *qp)
{
	return qp_state(qp) == RNIC_QP_RTS &&
	       atomic_load_explicit(&qp->sq.tail, memory_order_relaxed) !=
		       atomic_load_explicit(&qp->sq.head, memory_order_acquire);
}

void ud_serve(struct rnic_qp *qp)
{
	const struct ud_net *net = qp->rnic->ud.net;
	int rc = RDMAP_WC_SUCCESS;
	bool sent;

	for (unsigned n = 0; n < UD_BURST && rc == RDMAP_WC_SUCCESS && ud_has_sends(qp); n++) {
		rc = ud_send_one(qp, rdmap_sq_at(&qp->sq, atomic_load(&qp->sq.tail)));
		if (rc == RDMAP_WC_SUCCESS)
			rdmap_sq_complete_oldest(&qp->rdmap);
	}
	sent = net->flush(net->ctx);
	if (rc > RDMAP_WC_SUCCESS) {
		/* What is behind it does not succeed. */
		rdmap_fail_oldest(&qp->rdmap, (enum rdmap_wc_status)rc);
		qp_enter_error(qp);
	}
	if (!sent || ud_has_sends(qp))
		timer_start(&qp->rnic->engine->wheel, &qp->ud->again,
			qp->rnic->engine->now + UD_AGAIN_NS);
}

static void ud_on_again(struct timer *t, uint64_t now)
{
	ud_serve(container_of(t, struct ud, again)->qp);
}

/* ---- receiving ----------------------------------------------------------------------------- */

/* InfiniBand's Global Routing Header, which comes before the message in the receive's buffer. */
static void ud_put_grh(uint8_t grh[RNIC_UD_GRH_LEN], const struct ud_path *path, size_t len)
{
	store_be32(grh, 6u << 28 | (uint32_t)path->tos << 20);
	store_be16(grh + 4, (uint16_t)len);
	grh[6] = RNIC_UD_GRH_NEXT;
	grh[7] = path->ttl;
	memcpy(grh + 8, path->remote.b, 16);
	memcpy(grh + 24, path->local.b, 16);
}

/** A place in a receive element. */
struct ud_place {
	struct rnic_qp *qp;
	const struct rdmap_rqe *e;
	uint32_t index, offset;
};

/** The element has room. @return false: its memory is not there, or not ours to write. */
static bool ud_scatter(struct ud_place *p, const uint8_t *from, uint32_t len)
{
	while (len != 0) {
		const struct rdmap_sge *sge = &p->e->sge[p->index];
		uint32_t left = sge->len - p->offset, n = left < len ? left : len;
		uint8_t *mem;

		if (n != 0 && (mr_check(p->qp, sge->stag, sge->addr + p->offset, n,
				       RDMAP_ACCESS_LOCAL_WRITE, &mem) ||
				      !guarded_copy(mem, from, n)))
			return false;
		from += n;
		len -= n;
		p->offset += n;
		if (n == left) {
			p->index++;
			p->offset = 0;
		}
	}
	return true;
}

/** @return the receive element for a message of @p len octets; NULL: it is dropped. */
static const struct rdmap_rqe *ud_take(struct rnic_qp *qp, uint32_t len)
{
	struct rnic_ud_stats *stats = &qp->rnic->ud.stats;
	const struct rdmap_rqe *e = recv_queue_first(qp->srq ? &qp->srq->rq : &qp->rq);

	if (!e) {
		stats->no_receive++;
		return NULL;
	}
	/* It stays: a peer that sends too much shall not eat up what is posted. */
	if (e->length < RNIC_UD_GRH_LEN || e->length - RNIC_UD_GRH_LEN < len) {
		stats->too_long++;
		return NULL;
	}
	if (!qp->srq)
		return e;
	return srq_take(qp->srq, qp->srq_rqe) ? qp->srq_rqe : NULL;
}

static void ud_deliver(struct rnic_qp *qp, const struct ud_path *path, const struct ud_header *h,
	const uint8_t *message)
{
	const struct rdmap_rqe *e = ud_take(qp, h->len);
	struct ud_place at = {.qp = qp, .e = e};
	uint8_t grh[RNIC_UD_GRH_LEN];
	struct rdmap_wc wc = {.op = RDMAP_WC_RECV,
		.byte_len = RNIC_UD_GRH_LEN + h->len,
		.flags = RDMAP_WC_GRH | (h->flags & UD_SOLICITED ? RDMAP_WC_SOLICITED : 0) |
			 (h->flags & UD_WITH_IMM ? RDMAP_WC_WITH_IMM : 0),
		.imm = h->imm,
		.src_qp = h->from_qp};

	if (!e)
		return;
	wc.wr_id = e->wr_id;
	ud_put_grh(grh, path, h->len);
	if (!ud_scatter(&at, grh, sizeof grh) || !ud_scatter(&at, message, h->len))
		wc.status = RDMAP_WC_LOC_PROT_ERR;
	else
		qp->rnic->ud.stats.received++;
	if (!qp->srq)
		recv_queue_pop(&qp->rq);
	qp_complete(qp, &wc);
	if (wc.status != RDMAP_WC_SUCCESS)
		qp_enter_error(qp);
}

void ud_receive(struct rnic_qp *qp, struct rnic *r, const struct ud_path *path,
	const struct ud_header *h, const uint8_t *message)
{
	enum rnic_qp_state state = qp && qp->ud ? qp_state(qp) : RNIC_QP_RESET;

	if (state != RNIC_QP_RTR && state != RNIC_QP_RTS && state != RNIC_QP_SQD)
		r->ud.stats.no_qp++;
	else if (h->qkey != qp->ud->qkey)
		r->ud.stats.wrong_qkey++;
	else
		ud_deliver(qp, path, h, message);
}

static void ud_input(void *user, const struct ud_path *path, const uint8_t *data, size_t len)
{
	struct rnic *r = user;
	bool to_group = ip_addr_is_multicast(&path->local);
	struct ud_header h;

	if (ud_parse(data, len, &h) != UD_GOOD || to_group != (h.to_qp == RNIC_UD_QP_GROUP))
		r->ud.stats.bad++;
	else if (to_group)
		mcast_receive(r, path, &h, data + UD_HEADER_LEN);
	else
		ud_receive(rnic_qp_find(r, h.to_qp), r, path, &h, data + UD_HEADER_LEN);
}

/* ---- life ---------------------------------------------------------------------------------- */

int ud_service_open(struct rnic *r)
{
	struct ud_service *s = &r->ud;
	int rc;

	if (!s->net || !r->pairing_port)
		return -EOPNOTSUPP;
	if (s->open)
		return 0;
	pairing_service_settle(r);
	rc = s->net->open(s->net->ctx, (uint16_t)(s->port + r->qp_space),
		(uint16_t)(s->port + RNIC_QP_SPACES), ud_input, r);
	if (rc)
		log_printf(r->log, LOG_LEVEL_ERROR,
			"rnic: UDP port %u cannot be had for UD QPs: %s", s->port + r->qp_space,
			strerror(-rc));
	s->open = rc == 0;
	return rc;
}

void ud_service_close(struct rnic *r)
{
	if (r->ud.open)
		r->ud.net->close(r->ud.net->ctx);
	r->ud.open = false;
}

int ud_init(struct rnic_qp *qp)
{
	struct ud *ud = calloc(1, sizeof *ud);

	if (!ud)
		return -ENOMEM;
	ud->qp = qp;
	LIST_INIT(&ud->groups);
	timer_init(&ud->again, ud_on_again);
	qp->ud = ud;
	atomic_init(&qp->send_imm, true);
	return 0;
}

void ud_end(struct rnic_qp *qp)
{
	uint32_t tail, head = atomic_load(&qp->sq.head);

	if (!qp->ud)
		return;
	/* What was posted until now: another thread may go on posting for ever. */
	do {
		tail = atomic_load(&qp->sq.tail);
		ud_serve(qp);
	} while (atomic_load(&qp->sq.tail) != tail && (int32_t)(head - tail) > 0 &&
		 ud_has_sends(qp));
	timer_stop(&qp->rnic->engine->wheel, &qp->ud->again);
}

uint32_t rnic_ud_max_message(const struct rnic *r)
{
	return r->ud.net ? r->ud.net->max_message : 0;
}

bool rnic_ud_remark(struct rnic *r)
{
	if (!r->ud.remark)
		return false;
	if (!atomic_exchange(&r->ud.told, true))
		log_printf(r->log, LOG_LEVEL_WARNING, "%s", r->ud.remark);
	return true;
}

void rnic_ud_prepare(struct rnic *r, const struct ip_addr *remote)
{
	if (r->ud.net)
		r->ud.net->prepare(r->ud.net->ctx, remote);
}

uint8_t rnic_ud_group_ttl(const struct rnic *r)
{
	return r->ud.net ? r->ud.net->group_ttl : 0;
}

struct rnic_ud_stats rnic_ud_get_stats(const struct rnic *r)
{
	struct rnic_ud_stats stats = r->ud.stats;

	stats.refused = r->ud.net ? r->ud.net->refused : 0;
	stats.groups_refused = r->ud.net ? r->ud.net->groups_refused : 0;
	return stats;
}
