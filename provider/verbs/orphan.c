/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs of our tables in a child of a process that had started the stack. All other verbs are
 * stopped by the preloaded library, and those of the data path check by themselves. Also the
 * child's own device, if the stack was not started.
 */
#include "provider/verbs/objects.h"

#include <errno.h>

#define NO_POINTER(type, name, ...)    \
	static type *name(__VA_ARGS__) \
	{                              \
		errno = ENODEV;        \
		return NULL;           \
	}
#define NO_INT(name, ...)              \
	static int name(__VA_ARGS__)   \
	{                              \
		return errno = ENODEV; \
	}

NO_POINTER(struct ibv_mw, no_alloc_mw, struct ibv_pd *pd, enum ibv_mw_type type)
NO_POINTER(struct ibv_mr, no_alloc_null_mr, struct ibv_pd *pd)
NO_POINTER(struct ibv_td, no_alloc_td, struct ibv_context *context, struct ibv_td_init_attr *attr)
NO_POINTER(struct ibv_pd, no_alloc_parent_domain, struct ibv_context *context,
	struct ibv_parent_domain_init_attr *attr)
NO_POINTER(struct ibv_cq_ex, no_create_cq_ex, struct ibv_context *context,
	struct ibv_cq_init_attr_ex *attr)
NO_POINTER(struct ibv_qp, no_create_qp_ex, struct ibv_context *context,
	struct ibv_qp_init_attr_ex *attr)
NO_POINTER(struct ibv_srq, no_create_srq_ex, struct ibv_context *context,
	struct ibv_srq_init_attr_ex *attr)
NO_INT(no_dealloc_mw, struct ibv_mw *mw)
NO_INT(no_dealloc_td, struct ibv_td *td)
NO_INT(no_advise_mr, struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	struct ibv_sge *sg_list, uint32_t num_sge)
NO_INT(no_modify_cq, struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
NO_INT(no_query_device_ex, struct ibv_context *context, const struct ibv_query_device_ex_input *in,
	struct ibv_device_attr_ex *attr, size_t size)
NO_INT(no_query_rt_values, struct ibv_context *context, struct ibv_values_ex *values)
NO_INT(no_query_port, struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
	size_t size)

static void disown(struct context *c)
{
	struct verbs_context *v = c->head;

	c->ibv.ops.alloc_mw = no_alloc_mw;
	c->ibv.ops.dealloc_mw = no_dealloc_mw;
	v->alloc_null_mr = no_alloc_null_mr;
	v->alloc_td = no_alloc_td;
	v->dealloc_td = no_dealloc_td;
	v->alloc_parent_domain = no_alloc_parent_domain;
	v->create_cq_ex = no_create_cq_ex;
	v->create_qp_ex = no_create_qp_ex;
	v->create_srq_ex = no_create_srq_ex;
	v->advise_mr = no_advise_mr;
	v->modify_cq = no_modify_cq;
	v->query_device_ex = no_query_device_ex;
	v->query_port = no_query_port;
	v->query_rt_values = no_query_rt_values;
}

/*
 * Without the device's lock, which another thread of the parent may have held: there is no other
 * thread now, and the list is consistent at any moment of its changes.
 */
void device_orphan(struct device *d)
{
	struct context *c;

	atomic_store_explicit(&d->orphan, true, memory_order_relaxed);
	LIST_FOREACH (c, &d->contexts, link)
		disown(c);
}

/* Nothing was made with the contexts, or the stack would be there: they are locks and a mailbox. */
void device_inherit(struct device *d)
{
	struct context *c;

	pthread_mutex_init(&d->lock, NULL);
	LIST_FOREACH (c, &d->contexts, link) {
		pthread_mutex_init(&c->objects_lock, NULL);
		pthread_mutex_init(&c->ibv.mutex, NULL);
		if (mailbox_inherit(&c->async) != 0)
			atomic_store(&c->closed, true);
	}
}
