/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file echo.h
 * Echo requests (RFC 792, RFC 4443 section 4.1), for tools. There is one request at a time, and no
 * time-out. Under the engine's lock, like all of ip.
 */
#ifndef IP_ECHO_H
#define IP_ECHO_H

#include "ip/ip.h"

enum echo_state {
	ECHO_IDLE,
	ECHO_WAITING,
	ECHO_REPLIED,
	ECHO_ERROR, /**< an ICMP error came: see error and mtu */
};

struct echo {
	struct ip_stack *ip;
	struct ip_addr dst;
	uint16_t id, seq;
	uint16_t len; /**< length of the request's packet */
	enum echo_state state;
	int error;               /**< IP_ERROR_* */
	uint16_t mtu;            /**< of IP_ERROR_MTU */
	uint64_t sent, answered; /**< the engine's time */
};

/** Private: a checked echo reply of at least 8 bytes came. It may answer another request. */
void echo_reply_input(struct echo *e, const struct ip_rx *rx, const uint8_t *p, uint64_t now);

/** Prepare @p e. It receives answers until the stack is destroyed. */
void echo_init(struct echo *e, struct ip_stack *ip, uint16_t id);

/**
 * Send a request to @p dst in a packet of @p len bytes, IP header included. Routers must not
 * fragment it. A known path MTU is ignored, because tools want to measure it.
 * @return 0, -EMSGSIZE (longer than the link takes, or too short for its headers), -ENETUNREACH,
 *         -EHOSTUNREACH, -ENOMEM.
 */
int echo_send(struct echo *e, const struct ip_addr *dst, uint16_t len, uint64_t now);

#endif
