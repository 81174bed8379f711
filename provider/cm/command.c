/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/address.h"
#include "provider/cm/call.h"
#include "provider/cm/connection.h"
#include "provider/cm/event.h"
#include "provider/cm/lifetime.h"
#include "provider/cm/multicast.h"
#include "provider/cm/option.h"

#include <errno.h>

void ucma_respond(const struct ucma_call *c, const void *answer, size_t size)
{
	memcpy(c->response, answer, size < c->out ? size : c->out);
}

enum ucma_id_state ucma_state(const struct ucma_call *c)
{
	enum ucma_id_state state;

	pthread_mutex_lock(&c->u->lock);
	state = c->id->state;
	pthread_mutex_unlock(&c->u->lock);
	return state;
}

int ucma_step(const struct ucma_call *c, enum ucma_id_state from, enum ucma_id_state to)
{
	int err = -EINVAL;

	pthread_mutex_lock(&c->u->lock);
	if (c->id->state == from) {
		c->id->state = to;
		err = 0;
	}
	pthread_mutex_unlock(&c->u->lock);
	return err;
}

int ucma_expect(const struct ucma_call *c, unsigned answers, unsigned ends)
{
	int err;

	pthread_mutex_lock(&c->u->lock);
	err = ucma_id_expect(c->id, answers, ends);
	pthread_mutex_unlock(&c->u->lock);
	return err;
}

#define NOWHERE UINT16_MAX

/** A command: its handler, and where its payload has what. */
struct command {
	ucma_handler *handler;
	uint16_t in;          /**< payload bytes at least */
	uint16_t response_at; /**< offset of the answer's address in it, or NOWHERE */
	uint16_t out;         /**< bytes of answer at least */
	uint16_t id_at;       /**< offset of the id to hold, or NOWHERE */
	bool device;          /**< the id must have found its device */
};

#define SIZE(t)  sizeof(struct rdma_ucm_##t)
#define AT(t, f) offsetof(struct rdma_ucm_##t, f)

static const struct command ucma_commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {ucma_create_id, SIZE(create_id), AT(create_id, response),
		SIZE(create_id_resp), NOWHERE, false},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {ucma_destroy_id, SIZE(destroy_id),
		AT(destroy_id, response), SIZE(destroy_id_resp), AT(destroy_id, id), false},
	[RDMA_USER_CM_CMD_BIND_IP] = {ucma_bind_ip, SIZE(bind_ip), NOWHERE, 0, AT(bind_ip, id),
		false},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {ucma_resolve_ip, SIZE(resolve_ip), NOWHERE, 0,
		AT(resolve_ip, id), false},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {ucma_resolve_route, SIZE(resolve_route), NOWHERE, 0,
		AT(resolve_route, id), true},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {ucma_query_route, AT(query, option), AT(query, response),
		AT(query_route_resp, ibdev_index), AT(query, id), false},
	[RDMA_USER_CM_CMD_CONNECT] = {ucma_connect, AT(connect, ece), NOWHERE, 0, AT(connect, id),
		true},
	[RDMA_USER_CM_CMD_LISTEN] = {ucma_listen, SIZE(listen), NOWHERE, 0, AT(listen, id), false},
	[RDMA_USER_CM_CMD_ACCEPT] = {ucma_accept, AT(accept, ece), NOWHERE, 0, AT(accept, id),
		true},
	[RDMA_USER_CM_CMD_REJECT] = {ucma_reject, SIZE(reject), NOWHERE, 0, AT(reject, id), true},
	[RDMA_USER_CM_CMD_DISCONNECT] = {ucma_disconnect, SIZE(disconnect), NOWHERE, 0,
		AT(disconnect, id), true},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {ucma_init_qp_attr, SIZE(init_qp_attr),
		AT(init_qp_attr, response), sizeof(struct ib_uverbs_qp_attr), AT(init_qp_attr, id),
		true},
	/* The answer of a library that knows no ECE ends before the padding. */
	[RDMA_USER_CM_CMD_GET_EVENT] = {ucma_get_event, SIZE(get_event), AT(get_event, response),
		AT(event_resp, reserved), NOWHERE, false},
	[RDMA_USER_CM_CMD_SET_OPTION] = {ucma_set_option, SIZE(set_option), NOWHERE, 0,
		AT(set_option, id), false},
	[RDMA_USER_CM_CMD_NOTIFY] = {ucma_notify, SIZE(notify), NOWHERE, 0, AT(notify, id), false},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {ucma_join_ip_multicast, SIZE(join_ip_mcast),
		AT(join_ip_mcast, response), SIZE(create_id_resp), AT(join_ip_mcast, id), true},
	/* What it names is the join. */
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {ucma_leave_multicast, SIZE(destroy_id),
		AT(destroy_id, response), SIZE(destroy_id_resp), NOWHERE, false},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {ucma_migrate_id, SIZE(migrate_id),
		AT(migrate_id, response), SIZE(migrate_resp), NOWHERE, false},
	[RDMA_USER_CM_CMD_QUERY] = {ucma_query, SIZE(query), AT(query, response),
		SIZE(query_path_resp), AT(query, id), false},
	[RDMA_USER_CM_CMD_BIND] = {ucma_bind, SIZE(bind), NOWHERE, 0, AT(bind, id), false},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {ucma_resolve_addr, SIZE(resolve_addr), NOWHERE, 0,
		AT(resolve_addr, id), false},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {ucma_join_multicast, SIZE(join_mcast),
		AT(join_mcast, response), SIZE(create_id_resp), AT(join_mcast, id), true},
};

