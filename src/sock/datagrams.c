/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/datagrams.h"

#include "sock/address.h"
#include "sock/option.h"
#include "sock/udp_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>

/** System calls to receive before others have their turn. */
#define SOCK_DATAGRAMS_TURNS 4

/** What the program asks for; the host may give less. */
#define SOCK_DATAGRAMS_BUFFER (4 << 20)

/** The address, the TOS and the TTL. */
#define SOCK_DATAGRAMS_CONTROL \
	(CMSG_SPACE(sizeof(struct in6_pktinfo)) + 2 * CMSG_SPACE(sizeof(int)))

struct sock_datagrams_slot {
	struct sockaddr_storage sa;
	_Alignas(struct cmsghdr) uint8_t control[SOCK_DATAGRAMS_CONTROL];
	struct iovec iov;
};

struct sock_datagrams_list {
	struct mmsghdr msg[SOCK_DATAGRAMS_BATCH];
	struct sock_datagrams_slot slot[SOCK_DATAGRAMS_BATCH];
};

struct sock_datagrams {
	struct sock_stack *s;
	struct sock_udp *udp;
	size_t max;
	sock_datagrams_fn *input;
	void *ctx;
	/* To be sent: those of one family, as a system call takes. */
	struct sock_datagrams_list out, in;
	unsigned first, n; /**< of out.msg: sent up to first, and filled up to n */
	bool v4;
	bool groups;                 /**< it is for what is sent to groups */
	uint8_t *out_text, *in_text; /**< SOCK_DATAGRAMS_BATCH times max octets */
};

static void sock_datagrams_slot(
	struct sock_datagrams_list *l, unsigned i, uint8_t *text, size_t len)
{
	struct sock_datagrams_slot *slot = &l->slot[i];

	slot->iov = (struct iovec){.iov_base = text, .iov_len = len};
	l->msg[i].msg_hdr = (struct msghdr){.msg_name = &slot->sa,
		.msg_namelen = sizeof slot->sa,
		.msg_iov = &slot->iov,
		.msg_iovlen = 1,
		.msg_control = slot->control,
		.msg_controllen = sizeof slot->control};
}

/* ---- receiving --------------------------------------------------------------------------- */

static void sock_datagrams_read_control(struct msghdr *msg, struct sock_datagrams_path *path)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		bool v4 = c->cmsg_level == IPPROTO_IP;
		int value = 0;

		/* IPv4's TOS comes as one octet, all others as an int. */
		memcpy(&value, CMSG_DATA(c), v4 && c->cmsg_type == IP_TOS ? 1 : sizeof value);
		if (c->cmsg_type == (v4 ? IP_TOS : IPV6_TCLASS))
			path->tos = (uint8_t)value;
		else if (c->cmsg_type == (v4 ? IP_TTL : IPV6_HOPLIMIT))
			path->ttl = (uint8_t)value;
	}
}

static bool sock_datagrams_wants(const struct sock_datagrams *d, const struct ip_addr *to)
{
	return ip_addr_is_multicast(to) ? d->groups : !d->groups && sock_is_ours(d->s, to);
}

static void sock_datagrams_take(struct sock_datagrams *d, unsigned i)
{
	struct msghdr *msg = &d->in.msg[i].msg_hdr;
	struct sock_datagrams_path path = {.ttl = 0};

	sock_address_get(&d->in.slot[i].sa, &path.remote);
	if (msg->msg_flags & MSG_TRUNC || !sock_udp_destination(msg, &path.local) ||
		!sock_datagrams_wants(d, &path.local))
		return;
	sock_datagrams_read_control(msg, &path);
	d->input(d->ctx, &path, d->in.slot[i].iov.iov_base, d->in.msg[i].msg_len);
}

