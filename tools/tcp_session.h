/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_session.h
 * The connections of uiwarp tcp: it connects or accepts them, runs them as the options say, and
 * keeps the figures for the report. The engine's thread does the work. The thread that calls these
 * functions only checks from time to time.
 */
#ifndef TOOLS_TCP_SESSION_H
#define TOOLS_TCP_SESSION_H

#include "host/net.h"
#include "tools/tcp_options.h"

/** A snapshot of a connection. */
struct tcp_view {
	uint64_t at; /**< engine's clock, ns */
	uint64_t sent, received, messages;
	struct tcp_info info;
	bool connected, eof, ended;
};

/** One connection. */
struct tcp_stream {
	unsigned id; /**< from 1 */
	struct tcp_stream *next;
	struct tcp_session *session;

	/* Under the engine's lock. */
	struct traffic traffic;
	struct tcp_info last_info; /**< at its end */
	struct histogram *latency; /**< pingpong: since the last interval */

	/* Of the calling thread. */
	struct ip_endpoint local, remote;
	struct tcp_view view;
	struct tcp_view start; /**< snapshot at the start of the interval */
	/** Snapshot when its time was over or it ended; at is 0 until then */
	struct tcp_view result;
	struct histogram *interval_latency, *total_latency;
	uint64_t abort_at; /**< when it is reset if it has not ended; 0: never */
	bool told, aborted;
};

struct tcp_session {
	const struct tcp_options *options;
	struct net *net;
	struct engine *engine;
	struct llp_listener *listener;
	struct traffic_pattern pattern;
	struct tcp_stream *streams; /**< in the order of their ids; of the calling thread */
	unsigned removed;           /**< connections that have ended and were reported */
	uint64_t last_ack_until;    /**< a peer may retransmit its FIN until then */
	int event_fd;               /**< readable when something was connected or has ended */

	/* Under the engine's lock. */
	struct tcp_stream *fresh; /**< accepted, but not in the list yet; newest first */
	unsigned made;            /**< number of all connections */
	bool stopping;
};

/** Open the stack. @return 0, or EXIT_FAILURE with a sentence on stderr. */
int tcp_session_open(struct tcp_session *s, const struct tcp_options *o, const struct config *c);

/** Listen, or begin to connect. @return as above. */
int tcp_session_start(struct tcp_session *s);

/**
 * Check every stream, and do what is due: meter it, end it after its time, or give up.
 * @param[out] next when to call it again, ns on net_now(); UINT64_MAX: only after events.
 */
void tcp_session_look(struct tcp_session *s, uint64_t *next);

/** Move the latencies of all streams since the last call to the interval's. */
void tcp_session_collect(struct tcp_session *s);

/** Finish: accept no new connections, and finish the streams. The second call resets them. */
void tcp_session_stop(struct tcp_session *s);

/** True when all streams were removed and none is expected. */
bool tcp_session_done(const struct tcp_session *s);

/** Free a stream that has ended. */
void tcp_session_remove(struct tcp_session *s, struct tcp_stream *t);

void tcp_session_close(struct tcp_session *s);

#endif
