/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection's life, and its handshake. */
#include "tls/conn.h"

#include "tls/input.h"
#include "tls/starved.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------- */

struct tls_conn *tls_conn_new(struct tls_stack *s, bool server)
{
	struct tls_conn *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->llp.ops = &tls_conn_ops;
	c->stack = s;
	c->server = server;
	c->content_max = TLS_CONTENT_MAX;
	LIST_INSERT_HEAD(&s->conns, c, link);
	return c;
}

void tls_conn_free(struct tls_conn *c)
{
	LIST_REMOVE(c, link);
	tls_starved_end(c);
	tls_handshake_free(c->handshake);
	tls_secret_pool_put(&c->stack->gcm_keys, c->tx.gcm_key);
	tls_secret_pool_put(&c->stack->gcm_keys, c->rx.gcm_key);
	tls_direction_clear(&c->tx);
	tls_direction_clear(&c->rx);
	tls_secret_pool_put(&c->stack->credentials.secrets, c->secrets);
	tls_kept_clear(&c->stack->kept, &c->kept);
	free(c);
}

void tls_conn_closed(struct tls_conn *c, int error)
{
	const struct llp_user_ops *ops = c->llp.user_ops;

	c->dead = true;
	if (c->state == TLS_CONN_OVER)
		return;
	c->state = TLS_CONN_OVER;
	if (ops && !c->released)
		ops->closed(c->llp.user, error);
}

struct ip_addr tls_conn_peer(const struct tls_conn *c)
{
	struct ip_endpoint local, remote;

	llp_endpoints(c->below, &local, &remote);
	return remote.addr;
}

/** An attack, or a peer that is set up wrongly, is told of now and then. */
static void tls_conn_log(struct tls_conn *c, uint64_t count, const char *reason)
{
	struct ip_endpoint local, remote;
	char text[IP_ADDR_STRLEN];

	snprintf(c->stack->reason, sizeof c->stack->reason, "%s", reason);
	llp_endpoints(c->below, &local, &remote);
	log_printf(c->stack->log, log_level_of_count(count), "tls: %s port %u: %s",
		ip_addr_format(&remote.addr, text), remote.port, reason);
}

void tls_conn_fail(struct tls_conn *c, int alert, int error, const char *reason)
{
	struct llp *below = c->below;

	if (c->dead)
		return;
	if (c->state == TLS_CONN_OPEN) {
		const uint8_t bytes[TLS_ALERT_LEN] = {TLS_ALERT_FATAL, (uint8_t)alert};

		tls_conn_log(c, ++c->stack->stats.records_bad, reason);
		if (alert >= 0)
			(void)tls_conn_send(c, TLS_ALERT, bytes, sizeof bytes);
	} else {
		tls_conn_log(c, ++c->stack->stats.handshakes_failed, reason);
	}
	tls_conn_closed(c, error);
	c->below = NULL;
	llp_release(below);
}

void tls_conn_refuse(struct tls_conn *c)
{
	struct llp *below = c->below;

	tls_conn_log(c, ++c->stack->stats.handshakes_refused,
		"reset, as its address begins more handshakes than tls_handshakes_per_peer allows");
	tls_conn_closed(c, -ECONNABORTED);
	c->below = NULL;
	llp_abort(below);
}

void tls_conn_give_up(struct tls_conn *c)
{
	if (c->state == TLS_CONN_HANDSHAKE)
		tls_conn_log(c, ++c->stack->stats.handshakes_failed,
			"given up before its handshake was done");
	c->state = TLS_CONN_OVER;
	c->dead = true;
}

/* ---- the handshake ----------------------------------------------------------------------- */

/** @return false: some bytes wait for room. */
static bool tls_conn_flush(struct tls_conn *c)
{
	uint32_t emss = llp_emss(c->below);
	size_t n;

	while ((n = tls_handshake_pending(c->handshake)) != 0) {
		uint8_t *room;

		if (n > emss)
			n = emss;
		room = llp_reserve(c->below, (uint32_t)n, true);
		if (!room)
			break;
		tls_handshake_output(c->handshake, room, n);
		llp_commit(c->below, (uint32_t)n);
	}
	llp_push(c->below);
	return n == 0;
}

bool tls_conn_place_keys(struct tls_conn *c, struct tls_direction *d, const struct tls_suite *suite)
{
	struct tls_stack *s = c->stack;

	if (!s->has_gcm || !suite->gcm)
		return true;
	d->gcm = &s->gcm;
	d->gcm_key = tls_secret_pool_get(&s->gcm_keys);
	return d->gcm_key != NULL;
}

/** The keys of both directions. @return false: no memory. */
static bool tls_conn_take_keys(struct tls_conn *c)
{
	struct tls_handshake *h = c->handshake;

	c->secrets = h->secrets;
	h->secrets = NULL;
	return tls_conn_place_keys(c, &c->tx, h->suite) &&
	       tls_conn_place_keys(c, &c->rx, h->suite) &&
	       tls_direction_key(&c->tx, h->suite, c->secrets->tx, true) &&
	       tls_direction_key(&c->rx, h->suite, c->secrets->rx, false);
}

static void tls_conn_tell_connected(struct tls_conn *c)
{
	if (c->llp.user_ops && c->llp.user_ops->connected)
		c->llp.user_ops->connected(c->llp.user);
}