/** @return false: there is nothing more. */
static bool sock_datagrams_receive(struct sock_datagrams *d, int fd)
{
	int n;

	for (unsigned i = 0; i < SOCK_DATAGRAMS_BATCH; i++)
		sock_datagrams_slot(&d->in, i, d->in_text + i * d->max, d->max);
	n = recvmmsg(fd, d->in.msg, SOCK_DATAGRAMS_BATCH, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EINTR;
	for (int i = 0; i < n && d->input; i++)
		sock_datagrams_take(d, (unsigned)i);
	return n == SOCK_DATAGRAMS_BATCH && d->input;
}

static void sock_datagrams_on_readable(void *ctx, struct sock_source *source)
{
	struct sock_datagrams *d = ctx;

	for (unsigned i = 0; i < SOCK_DATAGRAMS_TURNS; i++)
		if (!sock_datagrams_receive(d, source->fd))
			return;
	sock_watch_again(d->s, source, EPOLLIN);
}

/* ---- sending ----------------------------------------------------------------------------- */

static void sock_datagrams_put_int(struct msghdr *msg, int level, int type, int value)
{
	struct cmsghdr *c =
		(struct cmsghdr *)(void *)((uint8_t *)msg->msg_control + msg->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(sizeof value);
	memcpy(CMSG_DATA(c), &value, sizeof value);
	msg->msg_controllen += CMSG_SPACE(sizeof value);
}

int sock_datagrams_begin(struct sock_datagrams *d, const struct sock_datagrams_path *path,
	size_t len, uint8_t **room)
{
	bool v4 = ip_addr_is_v4(&path->remote.addr);
	struct sock_datagrams_slot *slot;
	struct msghdr *msg;

	if (len > d->max)
		return -EMSGSIZE;
	if (d->udp->socket[!v4].source.fd < 0)
		return -EAFNOSUPPORT;
	if (d->n == SOCK_DATAGRAMS_BATCH || (d->n != 0 && d->v4 != v4))
		(void)sock_datagrams_flush(d);
	if (d->n != 0 && (d->n == SOCK_DATAGRAMS_BATCH || d->v4 != v4))
		return -EAGAIN;
	d->v4 = v4;
	slot = &d->out.slot[d->n];
	memset(slot->control, 0, sizeof slot->control);
	*room = d->out_text + d->n * d->max;
	sock_datagrams_slot(&d->out, d->n, *room, len);
	msg = &d->out.msg[d->n].msg_hdr;
	msg->msg_namelen = sock_address_put(&path->remote, &slot->sa);
	sock_udp_set_source(msg, &path->local, path->interface);
	if (path->tos)
		sock_datagrams_put_int(
			msg, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, path->tos);
	if (path->ttl)
		sock_datagrams_put_int(msg, v4 ? IPPROTO_IP : IPPROTO_IPV6,
			v4 ? IP_TTL : IPV6_HOPLIMIT, path->ttl);
	return 0;
}

void sock_datagrams_commit(struct sock_datagrams *d)
{
	d->n++;
}

bool sock_datagrams_flush(struct sock_datagrams *d)
{
	int fd = d->udp->socket[!d->v4].source.fd;

	while (d->first != d->n && fd >= 0) {
		int sent = sendmmsg(
			fd, d->out.msg + d->first, d->n - d->first, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent > 0)
			d->first += (unsigned)sent;
		else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
			return false;
		else if (errno != EINTR)
			d->first++; /* this one has no way */
	}
	d->first = d->n = 0;
	return true;
}

/* ---- groups ------------------------------------------------------------------------------ */

static int sock_datagrams_membership(
	const struct sock_datagrams *d, int option, const struct ip_addr *group, unsigned interface)
{
	bool v4 = ip_addr_is_v4(group);
	const struct ip_endpoint at = {.addr = *group};
	struct group_req req = {.gr_interface = interface};
	int fd = d->udp->socket[!v4].source.fd;

	(void)sock_address_put(&at, &req.gr_group);
	if (fd < 0)
		return -EAFNOSUPPORT;
	if (setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, option, &req, sizeof req))
		return errno == ENOBUFS ? -ENOSPC : -errno;
	return 0;
}

int sock_datagrams_join(struct sock_datagrams *d, const struct ip_addr *group, unsigned interface)
{
	return sock_datagrams_membership(d, MCAST_JOIN_GROUP, group, interface);
}

void sock_datagrams_leave(struct sock_datagrams *d, const struct ip_addr *group, unsigned interface)
{
	(void)sock_datagrams_membership(d, MCAST_LEAVE_GROUP, group, interface);
}

/* ---- life -------------------------------------------------------------------------------- */

static void sock_datagrams_options(const struct sock_udp *u)
{
	for (unsigned i = 0; i < 2; i++) {
		int fd = u->socket[i].source.fd, level = i == 0 ? IPPROTO_IP : IPPROTO_IPV6;

		if (fd < 0)
			continue;
		/* Errors about one of many tell nothing, and would end calls. */
		(void)sock_option(fd, level, i == 0 ? IP_RECVERR : IPV6_RECVERR, 0);
		(void)sock_option(fd, level, i == 0 ? IP_RECVTOS : IPV6_RECVTCLASS, 1);
		(void)sock_option(fd, level, i == 0 ? IP_RECVTTL : IPV6_RECVHOPLIMIT, 1);
		/* Not what other programs of the host have joined. */
		(void)sock_option(fd, level, i == 0 ? IP_MULTICAST_ALL : IPV6_MULTICAST_ALL, 0);
		(void)sock_option(fd, SOL_SOCKET, SO_RCVBUF, SOCK_DATAGRAMS_BUFFER);
		(void)sock_option(fd, SOL_SOCKET, SO_SNDBUF, SOCK_DATAGRAMS_BUFFER);
	}
}

static int sock_datagrams_new(struct sock_stack *s, uint16_t port, size_t max, bool groups,
	sock_datagrams_fn *input, void *ctx, struct sock_datagrams **out)
{
	struct sock_datagrams *d = calloc(1, sizeof *d);
	struct sock_udp_user user = {
		.readable = sock_datagrams_on_readable, .shared = groups, .ctx = d};
	int rc = -ENOMEM;

	if (!d)
		return rc;
	d->s = s;
	d->max = max;
	d->groups = groups;
	d->input = input;
	d->ctx = ctx;
	d->out_text = calloc(SOCK_DATAGRAMS_BATCH, max);
	d->in_text = calloc(SOCK_DATAGRAMS_BATCH, max);
	if (d->out_text && d->in_text)
		rc = sock_udp_open(s, port, &user, &d->udp);
	if (rc) {
		free(d->out_text);
		free(d->in_text);
		free(d);
		return rc;
	}
	sock_datagrams_options(d->udp);
	*out = d;
	return 0;
}

int sock_datagrams_open(struct sock_stack *s, uint16_t port, size_t max, sock_datagrams_fn *input,
	void *ctx, struct sock_datagrams **out)
{
	return sock_datagrams_new(s, port, max, false, input, ctx, out);
}

int sock_datagrams_open_shared(struct sock_stack *s, uint16_t port, size_t max,
	sock_datagrams_fn *input, void *ctx, struct sock_datagrams **out)
{
	return sock_datagrams_new(s, port, max, true, input, ctx, out);
}

void sock_datagrams_close(struct sock_datagrams *d)
{
	if (!d)
		return;
	sock_udp_close(d->udp);
	free(d->out_text);
	free(d->in_text);
	free(d);
}
