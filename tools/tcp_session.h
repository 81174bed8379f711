/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_session.h
 * The connections of one uiwarp tcp: makes or takes them, lets them run as the options say, and
 * keeps for each what the report shows. The engine's thread does the work; the one thread that
 * calls these functions only looks in now and then.
 */
#ifndef TOOLS_TCP_SESSION_H
#define TOOLS_TCP_SESSION_H

#include "host/net.h"
#include "tools/tcp_options.h"

/** One connection as it was when looked at last. */
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
	struct tcp_info last_info; /**< when it had ended */
	struct histogram *latency; /**< pingpong: since the last interval */

	/* Of the thread that looks. */
	struct ip_endpoint local, remote;
	struct tcp_view view;
	struct tcp_view start;  /**< of the interval */
	struct tcp_view result; /**< when its time was over or it ended; at: 0 until then */
	struct histogram *interval_latency, *total_latency;
	uint64_t abort_at; /**< when its end is not waited for any longer; 0: no such time */
	bool told, aborted;
};

struct tcp_session {
	const struct tcp_options *options;
	struct net *net;
	struct engine *engine;
	struct llp_listener *listener;
	struct traffic_pattern pattern;
	struct tcp_stream *streams; /**< in the order of their ids; of the thread that looks */
	unsigned removed;           /**< that have ended, and were reported */
	uint64_t last_ack_until;    /**< a peer may still want its FIN acknowledged again */
	int event_fd;               /**< readable when something was connected or has ended */

	/* Under the engine's lock. */
	struct tcp_stream *fresh; /**< taken, but not in the list yet; newest first */
	unsigned made;            /**< connections, in all */
	bool stopping;
};

/**
 * Open the stack.
 * @return 0, or EXIT_FAILURE with a sentence on stderr.
 */
int tcp_session_open(struct tcp_session *s, const struct tcp_options *o, const struct config *c);

/** Listen, or begin to connect. @return as above. */
int tcp_session_start(struct tcp_session *s);

/**
 * Look at every stream, and do what is due: meter, end what has had its time, give up.
 * @param[out] next when there is something to do again, ns on net_now(); UINT64_MAX: only events.
 */
void tcp_session_look(struct tcp_session *s, uint64_t *next);

/** Latencies of every stream since the last time: they become the interval's. */
void tcp_session_collect(struct tcp_session *s);

/** Come to an end: no new connections, streams finish; on the second call they are reset. */
void tcp_session_stop(struct tcp_session *s);

/** True when every stream was removed and there is none to wait for. */
bool tcp_session_done(const struct tcp_session *s);

/** Free a stream that has ended. */
void tcp_session_remove(struct tcp_session *s, struct tcp_stream *t);

void tcp_session_close(struct tcp_session *s);

#endif
