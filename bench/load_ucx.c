/* SPDX-License-Identifier: BSD-2-Clause */
/* UCX's tagged messages, over what UCX_TLS names. */
#include "load.h"

#include <err.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>

/** Messages under way that UCX has not taken yet, in all; and receives that wait. */
#define UCX_DEPTH    128
#define UCX_RECEIVES 1024
#define UCX_TAG      1

struct ucx_slot {
	struct ucx *ucx;
	uint8_t message[LOAD_SIZE];
	void *request; /**< under way; NULL: free, or has come */
	bool arrived;
};

struct ucx {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_listener_h listener;
	ucp_ep_h *ep;
	struct ucx_slot *slot;
	unsigned n, num_ep, next, slots;
	size_t size;
	bool sender;
};

static void ucx_must(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		errx(1, "%s: %s", what, ucs_status_string(status));
}

static void *ucx_must_request(void *request, const char *what)
{
	if (UCS_PTR_IS_ERR(request))
		ucx_must(UCS_PTR_STATUS(request), what);
	return request;
}

static void ucx_finish(struct ucx *u, void *request)
{
	if (!request)
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		ucp_worker_progress(u->worker);
	ucp_request_free(request);
}

/* ---- connecting --------------------------------------------------------------------------- */

static void ucx_on_connection(ucp_conn_request_h request, void *ctx)
{
	struct ucx *u = ctx;
	ucp_ep_params_t p = {
		.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST, .conn_request = request};

	if (u->num_ep == u->n)
		errx(1, "too many connections");
	ucx_must(ucp_ep_create(u->worker, &p, &u->ep[u->num_ep++]), "ucp_ep_create");
}

static void ucx_connect(struct ucx *u, const struct addrinfo *at)
{
	ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
		.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
		.sockaddr = {at->ai_addr, at->ai_addrlen}};

	for (; u->num_ep < u->n; u->num_ep++)
		ucx_must(ucp_ep_create(u->worker, &p, &u->ep[u->num_ep]), "ucp_ep_create");
}

static void ucx_listen(struct ucx *u, const struct addrinfo *at)
{
	ucp_listener_params_t p = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
						 UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
		.sockaddr = {at->ai_addr, at->ai_addrlen},
		.conn_handler = {ucx_on_connection, u}};

	ucx_must(ucp_listener_create(u->worker, &p, &u->listener), "ucp_listener_create");
	while (u->num_ep < u->n)
		ucp_worker_progress(u->worker);
}

static void ucx_on_message(
	void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *ctx)
{
	struct ucx_slot *slot = ctx;

	if (status == UCS_ERR_CANCELED)
		return; /* at the end */
	ucx_must(status, "receive");
	slot->arrived = true;
}

static void ucx_receive(struct ucx_slot *slot)
{
	ucp_request_param_t p = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
						 UCP_OP_ATTR_FIELD_USER_DATA |
						 UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
		.cb = {.recv = ucx_on_message},
		.user_data = slot};

	slot->arrived = false;
	slot->request = ucx_must_request(ucp_tag_recv_nbx(slot->ucx->worker, slot->message,
						 slot->ucx->size, UCX_TAG, UINT64_MAX, &p),
		"ucp_tag_recv_nbx");
}

static void ucx_make(struct ucx *u)
{
	ucp_params_t context = {
		.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
	ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_config_t *config;

	ucx_must(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
	ucx_must(ucp_init(&context, config, &u->context), "ucp_init");
	ucp_config_release(config);
	ucx_must(ucp_worker_create(u->context, &worker, &u->worker), "ucp_worker_create");
	u->slots = u->sender ? UCX_DEPTH : UCX_RECEIVES;
	u->ep = calloc(u->n, sizeof *u->ep);
	u->slot = calloc(u->slots, sizeof *u->slot);
	if (!u->ep || !u->slot)
		err(1, "memory");
	for (unsigned i = 0; i < u->slots; i++)
		u->slot[i].ucx = u;
}

static void *ucx_open(const struct load_options *o)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
		.ai_family = o->address ? AF_UNSPEC : AF_INET,
		.ai_flags = o->address ? 0 : AI_PASSIVE};
	struct ucx *u = calloc(1, sizeof *u);
	struct addrinfo *at;

	if (!u || getaddrinfo(o->address, o->port, &hints, &at))
		err(1, "%s", o->address ? o->address : "listen");
	u->n = o->connections;
	u->size = o->size;
	u->sender = o->address != NULL;
	ucx_make(u);
	for (unsigned i = 0; !u->sender && i < u->slots; i++)
		ucx_receive(&u->slot[i]);
	if (u->sender)
		ucx_connect(u, at);
	else
		ucx_listen(u, at);
	freeaddrinfo(at);
	return u;
}

/* ---- messages ----------------------------------------------------------------------------- */

static bool ucx_send(void *transport, unsigned connection, uint64_t stamp)
{
	const ucp_request_param_t p = {.op_attr_mask = 0};
	struct ucx *u = transport;
	struct ucx_slot *slot = &u->slot[u->next];

	if (slot->request && ucp_request_check_status(slot->request) == UCS_INPROGRESS)
		return false;
	ucx_finish(u, slot->request);
	memcpy(slot->message, &stamp, sizeof stamp);
	slot->request = ucx_must_request(
		ucp_tag_send_nbx(u->ep[connection], slot->message, u->size, UCX_TAG, &p),
		"ucp_tag_send_nbx");
	u->next = (u->next + 1) % u->slots;
	return true;
}

/** Receives are served in the order in which they were posted. */
static void ucx_poll(void *transport, load_arrived_fn *arrived, void *ctx)
{
	struct ucx *u = transport;
	struct ucx_slot *slot = &u->slot[u->next];
	uint64_t stamp;

	ucp_worker_progress(u->worker);
	for (; !u->sender && slot->arrived; slot = &u->slot[u->next]) {
		memcpy(&stamp, slot->message, sizeof stamp);
		arrived(ctx, stamp);
		ucp_request_free(slot->request);
		ucx_receive(slot);
		u->next = (u->next + 1) % u->slots;
	}
}

static void ucx_close(void *transport)
{
	const ucp_request_param_t p = {.op_attr_mask = 0};
	struct ucx *u = transport;

	for (unsigned i = 0; u->sender && i < u->slots; i++)
		ucx_finish(u, u->slot[i].request);
	for (unsigned i = 0; i < u->num_ep; i++)
		ucx_finish(u, ucx_must_request(ucp_ep_close_nbx(u->ep[i], &p), "ucp_ep_close_nbx"));
	if (u->listener)
		ucp_listener_destroy(u->listener);
	for (unsigned i = 0; !u->sender && i < u->slots; i++) {
		ucp_request_cancel(u->worker, u->slot[i].request);
		ucp_request_free(u->slot[i].request);
	}
	ucp_worker_destroy(u->worker);
	ucp_cleanup(u->context);
	free(u->slot);
	free(u->ep);
	free(u);
}

const struct load_transport load_ucx = {"ucx", ucx_open, ucx_send, ucx_poll, ucx_close};
