/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public entry points of libibverbs: objects of our device go to the provider, all others to
 * the real library. Inline functions of verbs.h reach the provider by the tables in our contexts,
 * and are not here.
 *
 * Only current symbol versions are provided. A program linked before libibverbs 1.1 (2007) cannot
 * use our device.
 */
#include "provider/shim/buf.h"
#include "provider/shim/forward.h"
#include "provider/shim/newer.h"

#include <pthread.h>
#include <stdlib.h>

#undef ibv_query_port

/* ---- the device list --------------------------------------------------------------------- */

/*
 * The list is one malloc()ed block, because some programs free() it. So our data about it is kept
 * elsewhere, by its address.
 */
struct listing {
	struct ibv_device **list, **real;
	struct listing *next;
};

static struct listing *shim_listings;
static pthread_mutex_t shim_listings_lock = PTHREAD_MUTEX_INITIALIZER;

void shim_forget_locks(void)
{
	pthread_mutex_init(&shim_listings_lock, NULL);
	buf_forget_locks();
}

static bool shim_remember(struct ibv_device **list, struct ibv_device **real)
{
	struct listing *l;

	pthread_mutex_lock(&shim_listings_lock);
	for (l = shim_listings; l && l->list != list; l = l->next)
		;
	if (!l) {
		l = calloc(1, sizeof *l);
		if (l) {
			l->next = shim_listings;
			shim_listings = l;
		}
	}
	if (l) {
		l->list = list;
		l->real = real;
	}
	pthread_mutex_unlock(&shim_listings_lock);
	return l != NULL;
}

/** @return true if the list is one of ours. */
static bool shim_forget(struct ibv_device **list, struct ibv_device ***real)
{
	struct listing **p = &shim_listings;
	struct listing *l;

	pthread_mutex_lock(&shim_listings_lock);
	while (*p && (*p)->list != list)
		p = &(*p)->next;
	l = *p;
	if (l) {
		*p = l->next;
		*real = l->real;
	}
	pthread_mutex_unlock(&shim_listings_lock);
	free(l);
	return l != NULL;
}

static struct ibv_device **shim_join_list(struct ibv_device **real, int n, int *num)
{
	struct ibv_device **list = calloc((size_t)n + 2, sizeof *list);

	if (!list || !shim_remember(list, real)) {
		free(list);
		errno = ENOMEM;
		return NULL;
	}
	for (int i = 0; i < n; i++)
		list[i] = real[i];
	list[n] = shim_device();
	if (num)
		*num = n + 1;
	return list;
}

SHIM_EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	/*
	 * DPDK's mlx drivers list devices in rte_eal_init(), on a thread of the port's own, while
	 * the thread that starts us waits for it.
	 */
	const struct provider *p =
		shim_is_below(__builtin_return_address(0)) ? NULL : shim_provider();
	__typeof__(&ibv_get_device_list) real = REAL(ibv_get_device_list);
	struct ibv_device **theirs, **list;
	int n = 0;

	if (!p) {
		if (real)
			return real(num);
		errno = ENOSYS;
		return NULL;
	}
	p->list();
	theirs = !real ? NULL : real(&n);
	list = shim_join_list(theirs, !theirs ? 0 : n, num);
	if (!list && theirs)
		REAL(ibv_free_device_list)(theirs);
	return list;
}

SHIM_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	struct ibv_device **theirs = list;
	bool ours = shim_forget(list, &theirs);
	__typeof__(&ibv_free_device_list) real = REAL(ibv_free_device_list);

	if (theirs && real)
		real(theirs);
	if (ours)
		free(list);
}

SHIM_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	__typeof__(&ibv_get_device_guid) real;

	if (device && device == shim_device())
		return shim_running()->get_device_guid(device);
	real = REAL(ibv_get_device_guid);
	return !real ? 0 : real(device);
}

SHIM_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	__typeof__(&ibv_get_device_index) real;

	/* The kernel knows none for ours. */
	if (device && device == shim_device())
		return -1;
	real = REAL(ibv_get_device_index);
	return !real ? -1 : real(device);
}

SHIM_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	__typeof__(&ibv_open_device) real;

	if (device && device == shim_device()) {
		if (!shim_is_orphan())
			return FORWARD_CALL(struct ibv_context *, open_device, (device));
		forward_gone();
		return NULL;
	}
	real = REAL(ibv_open_device);
	if (real)
		return real(device);
	errno = ENOSYS;
	return NULL;
}

