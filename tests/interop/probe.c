/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection with what the usual programs do not do: refused, wrong on purpose, ended from
 * either side. Runs over any RDMA device, so at both ends of tests/interop. It tells what it sees,
 * a line each, and judges nothing, nor does it look at the time: who runs it ends it.
 *
 *     probe listen HOST PORT [KEY=VALUE]...
 *     probe connect HOST PORT [KEY=VALUE]...
 *
 * The listener offers one buffer, filled with a pattern, in the private data of its answer.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER   65536
#define RECEIVES 8
#define RECEIVE  16384
/* Of an emulated guest's answer to ARP. */
#define RESOLUTION_MS 60000

/** What the arguments say. */
static struct {
	const char *act;    /**< accept reject hangup hold; none, or of operations[] */
	const char *rights; /**< of the listener's buffer: any of "rwa" */
	const char *data;   /**< private data of the request, or of a rejection */
	unsigned size, offset, key, count, receives, ird, ord;
	bool hold;      /**< connect: wait for the listener's end of it */
	bool burst;     /**< connect: post all at once */
	bool solicited; /**< connect: with a solicited event */
} asked = {
	.act = "accept",
	.rights = "rw",
	.data = "",
	.size = 64,
	.count = 1,
	.receives = RECEIVES,
	.ird = 4,
	.ord = 4,
};

/** Where the listener's buffer is, as its answer says: in network order. */
struct offer {
	uint64_t address;
	uint32_t rkey;
	uint32_t size;
};

static struct rdma_event_channel *events;
static struct rdma_cm_id *id;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_mr *buffer, *space;
static uint8_t memory[BUFFER] __attribute__((aligned(8))), received[RECEIVES * RECEIVE];
static struct offer offer;
static bool answered, established, ended;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf(": %s\n", strerror(errno));
	exit(1);
}

static uint8_t pattern(unsigned i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

static void fill(uint8_t *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = pattern(i);
}

static const char *checked(const uint8_t *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (p[i] != pattern(i))
			return "WRONG";
	return "right";
}

/* ---- objects -------------------------------------------------------------------------------- */

static void post_receives(void)
{
	for (unsigned i = 0; i < asked.receives; i++) {
		struct ibv_sge sge = {(uintptr_t)received + i * RECEIVE, RECEIVE, space->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

		if (ibv_post_recv(id->qp, &wr, &bad))
			die("post receive");
	}
}

static void make_qp(int access)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 64, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);

	channel = ibv_create_comp_channel(id->verbs);
	cq = channel ? ibv_create_cq(id->verbs, 128, NULL, channel, 0) : NULL;
	if (!pd || !cq || ibv_req_notify_cq(cq, 0))
		die("make a completion queue");
	attr.send_cq = attr.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attr))
		die("make a queue pair");
	buffer = ibv_reg_mr(pd, memory, sizeof memory, access);
	space = ibv_reg_mr(pd, received, sizeof received, IBV_ACCESS_LOCAL_WRITE);
	if (!buffer || !space)
		die("register memory");
	post_receives();
}

/* ---- what happens --------------------------------------------------------------------------- */

static void tell_data(const char *what, const struct rdma_conn_param *p)
{
	const char *data = p->private_data;
	unsigned n = 0;

	while (n < p->private_data_len && data[n] >= ' ' && data[n] <= '~')
		n++;
	printf("%s: ird %u ord %u data \"%.*s\"\n", what, p->responder_resources,
		p->initiator_depth, (int)n, n ? data : "");
}

static void on_request(struct rdma_cm_event *e)
{
	struct rdma_conn_param p = {
		.responder_resources = (uint8_t)asked.ird,
		.initiator_depth = (uint8_t)asked.ord,
		.private_data = &offer,
		.private_data_len = sizeof offer,
	};
	int access = IBV_ACCESS_LOCAL_WRITE;

	tell_data("request", &e->param.conn);
	id = e->id;
	if (strcmp(asked.act, "reject") == 0) {
		if (rdma_reject(id, asked.data, (uint8_t)strlen(asked.data)))
			die("reject");
		answered = ended = true;
		return;
	}
	access |= strchr(asked.rights, 'r') ? IBV_ACCESS_REMOTE_READ : 0;
	access |= strchr(asked.rights, 'w') ? IBV_ACCESS_REMOTE_WRITE : 0;
	access |= strchr(asked.rights, 'a') ? IBV_ACCESS_REMOTE_ATOMIC : 0;
	make_qp(access);
	fill(memory, sizeof memory);
	offer.address = htobe64((uintptr_t)memory);
	offer.rkey = htobe32(buffer->rkey);
	offer.size = htobe32(sizeof memory);
	if (rdma_accept(id, &p))
		die("accept");
}

