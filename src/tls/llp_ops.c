/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user of a connection calls, and the sending side. */
#include "tls/conn.h"

#include "base/digest.h"
#include "tls/input.h"
#include "tls/post.h"

#include <errno.h>
#include <string.h>

static uint32_t tls_llp_emss(const struct llp *l)
{
	const struct tls_conn *c = tls_conn_of(l);
	uint32_t emss = llp_emss(c->below);

	if (c->state == TLS_CONN_CLEAR)
		return emss;
	emss = emss > TLS_RECORD_OVERHEAD ? emss - TLS_RECORD_OVERHEAD : 1;
	return emss < c->content_max ? emss : c->content_max;
}

/**
 * OpenSSL has failed where it cannot fail. Nothing is sent that is not protected: the peer sees a
 * stream that was cut off.
 */
static void tls_llp_break(struct tls_conn *c)
{
	log_printf(c->stack->log, LOG_LEVEL_ERROR, "tls: OpenSSL does not encrypt");
	c->tx_closed = c->tx_broken = true;
	c->update_owed = c->close_owed = false;
	llp_shutdown(c->below);
}

/** The LLP's sum of a record, which is in the caches now. */
static uint32_t tls_llp_sum(const struct tls_conn *c, const uint8_t *record, uint32_t len)
{
	struct digest d = {0};

	if (!llp_sums(c->below))
		return LLP_SUM_UNKNOWN;
	digest_add(&d, DIGEST_SUM, record, len);
	return digest_fold(d.sum);
}

/** Octets of protected records of @p len octets of content. */
static uint32_t tls_llp_sealed_len(const struct tls_conn *c, uint32_t len)
{
	uint32_t records = len <= c->content_max ? 1 : (len - 1) / c->content_max + 1;

	return len + records * TLS_RECORD_OVERHEAD;
}

/** Content of several records, which lies together: move it to where they have it. */
static void tls_llp_spread(const struct tls_conn *c, uint8_t *content, uint32_t len)
{
	for (uint32_t i = (len - 1) / c->content_max; i != 0; i--) {
		uint32_t at = i * c->content_max;

		memmove(content + at + i * TLS_RECORD_OVERHEAD, content + at, len - at);
		len = at;
	}
}

/** Protect the content in @p room, in one record or in as many as the peer wants, and queue it. */
static void tls_llp_queue(struct tls_conn *c, uint8_t *room, uint8_t type, uint32_t len)
{
	uint32_t total = tls_llp_sealed_len(c, len), at = 0;

	if (len > c->content_max)
		tls_llp_spread(c, room + TLS_HEADER_LEN, len);
	while (at != total) {
		uint32_t n = len < c->content_max ? len : c->content_max;

		if (!tls_record_seal(&c->tx, room + at, type, n)) {
			llp_commit(c->below, 0);
			tls_llp_break(c);
			return;
		}
		at += n + TLS_RECORD_OVERHEAD;
		len -= n;
	}
	llp_commit_summed(c->below, total, tls_llp_sum(c, room, total));
}

bool tls_conn_send(struct tls_conn *c, enum tls_content type, const uint8_t *bytes, uint32_t len)
{
	uint8_t *room = llp_reserve(c->below, len + TLS_RECORD_OVERHEAD, true);

	if (!room)
		return false;
	memcpy(room + TLS_HEADER_LEN, bytes, len);
	tls_llp_queue(c, room, (uint8_t)type, len);
	return true;
}

bool tls_post_send_update(struct tls_conn *c)
{
	const uint8_t message[] = {TLS_KEY_UPDATE, 0, 0, TLS_KEY_UPDATE_LEN,
		c->update_asks ? TLS_UPDATE_REQUESTED : 0};

	if (!tls_conn_send(c, TLS_HANDSHAKE, message, sizeof message))
		return false;
	c->update_owed = c->update_asks = false;
	c->stack->stats.updates_sent++;
	if (!tls_suite_next_secret(c->tx.suite, c->secrets->tx) ||
		!tls_direction_key(&c->tx, c->tx.suite, c->secrets->tx, true))
		tls_llp_break(c);
	return true;
}

/** The user is through with sending, and perhaps with all. */
static void tls_llp_end(struct tls_conn *c)
{
	struct llp *below = c->below;

	if (!c->released) {
		llp_shutdown(below);
		return;
	}
	c->below = NULL;
	c->dead = true;
	llp_release(below);
}

bool tls_conn_send_owed(struct tls_conn *c)
{
	static const uint8_t notify[TLS_ALERT_LEN] = {TLS_ALERT_WARNING, TLS_ALERT_CLOSE_NOTIFY};

	if (c->update_owed && !tls_post_send_update(c))
		return false;
	if (!c->close_owed)
		return true;
	if (!tls_conn_send(c, TLS_ALERT, notify, sizeof notify))
		return false;
	c->close_owed = false;
	tls_llp_end(c);
	return true;
}

/* ---- records ----------------------------------------------------------------------------- */

static void *tls_llp_refuse(struct tls_conn *c)
{
	c->write_refused = true;
	return NULL;
}

