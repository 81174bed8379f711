/* SPDX-License-Identifier: BSD-2-Clause */
/** @file call.h A command in progress, and the state of the device. */
#ifndef PROVIDER_CM_CALL_H
#define PROVIDER_CM_CALL_H

#include "provider/cm/id.h"
#include "provider/cm/ucma.h"

struct ucma {
	struct rnic *rnic;
	uint64_t guid;    /**< network byte order */
	unsigned forks;   /**< of the process, when it began: in a child nothing may be used */
	ucma_gid_fn *gid; /**< or NULL */
	void *gid_ctx;
	/**
	 * Of channels, ids and events. Callbacks take it inside the engine's lock. So it must not
	 * be held in calls of rnic_ functions.
	 */
	pthread_mutex_t lock;
	struct ucma_channels channels;
	struct ucma_channel_list due; /**< channels to be told of when the engine is free */
	struct engine_doorbell tell;  /**< does it */
	struct ucma_id_table ids;
	LIST_HEAD(, ucma_multicast) multicasts; /**< of all ids */
	uint32_t next_multicast;                /**< the number of the next one, if it is free */
	uint64_t left;                          /**< when exit() began, by exit_clock(); or 0 */
};

/** The payload of any command, zeroed beyond the program's bytes. */
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
	struct rdma_ucm_join_ip_mcast join_ip_multicast;
	struct rdma_ucm_join_mcast join_multicast;
	struct rdma_ucm_destroy_id leave_multicast;
	uint8_t bytes[512];
};

struct ucma_call {
	struct ucma *u;
	struct ucma_channel *ch;
	struct ucma_id *id; /**< held, for the commands that name one */
	union ucma_command cmd;
	void *response;   /**< the program's memory for the answer; not NULL if there is one */
	uint16_t out;     /**< size of response */
	int cancel_state; /**< of the thread, which cannot be cancelled meanwhile */
	bool asleep;      /**< it counts among those that sleep on the channel */
};

/** True in a child after fork(). */
bool ucma_is_orphan(const struct ucma *u);

/** Executes a command. Called without the ucma's lock. @return 0 or negative errno. */
typedef int ucma_handler(struct ucma_call *c);

/** Copy the answer to the program, cut to its size. */
void ucma_respond(const struct ucma_call *c, const void *answer, size_t size);

/** The present state of the call's id. */
enum ucma_id_state ucma_state(const struct ucma_call *c);

/** ucma_id_expect() for the call's id. */
int ucma_expect(const struct ucma_call *c, unsigned answers, unsigned ends);

/**
 * Move the call's id from one state to the next.
 * @return 0, -EINVAL: it is not in state @p from.
 */
int ucma_step(const struct ucma_call *c, enum ucma_id_state from, enum ucma_id_state to);

#endif
