/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/replay_llp.h"

#include <stdlib.h>
#include <string.h>

static struct replay_llp *replay_llp_of(struct llp *l)
{
	return (struct replay_llp *)(void *)l;
}

static uint32_t replay_llp_op_emss(const struct llp *l)
{
	return REPLAY_EMSS;
}

static void *replay_llp_op_reserve(struct llp *l, uint32_t len, bool join)
{
	struct replay_llp *x = replay_llp_of(l);

	return x->shut || len > sizeof x->tx ? NULL : x->tx;
}

static void replay_llp_op_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	struct replay_llp *x = replay_llp_of(l);

	if (len != 0)
		x->sent(x->ctx, x->tx, len);
}

static void replay_llp_op_push(struct llp *l)
{
}

/* Upcalls come from a feed only: the user is told when it has returned. */
static void replay_llp_show(struct replay_llp *x)
{
	struct llp_iov v;
	size_t need = 0, used;

	x->showing = true;
	do {
		x->again = false;
		v = (struct llp_iov){.base = x->rx, .len = x->rx_len};
		if (v.len == 0)
			break;
		used = x->llp.user_ops->readable(x->llp.user, &v, 1, v.len, &need);
		if (x->gone)
			break;
		x->rx_len -= used;
		memmove(x->rx, x->rx + used, x->rx_len);
	} while (x->again);
	x->showing = false;
}

static void replay_llp_op_resume(struct llp *l)
{
	struct replay_llp *x = replay_llp_of(l);

	x->again = true;
	if (!x->showing)
		replay_llp_show(x);
}

static size_t replay_llp_op_unacked(const struct llp *l)
{
	return 0;
}

static void replay_llp_op_shutdown(struct llp *l)
{
	replay_llp_of(l)->shut = true;
}

static void replay_llp_op_let_go(struct llp *l)
{
	replay_llp_of(l)->gone = true;
}

static void replay_llp_op_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	*local = *remote = (struct ip_endpoint){0};
}

static const struct llp_ops replay_llp_ops = {
	.emss = replay_llp_op_emss,
	.reserve = replay_llp_op_reserve,
	.commit = replay_llp_op_commit,
	.push = replay_llp_op_push,
	.resume = replay_llp_op_resume,
	.unacked = replay_llp_op_unacked,
	.shutdown = replay_llp_op_shutdown,
	.abort = replay_llp_op_let_go,
	.release = replay_llp_op_let_go,
	.endpoints = replay_llp_op_endpoints,
};

void replay_llp_init(
	struct replay_llp *l, void (*sent)(void *ctx, const uint8_t *record, size_t len), void *ctx)
{
	*l = (struct replay_llp){.llp = {.ops = &replay_llp_ops}, .sent = sent, .ctx = ctx};
}

bool replay_llp_feed(struct replay_llp *l, const uint8_t *bytes, size_t len)
{
	if (l->gone)
		return true;
	if (l->rx_room - l->rx_len < len) {
		uint8_t *more = realloc(l->rx, 2 * l->rx_room + len);

		if (!more)
			return false;
		l->rx = more;
		l->rx_room = 2 * l->rx_room + len;
	}
	memcpy(l->rx + l->rx_len, bytes, len);
	l->rx_len += len;
	replay_llp_show(l);
	return true;
}

void replay_llp_eof(struct replay_llp *l)
{
	if (!l->gone)
		l->llp.user_ops->eof(l->llp.user);
}

void replay_llp_end(struct replay_llp *l)
{
	if (!l->gone && l->llp.user_ops) {
		l->gone = true;
		l->llp.user_ops->closed(l->llp.user, 0);
	}
	free(l->rx);
	l->rx = NULL;
	l->rx_len = l->rx_room = 0;
}
