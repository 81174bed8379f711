/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa_user.h"

#include <stdlib.h>

static void on_connected(void *user)
{
	((struct mpa_user *)user)->connected++;
}

static void keep(struct mpa_user *u, const struct mpa_start *st)
{
	u->start = *st;
	if (st->private_len != 0)
		memcpy(u->private_data, st->private_data, st->private_len);
}

static void on_request(void *user, const struct mpa_start *st)
{
	struct mpa_user *u = user;

	u->requests++;
	keep(u, st);
	if (u->on_request != NULL)
		u->on_request(u);
}

static void on_reply(void *user, const struct mpa_start *st)
{
	struct mpa_user *u = user;

	u->replies++;
	keep(u, st);
	if (u->on_reply != NULL)
		u->on_reply(u);
}

static void on_operational(void *user, const struct mpa_ulpdu *first)
{
	struct mpa_user *u = user;

	u->first_len = first ? (int)first->len : -1;
	assert_int_equal(u->ulpdus, 0);
	u->operational++;
	if (u->on_open != NULL)
		u->on_open(u);
}

static void on_ulpdu(void *user, const struct mpa_ulpdu *p)
{
	struct mpa_user *u = user;
	struct mpa_cursor c = p->at;

	assert_true(u->ulpdus < 4096 && p->len <= sizeof u->rx - u->rx_len);
	mpa_cursor_copy(&c, u->rx + u->rx_len, p->len);
	u->rx_len += p->len;
	u->ulpdu_len[u->ulpdus++] = p->len;
	if (u->on_ulpdu != NULL)
		u->on_ulpdu(u);
}

static void on_rx_done(void *user)
{
	((struct mpa_user *)user)->rx_dones++;
}

static void on_writable(void *user)
{
	((struct mpa_user *)user)->writables++;
}

static void on_eof(void *user)
{
	((struct mpa_user *)user)->eofs++;
}

static void on_error(void *user, enum mpa_error code, const char *reason)
{
	struct mpa_user *u = user;

	assert_non_null(reason);
	u->errors++;
	u->error = code;
	if (u->on_error != NULL)
		u->on_error(u);
}

static void on_closed(void *user, int error)
{
	struct mpa_user *u = user;

	u->closeds++;
	u->closed_error = error;
}

const struct mpa_user_ops mpa_user_ops = {
	.connected = on_connected,
	.request = on_request,
	.reply = on_reply,
	.operational = on_operational,
	.ulpdu = on_ulpdu,
	.rx_done = on_rx_done,
	.writable = on_writable,
	.eof = on_eof,
	.error = on_error,
	.closed = on_closed,
};

struct mpa_user *mpa_user_new(void)
{
	struct mpa_user *u = calloc(1, sizeof *u);

	assert_non_null(u);
	u->net = llp_mem_create();
	u->m = calloc(1, sizeof *u->m);
	u->ops = &mpa_user_ops;
	u->config = (struct mpa_config){.revision = 2, .rtr = MPA_RTR_WRITE | MPA_RTR_READ};
	return u;
}

void mpa_user_free(struct mpa_user *u)
{
	llp_mem_peer_done(&u->peer);
	if (u->m != NULL)
		mpa_abort(u->m);
	free(u->m);
	llp_mem_destroy(u->net);
	free(u);
}

static int accept_one(void *user, struct llp *l)
{
	struct mpa_user *u = user;

	mpa_init_responder(u->m, l, &u->config, u->ops, u);
	return 0;
}

void mpa_user_respond(struct mpa_user *u)
{
	struct ip_endpoint at = llp_mem_endpoint(u->net, 0, 7174);

	assert_int_equal(
		llp_listen(llp_mem_stack(u->net, 0), &at, 1, accept_one, u, &u->listener), 0);
	llp_mem_peer_connect(&u->peer, u->net, 1, &at);
	llp_mem_run(u->net, 100);
	assert_true(u->peer.connected);
}

static const struct llp_user_ops no_ops;

void mpa_user_initiate(struct mpa_user *u)
{
	struct llp_connect_params p = {.remote = llp_mem_endpoint(u->net, 1, 7174)};
	struct llp *l;

	llp_mem_peer_listen(&u->peer, u->net, 1, 7174);
	assert_int_equal(llp_connect(llp_mem_stack(u->net, 0), &p, &no_ops, NULL, &l), 0);
	mpa_init_initiator(u->m, l, &u->config, u->ops, u);
	llp_mem_run(u->net, 100);
	assert_int_equal(u->connected, 1);
}

void mpa_user_feed(struct mpa_user *u, const void *bytes, size_t len)
{
	llp_mem_send_raw(u->peer.llp, bytes, len);
	llp_mem_run(u->net, 1000000);
}

void mpa_user_expect(struct mpa_user *u, const void *bytes, size_t len)
{
	llp_mem_run(u->net, 1000000);
	assert_int_equal(u->peer.rx_len, len);
	assert_memory_equal(u->peer.rx, bytes, len);
	llp_mem_peer_consume(&u->peer, len);
}
