/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

struct rdma_event_channel *cm_channel;

/* ---- addresses ------------------------------------------------------------------------------- */

struct cm_address cm_address(const char *text, uint16_t port)
{
	struct cm_address a = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a.ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a.ss;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return a;
	}
	assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return a;
}

struct sockaddr *cm_sockaddr(struct cm_address *a)
{
	return (struct sockaddr *)&a->ss;
}

uint16_t cm_port(struct rdma_cm_id *id)
{
	return ntohs(rdma_get_src_port(id));
}

/* ---- ids ------------------------------------------------------------------------------------- */

int cm_open(void **state)
{
	cm_channel = rdma_create_event_channel();
	return cm_channel == NULL;
}

int cm_close(void **state)
{
	cm_expect_none();
	rdma_destroy_event_channel(cm_channel);
	return 0;
}

struct rdma_cm_id *cm_id(void)
{
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(cm_channel, &id, NULL, RDMA_PS_TCP), 0);
	return id;
}

void cm_destroy(struct rdma_cm_id *id)
{
	if (id == NULL)
		return;
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	assert_int_equal(rdma_destroy_id(id), 0);
}

int cm_errno(int rc)
{
	return rc == 0 ? 0 : errno;
}

int cm_bind(struct rdma_cm_id *id, const char *text, uint16_t port)
{
	struct cm_address a = cm_address(text, port);

	return cm_errno(rdma_bind_addr(id, cm_sockaddr(&a)));
}

struct rdma_cm_id *cm_listener(int backlog)
{
	struct rdma_cm_id *id = cm_id();

	assert_int_equal(cm_bind(id, CM_V4, 0), 0);
	assert_int_equal(rdma_listen(id, backlog), 0);
	return id;
}

/* ---- events ---------------------------------------------------------------------------------- */

struct rdma_cm_event *cm_next(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *ev;

	assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
	if (ev->event != type || ev->status != status)
		fail_msg("%s with status %d, not %s with %d", rdma_event_str(ev->event), ev->status,
			rdma_event_str(type), status);
	assert_ptr_equal(type == RDMA_CM_EVENT_CONNECT_REQUEST ? ev->listen_id : ev->id, id);
	return ev;
}

void cm_expect(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status)
{
	assert_int_equal(rdma_ack_cm_event(cm_next(id, type, status)), 0);
}

void cm_expect_none(void)
{
	struct pollfd p = {.fd = cm_channel->fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 0), 0);
}

/* ---- connections ----------------------------------------------------------------------------- */

struct rdma_cm_id *cm_resolved(const char *text, uint16_t port)
{
	struct cm_address to = cm_address(text, port);
	struct rdma_cm_id *id = cm_id();

	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	return id;
}

struct rdma_cm_id *cm_routed(const char *text, uint16_t port)
{
	struct rdma_cm_id *id = cm_resolved(text, port);

	assert_int_equal(rdma_resolve_route(id, 2000), 0);
	cm_expect(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return id;
}

void cm_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};

	assert_int_equal(rdma_create_qp(id, NULL, &attr), 0);
}

struct rdma_conn_param cm_param(const void *private_data, size_t len)
{
	return (struct rdma_conn_param){.private_data = private_data,
		.private_data_len = (uint8_t)len,
		.responder_resources = 4,
		.initiator_depth = 4};
}

void cm_request(struct cm_pair *p)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_event *ev;

	if (p->listener == NULL)
		p->listener = cm_listener(0);
	p->active = cm_routed(CM_V4, cm_port(p->listener));
	cm_qp(p->active);
	assert_int_equal(rdma_connect(p->active, &param), 0);
	ev = cm_next(p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	p->passive = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
}

void cm_accept(struct cm_pair *p)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_event *ev;
	unsigned seen = 0;

	if (p->passive->qp == NULL)
		cm_qp(p->passive);
	assert_int_equal(rdma_accept(p->passive, &param), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_ESTABLISHED);
		assert_int_equal(ev->status, 0);
		seen |= ev->id == p->active ? 1 : ev->id == p->passive ? 2 : 4;
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	assert_int_equal(seen, 3);
}

void cm_connect(struct cm_pair *p)
{
	cm_request(p);
	cm_accept(p);
}

void cm_disconnect(struct cm_pair *p)
{
	struct rdma_cm_event *ev;
	unsigned seen = 0;

	assert_int_equal(rdma_disconnect(p->active), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_DISCONNECTED);
		assert_int_equal(ev->status, 0);
		seen |= ev->id == p->active ? 1 : ev->id == p->passive ? 2 : 4;
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	assert_int_equal(seen, 3);
}

void cm_end(struct cm_pair *p)
{
	cm_destroy(p->active);
	cm_destroy(p->passive);
	cm_destroy(p->listener);
	*p = (struct cm_pair){NULL, NULL, NULL};
}
