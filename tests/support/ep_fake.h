/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ep_fake.h
 * A double of rnic/ep.h and of the engine functions that it needs. It connects nothing, records
 * calls, and emits events for the test.
 */
#ifndef SUPPORT_EP_FAKE_H
#define SUPPORT_EP_FAKE_H

#include "rnic/ep.h"

#define EP_FAKE_QP_NUM 17

struct ep_fake {
	unsigned live;            /**< endpoints that exist */
	int fail;                 /**< the error of the next call that can fail, once */
	struct rnic_ep *last;     /**< created or connected last */
	struct ip_endpoint bound; /**< by the last bind */
	bool reuse, v6only;
	unsigned backlog;
	unsigned connects, accepts, rejects, disconnects, listens;
	struct rnic_conn_param param; /**< of the last connect or accept; private data is below */
	uint8_t private_data[512];
	uint16_t private_len;
	uint64_t patience;                    /**< of the last resolve */
	bool resolve_at_once;                 /**< emit ADDR_RESOLVED inside the call */
	bool establish_at_once;               /**< emit ESTABLISHED inside accept */
	bool has_ud;                          /**< there are UD QPs */
	unsigned uds;                         /**< endpoints for them that were created */
	unsigned joined;                      /**< groups, by all */
	struct ip_addr group;                 /**< of the last join or leave */
	uint8_t group_ttl;                    /**< the most that a message to a group has */
	_Atomic unsigned drives, handed_over; /**< of the engine */
	void (*on_hand_over)(void);           /**< or NULL */
	void (*on_drive)(void);               /**< after what the round emits, or NULL */
	/** ADDR_RESOLVED, in the next round that is driven; or NULL */
	struct rnic_ep *_Atomic drive_emits;
	bool has_scopes; /**< link-local addresses have to say of which interface they are */
};

extern struct ep_fake ep_fake;

/** Reset the state. No endpoint may exist. */
void ep_fake_reset(void);

/** The struct rnic for the code under test. */
struct rnic *ep_fake_rnic(void);

/** Emit an event. Does nothing for an endpoint that is not adopted. */
void ep_fake_emit(struct rnic_ep *ep, enum rnic_ep_event_type type, int status);

/** Emit an event with data of the peer. */
void ep_fake_emit_data(struct rnic_ep *ep, enum rnic_ep_event_type type, const void *data,
	uint16_t len, uint16_t ird, uint16_t ord);

/** The answer to an endpoint of UD QPs. */
void ep_fake_emit_ud(struct rnic_ep *ep, uint32_t qp, uint32_t qkey, const struct ip_addr *local,
	const struct ip_addr *remote, const void *data, uint16_t len);

/** A connection request arrives at @p listener. @return the request's endpoint; NULL: refused. */
struct rnic_ep *ep_fake_request(struct rnic_ep *listener, const char *local, const char *remote,
	const void *data, uint16_t len);

#endif
