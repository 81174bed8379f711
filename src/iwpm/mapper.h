/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mapper.h
 * The iWARP port mapper of a host (message.h has what it is about), in both roles.
 *
 * Hosts with RNICs in hardware share their addresses with the kernel's TCP. So their listeners sit
 * on other TCP ports than programs have asked for, and a service at UDP port 3935 tells which. Our
 * addresses are ours alone, or our ports are the kernel's own: each port is mapped to itself.
 *
 * It is pure protocol: datagrams come in by iwpm_input() and go out by a callback, time is an
 * argument, timers are on the engine's wheel.
 *
 * A stranger's datagram makes it remember nothing. An Accept is not sent again until it is
 * acknowledged: who has not got one asks again, as iwpmd does each second, and gets another.
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef IWPM_MAPPER_H
#define IWPM_MAPPER_H

#include "base/log.h"
#include "base/random.h"
#include "base/timer.h"
#include "iwpm/message.h"

#include <sys/queue.h>

/** How long nobody may answer at IWPM_PORT after who had it has gone. */
#define IWPM_SERVE_AGAIN_NS UINT64_C(5000000000)

struct iwpm;

struct iwpm_config {
	struct timer_wheel *wheel; /**< the engine's */
	struct random_source random;
	const struct log_sink *log;
	/** Of our requests, an ephemeral one (RFC 6056). */
	uint16_t client_port;
	/**
	 * Accept every port, not our listeners' only: those of other processes, of whom we do not
	 * know, are on their own ports as well.
	 */
	bool accept_all;
	/**
	 * Send one datagram, from the client's port or IWPM_PORT. It may be lost.
	 */
	void (*send)(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
		const void *data, size_t len, uint64_t now);
	/**
	 * Begin or cease to serve IWPM_PORT: there is a first listener, or none any more.
	 * @return false: another has it. It is tried again with each listener and every
	 * IWPM_SERVE_AGAIN_NS, until there is no listener any more.
	 */
	bool (*serve)(void *ctx, bool on);
	void *ctx;
};

/** @return 0 or -ENOMEM. */
int iwpm_create(const struct iwpm_config *cfg, struct iwpm **out);

/** Queries must have been cancelled and listeners removed. @p m may be NULL. */
void iwpm_destroy(struct iwpm *m);

/** A datagram came to @p to, an address of ours and one of the two ports. */
void iwpm_input(struct iwpm *m, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now);

/**
 * An ICMP error says that there is nothing at @p to. It is believed only about a request that is
 * under way.
 * @param data what was quoted of it, or NULL.
 */
void iwpm_unreachable(struct iwpm *m, const struct ip_endpoint *to, const uint8_t *data, size_t len,
	uint64_t now);

/* ---- the accepting peer ------------------------------------------------------------------ */

/** A listener of ours. Embedded in its owner. Zero-initialised is none. */
struct iwpm_listener {
	LIST_ENTRY(iwpm_listener) link;
	struct iwpm *mapper; /**< NULL: not known to any */
	struct ip_endpoint local;
	bool v6only; /**< [::] does not include IPv4 */
};

/** Peers may ask for @p local from now on. */
void iwpm_listen(
	struct iwpm *m, struct iwpm_listener *l, const struct ip_endpoint *local, bool v6only);

/** No more. Does nothing for one that is not known. */
void iwpm_unlisten(struct iwpm_listener *l);

/* ---- the connecting peer ----------------------------------------------------------------- */

enum iwpm_outcome {
	IWPM_MAPPED,   /**< iwpm_query.mapped is where to connect to */
	IWPM_REJECTED, /**< the peer's mapper does not know the port */
	IWPM_ABSENT,   /**< the peer has no port mapper, says its host */
	/** Nothing so far. The query goes on: one of the others follows. */
	IWPM_UNANSWERED,
	IWPM_SILENT, /**< nothing came in 10 s */
};

struct iwpm_query;

/** @p q is over, unless the outcome is IWPM_UNANSWERED. It may be asked again, or freed. */
typedef void iwpm_query_fn(struct iwpm_query *q, enum iwpm_outcome outcome);

/** Embedded in its owner. Zero-initialised is not under way. */
struct iwpm_query {
	LIST_ENTRY(iwpm_query) link;
	struct iwpm *mapper; /**< NULL: not under way */
	iwpm_query_fn *fn;
	struct ip_endpoint local, remote, mapped;
	uint64_t handle;
	uint64_t began;
	struct timer timer;
	unsigned sent;
	bool waits; /**< IWPM_UNANSWERED is to be told */
};

/**
 * Ask the port mapper of @p remote where to connect to. @p q must not be under way. @p fn is not
 * called from in here.
 *
 * The request is repeated after 40 ms, and then each second, ten times at most, as iwpmd does. What
 * a host has done before is remembered for a minute.
 * @return how long an answer is worth waiting for, in ns; then comes IWPM_UNANSWERED. 40 ms for a
 *         host that is not known, 3 s for one whose mapper has answered, and 0 for one that has
 *         none: then IWPM_UNANSWERED does not come.
 */
uint64_t iwpm_ask(struct iwpm *m, struct iwpm_query *q, const struct ip_endpoint *local,
	const struct ip_endpoint *remote, iwpm_query_fn *fn, uint64_t now);

/** The answer is not wanted any more. Does nothing for a query that is not under way. */
void iwpm_cancel(struct iwpm_query *q);

/** Counters since creation. Read them under the engine's lock. */
struct iwpm_stats {
	uint64_t requests_sent, accepts_received, rejects_received, unreachable, unanswered;
	uint64_t requests_received, accepts_sent, rejects_sent;
	uint64_t ignored; /**< datagrams that are no message, or answer nothing that we asked */
};

const struct iwpm_stats *iwpm_get_stats(const struct iwpm *m);

#endif
