/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/address.h"
#include "sock/conn.h"
#include "sock/held.h"
#include "sock/listen.h"
#include "sock/option.h"
#include "sock/ports.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a connection ------------------------------------------------------------------------ */

static uint32_t sock_llp_emss(const struct llp *l)
{
	return sock_conn_of(l)->emss;
}

static void *sock_llp_refuse(struct sock_conn *c)
{
	c->refused = true;
	sock_conn_mark_dirty(c);
	return NULL;
}

/** Records follow each other without a gap; @p join has no meaning, as the kernel cuts segments. */
static void *sock_llp_reserve(struct llp *l, uint32_t len, bool join)
{
	struct sock_conn *c = sock_conn_of(l);

	if (c->state == SOCK_OVER || c->error || c->broken || c->fin_wanted || len == 0 ||
		len > SOCK_BUFFER)
		return NULL;
	if ((!c->tx && !sock_tx_take(c, len)) || len > sock_buffer_tail_room(c->tx))
		return sock_llp_refuse(c);
	return sock_buffer_tail(c->tx);
}

static void sock_llp_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	struct sock_conn *c = sock_conn_of(l);

	if (!c->tx)
		return; /* the connection ended in between */
	c->tx->len += len;
	if (c->tx->len)
		return;
	sock_tx_give(c);
}

static void sock_llp_push(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);

	c->pushed = true;
	sock_conn_mark_dirty(c);
}

static void sock_llp_resume(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);

	c->need = 0;
	if (c->showing) {
		c->resume = true;
		return;
	}
	sock_show(c);
	if (c->state != SOCK_OPEN)
		return;
	if (c->more)
		sock_conn_mark_ready(c);
	sock_conn_end_if_closed(c);
}

/** Nothing comes out of order from the kernel. */
static bool sock_llp_took_ooo(const struct llp *l)
{
	return false;
}

static size_t sock_llp_unacked(const struct llp *l)
{
	const struct sock_conn *c = sock_conn_of(l);

	if (c->state != SOCK_OPEN)
		return sock_queued(c);
	return sock_queued(c) + sock_option_unacked(c->source.fd);
}

static uint64_t sock_llp_queued(const struct llp *l)
{
	const struct sock_conn *c = sock_conn_of(l);

	return c->taken + sock_queued(c);
}

static uint64_t sock_llp_acked(const struct llp *l)
{
	return sock_acks_to(sock_conn_of(l));
}

static void sock_llp_watch_acks(struct llp *l)
{
	sock_acks_watch(sock_conn_of(l));
}

static void sock_llp_shutdown(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);

	if (c->state == SOCK_CONNECTING)
		c->error = -ECONNABORTED; /* RFC 9293 section 3.10.4; but not from in here */
	c->fin_wanted = true;
	sock_conn_mark_dirty(c);
}

static void sock_llp_let_go(struct sock_conn *c)
{
	c->llp.user_ops = NULL;
	c->orphan = true;
	sock_rx_give(c);
}

static void sock_llp_abort(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);

	sock_llp_let_go(c);
	if (c->fin_sent && c->state == SOCK_OPEN)
		sock_option_reset_on_close(c->source.fd, true);
	c->aborted = true;
	sock_conn_drop(c);
}

static void sock_llp_orphan(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);

	if (c->orphan || c->state != SOCK_OPEN)
		return;
	c->orphan = true;
	sock_rx_give(c);
	sock_conn_orphan(c);
	if (c->more)
		sock_conn_mark_ready(c);
}

static void sock_llp_release(struct llp *l)
{
	struct sock_conn *c = sock_conn_of(l);
	bool was = c->orphan;

	sock_llp_let_go(c);
	if (c->state != SOCK_OPEN || c->error) {
		sock_conn_drop(c);
		return;
	}
	/* Perhaps only what was to be read held up the end, and no event comes any more. */
	sock_conn_end_if_closed(c);
	if (c->state == SOCK_OVER)
		return;
	c->fin_wanted = true;
	if (!was)
		sock_conn_orphan(c);
	sock_conn_mark_dirty(c);
	if (c->more)
		sock_conn_mark_ready(c);
}

static void sock_llp_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	const struct sock_conn *c = sock_conn_of(l);

	*local = c->local;
	*remote = c->remote;
}

static void sock_llp_set_tos(struct llp *l, uint8_t tos)
{
	struct sock_conn *c = sock_conn_of(l);

	if (c->state != SOCK_OVER)
		sock_option_tos(c->source.fd, sock_family(&c->remote.addr), tos);
}

const struct llp_ops sock_llp_ops = {
	.emss = sock_llp_emss,
	.reserve = sock_llp_reserve,
	.commit = sock_llp_commit,
	.push = sock_llp_push,
	.resume = sock_llp_resume,
	.took_ooo = sock_llp_took_ooo,
	.unacked = sock_llp_unacked,
	.queued = sock_llp_queued,
	.acked = sock_llp_acked,
	.watch_acks = sock_llp_watch_acks,
	.shutdown = sock_llp_shutdown,
	.abort = sock_llp_abort,
	.orphan = sock_llp_orphan,
	.release = sock_llp_release,
	.endpoints = sock_llp_endpoints,
	.set_tos = sock_llp_set_tos,
};

/* ---- the stack's side -------------------------------------------------------------------- */

static struct sock_stack *sock_llp_stack_of(struct llp_stack *s)
{
	return container_of(s, struct sock_stack, llp);
}

