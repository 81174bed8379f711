/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ep.h
 * A CM endpoint: it makes, accepts and ends the connections of QPs, in the terms of rdma_cm.
 *
 * Life of an active one: create, bind (optional), resolve, connect, [ESTABLISHED | REJECTED |
 * UNREACHABLE | ...], DISCONNECTED, destroy. Passive: create, bind, listen, CONNECT_REQUEST brings
 * a new endpoint, accept or reject it, ESTABLISHED, DISCONNECTED, destroy.
 *
 * Threads: any. The functions take the engine's lock. The event callback runs under it and must
 * only queue. After rnic_ep_destroy() has returned no event of that endpoint comes.
 */
#ifndef RNIC_EP_H
#define RNIC_EP_H

#include "rnic/rnic.h"

struct rnic_ep;

enum rnic_ep_event_type {
	RNIC_EP_ADDR_RESOLVED,
	RNIC_EP_ADDR_ERROR,      /**< status: -ENETUNREACH, -ETIMEDOUT, -EADDRNOTAVAIL */
	RNIC_EP_CONNECT_REQUEST, /**< a new endpoint is in `request`; belongs to the listener */
	RNIC_EP_ESTABLISHED,     /**< active: with the private data of the reply */
	/**
	 * Active. status: -ECONNREFUSED by TCP RST or MPA reject (then with private data);
	 * -ECONNRESET: the peer closed during start-up; -EKEYREJECTED: one side does not believe
	 * the other (tls/tls.h).
	 */
	RNIC_EP_REJECTED,
	RNIC_EP_UNREACHABLE, /**< status: -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH */
	/**
	 * status: -EPROTO, -ECONNABORTED (our QP was destroyed); passive, after accept:
	 * -ECONNRESET.
	 */
	RNIC_EP_CONNECT_ERROR,
	RNIC_EP_DISCONNECTED, /**< once, after any end; status 0 or negative errno */
	/** The port is gone (rnic_lost()). To each endpoint that has a device, in any state. */
	RNIC_EP_DEVICE_REMOVAL,
};

struct rnic_ep_event {
	enum rnic_ep_event_type type;
	struct rnic_ep *ep;
	void *context;           /**< of ep */
	struct rnic_ep *request; /**< CONNECT_REQUEST */
	bool *refuse;            /**< CONNECT_REQUEST: set it, and the request is rejected */
	int status;
	const void *private_data; /**< valid during the callback */
	uint16_t private_len;
	/**
	 * The peer's depths from our side: what we may use (RFC 6581 section 9.1). A depth that was
	 * not given, as in revisions below 2, is the device's limit.
	 */
	uint16_t ird, ord;
	/** UD, ESTABLISHED: the peer's QP, the Q_Key to send with, and between which addresses */
	uint32_t ud_qp, ud_qkey;
	struct ip_addr ud_local, ud_remote;
};

typedef void rnic_ep_event_fn(const struct rnic_ep_event *ev);

/** @p fn is called under the engine's lock, with @p context. @return 0, -ENOMEM. */
int rnic_ep_create(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out);

/**
 * The same for UD QPs, which do not connect: RDMA_PS_UDP of rdma_cm (docs/ud.md). To connect is to
 * ask a listener of its kind for a QP; the answer is ESTABLISHED, or UNREACHABLE, whose status is
 * then -ETIMEDOUT, or positive: enum sidr_status. The passive side has no event after accept, and
 * neither has one at the end. The ports are UDP's.
 * @return also -EOPNOTSUPP: there are no UD QPs.
 */
int rnic_ep_create_ud(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out);

/** Adopt a request endpoint that came with CONNECT_REQUEST: give it a context. */
void rnic_ep_set_context(struct rnic_ep *ep, rnic_ep_event_fn *fn, void *context);

/**
 * Destroy the endpoint, in any state. A listener stops, and its requests that are not adopted are
 * rejected. A request is rejected. A connection in start-up is aborted. An established connection
 * ends, and its QP goes to ERROR, unless it closes already.
 */
void rnic_ep_destroy(struct rnic_ep *ep);

/**
 * @param reuse rdma_set_option(RDMA_OPTION_ID_REUSEADDR).
 * @param v6only rdma_set_option(RDMA_OPTION_ID_AFONLY): for a :: listener.
 * @return 0, -EADDRNOTAVAIL, -EADDRINUSE, -EINVAL (bound already), -ENOMEM.
 */
