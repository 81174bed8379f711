/* SPDX-License-Identifier: BSD-2-Clause */
#include "corpus/raw.h"

#include "base/bytes.h"

#include <string.h>

/* ---- upcalls ----------------------------------------------------------------------------- */

static void on_nothing(void *user)
{
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct raw *r = user;

	stage_must(total <= RAW_MAX - r->rx_len, "more than a raw peer takes");
	for (unsigned i = 0; i < n; i++) {
		memcpy(r->rx + r->rx_len, v[i].base, v[i].len);
		r->rx_len += v[i].len;
	}
	return total;
}

static void on_eof(void *user)
{
	((struct raw *)user)->eof = true;
}

static void on_closed(void *user, int error)
{
	struct raw *r = user;

	r->llp = NULL;
	r->eof = true;
}

static const struct llp_user_ops ops = {
	.connected = on_nothing,
	.readable = on_readable,
	.writable = on_nothing,
	.eof = on_eof,
	.closed = on_closed,
};

static int on_accept(void *user, struct llp *l)
{
	struct raw *r = user;

	if (r->llp)
		return -1;
	r->llp = l;
	r->eof = false;
	llp_set_user(l, &ops, r);
	return 0;
}

/* ---- calls ------------------------------------------------------------------------------- */

/** One call into the stack, which must be under its lock. */
struct call {
	struct raw *r;
	struct ip_endpoint at;
	const void *bytes;
	size_t len;
};

static struct llp_stack *stack(const struct raw *r)
{
	return tcp_llp_stack(sim_host_tcp(r->host));
}

static void do_connect(void *ctx)
{
	struct call *c = ctx;
	const struct llp_connect_params p = {.remote = c->at};

	stage_must(!llp_connect(stack(c->r), &p, &ops, c->r, &c->r->llp), "cannot connect");
}

static void do_listen(void *ctx)
{
	struct call *c = ctx;

	stage_must(!llp_listen(stack(c->r), &c->at, 4, on_accept, c->r, &c->r->listener),
		"cannot listen");
}

static void do_send(void *ctx)
{
	struct call *c = ctx;
	void *room = c->r->llp ? llp_reserve(c->r->llp, (uint32_t)c->len, false) : NULL;

	stage_must(room, "a raw peer cannot send");
	memcpy(room, c->bytes, c->len);
	llp_commit(c->r->llp, (uint32_t)c->len);
	llp_push(c->r->llp);
}

static void do_shutdown(void *ctx)
{
	struct call *c = ctx;

	if (c->r->llp)
		llp_shutdown(c->r->llp);
}

static void do_close(void *ctx)
{
	struct call *c = ctx;

	if (c->r->llp)
		llp_release(c->r->llp);
	if (c->r->listener)
		llp_unlisten(stack(c->r), c->r->listener);
	c->r->llp = NULL;
	c->r->listener = NULL;
}

static bool is_up(void *ctx)
{
	struct raw *r = ctx;
	struct tcp_info info;

	tcp_get_info(r->llp, &info);
	return strcmp(info.state, "ESTABLISHED") == 0;
}

void raw_connect(struct raw *r, struct stage *g, uint16_t port)
{
	struct call c = {r, {sim_host_address(g->b), port}, NULL, 0};

	*r = (struct raw){.stage = g, .host = g->a};
	sim_host_call(r->host, do_connect, &c);
	stage_until(g, is_up, r);
}

void raw_listen(struct raw *r, struct stage *g, uint16_t port)
{
	struct call c = {r, {sim_host_address(g->b), port}, NULL, 0};

	*r = (struct raw){.stage = g, .host = g->b};
	sim_host_call(r->host, do_listen, &c);
}

void raw_send(struct raw *r, const void *bytes, size_t len)
{
	struct call c = {r, {{{0}}, 0}, bytes, len};

	sim_host_call(r->host, do_send, &c);
}

void raw_start(struct raw *r, const char *key, uint8_t flags, uint8_t revision,
	const uint16_t words[2], const char *private_data)
{
	uint8_t frame[MPA_FRAME_MAX];
	size_t len = MPA_HEADER_LEN, more = strlen(private_data);

	memcpy(frame, key, MPA_KEY_LEN);
	frame[MPA_AT_FLAGS] = flags;
	frame[MPA_AT_REVISION] = revision;
	if (words) {
		store_be16(frame + len + MPA_AT_IRD, words[0]);
		store_be16(frame + len + MPA_AT_ORD, words[1]);
		len += MPA_ENHANCED_LEN;
	}
	stage_must(more <= sizeof frame - len, "too much private data");
	memcpy(frame + len, private_data, more);
	len += more;
	store_be16(frame + MPA_AT_PD_LENGTH, (uint16_t)(len - MPA_HEADER_LEN));
	raw_send(r, frame, len);
}

void raw_ulpdu(struct raw *r, const void *ulpdu, size_t len, bool bad_crc)
{
	uint8_t fpdu[RAW_MAX];
	uint32_t total = mpa_enframe_len(&r->tx, (uint32_t)len);

	stage_must(total <= sizeof fpdu, "too long a ULPDU");
	memcpy(fpdu + mpa_enframe_lead(&r->tx), ulpdu, len);
	mpa_enframe_finish(&r->tx, fpdu, (uint32_t)len);
	if (bad_crc)
		fpdu[total - 1] ^= 1;
	raw_send(r, fpdu, total);
}

static bool has_come(void *ctx)
{
	struct raw *r = ctx;

	return r->rx_len >= r->wanted;
}

void raw_wait(struct raw *r, size_t len)
{
	r->wanted = len;
	stage_until(r->stage, has_come, r);
}

void raw_consume(struct raw *r, size_t len)
{
	stage_must(len <= r->rx_len, "less came than was due");
	r->rx_len -= len;
	memmove(r->rx, r->rx + len, r->rx_len);
}

static bool has_ended(void *ctx)
{
	return ((struct raw *)ctx)->eof;
}

void raw_wait_end(struct raw *r)
{
	stage_until(r->stage, has_ended, r);
}

void raw_shutdown(struct raw *r)
{
	struct call c = {.r = r};

	sim_host_call(r->host, do_shutdown, &c);
}

void raw_close(struct raw *r)
{
	struct call c = {.r = r};

	sim_host_call(r->host, do_close, &c);
	stage_settle(r->stage);
}
