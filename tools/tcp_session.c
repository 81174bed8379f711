/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_session.h"

#include "base/wait_limit.h"
#include "tools/ending.h"
#include "tools/tcp_resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 128
#define MS      UINT64_C(1000000)

/** Between looks at metered streams: what may be sent in that time goes out in one go. */
#define METER_NS MS

/** How long a link may take to come up, before connections are made all the same. */
#define LINK_NS (1000 * MS)

/** How long streams that were told to end may take: to send what they have queued... */
#define DRAIN_NS (10000 * MS)
/** ... or, for those that only take in, to hear that the peer ends as well. */
#define PART_NS (3000 * MS)
/** How long TIME-WAIT is kept after everything has ended, at most. */
#define LAST_NS (3000 * MS)

/* ---- upcalls, under the engine's lock ------------------------------------------------------- */

static void tcp_session_notify(struct tcp_session *s)
{
	uint64_t one = 1;

	if (write(s->event_fd, &one, sizeof one) < 0)
		return; /* the counter is full: somebody will look */
}

static uint64_t tcp_session_clock_of(void *ctx)
{
	const struct tcp_stream *t = ctx;

	return net_now(t->session->net);
}

static void tcp_session_on_connected(void *ctx, struct traffic *traffic)
{
	struct tcp_stream *t = ctx;

	llp_endpoints(traffic->llp, &t->local, &t->remote);
	tcp_session_notify(t->session);
}

static void tcp_session_on_ended(void *ctx, struct traffic *traffic, const struct llp *last)
{
	struct tcp_stream *t = ctx;

	tcp_get_info(last, &t->last_info);
	tcp_session_notify(t->session);
}

static void tcp_session_stream_free(struct tcp_stream *t)
{
	if (!t)
		return;
	free(t->latency);
	free(t->interval_latency);
	free(t->total_latency);
	free(t);
}

static bool tcp_session_add_histograms(struct tcp_stream *t)
{
	t->latency = calloc(1, sizeof *t->latency);
	t->interval_latency = calloc(1, sizeof *t->interval_latency);
	t->total_latency = calloc(1, sizeof *t->total_latency);
	return t->latency && t->interval_latency && t->total_latency;
}

/** A stream that has no connection yet; NULL: no memory. */
static struct tcp_stream *tcp_session_stream_new(struct tcp_session *s)
{
	const struct tcp_options *o = s->options;
	struct tcp_stream *t = calloc(1, sizeof *t);
	struct traffic_config cfg = {
		.role = o->role,
		.pattern = &s->pattern,
		.bytes = o->bytes,
		.metered = o->rate > 0,
		.verify = o->verify,
		.paused = o->stall > 0,
		.message = o->message,
		.count = o->count,
		.clock = tcp_session_clock_of,
		.connected = tcp_session_on_connected,
		.ended = tcp_session_on_ended,
		.ctx = t,
	};

	if (!t || (o->role == TRAFFIC_PINGPONG && !tcp_session_add_histograms(t))) {
		tcp_session_stream_free(t);
		return NULL;
	}
	cfg.latency = t->latency;
	traffic_init(&t->traffic, &cfg);
	t->session = s;
	t->id = ++s->made;
	t->next = s->fresh;
	s->fresh = t;
	return t;
}

static int tcp_session_take(void *ctx, struct llp *l)
{
	struct tcp_session *s = ctx;
	struct tcp_stream *t;

	if (s->stopping || (s->options->once && s->made == s->options->parallel))
		return -ECONNREFUSED;
	t = tcp_session_stream_new(s);
	if (!t)
		return -ENOMEM;
	traffic_accept(&t->traffic, l);
	return 0;
}

/* ---- starting ------------------------------------------------------------------------------- */

int tcp_session_open(struct tcp_session *s, const struct tcp_options *o, const struct config *c)
{
	struct config mine = *c;
	struct config_error e;

	*s = (struct tcp_session){.options = o};
	traffic_pattern_init(&s->pattern, o->seed);
	s->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->event_fd < 0) {
		perror("uiwarp tcp");
		return EXIT_FAILURE;
	}
	if (config_take_slot(&mine, &e) == 0 && net_open(&mine, &s->net, &e) == 0) {
		ending_watch(s->net);
		if (net_start(s->net, NULL, &e) == 0) {
			s->engine = net_engine(s->net);
			return 0;
		}
	}
	fprintf(stderr, "uiwarp tcp: %s\n", e.text);
	tcp_session_close(s);
	return EXIT_FAILURE;
}

static int tcp_session_start_listening(struct tcp_session *s)
{
	const struct ip_endpoint *local = &s->options->local;
	char text[IP_ADDR_STRLEN];
	int r;

	engine_lock(s->engine);
	r = llp_listen(
		tcp_llp_stack(net_tcp(s->net)), local, BACKLOG, tcp_session_take, s, &s->listener);
	engine_unlock(s->engine);
	if (r == 0)
		return 0;
	ip_addr_format(&local->addr, text);
	if (r == -EADDRNOTAVAIL)
		fprintf(stderr, "uiwarp tcp: %s is no address of this stack\n", text);
	else
		fprintf(stderr, "uiwarp tcp: cannot listen on %s port %u: %s\n", text, local->port,
			strerror(-r));
	return EXIT_FAILURE;
}

