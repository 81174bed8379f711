/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"

/** Octets that a connection may be on when its SYN comes, where a capture is out of order. */
#define LATE_SYN_MAX 65536

/** Right checksums of TCP for a wrong one, where a wrong one tells of damage. */
#define FOLLOW_TRUST 4
/** Wrong ones more than right ones, where they say nothing: what wrote them is to blame. */
#define FOLLOW_DISTRUST 8

#define MAX_FLOWS  (1u << 20)
#define MAX_MEMORY ((size_t)384 << 20)
#define MAX_PIECES ((size_t)1 << 20)

int follow_init(struct follow *w, const struct follow_config *config,
	const struct connection_ops *ops, void *user)
{
	*w = (struct follow){.config = *config, .ops = ops, .user = user};
	if (w->config.max_flows == 0)
		w->config.max_flows = MAX_FLOWS;
	if (w->config.max_connections == 0)
		w->config.max_connections = w->config.max_flows;
	if (w->config.max_memory == 0)
		w->config.max_memory = MAX_MEMORY;
	w->shared.keylog = w->config.keylog;
	w->shared.budget.max = config->max_pieces != 0 ? config->max_pieces : MAX_PIECES;
	return flow_table_init(&w->flows, w->config.max_flows, &w->config.key);
}

/* ---- flows ---------------------------------------------------------------------------------- */

static void follow_end(struct follow *w, struct flow *f, enum connection_end how, uint64_t frame)
{
	if (!f->connection)
		return;
	w->memory -= f->connection->counted;
	if (connection_end(f->connection, how, frame))
		f->tls = FLOW_TLS_KNOWN;
	f->connection = NULL;
	f->state = FLOW_OVER;
	w->open--;
}

/* What comes between these ends is another connection. One that was not followed is counted. */
static void follow_forget_tls(struct follow *w, struct flow *f)
{
	if (f->tls == FLOW_TLS_SEEN)
		w->shared.unjudged[SEALED_NO_HELLO]++;
	f->tls = FLOW_TLS_NONE;
}

static void follow_evict(struct follow *w, struct flow *f, uint64_t frame)
{
	if (f->connection && f->connection->id != 0)
		w->counters.evicted++;
	follow_end(w, f, CONNECTION_EVICTED, frame);
	follow_forget_tls(w, f);
	flow_remove(&w->flows, f);
}

/* What a connection has now, in place of what was counted before. */
static void follow_count_memory(struct follow *w, struct connection *c)
{
	w->memory -= c->counted;
	c->counted = connection_memory(c);
	w->memory += c->counted;
}

/*
 * Flows that were idle for longest make room, whether they are of iWARP or not: so each step frees
 * something. The newest is the one in hand.
 */
static void follow_make_room(struct follow *w, uint64_t frame)
{
	while (w->flows.oldest != w->flows.newest &&
		w->memory + w->flows.used * sizeof *w->flows.oldest > w->config.max_memory)
		follow_evict(w, w->flows.oldest, frame);
}

static struct flow *follow_get(
	struct follow *w, const struct packet *p, const struct cap_frame *f, unsigned *side)
{
	struct flow *flow = flow_get(&w->flows, &p->src, &p->dst, side);

	if (!flow && w->flows.oldest) {
		follow_evict(w, w->flows.oldest, f->number);
		flow = flow_get(&w->flows, &p->src, &p->dst, side);
	}
	return flow;
}

/* ---- is it iWARP? --------------------------------------------------------------------------- */

static bool follow_has_key(const struct follow *w, const struct packet *p)
{
	if (w->config.keylog && sealed_is_client_hello(p))
		return true;
	return p->captured >= MPA_KEY_LEN &&
	       (memcmp(p->text, MPA_REQUEST_KEY, MPA_KEY_LEN) == 0 ||
		       memcmp(p->text, MPA_REPLY_KEY, MPA_KEY_LEN) == 0);
}

static bool follow_is_wanted(const struct follow *w, const struct packet *p)
{
	for (unsigned i = 0; i < w->config.num_ports; i++)
		if (p->src.port == w->config.ports[i] || p->dst.port == w->config.ports[i])
			return true;
	return false;
}

static bool follow_open_connection(struct follow *w, struct flow *flow, uint64_t frame)
{
	while (w->open >= w->config.max_connections && w->flows.oldest != flow)
		follow_evict(w, w->flows.oldest, frame);
	flow->connection = connection_new(w->ops, w->user, flow->end, &w->shared);
	if (!flow->connection)
		return false;
	flow->state = FLOW_OPEN;
	w->open++;
	return true;
}

