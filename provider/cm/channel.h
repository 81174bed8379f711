/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file channel.h
 * An event channel: one open rdma_cm descriptor with the ids that live on it and their events.
 *
 * The descriptor is an eventfd that is readable while there are events. It is written with the
 * first of them and read when the last one is gone, so events that come and go together cost
 * nothing each. Threads that wait for an event sleep in read(), which takes what was written: a
 * thread that has slept, and found or left more than its own event, writes again. If another took
 * its event, it sleeps again.
 *
 * The program may close its descriptor at any time, and the number may then be another file's. So a
 * duplicate is used for reading and counting.
 *
 * All functions need the lock of the ucma, unless stated otherwise.
 */
#ifndef PROVIDER_CM_CHANNEL_H
#define PROVIDER_CM_CHANNEL_H

#include "rnic/ep.h"

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <sys/queue.h>

struct ucma_id;
struct ucma_multicast;

/** The library's private_data_len is 8 bits wide; MPA carries up to 512 bytes (RFC 5044 7.1.1). */
#define UCMA_PRIVATE_MAX 255

/**
 * An event that waits to be read, or that is kept for what an id may be told yet. It is no longer
 * than its private data: each connection keeps one.
 */
struct ucma_event {
	TAILQ_ENTRY(ucma_event) link;
	struct ucma_id *id; /**< the id that it is about */
	/**
	 * CONNECT_REQUEST: what the request becomes when it is read. Its endpoint is the
	 * listener's until then.
	 */
	struct ucma_id *request;
	uint64_t uid;    /**< of the id, when it happened; of a join */
	uint32_t number; /**< of the id; of a request that was read, or a join, its own */
	uint32_t status;
	uint8_t type; /**< enum ucma_event_type */
	uint8_t responder_resources, initiator_depth;
	uint8_t tos;    /**< of the id */
	bool ud;        /**< it is a UD id's */
	uint8_t ud_len; /**< octets of struct ucma_ud before the private data, or 0 */
	uint8_t private_len;
	uint8_t room; /**< for both */
	uint8_t private_data[];
};

/** Of a UD id's event: where to send. */
struct ucma_ud {
	uint32_t qp, qkey;
	struct ip_addr local, remote;
};

TAILQ_HEAD(ucma_events, ucma_event);
TAILQ_HEAD(ucma_ids, ucma_id);
TAILQ_HEAD(ucma_channel_list, ucma_channel);

struct ucma_channel {
	int fd;            /**< the program's; it names the channel */
	int own_fd;        /**< our duplicate */
	unsigned refs;     /**< one for the table, one for each call in progress */
	bool closed;       /**< no ids may be added any more */
	bool left;         /**< exit() has begun: nobody sleeps any more */
	bool due;          /**< in the ucma's list of channels to be told of */
	bool clears;       /**< the kernel can read it without ever waiting (Linux 5.12) */
	unsigned looking;  /**< threads that look for an event next, and tell of what they leave */
	unsigned sleeping; /**< threads in ucma_channel_wait(), or on the way there or back */
	uint64_t told;     /**< counts that were written and that nobody is known to have read */
	TAILQ_ENTRY(ucma_channel) due_link;
	struct ucma_events events;
	struct ucma_ids ids;
};

/** All channels, by descriptor. Zero-initialised is empty. */
struct ucma_channels {
	struct ucma_channel **by_fd;
	size_t size;
};

/**
 * Open a channel. @param flags O_NONBLOCK and O_CLOEXEC of open().
 * @return 0, -ENOMEM, -EMFILE, -ENFILE.
 */
int ucma_channel_open(struct ucma_channels *t, int flags, struct ucma_channel **out);

/** @return NULL: @p fd is no channel. */
struct ucma_channel *ucma_channel_find(const struct ucma_channels *t, int fd);

/** Remove it from the table, before its descriptor is closed. Drops a reference. */
void ucma_channel_remove(struct ucma_channels *t, struct ucma_channel *ch);

void ucma_channel_ref(struct ucma_channel *ch);

/** Frees it with the last reference. The program closes @p fd. */
void ucma_channel_unref(struct ucma_channel *ch);

/** An event with room for @p room bytes of private data, all zero. For free(). @return NULL: no
 * memory. */
struct ucma_event *ucma_event_alloc(uint8_t room);

/**
 * After events have come or gone: make the descriptor readable, or not, as there are any. Wakes
 * readers and pollers. Nothing to do while a thread looks for an event: it does this after.
 * @return a thread that sleeps is woken.
 */
bool ucma_channel_tell(struct ucma_channel *ch);

/** exit() has begun: threads that sleep are woken, one by the other. */
void ucma_channel_leave(struct ucma_channel *ch);

/** Append @p ev, without telling of it. */
void ucma_channel_push(struct ucma_channel *ch, struct ucma_event *ev);

/**
 * True: where the kernel cannot clear what was told, a thread reads it first, by waiting, and
 * takes an event then.
 */
bool ucma_channel_is_read_first(const struct ucma_channel *ch);

/** The descriptor has no O_NONBLOCK. Without the lock. */
bool ucma_channel_may_sleep(const struct ucma_channel *ch);

/**
 * Wait until the descriptor is readable, and read it. It blocks unless the descriptor has
 * O_NONBLOCK, and is a cancellation point. Call it WITHOUT the lock, between
 * ucma_channel_begin_wait() and ucma_channel_end_wait(). If the channel is closed meanwhile it
 * waits for ever, as in the kernel.
 * @param counts what was read; 0 with an error.
 * @return 0, -EAGAIN, -EINTR.
 */
int ucma_channel_wait(const struct ucma_channel *ch, uint64_t *counts);
void ucma_channel_begin_wait(struct ucma_channel *ch);
void ucma_channel_end_wait(struct ucma_channel *ch, uint64_t counts);

/** As ucma_channel_end_wait(), for a thread that was cancelled, and may have read something. */
void ucma_channel_cancel_wait(struct ucma_channel *ch);

/** Remove and free the unread events of @p id; of its join @p multicast alone, if not NULL. */
void ucma_channel_purge(
	struct ucma_channel *ch, const struct ucma_id *id, const struct ucma_multicast *multicast);

/** Move the unread events of @p id, in their order, behind those of @p to. */
void ucma_channel_move(
	struct ucma_channel *from, struct ucma_channel *to, const struct ucma_id *id);

#endif
