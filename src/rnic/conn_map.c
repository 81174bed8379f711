/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to connect to, as the peer's port mapper tells it (iwpm/mapper.h). A host that does not
 * answer is connected to as it is, unless an answer is required; but not before it has had time to
 * answer, as another service may sit on the port that is not mapped. Connects to one host keep
 * their order meanwhile (conn_turn.h).
 */
#include "base/container_of.h"
#include "rnic/conn.h"
#include "rnic/conn_turn.h"
#include "rnic/ep_priv.h"

#include <errno.h>
#include <stdlib.h>

/** Apart from struct conn, of which strangers can make many. */
struct conn_map {
	struct iwpm_query query;
	struct conn_turn turn;
	struct conn *conn;
};

static void conn_map_turn(struct conn_turn *t)
{
	struct conn_map *m = container_of(t, struct conn_map, turn);
	struct conn *c = m->conn;

	/* A query that is under way may bring another port yet. */
	if (!m->query.mapper)
		conn_map_end(c);
	conn_start_now(c);
}

int conn_map_init(struct rnic *r)
{
	if (!r->mapper)
		return 0;
	return conn_turns_create(r->engine, &r->random, conn_map_turn, &r->turns);
}

void conn_map_fini(struct rnic *r)
{
	conn_turns_destroy(r->turns);
}

/* ---- answers ----------------------------------------------------------------------------- */

/** Without an answer there is no connection. */
static void conn_map_fail(struct conn *c, enum rnic_failure_mapper why)
{
	static const char *const text[] = {[RNIC_MAPPER_ABSENT] = "is not there",
		[RNIC_MAPPER_REJECTS] = "does not know the port",
		[RNIC_MAPPER_SILENT] = "does not answer"};
	char host[IP_ADDR_STRLEN];

	log_printf(c->rnic->log, LOG_LEVEL_INFO, "rnic: the port mapper of %s %s",
		ip_addr_format(&c->connect.remote.addr, host), text[why]);
	mpa_abort(&c->mpa);
	conn_over(c,
		&(struct conn_end){.status = why == RNIC_MAPPER_SILENT ? -ETIMEDOUT : -ECONNREFUSED,
			.mapper = why});
}

/** ICMP said it of the host: it holds for all that wait for it, also where ICMP is limited. */
static void conn_map_fail_all(struct conn *c)
{
	struct conn_turns *ts = c->rnic->turns;
	struct ip_addr host = c->connect.remote.addr;
	struct conn_turn *t;

	while ((t = conn_turns_first(ts, &host)))
		conn_map_fail(container_of(t, struct conn_map, turn)->conn, RNIC_MAPPER_ABSENT);
}

static void conn_map_on_no_answer(struct conn *c, enum iwpm_outcome outcome)
{
	if (outcome == IWPM_REJECTED)
		conn_map_fail(c, RNIC_MAPPER_REJECTS);
	else if (outcome == IWPM_ABSENT)
		conn_map_fail_all(c);
	else if (outcome == IWPM_SILENT)
		conn_map_fail(c, RNIC_MAPPER_SILENT);
}

/** @param from our port, as the peer's mapper was told. */
static void conn_map_to_port(struct conn *c, uint16_t port, uint16_t from)
{
	if (port != c->service_port)
		log_printf(c->rnic->log, LOG_LEVEL_INFO, "rnic: port %u is mapped to %u",
			c->service_port, port);
	c->connect.remote.port = port;
	c->connect.local.port = from;
}

/** The port as it is: an attempt may be under way already. */
static void conn_map_to_service(struct conn *c, enum iwpm_outcome outcome)
{
	struct conn_turns *ts = c->rnic->turns;

	if (c->wait == CONN_WAIT_MAP && outcome != IWPM_REJECTED)
		conn_turns_release(ts, &c->connect.remote.addr);
	else if (c->wait == CONN_WAIT_MAP)
		conn_turn_ready(ts, &c->map->turn);
	else if (outcome != IWPM_UNANSWERED)
		conn_map_end(c);
}

static void conn_map_on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct conn_map *m = container_of(q, struct conn_map, query);
	struct conn *c = m->conn;

	if (outcome != IWPM_MAPPED && c->rnic->mapper_required) {
		conn_map_on_no_answer(c, outcome);
	} else if (outcome != IWPM_MAPPED) {
		conn_map_to_service(c, outcome);
	} else if (c->wait == CONN_WAIT_MAP) {
		conn_map_to_port(c, q->mapped.port, q->local.port);
		conn_turn_ready(c->rnic->turns, &m->turn);
	} else if (q->mapped.port == c->connect.remote.port) {
		conn_map_end(c);
	} else {
		conn_map_to_port(c, q->mapped.port, q->local.port);
		conn_start_stop(c);
		conn_turn_again(c->rnic->turns, &m->turn);
	}
}

/* ---- the question ------------------------------------------------------------------------ */

/** @return true: nobody is waited for. */
static bool conn_map_is_free(const struct conn *c, uint64_t wait)
{
	return !wait && !c->rnic->mapper_required &&
	       !conn_turns_first(c->rnic->turns, &c->connect.remote.addr);
}

int conn_map_ask(struct conn *c)
{
	struct rnic *r = c->rnic;
	struct conn_map *m;
	uint64_t wait;

	/* Our own ports, and those of pairings, are what they are. */
	if (!r->mapper || c->paired || llp_is_local(r->net, &c->connect.remote.addr))
		return 0;
	m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	c->map = m;
	m->conn = c;
	wait = iwpm_ask(r->mapper, &m->query, &c->connect.local, &c->connect.remote,
		conn_map_on_outcome, r->engine->now);
	if (conn_map_is_free(c, wait))
		return 0;
	conn_turn_take(r->turns, &m->turn, &c->connect.remote.addr);
	if (!wait && !r->mapper_required)
		conn_turn_ready(r->turns, &m->turn);
	return 1;
}

void conn_map_end(struct conn *c)
{
	if (!c->map)
		return;
	iwpm_cancel(&c->map->query);
	conn_turn_leave(c->rnic->turns, &c->map->turn);
	free(c->map);
	c->map = NULL;
}