static void follow_pass_over(const struct follow *w, struct flow *flow, const struct packet *p)
{
	flow->state = FLOW_NONE;
	if (w->config.keylog && flow->tls == FLOW_TLS_NONE && sealed_seems(p->text, p->captured))
		flow->tls = FLOW_TLS_SEEN;
}

/*
 * A connection with text is taken up on trial if all of its text has been seen, or if this segment
 * begins with a key, or with TLS: the ULP may have used the connection before (RFC 5044
 * section 7.1.3).
 */
static void follow_consider(struct follow *w, struct flow *flow, unsigned side,
	const struct packet *p, const struct cap_frame *f)
{
	bool key = follow_has_key(w, p),
	     fresh = flow->state == FLOW_NEW && flow->syns.now.syn[side];
	bool join = !key && !fresh && flow->state == FLOW_NEW && follow_is_wanted(w, p);
	bool talked = flow->state != FLOW_NEW;
	/* Its peer's SYN may be one of a connection before. */
	bool old = p->flags & PACKET_ACK &&
		   p->ack - (flow->syns.now.isn[!side] + 1) >= REASSEMBLY_WINDOW_MAX;
	struct connection *c;

	if (!key && !fresh && !join) {
		follow_pass_over(w, flow, p);
		return;
	}
	if (!follow_open_connection(w, flow, f->number))
		return;
	c = flow->connection;
	/* Its peer begins with its SYN, or goes on where the segment acknowledges. */
	if (!talked && flow->syns.now.syn[!side] && !old)
		cap_reassembly_start(&c->stream[!side].tcp, flow->syns.now.isn[!side] + 1);
	else if (p->flags & PACKET_ACK)
		cap_reassembly_start(&c->stream[!side].tcp, p->ack);
	cap_reassembly_start(
		&c->stream[side].tcp, fresh && !key ? flow->syns.now.isn[side] + 1 : p->seq);
	c->stream[side].whole = fresh || key;
	c->stream[!side].whole = flow->syns.now.syn[!side] || key;
	for (unsigned i = 0; i < 2; i++)
		c->stream[i].tcp.from_syn = flow->syns.now.syn[i] &&
					    c->stream[i].tcp.first == flow->syns.now.isn[i] + 1;
	if (join)
		connection_join(c);
}

/* ---- segments ------------------------------------------------------------------------------- */

static void follow_restart(struct follow *w, struct flow *flow)
{
	follow_forget_tls(w, flow);
	flow->state = FLOW_NEW;
	flow->syns = (struct handshakes){0};
}

/* Captured behind text of the connection that it began. */
static bool follow_is_late_syn(const struct flow *flow, unsigned side, const struct packet *p)
{
	const struct cap_reassembly *r;

	if (!flow->connection || flow->syns.now.syn[side])
		return false;
	r = &flow->connection->stream[side].tcp;
	return r->known && r->first - (p->seq + 1) < LATE_SYN_MAX;
}

/* ---- SYN within a connection ---------------------------------------------------------------- */

static bool follow_is_answered(
	const struct connection_syn *syn, const struct connection_syn *answer)
{
	return syn->seen && answer->seen && answer->acks && answer->ack == syn->isn + 1;
}

/** Another connection, whose SYNs are @p syn, as far as they were seen. */
static void follow_begin_anew(
	struct follow *w, struct flow *flow, const struct connection_syn syn[2], uint64_t frame)
{
	follow_end(w, flow, CONNECTION_REUSED, frame);
	follow_restart(w, flow);
	for (unsigned i = 0; i < 2; i++) {
		flow->syns.now.syn[i] = syn[i].seen;
		flow->syns.now.isn[i] = syn[i].isn;
	}
}

/*
 * Addresses and ports are used again, or somebody forges: the receiver of a forged SYN answers with
 * an ACK, and goes on (RFC 5961 section 4.2). So it takes a SYN's answer to begin another.
 */
static void follow_take_syn_within(struct follow *w, struct flow *flow, unsigned side,
	const struct packet *p, const struct cap_frame *f)
{
	struct connection *c = flow->connection;
	struct connection_syn syn[2];

	c->syn[side] = (struct connection_syn){true, p->flags & PACKET_ACK, p->seq, p->ack};
	memcpy(syn, c->syn, sizeof syn);
	if (follow_is_answered(&syn[0], &syn[1]) || follow_is_answered(&syn[1], &syn[0]))
		follow_begin_anew(w, flow, syn, f->number);
	else
		connection_foreign(c, side, p, f);
}

/* True if @p p begins with @p seq, and the connection is far from there. */
static bool follow_begins_at(
	const struct connection *c, unsigned side, const struct packet *p, uint32_t seq)
{
	const struct cap_reassembly *r = &c->stream[side].tcp;

	return p->seq == seq &&
	       (!r->known || (seq - r->next >= LATE_SYN_MAX && r->next - seq >= LATE_SYN_MAX));
}