static void on_event(struct rdma_cm_event *e)
{
	switch (e->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(e);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
		tell_data("established", &e->param.conn);
		if (e->param.conn.private_data_len >= sizeof offer)
			memcpy(&offer, e->param.conn.private_data, sizeof offer);
		established = true;
		return;
	case RDMA_CM_EVENT_REJECTED:
		printf("rejected: status %d data \"%.*s\"\n", e->status,
			e->param.conn.private_data_len, (const char *)e->param.conn.private_data);
		break;
	default:
		printf("event: %s status %d\n", rdma_event_str(e->event), e->status);
	}
	ended = true;
}

/** What a receive has is the pattern, unless it is the listener's buffer that was written. */
static void on_completion(const struct ibv_wc *wc)
{
	bool receive = wc->opcode & IBV_WC_RECV;

	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		printf("flushed\n");
	} else if (wc->status != IBV_WC_SUCCESS) {
		printf("completion: %s\n", ibv_wc_status_str(wc->status));
	} else if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		printf("received: immediate data 0x%x\n", be32toh(wc->imm_data));
	} else if (receive) {
		printf("received: %u bytes %s%s\n", wc->byte_len,
			checked(received + wc->wr_id * RECEIVE, wc->byte_len),
			wc->wc_flags & IBV_WC_WITH_INV ? " invalidating" : "");
	} else {
		printf("completion: success\n");
	}
}

static unsigned poll_cq(void)
{
	struct ibv_wc wc;
	unsigned n = 0;

	while (cq && ibv_poll_cq(cq, 1, &wc) > 0) {
		on_completion(&wc);
		n += wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV);
	}
	return n;
}

/** Sleep until one of the channels has something, and take it. Number of send completions. */
static unsigned look(void)
{
	struct pollfd fds[] = {{events->fd, POLLIN, 0}, {channel ? channel->fd : -1, POLLIN, 0}};
	struct rdma_cm_event *e;
	struct ibv_cq *which;
	void *context;

	if (poll(fds, 2, -1) < 0)
		die("poll");
	if (fds[1].revents && ibv_get_cq_event(channel, &which, &context) == 0) {
		ibv_ack_cq_events(which, 1);
		if (ibv_req_notify_cq(cq, 0))
			die("arm the completion queue");
	}
	if (fds[0].revents && rdma_get_cm_event(events, &e) == 0) {
		struct rdma_cm_event copy = *e;
		uint8_t data[256];

		memcpy(data, e->param.conn.private_data,
			e->param.conn.private_data ? e->param.conn.private_data_len : 0);
		copy.param.conn.private_data = data;
		on_event(&copy);
		rdma_ack_cm_event(e);
	}
	return poll_cq();
}

static void tell_state(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (id->qp && ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init) == 0)
		printf("queue pair: %s\n", attr.qp_state == IBV_QPS_RTS ? "up" : "down");
}

/* ---- the two sides -------------------------------------------------------------------------- */

static struct addrinfo *resolve(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *found;

	if (getaddrinfo(host, port, &hints, &found))
		die("%s port %s is no address", host, port);
	return found;
}

static void listen_for_one(const char *host, const char *port)
{
	struct rdma_cm_id *listener;

	if (rdma_create_id(events, &listener, NULL, RDMA_PS_TCP) ||
		rdma_bind_addr(listener, resolve(host, port)->ai_addr) || rdma_listen(listener, 4))
		die("listen");
	printf("listening\n");
	while (!established && !ended)
		look();
	if (established && strcmp(asked.act, "hangup") == 0) {
		rdma_disconnect(id);
		printf("hung up\n");
	}
	while (!ended)
		look();
	if (cq)
		poll_cq();
	printf("buffer: %s\n", checked(memory, sizeof memory));
	if (established)
		tell_state();
}

static void await_event(enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *e;

	if (rdma_get_cm_event(events, &e))
		die("wait for an event");
	if (e->event != wanted)
		die("%s status %d", rdma_event_str(e->event), e->status);
	rdma_ack_cm_event(e);
}

static void request(const char *host, const char *port)
{
	struct rdma_conn_param p = {
		.responder_resources = (uint8_t)asked.ird,
		.initiator_depth = (uint8_t)asked.ord,
		.private_data = asked.data,
		.private_data_len = (uint8_t)strlen(asked.data),
	};

	if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP) ||
		rdma_resolve_addr(id, NULL, resolve(host, port)->ai_addr, RESOLUTION_MS))
		die("resolve the address");
	await_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLUTION_MS))
		die("resolve the route");
	await_event(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (rdma_connect(id, &p))
		die("connect");
}

/** The @p n-th of those that leave a word in the end as it was; what the one before has found is
 * told. */
