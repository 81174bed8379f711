/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file channel.h
 * An event channel: one open rdma_cm descriptor with the ids that live on it and their events.
 *
 * The descriptor is an eventfd that counts the events. A reader takes one count first and an event
 * then; a thread that removes an unread event tries to take a count too. When a reader was
 * faster it finds no event, and waits again: so the count may be too high for a moment, never too
 * low.
 *
 * The program may close its descriptor while a reader waits or an event comes, and the number may
 * be another file's a moment later. So all reading and counting here goes by a duplicate of it.
 *
 * Every function needs the lock of the ucma, unless it says otherwise.
 */
#ifndef PROVIDER_CM_CHANNEL_H
#define PROVIDER_CM_CHANNEL_H

#include "rnic/ep.h"

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <sys/queue.h>

struct ucma_id;

/** An event that waits to be read. */
struct ucma_event {
	TAILQ_ENTRY(ucma_event) link;
	struct ucma_id *id;      /**< against which it counts */
	struct rnic_ep *request; /**< CONNECT_REQUEST: belongs to the listener until read */
	struct rdma_ucm_event_resp resp;
};

TAILQ_HEAD(ucma_events, ucma_event);
TAILQ_HEAD(ucma_ids, ucma_id);

struct ucma_channel {
	int fd;        /**< the program's, by which it names the channel and waits */
	int own_fd;    /**< the same open file under a number that nobody else closes */
	unsigned refs; /**< one of the table's, one of each call in progress */
	bool closed;   /**< no ids come to it any more */
	struct ucma_events events;
	struct ucma_ids ids;
};

/** All channels, by descriptor. Zero-initialised is empty. */
struct ucma_channels {
	struct ucma_channel **by_fd;
	size_t size;
};

/**
 * Open one. @param flags O_NONBLOCK and O_CLOEXEC of open().
 * @return 0, -ENOMEM, -EMFILE, -ENFILE.
 */
int ucma_channel_open(struct ucma_channels *t, int flags, struct ucma_channel **out);

/** @return NULL when @p fd is no channel. */
struct ucma_channel *ucma_channel_find(const struct ucma_channels *t, int fd);

/** Take it out of the table: its descriptor may now become anything else. Drops a reference. */
void ucma_channel_remove(struct ucma_channels *t, struct ucma_channel *ch);

void ucma_channel_ref(struct ucma_channel *ch);

/** Frees with the last one; @p fd belongs to the program, which closes it. */
void ucma_channel_unref(struct ucma_channel *ch);

/** Append @p ev and count it. Wakes readers and pollers. */
void ucma_channel_push(struct ucma_channel *ch, struct ucma_event *ev);

/**
 * Take one count, as read() on the descriptor does: blocks or not as the descriptor's own flags
 * say, a cancellation point. Call WITHOUT the lock.
 * On a channel that was closed meanwhile it waits for good, as in the kernel.
 * @return 0, -EAGAIN, -EINTR.
 */
int ucma_channel_wait(const struct ucma_channel *ch);

/** Give back a count that was taken for an event that could not be delivered. */
void ucma_channel_unwait(const struct ucma_channel *ch);

/** Remove and free the unread events of @p id. */
void ucma_channel_purge(struct ucma_channel *ch, const struct ucma_id *id);

/** Move the unread events of @p id, in their order, behind those of @p to. */
void ucma_channel_move(
	struct ucma_channel *from, struct ucma_channel *to, const struct ucma_id *id);

#endif
