/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to connect to, as the peer's port mapper tells it (iwpm/mapper.h). A host that does not
 * answer is connected to as it is, unless an answer is required; but not before it has had time to
 * answer, as another service may sit on the port that is not mapped.
 */
#include "base/container_of.h"
#include "rnic/conn.h"
#include "rnic/ep_priv.h"

#include <errno.h>
#include <stdlib.h>

/** Apart from struct conn, of which strangers can make many. */
struct conn_map {
	struct iwpm_query query;
	struct conn *conn;
};

/** Without an answer there is no connection. */
static void conn_map_required(struct conn *c, enum iwpm_outcome outcome)
{
	char text[IP_ADDR_STRLEN];
	int status;

	if (outcome == IWPM_UNANSWERED)
		return;
	status = outcome == IWPM_SILENT ? -ETIMEDOUT : -ECONNREFUSED;
	log_printf(c->rnic->log, LOG_LEVEL_INFO, "rnic: the port mapper of %s %s",
		ip_addr_format(&c->connect.remote.addr, text),
		outcome == IWPM_REJECTED ? "does not know the port"
		: outcome == IWPM_ABSENT ? "is not there"
					 : "does not answer");
	conn_abort(c, status);
}

/** @param from our port, as the peer's mapper was told. */
static void conn_map_to_port(struct conn *c, uint16_t port, uint16_t from)
{
	if (c->wait != CONN_WAIT_MAP && port == c->connect.remote.port)
		return;
	if (port != c->service_port)
		log_printf(c->rnic->log, LOG_LEVEL_INFO, "rnic: port %u is mapped to %u",
			c->service_port, port);
	c->connect.remote.port = port;
	c->connect.local.port = from;
	conn_start_again(c);
}

static void conn_map_on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct conn *c = container_of(q, struct conn_map, query)->conn;
	uint16_t port = q->mapped.port, from = q->local.port;

	if (outcome != IWPM_UNANSWERED)
		conn_map_end(c);
	if (outcome == IWPM_MAPPED)
		conn_map_to_port(c, port, from);
	else if (c->rnic->mapper_required)
		conn_map_required(c, outcome);
	else if (c->wait == CONN_WAIT_MAP)
		conn_start_again(c);
}

int conn_map_ask(struct conn *c)
{
	struct rnic *r = c->rnic;
	uint64_t wait;

	/* Our own ports, and those of pairings, are what they are. */
	if (!r->mapper || c->paired || llp_is_local(r->net, &c->connect.remote.addr))
		return 0;
	c->map = calloc(1, sizeof *c->map);
	if (!c->map)
		return -ENOMEM;
	c->map->conn = c;
	wait = iwpm_ask(r->mapper, &c->map->query, &c->connect.local, &c->connect.remote,
		conn_map_on_outcome, r->engine->now);
	return wait || r->mapper_required;
}

void conn_map_end(struct conn *c)
{
	if (!c->map)
		return;
	iwpm_cancel(&c->map->query);
	free(c->map);
	c->map = NULL;
}
