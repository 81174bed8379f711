/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <stdlib.h>

struct ibv_comp_channel *channel_create(struct ibv_context *context)
{
	int rc = context_use(context);
	struct channel *ch;

	if (rc != 0)
		return fail_null(-rc);
	ch = calloc(1, sizeof *ch);
	rc = !ch ? -ENOMEM : mailbox_open(&ch->box);
	if (rc != 0) {
		free(ch);
		return fail_null(-rc);
	}
	TAILQ_INIT(&ch->ready);
	atomic_init(&ch->refs, 1);
	ch->ibv.context = context;
	ch->ibv.fd = ch->box.fd;
	context_add(context, &ch->object, OBJECT_CHANNEL);
	/* Before it was listed exit() did not find it; later it finds it. */
	if (stack_has_left(device_of(context)->stack))
		mailbox_leave_to_exit(&ch->box);
	return &ch->ibv;
}

static void channel_put(void *channel)
{
	struct channel *ch = channel;

	if (atomic_fetch_sub_explicit(&ch->refs, 1, memory_order_acq_rel) != 1)
		return;
	mailbox_fini(&ch->box);
	free(ch);
}

/** A thread that waits for an event goes on doing so, as with the kernel's. */
int channel_destroy(struct ibv_comp_channel *ibv)
{
	struct channel *ch = OBJECT_OF(channel, ibv);
	struct ibv_context *context = ibv->context;
	int in_use;

	pthread_mutex_lock(&ch->box.lock);
	in_use = ibv->refcnt;
	pthread_mutex_unlock(&ch->box.lock);
	if (in_use != 0)
		return fail_errno(-EBUSY);
	context_withdraw(context, &ch->object);
	mailbox_close(&ch->box);
	/* The last notification of a CQ that is gone. */
	engine_settle(rnic_engine(device_of(context)->rnic));
	channel_put(ch);
	context_put(context);
	return 0;
}

/* The RNIC's notification, once per arming, under the engine's lock. */
static void cq_channel_notify(void *arg)
{
	struct cq *cq = arg;
	struct channel *ch = OBJECT_OF(channel, cq->ibv.channel);

	if (!ch)
		return;
	pthread_mutex_lock(&ch->box.lock);
	if (cq->unread++ == 0)
		TAILQ_INSERT_TAIL(&ch->ready, cq, link);
	mailbox_post(&ch->box, rnic_engine(device_of(cq->ibv.context)->rnic));
	pthread_mutex_unlock(&ch->box.lock);
}

/** @return 0, or a negative errno. */
static int channel_take(struct channel *ch, struct ibv_cq **out, void **cq_context)
{
	struct cq *cq;
	int rc;

	do {
		rc = mailbox_wait(&ch->box);
		if (rc < 0)
			return rc;
		pthread_mutex_lock(&ch->box.lock);
		cq = TAILQ_FIRST(&ch->ready);
		if (cq) {
			TAILQ_REMOVE(&ch->ready, cq, link);
			/* In turns, when several have more than one. */
			if (--cq->unread != 0)
				TAILQ_INSERT_TAIL(&ch->ready, cq, link);
			cq->comp_reported++;
			*out = &cq->ibv;
			*cq_context = cq->ibv.cq_context;
		}
		mailbox_took(&ch->box, rc, cq != NULL);
		pthread_mutex_unlock(&ch->box.lock);
	} while (!cq && (rc = mailbox_wait_again(&ch->box, ch->ibv.fd)) == 0);
	return cq ? 0 : rc;
}

int channel_get_event(struct ibv_comp_channel *ibv, struct ibv_cq **out, void **cq_context)
{
	struct channel *ch = OBJECT_OF(channel, ibv);
	int rc;

	/* Another thread may destroy it meanwhile, and this one may be cancelled. */
	atomic_fetch_add_explicit(&ch->refs, 1, memory_order_relaxed);
	pthread_cleanup_push(channel_put, ch);
	rc = channel_take(ch, out, cq_context);
	pthread_cleanup_pop(1);
	if (rc == 0)
		return 0;
	errno = -rc;
	return -1;
}

/* ---- completion queues ----------------------------------------------------------------------- */

static struct cq *cq_create_common(struct ibv_context *context, uint32_t cqe, void *cq_context,
	struct ibv_comp_channel *channel, uint32_t comp_vector)
{
	struct device *d = device_of(context);
	int rc = context_use(context);
	struct cq *cq;

	if (rc != 0)
		return fail_null(-rc);
	if (comp_vector >= (uint32_t)context->num_comp_vectors ||
		(channel && channel->context != context))
		return fail_null(EINVAL);
	cq = calloc(1, sizeof *cq);
	if (!cq)
		return fail_null(ENOMEM);
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	pthread_mutex_init(&cq->polling, NULL);
	rc = rnic_cq_create(d->rnic, cqe, cq_channel_notify, cq, &cq->rnic);
	if (rc != 0) {
		free(cq);
		return fail_null(-rc);
	}
	cq->ibv.cqe = (int)rnic_cq_size(cq->rnic);
	if (channel) {
		pthread_mutex_lock(&OBJECT_OF(channel, channel)->box.lock);
		channel->refcnt++;
		pthread_mutex_unlock(&OBJECT_OF(channel, channel)->box.lock);
	}
	context_add(context, &cq->object, OBJECT_OTHER);
	return cq;
}

