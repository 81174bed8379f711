/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of UD queue pairs (docs/ud.md). A GID of a group is its address, as of peers. */
#include "provider/verbs/objects.h"

#include <string.h>

/* The LID is of InfiniBand's links. */
static int mcast_change(struct ibv_qp *ibv, const union ibv_gid *gid,
	int (*change)(struct rnic_qp *qp, const struct ip_addr *group))
{
	struct ip_addr group;

	if (context_is_closed(ibv->context))
		return fail_errno(-ENODEV);
	if (rnic_ud_max_message(device_of(ibv->context)->rnic) == 0)
		return fail_errno(-EOPNOTSUPP);
	memcpy(group.b, gid->raw, sizeof group.b);
	return fail_errno(change(qp_of(ibv)->rnic, &group));
}

int mcast_attach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return mcast_change(qp, gid, rnic_qp_attach);
}

int mcast_detach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return mcast_change(qp, gid, rnic_qp_detach);
}
