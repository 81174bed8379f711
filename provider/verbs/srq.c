/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>

static struct srq *srq_create_common(
	struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr)
{
	const struct rnic_limits *l = rnic_get_limits(device_of(pd->context)->rnic);
	struct srq *srq;
	uint32_t limit;
	int rc;

	if (context_is_closed(pd->context))
		return fail_null(ENODEV);
	if (attr->max_wr == 0 || attr->max_wr > l->max_srq_wr || attr->max_sge > l->max_sge)
		return fail_null(EINVAL);
	srq = calloc(1, sizeof *srq);
	if (!srq)
		return fail_null(ENOMEM);
	srq->ibv.context = pd->context;
	srq->ibv.pd = pd;
	srq->ibv.srq_context = srq_context;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	/* verbs arm the limit by modify only; the field is ignored here. */
	rc = rnic_srq_create(
		OBJECT_OF(pd, pd)->rnic, attr->max_wr, attr->max_sge, 0, srq, &srq->rnic);
	if (rc != 0) {
		free(srq);
		return fail_null(-rc);
	}
	rnic_srq_get(srq->rnic, &attr->max_wr, &attr->max_sge, &limit);
	srq->max_sge = attr->max_sge;
	pd_hold(pd);
	context_add(pd->context, &srq->object, OBJECT_OTHER);
	return srq;
}

struct ibv_srq *srq_create(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct srq *srq = srq_create_common(pd, attr->srq_context, &attr->attr);

	return !srq ? NULL : &srq->ibv;
}

struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct srq *srq;

	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || !attr->pd ||
		attr->pd->context != context)
		return fail_null(EINVAL);
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type == IBV_SRQT_XRC)
		device_has_no(device_of(context), "XRC receive queues");
	if ((attr->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE)) != 0 ||
		((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 &&
			attr->srq_type != IBV_SRQT_BASIC))
		return fail_null(EOPNOTSUPP);
	srq = srq_create_common(attr->pd, attr->srq_context, &attr->attr);
	return !srq ? NULL : &srq->ibv;
}

int srq_modify(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
	/* Resizing is an option of verbs that few devices have. */
	if ((mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) != 0)
		return fail_errno(-EINVAL);
	if ((mask & IBV_SRQ_MAX_WR) != 0)
		return fail_errno(-EOPNOTSUPP);
	if ((mask & IBV_SRQ_LIMIT) == 0)
		return 0;
	return fail_errno(rnic_srq_set_limit(OBJECT_OF(srq, ibv)->rnic, attr->srq_limit));
}

int srq_query(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
	rnic_srq_get(OBJECT_OF(srq, ibv)->rnic, &attr->max_wr, &attr->max_sge, &attr->srq_limit);
	return 0;
}

int srq_destroy(struct ibv_srq *ibv)
{
	struct srq *srq = OBJECT_OF(srq, ibv);
	struct ibv_context *context = ibv->context;
	struct ibv_pd *pd = ibv->pd;
	int rc = rnic_srq_retire(srq->rnic);

	if (rc != 0)
		return fail_errno(rc);
	/* A thread that has yet to acknowledge an event may use it until then. */
	async_forget(context, &srq->async);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != srq->async.reported)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	rnic_srq_free(srq->rnic);
	context_withdraw(context, &srq->object);
	free(srq);
	pd_put(pd);
	context_put(context);
	return 0;
}
