/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/traffic.h"

#include <string.h>

/** Records to hand over before the LLP is asked to send: it has work early, but not too often. */
#define PUSH_EVERY 32

static uint64_t traffic_now(const struct traffic *t)
{
	return t->cfg.clock ? t->cfg.clock(t->cfg.ctx) : 0;
}

static void traffic_shut(struct traffic *t)
{
	if (t->shut || !t->llp)
		return;
	t->shut = true;
	llp_shutdown(t->llp);
}

static uint64_t traffic_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- sending the pattern: source and pingpong --------------------------------------------- */

/** Where in the stream sending has to stop for now. */
static uint64_t traffic_send_limit(const struct traffic *t)
{
	const struct traffic_config *c = &t->cfg;

	if (c->role == TRAFFIC_PINGPONG)
		return (t->messages + 1) * c->message;
	if (t->finishing)
		return t->sent;
	return traffic_min_u64(
		c->bytes ? c->bytes : UINT64_MAX, c->metered ? t->allowed : UINT64_MAX);
}

static bool traffic_sent_all(const struct traffic *t)
{
	return t->cfg.role == TRAFFIC_SOURCE &&
	       (t->finishing || (t->cfg.bytes && t->sent == t->cfg.bytes));
}

/** Hand the LLP all that it takes and we may send. */
static void traffic_fill(struct traffic *t)
{
	uint64_t limit = traffic_send_limit(t);
	unsigned records = 0;

	while (t->sent < limit) {
		/* Each time: the path may have changed it. */
		uint32_t len = (uint32_t)traffic_min_u64(limit - t->sent, llp_emss(t->llp));
		void *room = llp_reserve(t->llp, len, t->cfg.metered);

		if (!room)
			break;
		traffic_pattern_fill(t->cfg.pattern, t->sent, room, len);
		llp_commit(t->llp, len);
		t->sent += len;
		if (++records % PUSH_EVERY == 0)
			llp_push(t->llp);
	}
	if (records % PUSH_EVERY)
		llp_push(t->llp);
	if (traffic_sent_all(t))
		traffic_shut(t);
}

static void traffic_begin_message(struct traffic *t)
{
	if (t->finishing || (t->cfg.count && t->messages == t->cfg.count)) {
		traffic_shut(t);
		return;
	}
	t->message_at = traffic_now(t);
	traffic_fill(t);
}

static void traffic_go_on_sending(struct traffic *t)
{
	if (t->shut)
		return;
	if (t->cfg.role == TRAFFIC_SOURCE || t->cfg.role == TRAFFIC_PINGPONG)
		traffic_fill(t);
}

/* ---- taking in ---------------------------------------------------------------------------- */

static void traffic_check(struct traffic *t, const struct llp_iov *v, unsigned n)
{
	uint64_t at = t->received;

	for (unsigned i = 0; i < n && !t->wrong; i++) {
		size_t good = traffic_pattern_match(t->cfg.pattern, at, v[i].base, v[i].len);

		if (good < v[i].len) {
			t->wrong = true;
			t->wrong_at = at + good;
		}
		at += v[i].len;
	}
}

static void traffic_take_reply(struct traffic *t)
{
	uint64_t want = (t->messages + 1) * t->cfg.message;

	if (t->received < want || t->shut)
		return;
	if (t->received > want && !t->wrong) {
		t->wrong = true;
		t->wrong_at = want;
	}
	if (t->cfg.latency)
		histogram_add(t->cfg.latency, traffic_now(t) - t->message_at);
	t->messages++;
	traffic_begin_message(t);
}

/** Copy @p len bytes from the pieces at @p *v, @p *done bytes into the first, and step on. */
static void traffic_gather(uint8_t *to, size_t len, const struct llp_iov **v, size_t *done)
{
	while (len) {
		size_t n = (size_t)traffic_min_u64(len, (*v)->len - *done);

		memcpy(to, (*v)->base + *done, n);
		to += n;
		len -= n;
		*done += n;
		if (*done == (*v)->len) {
			++*v;
			*done = 0;
		}
	}
}