static int tcp_session_begin(struct tcp_session *s, const struct llp_connect_params *p)
{
	struct tcp_stream *t = tcp_session_stream_new(s);

	if (!t)
		return -ENOMEM;
	return traffic_connect(&t->traffic, tcp_llp_stack(net_tcp(s->net)), p);
}

/** The first SYN should not be lost where the other side is there but not yet joined (memif). */
static void tcp_session_await_link(struct tcp_session *s)
{
	static const struct timespec nap = {.tv_nsec = 2000000};
	struct wait_limit limit;

	wait_limit_start(&limit, LINK_NS, net_now(s->net));
	while (!net_link(s->net, NULL) && !wait_limit_over(&limit, net_now(s->net)))
		nanosleep(&nap, NULL);
}

static int tcp_session_start_connecting(struct tcp_session *s)
{
	const struct tcp_options *o = s->options;
	struct llp_connect_params p = {.remote.port = o->port};
	char why[TCP_RESOLVE_MAX], text[IP_ADDR_STRLEN];
	int r = tcp_resolve(s->net, o->host, &p.remote.addr, why);

	if (r != 0) {
		fprintf(stderr, "uiwarp tcp: %s%s\n", why,
			r == -EHOSTUNREACH ? "; expected it in the network of an \"address\", or "
					     "a \"gateway\""
					   : "");
		return EXIT_FAILURE;
	}
	tcp_session_await_link(s);
	engine_lock(s->engine);
	for (unsigned i = 0; i < o->parallel && r == 0; i++)
		r = tcp_session_begin(s, &p);
	engine_unlock(s->engine);
	if (r == 0)
		return 0;
	fprintf(stderr, "uiwarp tcp: cannot connect to %s port %u: %s\n",
		ip_addr_format(&p.remote.addr, text), o->port, strerror(-r));
	return EXIT_FAILURE;
}

int tcp_session_start(struct tcp_session *s)
{
	return s->options->listen ? tcp_session_start_listening(s)
				  : tcp_session_start_connecting(s);
}

/* ---- looking, under the engine's lock ------------------------------------------------------- */

static void tcp_session_earlier(uint64_t *next, uint64_t when)
{
	if (when < *next)
		*next = when;
}

/** End in good order, but do not wait for ever. */
static void tcp_session_finish(struct tcp_stream *t, uint64_t now)
{
	enum traffic_role role = t->traffic.cfg.role;

	if (t->abort_at)
		return;
	t->abort_at = now;
	if (!t->traffic.connected)
		return;
	t->abort_at += role == TRAFFIC_SOURCE ? DRAIN_NS : PART_NS;
	traffic_finish(&t->traffic);
}

static void tcp_session_give_up(struct tcp_stream *t)
{
	if (t->traffic.ended || t->aborted)
		return;
	if (t->traffic.llp)
		tcp_get_info(t->traffic.llp, &t->last_info);
	traffic_abort(&t->traffic);
	t->aborted = true;
}

static void tcp_session_meter(struct tcp_stream *t, uint64_t now, uint64_t *next)
{
	double seconds = (double)(now - t->traffic.connected_at) * 1e-9;
	uint64_t due = (uint64_t)(seconds * t->session->options->rate / 8);

	if (due > t->traffic.allowed)
		traffic_allow(&t->traffic, due - t->traffic.allowed);
	tcp_session_earlier(next, now + METER_NS);
}

/** Do what is due on an established connection. */
static void tcp_session_attend(struct tcp_stream *t, uint64_t now, uint64_t *next)
{
	const struct tcp_options *o = t->session->options;
	uint64_t since = t->traffic.connected_at;

	/*
	 * All has come: only the acknowledgement of our FIN can be missing, and with it the peer.
	 */
	if (o->role == TRAFFIC_SINK && t->traffic.eof && !t->traffic.unread)
		tcp_session_finish(t, now);
	if (o->stall && now - since >= o->stall)
		traffic_resume(&t->traffic);
	else if (o->stall)
		tcp_session_earlier(next, since + o->stall);
	if (o->rate > 0 && !t->abort_at)
		tcp_session_meter(t, now, next);
	if (o->time && now - since >= o->time)
		tcp_session_finish(t, now);
	else if (o->time)
		tcp_session_earlier(next, since + o->time);
}

static void tcp_session_view(struct tcp_stream *t, uint64_t now)
{
	const struct traffic *f = &t->traffic;

	t->view = (struct tcp_view){
		.at = now,
		.sent = f->sent,
		.received = f->received,
		.messages = f->messages,
		.info = t->last_info,
		.connected = f->connected,
		.eof = f->eof,
		.ended = f->ended || t->aborted,
	};
	if (f->llp)
		tcp_get_info(f->llp, &t->view.info);
	if (f->ended)
		t->view.at = f->ended_at;
	/* What takes in has its result when the last byte is there, not when all is closed. */
	if (f->eof && (f->cfg.role == TRAFFIC_SINK || f->cfg.role == TRAFFIC_ECHO))
		t->view.at = f->eof_at;
}

