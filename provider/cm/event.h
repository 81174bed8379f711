/* SPDX-License-Identifier: BSD-2-Clause */
/** @file event.h Translates events of endpoints to those of rdma_get_cm_event(). */
#ifndef PROVIDER_CM_EVENT_H
#define PROVIDER_CM_EVENT_H

#include "engine/engine.h"
#include "provider/cm/call.h"

/** enum rdma_cm_event_type; <rdma/rdma_cma.h> and <rdma/rdma_user_cm.h> exclude each other. */
enum ucma_event_type {
	UCMA_EVENT_ADDR_RESOLVED,
	UCMA_EVENT_ADDR_ERROR,
	UCMA_EVENT_ROUTE_RESOLVED,
	UCMA_EVENT_ROUTE_ERROR,
	UCMA_EVENT_CONNECT_REQUEST,
	UCMA_EVENT_CONNECT_RESPONSE,
	UCMA_EVENT_CONNECT_ERROR,
	UCMA_EVENT_UNREACHABLE,
	UCMA_EVENT_REJECTED,
	UCMA_EVENT_ESTABLISHED,
	UCMA_EVENT_DISCONNECTED,
	UCMA_EVENT_DEVICE_REMOVAL,
	UCMA_EVENT_MULTICAST_JOIN,
};

/** The callback of all endpoints. The context is the struct ucma_id. */
rnic_ep_event_fn ucma_on_ep_event;

/** Set what @p ev, NULL: nothing, says of @p id. With the ucma's lock. @return @p ev */
struct ucma_event *ucma_event_begin(
	struct ucma_event *ev, struct ucma_id *id, enum ucma_event_type type);

/** Queue an event without parameters. Takes the ucma's lock. @return 0, -ENOMEM. */
int ucma_event_post(struct ucma_id *id, enum ucma_event_type type);

/**
 * Tell of events that endpoints have brought: serve() of the ucma's doorbell, when the engine is
 * free. Else the program would be woken to wait for it in its next command.
 */
void ucma_tell_due(struct engine_doorbell *tell);

ucma_handler ucma_get_event;

#endif
