/* SPDX-License-Identifier: BSD-2-Clause */
#include "script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START    (1000 * SEC)
#define ISN_END  300u /* how far from its end an ISN is that is about to wrap */
#define TEXT_MAX 70000

/** What the peer sends and what the host sends, by relative sequence number: never the same. */
static uint8_t peer_byte(uint32_t at)
{
	return (uint8_t)(at * 31 >> 3);
}

/** What a segment marked "other" has in its place. */
static uint8_t other_byte(uint32_t at)
{
	return peer_byte(at) ^ 0xff;
}

static uint8_t host_byte(uint32_t at)
{
	return (uint8_t)(at * 17 + (at >> 5) + 1);
}

static void trace(struct script *s, const char *who, uint64_t at, const char *text)
{
	char *t = s->trace[s->n_trace++ % 16];

	snprintf(t, sizeof s->trace[0], "%+14.6f ms %s %.120s", (double)(int64_t)(at - START) / 1e6,
		who, text);
}

void script_fail(struct script *s, const char *fmt, ...)
{
	char text[400];
	va_list v;

	va_start(v, fmt);
	vsnprintf(text, sizeof text, fmt, v);
	va_end(v);
	for (unsigned i = s->n_trace < 16 ? 0 : s->n_trace - 16; i < s->n_trace; i++)
		print_error("  %s\n", s->trace[i % 16]);
	print_error("%s (%s): %s\n", s->test->name, s->test->rfc, text);
	_fail(s->file, s->line);
	abort();
}

/* ---- time ----------------------------------------------------------------------------------- */

/** To @p end, or until the host sends. @return true if it does. */
static bool advance(struct script *s, uint64_t end)
{
	while (uiwarp_tcp_output_time(s->h) == UIWARP_TCP_NEVER && uiwarp_tcp_now(s->h) < end) {
		uint64_t next = uiwarp_tcp_next(s->h);

		uiwarp_tcp_advance(s->h, next < end ? next : end);
	}
	return uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER;
}

static bool take(struct script *s, struct seg_path *p, struct seg *seg)
{
	static uint8_t packet[TEXT_MAX];
	uint64_t at;
	size_t n = uiwarp_tcp_output(s->h, packet, sizeof packet, &at);
	struct seg_base base = s->base;
	const char *error;
	char text[160];

	if (!n)
		return false;
	error = seg_parse_packet(packet, n, p, seg);
	if (!error && (seg->flags & SYN) && !s->base_known) {
		s->base.seq = base.seq = seg->seq;
		s->base_known = true;
	}
	seg_format(seg, &base, text, sizeof text);
	trace(s, ">", at, text);
	if (error)
		script_fail(s, "%s", error);
	return true;
}

void script_nothing(struct script *s)
{
	struct seg_path p;
	struct seg seg;

	if (take(s, &p, &seg))
		script_fail(s, "the host sent what was not expected");
}

void script_silence(struct script *s, uint64_t ns)
{
	script_nothing(s);
	advance(s, uiwarp_tcp_now(s->h) + ns);
	script_nothing(s);
}

/* ---- the peer sends ------------------------------------------------------------------------- */

static bool both(const struct script *s, uint32_t option)
{
	return (s->peer_syn & s->host_syn & option) != 0;
}

static uint32_t peer_clock(const struct script *s)
{
	return s->ts_clock + (uint32_t)((uiwarp_tcp_now(s->h) - START) / MS);
}

static struct seg_path from_peer(const struct script *s)
{
	struct seg_path p = {
		.family = s->to_peer.family, .sport = s->to_peer.dport, .dport = s->to_peer.sport};

	memcpy(p.src, s->to_peer.dst, 16);
	memcpy(p.dst, s->to_peer.src, 16);
	return p;
}

static void fill_in_timestamp(struct script *s, struct seg *seg)
{
	uint32_t val, ecr;

	if (seg->has & HAS_NO_TS)
		return;
	if (!(seg->has & HAS_TS) && !both(s, HAS_TS))
		return;
	if ((seg->has & (HAS_TSVAL | HAS_TSECR)) == (HAS_TSVAL | HAS_TSECR))
		return;
	val = seg->has & HAS_TSVAL ? seg->tsval : peer_clock(s);
	ecr = seg->has & HAS_TSECR ? seg->tsecr : seg->flags & ACK ? s->ts_echo : 0;
	if (!seg_add_timestamp(seg, val, ecr))
		script_fail(s, "no room for the timestamp");
}

