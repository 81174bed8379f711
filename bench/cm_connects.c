/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many connections rdma_cm makes and ends in a second.
 *
 *     cm_connects -s [-p PORT]                                the server, for ever
 *     cm_connects [-p PORT] [-n COUNT] [-w AT-ONCE] ADDRESS   the client
 *     cm_connects -b [...] ADDRESS                            both, in one process
 *
 * Each connection has ids, QPs and private data of its own, and ends before another takes its
 * place; all of a process share a CQ. One more, before, finds the way to the peer. More than about
 * 16,000 within the time that TCP keeps ended ones (TIME-WAIT) use up the local ports.
 */
#include "base/number.h"
#include "sample.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct side {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
};

struct client {
	struct side side;
	struct sockaddr *to;
	unsigned begun, ended, wanted;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_qp(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	if (s->cq == NULL)
		s->cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = s->cq;
	if (s->cq == NULL || rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
}

static struct rdma_conn_param param(void)
{
	static const char greeting[] = "sixteen bytes...";

	return (struct rdma_conn_param){.private_data = greeting,
		.private_data_len = 16,
		.responder_resources = 1,
		.initiator_depth = 1};
}

static void end(struct rdma_cm_id *id)
{
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
}

static enum rdma_cm_event_type next(struct side *s, struct rdma_cm_id **id)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(s->channel, &ev))
		die("rdma_get_cm_event");
	type = ev->event;
	*id = ev->id;
	if (ev->status)
		fprintf(stderr, "%s: %d\n", rdma_event_str(type), ev->status);
	rdma_ack_cm_event(ev);
	return type;
}

/* ---- server ---------------------------------------------------------------------------------- */

static void *serve(void *side)
{
	struct rdma_conn_param p = param();
	struct rdma_cm_id *id;

	for (;;) {
		switch (next(side, &id)) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			make_qp(side, id);
			if (rdma_accept(id, &p))
				end(id);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			break;
		default:
			end(id);
		}
	}
	return NULL;
}

static void listen_at(struct side *s, struct sockaddr *at)
{
	struct rdma_cm_id *id;

	s->channel = rdma_create_event_channel();
	if (s->channel == NULL || rdma_create_id(s->channel, &id, NULL, RDMA_PS_TCP) ||
		rdma_bind_addr(id, at) || rdma_listen(id, 0))
		die("cannot listen");
}

/* ---- client ---------------------------------------------------------------------------------- */

static void begin(struct client *c)
{
	struct rdma_cm_id *id;

	c->begun++;
	if (rdma_create_id(c->side.channel, &id, NULL, RDMA_PS_TCP) ||
		rdma_resolve_addr(id, NULL, c->to, 2000))
		die("cannot resolve");
}

static void step(struct client *c)
{
	struct rdma_conn_param p = param();
	struct rdma_cm_id *id;

	switch (next(&c->side, &id)) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 2000))
			die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_qp(&c->side, id);
		if (rdma_connect(id, &p))
			die("rdma_connect");
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (rdma_disconnect(id))
			die("rdma_disconnect");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		end(id);
		c->ended++;
		if (c->begun < c->wanted)
			begin(c);
		break;
	default:
		exit(1);
	}
}

static void run(struct client *c, unsigned count, unsigned at_once)
{
	c->begun = c->ended = 0;
	c->wanted = count;
	while (c->begun < at_once && c->begun < c->wanted)
		begin(c);
	while (c->ended < c->wanted)
		step(c);
}

static void measure(struct client *c, unsigned at_once)
{
	unsigned count = c->wanted;
	uint64_t from;
	double took;

	c->side.channel = rdma_create_event_channel();
	if (c->side.channel == NULL)
		die("rdma_create_event_channel");
	/* The first one finds the peer: what was asked before the port was up is asked again after
	 * a second. */
	run(c, 1, 1);
	from = sample_now_ns();
	run(c, count, at_once);
	took = (double)(sample_now_ns() - from) / 1e9;
	printf("%u connections, %u at once: %.2f s, %.0f per second\n", c->wanted, at_once, took,
		c->wanted / took);
}

/* ---- both ------------------------------------------------------------------------------------ */

static void usage(void)
{
	fprintf(stderr, "usage: cm_connects -s [-p PORT] | "
			"[-b] [-p PORT] [-n COUNT] [-w AT-ONCE] ADDRESS\n");
	exit(2);
}

static struct sockaddr *lookup(const char *node, const char *port)
{
	struct addrinfo hints = {.ai_flags = node == NULL ? AI_PASSIVE : 0,
				.ai_family = node == NULL ? AF_INET6 : AF_UNSPEC,
				.ai_socktype = SOCK_STREAM},
			*found;

	if (getaddrinfo(node, port, &hints, &found)) {
		fprintf(stderr, "cannot resolve %s port %s\n", node == NULL ? "any" : node, port);
		exit(1);
	}
	return found->ai_addr;
}

static unsigned number(const char *text)
{
	uint64_t n = 0;

	if (!number_parse(text, 1, UINT32_MAX, &n))
		usage();
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	bool server = false, both = false;
	static struct side passive;
	struct client c = {.wanted = 10000};
	unsigned at_once = 16;
	const char *port = "7190";
	pthread_t thread;
	int opt;

	while ((opt = getopt(argc, argv, "sbp:n:w:")) != -1) {
		switch (opt) {
		case 's':
			server = true;
			break;
		case 'b':
			both = true;
			break;
		case 'p':
			port = optarg;
			break;
		case 'n':
			c.wanted = number(optarg);
			break;
		case 'w':
			at_once = number(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind + !server != argc)
		usage();
	if (server || both)
		listen_at(&passive, lookup(NULL, port));
	if (server)
		serve(&passive);
	if (both && pthread_create(&thread, NULL, serve, &passive))
		die("pthread_create");
	c.to = lookup(argv[optind], port);
	measure(&c, at_once);
	return 0;
}
