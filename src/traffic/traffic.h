/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file traffic.h
 * Test traffic over any LLP: one stream that sends a pattern (source), takes it in (sink), sends
 * back what comes (echo), or sends messages and awaits each one's echo (pingpong). Whether a
 * stream connected or was accepted makes no difference to its role.
 *
 * Driven by the LLP's upcalls alone; no I/O, no memory of its own. As the LLP: everything happens
 * under the engine's lock.
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
	/** What is sent and expected; must outlive the stream. Sinks without verify and echoes may
	 *  have NULL. */
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
	/** The connection is over: `error` and `wrong` say how. The stream is the caller's again,
	 * and may be freed in here. @p last may be looked at until this returns, such as by
	 *  tcp_get_info(). May be NULL. */
	void (*ended)(void *ctx, struct traffic *t, const struct llp *last);
	void *ctx;
};

/** Read-only for the caller. */
struct traffic {
	struct traffic_config cfg;
	struct llp *llp; /**< NULL: not there yet, or gone */
	uint64_t sent; /**< bytes handed to the LLP; some may not be acknowledged: llp_unacked() */
	uint64_t received;     /**< bytes taken in */
	uint64_t allowed;      /**< of a metered source, in all */
	uint64_t messages;     /**< of a pingpong: that came back */
	uint64_t connected_at; /**< by the clock */
	uint64_t first_at;     /**< when the first byte came in; 0: none did */
	uint64_t eof_at;       /**< when the peer closed its direction */
	uint64_t ended_at;
	uint64_t message_at; /**< when the present message was begun */
	uint64_t wrong_at;   /**< place of the first byte that was not as expected */
	bool connected, eof, ended;
	bool wrong;     /**< a byte came that was not as expected, or one more than expected */
	bool finishing; /**< traffic_finish() was called */
	bool shut;      /**< our direction is closed */
	bool paused;
	bool unread; /**< bytes wait in the LLP */
	int error;   /**< of llp_user_ops.closed; 0: both directions were closed in order */
};

/** Prepare a stream; it has no connection yet. */
void traffic_init(struct traffic *t, const struct traffic_config *cfg);

/** Begin to connect. @return as llp_connect(). ended() is called only after it returned 0. */
int traffic_connect(
	struct traffic *t, struct llp_stack *s, const struct llp_connect_params *params);

/** Take a connection, within an llp_accept_fn. */
void traffic_accept(struct traffic *t, struct llp *l);

/** A metered source may send @p bytes more. */
void traffic_allow(struct traffic *t, uint64_t bytes);

/** Take in what comes, from now on (traffic_config.paused). */
void traffic_resume(struct traffic *t);

/**
 * Come to an end in good order: a source sends what it has queued, a pingpong awaits the message
 * that is under way, a sink and an echo close their direction and go on taking in. ended() follows
 * when the peer has closed too.
 */
void traffic_finish(struct traffic *t);

/** Throw the connection away (RST), if there is one. ended() is not called. */
void traffic_abort(struct traffic *t);

#endif