static void *tls_llp_reserve(struct llp *l, uint32_t len, bool join)
{
	struct tls_conn *c = tls_conn_of(l);
	uint8_t *room;

	if (c->state == TLS_CONN_CLEAR) {
		room = llp_reserve(c->below, len, join);
		return room ? room : tls_llp_refuse(c);
	}
	if (c->state != TLS_CONN_OPEN || c->tx_closed || len == 0 || len > TLS_CONTENT_MAX)
		return NULL;
	if (!tls_conn_send_owed(c))
		return tls_llp_refuse(c);
	room = llp_reserve(c->below, tls_llp_sealed_len(c, len), join);
	if (!room)
		return tls_llp_refuse(c);
	c->room = room;
	return room + TLS_HEADER_LEN;
}

static void tls_llp_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	struct tls_conn *c = tls_conn_of(l);

	if (c->state == TLS_CONN_CLEAR) {
		llp_commit_summed(c->below, len, sum);
		return;
	}
	if (len == 0)
		llp_commit(c->below, 0);
	else
		tls_llp_queue(c, c->room, TLS_APPLICATION_DATA, len);
	if (c->tx.seq >= tls_direction_records_max(&c->tx, c->stack->records_max))
		c->update_owed = true;
}

static void tls_llp_push(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);

	llp_push(c->below);
}

static void tls_llp_resume(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);

	if (c->state == TLS_CONN_CLEAR) {
		llp_resume(c->below);
		return;
	}
	c->resume = true;
	c->need = 0;
	if (c->showing)
		return;
	tls_conn_enter(c);
	tls_input_show_kept(c);
	if (!c->dead && (c->rx_stalled || c->rx_closed)) {
		c->rx_stalled = false;
		llp_resume(c->below);
	}
	tls_conn_leave(c);
}

static bool tls_llp_sums(const struct llp *l)
{
	const struct tls_conn *c = tls_conn_of(l);

	return c->state == TLS_CONN_CLEAR && llp_sums(c->below);
}

static bool tls_llp_took_ooo(const struct llp *l)
{
	return false;
}

static size_t tls_llp_unacked(const struct llp *l)
{
	return llp_unacked(tls_conn_of(l)->below);
}

static uint64_t tls_llp_queued(const struct llp *l)
{
	const struct tls_conn *c = tls_conn_of(l);

	return c->tx_broken ? LLP_NEVER_ACKED : llp_queued(c->below);
}

static uint64_t tls_llp_acked(const struct llp *l)
{
	return llp_acked(tls_conn_of(l)->below);
}

static void tls_llp_watch_acks(struct llp *l)
{
	llp_watch_acks(tls_conn_of(l)->below);
}

static bool tls_llp_protects(const struct llp *l)
{
	return tls_conn_of(l)->state == TLS_CONN_OPEN;
}

static void tls_llp_demand_addr(struct llp *l)
{
	tls_conn_of(l)->demands_addr = true;
}

/* ---- ends -------------------------------------------------------------------------------- */

static void tls_llp_shutdown(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);

	if (c->tx_closed)
		return;
	c->tx_closed = true;
	if (c->state == TLS_CONN_OPEN) {
		c->close_owed = true;
		(void)tls_conn_send_owed(c);
	} else {
		llp_shutdown(c->below);
	}
}

static void tls_llp_abort(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);
	struct llp *below = c->below;

	tls_conn_enter(c);
	tls_conn_give_up(c);
	c->below = NULL;
	if (below)
		llp_abort(below);
	tls_conn_leave(c);
}

static void tls_llp_release(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);

	tls_conn_enter(c);
	c->released = true;
	c->llp.user_ops = NULL;
	if (c->state == TLS_CONN_OPEN && (!c->tx_closed || c->close_owed)) {
		c->tx_closed = c->close_owed = true;
		(void)tls_conn_send_owed(c);
		if (c->below) /* later, if the peer takes what is before it */
			llp_orphan(c->below);
	} else {
		tls_llp_end(c);
	}
	tls_conn_leave(c);
}

static void tls_llp_orphan(struct llp *l)
{
	struct tls_conn *c = tls_conn_of(l);

	tls_conn_enter(c);
	llp_orphan(c->below);
	tls_conn_leave(c);
}

static void tls_llp_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	llp_endpoints(tls_conn_of(l)->below, local, remote);
}

static void tls_llp_set_tos(struct llp *l, uint8_t tos)
{
	struct tls_conn *c = tls_conn_of(l);

	if (c->below)
		llp_set_tos(c->below, tos);
}

const struct llp_ops tls_conn_ops = {
	.emss = tls_llp_emss,
	.reserve = tls_llp_reserve,
	.sums = tls_llp_sums,
	.commit = tls_llp_commit,
	.push = tls_llp_push,
	.resume = tls_llp_resume,
	.took_ooo = tls_llp_took_ooo,
	.unacked = tls_llp_unacked,
	.queued = tls_llp_queued,
	.acked = tls_llp_acked,
	.watch_acks = tls_llp_watch_acks,
	.shutdown = tls_llp_shutdown,
	.abort = tls_llp_abort,
	.orphan = tls_llp_orphan,
	.release = tls_llp_release,
	.endpoints = tls_llp_endpoints,
	.protects = tls_llp_protects,
	.demand_addr = tls_llp_demand_addr,
	.set_tos = tls_llp_set_tos,
};