void script_peer(struct script *s, const char *fmt, ...)
{
	static uint8_t packet[TEXT_MAX], text[TEXT_MAX];
	const struct seg_base base = {s->base.ack, s->base.seq};
	const struct seg_path p = from_peer(s);
	char line[300];
	const char *error;
	struct seg seg;
	va_list v;

	script_nothing(s);
	va_start(v, fmt);
	vsnprintf(line, sizeof line, fmt, v);
	va_end(v);
	trace(s, "<", uiwarp_tcp_now(s->h), line);
	error = seg_parse_text(line, &base, &seg);
	if (error || seg.len > TEXT_MAX - 200)
		script_fail(s, "%s: %s", line, error ? error : "too long");
	if (!(seg.has & HAS_WIN))
		seg.win = s->win;
	fill_in_timestamp(s, &seg);
	if ((seg.flags & SYN) && !s->peer_syn_known) {
		s->peer_syn = seg.has;
		s->peer_syn_known = true;
	}
	for (uint32_t i = 0; i < seg.len; i++) {
		uint32_t at = seg.seq + ((seg.flags & SYN) != 0) + i - s->base.ack;

		text[i] = seg.has & HAS_OTHER ? other_byte(at) : peer_byte(at);
	}
	if (uiwarp_tcp_input(s->h, packet, seg_build(&seg, &p, text, packet)))
		script_fail(s, "the packet did not get in");
}

/** Type and code of both families; the type of ICMPv6 is above 255. */
static void icmp_type(enum icmp_kind kind, bool v6, uint8_t *type, uint8_t *code)
{
	static const uint8_t v4_table[][2] = {[ICMP_PORT] = {3, 3},
		[ICMP_HOST] = {3, 1},
		[ICMP_NET] = {3, 0},
		[ICMP_PROTOCOL] = {3, 2},
		[ICMP_TOO_BIG] = {3, 4},
		[ICMP_TIME] = {11, 0}};
	static const uint8_t v6_table[][2] = {[ICMP_PORT] = {1, 4},
		[ICMP_HOST] = {1, 3},
		[ICMP_NET] = {1, 0},
		[ICMP_PROTOCOL] = {4, 1},
		[ICMP_TOO_BIG] = {2, 0},
		[ICMP_TIME] = {3, 0}};

	*type = v6 ? v6_table[kind][0] : v4_table[kind][0];
	*code = v6 ? v6_table[kind][1] : v4_table[kind][1];
}

void script_icmp(struct script *s, enum icmp_kind kind, uint32_t seq, uint16_t mtu)
{
	const struct seg quoted = {.seq = s->base.seq + seq, .flags = ACK};
	const struct seg_path p = from_peer(s);
	uint8_t quote[100], packet[200] = {0};
	size_t n = seg_build(&quoted, &s->to_peer, NULL, quote);
	bool v6 = p.family == AF_INET6;
	size_t h = packet_ip_header(&p, v6 ? 58 : 1, 8 + n, 0, packet);

	script_nothing(s);
	trace(s, "<", uiwarp_tcp_now(s->h), "an ICMP error");
	icmp_type(kind, v6, &packet[h], &packet[h + 1]);
	packet[h + 6] = (uint8_t)(mtu >> 8); /* the low half of ICMPv6's 32 bits as well */
	packet[h + 7] = (uint8_t)mtu;
	memcpy(packet + h + 8, quote, n);
	packet_finish(packet, h + 8 + n);
	if (uiwarp_tcp_input(s->h, packet, h + 8 + n))
		script_fail(s, "the packet did not get in");
}

/* ---- the host sends ------------------------------------------------------------------------- */

static uint32_t window(const struct script *s, const struct seg *seg)
{
	bool scaled = both(s, HAS_WS) && !(seg->flags & SYN);

	return (uint32_t)seg->win << (scaled ? s->rcv_ws : 0);
}

