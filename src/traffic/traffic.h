/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file traffic.h
 * Test traffic over any LLP: a stream sends a pattern (source), receives it (sink), sends back what
 * comes (echo), or sends messages and awaits the echo of each (pingpong). A stream of any role may
 * connect or be accepted.
 *
 * Driven by the LLP's upcalls alone: no I/O, no allocation. Everything happens under the engine's
 * lock.
 */
#ifndef TRAFFIC_TRAFFIC_H
#define TRAFFIC_TRAFFIC_H

#include "base/histogram.h"
#include "llp/llp.h"
#include "traffic/pattern.h"

#include <stdbool.h>
#include <stdint.h>

enum traffic_role { TRAFFIC_SOURCE, TRAFFIC_SINK, TRAFFIC_ECHO, TRAFFIC_PINGPONG };

struct traffic;

struct traffic_config {
	enum traffic_role role;
	/**
	 * What is sent and expected. It must outlive the stream. May be NULL for echoes and for
	 * sinks without verify.
	 */
	const struct traffic_pattern *pattern;
	uint64_t bytes;            /**< source: to send; 0: until traffic_finish() */
	bool metered;              /**< source: sends no more than traffic_allow() has allowed */
	bool verify;               /**< sink, pingpong: compare what comes with the pattern */
	bool paused;               /**< sink, echo: takes nothing in until traffic_resume() */
	uint32_t message;          /**< pingpong: bytes of a message, at least 1 */
	uint64_t count;            /**< pingpong: messages to send; 0: until traffic_finish() */
	struct histogram *latency; /**< pingpong: round trips in ns; needs a clock. May be NULL */
	/** ns. May be NULL: all times are then 0. */
	uint64_t (*clock)(void *ctx);
	/** The connection is established. May be NULL. */
	void (*connected)(void *ctx, struct traffic *t);
	/**
	 * The connection is over; see `error` and `wrong`. The stream may be freed in here. @p last
	 * may be read until this returns, such as by tcp_get_info(). May be NULL.
	 */
	void (*ended)(void *ctx, struct traffic *t, const struct llp *last);
	void *ctx;
};

/** Read-only for the caller. */
struct traffic {
	struct traffic_config cfg;
	struct llp *llp;       /**< NULL: not connected yet, or over */
	uint64_t sent;         /**< bytes handed to the LLP, acknowledged or not */
	uint64_t received;     /**< bytes taken in */
	uint64_t allowed;      /**< a metered source's limit, in bytes from the start */
	uint64_t messages;     /**< a pingpong's messages that came back */
	uint64_t connected_at; /**< by the clock */
	uint64_t first_at;     /**< when the first byte came in; 0: none did */
	uint64_t eof_at;       /**< when the peer closed its direction */
	uint64_t ended_at;
	uint64_t message_at; /**< when the present message was begun */
	uint64_t wrong_at;   /**< offset of the first wrong byte */
	bool connected, eof, ended;
	bool wrong;     /**< a byte was wrong, or there were too many */
	bool finishing; /**< traffic_finish() was called */
	bool shut;      /**< our direction is closed */
	bool paused;
	bool unread; /**< bytes wait in the LLP */
	int error;   /**< of llp_user_ops.closed; 0: both directions were closed in order */
};

/** Prepare a stream. It has no connection yet. */
void traffic_init(struct traffic *t, const struct traffic_config *cfg);

/** Begin to connect. @return as llp_connect(). ended() is called only after it returned 0. */
int traffic_connect(
	struct traffic *t, struct llp_stack *s, const struct llp_connect_params *params);

/** Take a connection, inside an llp_accept_fn. */
void traffic_accept(struct traffic *t, struct llp *l);

/** A metered source may send @p bytes more. */
void traffic_allow(struct traffic *t, uint64_t bytes);

/** End the pause of traffic_config.paused. */
void traffic_resume(struct traffic *t);

/**
 * Finish in good order. A source sends what it has queued. A pingpong awaits the message under way.
 * A sink and an echo close their direction and go on receiving. ended() follows when the peer has
 * closed too.
 */
void traffic_finish(struct traffic *t);

/** Reset the connection (RST), if there is one. ended() is not called. */
void traffic_abort(struct traffic *t);

#endif