int rnic_ep_bind(struct rnic_ep *ep, const struct ip_endpoint *local, bool reuse, bool v6only);

/**
 * Change the binding of an endpoint that does not listen yet.
 * @return 0, -EINVAL (not bound, or too late), -EADDRINUSE (nothing has changed).
 */
int rnic_ep_rebind(struct rnic_ep *ep, bool reuse, bool v6only);

/**
 * Choose source, port and route, and resolve the next hop. ADDR_RESOLVED or ADDR_ERROR follows:
 * -ENETUNREACH if there is no route, -ETIMEDOUT if the next hop has not answered within @p patience
 * ns. 0: only find a route. An endpoint of UD QPs may resolve a multicast group, which needs a
 * source alone; -EADDRNOTAVAIL if its source is no GID (ud/net.h).
 * @return 0, -EINVAL.
 */
int rnic_ep_resolve(struct rnic_ep *ep, const struct ip_endpoint *remote, uint64_t patience);

/**
 * @param backlog limit of requests that are not adopted; 0: the largest. Others are rejected. As
 *                many again may wait from peers that have none waiting yet, one of each.
 * @return 0, -EINVAL (not bound), -EADDRINUSE, -ENOMEM.
 */
int rnic_ep_listen(struct rnic_ep *ep, unsigned backlog);

struct rnic_conn_param {
	struct rnic_qp *qp; /**< not of UD; NULL: by its number, */
	uint32_t qp_num;    /**< of a QP that other threads may destroy until it is connected */
	uint32_t ud_qp, ud_qkey; /**< UD, accept: what the peer is told */
	uint16_t ird, ord;       /**< rdma_conn_param: responder_resources, initiator_depth */
	const void *private_data;
	uint16_t private_len;
	uint8_t tos;
};

/**
 * Connect the QP to the resolved peer. An event follows. After an RST it tries again a few times
 * within 100 ms, because a program that replaces a listener refuses for a moment. The peer's port
 * mapper is asked first, if there is one in the configuration. If the peer does
 * not know MPA revision 2, it tries again with revision 1 on a new connection, before the same
 * deadline.
 * @return 0, -EINVAL, -ENOMEM, or as llp_connect().
 */
int rnic_ep_connect(struct rnic_ep *ep, const struct rnic_conn_param *p);

/** Accept a request endpoint. ESTABLISHED follows. @return 0, -EINVAL, -ENOTCONN (gone). */
int rnic_ep_accept(struct rnic_ep *ep, const struct rnic_conn_param *p);

/** @return 0, -EINVAL, -ENOTCONN. */
int rnic_ep_reject(struct rnic_ep *ep, const void *private_data, uint16_t len);

/**
 * Close in good order. DISCONNECTED follows when both sides have closed. If it is still connecting
 * it closes as soon as it is established. @return 0, -ENOTCONN; UD: -EINVAL.
 */
int rnic_ep_disconnect(struct rnic_ep *ep);

/**
 * Be a member of a multicast group on the link of the endpoint's address, until it is left or the
 * endpoint destroyed. What is joined twice is left twice. Only of an endpoint of UD QPs that is
 * bound to an address or resolved.
 * @return 0; -EINVAL: none of those, or no group of its family; -ENOMEM: a limit (rnic.h), or no
 *         memory; or as ud_net.join().
 */
int rnic_ep_join(struct rnic_ep *ep, const struct ip_addr *group);

/** @return 0; -EINVAL: it was not joined. */
int rnic_ep_leave(struct rnic_ep *ep, const struct ip_addr *group);

/** The addresses; the any-address and port 0 where they are not known. */
void rnic_ep_addresses(
	const struct rnic_ep *ep, struct ip_endpoint *local, struct ip_endpoint *remote);

/** True if @p a is an address of the device. */
bool rnic_ep_is_local(const struct rnic_ep *ep, const struct ip_addr *a);

/** True if link-local addresses have to say of which interface they are (llp_has_scopes()). */
bool rnic_ep_has_scopes(const struct rnic_ep *ep);

/** True once the local address is known: bound to one, resolved, or a request. */
bool rnic_ep_has_device(const struct rnic_ep *ep);

#endif