/** What must hold for every segment of a connection. */
static void check_always(struct script *s, const struct seg *seg)
{
	uint32_t edge = seg->ack + window(s, seg);

	if (!(seg->flags & (SYN | RST | ACK)))
		script_fail(s, "no ACK (RFC 9293 section 3.10.7.4)");
	if (both(s, HAS_TS) && !(seg->flags & RST) && !(seg->has & HAS_TS))
		script_fail(s, "no timestamp (RFC 7323 section 3.2)");
	if (!both(s, HAS_TS) && !(seg->flags & SYN) && (seg->has & HAS_TS))
		script_fail(s, "a timestamp that was not agreed upon (RFC 7323 section 3.2)");
	if (!both(s, HAS_SACK_OK) && seg->n_sack)
		script_fail(s, "SACK that was not agreed upon (RFC 2018 section 2)");
	if (!(seg->flags & SYN) && (seg->has & (HAS_MSS | HAS_WS | HAS_SACK_OK)))
		script_fail(s, "an option that belongs on a SYN");
	if (both(s, HAS_TS) && s->last.tsval && (int32_t)(seg->tsval - s->last.tsval) < 0 &&
		!(seg->flags & RST))
		script_fail(s, "the timestamp clock went back (RFC 7323 section 5.4)");
	for (uint32_t i = 0; i < seg->len; i++)
		if (seg->text[i] != host_byte(seg->seq + i - s->base.seq))
			script_fail(s, "the text is wrong at %u", seg->seq + i - s->base.seq);
	if (seg->flags & RST || !(seg->flags & ACK))
		return;
	/* RFC 9293 section 3.8.6; less than one unit of the scale may get lost (RFC 7323, 2.4). */
	if (s->edge_known && (int32_t)(edge + (1u << s->rcv_ws) - 1 - s->edge) < 0)
		script_fail(s, "the window shrinks by %u", s->edge - edge);
	if (!s->edge_known || (int32_t)(edge - s->edge) > 0)
		s->edge = edge;
	s->edge_known = true;
}

static bool sack_equal(const struct seg *a, const struct seg *b)
{
	return a->n_sack == b->n_sack && !memcmp(a->sack, b->sack, a->n_sack * sizeof a->sack[0]);
}

static const char *differs(const struct seg *want, const struct seg *got)
{
	const uint8_t ignored = want->has & HAS_PSH ? 0 : PSH;

	if ((want->flags | ignored) != (got->flags | ignored))
		return "flags";
	if (want->seq != got->seq || want->len != got->len)
		return "sequence numbers";
	if ((want->has & HAS_ACK) && want->ack != got->ack)
		return "ack";
	if ((want->has & HAS_WIN) && want->win != got->win)
		return "win";
	if ((want->has & HAS_ECN) && want->ecn != got->ecn)
		return "ECN field";
	if ((want->has & HAS_MSS) && (!(got->has & HAS_MSS) || want->mss != got->mss))
		return "mss";
	if ((want->has & HAS_WS) && (!(got->has & HAS_WS) || want->ws != got->ws))
		return "ws";
	if ((want->has & HAS_SACK_OK) && !(got->has & HAS_SACK_OK))
		return "sackOK";
	if ((want->has & HAS_TS) && !(got->has & HAS_TS))
		return "ts";
	if ((want->has & HAS_NO_TS) && (got->has & HAS_TS))
		return "no-ts";
	if ((want->has & HAS_TSVAL) && want->tsval != got->tsval)
		return "ts val";
	if ((want->has & HAS_TSECR) && want->tsecr != got->tsecr)
		return "ts ecr";
	return sack_equal(want, got) ? NULL : "sack";
}

static void learn(struct script *s, const struct seg_path *p, const struct seg *seg)
{
	if (!s->to_peer.sport)
		s->to_peer.sport = p->sport;
	if (seg->flags & SYN) {
		s->host_syn = seg->has;
		s->rcv_ws = seg->has & HAS_WS ? seg->ws : 0;
	}
	if (p->sport != s->to_peer.sport || p->dport != s->to_peer.dport ||
		p->family != s->to_peer.family || memcmp(p->src, s->to_peer.src, 16) ||
		memcmp(p->dst, s->to_peer.dst, 16))
		script_fail(s, "it goes to another address or port");
}

/** It is as it must be: remember it. */
static void accept_segment(struct script *s, struct seg *seg)
{
	check_always(s, seg);
	if (seg->has & HAS_TS)
		s->ts_echo = seg->tsval;
	seg->text = NULL;
	s->last = *seg;
}

const struct seg *script_next(struct script *s)
{
	struct seg_path p;
	struct seg seg;

	if (!take(s, &p, &seg))
		return NULL;
	learn(s, &p, &seg);
	accept_segment(s, &seg);
	return &s->last;
}

