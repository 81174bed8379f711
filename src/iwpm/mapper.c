/* SPDX-License-Identifier: BSD-2-Clause */
/* The mapper, and its role as accepting peer. query.c has that of the connecting peer. */
#include "iwpm/mapper.h"

#include "base/container_of.h"
#include "iwpm/mapper_priv.h"

#include <errno.h>
#include <stdlib.h>

/** Listeners are there: have their peers answered, now or when who does it has gone. */
static void iwpm_serve(struct iwpm *m, uint64_t now)
{
	if (m->serving || !m->cfg.serve)
		return;
	m->serving = m->cfg.serve(m->cfg.ctx, true);
	if (m->serving)
		timer_stop(m->cfg.wheel, &m->serve_again);
	else
		timer_start(m->cfg.wheel, &m->serve_again, now + IWPM_SERVE_AGAIN_NS);
}

static void iwpm_on_serve_again(struct timer *t, uint64_t now)
{
	iwpm_serve(container_of(t, struct iwpm, serve_again), now);
}

static void iwpm_serve_no_more(struct iwpm *m)
{
	timer_stop(m->cfg.wheel, &m->serve_again);
	if (m->serving)
		(void)m->cfg.serve(m->cfg.ctx, false);
	m->serving = false;
}

int iwpm_create(const struct iwpm_config *cfg, struct iwpm **out)
{
	struct iwpm *m = calloc(1, sizeof *m);

	if (!m)
		return -ENOMEM;
	m->cfg = *cfg;
	timer_init(&m->serve_again, iwpm_on_serve_again);
	cfg->random.fill(cfg->random.ctx, &m->hosts.key, sizeof m->hosts.key);
	*out = m;
	return 0;
}

void iwpm_destroy(struct iwpm *m)
{
	free(m);
}

const struct iwpm_stats *iwpm_get_stats(const struct iwpm *m)
{
	return &m->stats;
}

void iwpm_send(struct iwpm *m, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const struct iwpm_message *msg, uint64_t now)
{
	uint8_t data[IWPM_MESSAGE_MAX];
	size_t len = iwpm_message_put(msg, data);

	m->cfg.send(m->cfg.ctx, from, to, data, len, now);
}

/* ---- listeners --------------------------------------------------------------------------- */

void iwpm_listen(
	struct iwpm *m, struct iwpm_listener *l, const struct ip_endpoint *local, bool v6only)
{
	l->mapper = m;
	l->local = *local;
	l->v6only = v6only;
	LIST_INSERT_HEAD(&m->listeners, l, link);
	iwpm_serve(m, m->cfg.wheel->now);
}

void iwpm_unlisten(struct iwpm_listener *l)
{
	struct iwpm *m = l->mapper;

	if (!m)
		return;
	l->mapper = NULL;
	LIST_REMOVE(l, link);
	if (LIST_EMPTY(&m->listeners))
		iwpm_serve_no_more(m);
}

static bool iwpm_listener_takes(const struct iwpm_listener *l, const struct ip_endpoint *at)
{
	bool v4 = ip_addr_is_v4(&at->addr);

	if (l->local.port != at->port)
		return false;
	if (!ip_addr_is_any(&l->local.addr))
		return ip_addr_equal(&l->local.addr, &at->addr);
	return ip_addr_is_v4(&l->local.addr) ? v4 : !v4 || !l->v6only;
}

static bool iwpm_is_served(const struct iwpm *m, const struct ip_endpoint *at)
{
	const struct iwpm_listener *l;

	if (m->cfg.accept_all)
		return at->port != 0;
	LIST_FOREACH (l, &m->listeners, link)
		if (iwpm_listener_takes(l, at))
			return true;
	return false;
}

/* ---- messages ---------------------------------------------------------------------------- */

/** The answer repeats what was asked: a port is mapped to itself. */
static void iwpm_answer(struct iwpm *m, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct iwpm_message *request, uint64_t now)
{
	struct iwpm_message answer = *request;
	/* Behind a NAT the peer knows us by another address than we do. */
	struct ip_endpoint at = {.addr = to->addr, .port = request->accepting.port};

	m->stats.requests_received++;
	if (iwpm_is_served(m, &at)) {
		answer.type = IWPM_ACCEPT;
		m->stats.accepts_sent++;
	} else {
		answer.type = IWPM_REJECT;
		m->stats.rejects_sent++;
	}
	iwpm_send(m, to, from, &answer, now);
}

void iwpm_input(struct iwpm *m, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	struct iwpm_message msg;
	bool known = false;

	/* A conversation is about connections of the family that it is held in. */
	if (from->port && iwpm_message_get(&msg, data, len) &&
		ip_addr_is_v4(&msg.accepting.addr) == ip_addr_is_v4(&from->addr)) {
		if (msg.type == IWPM_REQUEST && to->port == IWPM_PORT) {
			iwpm_answer(m, from, to, &msg, now);
			known = true;
		} else if (msg.type == IWPM_ACCEPT || msg.type == IWPM_REJECT) {
			known = iwpm_query_answered(m, from, to, &msg, now);
		} else if (msg.type == IWPM_ACK) {
			known = true; /* nothing waits for it */
		}
	}
	if (!known)
		m->stats.ignored++;
}