static void set_atomic(struct ibv_send_wr *wr, unsigned n)
{
	static uint64_t there;
	uint64_t found;

	memcpy(&found, memory, sizeof found);
	wr->wr.atomic.remote_addr = be64toh(offer.address) + asked.offset;
	wr->wr.atomic.rkey = be32toh(offer.rkey) ^ asked.key;
	if (n == 1)
		there = found;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.compare_add = n + 1 < asked.count ? 1 : -(uint64_t)n;
		there += n > 1;
	} else {
		/* In vain, then there and back. */
		wr->wr.atomic.compare_add = n == 0 ? 0 : n == 1 ? there : ~there;
		wr->wr.atomic.swap = n == 2 ? there : ~there;
	}
	if (n)
		printf("found: %s\n", found == there ? "right" : "WRONG");
}

static void post(enum ibv_wr_opcode opcode, unsigned n)
{
	bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	struct ibv_sge sge = {(uintptr_t)memory, atomic ? 8 : asked.size, buffer->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.send_flags = asked.solicited ? IBV_SEND_SOLICITED : 0;
	if (opcode == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = be32toh(offer.rkey) ^ asked.key;
	} else if (atomic) {
		set_atomic(&wr, n);
	} else {
		wr.wr.rdma.remote_addr = be64toh(offer.address) + asked.offset;
		wr.wr.rdma.rkey = be32toh(offer.rkey) ^ asked.key;
	}
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr.imm_data = htobe32(0x5eed0001);
	if (ibv_post_send(id->qp, &wr, &bad))
		die("post");
}

/** One after the other, so that an error is that of the operation it came from; or all at once. */
static void operate(void)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} operations[] = {
		{"send", IBV_WR_SEND},
		{"write", IBV_WR_RDMA_WRITE},
		{"immediate", IBV_WR_RDMA_WRITE_WITH_IMM},
		{"read", IBV_WR_RDMA_READ},
		{"invalidate", IBV_WR_SEND_WITH_INV},
		{"fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD},
		{"compare-swap", IBV_WR_ATOMIC_CMP_AND_SWP},
	};
	unsigned i = 0, done = 0;

	while (i < sizeof operations / sizeof *operations &&
		strcmp(asked.act, operations[i].name) != 0)
		i++;
	if (i == sizeof operations / sizeof *operations)
		return;
	if (operations[i].opcode != IBV_WR_RDMA_READ)
		fill(memory, asked.size);
	for (unsigned n = 0; n < asked.count && !ended; n++) {
		post(operations[i].opcode, n);
		while (!asked.burst && done <= n && !ended)
			done += look();
	}
	while (done < asked.count && !ended)
		done += look();
	if (operations[i].opcode == IBV_WR_RDMA_READ)
		printf("read: %s\n", checked(memory, asked.size));
}

static void connect_once(const char *host, const char *port)
{
	request(host, port);
	while (!established && !ended)
		look();
	if (!established)
		return;
	operate();
	if (!asked.hold && !ended) {
		rdma_disconnect(id);
		printf("hung up\n");
	}
	while (!ended)
		look();
	poll_cq();
	tell_state();
}

/* ---- arguments ------------------------------------------------------------------------------ */

static void take(const char *argument)
{
	static const struct {
		const char *key;
		const char **text;
		unsigned *number;
	} keys[] = {
		{"act=", &asked.act, NULL},
		{"rights=", &asked.rights, NULL},
		{"data=", &asked.data, NULL},
		{"size=", NULL, &asked.size},
		{"offset=", NULL, &asked.offset},
		{"key=", NULL, &asked.key},
		{"count=", NULL, &asked.count},
		{"receives=", NULL, &asked.receives},
		{"ird=", NULL, &asked.ird},
		{"ord=", NULL, &asked.ord},
	};
	static const struct {
		const char *word;
		bool *asked;
	} words[] = {
		{"hold", &asked.hold},
		{"burst", &asked.burst},
		{"solicited", &asked.solicited},
	};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(argument, words[i].word) != 0)
			continue;
		*words[i].asked = true;
		return;
	}
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t n = strlen(keys[i].key);

		if (strncmp(argument, keys[i].key, n) != 0)
			continue;
		if (keys[i].text)
			*keys[i].text = argument + n;
		else
			*keys[i].number = (unsigned)strtoul(argument + n, NULL, 0);
		return;
	}
	printf("what is %s?\n", argument);
	exit(2);
}

int main(int argc, char **argv)
{
	bool listening = argc >= 4 && strcmp(argv[1], "listen") == 0;

	if (!listening && (argc < 4 || strcmp(argv[1], "connect") != 0)) {
		printf("usage: probe listen|connect HOST PORT ...\n");
		return 2;
	}
	for (int i = 4; i < argc; i++)
		take(argv[i]);
	if (asked.size > BUFFER || asked.receives > RECEIVES) {
		printf("too much\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	events = rdma_create_event_channel();
	if (!events)
		die("make an event channel");
	if (listening)
		listen_for_one(argv[2], argv[3]);
	else
		connect_once(argv[2], argv[3]);
	printf("done\n");
	return 0;
}