struct ibv_cq *cq_create(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int comp_vector)
{
	struct cq *cq;

	if (cqe <= 0 || comp_vector < 0)
		return fail_null(EINVAL);
	cq = cq_create_common(context, (uint32_t)cqe, cq_context, channel, (uint32_t)comp_vector);
	return !cq ? NULL : &cq->ibv;
}

#define WC_TIMES \
	(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

#define WC_FIELDS                                                                 \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |   \
		IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | \
		IBV_WC_EX_WITH_DLID_PATH_BITS | WC_TIMES)

#define CQ_INIT_MASK (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)

#define CREATE_FLAGS (IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static int cq_extended_verify(
	const struct ibv_context *context, const struct ibv_cq_init_attr_ex *a)
{
	if ((a->wc_flags & ~(uint64_t)WC_FIELDS) != 0 ||
		(a->comp_mask & ~(uint32_t)CQ_INIT_MASK) != 0)
		return -EOPNOTSUPP;
	if ((a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
		(a->flags & ~(uint32_t)CREATE_FLAGS) != 0)
		return -EOPNOTSUPP;
	if ((a->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 &&
		(!a->parent_domain || a->parent_domain->context != context ||
			!OBJECT_OF(pd, a->parent_domain)->base))
		return -EINVAL;
	return 0;
}

struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int rc = cq_extended_verify(context, attr);
	struct cq *cq;

	if (rc != 0)
		return fail_null(-rc);
	cq = cq_create_common(
		context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);
	if (!cq)
		return NULL;
	cq->timed = (attr->wc_flags & WC_TIMES) != 0;
	if (cq->timed && rnic_cq_keep_times(cq->rnic) != 0) {
		cq_destroy(&cq->ibv);
		return fail_null(ENOMEM);
	}
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
		cq->domain = OBJECT_OF(pd, attr->parent_domain);
		pd_hold(attr->parent_domain);
	}
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0) {
		cq->single_threaded = (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
		if ((attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0)
			rnic_cq_ignore_overrun(cq->rnic);
	}
	cq_set_poll_ops(cq);
	return &cq->ex;
}

int cq_modify(struct ibv_cq *ibv, struct ibv_modify_cq_attr *attr)
{
	if (attr->attr_mask != IBV_CQ_ATTR_MODERATE)
		return fail_errno(attr->attr_mask == 0 ? -EINVAL : -EOPNOTSUPP);
	rnic_cq_moderate(OBJECT_OF(cq, ibv)->rnic, attr->moderate.cq_count,
		attr->moderate.cq_period * UINT64_C(1000));
	return 0;
}

int cq_resize(struct ibv_cq *ibv, int cqe)
{
	struct cq *cq = OBJECT_OF(cq, ibv);
	int rc = -EINVAL;

	/* Two threads' sizes would be told in another order than they came. */
	pthread_mutex_lock(&ibv->mutex);
	if (cqe > 0)
		rc = rnic_cq_resize(cq->rnic, (uint32_t)cqe);
	if (rc == 0)
		ibv->cqe = (int)rnic_cq_size(cq->rnic);
	pthread_mutex_unlock(&ibv->mutex);
	return fail_errno(rc);
}

/* Take our unread events out of the channel, and count those that were read. */
static uint32_t cq_leave_channel(struct cq *cq)
{
	struct channel *ch = OBJECT_OF(channel, cq->ibv.channel);
	uint32_t reported;

	if (!ch)
		return 0;
	pthread_mutex_lock(&ch->box.lock);
	if (cq->unread != 0) {
		TAILQ_REMOVE(&ch->ready, cq, link);
		mailbox_retract(&ch->box, cq->unread);
		cq->unread = 0;
	}
	reported = cq->comp_reported;
	ch->ibv.refcnt--;
	pthread_mutex_unlock(&ch->box.lock);
	return reported;
}

int cq_destroy(struct ibv_cq *ibv)
{
	struct cq *cq = OBJECT_OF(cq, ibv);
	struct ibv_context *context = ibv->context;
	int rc = rnic_cq_retire(cq->rnic);
	uint32_t comp_reported;

	if (rc != 0)
		return fail_errno(rc);
	/* From here the RNIC tells of it no more. Events that are held are acknowledged first, by
	 * threads that may use it until then. */
	comp_reported = cq_leave_channel(cq);
	async_forget(context, &cq->async);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->comp_events_completed != comp_reported ||
		ibv->async_events_completed != cq->async.reported)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	pthread_mutex_destroy(&cq->polling);
	rnic_cq_free(cq->rnic);
	if (cq->domain)
		pd_put(&cq->domain->ibv);
	context_withdraw(context, &cq->object);
	free(cq);
	context_put(context);
	return 0;
}
