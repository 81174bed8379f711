/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/exit_wait.h"
#include "provider/verbs/objects.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How much larger than ours the running library's verbs_context may be; it has grown by 48 bytes
 * from version 44 to 64.
 */
#define VERBS_CONTEXT_GROWTH 2048

void device_init(struct device *d, const struct device_source *source, const char *name,
	const struct provider_host *host)
{
	d->source = source;
	d->host = host;
	pthread_mutex_init(&d->lock, NULL);
	LIST_INIT(&d->contexts);
	d->ibv.node_type = IBV_NODE_RNIC;
	d->ibv.transport_type = IBV_TRANSPORT_IWARP;
	device_set_name(d, name);
}

void device_set_name(struct device *d, const char *name)
{
	struct ibv_device *v = &d->ibv;

	snprintf(v->name, sizeof v->name, "%s", name);
	snprintf(v->dev_name, sizeof v->dev_name, "uverbs-%s", name);
	/* Neither path exists; programs that look there get "no such file". */
	snprintf(v->dev_path, sizeof v->dev_path, "/sys/class/infiniband_verbs/uverbs-%s", name);
	snprintf(v->ibdev_path, sizeof v->ibdev_path, "/sys/class/infiniband/%s", name);
}

void device_attach(struct device *d, struct stack *s)
{
	d->stack = s;
	d->rnic = stack_rnic(s);
	stack_mac(s, d->mac);
	rnic_set_event_handler(d->rnic, async_event, d);
	rnic_set_page_in(d->rnic, memory_page_in);
	atomic_store_explicit(&d->started, true, memory_order_release);
}

__be64 device_get_guid(struct ibv_device *device)
{
	return device_guid(OBJECT_OF(device, device));
}

/* ---- what iWARP, or this RNIC, does not have ---------------------------------------------- */

void device_has_no(struct device *d, const char *what)
{
	/* To the log, as programs say of it "failed" at best. */
	if (!atomic_exchange(&d->told, true))
		log_printf(rnic_log(d->rnic), LOG_LEVEL_WARNING,
			"the program asks for %s, which iWARP does not have: only reliable "
			"connections (RC); perhaps an option of the program chooses them",
			what);
}

static struct ibv_dm *device_no_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	return fail_null(EOPNOTSUPP);
}

static struct ibv_qp *device_no_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	return fail_null(EOPNOTSUPP);
}

static struct ibv_xrcd *device_no_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	if (context_use(context) == 0)
		device_has_no(device_of(context), "XRC domains");
	return fail_null(EOPNOTSUPP);
}

static int device_no_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	return EOPNOTSUPP;
}

static struct ibv_wq *device_no_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	return fail_null(EOPNOTSUPP);
}

static void device_fill_context_ops(struct ibv_context_ops *ops)
{
	ops->alloc_mw = mw_alloc;
	ops->bind_mw = post_bind_mw;
	ops->dealloc_mw = mw_dealloc;
	ops->poll_cq = cq_poll;
	ops->req_notify_cq = cq_request_notify;
	ops->post_srq_recv = post_srq_recv;
	ops->post_send = post_send;
	ops->post_recv = post_recv;
}

static void device_fill_extended_ops(struct verbs_context *v)
{
	v->query_port = query_port;
	v->advise_mr = mr_advise;
	v->alloc_null_mr = mr_alloc_null;
	v->alloc_dm = device_no_dm;
	v->alloc_parent_domain = parent_domain_alloc;
	v->alloc_td = td_alloc;
	v->dealloc_td = td_dealloc;
	v->query_rt_values = query_rt_values;
	v->modify_cq = cq_modify;
	v->create_wq = device_no_wq;
	v->create_cq_ex = cq_create_ex;
	v->query_device_ex = query_device_ex;
	v->open_qp = device_no_open_qp;
	v->create_qp_ex = qp_create_ex;
	v->get_srq_num = device_no_srq_num;
	v->create_srq_ex = srq_create_ex;
	v->open_xrcd = device_no_xrcd;
}

/* ---- contexts ------------------------------------------------------------------------------ */

typedef void *init_and_alloc_fn(struct ibv_device *, int cmd_fd, size_t alloc_size,
	struct verbs_context *context_offset, uint32_t driver_id);

/*
 * Let the running library allocate the context, so that its private part in front holds that
 * library's own answers (EOPNOTSUPP) for verbs that we do not have or do not know yet. How large
 * the front is, is found: `sz` stands immediately before ibv_context and tells it.
 */
static struct verbs_context *device_library_context(struct device *d, void **block)
{
	size_t known = sizeof(struct verbs_context);
	size_t room = known + VERBS_CONTEXT_GROWTH + sizeof(struct context);
	init_and_alloc_fn *alloc =
		(init_and_alloc_fn *)d->host->real_verbs("_verbs_init_and_alloc_context");
	uint8_t *b = !alloc ? NULL : alloc(&d->ibv, -1, room, NULL, 0);

