/* SPDX-License-Identifier: BSD-2-Clause */
#include "standin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define EXPORT   __attribute__((visibility("default")))
#define CQ_DEPTH 16

/* What such a library keeps for each context, ours or its own: its verbs, or that there are none.
 */
struct private_ops {
	struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context, void *attr);
	int (*of_a_time_to_come)(struct ibv_context *context);
};

struct channel {
	struct ibv_comp_channel ibv;
	int pipe[2];
};

struct cq {
	struct ibv_cq ibv;
	uint64_t done[CQ_DEPTH];
	unsigned head, tail;
	bool armed;
};

struct context {
	uint64_t newer[STANDIN_GROWTH / sizeof(uint64_t)];
	struct verbs_context verbs;
	int pipe[2];
};

static struct ibv_device device = {.name = STANDIN_NAME, .node_type = IBV_NODE_CA};
static _Atomic unsigned alive;

static void *make(size_t size)
{
	alive++;
	return calloc(1, size);
}

static int unmake(void *p)
{
	alive--;
	free(p);
	return 0;
}

EXPORT unsigned standin_alive(void)
{
	return alive;
}

/*
 * DPDK's mlx drivers want things of the real library that nothing here has. It comes in under its
 * path, so that it does not stand in for this one.
 */
__attribute__((constructor)) static void bring_in_the_real_one(void)
{
	dlopen(REAL_LIBIBVERBS, RTLD_NOW | RTLD_GLOBAL);
}

/* ---- the newer verbs ---------------------------------------------------------------------------
 */

static struct ibv_dmah *no_dmah(struct ibv_context *context, void *attr)
{
	errno = EOPNOTSUPP;
	return NULL;
}

static int not_yet(struct ibv_context *context)
{
	return EOPNOTSUPP;
}

static int here_already(struct ibv_context *context)
{
	return 0;
}

static const struct private_ops none = {no_dmah, not_yet};
static const struct private_ops some = {no_dmah, here_already};

static const struct private_ops *ops_of(struct ibv_context *context)
{
	return *(struct private_ops *const *)verbs_get_ctx(context)->priv;
}

EXPORT struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, void *attr)
{
	return ops_of(context)->alloc_dmah(context, attr);
}

EXPORT int ibv_of_a_time_to_come(struct ibv_context *context)
{
	return ops_of(context)->of_a_time_to_come(context);
}

EXPORT int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed)
{
	*speed = 1000;
	return 0;
}

/* It looks into what it gets as a buffer, as the real ones do. */
struct ibv_buf {
	struct ibv_pd *pd;
	char memory[64];
};

EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	*buf = make(sizeof **buf);
	(*buf)->pd = pd;
	return (*buf)->memory;
}

EXPORT void ibv_free_buf(struct ibv_buf *buf)
{
	if (buf->pd->context->device != &device)
		abort();
	unmake(buf);
}

EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	return buf->pd->context->device == &device ? 0x0711 : -1;
}

EXPORT struct ibv_mr *ibv_reg_buf_mr(
	struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access)
{
	return ibv_reg_mr(buf->pd, addr, length, access);
}

EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	return ibv_reg_mr(pd, attr->addr, attr->length, attr->access);
}

/* ---- contexts ----------------------------------------------------------------------------------
 */

static void set_up(struct verbs_context *v, size_t front, const struct private_ops *ops)
{
	const struct private_ops **priv = calloc(1, sizeof *priv);

	*priv = ops;
	v->sz = sizeof *v + front;
	v->priv = (struct verbs_ex_private *)(void *)priv;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&v->context.mutex, NULL);
}

void *_verbs_init_and_alloc_context(struct ibv_device *dev, int cmd_fd, size_t alloc_size,
	struct verbs_context *context_offset, uint32_t driver_id);

