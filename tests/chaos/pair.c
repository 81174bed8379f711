/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * One end of a verifying pair, on libibverbs and librdmacm alone: what scripts/chaos kills, stops
 * and starves. It checks all that it gets, and that each connection comes to its end however its
 * peer ends. Then it takes, or seeks, the next one.
 *
 *     pair [-p PORT] [OPTION]...              the server: as many links as come
 *     pair [-p PORT] [OPTION]... ADDRESS      the client: one link after the other
 *
 *     -c COUNT   client: leave in order after so many messages each way, with status 0
 *     -t MS      how long a link may be silent, or wait for its end (default 60000)
 *     -b         poll without a pause, instead of waiting for completions
 *     -u COUNT   unmap the memory that the peer uses when so many messages have come
 *     -f         fork children without an end
 *     -o SECONDS fork one child that lives so long, whatever becomes of this process
 *     -x         have threads, and cancel them
 *     -s SEED    what chance is drawn from
 *     -D FAULT   be wrong on purpose: lost, flip or leak
 *
 * Lines on standard output: "listening", "up N", "works N" (of link N, when each kind of request
 * has succeeded), "end N ...", "refused" of a try to connect, "orphan PID" of -o, "lacks ..." of a
 * resource, and "wrong: ..." before it ends with status 1. When standard input ends it leaves in
 * order.
 */
#include "link.h"
#include "payload.h"
#include "trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses. */
#define PAIR_GOOD  0
#define PAIR_USAGE 2
#define PAIR_LACKS 3 /* not enough of something to go on */

static struct {
	const char *address, *port;
	uint64_t count, unmap, seed;
	unsigned orphan_seconds;
	uint64_t patience_ms;
	bool busy, forks, cancels, leaving;
	enum link_deliberate deliberate;
	struct rdma_event_channel *events;
	struct ibv_comp_channel *completions;
	struct rdma_cm_id *listener;
	struct link *links;
	unsigned links_made;
	uint64_t clock_ms; /* of this loop: what it was not there for does not count */
	uint64_t try_at_ms;
	unsigned lacks;
} pair = {.port = "7474", .patience_ms = 60000, .seed = 1};

static volatile sig_atomic_t pair_is_asked;

static void pair_on_usr1(int sig)
{
	(void)sig;
	pair_is_asked = 1;
}

static void pair_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Ends the process, in order: what it needs to begin is not there. */
static _Noreturn void pair_lacks(const char *what)
{
	printf("lacks: %s: %s\n", what, strerror(errno));
	exit(PAIR_LACKS);
}

/* ---- links -------------------------------------------------------------------------------- */

static struct link *pair_link_new(void)
{
	struct link *l = calloc(1, sizeof *l);

	if (!l)
		pair_lacks("calloc");
	l->number = ++pair.links_made;
	l->random = payload_mix(pair.seed * 65536 + l->number);
	l->here.nonce = payload_mix(l->random);
	l->may_unmap = pair.unmap != 0;
	l->deliberate = pair.deliberate;
	l->next = pair.links;
	pair.links = l;
	return l;
}

/* Completions are waited for in one place, which the first link's device makes. */
static bool pair_open(struct link *l, struct rdma_cm_id *id)
{
	if (!pair.completions) {
		pair.completions = ibv_create_comp_channel(id->verbs);
		if (!pair.completions)
			pair_lacks("ibv_create_comp_channel");
		pair_nonblocking(pair.completions->fd);
		if (pair.cancels && trouble_threads_start(id->verbs))
			pair_lacks("objects for threads");
	}
	return link_open(l, id, pair.completions);
}

static void pair_link_free(struct link *l)
{
	struct link **at = &pair.links;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	link_close(l);
	free(l);
}

static struct rdma_conn_param pair_param(const struct link *l)
{
	return (struct rdma_conn_param){.responder_resources = 8,
		.initiator_depth = 8,
		.private_data = &l->here,
		.private_data_len = sizeof l->here};
}

static void pair_end_line(const struct link *l)
{
	printf("end %u after %ju messages: %u flushed, %s, silent for %ju ms\n", l->number,
		(uintmax_t)l->received, l->flushed, l->established ? "told" : "not established",
		(uintmax_t)l->ending_silent_ms);
}

/* ---- events ------------------------------------------------------------------------------- */

static void pair_asked(const struct rdma_cm_event *event)
{
	struct link *l = pair_link_new();
	struct rdma_conn_param param;

	l->id = event->id;
	if (pair.leaving || !link_greeted(l, &event->param.conn) || !pair_open(l, event->id)) {
		rdma_reject(event->id, NULL, 0);
		link_end(l);
		return;
	}
	param = pair_param(l);
	if (rdma_accept(event->id, &param)) {
		printf("refused: accept: %s\n", strerror(errno));
		link_end(l);
	}
}

/** Who lacks descriptors himself need not try for ever. */
static void pair_note_lack(int error)
{
	pair.lacks += error == EMFILE || error == ENFILE;
}