/** @return how many bytes went back. */
static size_t traffic_send_back(struct traffic *t, const struct llp_iov *v, size_t total)
{
	size_t back = 0, done = 0;

	while (back < total) {
		uint32_t len = (uint32_t)traffic_min_u64(total - back, llp_emss(t->llp));
		uint8_t *room = llp_reserve(t->llp, len, true);

		if (!room)
			break;
		traffic_gather(room, len, &v, &done);
		llp_commit(t->llp, len);
		back += len;
	}
	t->sent += back;
	if (back)
		llp_push(t->llp);
	return back;
}

/* ---- upcalls ------------------------------------------------------------------------------ */

static void traffic_on_connected(void *user)
{
	struct traffic *t = user;

	t->connected = true;
	t->connected_at = traffic_now(t);
	if (t->cfg.connected)
		t->cfg.connected(t->cfg.ctx, t);
	if (t->cfg.role == TRAFFIC_SOURCE)
		traffic_fill(t);
	else if (t->cfg.role == TRAFFIC_PINGPONG)
		traffic_begin_message(t);
	else if (t->finishing)
		traffic_shut(t);
}

static size_t traffic_on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct traffic *t = user;
	size_t taken = total;

	if (t->paused) {
		t->unread = true;
		return 0;
	}
	if (total && !t->first_at)
		t->first_at = traffic_now(t);
	if (t->cfg.verify && (t->cfg.role == TRAFFIC_SINK || t->cfg.role == TRAFFIC_PINGPONG))
		traffic_check(t, v, n);
	if (t->cfg.role == TRAFFIC_ECHO && !t->shut)
		taken = traffic_send_back(t, v, total);
	t->received += taken;
	t->unread = taken < total;
	if (t->cfg.role == TRAFFIC_PINGPONG)
		traffic_take_reply(t);
	else if (t->eof && !t->unread && t->cfg.role != TRAFFIC_SOURCE)
		traffic_shut(t);
	return taken;
}

static void traffic_on_writable(void *user)
{
	struct traffic *t = user;

	if (t->cfg.role == TRAFFIC_ECHO && t->unread && !t->paused)
		llp_resume(t->llp);
	else
		traffic_go_on_sending(t);
}

static void traffic_on_eof(void *user)
{
	struct traffic *t = user;

	t->eof = true;
	t->eof_at = traffic_now(t);
	/* A source goes on: that its peer has nothing to say does not mean that it does not
	 * listen. A pingpong gets no more replies. */
	if (t->cfg.role != TRAFFIC_SOURCE && !t->unread)
		traffic_shut(t);
}

static void traffic_on_closed(void *user, int error)
{
	struct traffic *t = user;
	const struct llp *last = t->llp;

	t->llp = NULL;
	t->ended = true;
	t->ended_at = traffic_now(t);
	t->error = error;
	if (t->cfg.ended)
		t->cfg.ended(t->cfg.ctx, t, last);
}

static const struct llp_user_ops traffic_user_ops = {
	.connected = traffic_on_connected,
	.readable = traffic_on_readable,
	.writable = traffic_on_writable,
	.eof = traffic_on_eof,
	.closed = traffic_on_closed,
};

/* ---- the interface ------------------------------------------------------------------------ */

void traffic_init(struct traffic *t, const struct traffic_config *cfg)
{
	*t = (struct traffic){.cfg = *cfg, .paused = cfg->paused};
}

int traffic_connect(struct traffic *t, struct llp_stack *s, const struct llp_connect_params *params)
{
	return llp_connect(s, params, &traffic_user_ops, t, &t->llp);
}

void traffic_accept(struct traffic *t, struct llp *l)
{
	t->llp = l;
	llp_set_user(l, &traffic_user_ops, t);
}

void traffic_allow(struct traffic *t, uint64_t bytes)
{
	t->allowed += bytes;
	if (t->connected && t->llp)
		traffic_go_on_sending(t);
}

void traffic_resume(struct traffic *t)
{
	if (!t->paused)
		return;
	t->paused = false;
	if (t->llp && t->unread)
		llp_resume(t->llp);
}

void traffic_finish(struct traffic *t)
{
	t->finishing = true;
	if (!t->connected || !t->llp)
		return; /* as soon as it is connected */
	if (t->cfg.role != TRAFFIC_PINGPONG)
		traffic_shut(t);
}

void traffic_abort(struct traffic *t)
{
	if (t->llp)
		llp_abort(t->llp);
	t->llp = NULL;
}