/** What was counted since the last time is the interval's, and goes to the total. */
static void tcp_session_collect_latency(struct tcp_stream *t)
{
	if (!t->latency)
		return;
	*t->interval_latency = *t->latency;
	histogram_merge(t->total_latency, t->latency);
	*t->latency = (struct histogram){0};
}

/** What it is by now; its result, when its time is over. */
static void tcp_session_note(struct tcp_stream *t, uint64_t now)
{
	uint64_t time = t->session->options->time;

	tcp_session_view(t, now);
	if (t->view.connected && !t->start.at)
		t->start.at = t->traffic.connected_at;
	if (!t->result.at &&
		(t->view.ended || t->abort_at || t->session->stopping ||
			(time && t->view.connected && now - t->traffic.connected_at >= time)))
		t->result = t->view;
	if (t->view.ended)
		tcp_session_collect_latency(t);
}

static void tcp_session_look_once(struct tcp_stream *t, uint64_t now, uint64_t *next)
{
	if (t->view.ended)
		return;
	tcp_session_note(t, now);
	if (t->view.ended)
		return;
	if (t->view.connected)
		tcp_session_attend(t, now, next);
	if (t->session->stopping)
		tcp_session_finish(t, now);
	if (t->abort_at && now >= t->abort_at)
		tcp_session_give_up(t);
	else if (t->abort_at)
		tcp_session_earlier(next, t->abort_at);
	tcp_session_note(t, now);
}

/** Streams that are new go to the end of the list. */
static void tcp_session_list_fresh(struct tcp_session *s)
{
	struct tcp_stream **at, *list = NULL, *t;

	while ((t = s->fresh) != NULL) {
		s->fresh = t->next;
		t->next = list;
		list = t;
	}
	for (at = &s->streams; *at; at = &(*at)->next)
		;
	*at = list;
}

void tcp_session_look(struct tcp_session *s, uint64_t *next)
{
	uint64_t now, events;

	*next = UINT64_MAX;
	if (read(s->event_fd, &events, sizeof events) < 0)
		events = 0; /* it is the time that brings us here */
	engine_lock(s->engine);
	now = s->engine->now;
	tcp_session_list_fresh(s);
	for (struct tcp_stream *t = s->streams; t; t = t->next)
		tcp_session_look_once(t, now, next);
	engine_unlock(s->engine);
}

void tcp_session_collect(struct tcp_session *s)
{
	engine_lock(s->engine);
	for (struct tcp_stream *t = s->streams; t; t = t->next)
		tcp_session_collect_latency(t);
	engine_unlock(s->engine);
}

/* ---- ending --------------------------------------------------------------------------------- */

void tcp_session_stop(struct tcp_session *s)
{
	engine_lock(s->engine);
	if (s->listener)
		llp_unlisten(tcp_llp_stack(net_tcp(s->net)), s->listener);
	s->listener = NULL;
	if (s->stopping)
		for (struct tcp_stream *t = s->streams; t; t = t->next)
			tcp_session_give_up(t);
	s->stopping = true;
	engine_unlock(s->engine);
}

/**
 * The last ACK of a connection that we closed first may get lost, and the peer would send its FIN
 * again to nobody: be there for its first retransmission. The kernel's TCP has TIME-WAIT in full.
 */
static void tcp_session_outlive_last_ack(struct tcp_session *s)
{
	static const struct timespec nap = {.tv_nsec = 10000000};
	uint64_t end = s->last_ack_until;

	while (net_now(s->net) < end)
		nanosleep(&nap, NULL);
}

bool tcp_session_done(const struct tcp_session *s)
{
	const struct tcp_options *o = s->options;
	bool done;

	engine_lock(s->engine);
	done = s->removed == s->made;
	if (o->listen && !s->stopping)
		done = done && o->once && s->made == o->parallel;
	engine_unlock(s->engine);
	return done;
}

void tcp_session_remove(struct tcp_session *s, struct tcp_stream *t)
{
	const struct tcp_info *i = &t->view.info;
	struct tcp_stream **at;
	uint64_t until;

	if (i->state && strcmp(i->state, "TIME-WAIT") == 0) {
		until = t->view.at + (2 * i->rto < LAST_NS ? 2 * i->rto : LAST_NS);
		if (until > s->last_ack_until)
			s->last_ack_until = until;
	}
	for (at = &s->streams; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	s->removed++;
	tcp_session_stream_free(t);
}

void tcp_session_close(struct tcp_session *s)
{
	if (s->net) {
		tcp_session_outlive_last_ack(s);
		net_linger(s->net);
		ending_hold();
		net_close(s->net);
	}
	tcp_session_list_fresh(s);
	while (s->streams) {
		struct tcp_stream *t = s->streams;

		s->streams = t->next;
		tcp_session_stream_free(t);
	}
	close(s->event_fd);
}
