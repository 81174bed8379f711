/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's port mapper, which our programs ask before they connect: see doctor.h. */
#include "base/container_of.h"
#include "iwpm/mapper.h"
#include "tools/doctor.h"

/** Of a host that is not known to have a mapper: a request and its repetition may be lost. */
#define MAP_MS 1500
/** Of one that must have it: as long as it is asked. */
#define MAP_REQUIRED_MS 12000

struct doctor_map {
	struct iwpm_query query;
	enum iwpm_outcome outcome;
	bool over;
};

static void doctor_map_on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct doctor_map *m = container_of(q, struct doctor_map, query);

	m->outcome = outcome;
	m->over = outcome != IWPM_UNANSWERED;
}

static bool doctor_map_is_over(void *ctx)
{
	const struct doctor_map *m = ctx;

	return m->over;
}

/** @return false: nobody is to be asked. */
static bool doctor_map_ask(struct doctor *d, struct doctor_map *m)
{
	const struct ip_endpoint remote = {d->peer, d->port};
	struct llp_stack *s = net_llp(d->net);
	struct ip_endpoint local = {.port = 0};
	bool asked;

	engine_lock(net_engine(d->net));
	asked = !llp_is_local(s, &d->peer) && llp_source(s, &d->peer, &local.addr) == 0;
	if (asked) {
		local.port = llp_port_choose(s, &local.addr, &remote);
		iwpm_ask(net_mapper(d->net), &m->query, &local, &remote, doctor_map_on_outcome,
			net_now(d->net));
	}
	engine_unlock(net_engine(d->net));
	return asked;
}

static void doctor_map_explain(struct doctor *d, const struct doctor_map *m, const char *peer)
{
	const bool required = d->config->port_mapper == PORT_MAPPER_REQUIRED;

	if (m->outcome == IWPM_MAPPED && m->query.mapped.port != d->port) {
		doctor_good(d, "the port mapper of %s maps port %u to %u", peer, d->port,
			m->query.mapped.port);
	} else if (m->outcome == IWPM_REJECTED) {
		(required ? doctor_wrong : doctor_note)(
			d, "the port mapper of %s knows no listener at port %u", peer, d->port);
		if (required)
			doctor_advise(d, "start the server first, and see that it listens at this "
					 "port");
	} else if (m->outcome != IWPM_MAPPED && required) {
		doctor_wrong(
			d, "%s has no port mapper, but our \"port_mapper\" is \"required\"", peer);
		doctor_advise(d, "start iwpmd at the peer, let UDP port 3935 through, or set "
				 "\"port_mapper = auto\"");
	}
}

bool doctor_map_port(struct doctor *d, const char *peer)
{
	struct doctor_map m = {.outcome = IWPM_UNANSWERED};
	const bool required = d->config->port_mapper == PORT_MAPPER_REQUIRED;

	if (!net_mapper(d->net) || !doctor_map_ask(d, &m))
		return true;
	doctor_wait(d, required ? MAP_REQUIRED_MS : MAP_MS, doctor_map_is_over, &m);
	engine_lock(net_engine(d->net));
	iwpm_cancel(&m.query);
	engine_unlock(net_engine(d->net));
	doctor_map_explain(d, &m, peer);
	if (m.outcome == IWPM_MAPPED) {
		d->port = m.query.mapped.port;
		d->from = m.query.local.port;
	}
	return m.outcome == IWPM_MAPPED || !required;
}