void script_pass(struct script *s, uint64_t ns)
{
	uint64_t end = uiwarp_tcp_now(s->h) + ns;

	while (advance(s, end))
		script_next(s);
}

/** The next segment, which must come until @p end and be as @p line says. */
static const struct seg *expect(struct script *s, uint64_t end, const char *line)
{
	struct seg want, got;
	struct seg_path p;
	const char *error, *what;

	if (!advance(s, end))
		script_fail(s, "nothing was sent; expected: %s", line);
	take(s, &p, &got);
	learn(s, &p, &got);
	error = seg_parse_text(line, &s->base, &want);
	if (error)
		script_fail(s, "%s: %s", line, error);
	what = differs(&want, &got);
	if (what)
		script_fail(s, "%s; expected: %s", what, line);
	accept_segment(s, &got);
	return &s->last;
}

const struct seg *script_host(struct script *s, uint64_t after, const char *fmt, ...)
{
	uint64_t due = uiwarp_tcp_now(s->h) + after, at;
	const struct seg *seg;
	char line[300];
	va_list v;

	va_start(v, fmt);
	vsnprintf(line, sizeof line, fmt, v);
	va_end(v);
	advance(s, due + UIWARP_TCP_TICK_NS);
	at = uiwarp_tcp_output_time(s->h);
	seg = expect(s, due + UIWARP_TCP_TICK_NS, line);
	if (at < due)
		script_fail(s, "%.6f ms too early: %s", (double)(due - at) / 1e6, line);
	return seg;
}

const struct seg *script_host_within(struct script *s, uint64_t ns, const char *fmt, ...)
{
	char line[300];
	va_list v;

	va_start(v, fmt);
	vsnprintf(line, sizeof line, fmt, v);
	va_end(v);
	return expect(s, uiwarp_tcp_now(s->h) + ns, line);
}

/* ---- the host's user ------------------------------------------------------------------------ */

static struct sockaddr_storage endpoint(const struct script *s, const uint8_t *addr, uint16_t port)
{
	struct sockaddr_storage a = {0};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	if (s->to_peer.family == AF_INET) {
		memcpy(&v4.sin_addr, addr, 4);
		memcpy(&a, &v4, sizeof v4);
	} else {
		memcpy(&v6.sin6_addr, addr, 16);
		memcpy(&a, &v6, sizeof v6);
	}
	return a;
}

/** Let time pass until the next ISN is as the script wants it; the peer's clock waits meanwhile. */
static void await_isn(struct script *s, uint64_t ns)
{
	uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + ns);
	s->ts_clock -= (uint32_t)(ns / MS);
}

