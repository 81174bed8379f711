/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ipsec.h
 * What stands at the IPsec boundary of a stack (RFC 4301 section 3.1): a table of functions, so
 * that IP need not know who protects its packets, or how. All are called under the engine's lock.
 */
#ifndef IP_IPSEC_H
#define IP_IPSEC_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;

/** What policies select packets by (RFC 4301 section 4.4.1.1). */
struct ip_flow {
	struct ip_addr src, dst;
	uint16_t src_port, dst_port; /**< 0: there are none */
	uint8_t proto;
};

/** What became of a packet at the boundary. */
enum ip_ipsec_verdict {
	IP_IPSEC_PASS,      /**< it goes on as it is */
	IP_IPSEC_CHANGED,   /**< it is another one now, beginning at its IP header */
	IP_IPSEC_TUNNELLED, /**< of input(): so is this, which was inside a tunnel */
	IP_IPSEC_OPENED,    /**< of input(): as TCP's, it is behind the headers that it came with */
	IP_IPSEC_DROPPED,   /**< it is gone, and counted */
};

struct ip_ipsec {
	void *ctx;
	/**
	 * A packet is about to leave. Its data is at its IP header, with its checksums complete.
	 * Who sends one that he holds himself, to send it again, leaves its tailroom to the callee.
	 * @param[in,out] m owned by the callee if the packet is changed or dropped. One that was
	 *        changed has room for a link's header.
	 * @param[out] to of one that was changed: its new destination.
	 */
	enum ip_ipsec_verdict (*output)(void *ctx, const struct ip_flow *f, struct rte_mbuf **m,
		struct ip_addr *to, uint64_t now);
	/**
	 * A whole packet has come, for an address of ours. Its data is at its IP header.
	 * @param l4_off of what is behind its headers.
	 * @param[in,out] m as for output().
	 * @param[in,out] secured what has protected it; NULL: nothing has. The packet that takes
	 *        the place of a protected one comes by here again, with what is set here. Of one
	 *        that was opened the headers tell the new length and protocol, and are else as IP
	 *        has checked them.
	 */
	enum ip_ipsec_verdict (*input)(void *ctx, const struct ip_flow *f, struct rte_mbuf **m,
		uint16_t l4_off, const void **secured, uint64_t now);
	/**
	 * A packet has come in the clear, for an address of ours, and goes no further because of
	 * its headers.
	 * @return it may come so, and may be answered; false: it may not, and was counted.
	 */
	bool (*clear)(void *ctx, const struct ip_flow *f);
	/**
	 * The longest packet from @p src to @p dst that is at most @p mtu long as it leaves.
	 * @param[out] to where it goes then: @p dst, or the other end of a tunnel.
	 */
	uint16_t (*room)(void *ctx, const struct ip_addr *src, const struct ip_addr *dst,
		uint16_t mtu, struct ip_addr *to);
	/**
	 * May we have sent, of late, the ESP packet that begins with the octets of @p esp? Anybody
	 * can ask.
	 * @param f as it leaves: its protocol is ESP's, or UDP's with the ports (RFC 3948).
	 * @param len how many octets there are: 8 or more.
	 */
	bool (*sent)(
		void *ctx, const struct ip_flow *f, const uint8_t *esp, size_t len, uint64_t now);
};

#endif
