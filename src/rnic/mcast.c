/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/mcast.h"

#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

static const struct ip_addr mcast_all_links;

/* ---- groups -------------------------------------------------------------------------------- */

/** The program chooses its groups: the last octet tells most of them apart. */
static unsigned mcast_bucket(const struct ip_addr *group)
{
	return group->b[15] % MCAST_BUCKETS;
}

static struct mcast_group *mcast_find(const struct rnic *r, const struct ip_addr *group)
{
	struct mcast_group *g;

	LIST_FOREACH (g, &r->ud.mcast.bucket[mcast_bucket(group)], link)
		if (ip_addr_equal(&g->addr, group))
			return g;
	return NULL;
}

/** @return the group, which may be new; NULL: too many, or no memory. */
static struct mcast_group *mcast_get(struct rnic *r, const struct ip_addr *group)
{
	struct mcast_table *t = &r->ud.mcast;
	struct mcast_group *g = mcast_find(r, group);

	if (g || t->n == RNIC_MCAST_GROUPS)
		return g;
	g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->addr = *group;
	LIST_INSERT_HEAD(&t->bucket[mcast_bucket(group)], g, link);
	t->n++;
	return g;
}

static int mcast_join_link(struct rnic *r, const struct ip_addr *group, const struct ip_addr *local)
{
	char text[IP_ADDR_STRLEN];
	int rc = r->ud.net->join(r->ud.net->ctx, group, local);

	if (!rc)
		log_printf(r->log, LOG_LEVEL_INFO, "rnic: joins the group %s",
			ip_addr_format(group, text));
	return rc;
}

static int mcast_join_all_links(struct rnic *r, struct mcast_group *g)
{
	int rc = mcast_join_link(r, &g->addr, &mcast_all_links);

	g->all_links = rc == 0;
	return rc;
}

/** Somebody has gone: be a member for those who are left, if there are any. */
static void mcast_settle(struct rnic *r, struct mcast_group *g)
{
	char text[IP_ADDR_STRLEN];
	int rc = 0;

	if (g->all_links && g->num_members == 0) {
		r->ud.net->leave(r->ud.net->ctx, &g->addr, &mcast_all_links);
		g->all_links = false;
	} else if (!g->all_links && g->num_members != 0 && g->joins == 0) {
		rc = mcast_join_all_links(r, g);
	}
	if (rc)
		log_printf(r->log, LOG_LEVEL_WARNING,
			"rnic: a queue pair receives no more of the group %s: %s",
			ip_addr_format(&g->addr, text), strerror(-rc));
	if (g->num_members != 0 || g->joins != 0)
		return;
	LIST_REMOVE(g, link);
	r->ud.mcast.n--;
	free(g);
}

int mcast_commit(struct rnic *r, const struct ip_addr *group, const struct ip_addr *local)
{
	const struct ud_net *net = r->ud.net;

	return net && net->settle ? net->settle(net->ctx, group, local ? local : &mcast_all_links)
				  : 0;
}

/* ---- endpoints ----------------------------------------------------------------------------- */

int mcast_join(struct rnic *r, struct mcast_joined_list *joined, const struct ip_addr *group,
	const struct ip_addr *local)
{
	struct mcast_joined *j = NULL;
	struct mcast_group *g;
	int rc = ip_addr_is_multicast(group) ? ud_service_open(r) : -EINVAL;

	if (rc)
		return rc;
	g = mcast_get(r, group);
	if (!g)
		return -ENOMEM;
	j = malloc(sizeof *j);
	rc = j ? mcast_join_link(r, group, local) : -ENOMEM;
	if (rc) {
		free(j);
		mcast_settle(r, g);
		return rc;
	}
	*j = (struct mcast_joined){.group = g, .local = *local};
	LIST_INSERT_HEAD(joined, j, link);
	g->joins++;
	return 0;
}

static void mcast_undo(struct rnic *r, struct mcast_joined *j)
{
	struct mcast_group *g = j->group;

	r->ud.net->leave(r->ud.net->ctx, &g->addr, &j->local);
	LIST_REMOVE(j, link);
	free(j);
	g->joins--;
	mcast_settle(r, g);
}

int mcast_leave(struct rnic *r, struct mcast_joined_list *joined, const struct ip_addr *group)
{
	struct mcast_joined *j;

	LIST_FOREACH (j, joined, link)
		if (ip_addr_equal(&j->group->addr, group)) {
			mcast_undo(r, j);
			return 0;
		}
	return -EINVAL;
}

void mcast_leave_all(struct rnic *r, struct mcast_joined_list *joined)
{
	while (!LIST_EMPTY(joined))
		mcast_undo(r, LIST_FIRST(joined));
}

/* ---- queue pairs --------------------------------------------------------------------------- */

static struct mcast_member *mcast_member_of(const struct rnic_qp *qp, const struct ip_addr *group)
{
	struct mcast_member *m;

