/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In the guest: ask its iwpmd to map a port, in the place of the kernel's RDMA, which does not want
 * siw's to be mapped. iwpmd answers who has asked, by netlink.
 *
 * usage: map_port PID-OF-IWPMD ADDRESS PORT      prints the port that it is mapped to
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/** A client of iwpmd that is not the kernel's. */
#define CLIENT 5

struct message {
	struct nlmsghdr head;
	uint8_t room[1024];
};

static int netlink;
static uint32_t iwpmd;

static void fail(const char *what)
{
	fprintf(stderr, "map_port: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void begin(struct message *m, unsigned op)
{
	memset(m, 0, sizeof *m);
	m->head.nlmsg_len = NLMSG_LENGTH(0);
	m->head.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(CLIENT, op);
	m->head.nlmsg_flags = NLM_F_REQUEST;
	m->head.nlmsg_seq = 1 + op;
	m->head.nlmsg_pid = (uint32_t)getpid();
}

static void add(struct message *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};
	uint8_t *at = (uint8_t *)m + NLMSG_ALIGN(m->head.nlmsg_len);

	memcpy(at, &a, sizeof a);
	memcpy(at + NLA_HDRLEN, data, len);
	m->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(m->head.nlmsg_len) + NLA_ALIGN(a.nla_len));
}

static void add_text(struct message *m, uint16_t type, const char *text)
{
	add(m, type, text, strlen(text) + 1);
}

/** Send @p m; the answer takes its place. */
static void ask(struct message *m)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = iwpmd};
	uint16_t type = m->head.nlmsg_type;
	ssize_t n;

	if (sendto(netlink, m, m->head.nlmsg_len, 0, (struct sockaddr *)&to, sizeof to) < 0)
		fail("iwpmd cannot be told");
	n = recv(netlink, m, sizeof *m, 0);
	if (n < (ssize_t)NLMSG_HDRLEN || m->head.nlmsg_len > (size_t)n)
		fail("iwpmd does not answer");
	if (m->head.nlmsg_type != type) {
		fprintf(stderr, "map_port: iwpmd answers with an error\n");
		exit(1);
	}
}

/** The attribute @p type of @p m, of @p len octets at least. */
static const void *find(const struct message *m, uint16_t type, size_t len)
{
	const uint8_t *at = m->room;
	size_t left = m->head.nlmsg_len - NLMSG_HDRLEN, size;
	struct nlattr a;

	while (left >= NLA_HDRLEN) {
		memcpy(&a, at, sizeof a);
		size = NLA_ALIGN((size_t)a.nla_len);
		if (a.nla_len < NLA_HDRLEN || a.nla_len > left)
			break;
		if (a.nla_type == type && (size_t)a.nla_len - NLA_HDRLEN >= len)
			return at + NLA_HDRLEN;
		if (size > left)
			break;
		at += size;
		left -= size;
	}
	errno = EBADMSG;
	fail("the answer");
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl us = {.nl_family = AF_NETLINK, .nl_pid = (uint32_t)getpid()};
	struct sockaddr_storage local = {.ss_family = AF_INET};
	struct sockaddr_in *in = (struct sockaddr_in *)&local, mapped;
	const struct timeval patience = {.tv_sec = 30};
	uint32_t sequence = 1, flags = 0;
	struct message m;

	if (argc != 4 || inet_pton(AF_INET, argv[2], &in->sin_addr) != 1) {
		fprintf(stderr, "usage: map_port PID-OF-IWPMD ADDRESS PORT\n");
		return 2;
	}
	iwpmd = (uint32_t)atoi(argv[1]);
	in->sin_port = htons((uint16_t)atoi(argv[3]));
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	if (netlink < 0 || bind(netlink, (struct sockaddr *)&us, sizeof us) ||
		setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
		fail("netlink");
	begin(&m, RDMA_NL_IWPM_REG_PID);
	add(&m, IWPM_NLA_REG_PID_SEQ, &sequence, sizeof sequence);
	add_text(&m, IWPM_NLA_REG_IF_NAME, "eth0");
	add_text(&m, IWPM_NLA_REG_IBDEV_NAME, "hardware0");
	add_text(&m, IWPM_NLA_REG_ULIB_NAME, "iWarpPortMapperUser");
	ask(&m);
	begin(&m, RDMA_NL_IWPM_ADD_MAPPING);
	add(&m, IWPM_NLA_MANAGE_MAPPING_SEQ, &sequence, sizeof sequence);
	add(&m, IWPM_NLA_MANAGE_ADDR, &local, sizeof local);
	add(&m, IWPM_NLA_MANAGE_FLAGS, &flags, sizeof flags);
	ask(&m);
	memcpy(&mapped, find(&m, IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR, sizeof local), sizeof mapped);
	printf("%u\n", ntohs(mapped.sin_port));
	return 0;
}
