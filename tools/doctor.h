/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file doctor.h
 * uiwarp doctor: looks at one thing after the other, from the configuration to a peer's MPA, and
 * says in sentences what is wrong and what to do.
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include "host/net.h"
#include "ip/echo.h"

#include <stdbool.h>
#include <stdint.h>

struct doctor {
	const struct config *config;
	struct net *net;     /**< NULL until the port is open */
	const char *host;    /**< the peer as given; NULL: none */
	struct ip_addr peer; /**< resolved */
	uint16_t port;       /**< of the peer; 0: none */
	bool only_tcp;       /**< no MPA */
	unsigned wrong;      /**< findings */
	struct echo echo;
	bool answers_ping;
	uint64_t rtt_ns; /**< of the first ping, when it was answered */
};

/* ---- doctor.c ---------------------------------------------------------------------------- */

/** Say what is as it should be. */
void doctor_good(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Say something that is neither. */
void doctor_note(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Say what is wrong; counts. */
void doctor_wrong(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Say what to do about the last one. */
void doctor_advise(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * Wait until @p done says so, which is asked under the engine's lock.
 * @return false when it did not within @p ms milliseconds.
 */
bool doctor_wait(struct doctor *d, unsigned ms, bool (*done)(void *ctx), void *ctx);

/* ---- doctor_port.c ----------------------------------------------------------------------- */

/**
 * What the system says of the port before it is opened: interface, rights, the kernel's addresses.
 */
void doctor_look_at_system(struct doctor *d);

/** The port did not open: why that may be. */
void doctor_explain_port(struct doctor *d);

/** What the open port says: link, MTU. */
void doctor_look_at_port(struct doctor *d);

/** Frames that came damaged so far, or that say of a damaged set-up; once, at the end. */
void doctor_look_at_frames(struct doctor *d);

/* ---- doctor_path.c ----------------------------------------------------------------------- */

/** Addresses that others have too; routers that do not answer. */
void doctor_look_at_neighbours(struct doctor *d);

/** Route to the peer, ping, MTU of the path. @return false: nothing gets there. */
bool doctor_look_at_path(struct doctor *d);

/* ---- doctor_peer.c ----------------------------------------------------------------------- */

/** TCP and MPA to the peer's port. */
void doctor_look_at_peer(struct doctor *d);

#endif
