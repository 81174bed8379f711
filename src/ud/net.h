/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net.h
 * How datagrams of UD queue pairs go out and come in: over UDP of our own, or the kernel's. Header
 * only. Who is let in is decided below (docs/ud.md).
 *
 * What is sent to a multicast group comes at a port of its own, which all processes of an address
 * share.
 *
 * All but prepare() and settle() under the engine's lock. Datagrams may be lost on their way, as
 * anywhere.
 */
#ifndef UD_NET_H
#define UD_NET_H

#include "base/ip_addr.h"
#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * UDP ports, from the configured one on: one for each process of an address, and that of groups.
 * They are opened late, so nobody who takes any port takes one of these.
 */
#define UD_PORTS 128

static inline bool ud_port_is_reserved(uint16_t first, uint16_t port)
{
	return (uint16_t)(port - first) < UD_PORTS;
}

/** Dynamic ports, up to the last (RFC 6335 section 6), and how often who needs one draws. */
#define UD_PORT_DYNAMIC       49152u
#define UD_PORT_DYNAMIC_TRIES 64

/** Draw a dynamic port that is none of those from @p first on. */
static inline uint16_t ud_port_draw(uint16_t first, const struct random_source *random)
{
	uint16_t port;

	do
		port = (uint16_t)(UD_PORT_DYNAMIC +
				  random_u32(random) % (UINT16_MAX + 1 - UD_PORT_DYNAMIC));
	while (ud_port_is_reserved(first, port));
	return port;
}

/** Where a datagram goes, or has come from. */
struct ud_path {
	struct ip_addr local, remote; /**< received: local may be a group; sending: remote */
	uint8_t tos;                  /**< traffic class, ECN bits included */
	uint8_t ttl;                  /**< sending: 0: the usual one, 1 to a group */
	bool own;                     /**< received: from one of our addresses */
};

/** A datagram came for the port. @p data is valid during the call. */
typedef void ud_input_fn(void *user, const struct ud_path *path, const uint8_t *data, size_t len);

/** Another UDP port, for the messages of sidr.h. */
struct ud_port;

struct ud_port_user {
	/** A datagram came. @p data is valid during the call. The port is not closed in it. */
	void (*input)(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
		const uint8_t *data, size_t len);
	/**
	 * ICMP says that this datagram to @p to was not delivered, or as much of it as was quoted.
	 * Anybody can say so.
	 */
	void (*error)(void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len);
	void *ctx;
};

/** Octets of the longest datagram of such a port. */
#define UD_PORT_MAX 512

struct ud_net {
	/**
	 * Receive at @p port, of all our addresses; and at @p group_port what is sent to groups,
	 * from the first join() on. Once.
	 * @return 0, -EADDRINUSE, or another -errno.
	 */
	int (*open)(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user);
	/** Nothing is received or sent any more. */
	void (*close)(void *ctx);
	/**
	 * Room for a datagram of @p len octets from the open port to @p port of @p path->remote.
	 * commit() or cancel() must follow.
	 * @return 0; -EAGAIN: later; or another -errno: it cannot be sent.
	 */
	int (*begin)(
		void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room);
	/** @param sum of its 16-bit words, folded (base/digest.h). */
	void (*commit)(void *ctx, uint16_t sum);
	void (*cancel)(void *ctx);
	/** No more follows for now. @return false: not all could be sent; call again, later. */
	bool (*flush)(void *ctx);
	/**
	 * Something will be sent to @p remote, perhaps a group, which may also be joined: learn the
	 * way to it. Without the engine's lock, as the host may take long to tell.
	 */
	void (*prepare)(void *ctx, const struct ip_addr *remote);
	/**
	 * Be a member of @p group, on the link of @p local, one of our addresses; the any-address:
	 * on those of all. What is joined twice is left twice. After open(), and prepare() for it;
	 * settle() must follow.
	 * @return 0; -EINVAL: no group, or one of a reserved scope; -EADDRNOTAVAIL: none of our
	 *         links is of its family; -ENOSPC: too many; or another -errno.
	 */
	int (*join)(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
	/** What was joined. settle() must follow. */
	void (*leave)(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
	/**
	 * Have the host do what was joined and left. Without the engine's lock, as it may take
	 * long; not while close() runs. NULL: join() and leave() do all.
	 * @param group NULL: no matter which, and whoever does so now does it for us, too.
	 * @return 0; -errno, as join(): @p group cannot be joined on the links of @p local. Who has
	 *         joined it leaves it then.
	 */
	int (*settle)(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
	/**
	 * Is @p local a GID, which an address handle can name as its source? It may be an address
	 * of ours and none. NULL: all are.
	 */
	bool (*has_gid)(void *ctx, const struct ip_addr *local);
	/**
	 * The GID that sends to @p remote, no group, where the route's source is none.
	 * @return 0; -EADDRNOTAVAIL, and @p local stays. NULL: as has_gid().
	 */
	int (*gid_source)(void *ctx, const struct ip_addr *remote, struct ip_addr *local);
	/** Our address that sends to @p group if the program names none. @return 0, -ENETUNREACH.
	 */
	int (*group_source)(void *ctx, const struct ip_addr *group, struct ip_addr *local);
	/** Open @p port. @return 0; -EADDRINUSE; -ENOSPC: too many are open; another -errno. */
	int (*port_open)(
		void *ctx, uint16_t port, const struct ud_port_user *user, struct ud_port **out);
	void (*port_close)(struct ud_port *p);
	/** Send, from our address @p from. It may be lost. */
	void (*port_send)(struct ud_port *p, const struct ip_addr *from,
		const struct ip_endpoint *to, const void *data, size_t len);
	/** The longest message that one packet takes; see UD_MESSAGE_MAX. */
	uint32_t max_message;
	/** The most that the TTL of a datagram to a group is: 1 keeps it in the subnet. */
	uint8_t group_ttl;
	/** Datagrams that came from where none are taken from; counted below. */
	uint64_t refused;
	/** Times that the host did not let us be a member of a group on an interface. */
	uint64_t groups_refused;
	void *ctx;
};

#endif