/* ---- context ------------------------------------------------------------------------------ */

/* It never fails, not even in a child: its parent has the device open as before. */
SHIM_EXPORT int ibv_close_device(struct ibv_context *context)
{
	__typeof__(&ibv_close_device) real;

	if (forward_owns(context))
		return shim_is_orphan() ? 0 : FORWARD_CALL(int, close_device, (context));
	real = REAL(ibv_close_device);
	if (real)
		return real(context);
	errno = ENOSYS;
	return -1;
}

FORWARD_WAIT(get_async_event, context,
	(struct ibv_context * context, struct ibv_async_event *event), (context, event))
FORWARD_INT(query_device, context, (struct ibv_context * context, struct ibv_device_attr *attr),
	(context, attr))
FORWARD_INT(query_port, context,
	(struct ibv_context * context, uint8_t port_num, struct _compat_ibv_port_attr *attr),
	(context, port_num, attr))
FORWARD_MINUS(query_gid, context,
	(struct ibv_context * context, uint8_t port_num, int index, union ibv_gid *gid),
	(context, port_num, index, gid))
FORWARD_MINUS(query_pkey, context,
	(struct ibv_context * context, uint8_t port_num, int index, __be16 *pkey),
	(context, port_num, index, pkey))
FORWARD_MINUS(get_pkey_index, context,
	(struct ibv_context * context, uint8_t port_num, __be16 pkey), (context, port_num, pkey))

SHIM_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
	uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	__typeof__(&_ibv_query_gid_ex) real;

	if (forward_owns(context))
		return shim_is_orphan() ? forward_gone()
					: shim_running()->query_gid_ex(context, port_num, gid_index,
						  entry, flags, entry_size);
	real = REAL(_ibv_query_gid_ex);
	return !real ? ENOSYS : real(context, port_num, gid_index, entry, flags, entry_size);
}

SHIM_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
	size_t max_entries, uint32_t flags, size_t entry_size)
{
	__typeof__(&_ibv_query_gid_table) real;

	if (forward_owns(context))
		return shim_is_orphan() ? -forward_gone()
					: shim_running()->query_gid_table(
						  context, entries, max_entries, flags, entry_size);
	real = REAL(_ibv_query_gid_table);
	return !real ? -ENOSYS : real(context, entries, max_entries, flags, entry_size);
}

FORWARD_AS(int, errno, shim_query_port_speed, "ibv_query_port_speed", query_port_speed, context,
	(struct ibv_context * context, uint32_t port_num, uint64_t *speed),
	(context, port_num, speed))

/* Private to rdma-core: its own ibv_devinfo -v calls it. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type);

SHIM_EXPORT int ibv_query_gid_type(
	struct ibv_context *context, uint8_t port_num, unsigned index, int *type)
{
	__typeof__(&ibv_query_gid_type) real;

	if (forward_owns(context)) {
		if (!shim_is_orphan())
			return shim_running()->query_gid_type(context, port_num, index, type);
		forward_gone();
		return -1;
	}
	real = REAL(ibv_query_gid_type);
	if (real)
		return real(context, port_num, index, type);
	errno = ENOSYS;
	return -1;
}

/* ---- protection domains and memory -------------------------------------------------------- */

FORWARD_POINTER(ibv_pd, alloc_pd, context, (struct ibv_context * context), (context))
FORWARD_END(dealloc_pd, pd->context, (struct ibv_pd * pd), (pd))
FORWARD_INT(rereg_mr, mr->context,
	(struct ibv_mr * mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access),
	(mr, flags, pd, addr, length, access))
FORWARD_END(dereg_mr, mr->context, (struct ibv_mr * mr), (mr))

SHIM_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	__typeof__(&ibv_import_pd) real = NULL;

	if (forward_owns(context))
		errno = EOPNOTSUPP;
	else if ((real = REAL(ibv_import_pd)) == NULL)
		errno = ENOSYS;
	return !real ? NULL : real(context, pd_handle);
}

/* ---- completion queues --------------------------------------------------------------------- */

FORWARD_POINTER(
	ibv_comp_channel, create_comp_channel, context, (struct ibv_context * context), (context))
FORWARD_END(destroy_comp_channel, channel->context, (struct ibv_comp_channel * channel), (channel))
FORWARD_WAIT(get_cq_event, channel->context,
	(struct ibv_comp_channel * channel, struct ibv_cq **cq, void **cq_context),
	(channel, cq, cq_context))
