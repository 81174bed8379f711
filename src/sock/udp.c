/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/udp.h"

#include "base/container_of.h"
#include "base/fd_room.h"
#include "sock/address.h"
#include "sock/option.h"
#include "sock/stack.h"
#include "sock/udp_priv.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/** Datagrams, and errors, that are taken before others have their turn. */
#define SOCK_UDP_BURST 64

/** Room for the destination, or for an error and who has sent it. */
union sock_udp_control {
	struct cmsghdr align;
	uint8_t room[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6)) +
		     CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* ---- receiving --------------------------------------------------------------------------- */

static struct cmsghdr *sock_udp_find(struct msghdr *msg, int level, int type)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == level && c->cmsg_type == type)
			return c;
	return NULL;
}

bool sock_udp_destination(struct msghdr *msg, struct ip_addr *to)
{
	struct cmsghdr *v4 = sock_udp_find(msg, IPPROTO_IP, IP_PKTINFO);
	struct cmsghdr *v6 = sock_udp_find(msg, IPPROTO_IPV6, IPV6_PKTINFO);
	struct in_pktinfo info4;
	struct in6_pktinfo info6;

	if (v4) {
		memcpy(&info4, CMSG_DATA(v4), sizeof info4);
		*to = ip_addr_from_v4(&info4.ipi_addr);
	} else if (v6) {
		memcpy(&info6, CMSG_DATA(v6), sizeof info6);
		*to = ip_addr_from_v6(&info6.ipi6_addr);
		*to = ip_addr_with_scope(to, info6.ipi6_ifindex);
	}
	return v4 || v6;
}

/** The host says that nobody there has the port, or that it does not let us. */
static bool sock_udp_is_unreachable(struct msghdr *msg)
{
	struct cmsghdr *c = sock_udp_find(msg, IPPROTO_IP, IP_RECVERR);
	struct sock_extended_err e;

	if (!c)
		c = sock_udp_find(msg, IPPROTO_IPV6, IPV6_RECVERR);
	if (!c)
		return false;
	memcpy(&e, CMSG_DATA(c), sizeof e);
	return (e.ee_origin == SO_EE_ORIGIN_ICMP && e.ee_type == ICMP_DEST_UNREACH &&
		       e.ee_code != ICMP_FRAG_NEEDED) ||
	       (e.ee_origin == SO_EE_ORIGIN_ICMP6 && e.ee_type == ICMP6_DST_UNREACH);
}

/** @return false: there is nothing more. */
static bool sock_udp_receive(struct sock_udp_socket *k, int flags)
{
	struct sock_udp *u = k->udp;
	uint8_t data[SOCK_UDP_DATA_MAX];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof data};
	union sock_udp_control control;
	struct sockaddr_storage sa = {0};
	struct msghdr msg = {.msg_name = &sa,
		.msg_namelen = sizeof sa,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};
	struct ip_endpoint from, to = {.port = k->port};
	ssize_t n = recvmsg(k->source.fd, &msg, flags | MSG_DONTWAIT);

	if (n < 0)
		/* An error that waited is told by the call, and what came is still there. */
		return errno != EAGAIN && errno != EBADF;
	sock_address_get(&sa, &from);
	if (flags & MSG_ERRQUEUE) {
		if (u->user.error && sock_udp_is_unreachable(&msg))
			u->user.error(u->user.ctx, &from, data, (size_t)n, u->s->now);
	} else if (!(msg.msg_flags & MSG_TRUNC) && sock_udp_destination(&msg, &to.addr) &&
		   sock_is_ours(u->s, &to.addr) && !ip_addr_is_multicast(&to.addr)) {
		u->user.input(u->user.ctx, &from, &to, data, (size_t)n, u->s->now);
	}
	return k->source.fd >= 0;
}

/** @return false: there is nothing more. */
static bool sock_udp_receive_burst(struct sock_udp_socket *k, int flags)
{
	for (unsigned i = 0; i < SOCK_UDP_BURST; i++)
		if (!sock_udp_receive(k, flags))
			return false;
	return true;
}

static void sock_udp_on_events(struct sock_source *source, uint32_t events)
{
	struct sock_udp_socket *k = container_of(source, struct sock_udp_socket, source);
	bool more;

	if (k->udp->user.readable) {
		k->udp->user.readable(k->udp->user.ctx, source);
		return;
	}
	more = events & EPOLLERR && sock_udp_receive_burst(k, MSG_ERRQUEUE);
	if (k->source.fd >= 0)
		more = sock_udp_receive_burst(k, 0) || more;
	if (more)
		sock_watch_again(k->udp->s, source, EPOLLIN);
}