/* A SYN whose answer is not in the capture: its end goes on from there, or the answer's peer. */
static void follow_look_for_syn(struct follow *w, struct flow *flow, unsigned side,
	const struct packet *p, const struct cap_frame *f)
{
	struct connection *c = flow->connection;
	struct connection_syn syn[2] = {{false}};

	if (c->syn[side].seen && follow_begins_at(c, side, p, c->syn[side].isn + 1)) {
		syn[side] = c->syn[side];
	} else if (c->syn[!side].seen && c->syn[!side].acks &&
		   follow_begins_at(c, side, p, c->syn[!side].ack)) {
		syn[!side] = c->syn[!side];
		syn[side] = (struct connection_syn){.seen = true, .isn = c->syn[!side].ack - 1};
	} else {
		return;
	}
	follow_begin_anew(w, flow, syn, f->number);
}

static void follow_take_syn(struct follow *w, struct flow *flow, unsigned side,
	const struct packet *p, const struct cap_frame *f)
{
	const struct handshake *now = &flow->syns.now;

	if (flow->state != FLOW_NEW && now->syn[side] && now->isn[side] == p->seq)
		return;
	if (follow_is_late_syn(flow, side, p)) {
		flow->syns.now.syn[side] = true;
		flow->syns.now.isn[side] = p->seq;
		flow->connection->stream[side].whole = true;
		flow->connection->stream[side].tcp.from_syn = true;
		cap_reassembly_begin_earlier(&flow->connection->stream[side].tcp, p->seq + 1);
		return;
	}
	if (flow->connection) {
		follow_take_syn_within(w, flow, side, p, f);
		return;
	}
	handshake_syn(&flow->syns, flow->state != FLOW_NEW, side, p);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void follow_count_sum(struct flow *flow, unsigned side, bool wrong)
{
	uint16_t *n = wrong ? &flow->wrong[side] : &flow->right[side];

	if (++*n < UINT16_MAX)
		return;
	flow->right[side] /= 2;
	flow->wrong[side] /= 2;
}

/*
 * A segment with a wrong checksum is dropped by its receiver. But captures may have checksums that
 * were never meant, as of segments that a NIC has merged, or of addresses that were made up
 * afterwards: it takes more right ones to believe that.
 * @return true: leave it out.
 */
static bool follow_is_damaged(struct flow *flow, unsigned side, struct packet *p)
{
	unsigned right = flow->right[side], wrong = flow->wrong[side];

	if (p->sum == PACKET_SUM_UNKNOWN)
		p->sum = packet_sum(p);
	if (p->sum == PACKET_SUM_UNKNOWN)
		return false;
	follow_count_sum(flow, side, p->sum == PACKET_SUM_WRONG);
	if (p->sum != PACKET_SUM_WRONG)
		return false;
	if (wrong > right + FOLLOW_DISTRUST)
		p->sum = PACKET_SUM_UNKNOWN;
	return right > FOLLOW_TRUST * wrong;
}

/* Not what nobody is going to read. */
static bool follow_reads(const struct follow *w, const struct flow *flow, const struct packet *p)
{
	return flow->state == FLOW_NEW || flow->state == FLOW_OPEN || p->len == 0 ||
	       follow_has_key(w, p);
}

/* The parts of one segment are what the first is. @return true: leave it out. */
static bool follow_leave_out(struct follow *w, struct flow *flow, unsigned side, struct packet *p,
	const struct cap_frame *f)
{
	struct connection *c = flow->connection;

	if (!p->continues) {
		w->damaged = follow_reads(w, flow, p) && follow_is_damaged(flow, side, p);
		w->counters.damaged += w->damaged;
		w->sum = p->sum;
		if (w->damaged && c)
			connection_damaged(c, side, p, f);
	}
	p->sum = w->sum;
	return w->damaged;
}

static void follow_take_segment(struct follow *w, struct flow *flow, unsigned side,
	const struct packet *p, const struct cap_frame *f)
{
	struct connection *c;

	if (p->flags & PACKET_SYN) {
		follow_take_syn(w, flow, side, p, f);
		return;
	}
	if (flow->connection && !(p->flags & PACKET_RST))
		follow_look_for_syn(w, flow, side, p, f);
	/* Addresses and ports used once more. */
	if (!flow->connection && !(p->flags & PACKET_RST) &&
		handshake_confirm(&flow->syns, side, p)) {
		follow_forget_tls(w, flow);
		flow->state = FLOW_NEW;
	}
	if (flow->state != FLOW_OPEN && flow->state != FLOW_OVER && p->len != 0)
		follow_consider(w, flow, side, p, f);
	c = flow->connection;
	if (!c)
		return;
	connection_segment(c, side, p, f);
	follow_count_memory(w, c);
	if (connection_is_reset(c, side, p)) {
		follow_end(w, flow, CONNECTION_RESET, f->number);
	} else if (c->not_mpa) {
		follow_end(w, flow, CONNECTION_CLOSED, f->number);
		flow->state = FLOW_NONE;
	} else if (c->stream[0].fin_told && c->stream[1].fin_told) {
		follow_end(w, flow, CONNECTION_CLOSED, f->number);
	}
}

static void follow_take_packet(struct follow *w, struct packet *p, const struct cap_frame *f)
{
	unsigned side;
	struct flow *flow = follow_get(w, p, f, &side);

	if (!flow)
		return;
	if (!follow_leave_out(w, flow, side, p, f))
		follow_take_segment(w, flow, side, p, f);
	follow_make_room(w, f->number);
}

static void follow_count_unread(struct follow *w, const char *name, uint64_t n, uint64_t frame)
{
	for (unsigned i = 0; i < FOLLOW_UNREAD_MAX; i++) {
		struct follow_unread *u = &w->counters.unread[i];

		if (u->name && strcmp(u->name, name) != 0)
			continue;
		if (u->frames == 0)
			*u = (struct follow_unread){name, 0, frame};
		u->frames += n;
		return;
	}
}

/* Fragments that make no TCP are frames without, as if they had been whole. */
static void follow_count_other(
	struct follow *w, const struct fragments_part *parts, unsigned num_parts)
{
	struct follow_counters *k = &w->counters;
	unsigned n = 0;

	for (unsigned i = 0; i < num_parts; i++)
		n += !parts[i].counted;
	if (n == 0)
		return;
	k->kind[PACKET_FRAGMENT] -= n;
	if (k->kind[PACKET_OTHER] == 0)
		k->first[PACKET_OTHER] = parts[0].frame;
	k->kind[PACKET_OTHER] += n;
	if (parts[0].p.unread)
		follow_count_unread(w, parts[0].p.unread, n, parts[0].frame);
}

static void follow_take_mapper(struct follow *w, const struct packet *p, const struct cap_frame *f)
{
	if (w->ops->mapper)
		w->ops->mapper(w->user, &w->shared, p, f);
}

/* Each part as in its own frame, at the time of the last. */
static void follow_take_fragment(
	struct follow *w, const struct packet *p, const struct cap_frame *f)
{
	const struct fragments_part *parts;
	struct cap_frame own = *f;
	unsigned n;

	if (!w->fragments)
		w->fragments = fragments_new();
	if (!w->fragments)
		return;
	n = fragments_take(w->fragments, p, f, &parts);
	if (n != 0 && parts[0].other) {
		follow_count_other(w, parts, n);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		w->counters.fragments_used += !parts[i].counted;
	if (n != 0 && parts[0].mapper) {
		follow_take_mapper(w, &parts[0].p, f);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		struct packet part = parts[i].p;

		own.number = parts[i].frame;
		follow_take_packet(w, &part, &own);
	}
}

void follow_frame(struct follow *w, const struct cap_frame *f)
{
	struct follow_counters *n = &w->counters;
	struct packet p;
	enum packet_kind kind = packet_parse(f, &p);

	n->frames++;
	n->bytes += f->len;
	if (!packet_knows_link(f->link) && n->unknown_links++ == 0)
		n->unknown_link = f->link;
	if (n->kind[kind]++ == 0)
		n->first[kind] = f->number;
	if (w->shared.origin == 0)
		w->shared.origin = f->time;
	n->last = f->number;
	n->last_time = f->time;
	if (kind == PACKET_OTHER && p.unread)
		follow_count_unread(w, p.unread, 1, f->number);
	if (kind == PACKET_TCP)
		follow_take_packet(w, &p, f);
	else if (kind == PACKET_FRAGMENT)
		follow_take_fragment(w, &p, f);
	else if (kind == PACKET_MAPPER)
		follow_take_mapper(w, &p, f);
}

void follow_finish(struct follow *w)
{
	for (struct flow *f = w->flows.oldest; f; f = f->newer) {
		follow_end(w, f, CONNECTION_CAPTURE_END, w->counters.last);
		follow_forget_tls(w, f);
	}
	flow_table_free(&w->flows);
	fragments_free(w->fragments);
	w->fragments = NULL;
}

enum cap_result follow_capture(struct follow *w, struct cap_file *c, struct cap_error *e)
{
	struct cap_frame f;
	enum cap_result r;

	while ((r = cap_next(c, &f, e)) == CAP_FRAME)
		follow_frame(w, &f);
	follow_finish(w);
	return r;
}