/** The first address of the configuration that is of @p remote's family. */
static int sock_llp_narrow_source(
	const struct sock_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	for (unsigned i = 0; i < s->cfg.num_addresses; i++) {
		if (ip_addr_is_v4(&s->addresses[i]) != ip_addr_is_v4(remote) ||
			ip_addr_is_loopback(&s->addresses[i]) != ip_addr_is_loopback(remote))
			continue;
		*local = s->addresses[i];
		return 0;
	}
	return -ENETUNREACH;
}

static int sock_llp_source(
	struct llp_stack *ls, const struct ip_addr *remote, struct ip_addr *local)
{
	const struct sock_stack *s = sock_llp_stack_of(ls);
	int rc = sock_address_source(remote, local);

	return rc || sock_is_ours(s, local) ? rc : sock_llp_narrow_source(s, remote, local);
}

/** The kernel finds its neighbours when it connects. */
static int sock_llp_reach(struct llp_stack *ls, const struct ip_addr *remote)
{
	return 0;
}

static bool sock_llp_is_local(struct llp_stack *ls, const struct ip_addr *a)
{
	const struct sock_stack *s = sock_llp_stack_of(ls);

	return sock_is_ours(s, a) && sock_address_is_host(a);
}

/** Without a port the kernel chooses it as it connects, from more than are free to bind to. */
static int sock_llp_bind_source(struct sock_stack *s, int fd, const struct ip_endpoint *local)
{
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(local, &sa);

	if (local->port) {
		sock_port_share(s, local);
		(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	} else {
		(void)sock_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	}
	return bind(fd, (struct sockaddr *)&sa, len) ? -errno : 0;
}

/** @return 0: it is under way, or @p pending tells how it has failed already. */
static int sock_llp_begin(int fd, const struct ip_endpoint *remote, bool has_port, int *pending)
{
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(remote, &sa);

	*pending = 0;
	if (!connect(fd, (struct sockaddr *)&sa, len) || errno == EINPROGRESS)
		return 0;
	switch (errno) {
	case EADDRNOTAVAIL: /* that pair of endpoints exists, or no port is left */
		return has_port ? -EADDRINUSE : -EADDRNOTAVAIL;
	case EADDRINUSE:
	case ENETUNREACH:
	case ENOMEM:
		return -errno;
	case EINVAL:
	case EAFNOSUPPORT:
		return -ENETUNREACH;
	default:
		*pending = sock_conn_error(-errno);
		return 0;
	}
}

/** @return a socket that connects, or -errno. */
static int sock_llp_connecting(
	struct sock_stack *s, const struct llp_connect_params *p, int *pending)
{
	int family = sock_family(&p->remote.addr);
	struct ip_endpoint local = p->local;
	int fd, rc;

	rc = ip_addr_is_any(&local.addr) ? sock_llp_source(&s->llp, &p->remote.addr, &local.addr)
					 : 0;
	if (rc)
		return rc;
	if (!sock_is_ours(s, &local.addr) || sock_family(&local.addr) != family)
		return -EADDRNOTAVAIL;
	fd = sock_open(s, family);
	if (fd < 0)
		return fd;
	sock_option_tos(fd, family, p->tos);
	sock_option_congestion_control(
		s, fd, p->congestion_control ? p->congestion_control : s->cfg.congestion_control);
	rc = sock_llp_bind_source(s, fd, &local);
	if (!rc)
		rc = sock_llp_begin(fd, &p->remote, local.port != 0, pending);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int sock_llp_connect(struct llp_stack *ls, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	struct sock_stack *s = sock_llp_stack_of(ls);
	struct sock_conn *c;
	int pending = 0, fd, rc;

	if (ip_addr_is_any(&p->remote.addr) || ip_addr_is_multicast(&p->remote.addr))
		return -ENETUNREACH;
	fd = sock_llp_connecting(s, p, &pending);
	if (fd < 0)
		return fd;
	rc = sock_conn_new(s, fd, SOCK_CONNECTING, &c);
	if (rc)
		return rc;
	c->remote = p->remote;
	c->emss = sock_option_mss(fd);
	c->error = pending;
	if (pending)
		sock_conn_mark_dirty(c);
	if (sock_address_local(fd, &c->local))
		c->local = p->local;
	llp_set_user(&c->llp, ops, user);
	s->stats.connects++;
	*out = &c->llp;
	return 0;
}

static int sock_llp_listen(struct llp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	return sock_listen(sock_llp_stack_of(s), local, backlog, accept, user, out);
}

static int sock_llp_port_reserve(struct llp_stack *s, struct ip_endpoint *local, unsigned flags)
{
	return sock_port_reserve(sock_llp_stack_of(s), local, flags);
}

static void sock_llp_port_release(struct llp_stack *s, const struct ip_endpoint *local)
{
	sock_port_release(sock_llp_stack_of(s), local);
}

static uint16_t sock_llp_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return sock_port_choose(sock_llp_stack_of(s), local, remote);
}

static bool sock_llp_has_scopes(const struct llp_stack *s)
{
	return true;
}

const struct llp_stack_ops sock_llp_stack_ops = {
	.connect = sock_llp_connect,
	.listen = sock_llp_listen,
	.unlisten = sock_unlisten,
	.source = sock_llp_source,
	.reach = sock_llp_reach,
	.is_local = sock_llp_is_local,
	.port_reserve = sock_llp_port_reserve,
	.port_release = sock_llp_port_release,
	.port_choose = sock_llp_port_choose,
	.has_scopes = sock_llp_has_scopes,
};
