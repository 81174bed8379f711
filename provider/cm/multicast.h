/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file multicast.h
 * The commands that join and leave multicast groups, of ids of RDMA_PS_UDP (docs/ud.md). A join has
 * a number and an event of its own. It ends with its id at the latest.
 */
#ifndef PROVIDER_CM_MULTICAST_H
#define PROVIDER_CM_MULTICAST_H

#include "provider/cm/call.h"

/** A join, under the lock of the ucma. */
struct ucma_multicast {
	LIST_ENTRY(ucma_multicast) link, of_id;
	struct ucma_id *id;
	uint32_t number;
	uint64_t uid; /**< the program's */
	uint32_t events_reported;
	struct ip_addr group;
	bool member; /**< else it only sends */
};

ucma_handler ucma_join_ip_multicast, ucma_join_multicast, ucma_leave_multicast;

/** With the ucma's lock. @return NULL: no join has that number. */
struct ucma_multicast *ucma_multicast_find(const struct ucma *u, uint32_t number);

/** Is @p ev of @p m? */
bool ucma_multicast_has(const struct ucma_multicast *m, const struct ucma_event *ev);

/** Forget the joins of an id that ends, with the lock held. Its endpoint leaves the groups. */
void ucma_multicast_forget(struct ucma_id *id);

#endif
