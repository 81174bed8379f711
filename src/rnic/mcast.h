/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mcast.h
 * Private: the multicast groups of UD queue pairs (docs/ud.md). QPs are attached to a group by
 * verbs, and endpoints join it by rdma_cm. We are a member of it on the links where endpoints have
 * joined; if none has, on all links while a QP is attached.
 *
 * All but mcast_commit() under the engine's lock.
 */
#ifndef RNIC_MCAST_H
#define RNIC_MCAST_H

#include "rnic/rnic.h"
#include "ud/net.h"

#include <pthread.h>
#include <sys/queue.h>

struct rnic_qp;
struct ud_header;

#define MCAST_BUCKETS 64

/** A QP in a group. */
struct mcast_member {
	LIST_ENTRY(mcast_member) of_group, of_qp;
	struct mcast_group *group;
	struct rnic_qp *qp;
};

struct mcast_group {
	LIST_ENTRY(mcast_group) link;
	struct ip_addr addr;
	LIST_HEAD(, mcast_member) members;
	unsigned num_members;
	unsigned joins; /**< of endpoints */
	bool all_links; /**< joined for the members */
};

/** That an endpoint has joined a group, and where. */
struct mcast_joined {
	LIST_ENTRY(mcast_joined) link;
	struct mcast_group *group;
	struct ip_addr local;
};

LIST_HEAD(mcast_joined_list, mcast_joined);

/** Of an RNIC. */
struct mcast_table {
	/**
	 * From the entry of a QP to the host's answer, before the engine's lock: who attaches it to
	 * the same group meanwhile has to have the answer, too.
	 */
	pthread_mutex_t attaching;
	LIST_HEAD(, mcast_group) bucket[MCAST_BUCKETS];
	unsigned n;
};

/** An endpoint's: rnic_ep_join() and rnic_ep_leave(). @p local is one of our addresses. */
int mcast_join(struct rnic *r, struct mcast_joined_list *joined, const struct ip_addr *group,
	const struct ip_addr *local);
int mcast_leave(struct rnic *r, struct mcast_joined_list *joined, const struct ip_addr *group);
void mcast_leave_all(struct rnic *r, struct mcast_joined_list *joined);

/** Detach @p qp from all groups, if it is a UD QP. */
void mcast_detach_all(struct rnic_qp *qp);

/**
 * After the above, without the engine's lock: have the host do what was joined and left, which may
 * take long. As ud_net.settle().
 * @param group NULL: no matter which. @param local NULL: on all links.
 */
int mcast_commit(struct rnic *r, const struct ip_addr *group, const struct ip_addr *local);

/** A datagram came for the group @p path->local. */
void mcast_receive(struct rnic *r, const struct ud_path *path, const struct ud_header *h,
	const uint8_t *message);

#endif
