/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_modify_qp() and ibv_query_qp(). The RNIC decides on transitions of states. Here are the
 * attributes that may, or must, be given with a transition.
 */
#include "provider/verbs/objects.h"

#include <string.h>

_Static_assert((int)IBV_QPS_RESET == RNIC_QP_RESET && (int)IBV_QPS_INIT == RNIC_QP_INIT &&
		       (int)IBV_QPS_RTR == RNIC_QP_RTR && (int)IBV_QPS_RTS == RNIC_QP_RTS &&
		       (int)IBV_QPS_SQD == RNIC_QP_SQD && (int)IBV_QPS_SQE == RNIC_QP_SQE &&
		       (int)IBV_QPS_ERR == RNIC_QP_ERROR,
	"states are passed through");

#define ACCESS_REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- which attributes go with which step ---------------------------------------------------- */

#define ATTR_ALL (2 * IBV_QP_RATE_LIMIT - 1)

/*
 * Queues have a fixed size (no IBV_DEVICE_RESIZE_MAX_WR), there is one path (no
 * IBV_DEVICE_AUTO_PATH_MIG), and QPs have no rate limit.
 */
#define ATTR_REFUSED (IBV_QP_CAP | IBV_QP_RATE_LIMIT | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

/* What matters to a QP that the CM connects: allowed with every step that goes on. */
#define ATTR_IWARP \
	(IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)

/*
 * ibv_modify_qp(3) and the table of the kernel's ib_modify_qp_is_ok() for reliable connections.
 * `need` is for programs that connect a QP without rdma_cm: if they give any attribute besides
 * ATTR_IWARP, they must give all. Otherwise the CM makes the transitions to RTR and RTS.
 */
