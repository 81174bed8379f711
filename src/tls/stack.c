/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/stack.h"

#include "base/container_of.h"
#include "tls/conn.h"
#include "tls/starved.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_SECOND UINT64_C(1000000000)

struct tls_listener {
	struct llp_listener *below;
	struct tls_stack *stack;
	LIST_ENTRY(tls_listener) link;
	llp_accept_fn *accept;
	void *user;
};

static struct tls_stack *tls_stack_of(struct llp_stack *s)
{
	return container_of(s, struct tls_stack, llp);
}

/* ---- connections ------------------------------------------------------------------------- */

static int tls_stack_connect(struct llp_stack *ls, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	struct tls_stack *s = tls_stack_of(ls);
	struct tls_conn *c = tls_conn_new(s, false);
	int rc;

	if (!c)
		return -ENOMEM;
	rc = llp_connect(s->below, p, &tls_conn_below_ops, c, &c->below);
	if (rc) {
		tls_conn_free(c);
		return rc;
	}
	llp_set_user(&c->llp, ops, user);
	*out = &c->llp;
	return 0;
}

static int tls_stack_on_accept(void *user, struct llp *l)
{
	struct tls_listener *listener = user;
	struct tls_conn *c = tls_conn_new(listener->stack, true);
	int rc;

	if (!c)
		return -ENOMEM;
	c->below = l;
	llp_set_user(l, &tls_conn_below_ops, c);
	/* Before the handshake: the user's limits and its deadline are for that, too. */
	tls_conn_enter(c);
	rc = listener->accept(listener->user, &c->llp);
	if (rc) {
		c->below = NULL;
		c->dead = true;
	}
	tls_conn_leave(c);
	return rc;
}

static int tls_stack_listen(struct llp_stack *ls, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	struct tls_stack *s = tls_stack_of(ls);
	struct tls_listener *l = calloc(1, sizeof *l);
	int rc;

	if (!l)
		return -ENOMEM;
	l->stack = s;
	l->accept = accept;
	l->user = user;
	rc = llp_listen(s->below, local, backlog, tls_stack_on_accept, l, &l->below);
	if (rc) {
		free(l);
		return rc;
	}
	LIST_INSERT_HEAD(&s->listeners, l, link);
	*out = (struct llp_listener *)(void *)l;
	return 0;
}

static void tls_stack_unlisten(struct llp_listener *handle)
{
	struct tls_listener *l = (struct tls_listener *)(void *)handle;

	llp_unlisten(l->stack->below, l->below);
	LIST_REMOVE(l, link);
	free(l);
}

/* ---- what the stack below knows ------------------------------------------------------------ */

static int tls_stack_source(
	struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	return llp_source(tls_stack_of(s)->below, remote, local);
}

static int tls_stack_reach(struct llp_stack *s, const struct ip_addr *remote)
{
	return llp_reach(tls_stack_of(s)->below, remote);
}

static bool tls_stack_is_local(struct llp_stack *s, const struct ip_addr *a)
{
	return llp_is_local(tls_stack_of(s)->below, a);
}

static int tls_stack_port_reserve(struct llp_stack *s, struct ip_endpoint *local, unsigned flags)
{
	return llp_port_reserve(tls_stack_of(s)->below, local, flags);
}

static void tls_stack_port_release(struct llp_stack *s, const struct ip_endpoint *local)
{
	llp_port_release(tls_stack_of(s)->below, local);
}

static uint16_t tls_stack_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return llp_port_choose(tls_stack_of(s)->below, local, remote);
}

static bool tls_stack_has_scopes(const struct llp_stack *s)
{
	return llp_has_scopes(container_of(s, const struct tls_stack, llp)->below);
}

const struct llp_stack_ops tls_stack_ops = {
	.connect = tls_stack_connect,
	.listen = tls_stack_listen,
	.unlisten = tls_stack_unlisten,
	.source = tls_stack_source,
	.reach = tls_stack_reach,
	.is_local = tls_stack_is_local,
	.port_reserve = tls_stack_port_reserve,
	.port_release = tls_stack_port_release,
	.port_choose = tls_stack_port_choose,
	.has_scopes = tls_stack_has_scopes,
};

/* ---- life -------------------------------------------------------------------------------- */

int tls_stack_new(const struct tls_stack_config *cfg, struct tls_stack **out, struct tls_error *e)
{
	struct tls_stack *s = calloc(1, sizeof *s);
	int rc;

	if (!s) {
		snprintf(e->text, sizeof e->text, "tls: no memory");
		return -ENOMEM;
	}
	s->llp.ops = &tls_stack_ops;
	s->below = cfg->below;
	s->config = *cfg->tls;
	s->log = cfg->log;
	s->records_max = cfg->records_max;
	s->time = cfg->time;
	s->kept.most = cfg->kept_max;
	if (s->kept.most)
		cfg->random.fill(cfg->random.ctx, &s->kept.key, sizeof s->kept.key);
	s->now = cfg->now;
	s->now_ctx = cfg->now_ctx;
	if (s->config.handshakes_per_peer) {
		s->rate.interval = NS_PER_SECOND / s->config.handshakes_per_peer;
		cfg->random.fill(cfg->random.ctx, s->rate.key, sizeof s->rate.key);
	}
	tls_starved_init(s, cfg->wheel);
	s->has_gcm = gcm_init(&s->gcm);
	tls_secret_pool_init(&s->gcm_keys, sizeof(struct gcm_key));
	rc = tls_credentials_open(&s->credentials, &s->config, s->log, e);
	if (rc) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void tls_stack_free(struct tls_stack *s)
{
	while (!LIST_EMPTY(&s->conns))
		tls_conn_free(LIST_FIRST(&s->conns));
	while (!LIST_EMPTY(&s->listeners)) {
		struct tls_listener *l = LIST_FIRST(&s->listeners);

		LIST_REMOVE(l, link);
		free(l);
	}
	tls_starved_fini(s);
	tls_credentials_close(&s->credentials);
	tls_secret_pool_fini(&s->gcm_keys);
	OPENSSL_cleanse(s->scratch, sizeof s->scratch);
	free(s);
}
