/* SPDX-License-Identifier: BSD-2-Clause */
/* The connecting peer: requests, their repetition, and what becomes of them. */
#include "base/container_of.h"
#include "iwpm/mapper_priv.h"

#define QUERY_MS     UINT64_C(1000000)
#define QUERY_SECOND (1000 * QUERY_MS)

/** A host that is not known gets so long before it is taken to have no port mapper. */
#define QUERY_UNKNOWN_NS (40 * QUERY_MS)
/** One whose mapper has answered before: an Accept or a Request may be lost, or two. */
#define QUERY_KNOWN_NS (3 * QUERY_SECOND)
/** iwpmd gives up after ten seconds. */
#define QUERY_END_NS (10 * QUERY_SECOND)

static void query_send(struct iwpm *m, struct iwpm_query *q, uint64_t now)
{
	const struct iwpm_message request = {.type = IWPM_REQUEST,
		.handle = q->handle,
		.accepting = q->remote,
		.connecting = q->local,
		.mapped = q->local};
	const struct ip_endpoint from = {.addr = q->local.addr, .port = m->cfg.client_port};
	const struct ip_endpoint to = {.addr = q->remote.addr, .port = IWPM_PORT};

	q->sent++;
	m->stats.requests_sent++;
	iwpm_send(m, &from, &to, &request, now);
}

/** After the first 40 ms, then at each full second from the beginning. */
static uint64_t query_next(const struct iwpm_query *q)
{
	return q->sent < 2 ? q->began + QUERY_UNKNOWN_NS : q->began + (q->sent - 1) * QUERY_SECOND;
}

static struct iwpm_query *query_find(struct iwpm *m, uint64_t handle)
{
	struct iwpm_query *q;

	LIST_FOREACH (q, &m->queries[handle % IWPM_BUCKETS], link)
		if (q->handle == handle)
			return q;
	return NULL;
}

void iwpm_cancel(struct iwpm_query *q)
{
	if (!q->mapper)
		return;
	timer_stop(q->mapper->cfg.wheel, &q->timer);
	q->mapper = NULL;
	LIST_REMOVE(q, link);
}

static void query_over(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	iwpm_cancel(q);
	q->fn(q, outcome);
}

static void query_on_timer(struct timer *t, uint64_t now)
{
	struct iwpm_query *q = container_of(t, struct iwpm_query, timer);
	struct iwpm *m = q->mapper;
	uint64_t paused = timer_stood_still(t, now), patience = now - q->began;
	enum iwpm_host_state known = iwpm_hosts_get(&m->hosts, &q->remote.addr, now);

	if (paused) {
		/* An answer may have come meanwhile: the next round reads it. */
		q->began += paused;
		timer_start(m->cfg.wheel, &q->timer, query_next(q));
		return;
	}
	if (patience >= QUERY_END_NS) {
		m->stats.unanswered++;
		query_over(q, IWPM_SILENT);
		return;
	}
	query_send(m, q, now);
	timer_start(m->cfg.wheel, &q->timer, query_next(q));
	/* A host that has answered others meanwhile is worth more patience. */
	if (!q->waits || (known == IWPM_HOST_ANSWERS && patience < QUERY_KNOWN_NS))
		return;
	q->waits = false;
	iwpm_hosts_set(&m->hosts, &q->remote.addr, IWPM_HOST_SILENT, now);
	q->fn(q, IWPM_UNANSWERED);
}

uint64_t iwpm_ask(struct iwpm *m, struct iwpm_query *q, const struct ip_endpoint *local,
	const struct ip_endpoint *remote, iwpm_query_fn *fn, uint64_t now)
{
	static const uint64_t patience[] = {[IWPM_HOST_UNKNOWN] = QUERY_UNKNOWN_NS,
		[IWPM_HOST_ANSWERS] = QUERY_KNOWN_NS,
		[IWPM_HOST_SILENT] = 0};
	uint64_t wait = patience[iwpm_hosts_get(&m->hosts, &remote->addr, now)];

	*q = (struct iwpm_query){.mapper = m,
		.fn = fn,
		.local = *local,
		.remote = *remote,
		.mapped = *remote,
		.began = now,
		.waits = wait != 0};
	m->cfg.random.fill(m->cfg.random.ctx, &q->handle, sizeof q->handle);
	timer_init(&q->timer, query_on_timer);
	LIST_INSERT_HEAD(&m->queries[q->handle % IWPM_BUCKETS], q, link);
	query_send(m, q, now);
	timer_start(m->cfg.wheel, &q->timer, query_next(q));
	return wait;
}

