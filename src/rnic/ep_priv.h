/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ep_priv.h Private: a CM endpoint. */
#ifndef RNIC_EP_PRIV_H
#define RNIC_EP_PRIV_H

#include "rnic/conn.h"
#include "rnic/ep.h"

enum ep_state {
	EP_IDLE,
	EP_BOUND,
	EP_RESOLVING, /**< the next hop is being resolved */
	EP_RESOLVED,
	EP_LISTENING,
	EP_CONNECTING,
	EP_REQUEST,  /**< passive: the user has not answered yet */
	EP_ACCEPTED, /**< passive: waits for the ready-to-receive frame (RFC 6581 section 9.3) */
	EP_CONNECTED,
	EP_OVER, /**< it was connected, or a request that has ended */
};

/** What only a listener has. */
struct ep_listener {
	struct llp_listener *llp;
	struct iwpm_listener mapped; /**< for the peers' port mappers */
	uint32_t backlog;
	struct peer_set waiting; /**< by peer, the requests that are not adopted yet */
	LIST_HEAD(, conn) pending;
	LIST_HEAD(, rnic_ep) requests;
};

/** All under the engine's lock. There is one for each connection, for as long as its program. */
struct rnic_ep {
	LIST_ENTRY(rnic_ep) link;
	struct rnic *rnic;
	rnic_ep_event_fn *fn;
	void *context;
	enum ep_state state;
	struct ip_endpoint local, remote;
	struct ip_endpoint bound; /**< as reserved from the LLP, if it is */
	bool reserved;
	bool reuse, v6only; /**< as it is reserved */
	bool was_connected;
	bool closing;      /**< close it once it is established */
	bool paired;       /**< of pairing.h, and so are its connections */
	struct conn *conn; /**< until it is over */
	struct sidr *sidr; /**< of UD QPs (sidr.h); NULL: of connections */

	struct ep_listener *listener; /**< or NULL */
	struct rnic_ep *parent;       /**< of a request: the listener, while that exists */
	bool adopted;                 /**< false: it counts in the listener's waiting */
	bool ask;                     /**< while it is resolving: resolve the next hop, too */
	uint32_t look_ns;             /**< while it is resolving: until the next look */
	union {
		struct {                           /* while it is resolving */
			uint64_t resolve_deadline; /**< for the next hop's answer */
			struct timer look;
		};
		struct { /* of a request */
			struct peer_charge charge;
			LIST_ENTRY(rnic_ep) request_link;
		};
	};
};

/** Complete the event and call the user. */
void ep_tell(struct rnic_ep *ep, struct rnic_ep_event *ev);

/** The same for CONNECT_REQUEST: one that the user cannot take is rejected. */
void ep_tell_request(struct rnic_ep *ep, struct rnic_ep_event *ev);

/** Tell all endpoints of programs that have a device: it is gone. */
void ep_tell_removal(struct rnic *r);

/** Report that f->remote, ep->remote, was not reached. */
void ep_failed(const struct rnic_ep *ep, const struct rnic_failure *f);

/** A new endpoint in the device's list. @return NULL: no memory. */
struct rnic_ep *ep_new(struct rnic *r, rnic_ep_event_fn *fn, void *context);

/** The functions of ep.h with the lock held, for users in this directory. */
void ep_free(struct rnic_ep *ep);
int ep_bind(struct rnic_ep *ep, const struct ip_endpoint *local, bool reuse, bool v6only);
int ep_listen(struct rnic_ep *ep, unsigned backlog);
int ep_connect(struct rnic_ep *ep, const struct rnic_conn_param *p);
int ep_accept(struct rnic_ep *ep, const struct rnic_conn_param *p);
int ep_reject(struct rnic_ep *ep, const void *private_data, uint16_t len);
/** Stop resolving. */
void ep_stop_resolving(struct rnic_ep *ep);
void ep_adopt(struct rnic_ep *ep, rnic_ep_event_fn *fn, void *context);

/**
 * A request has come to the listener @p ep. @return its endpoint, or NULL: the backlog is full, or
 * no memory.
 */
struct rnic_ep *ep_new_request(
	struct rnic_ep *ep, const struct ip_endpoint *local, const struct ip_endpoint *remote);

/** A request was adopted or has ended: it does not count in its listener any more. */
void ep_request_taken(struct rnic_ep *ep);

/** The listener does not own a request any more. */
void ep_leave_listener(struct rnic_ep *ep);

/**
 * Stop listening. Pending connections are reset, and requests that are not adopted are rejected.
 */
void ep_unlisten(struct rnic_ep *ep);

/** The depth that we may use, from the peer's. */
uint16_t ep_depth(uint16_t told, uint32_t max);

/**
 * Check the parameters of a connection of @p ep. Engine's lock held.
 * @param enhanced the frame has the words of RFC 6581.
 * @return its QP; NULL: they are wrong.
 */
struct rnic_qp *ep_param_verify(
	const struct rnic_ep *ep, const struct rnic_conn_param *p, bool enhanced);

/* Upcalls of a connection. */

/** Listener: an MPA request has come on @p c. */
void ep_on_request(struct rnic_ep *ep, struct conn *c, const struct mpa_start *st);

/** Active: an attempt to connect has begun, perhaps: its local endpoint is known. */
void ep_on_attempt(struct rnic_ep *ep, const struct conn *c);

/** Active: the stream is established. @param ird, ord the depths that may be used. */
void ep_on_reply(struct rnic_ep *ep, const struct mpa_start *st, uint16_t ird, uint16_t ord);

/** Passive: the first FPDU came. */
void ep_on_operational(struct rnic_ep *ep);

/** @p c has parted from @p ep already. */
void ep_on_over(struct rnic_ep *ep, const struct conn_end *end);

#endif
