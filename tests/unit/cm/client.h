/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file client.h
 * What librdmacm does, for the tests of the other side: write commands, read answers.
 */
#ifndef UNIT_CM_CLIENT_H
#define UNIT_CM_CLIENT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include "base/bytes.h"
#include "provider/cm/event.h"
#include "support/ep_fake.h"
#include "support/ucma_end.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define GUID 0x0102030405060708u

struct client {
	struct ucma *u;
	int fd;
};

static inline struct client client_open(void)
{
	struct client c;

	ep_fake_reset();
	ep_fake.resolve_at_once = true;
	assert_int_equal(ucma_create(ep_fake_rnic(), GUID, &c.u), 0);
	c.fd = ucma_open(c.u, O_NONBLOCK | O_CLOEXEC);
	assert_true(c.fd >= 0);
	return c;
}

static inline void client_close(struct client *c)
{
	ucma_close(c->u, c->fd);
	close(c->fd);
	ucma_destroy(c->u);
	assert_int_equal(ep_fake.live, 0);
}

/** In a heap block of exactly its size, so that a read beyond it is seen. @return 0 or -errno. */
static inline int client_raw(const struct client *c, int fd, uint32_t cmd, const void *payload,
	size_t n, uint16_t in, uint16_t out)
{
	struct rdma_ucm_cmd_hdr h = {.cmd = cmd, .in = in, .out = out};
	uint8_t *buf = malloc(sizeof h + n);
	ssize_t done;
	int err = 0;

	assert_non_null(buf);
	memcpy(buf, &h, sizeof h);
	if (n)
		memcpy(buf + sizeof h, payload, n);
	errno = 0;
	done = ucma_write(c->u, fd, buf, sizeof h + n);
	if (done < 0)
		err = -errno;
	else
		assert_int_equal(done, sizeof h + n);
	free(buf);
	return err;
}

static inline int client_call(
	const struct client *c, uint32_t cmd, const void *payload, size_t n, uint16_t out)
{
	return client_raw(c, c->fd, cmd, payload, n, (uint16_t)n, out);
}

#define CALL(c, CMD, q)         client_call(c, RDMA_USER_CM_CMD_##CMD, &(q), sizeof(q), 0)
#define CALL_RESP(c, CMD, q, r) client_call(c, RDMA_USER_CM_CMD_##CMD, &(q), sizeof(q), sizeof(r))

static inline uint32_t client_create_ps(const struct client *c, uint64_t uid, uint16_t ps)
{
	struct rdma_ucm_create_id_resp r = {.id = UINT32_MAX};
	struct rdma_ucm_create_id q = {.uid = uid, .response = (uintptr_t)&r, .ps = ps};

	assert_int_equal(CALL_RESP(c, CREATE_ID, q, r), 0);
	assert_int_not_equal(r.id, UINT32_MAX);
	return r.id;
}

static inline uint32_t client_create(const struct client *c, uint64_t uid)
{
	return client_create_ps(c, uid, RDMA_PS_TCP);
}

/** @return events reported, or -errno. */
static inline int client_destroy(const struct client *c, uint32_t id)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct rdma_ucm_destroy_id q = {.response = (uintptr_t)&r, .id = id};
	int err = CALL_RESP(c, DESTROY_ID, q, r);

	return err ? err : (int)r.events_reported;
}

static inline struct sockaddr_in6 client_sa(const char *text, uint16_t port)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		v4.sin_port = htons(port);
		memcpy(&v6, &v4, sizeof v4);
		memset((char *)&v6 + sizeof v4, 0, sizeof v6 - sizeof v4);
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
		v6.sin6_port = htons(port);
	}
	return v6;
}

static inline int client_bind(const struct client *c, uint32_t id, const char *text, uint16_t port)
{
	struct rdma_ucm_bind_ip q = {.addr = client_sa(text, port), .id = id};

	return CALL(c, BIND_IP, q);
}

static inline int client_listen(const struct client *c, uint32_t id, uint32_t backlog)
{
	struct rdma_ucm_listen q = {.id = id, .backlog = backlog};

	return CALL(c, LISTEN, q);
}

static inline int client_resolve(const struct client *c, uint32_t id, const char *dst)
{
	struct rdma_ucm_resolve_ip q = {.dst_addr = client_sa(dst, 7174), .id = id};

	return CALL(c, RESOLVE_IP, q);
}

static inline int client_route(const struct client *c, uint32_t id)
{
	struct rdma_ucm_resolve_route q = {.id = id, .timeout_ms = 1};

	return CALL(c, RESOLVE_ROUTE, q);
}

static inline int client_event_on(const struct client *c, int fd, struct rdma_ucm_event_resp *r)
{
	struct rdma_ucm_get_event q = {.response = (uintptr_t)r};

	memset(r, 0xee, sizeof *r);
	return client_raw(c, fd, RDMA_USER_CM_CMD_GET_EVENT, &q, sizeof q, sizeof q, sizeof *r);
}

static inline int client_event(const struct client *c, struct rdma_ucm_event_resp *r)
{
	return client_event_on(c, c->fd, r);
}

/** Read an event, which must be this one. */
static inline struct rdma_ucm_event_resp client_expect(
	const struct client *c, uint32_t type, uint64_t uid)
{
	struct rdma_ucm_event_resp r;

	assert_int_equal(client_event(c, &r), 0);
	assert_int_equal(r.event, type);
	assert_int_equal(r.uid, uid);
	return r;
}

static inline bool client_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/** An id that may connect. */
static inline uint32_t client_routed(const struct client *c, uint64_t uid)
{
	uint32_t id = client_create(c, uid);

	assert_int_equal(client_resolve(c, id, "10.0.0.2"), 0);
	client_expect(c, UCMA_EVENT_ADDR_RESOLVED, uid);
	assert_int_equal(client_route(c, id), 0);
	client_expect(c, UCMA_EVENT_ROUTE_RESOLVED, uid);
	return id;
}

static inline struct rdma_ucm_conn_param client_param(void)
{
	struct rdma_ucm_conn_param p = {.qp_num = EP_FAKE_QP_NUM,
		.private_data = "hello",
		.private_data_len = 5,
		.responder_resources = 4,
		.initiator_depth = 6,
		.valid = 1};

	return p;
}

/** A listener on a port, and its endpoint. */
static inline uint32_t client_listener(const struct client *c, uint64_t uid, struct rnic_ep **ep)
{
	uint32_t id = client_create(c, uid);

	*ep = ep_fake.last;
	assert_int_equal(client_bind(c, id, "0.0.0.0", 7174), 0);
	assert_int_equal(client_listen(c, id, 10), 0);
	return id;
}

/** A request that was read from @p listener. @return its number. */
static inline uint32_t client_request(
	const struct client *c, uint64_t listener_uid, struct rnic_ep *listener)
{
	ep_fake_request(listener, "10.0.0.1", "10.0.0.2", "hi", 2);
	return client_expect(c, UCMA_EVENT_CONNECT_REQUEST, listener_uid).id;
}

#endif
