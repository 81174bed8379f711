/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sidr.h
 * Private: endpoints of UD queue pairs (docs/ud.md, ud/sidr.h). The active one asks until it has an
 * answer. The passive one keeps its answer for as long as the program keeps the endpoint, and gives
 * it again when the request comes again.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_SIDR_H
#define RNIC_SIDR_H

#include "base/siphash.h"
#include "rnic/ep_priv.h"
#include "rnic/mcast.h"
#include "ud/sidr.h"

/** Between the first two requests; each wait is twice as long as that before, up to the last. */
#define SIDR_WAIT_FIRST_NS UINT64_C(100000000)
#define SIDR_WAIT_LAST_NS  UINT64_C(4000000000)

#define SIDR_BUCKETS 256

LIST_HEAD(sidr_list, sidr);

/** Of an endpoint. */
struct sidr {
	struct rnic_ep *ep;
	LIST_ENTRY(sidr) link; /**< of one of the service's lists, if listed */
	bool listed;
	struct sidr_port *port; /**< it listens there, or its request has come there; or NULL */
	uint64_t number;        /**< of the request */
	struct timer again;     /**< asking */
	uint64_t wait, deadline;
	struct mcast_joined_list joined; /**< groups that the program has joined */
	uint8_t message[SIDR_LEN];       /**< the request, or the answer to it */
};

/** A UDP port that endpoints listen at, or that requests are made from. */
struct sidr_port {
	LIST_ENTRY(sidr_port) link;
	struct rnic *rnic;
	uint16_t number;
	unsigned refs;
	struct ud_port *udp;
};

/** Of an RNIC. */
struct sidr_service {
	LIST_HEAD(, sidr_port) ports;
	struct sidr_port *client; /**< requests are made from here; NULL: none was made yet */
	struct siphash_key key;
	struct sidr_list listeners;              /**< few among many endpoints */
	struct sidr_list asking[SIDR_BUCKETS];   /**< active, by number */
	struct sidr_list requests[SIDR_BUCKETS]; /**< passive, by number and who has asked */
};

/** Make @p ep, which is new, one for UD QPs. @return 0, -EOPNOTSUPP, -ENOMEM. */
int sidr_init(struct rnic_ep *ep);

/** The endpoint is freed. A request is rejected. Does nothing for one of connections. */
void sidr_fini(struct rnic_ep *ep);

void sidr_service_close(struct rnic *r);

/** The functions of ep.h, for endpoints of UD QPs. */
int sidr_listen(struct rnic_ep *ep);
void sidr_unlisten(struct rnic_ep *ep);
int sidr_connect(struct rnic_ep *ep, const struct rnic_conn_param *p);
int sidr_accept(struct rnic_ep *ep, const struct rnic_conn_param *p);
int sidr_reject(struct rnic_ep *ep, const void *private_data, uint16_t len);

/**
 * May @p local be the address of an endpoint of UD QPs? Who is told of one that no address handle
 * names would send from another.
 */
bool sidr_has_gid(const struct rnic *r, const struct ip_addr *local);

/* ---- ports (sidr_port.c) ------------------------------------------------------------------- */

/**
 * See that nobody else has bound @p at; port 0: choose one. UDP's port is not opened.
 * @return 0, -EADDRINUSE, -EADDRNOTAVAIL.
 */
int sidr_reserve(struct rnic_ep *ep, struct ip_endpoint *at, bool reuse, bool v6only);

/** The endpoint that listens at @p at; one with that very address before others. Or NULL. */
struct rnic_ep *sidr_listener(const struct rnic *r, const struct ip_endpoint *at);

/** True if another endpoint listens where @p ep would. */
bool sidr_is_listened(const struct rnic_ep *ep);

/**
 * Open the UDP port @p number, or share it. @param number 0: one that is free.
 * @return 0, or as ud_net.port_open(), -ENOMEM.
 */
int sidr_port_get(
	struct rnic *r, uint16_t number, const struct ud_port_user *user, struct sidr_port **out);
void sidr_port_ref(struct sidr_port *p);
/** @p p may be NULL. */
void sidr_port_put(struct sidr_port *p);

#endif