	*block = b;
	for (size_t size = known; b && size <= known + VERBS_CONTEXT_GROWTH; size += 8) {
		uint8_t *context = b + size - sizeof(struct ibv_context);
		size_t told;

		memcpy(&told, context - sizeof told, sizeof told);
		if (told == size)
			return (void *)(context - offsetof(struct verbs_context, context));
	}
	free(b);
	return NULL;
}

/* A library without that function: a plain one, in which the unknown verbs are NULL. */
static struct verbs_context *device_plain_context(struct device *d, void **block)
{
	struct verbs_context *v = calloc(1, sizeof *v + sizeof(struct context));

	*block = v;
	if (!v)
		return NULL;
	v->sz = sizeof *v;
	v->context.device = &d->ibv;
	v->context.cmd_fd = -1;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&v->context.mutex, NULL);
	return v;
}

/** What is ours in it. @return 0, or a negative errno. */
static int device_context_init(
	struct context *c, struct device *d, struct verbs_context *v, void *block)
{
	int rc = mailbox_open(&c->async);

	if (rc != 0)
		return rc;
	c->device = d;
	c->block = block;
	c->head = v;
	STAILQ_INIT(&c->events);
	LIST_INIT(&c->objects);
	pthread_mutex_init(&c->objects_lock, NULL);
	atomic_init(&c->refs, 1);
	c->ibv.async_fd = c->async.fd;
	c->ibv.num_comp_vectors = 1;
	device_fill_context_ops(&c->ibv.ops);
	device_fill_extended_ops(v);
	return 0;
}

struct ibv_context *device_open(struct ibv_device *device)
{
	struct device *d = OBJECT_OF(device, device);
	struct verbs_context *v;
	struct context *c;
	void *block;
	int rc;

	v = device_library_context(d, &block);
	if (!v)
		v = device_plain_context(d, &block);
	if (!v)
		return fail_null(ENOMEM);
	c = context_of(&v->context);
	rc = device_context_init(c, d, v, block);
	if (rc != 0) {
		free(v->priv);
		free(block);
		return fail_null(-rc);
	}
	pthread_mutex_lock(&d->lock);
	LIST_INSERT_HEAD(&d->contexts, c, link);
	pthread_mutex_unlock(&d->lock);
	if (atomic_load(&d->started) && stack_has_left(d->stack))
		mailbox_leave_to_exit(&c->async);
	return &c->ibv;
}

/* ---- close --------------------------------------------------------------------------------- */

/* As destroyed: its peer sees the end. As one in ERROR: what is posted later is flushed. */
static void device_qp_end(struct qp *qp)
{
	rnic_qp_detach_all(qp->rnic);
	rnic_qp_modify(qp->rnic, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_RESET});
	rnic_qp_modify(qp->rnic, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_ERROR});
}

static void device_object_end(struct object *o)
{
	switch (o->kind) {
	case OBJECT_QP:
		device_qp_end(container_of(o, struct qp, object));
		break;
	case OBJECT_MW:
		rnic_mw_revoke(container_of(o, struct mw, object)->rnic);
		break;
	case OBJECT_MR:
		rnic_mr_revoke(container_of(o, struct mr, object)->rnic);
		break;
	case OBJECT_CHANNEL:
		mailbox_end(&container_of(o, struct channel, object)->box);
		break;
	default:
		break;
	}
}

/*
 * Not destroyed: other threads may be inside a verb with them, and what the kernel's device gives a
 * program stays in its memory, too. But peers do not reach them any more. QPs first, which could
 * bind windows yet.
 */
static void device_end_objects(struct context *c)
{
	struct object *o;

	pthread_mutex_lock(&c->objects_lock);
	for (enum object_kind kind = OBJECT_QP; kind < OBJECT_OTHER; kind++)
		LIST_FOREACH (o, &c->objects, link)
			if (o->kind == kind)
				device_object_end(o);
	pthread_mutex_unlock(&c->objects_lock);
}

static void device_context_leave(struct context *c)
{
	struct object *o;

	if (!atomic_load(&c->closed))
		mailbox_leave_to_exit(&c->async);
	if (!exit_lock(&c->objects_lock))
		return;
	LIST_FOREACH (o, &c->objects, link)
		if (o->kind == OBJECT_CHANNEL)
			mailbox_leave_to_exit(&container_of(o, struct channel, object)->box);
	pthread_mutex_unlock(&c->objects_lock);
}

void device_leave(struct device *d)
{
	struct context *c;

	if (!exit_lock(&d->lock))
		return;
	LIST_FOREACH (c, &d->contexts, link)
		device_context_leave(c);
	pthread_mutex_unlock(&d->lock);
}

int device_close(struct ibv_context *context)
{
	struct context *c = context_of(context);

	if (atomic_exchange(&c->closed, true))
		return 0;
	async_end(c);
	device_end_objects(c);
	context_put(context);
	return 0;
}
