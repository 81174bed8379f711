/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file call.h
 * One command in progress, and the state of the device it works on.
 */
#ifndef PROVIDER_CM_CALL_H
#define PROVIDER_CM_CALL_H

#include "provider/cm/id.h"
#include "provider/cm/ucma.h"

struct ucma {
	struct rnic *rnic;
	uint64_t guid; /**< network byte order */
	pid_t pid;     /**< a child after fork() must not touch anything */
	/**
	 * Of the channels, ids and events. Taken inside the engine's lock, by the callbacks, and so
	 * never held while calling an rnic_ function.
	 */
	pthread_mutex_t lock;
	struct ucma_channels channels;
	struct ucma_id_table ids;
};

/** The payload of any command, zero beyond what the program gave. */
union ucma_command {
	struct rdma_ucm_create_id create_id;
	struct rdma_ucm_destroy_id destroy_id;
	struct rdma_ucm_bind_ip bind_ip;
	struct rdma_ucm_bind bind;
	struct rdma_ucm_resolve_ip resolve_ip;
	struct rdma_ucm_resolve_addr resolve_addr;
	struct rdma_ucm_resolve_route resolve_route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr init_qp_attr;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_get_event get_event;
	struct rdma_ucm_set_option set_option;
	struct rdma_ucm_migrate_id migrate_id;
	uint8_t bytes[512];
};

struct ucma_call {
	struct ucma *u;
	struct ucma_channel *ch;
	struct ucma_id *id; /**< held, for the commands that name one */
	union ucma_command cmd;
	void *response;   /**< where the program wants the answer; not NULL if it has one */
	uint16_t out;     /**< and how many bytes of it at most */
	int cancel_state; /**< of the thread; cancellation is off meanwhile */
};

/** True in a child after fork(). */
bool ucma_is_orphan(const struct ucma *u);

/** Carries a command out. Without the ucma's lock. @return 0 or negative errno. */
typedef int ucma_handler(struct ucma_call *c);

/** Give the program its answer, as much of it as it has room for. */
void ucma_respond(const struct ucma_call *c, const void *answer, size_t size);

/** The state of the call's id now. */
enum ucma_id_state ucma_state(const struct ucma_call *c);

/**
 * Move the call's id from one state to the next.
 * @return 0, -EINVAL: it is not in state @p from.
 */
int ucma_step(const struct ucma_call *c, enum ucma_id_state from, enum ucma_id_state to);

#endif