/* The kernel's ucma_write(): EINVAL for what it never heard of, ENOSYS for what it gave up. */
static int ucma_find_command(
	const void *buf, size_t n, const struct command **out, uint16_t *in, uint16_t *out_size)
{
	struct rdma_ucm_cmd_hdr h;

	if (n < sizeof h)
		return -EINVAL;
	memcpy(&h, buf, sizeof h);
	if (h.cmd >= sizeof ucma_commands / sizeof ucma_commands[0] || h.in > n - sizeof h)
		return -EINVAL;
	*out = &ucma_commands[h.cmd];
	*in = h.in;
	*out_size = h.out;
	return (*out)->handler ? 0 : -ENOSYS;
}

/* Copy the payload and see that everything the handler will touch is there. */
static int ucma_load_command(
	const struct command *k, struct ucma_call *c, const void *payload, uint16_t in)
{
	uint64_t response;

	if (in < k->in)
		return -EINVAL;
	if (c->out < k->out)
		return -ENOSPC;
	memcpy(&c->cmd, payload, in < sizeof c->cmd ? in : sizeof c->cmd);
	if (k->response_at == NOWHERE)
		return 0;
	memcpy(&response, c->cmd.bytes + k->response_at, sizeof response);
	c->response = (void *)(uintptr_t)response;
	return response ? 0 : -EFAULT;
}

static int ucma_hold(const struct command *k, struct ucma_call *c)
{
	struct ucma *u = c->u;
	uint32_t number;
	int err;

	if (k->id_at == NOWHERE)
		return 0;
	memcpy(&number, c->cmd.bytes + k->id_at, sizeof number);
	pthread_mutex_lock(&u->lock);
	err = ucma_id_hold(&u->ids, &u->lock, c->ch, number, &c->id);
	pthread_mutex_unlock(&u->lock);
	return err;
}

static int ucma_run(const struct command *k, struct ucma_call *c)
{
	struct ucma *u = c->u;
	int err = ucma_hold(k, c);

	if (err)
		return err;
	/* The kernel's ucma_get_ctx_dev(). */
	err = k->device && !rnic_ep_has_device(c->id->ep) ? -EINVAL : k->handler(c);
	if (c->id) {
		pthread_mutex_lock(&u->lock);
		ucma_id_release(&u->ids, c->id);
		pthread_mutex_unlock(&u->lock);
	}
	return err;
}

static int ucma_run_on_channel(const struct command *k, struct ucma_call *c, int fd)
{
	struct ucma *u = c->u;
	int err;

	pthread_mutex_lock(&u->lock);
	c->ch = ucma_channel_find(&u->channels, fd);
	if (c->ch)
		ucma_channel_ref(c->ch);
	pthread_mutex_unlock(&u->lock);
	if (!c->ch)
		return -EBADF;
	/* A write to the kernel's device is no cancellation point half way through, nor is ours. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->cancel_state);
	err = ucma_run(k, c);
	pthread_setcancelstate(c->cancel_state, NULL);
	pthread_mutex_lock(&u->lock);
	ucma_channel_unref(c->ch);
	pthread_mutex_unlock(&u->lock);
	return err;
}

ssize_t ucma_write(struct ucma *u, int fd, const void *buf, size_t n)
{
	struct ucma_call c = {.u = u};
	const struct command *k;
	uint16_t in;
	int err;

	if (ucma_is_orphan(u)) {
		errno = ENODEV;
		return -1;
	}
	err = ucma_find_command(buf, n, &k, &in, &c.out);
	if (!err)
		err = ucma_load_command(
			k, &c, (const uint8_t *)buf + sizeof(struct rdma_ucm_cmd_hdr), in);
	if (!err)
		err = ucma_run_on_channel(k, &c, fd);
	if (err) {
		errno = -err;
		return -1;
	}
	return (ssize_t)n;
}