	LIST_FOREACH (m, &qp->ud->groups, of_qp)
		if (ip_addr_equal(&m->group->addr, group))
			return m;
	return NULL;
}

static int mcast_add(struct rnic_qp *qp, struct mcast_group *g)
{
	struct mcast_member *m = g->num_members < RNIC_MCAST_QPS ? calloc(1, sizeof *m) : NULL;
	int rc = 0;

	if (!m)
		return -ENOMEM;
	if (g->joins == 0 && !g->all_links)
		rc = mcast_join_all_links(qp->rnic, g);
	if (rc) {
		free(m);
		return rc;
	}
	m->group = g;
	m->qp = qp;
	LIST_INSERT_HEAD(&g->members, m, of_group);
	LIST_INSERT_HEAD(&qp->ud->groups, m, of_qp);
	g->num_members++;
	return 0;
}

/** @param[out] fresh it was not attached before. */
static int mcast_attach_qp(struct rnic_qp *qp, const struct ip_addr *group, bool *fresh)
{
	char text[IP_ADDR_STRLEN];
	struct mcast_group *g;
	int rc;

	if (!qp->ud || qp->leaving || !ip_addr_is_multicast(group))
		return -EINVAL;
	if (mcast_member_of(qp, group))
		return 0;
	g = mcast_get(qp->rnic, group);
	if (!g)
		return -ENOMEM;
	rc = mcast_add(qp, g);
	*fresh = rc == 0;
	if (rc)
		mcast_settle(qp->rnic, g);
	else
		log_printf(qp->rnic->log, LOG_LEVEL_INFO,
			"rnic: queue pair %u receives from the group %s", qp->num,
			ip_addr_format(group, text));
	return rc;
}

static void mcast_remove(struct mcast_member *m)
{
	struct rnic *r = m->qp->rnic;
	struct mcast_group *g = m->group;

	LIST_REMOVE(m, of_group);
	LIST_REMOVE(m, of_qp);
	g->num_members--;
	free(m);
	mcast_settle(r, g);
}

static int mcast_detach_qp(struct rnic_qp *qp, const struct ip_addr *group)
{
	struct mcast_member *m = qp->ud ? mcast_member_of(qp, group) : NULL;

	if (!m)
		return -EINVAL;
	mcast_remove(m);
	return 0;
}

void mcast_detach_all(struct rnic_qp *qp)
{
	while (qp->ud && !LIST_EMPTY(&qp->ud->groups))
		mcast_remove(LIST_FIRST(&qp->ud->groups));
}

static int mcast_attach_settled(struct rnic_qp *qp, const struct ip_addr *group)
{
	bool fresh = false;
	int rc = ENGINE_LOCKED(qp->rnic->engine, mcast_attach_qp(qp, group, &fresh));
	int refused = mcast_commit(qp->rnic, group, NULL);

	if (!fresh || !refused)
		return rc;
	(void)rnic_qp_detach(qp, group);
	return refused;
}

int rnic_qp_attach(struct rnic_qp *qp, const struct ip_addr *group)
{
	struct rnic *r = qp->rnic;
	int rc;

	if (ip_addr_is_multicast(group))
		rnic_ud_prepare(r, group);
	pthread_mutex_lock(&r->ud.mcast.attaching);
	rc = mcast_attach_settled(qp, group);
	pthread_mutex_unlock(&r->ud.mcast.attaching);
	return rc;
}

int rnic_qp_detach(struct rnic_qp *qp, const struct ip_addr *group)
{
	int rc = ENGINE_LOCKED(qp->rnic->engine, mcast_detach_qp(qp, group));

	(void)mcast_commit(qp->rnic, group, NULL);
	return rc;
}

void rnic_qp_detach_all(struct rnic_qp *qp)
{
	engine_lock(qp->rnic->engine);
	mcast_detach_all(qp);
	engine_unlock(qp->rnic->engine);
	(void)mcast_commit(qp->rnic, NULL, NULL);
}

bool rnic_qp_is_attached(struct rnic_qp *qp)
{
	return ENGINE_LOCKED(qp->rnic->engine, qp->ud && !LIST_EMPTY(&qp->ud->groups));
}

/* ---- receiving ----------------------------------------------------------------------------- */

void mcast_receive(struct rnic *r, const struct ud_path *path, const struct ud_header *h,
	const uint8_t *message)
{
	const struct mcast_group *g = mcast_find(r, &path->local);
	struct mcast_member *m;

	if (!g || LIST_EMPTY(&g->members)) {
		r->ud.stats.no_qp++;
		return;
	}
	LIST_FOREACH (m, &g->members, of_group)
		if (!(m->qp->ud->block_self && path->own && h->from_qp == m->qp->num))
			ud_receive(m->qp, r, path, h, message);
}
