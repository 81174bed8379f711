/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file id.h
 * An rdma_cm id: the number that librdmacm knows, and the endpoint behind it.
 *
 * A command holds its id. So only one command works on an id at a time, and the id is not freed
 * meanwhile. Callbacks of endpoints do not hold it. They use its state and events, under the lock.
 */
#ifndef PROVIDER_CM_ID_H
#define PROVIDER_CM_ID_H

#include "provider/cm/channel.h"

#include <pthread.h>
#include <sys/socket.h>

struct ucma;

/** Size of librdmacm's table of ids (IDX_MAX_INDEX of its indexer.h). */
#define UCMA_MAX_IDS 65536

/** The Q_Key of RDMA_PS_UDP (the kernel's RDMA_UDP_QKEY). */
#define UCMA_UDP_QKEY 0x01234567u

/** As in the kernel's cma.c. */
enum ucma_id_state {
	UCMA_IDLE,
	UCMA_ADDR_BOUND,
	UCMA_ADDR_QUERY,
	UCMA_ADDR_RESOLVED,
	UCMA_ROUTE_RESOLVED,
	UCMA_CONNECT, /**< active, from connect on; passive, from accept on */
	UCMA_LISTEN,
	UCMA_REQUEST,  /**< passive, before accept */
	UCMA_REJECTED, /**< passive, by us */
};

struct ucma_id {
	TAILQ_ENTRY(ucma_id) link; /**< of its channel */
	struct ucma *ucma;
	struct ucma_channel *channel;
	struct rnic_ep *ep;
	uint32_t number;
	uint64_t uid; /**< the program's; 0 until accept on the passive side */
	uint32_t events_reported;
	/** For what its endpoint will tell, in that order: see ucma_id_expect(). */
	struct ucma_events expected;
	LIST_HEAD(, ucma_multicast) multicasts; /**< groups that it has joined */
	enum ucma_id_state state;
	enum ucma_id_state unresolved; /**< ADDR_QUERY: the state after a failure */
	uint16_t port_space;           /**< enum rdma_ucm_port_space */
	uint8_t qp_type;               /**< enum ib_qp_type */
	sa_family_t family;            /**< AF_UNSPEC until bound or resolved */
	uint8_t tos;
	bool ud;       /**< for UD QPs: RDMA_PS_UDP, where there are any */
	uint32_t qkey; /**< of UD QPs */
	bool reuse, v6only;
	bool loopback; /**< bound to a loopback address, where there is no device */
	bool held;
	bool dying;
};

/** All ids, by number. */
struct ucma_id_table {
	struct ucma_id **by_number;
	uint32_t next; /**< round robin, so that a stale number finds no id */
	uint32_t used; /**< or reserved */
	pthread_cond_t released;
};

/** @return 0, -ENOMEM. */
int ucma_id_table_init(struct ucma_id_table *t);

/* All functions below need the ucma's lock. */

/**
 * Create an id on @p ch. The caller holds it.
 * @return NULL: no memory, no free number, or the channel was closed.
 */
struct ucma_id *ucma_id_new(struct ucma *u, struct ucma_id_table *t, struct ucma_channel *ch);

/** An id without number and channel, which is sure to get a number. @return NULL: no memory, or no
 * free number. */
struct ucma_id *ucma_id_reserve(struct ucma *u, struct ucma_id_table *t);

/** Give a reserved id its number, on @p ch. The caller holds it. */
void ucma_id_enter(struct ucma_id_table *t, struct ucma_channel *ch, struct ucma_id *id);

/** Free a reserved id. */
void ucma_id_give_back(struct ucma_id_table *t, struct ucma_id *id);

/**
 * Find and hold an id. Waits while another command holds it, without @p lock.
 * @return 0, -ENOENT: no such id; -EINVAL: not of @p ch.
 */
int ucma_id_hold(struct ucma_id_table *t, pthread_mutex_t *lock, const struct ucma_channel *ch,
	uint32_t number, struct ucma_id **out);

/**
 * Hold @p id, or wait until some id is released.
 * @return false: it has waited, without the lock. Look everything up again.
 */
bool ucma_id_hold_or_wait(struct ucma_id_table *t, pthread_mutex_t *lock, struct ucma_id *id);

void ucma_id_release(struct ucma_id_table *t, struct ucma_id *id);

/**
 * Remove a held id from the table and the channel, with its unread events. Its memory stays until
 * ucma_id_free(), for callbacks under way.
 */
void ucma_id_remove(struct ucma_id_table *t, struct ucma_id *id);

void ucma_id_free(struct ucma_id *id);

/**
 * The endpoint is about to be asked for something, and will tell of it when there may be no memory
 * any more: an event that is lost is waited for until the end. What was expected before and has not
 * come will not come.
 * @param answers that may bring private data, and come first. @param ends that bring none.
 * @return 0, -ENOMEM.
 */
int ucma_id_expect(struct ucma_id *id, unsigned answers, unsigned ends);

/**
 * An event of @p id for @p len bytes of private data: one that was expected, or else a new one.
 * Without memory it may have less room. @return NULL: no memory.
 */
struct ucma_event *ucma_id_take_event(struct ucma_id *id, uint8_t len);

/** Move a held id, and its unread events, to another channel. */
void ucma_id_migrate(struct ucma_id *id, struct ucma_channel *to);

#endif