static void tls_conn_open(struct tls_conn *c)
{
	if (!tls_conn_take_keys(c)) {
		tls_conn_fail(c, -1, -ENOMEM, "no memory for keys");
		return;
	}
	c->content_max = c->handshake->content_max;
	c->tx.seq = c->handshake->tickets;
	c->stack->stats.handshakes++;
	c->stack->stats.resumed += tls_handshake_has_resumed(c->handshake);
	if (!tls_handshake_wants_tickets(c->handshake)) {
		tls_handshake_free(c->handshake);
		c->handshake = NULL;
	}
	c->state = TLS_CONN_OPEN;
	tls_conn_tell_connected(c);
}

void tls_conn_continue(struct tls_conn *c)
{
	struct tls_handshake *h = c->handshake;
	char reason[sizeof h->reason + 32];
	bool sent = tls_conn_flush(c);

	if (h->state == TLS_HANDSHAKE_FAILED) {
		/* Also if the alert did not get out: there must be much before it. */
		snprintf(reason, sizeof reason, "handshake failed: %s", h->reason);
		tls_conn_fail(c, -1, -EKEYREJECTED, reason);
	} else if (h->state == TLS_HANDSHAKE_DONE && sent) {
		tls_conn_open(c);
	}
}

void tls_conn_begin(struct tls_conn *c)
{
	struct ip_endpoint local, remote;

	llp_endpoints(c->below, &local, &remote);
	c->handshake =
		tls_handshake_create(&c->stack->credentials, &remote, c->server, c->stack->time());
	if (!c->handshake) {
		tls_conn_fail(c, -1, -ENOMEM, "no memory for a handshake");
		return;
	}
	if (c->demands_addr)
		tls_handshake_demand_addr(c->handshake);
	c->stack->stats.reloads = c->stack->credentials.reloads;
	c->state = TLS_CONN_HANDSHAKE;
	tls_conn_continue(c);
}

void tls_conn_go_clear(struct tls_conn *c)
{
	c->state = TLS_CONN_CLEAR;
	tls_conn_tell_connected(c);
}

/* ---- upcalls of the LLP below ------------------------------------------------------------ */

/** A pairing of a QP with itself: nothing leaves this host, and both ends would be clients. */
static bool tls_conn_leads_to_itself(const struct tls_conn *c)
{
	struct ip_endpoint local, remote;

	llp_endpoints(c->below, &local, &remote);
	return local.port == remote.port && ip_addr_equal(&local.addr, &remote.addr);
}

static void tls_conn_on_connected(void *user)
{
	struct tls_conn *c = user;

	if (c->server)
		return;
	tls_conn_enter(c);
	if (tls_conn_leads_to_itself(c))
		tls_conn_go_clear(c);
	else
		tls_conn_begin(c);
	tls_conn_leave(c);
}

static size_t tls_conn_on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct tls_conn *c = user;
	size_t used;

	tls_conn_enter(c);
	used = c->released ? total : tls_input(c, v, n, total, need);
	if (c->dead)
		used = total;
	tls_starved_try(c->stack, c);
	tls_conn_leave(c);
	return used;
}

/** There is room for the rest of the handshake. What came behind it was left below until now. */
static void tls_conn_finish_handshake(struct tls_conn *c)
{
	tls_conn_continue(c);
	if (c->dead || c->state != TLS_CONN_OPEN)
		return;
	if (c->below_eof && !c->rx_stalled && !c->released)
		tls_input_eof(c);
	else
		llp_resume(c->below);
}

static void tls_conn_on_writable(void *user)
{
	struct tls_conn *c = user;

	tls_conn_enter(c);
	if (c->state == TLS_CONN_HANDSHAKE)
		tls_conn_finish_handshake(c);
	else if (c->state == TLS_CONN_OPEN && !tls_conn_send_owed(c))
		goto out; /* it comes again */
	if (!c->dead && c->write_refused && !c->tx_closed && c->llp.user_ops->writable) {
		c->write_refused = false;
		c->llp.user_ops->writable(c->llp.user);
	}
out:
	tls_conn_leave(c);
}

static void tls_conn_on_acked(void *user)
{
	struct tls_conn *c = user;

	tls_conn_enter(c);
	if (!c->dead && c->llp.user_ops)
		c->llp.user_ops->acked(c->llp.user);
	tls_conn_leave(c);
}

static void tls_conn_on_eof(void *user)
{
	struct tls_conn *c = user;

	tls_conn_enter(c);
	if (!c->released)
		tls_input_eof(c);
	tls_conn_leave(c);
}

static void tls_conn_on_eof_waits(void *user)
{
	struct tls_conn *c = user;

	tls_conn_enter(c);
	if (!c->released)
		tls_input_eof_waits(c);
	tls_conn_leave(c);
}

static void tls_conn_on_closed(void *user, int error)
{
	struct tls_conn *c = user;

	tls_conn_enter(c);
	/* RFC 8446 section 6.1: good order below is not that of the stream. */
	if (error == 0 && c->state == TLS_CONN_OPEN && !c->rx_closed)
		error = -ECONNRESET;
	tls_conn_closed(c, error);
	c->below = NULL;
	tls_conn_leave(c);
}

const struct llp_user_ops tls_conn_below_ops = {
	.connected = tls_conn_on_connected,
	.readable = tls_conn_on_readable,
	.writable = tls_conn_on_writable,
	.acked = tls_conn_on_acked,
	.eof = tls_conn_on_eof,
	.eof_waits = tls_conn_on_eof_waits,
	.closed = tls_conn_on_closed,
};