void listens(struct script *s)
{
	struct sockaddr_storage a = endpoint(s, s->to_peer.src, PORT);

	await_isn(s, s->to_wrap[0]);
	s->to_peer.sport = PORT;
	s->listener = uiwarp_tcp_socket(s->h, s->to_peer.family);
	assert_true(s->listener >= 0);
	assert_int_equal(uiwarp_tcp_bind(s->h, s->listener, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(uiwarp_tcp_listen(s->h, s->listener, 8), 0);
}

void script_accepts(struct script *s)
{
	s->fd = uiwarp_tcp_accept(s->h, s->listener, NULL, NULL);
	if (s->fd < 0)
		script_fail(s, "there is nothing to accept");
}

void connects(struct script *s)
{
	struct sockaddr_storage a = endpoint(s, s->to_peer.dst, RPORT);

	await_isn(s, s->to_wrap[1]);
	s->to_peer.sport = 0; /* its SYN will tell */
	s->fd = uiwarp_tcp_socket(s->h, s->to_peer.family);
	assert_true(s->fd >= 0);
	assert_int_equal(
		uiwarp_tcp_connect(s->h, s->fd, (struct sockaddr *)&a, sizeof a), -EINPROGRESS);
}

const char *offer(const struct script *s)
{
	static char text[80];

	snprintf(text, sizeof text, "mss 1460%s%s%s", s->way & SACK ? ",sackOK" : "",
		s->way & TS ? ",ts . ." : "", s->way & WS ? ",ws 7" : "");
	return text;
}

void script_accepted(struct script *s)
{
	listens(s);
	script_peer(s, "S 0 <%s>", offer(s));
	script_host(s, 0, "S. 0 ack 1");
	script_peer(s, ". 1 ack 1");
	script_nothing(s);
	script_accepts(s);
}

void script_accepted_far(struct script *s, uint64_t rtt)
{
	listens(s);
	script_peer(s, "S 0 <mss %u%s%s%s>", s->way & TS ? 1012 : 1000,
		s->way & SACK ? ",sackOK" : "", s->way & TS ? ",ts . ." : "",
		s->way & WS ? ",ws 7" : "");
	script_host(s, 0, "S. 0 ack 1");
	script_silence(s, rtt);
	script_peer(s, ". 1 ack 1");
	script_nothing(s);
	script_accepts(s);
}

void script_host_sends(struct script *s, uint32_t from, uint32_t to, uint64_t ns)
{
	uint64_t end = uiwarp_tcp_now(s->h) + ns;

	for (; from < to; from += 1000)
		script_host_within(
			s, end - uiwarp_tcp_now(s->h), ". %u:%u ack 1", from, from + 1000);
}

void script_connected(struct script *s)
{
	connects(s);
	script_host(s, 0, "S 0");
	script_peer(s, "S. 0 ack 1 <%s>", offer(s));
	script_host(s, 0, ". 1 ack 1");
	script_nothing(s);
}

void script_writes(struct script *s, uint32_t n)
{
	static uint8_t text[1 << 20];
	ssize_t r;

	for (uint32_t i = 0; i < n; i++)
		text[i] = host_byte(s->written + i);
	r = uiwarp_tcp_send(s->h, s->fd, text, n, 0);
	if (r != (ssize_t)n)
		script_fail(s, "SEND of %u bytes answered %zd", n, r);
	s->written += n;
}

static void reads_bytes(struct script *s, uint32_t n, uint8_t (*byte)(uint32_t))
{
	static uint8_t text[1 << 20];

	while (n) {
		ssize_t r =
			uiwarp_tcp_recv(s->h, s->fd, text, n < sizeof text ? n : sizeof text, 0);

		if (r <= 0)
			script_fail(s, "RECEIVE answered %zd, with %u bytes to come", r, n);
		for (ssize_t i = 0; i < r; i++)
			if (text[i] != byte(s->read++))
				script_fail(s, "RECEIVE gave a wrong byte for %u", s->read - 1);
		n -= (uint32_t)r;
	}
}

void script_reads(struct script *s, uint32_t n)
{
	reads_bytes(s, n, peer_byte);
}

void script_reads_other(struct script *s, uint32_t n)
{
	reads_bytes(s, n, other_byte);
}

void script_receive_is(struct script *s, int r)
{
	uint8_t byte;
	ssize_t got = uiwarp_tcp_recv(s->h, s->fd, &byte, 1, 0);

	if (got != r)
		script_fail(s, "RECEIVE answered %zd, not %d", got, r);
}

void script_shuts(struct script *s)
{
	int r = uiwarp_tcp_shutdown(s->h, s->fd, SHUT_WR);

	if (r)
		script_fail(s, "CLOSE answered %d", r);
}

void script_closes(struct script *s)
{
	int r = uiwarp_tcp_close(s->h, s->fd);

	if (r)
		script_fail(s, "close answered %d", r);
	s->fd = -1;
}

void script_aborts(struct script *s)
{
	int r = uiwarp_tcp_abort(s->h, s->fd);

	if (r)
		script_fail(s, "ABORT answered %d", r);
	s->fd = -1;
}

static bool find(struct script *s, struct uiwarp_tcp_info *info)
{
	struct sockaddr_storage l, r;

	for (unsigned i = 0; !uiwarp_tcp_connection(s->h, i, &l, &r, info); i++) {
		/* The port is in the same place for both families. */
		if (((struct sockaddr_in *)&r)->sin_port == htons(s->to_peer.dport) &&
			((struct sockaddr_in *)&l)->sin_port == htons(s->to_peer.sport))
			return true;
	}
	return false;
}

const char *script_state(struct script *s)
{
	static struct uiwarp_tcp_info info;

	if (find(s, &info))
		return info.state;
	return s->listener >= 0 && s->fd < 0 ? "LISTEN" : "CLOSED";
}

void script_state_is(struct script *s, const char *name)
{
	const char *state = script_state(s);

	if (strcmp(state, name) != 0)
		script_fail(s, "the state is %s, not %s", state, name);
}

struct uiwarp_tcp_info script_info(struct script *s)
{
	struct uiwarp_tcp_info info;

	if (!find(s, &info))
		script_fail(s, "there is no connection");
	return info;
}