static void pair_resolved(struct link *l)
{
	struct rdma_conn_param param;

	if (!pair_open(l, l->id)) {
		pair.lacks++;
		link_end(l);
		return;
	}
	param = pair_param(l);
	if (rdma_connect(l->id, &param)) {
		pair_note_lack(errno);
		printf("refused: connect: %s\n", strerror(errno));
		link_end(l);
	}
}

static void pair_established(struct link *l, const struct rdma_cm_event *event)
{
	if (pair.address && !link_greeted(l, &event->param.conn))
		link_wrong(l, "the reply has no private data");
	if (l->state != LINK_CONNECTING && l->established)
		link_wrong(l, "ESTABLISHED comes twice");
	l->established = true;
	printf("up %u\n", l->number);
	if (l->state != LINK_CONNECTING) {
		/* A request has failed before this was read. */
		rdma_disconnect(l->id);
		return;
	}
	l->state = LINK_UP;
	l->silent_ms = 0;
	link_run(l);
}

static void pair_disconnected(struct link *l)
{
	if (!l->established)
		link_wrong(l, "DISCONNECTED of what was never ESTABLISHED");
	if (l->disconnected)
		link_wrong(l, "DISCONNECTED comes twice");
	l->disconnected = true;
	/* What came before is taken first. */
	link_run(l);
	link_end(l);
}

static void pair_event(const struct rdma_cm_event *event)
{
	struct link *l = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		pair_asked(event);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(l->id, 2000))
			link_end(l);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		pair_resolved(l);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		pair_established(l, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		pair_disconnected(l);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		if (l->established)
			link_wrong(
				l, "%s of an established connection", rdma_event_str(event->event));
		printf("refused: %s, status %d\n", rdma_event_str(event->event), event->status);
		pair_note_lack(-event->status);
		link_end(l);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		link_wrong(l, "unexpected %s", rdma_event_str(event->event));
	}
}

static void pair_events(void)
{
	struct rdma_cm_event *event, copy;
	uint8_t data[256];

	while (rdma_get_cm_event(pair.events, &event) == 0) {
		copy = *event;
		if (event->param.conn.private_data && event->param.conn.private_data_len) {
			memcpy(data, event->param.conn.private_data,
				event->param.conn.private_data_len);
			copy.param.conn.private_data = data;
		}
		/* Before its id may be destroyed. */
		rdma_ack_cm_event(event);
		pair_event(&copy);
	}
	if (errno != EAGAIN && errno != EINTR)
		link_wrong(NULL, "rdma_get_cm_event: %s", strerror(errno));
}

static void pair_completions(void)
{
	struct ibv_cq *cq;
	void *context;

	if (!pair.completions)
		return;
	while (ibv_get_cq_event(pair.completions, &cq, &context) == 0) {
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			link_wrong(context, "ibv_req_notify_cq");
		link_run(context);
	}
	if (errno != EAGAIN && errno != EINTR)
		link_wrong(NULL, "ibv_get_cq_event: %s", strerror(errno));
}

/* ---- the loop ----------------------------------------------------------------------------- */

static void pair_connect(void)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_NUMERICHOST};
	struct rdma_addrinfo *ai;
	struct link *l = pair_link_new();

	if (rdma_getaddrinfo(pair.address, pair.port, &hints, &ai))
		pair_lacks("rdma_getaddrinfo");
	if (rdma_create_id(pair.events, &l->id, l, RDMA_PS_TCP))
		pair_lacks("rdma_create_id");
	if (rdma_resolve_addr(l->id, NULL, ai->ai_dst_addr, 2000)) {
		printf("refused: resolve: %s\n", strerror(errno));
		link_end(l);
	}
	rdma_freeaddrinfo(ai);
}

static void pair_listen(void)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE, .ai_family = AF_INET6};
	struct rdma_addrinfo *ai;

	if (rdma_getaddrinfo(NULL, pair.port, &hints, &ai))
		pair_lacks("rdma_getaddrinfo");
	if (rdma_create_id(pair.events, &pair.listener, NULL, RDMA_PS_TCP))
		pair_lacks("rdma_create_id");
	if (rdma_bind_addr(pair.listener, ai->ai_src_addr) || rdma_listen(pair.listener, 16))
		pair_lacks("rdma_listen");
	rdma_freeaddrinfo(ai);
	printf("listening\n");
}

static uint64_t pair_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* @return what has passed, but not what passed while this process was stopped or starved. */
static uint64_t pair_step(void)
{
	static uint64_t last;
	uint64_t now = pair_now(), step = last ? now - last : 0;

	last = now;
	return step < 500 ? step : 500;
}

static const char *pair_waits_for(const struct link *l)
{
	switch (l->state) {
	case LINK_CONNECTING:
		return "for the connection";
	case LINK_UP:
		return "for the peer's next message, or its end";
	default:
		return l->disconnected || !l->established ? "for what is to be flushed"
							  : "for DISCONNECTED";
	}
}

