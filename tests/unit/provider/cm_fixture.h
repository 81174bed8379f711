/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cm_fixture.h
 * For tests of rdma_cm under "uiwarp run" on a port that goes nowhere: ids on one event channel,
 * and whole connections to our own address, step by step.
 */
#ifndef TESTS_UNIT_PROVIDER_CM_FIXTURE_H
#define TESTS_UNIT_PROVIDER_CM_FIXTURE_H

#include <infiniband/verbs.h>

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#ifndef CM_V4 /* of the host's own TCP: meson.build */
#define CM_V4 "10.99.0.1"
#endif
#define CM_V6     "2001:db8:99::1"
#define CM_NOBODY "10.99.0.77" /**< on our subnet, and silent */

struct cm_address {
	struct sockaddr_storage ss;
};

/** @param text of either family. */
struct cm_address cm_address(const char *text, uint16_t port);
struct sockaddr *cm_sockaddr(struct cm_address *a);

/** A channel for what follows; closed again, it must have no event left. */
extern struct rdma_event_channel *cm_channel;
int cm_open(void **state);
int cm_close(void **state);
#define CM(f) cmocka_unit_test_setup_teardown(f, cm_open, cm_close)

/** An asynchronous id of RDMA_PS_TCP on cm_channel. */
struct rdma_cm_id *cm_id(void);
void cm_destroy(struct rdma_cm_id *id);

/** @return 0 or the errno that the call left. */
int cm_errno(int rc);
int cm_bind(struct rdma_cm_id *id, const char *text, uint16_t port);
/** Bound to CM_V4 and an ephemeral port. */
struct rdma_cm_id *cm_listener(int backlog);
uint16_t cm_port(struct rdma_cm_id *id);

/**
 * Wait for the next event, which must be this one, with this status. The caller acknowledges it.
 */
struct rdma_cm_event *cm_next(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status);
/** The same, acknowledged. */
void cm_expect(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status);
/** No event waits now. */
void cm_expect_none(void);

/** An active id on its way to @p port of @p text. */
struct rdma_cm_id *cm_resolved(const char *text, uint16_t port);
struct rdma_cm_id *cm_routed(const char *text, uint16_t port);
/** Give it a QP of its own with a CQ, as librdmacm makes them. */
void cm_qp(struct rdma_cm_id *id);

/** What the depths of both ends are without more ado. */
struct rdma_conn_param cm_param(const void *private_data, size_t len);

/** A connection in the making, and then made. */
struct cm_pair {
	struct rdma_cm_id *listener, *active, *passive;
};

/** Up to CONNECT_REQUEST, read and acknowledged. */
void cm_request(struct cm_pair *p);
/** The passive side accepts; both have their ESTABLISHED. */
void cm_accept(struct cm_pair *p);
void cm_connect(struct cm_pair *p);
/** Disconnect, from the active side, and have both events. */
void cm_disconnect(struct cm_pair *p);
/** Destroy what there is of it, in any state. */
void cm_end(struct cm_pair *p);

#endif