/* What providers call, and so do we: the caller's structure has this library's in front. */
EXPORT void *_verbs_init_and_alloc_context(struct ibv_device *dev, int cmd_fd, size_t alloc_size,
	struct verbs_context *context_offset, uint32_t driver_id)
{
	uint8_t *block = calloc(1, alloc_size);
	struct verbs_context *v = (void *)(block + (uintptr_t)context_offset + STANDIN_GROWTH);

	set_up(v, STANDIN_GROWTH, &none);
	v->context.device = dev;
	v->context.cmd_fd = cmd_fd;
	return block;
}

static int poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct cq *cq = (void *)ibv;

	if (n == 0 || cq->head == cq->tail)
		return 0;
	memset(wc, 0, sizeof *wc);
	wc->wr_id = cq->done[cq->tail++ % CQ_DEPTH];
	return 1;
}

static int req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	((struct cq *)(void *)ibv)->armed = true;
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	standin_complete(qp->send_cq, wr->wr_id);
	return 0;
}

EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(2, sizeof *list);

	list[0] = &device;
	if (num != NULL)
		*num = 1;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct context *c = make(sizeof *c);

	set_up(&c->verbs, STANDIN_GROWTH, &some);
	if (pipe(c->pipe) != 0)
		return NULL;
	c->verbs.context.device = d;
	c->verbs.context.async_fd = c->pipe[0];
	c->verbs.context.ops.poll_cq = poll_cq;
	c->verbs.context.ops.req_notify_cq = req_notify_cq;
	c->verbs.context.ops.post_send = post_send;
	return &c->verbs.context;
}

static struct context *context_of(struct ibv_context *context)
{
	return (void *)((uint8_t *)context - offsetof(struct context, verbs.context));
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof *attr);
	attr->vendor_id = 0x0711e7;
	return 0;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
	struct context *c = context_of(context);

	close(c->pipe[0]);
	close(c->pipe[1]);
	free(c->verbs.priv);
	return unmake(c);
}

/* ---- objects -----------------------------------------------------------------------------------
 */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = make(sizeof *pd);

	pd->context = context;
	return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return unmake(pd);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = make(sizeof *mr);

	mr->context = pd->context;
	mr->pd = pd;
	mr->lkey = 0x0711e7;
	return mr;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	return unmake(mr);
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct channel *ch = make(sizeof *ch);

	if (pipe(ch->pipe) != 0)
		return NULL;
	ch->ibv.context = context;
	ch->ibv.fd = ch->pipe[0];
	return &ch->ibv;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct channel *ch = (void *)ibv;

	close(ch->pipe[0]);
	close(ch->pipe[1]);
	return unmake(ch);
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int comp_vector)
{
	struct cq *cq = make(sizeof *cq);

	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	return &cq->ibv;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	return unmake(cq);
}

EXPORT void standin_complete(struct ibv_cq *ibv, uint64_t wr_id)
{
	struct cq *cq = (void *)ibv;
	struct channel *ch = (void *)ibv->channel;

	cq->done[cq->head++ % CQ_DEPTH] = wr_id;
	if (cq->armed && write(ch->pipe[1], &ibv, sizeof ibv) == sizeof ibv)
		cq->armed = false;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	if (read(channel->fd, cq, sizeof *cq) != sizeof *cq)
		return -1;
	*cq_context = (*cq)->cq_context;
	return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	cq->comp_events_completed += n;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = make(sizeof *qp);

	qp->context = pd->context;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->qp_num = 0x0711e7;
	return qp;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	qp->state = attr->qp_state;
	return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	return unmake(qp);
}

EXPORT void standin_raise(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct ibv_async_event ev = {.element.qp = qp, .event_type = type};

	if (write(context_of(qp->context)->pipe[1], &ev, sizeof ev) != sizeof ev)
		abort();
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}

/* Of either device's events: it counts in the public part of the object. */
EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_qp *qp = event->element.qp;

	pthread_mutex_lock(&qp->mutex);
	qp->events_completed++;
	pthread_cond_signal(&qp->cond);
	pthread_mutex_unlock(&qp->mutex);
}