/* ---- answers ----------------------------------------------------------------------------- */

static void query_acknowledge(struct iwpm *m, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct iwpm_message *accept, uint64_t now)
{
	struct iwpm_message ack = *accept;

	ack.type = IWPM_ACK;
	iwpm_send(m, to, from, &ack, now);
}

/** An acknowledgment was lost: iwpmd repeats its Accept for ten seconds. */
static bool query_acknowledge_again(struct iwpm *m, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct iwpm_message *accept, uint64_t now)
{
	for (unsigned i = 0; i < IWPM_ANSWERED; i++) {
		const struct iwpm_answered *a = &m->answered[i];

		if (now < a->until && a->handle == accept->handle &&
			ip_addr_equal(&a->host, &from->addr)) {
			query_acknowledge(m, from, to, accept, now);
			return true;
		}
	}
	return false;
}

/**
 * Is it an endpoint that we may connect to? The port alone is the mapper's to choose: the way to
 * the address was found before, and no host may send us to another. That of the message has no
 * scope.
 */
static bool query_may_connect(const struct iwpm_query *q, const struct ip_endpoint *to)
{
	struct ip_addr bare = ip_addr_with_scope(&q->remote.addr, 0);

	return to->port && (ip_addr_equal(&to->addr, &bare) || ip_addr_is_any(&to->addr));
}

bool iwpm_query_answered(struct iwpm *m, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct iwpm_message *msg, uint64_t now)
{
	struct iwpm_query *q = query_find(m, msg->handle);

	if (!q)
		return msg->type == IWPM_ACCEPT && query_acknowledge_again(m, from, to, msg, now);
	if (!ip_addr_equal(&from->addr, &q->remote.addr) ||
		!ip_addr_equal(&to->addr, &q->local.addr))
		return false;
	if (msg->type == IWPM_REJECT) {
		m->stats.rejects_received++;
		iwpm_hosts_set(&m->hosts, &from->addr, IWPM_HOST_ANSWERS, now);
		query_over(q, IWPM_REJECTED);
		return true;
	}
	if (!query_may_connect(q, &msg->accepting))
		return false;
	m->stats.accepts_received++;
	iwpm_hosts_set(&m->hosts, &from->addr, IWPM_HOST_ANSWERS, now);
	m->answered[m->next_answered++ % IWPM_ANSWERED] = (struct iwpm_answered){
		.handle = q->handle, .host = from->addr, .until = now + QUERY_END_NS};
	query_acknowledge(m, from, to, msg, now);
	q->mapped.port = msg->accepting.port;
	query_over(q, IWPM_MAPPED);
	return true;
}

/* ---- ICMP -------------------------------------------------------------------------------- */

/** The query that the quoted request is of; with its head alone, any to that host. */
static struct iwpm_query *query_of_quote(
	struct iwpm *m, const struct ip_addr *host, const uint8_t *data, size_t len)
{
	struct iwpm_message quoted;
	struct iwpm_query *q;

	if (len && iwpm_message_get(&quoted, data, len)) {
		q = query_find(m, quoted.handle);
		return q && ip_addr_equal(&q->remote.addr, host) ? q : NULL;
	}
	for (unsigned i = 0; i < IWPM_BUCKETS; i++) {
		LIST_FOREACH (q, &m->queries[i], link)
			if (ip_addr_equal(&q->remote.addr, host))
				return q;
	}
	return NULL;
}

void iwpm_unreachable(
	struct iwpm *m, const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	struct iwpm_query *q =
		to->port == IWPM_PORT ? query_of_quote(m, &to->addr, data, len) : NULL;

	if (!q) {
		m->stats.ignored++;
		return;
	}
	m->stats.unreachable++;
	iwpm_hosts_set(&m->hosts, &to->addr, IWPM_HOST_SILENT, now);
	query_over(q, IWPM_ABSENT);
}
