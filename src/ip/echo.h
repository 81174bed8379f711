/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file echo.h
 * Echo requests of our own (RFC 792, RFC 4443 section 4.1): for a tool that looks at a path, not
 * for the data path. One request at a time; no time-outs here. Under the engine's lock, like all of
 * ip.
 */
#ifndef IP_ECHO_H
#define IP_ECHO_H

#include "ip/ip.h"

enum echo_state {
	ECHO_IDLE,
	ECHO_WAITING,
	ECHO_REPLIED,
	ECHO_ERROR, /**< an ICMP error came about it: see error and mtu */
};

struct echo {
	struct ip_stack *ip;
	struct ip_addr dst;
	uint16_t id, seq;
	uint16_t len; /**< of the request's packet */
	enum echo_state state;
	int error;               /**< IP_ERROR_* */
	uint16_t mtu;            /**< of IP_ERROR_MTU */
	uint64_t sent, answered; /**< the engine's time */
};

/** Private: an echo reply came, @p p its 8 bytes or more. All is checked but which request it
 * answers. */
void echo_reply_input(struct echo *e, const struct ip_rx *rx, const uint8_t *p, uint64_t now);

/** From here on @p e gets what answers there are. Until the stack is destroyed. */
void echo_init(struct echo *e, struct ip_stack *ip, uint16_t id);

/**
 * Ask @p dst by a packet of @p len bytes, IP header included, which nobody on the way may cut into
 * fragments. What is known of the path's MTU is not believed: that is what a tool wants to see.
 * @return 0, -EMSGSIZE (longer than the link takes, or too short for its headers), -ENETUNREACH,
 *         -EHOSTUNREACH, -ENOMEM.
 */
int echo_send(struct echo *e, const struct ip_addr *dst, uint16_t len, uint64_t now);

#endif