static void pair_look_at(struct link *l, uint64_t step)
{
	l->silent_ms += step;
	if (l->state == LINK_UP)
		l->ending_silent_ms = l->silent_ms;
	if (l->silent_ms > pair.patience_ms)
		link_wrong(l,
			"it has waited too long %s: %ju of %ju requests, %ju of %ju receives are "
			"done",
			pair_waits_for(l), (uintmax_t)l->done, (uintmax_t)l->posted,
			(uintmax_t)l->recv_done, (uintmax_t)l->recv_posted);
	if (l->state == LINK_UP && pair.leaving)
		link_end(l);
	if (l->state == LINK_UP && pair.count && l->works && l->acked >= pair.count &&
		l->received >= pair.count) {
		pair.leaving = true;
		link_end(l);
	}
	if (l->state == LINK_UP && pair.unmap && l->received >= pair.unmap && !l->unmapped)
		link_unmap(l);
	if (!link_is_over(l))
		return;
	pair_end_line(l);
	pair_link_free(l);
	pair.try_at_ms = pair.clock_ms + 100;
}

static void pair_look(void)
{
	uint64_t step = pair_step();
	struct link *next;

	pair.clock_ms += step;
	if (pair_is_asked) {
		pair_is_asked = 0;
		for (struct link *l = pair.links; l; l = l->next)
			printf("moved %u %ju\n", l->number, (uintmax_t)(l->done + l->recv_done));
		printf("asked\n");
	}
	for (struct link *l = pair.links; l; l = next) {
		next = l->next;
		if (pair.busy || l->state == LINK_ENDING)
			link_run(l);
		pair_look_at(l, step);
	}
	if (pair.links && pair.links->state == LINK_UP) {
		if (pair.forks)
			trouble_fork();
		trouble_orphan(pair.orphan_seconds);
		pair.orphan_seconds = 0;
	}
	trouble_reap();
	if (pair.cancels)
		trouble_cancel_one();
	if (pair.lacks >= 3)
		pair_lacks("objects, again and again");
	if (pair.address && !pair.links && !pair.leaving && pair.clock_ms >= pair.try_at_ms)
		pair_connect();
}

static void pair_wait(void)
{
	struct pollfd fds[] = {{.fd = pair.events->fd, .events = POLLIN},
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = pair.completions ? pair.completions->fd : -1, .events = POLLIN}};
	char unused[64];

	if (poll(fds, 3, pair.busy ? 0 : 20) < 0 && errno != EINTR)
		link_wrong(NULL, "poll: %s", strerror(errno));
	if (fds[1].revents && read(STDIN_FILENO, unused, sizeof unused) <= 0)
		pair.leaving = true;
}

static void pair_options(int argc, char **argv)
{
	static const char *const faults[] = {
		[LINK_LOSES_COMPLETION] = "lost", [LINK_FLIPS_BIT] = "flip", [LINK_LEAKS] = "leak"};
	int c;

	while ((c = getopt(argc, argv, "p:c:t:bu:fo:xs:D:")) != -1)
		switch (c) {
		case 'p':
			pair.port = optarg;
			break;
		case 'c':
			pair.count = strtoull(optarg, NULL, 10);
			break;
		case 't':
			pair.patience_ms = strtoull(optarg, NULL, 10);
			break;
		case 'b':
			pair.busy = true;
			break;
		case 'u':
			pair.unmap = strtoull(optarg, NULL, 10);
			break;
		case 'f':
			pair.forks = true;
			break;
		case 'o':
			pair.orphan_seconds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'x':
			pair.cancels = true;
			break;
		case 's':
			pair.seed = strtoull(optarg, NULL, 10);
			break;
		case 'D':
			for (unsigned i = LINK_LOSES_COMPLETION; i <= LINK_LEAKS; i++)
				if (strcmp(optarg, faults[i]) == 0)
					pair.deliberate = (enum link_deliberate)i;
			break;
		default:
			exit(PAIR_USAGE);
		}
	if (optind < argc)
		pair.address = argv[optind];
}

static void pair_leave(void)
{
	trouble_threads_stop();
	if (pair.listener)
		rdma_destroy_id(pair.listener);
	if (pair.completions && pair.deliberate != LINK_LEAKS &&
		ibv_destroy_comp_channel(pair.completions))
		link_wrong(NULL, "the completion channel cannot be destroyed");
	rdma_destroy_event_channel(pair.events);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	pair_options(argc, argv);
	signal(SIGUSR1, pair_on_usr1);
	pair.events = rdma_create_event_channel();
	if (!pair.events)
		pair_lacks("rdma_create_event_channel");
	pair_nonblocking(pair.events->fd);
	if (!pair.address)
		pair_listen();
	while (!pair.leaving || pair.links) {
		pair_look();
		pair_wait();
		pair_events();
		pair_completions();
	}
	pair_leave();
	printf("left\n");
	return PAIR_GOOD;
}