/* ---- sending ----------------------------------------------------------------------------- */

void sock_udp_set_source(struct msghdr *msg, const struct ip_addr *from, unsigned interface)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct in_pktinfo info4 = {.ipi_ifindex = (int)interface};
	struct in6_pktinfo info6 = {.ipi6_ifindex = interface ? interface : ip_addr_scope(from)};
	struct ip_addr bare = ip_addr_with_scope(from, 0);

	if (ip_addr_is_v4(from)) {
		memcpy(&info4.ipi_spec_dst, from->b + 12, 4);
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof info4);
		msg->msg_controllen = CMSG_SPACE(sizeof info4);
		memcpy(CMSG_DATA(c), &info4, sizeof info4);
		return;
	}
	memcpy(&info6.ipi6_addr, bare.b, 16);
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof info6);
	msg->msg_controllen = CMSG_SPACE(sizeof info6);
	memcpy(CMSG_DATA(c), &info6, sizeof info6);
}

void sock_udp_send(struct sock_udp *u, const struct ip_addr *from, const struct ip_endpoint *to,
	const void *data, size_t len)
{
	union sock_udp_control control = {.room = {0}};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct sockaddr_storage sa;
	struct msghdr msg = {.msg_name = &sa,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};
	int fd = u->socket[!ip_addr_is_v4(&to->addr)].source.fd;

	msg.msg_namelen = sock_address_put(to, &sa);
	sock_udp_set_source(&msg, from, 0);
	/* An error of a datagram before is told first, and nothing is sent then. */
	for (unsigned i = 0; i < 2 && fd >= 0; i++)
		if (sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			break;
}

/* ---- life -------------------------------------------------------------------------------- */

static int sock_udp_open_family(struct sock_udp *u, struct sock_udp_socket *k, bool v4)
{
	struct ip_endpoint at = {.port = u->port}, got;
	struct sockaddr_storage sa;
	uint8_t any[4] = {0};
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc, level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	socklen_t len;

	if (fd < 0)
		return -errno;
	if (v4)
		at.addr = ip_addr_from_v4(any);
	else
		(void)sock_option(fd, level, IPV6_V6ONLY, 1);
	k->source.fd = fd = fd_move_up(fd);
	(void)sock_option(fd, level, v4 ? IP_PKTINFO : IPV6_RECVPKTINFO, 1);
	(void)sock_option(fd, level, v4 ? IP_RECVERR : IPV6_RECVERR, 1);
	if (u->user.shared)
		(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	len = sock_address_put(&at, &sa);
	if (bind(fd, (struct sockaddr *)&sa, len))
		return -errno;
	rc = sock_address_local(fd, &got);
	if (!rc)
		rc = sock_watch(u->s, &k->source, EPOLLIN);
	k->port = got.port;
	return rc;
}

int sock_udp_open(struct sock_stack *s, uint16_t port, const struct sock_udp_user *user,
	struct sock_udp **out)
{
	struct sock_udp *u = calloc(1, sizeof *u);
	int rc = 0;

	if (!u)
		return -ENOMEM;
	u->s = s;
	u->port = port;
	u->user = *user;
	for (unsigned i = 0; i < 2; i++)
		u->socket[i] = (struct sock_udp_socket){
			.udp = u, .source = {.fd = -1, .ready = sock_udp_on_events}};
	LIST_INSERT_HEAD(&s->udps, u, link);
	for (unsigned i = 0; i < 2 && !rc; i++) {
		rc = sock_udp_open_family(u, &u->socket[i], i == 0);
		/* A host may be without one of the families. */
		if (rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL) {
			sock_unwatch(s, &u->socket[i].source);
			rc = 0;
		}
	}
	if (rc) {
		sock_udp_close(u);
		return rc;
	}
	*out = u;
	return 0;
}

void sock_udp_let_go(struct sock_udp *u)
{
	sock_let_go_of(&u->socket[0].source);
	sock_let_go_of(&u->socket[1].source);
}

/** Its memory stays until the round is over: epoll may have told of it in the same one. */
void sock_udp_close(struct sock_udp *u)
{
	if (!u)
		return;
	sock_unwatch(u->s, &u->socket[0].source);
	sock_unwatch(u->s, &u->socket[1].source);
	LIST_REMOVE(u, link);
	LIST_INSERT_HEAD(&u->s->dead_udps, u, link);
}
