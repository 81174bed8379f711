/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates attributes of programs that connect QPs without rdma_cm, from InfiniBand's terms to
 * the RNIC's pairing (docs/connect.md).
 */
#include "provider/verbs/objects.h"

#include <string.h>

#define IS_PATH (IBV_QP_AV | IBV_QP_DEST_QPN)

/* Without a GRH there is no address: as for RoCE, programs must be given a GID index. */
static int path_translate_address(
	const struct device *d, const struct ibv_qp_attr *a, struct rnic_path *to)
{
	const struct ibv_global_route *grh = &a->ah_attr.grh;

	if (a->ah_attr.is_global == 0 || gid_address(d, grh->sgid_index, &to->local) != 0)
		return -EINVAL;
	memcpy(to->remote.b, grh->dgid.raw, sizeof to->remote.b);
	to->remote_qp = a->dest_qp_num;
	to->rq_psn = a->rq_psn & 0xffffff;
	to->tos = grh->traffic_class;
	return 0;
}

/* InfiniBand's ACK timeout is 4.096 us * 2^timeout, and an attempt more than there are retries. */
static uint64_t path_patience_of(const struct ibv_qp_attr *a)
{
	return a->timeout == 0 ? 0 : (UINT64_C(4096) << a->timeout) * (a->retry_cnt + 1u);
}

int path_translate(const struct device *d, const struct ibv_qp_attr *a, int mask,
	struct rnic_qp_attr *to, unsigned *what)
{
	bool to_state = (mask & IBV_QP_STATE) != 0;

	if (config_pairing_port(stack_config(d->stack)) == 0)
		return 0;
	/* With a P_Key it is none of rdma_cm's. A failure is told at RTR, if it comes to that. */
	if (to_state && a->qp_state == IBV_QPS_INIT && (mask & IBV_QP_PKEY_INDEX) != 0)
		(void)rnic_pairing_open(d->rnic);
	if ((mask & IBV_QP_SQ_PSN) != 0) {
		to->sq_psn = a->sq_psn & 0xffffff;
		*what |= RNIC_QP_SQ_PSN;
	}
	if ((mask & IBV_QP_TIMEOUT) != 0 && (mask & IBV_QP_RETRY_CNT) != 0) {
		to->patience = path_patience_of(a);
		*what |= RNIC_QP_PATIENCE;
	}
	if (!to_state || a->qp_state != IBV_QPS_RTR || (mask & IS_PATH) != IS_PATH)
		return 0;
	*what |= RNIC_QP_PATH;
	return path_translate_address(d, a, &to->path);
}
