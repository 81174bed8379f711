/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles, for UD queue pairs (docs/ud.md). */
#include "provider/verbs/objects.h"

#include <stdlib.h>
#include <string.h>

/* InfiniBand's GRH, by ibv_wc: the traffic class, as in IPv6. */
#define AH_TCLASS_SHIFT 20
#define AH_FLOW_MASK    0xfffffu

/** @return 0; -EINVAL: no such GID of ours, or not a host's address of the same family. */
static int ah_translate(const struct device *d, const struct ibv_ah_attr *a, struct rnic_ud_to *to)
{
	const struct ibv_global_route *grh = &a->grh;

	/* As for RoCE, programs must give a GID index. */
	if (a->port_num != 1 || a->is_global == 0 ||
		gid_address(d, grh->sgid_index, &to->local) != 0)
		return -EINVAL;
	memcpy(to->remote.b, grh->dgid.raw, sizeof to->remote.b);
	to->tos = grh->traffic_class;
	/* Programs leave it 0, or 1 for "this subnet". */
	to->ttl = grh->hop_limit > 1 ? grh->hop_limit : 0;
	if (ip_addr_is_any(&to->remote) || ip_addr_is_v4(&to->remote) != ip_addr_is_v4(&to->local))
		return -EINVAL;
	return 0;
}

struct ibv_ah *ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct device *d = device_of(pd->context);
	struct rnic_ud_to to = {.ttl = 0};
	struct ah *ah;
	int rc = 0;

	if (context_is_closed(pd->context))
		rc = -ENODEV;
	else if (rnic_ud_max_message(d->rnic) == 0)
		rc = -EOPNOTSUPP;
	else
		rc = ah_translate(d, attr, &to);
	if (rc != 0)
		return fail_null(-rc);
	ah = atomic_fetch_add(&d->ahs, 1) < AH_MAX ? calloc(1, sizeof *ah) : NULL;
	if (!ah) {
		atomic_fetch_sub(&d->ahs, 1);
		return fail_null(ENOMEM);
	}
	ah->to = to;
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	pd_hold(pd);
	context_add(pd->context, &ah->object, OBJECT_OTHER);
	rnic_ud_prepare(d->rnic, &to.remote);
	return &ah->ibv;
}

int ah_destroy(struct ibv_ah *ibv)
{
	struct ibv_context *context = ibv->context;
	struct ah *ah = OBJECT_OF(ah, ibv);

	context_withdraw(context, &ah->object);
	atomic_fetch_sub(&device_of(context)->ahs, 1);
	pd_put(ibv->pd);
	free(ah);
	context_put(context);
	return 0;
}

int ah_init_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
	struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	const struct device *d = device_of(context);
	uint32_t flow = be32toh(grh->version_tclass_flow);
	struct ip_addr own;
	int gid;

	errno = EINVAL;
	if ((wc->wc_flags & IBV_WC_GRH) == 0)
		return -1;
	memset(attr, 0, sizeof *attr);
	attr->port_num = port_num;
	attr->is_global = 1;
	attr->grh.dgid = grh->sgid;
	attr->grh.traffic_class = (uint8_t)(flow >> AH_TCLASS_SHIFT);
	attr->grh.flow_label = flow & AH_FLOW_MASK;
	attr->grh.hop_limit = 0xff;
	memcpy(own.b, grh->dgid.raw, sizeof own.b);
	gid = gid_find(d, &own);
	if (gid < 0)
		return -1;
	attr->grh.sgid_index = (uint8_t)gid;
	return 0;
}

struct ibv_ah *ah_create_from_wc(
	struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	return ah_init_from_wc(pd->context, port_num, wc, grh, &attr) == 0 ? ah_create(pd, &attr)
									   : NULL;
}
