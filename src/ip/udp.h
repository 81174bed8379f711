/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file udp.h
 * UDP (RFC 768, RFC 8200 section 8.1) for the services of the host itself and for UD queue pairs:
 * some ports; of groups where the user wants it. Programs have no UDP of their own here. A datagram
 * for a port that is not open is answered by ICMP (RFC 1122 section 4.1.3.1).
 *
 * Not thread-safe: used under the engine's lock.
 */
#ifndef IP_UDP_H
#define IP_UDP_H

#include "ip/ip.h"

#define UDP_PROTO 17

/** Ports that can be open at one time. */
#define UDP_PORTS_MAX 64

/** Data of one datagram, in octets, if the user wants no longer ones. */
#define UDP_DATA_MAX 512

/** A datagram that came, or is to be sent. */
struct udp_datagram {
	struct ip_endpoint from, to;
	uint8_t tos; /**< traffic class, ECN bits included */
	uint8_t ttl; /**< sending: 0: the usual one, which is 1 to groups (RFC 1112 section 6.1) */
	const uint8_t *data; /**< received: valid during the call */
	size_t len;
};

struct udp_user {
	/** A datagram came from @p from to @p to, an address of ours. @p data is valid during the
	 * call. */
	void (*input)(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
		const uint8_t *data, size_t len, uint64_t now);
	/**
	 * ICMP says that a datagram from this port to @p to was not delivered. Anybody who knows
	 * the ports can say so: the user must check that it has sent one. May be NULL.
	 */
	void (*error)(
		void *ctx, const struct ip_endpoint *to, const struct ip_error *e, uint64_t now);
	void *ctx;
	/** Instead of input(), for a user that looks at the IP header, too. */
	void (*datagram)(void *ctx, const struct udp_datagram *d, uint64_t now);
	bool groups; /**< what is sent to groups that we are in, too */
	size_t max;  /**< octets of the longest datagram that is taken; 0: UDP_DATA_MAX */
};

/** Open @p port on all of our addresses. @p u is copied. @return 0, -EADDRINUSE, -ENOSPC. */
int udp_open(struct ip_stack *s, uint16_t port, const struct udp_user *u);

/** Close @p port, if it is open. */
void udp_close(struct ip_stack *s, uint16_t port);

/**
 * Send a datagram from one of our addresses. It may be lost on its way, also in here while the next
 * hop is being resolved.
 * @return 0; -EMSGSIZE: more than UDP_DATA_MAX; -ENOMEM; or as ip_path_init() and ip_send().
 */
int udp_send(struct ip_stack *s, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now);

/** A datagram that is being written. */
struct udp_out {
	struct rte_mbuf *m;
	struct ip_path path;
	struct ip_endpoint from, to;
};

/**
 * Begin a datagram of @p d->len octets, which are written to @p *room. udp_commit() or udp_cancel()
 * must follow, within the same call of the engine.
 * @return 0; -EMSGSIZE: it does not fit a packet of this path; -ENOMEM; or as ip_path_init().
 */
int udp_begin(struct ip_stack *s, struct udp_out *o, const struct udp_datagram *d, uint8_t **room,
	uint64_t now);

/** Send it. @param sum of the data's 16-bit words, folded (base/digest.h). @return as ip_send(). */
int udp_commit(struct ip_stack *s, struct udp_out *o, uint16_t sum, uint64_t now);
void udp_cancel(struct udp_out *o);

/** Private to IP. */
void udp_init(struct ip_stack *s);

/**
 * Private to IP: a received UDP packet, its data at the IP header and its UDP header at @p l4_off.
 * @return true: it was taken or dropped, and @p m is gone; false: nobody has opened the port.
 */
bool udp_input(struct ip_stack *s, const struct ip_rx *rx, uint16_t l4_off, struct rte_mbuf *m,
	uint64_t now);

#endif