FORWARD_POINTER(ibv_cq, create_cq, context,
	(struct ibv_context * context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
		int comp_vector),
	(context, cqe, cq_context, channel, comp_vector))
FORWARD_INT(resize_cq, cq->context, (struct ibv_cq * cq, int cqe), (cq, cqe))
FORWARD_END(destroy_cq, cq->context, (struct ibv_cq * cq), (cq))

/* ---- shared receive queues ----------------------------------------------------------------- */

FORWARD_POINTER(ibv_srq, create_srq, pd->context,
	(struct ibv_pd * pd, struct ibv_srq_init_attr *attr), (pd, attr))
FORWARD_INT(modify_srq, srq->context, (struct ibv_srq * srq, struct ibv_srq_attr *attr, int mask),
	(srq, attr, mask))
FORWARD_INT(query_srq, srq->context, (struct ibv_srq * srq, struct ibv_srq_attr *attr), (srq, attr))
FORWARD_END(destroy_srq, srq->context, (struct ibv_srq * srq), (srq))

/* ---- queue pairs ---------------------------------------------------------------------------- */

FORWARD_POINTER(ibv_qp, create_qp, pd->context, (struct ibv_pd * pd, struct ibv_qp_init_attr *attr),
	(pd, attr))
FORWARD_INT(modify_qp, qp->context, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
	(qp, attr, mask))
FORWARD_INT(query_qp, qp->context,
	(struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
	(qp, attr, mask, init))
FORWARD(int, 0, query_qp_data_in_order, qp->context,
	(struct ibv_qp * qp, enum ibv_wr_opcode op, uint32_t flags), (qp, op, flags))
FORWARD_END(destroy_qp, qp->context, (struct ibv_qp * qp), (qp))
FORWARD_POINTER(ibv_qp_ex, qp_to_qp_ex, qp->context, (struct ibv_qp * qp), (qp))

/* ---- address handles ------------------------------------------------------------------------- */

FORWARD_POINTER(
	ibv_ah, create_ah, pd->context, (struct ibv_pd * pd, struct ibv_ah_attr *attr), (pd, attr))
FORWARD_POINTER(ibv_ah, create_ah_from_wc, pd->context,
	(struct ibv_pd * pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num),
	(pd, wc, grh, port_num))
FORWARD_MINUS(init_ah_from_wc, context,
	(struct ibv_context * context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
		struct ibv_ah_attr *attr),
	(context, port_num, wc, grh, attr))
FORWARD_END(destroy_ah, ah->context, (struct ibv_ah * ah), (ah))

/* ---- multicast groups ------------------------------------------------------------------------ */

FORWARD_INT(attach_mcast, qp->context, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid),
	(qp, gid, lid))
FORWARD_INT(detach_mcast, qp->context, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid),
	(qp, gid, lid))

/* ---- what iWARP has not ---------------------------------------------------------------------- */
REFUSE(int, errno, resolve_eth_l2_from_gid, context,
	(struct ibv_context * context, struct ibv_ah_attr *attr, uint8_t mac[6], uint16_t *vid),
	(context, attr, mac, vid))
REFUSE(int, errno, set_ece, qp->context, (struct ibv_qp * qp, struct ibv_ece *ece), (qp, ece))
REFUSE(int, errno, query_ece, qp->context, (struct ibv_qp * qp, struct ibv_ece *ece), (qp, ece))
REFUSE(struct ibv_dm *, NULL, import_dm, context,
	(struct ibv_context * context, uint32_t dm_handle), (context, dm_handle))
REFUSE_AS(struct newer_object *, NULL, shim_alloc_dmah, "ibv_alloc_dmah", context,
	(struct ibv_context * context, void *attr), (context, attr))
REFUSE_AS(int, errno, shim_query_comp_cntr_caps, "_ibv_query_comp_cntr_caps", context,
	(struct ibv_context * context, void *caps, size_t caps_size), (context, caps, caps_size))
REFUSE_AS(struct newer_object *, NULL, shim_create_comp_cntr, "ibv_create_comp_cntr", context,
	(struct ibv_context * context, void *attr), (context, attr))
REFUSE_AS(int, errno, shim_qp_attach_comp_cntr, "ibv_qp_attach_comp_cntr", qp->context,
	(struct ibv_qp * qp, struct newer_object *cntr, void *attr), (qp, cntr, attr))