static const struct step {
	int need, may;
} qp_attr_steps[IBV_QPS_ERR + 1][IBV_QPS_ERR + 1] = {
	[IBV_QPS_RESET] = {[IBV_QPS_INIT] = {IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				   0}},
	[IBV_QPS_INIT] = {[IBV_QPS_INIT] = {0, IBV_QP_PKEY_INDEX},
		[IBV_QPS_RTR] = {IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			IBV_QP_PKEY_INDEX}},
	[IBV_QPS_RTR] = {[IBV_QPS_RTR] = {0, IBV_QP_MIN_RNR_TIMER},
		[IBV_QPS_RTS] = {IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
			IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER}},
	[IBV_QPS_RTS] = {[IBV_QPS_RTS] = {0, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER},
		[IBV_QPS_SQD] = {0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
	[IBV_QPS_SQD] = {[IBV_QPS_SQD] = {0, IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						     IBV_QP_RNR_RETRY | IBV_QP_PKEY_INDEX |
						     IBV_QP_MIN_RNR_TIMER},
		[IBV_QPS_RTS] = {0, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER}},
};

/* The same of UD, which has no CM to make transitions for it: all that is needed must be there. */
static const struct step qp_attr_ud_steps[IBV_QPS_ERR + 1][IBV_QPS_ERR + 1] = {
	[IBV_QPS_RESET] = {[IBV_QPS_INIT] = {IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0}},
	[IBV_QPS_INIT] = {[IBV_QPS_INIT] = {0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
		[IBV_QPS_RTR] = {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
	[IBV_QPS_RTR] = {[IBV_QPS_RTS] = {IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
	[IBV_QPS_RTS] = {[IBV_QPS_RTS] = {0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
		[IBV_QPS_SQD] = {0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
	[IBV_QPS_SQD] = {[IBV_QPS_SQD] = {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
		[IBV_QPS_RTS] = {0, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
};

static int qp_attr_ud_mask_verify(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const struct step *s = &qp_attr_ud_steps[from][to];
	int given = mask & ~IBV_QP_STATE;

	if ((mask & IBV_QP_STATE) != 0 && (to == IBV_QPS_RESET || to == IBV_QPS_ERR))
		return given == 0 ? 0 : -EINVAL;
	return (given & ~(s->need | s->may)) != 0 || (given & s->need) != s->need ? -EINVAL : 0;
}

static int qp_attr_mask_verify(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const struct step *s = &qp_attr_steps[from][to];
	int given = mask & ~(IBV_QP_STATE | ATTR_IWARP);

	/* To the beginning and to the end nothing goes along. */
	if ((mask & IBV_QP_STATE) != 0 && (to == IBV_QPS_RESET || to == IBV_QPS_ERR))
		return mask == IBV_QP_STATE ? 0 : -EINVAL;
	if ((given & ~(s->need | s->may)) != 0)
		return -EINVAL;
	return (given & s->need) != 0 && (mask & s->need) != s->need ? -EINVAL : 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Fields of InfiniBand's headers: programs may rely on a check of their widths. */
static int qp_attr_values_verify(const struct ibv_qp_attr *a, int mask, const struct rnic_limits *l)
{
	if (((mask & IBV_QP_PORT) != 0 && a->port_num != 1) ||
		((mask & IBV_QP_AV) != 0 && a->ah_attr.port_num != 1) ||
		((mask & IBV_QP_PKEY_INDEX) != 0 && a->pkey_index != 0) ||
		((mask & IBV_QP_PATH_MTU) != 0 &&
			(a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096)) ||
		((mask & IBV_QP_DEST_QPN) != 0 && a->dest_qp_num > 0xffffff) ||
		((mask & IBV_QP_TIMEOUT) != 0 && a->timeout > 31) ||
		((mask & IBV_QP_RETRY_CNT) != 0 && a->retry_cnt > 7) ||
		((mask & IBV_QP_RNR_RETRY) != 0 && a->rnr_retry > 7) ||
		((mask & IBV_QP_MIN_RNR_TIMER) != 0 && a->min_rnr_timer > 31) ||
		((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && a->max_rd_atomic > l->max_ord) ||
		((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && a->max_dest_rd_atomic > l->max_ird))
		return -EINVAL;
	return 0;
}

static void qp_attr_remember(struct qp_given *to, const struct ibv_qp_attr *from, int mask)
{
	if ((mask & IBV_QP_AV) != 0)
		to->ah_attr = from->ah_attr;
	if ((mask & IBV_QP_PATH_MTU) != 0)
		to->path_mtu = (uint8_t)from->path_mtu;
	if ((mask & IBV_QP_DEST_QPN) != 0)
		to->dest_qp_num = from->dest_qp_num;
	if ((mask & IBV_QP_QKEY) != 0)
		to->qkey = from->qkey;
	if ((mask & IBV_QP_RQ_PSN) != 0)
		to->rq_psn = from->rq_psn & 0xffffff;
	if ((mask & IBV_QP_SQ_PSN) != 0)
		to->sq_psn = from->sq_psn & 0xffffff;
	if ((mask & IBV_QP_TIMEOUT) != 0)
		to->timeout = from->timeout;
	if ((mask & IBV_QP_RETRY_CNT) != 0)
		to->retry_cnt = from->retry_cnt;
	if ((mask & IBV_QP_RNR_RETRY) != 0)
		to->rnr_retry = from->rnr_retry;
	if ((mask & IBV_QP_MIN_RNR_TIMER) != 0)
		to->min_rnr_timer = from->min_rnr_timer;
	if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0)
		to->en_sqd_async_notify = from->en_sqd_async_notify != 0;
}

static void qp_attr_recall(struct ibv_qp_attr *to, const struct qp_given *from)
{
	*to = (struct ibv_qp_attr){.ah_attr = from->ah_attr,
		.path_mtu = (enum ibv_mtu)from->path_mtu,
		.dest_qp_num = from->dest_qp_num,
		.rq_psn = from->rq_psn,
		.sq_psn = from->sq_psn,
		.qkey = from->qkey,
		.timeout = from->timeout,
		.retry_cnt = from->retry_cnt,
		.rnr_retry = from->rnr_retry,
		.min_rnr_timer = from->min_rnr_timer,
		.en_sqd_async_notify = from->en_sqd_async_notify};
}

/* ---- modify, query --------------------------------------------------------------------------- */

static int qp_attr_verify(const struct qp *qp, const struct ibv_qp_attr *a, int mask)
{
	enum ibv_qp_state now = (enum ibv_qp_state)rnic_qp_get_state(qp->rnic);
	enum ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a->qp_state : now;
	int rc;

	if (context_is_closed(qp->ibv.context))
		return -ENODEV;
	if ((mask & ~ATTR_ALL) != 0)
		return -EINVAL;
	if ((mask & ATTR_REFUSED) != 0)
		return -EOPNOTSUPP;
	if ((mask & IBV_QP_CUR_STATE) != 0 && a->cur_qp_state != now)
		return -EINVAL;
	if ((mask & IBV_QP_STATE) != 0 && (unsigned)a->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	rc = qp->ud ? qp_attr_ud_mask_verify(now, to, mask) : qp_attr_mask_verify(now, to, mask);
	return rc != 0 ? rc : qp_attr_values_verify(a, mask, rnic_get_limits(qp->device->rnic));
}

static unsigned qp_attr_translate(const struct ibv_qp_attr *a, int mask, struct rnic_qp_attr *to)
{
	*to = (struct rnic_qp_attr){.state = (enum rnic_qp_state)a->qp_state,
		.access = a->qp_access_flags & ACCESS_REMOTE,
		.ord = a->max_rd_atomic,
		.ird = a->max_dest_rd_atomic,
		.qkey = a->qkey,
		.drain_notify = a->en_sqd_async_notify != 0};
	return ((mask & IBV_QP_STATE) != 0 ? RNIC_QP_STATE : 0) |
	       ((mask & IBV_QP_ACCESS_FLAGS) != 0 ? RNIC_QP_ACCESS : 0) |
	       ((mask & IBV_QP_QKEY) != 0 ? RNIC_QP_QKEY : 0) |
	       ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 ? RNIC_QP_DRAIN_NOTIFY : 0) |
	       ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 ? RNIC_QP_ORD : 0) |
	       ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 ? RNIC_QP_IRD : 0);
}

int qp_modify(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct qp *qp = qp_of(ibv);
	struct rnic_qp_attr to;
	unsigned what;
	int rc;

	pthread_mutex_lock(&ibv->mutex);
	rc = qp_attr_verify(qp, attr, mask);
	if (rc == 0) {
		what = qp_attr_translate(attr, mask, &to);
		if (!qp->ud)
			rc = path_translate(qp->device, attr, mask, &to, &what);
	}
	if (rc == 0) {
		rc = rnic_qp_modify(qp->rnic, what, &to);
	}
	if (rc == 0)
		qp_attr_remember(&qp->given, attr, mask);
	ibv->state = (enum ibv_qp_state)rnic_qp_get_state(qp->rnic);
	if (rc == 0 && ibv->state == IBV_QPS_RESET)
		memset(&qp->given, 0, sizeof qp->given);
	pthread_mutex_unlock(&ibv->mutex);
	return fail_errno(rc);
}

int qp_query(
	struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
	struct qp *qp = qp_of(ibv);
	struct rnic_qp_init init = {0};
	struct rnic_qp_attr now = {0};
	struct ibv_port_attr port;

	pthread_mutex_lock(&ibv->mutex);
	rnic_qp_query(qp->rnic, &now, &init);
	qp_attr_recall(attr, &qp->given);
	ibv->state = (enum ibv_qp_state)now.state;
	pthread_mutex_unlock(&ibv->mutex);
	attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)now.state;
	attr->sq_draining = now.draining;
	attr->qp_access_flags = now.access;
	attr->max_rd_atomic = (uint8_t)now.ord;
	attr->max_dest_rd_atomic = (uint8_t)now.ird;
	attr->port_num = 1;
	if (attr->path_mtu == 0 && query_port(ibv->context, 1, &port, sizeof port) == 0)
		attr->path_mtu = port.active_mtu;
	attr->cap.max_send_wr = init.max_send_wr;
	attr->cap.max_recv_wr = init.max_recv_wr;
	attr->cap.max_send_sge = init.max_send_sge;
	attr->cap.max_recv_sge = init.max_recv_sge;
	attr->cap.max_inline_data = init.max_inline;
	if (init_attr)
		*init_attr = (struct ibv_qp_init_attr){
			.qp_context = ibv->qp_context,
			.send_cq = ibv->send_cq,
			.recv_cq = ibv->recv_cq,
			.srq = ibv->srq,
			.cap = attr->cap,
			.qp_type = ibv->qp_type,
			.sq_sig_all = init.sq_sig_all,
		};
	return 0;
}
