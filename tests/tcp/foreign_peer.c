/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_peer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS         UINT64_C(1000000)
#define RTO_MIN    (300 * MS)
#define RTO_MAX    (5000 * MS)
#define WINDOW_MAX 60000u
#define FLIGHT_MAX 20000u
#define RENEGE_MAX 20000u

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void wrong(struct foreign_peer *p, const char *what)
{
	if (!p->wrong)
		p->wrong = what;
}

static bool rude(struct foreign_peer *p, double probability)
{
	return !p->calm && prng_chance(p->random, probability);
}

void foreign_peer_start(
	struct foreign_peer *p, struct prng *random, uint32_t host_octets, uint32_t octets)
{
	*p = (struct foreign_peer){
		.random = random,
		.mss = 1460,
		.rcv_nxt = 1,
		.rcv_high = 1,
		.rcv_end = host_octets + 2,
		.rcv_edge = 1 + WINDOW_MAX,
		.rcv_told = 1 + WINDOW_MAX,
		.rcv_has = calloc(host_octets + 3, 1),
		.ts_clock = (uint32_t)prng_u64(random),
		.snd_una = 1,
		.snd_nxt = 1,
		.snd_max = 1,
		.snd_end = octets + 2,
		.rto = RTO_MIN,
		.rto_at = UINT64_MAX,
	};
	assert(p->rcv_has);
	p->timestamps = prng_chance(random, 0.5);
	p->sack = prng_chance(random, 0.9);
	p->scales = prng_chance(random, 0.7);
	if (p->scales)
		p->wscale = (uint8_t)prng_below(random, 10);
	if (prng_chance(random, 0.25))
		p->mss = (uint16_t)(216 + prng_below(random, 1200));
	p->takes_back = prng_chance(random, 0.5);
	p->reneges = prng_chance(random, 0.25);
	p->takes_parts = prng_chance(random, 0.5);
	p->acks_when_closed = prng_chance(random, 0.5);
	p->reads_last = prng_chance(random, 0.3);
	/* Most numbers wrap on the way. */
	p->base.seq = (uint32_t)-prng_below(random, prng_chance(random, 0.7) ? 100000 : UINT32_MAX);
}

void foreign_peer_end(struct foreign_peer *p)
{
	free(p->rcv_has);
}

bool foreign_peer_done(const struct foreign_peer *p)
{
	return p->rcv_nxt == p->rcv_end && p->snd_una == p->snd_end;
}

/* ---- what it has received ------------------------------------------------------------------- */

/** Behind the last of those that are here from @p at on; nothing is at rcv_high. */
static uint32_t island_end(const struct foreign_peer *p, uint32_t at)
{
	const uint8_t *end = memchr(p->rcv_has + at, 0, p->rcv_high + 1 - at);

	return (uint32_t)(end - p->rcv_has);
}

static uint32_t island_begin(const struct foreign_peer *p, uint32_t at)
{
	const uint8_t *before = memrchr(p->rcv_has, 0, at);

	return (uint32_t)(before + 1 - p->rcv_has);
}

static bool is_here(const struct foreign_peer *p, uint32_t left, uint32_t right)
{
	left = most(left, p->rcv_nxt);
	return right <= left ||
	       (right <= p->rcv_high && !memchr(p->rcv_has + left, 0, right - left));
}

static void renege(struct foreign_peer *p)
{
	uint32_t from = p->rcv_nxt + 1 + (uint32_t)prng_below(p->random, RENEGE_MAX);

	if (from >= p->rcv_high)
		return;
	memset(p->rcv_has + from, 0, p->rcv_high - from);
	while (from > p->rcv_nxt && !p->rcv_has[from - 1])
		from--;
	p->rcv_high = from;
}

static void take_text(struct foreign_peer *p, uint32_t left, uint32_t right)
{
	left = most(left, p->rcv_nxt);
	right = least(right, p->rcv_edge);
	/* Its acknowledgment let text of ours go, which has taken the window back. */
	if (right <= left)
		return;
	if (p->takes_parts && right - left > 1 && rude(p, 0.2))
		right = left + 1 + (uint32_t)prng_below(p->random, right - left - 1);
	memset(p->rcv_has + left, 1, right - left);
	p->rcv_newest = left;
	p->rcv_high = most(p->rcv_high, right);
	p->rcv_nxt = island_end(p, p->rcv_nxt);
	if (p->reneges && rude(p, 0.03))
		renege(p);
}

static void choose_window(struct foreign_peer *p)
{
	static const uint32_t below[] = {1, 3000, 12000, 3 * WINDOW_MAX, 3 * WINDOW_MAX};
	uint32_t window = 65535u << p->wscale;

	if (p->reads_last && p->calm && p->snd_una < p->snd_end)
		window = 0;
	if (!p->calm)
		window = least(WINDOW_MAX,
			(uint32_t)prng_below(p->random, below[prng_below(p->random, 5)]));
	if (p->takes_back || p->rcv_nxt + window > p->rcv_edge)
		p->rcv_edge = p->rcv_nxt + window;
}

/* ---- what it sends -------------------------------------------------------------------------- */

struct sack_option {
	unsigned n, room;
	size_t len;
	char text[160];
};

static void add_block(struct sack_option *o, uint32_t left, uint32_t right)
{
	if (o->n < o->room)
		o->len += (size_t)snprintf(o->text + o->len, sizeof o->text - o->len, "%s%u:%u",
			o->n++ ? " " : " <sack ", left, right);
}

/** RFC 2883 section 4, RFC 2018 section 4: what came twice, the newest block, others. */
static void add_blocks(struct foreign_peer *p, struct sack_option *o)
{
	uint32_t newest = 0, right;

	if (p->dup_left != p->dup_right)
		add_block(o, p->dup_left, p->dup_right);
	p->dup_left = p->dup_right = 0;
	if (p->rcv_newest > p->rcv_nxt && p->rcv_has[p->rcv_newest]) {
		newest = island_begin(p, p->rcv_newest);
		add_block(o, newest, island_end(p, newest));
	}
	for (uint32_t left = p->rcv_nxt; left < p->rcv_high && o->n < o->room; left = right) {
		const uint8_t *at = memchr(p->rcv_has + left, 1, p->rcv_high - left);

		left = (uint32_t)(at - p->rcv_has);
		right = island_end(p, left);
		if (left != newest)
			add_block(o, left, right);
	}
	if (o->n)
		strcpy(o->text + o->len, ">");
}

static struct seg segment(const struct foreign_peer *p, const char *text)
{
	struct seg s;
	const char *error = seg_parse_text(text, &p->base, &s);

	assert(!error);
	if (p->timestamps)
		seg_add_timestamp(&s, p->ts_clock + (uint32_t)(p->now / MS), p->ts_recent);
	return s;
}

size_t foreign_peer_syn(const struct foreign_peer *p, uint8_t *packet)
{
	char text[100], scale[12] = "";
	struct seg s;

	if (p->scales)
		snprintf(scale, sizeof scale, ",ws %u", p->wscale);
	snprintf(text, sizeof text, "S 0 win %u <mss %u%s%s>", WINDOW_MAX, p->mss,
		p->sack ? ",sackOK" : "", scale);
	s = segment(p, text);
	return seg_build(&s, &p->to_host, NULL, packet);
}

static void send_segment(struct foreign_peer *p, uint32_t seq, uint32_t len)
{
	struct sack_option sack = {.room = p->sack ? p->timestamps ? 3 : 4 : 0};
	uint32_t window = least(65535u, (p->rcv_edge - p->rcv_nxt) >> p->wscale);
	bool fin = len && seq + len == p->snd_end;
	uint8_t packet[2000];
	char text[300];
	struct seg s;

	/* In units of the scale it may be a little less. */
	if (p->takes_back)
		p->rcv_edge = p->rcv_nxt + (window << p->wscale);
	p->rcv_told = most(p->rcv_told, p->rcv_nxt + (window << p->wscale));
	add_blocks(p, &sack);
	snprintf(text, sizeof text, "%s %u:%u ack %u win %u%s", fin ? "F." : ".", seq,
		seq + len - fin, p->rcv_nxt, window, sack.text);
	s = segment(p, text);
	foreign_path_send(
		p->path, p->now, true, packet, seg_build(&s, &p->to_host, p->text + seq, packet));
}

static void send_ack(struct foreign_peer *p)
{
	send_segment(p, p->snd_max, 0);
}

static void send_text(struct foreign_peer *p)
{
	uint32_t edge = least(least(p->snd_end, p->snd_edge), p->snd_una + FLIGHT_MAX);

	while (p->snd_nxt < edge) {
		uint32_t n = least(p->mss, edge - p->snd_nxt);

		if (rude(p, 0.3))
			n = 1 + (uint32_t)prng_below(p->random, n);
		send_segment(p, p->snd_nxt, n);
		p->snd_nxt += n;
		p->snd_max = most(p->snd_max, p->snd_nxt);
	}
}

static void set_timeout(struct foreign_peer *p)
{
	p->rto_at = p->snd_una < p->snd_end ? p->now + p->rto : UINT64_MAX;
}

void foreign_peer_timeout(struct foreign_peer *p, uint64_t now)
{
	p->now = now;
	p->rto = 2 * p->rto < RTO_MAX ? 2 * p->rto : RTO_MAX;
	set_timeout(p);
	p->snd_nxt = p->snd_una;
	if (p->snd_una == p->snd_edge)
		send_segment(p, p->snd_una - 1, 0); /* asks for the window */
	else
		send_text(p);
}

void foreign_peer_window(struct foreign_peer *p, uint64_t now, bool tells)
{
	p->now = now;
	choose_window(p);
	if (tells)
		send_ack(p);
}

/* ---- SEGMENT ARRIVES ------------------------------------------------------------------------ */

static void take_syn(struct foreign_peer *p, const struct seg *s)
{
	if (!p->established) {
		p->established = true;
		p->base.ack = s->seq;
		p->timestamps = p->timestamps && (s->has & HAS_TS);
		p->sack = p->sack && (s->has & HAS_SACK_OK);
		p->scales = p->scales && (s->has & HAS_WS);
		p->wscale = p->scales ? p->wscale : 0;
		p->snd_wscale = p->scales ? s->ws : 0;
		p->mss = (uint16_t)(s->mss - 12);
		p->ts_recent = s->tsval;
		p->snd_edge = 1 + s->win;
		set_timeout(p);
	}
	send_ack(p);
	send_text(p);
}

/** What the host must never do, whatever was lost. */
static void check_segment(struct foreign_peer *p, const struct seg *s, uint32_t seq)
{
	uint32_t fin = p->rcv_end - 1, right = seq + s->len;

	if (seq > p->rcv_end || (s->len && (seq >= fin || s->len > fin - seq)))
		wrong(p, "the host sends more than its user wrote");
	else if (memcmp(s->text, p->host_text + seq, s->len))
		wrong(p, "the host sends other text than its user wrote");
	else if ((s->flags & FIN) && right != fin)
		wrong(p, "the host's FIN is in the wrong place");
	else if (s->len && right > p->rcv_told)
		wrong(p, "the host sends beyond each window that it was told");
	else if (s->ack - p->base.seq > p->snd_max)
		wrong(p, "the host acknowledges what was not sent");
	else if (p->timestamps && !(s->has & HAS_TS))
		wrong(p, "a time stamp is missing");
}

/** RFC 9293 section 3.10.7.4. */
static bool is_acceptable(const struct foreign_peer *p, uint32_t seq, uint32_t len)
{
	if (p->rcv_edge == p->rcv_nxt)
		return !len && seq == p->rcv_nxt;
	/* As Linux, it takes an ACK at the edge, where a host is that has filled the window. */
	if (!len)
		return seq >= p->rcv_nxt && seq <= p->rcv_edge;
	return seq < p->rcv_edge && seq + len > p->rcv_nxt;
}

static void take_ack(struct foreign_peer *p, const struct seg *s)
{
	uint32_t ack = s->ack - p->base.seq;

	p->snd_edge = most(p->snd_edge, ack + ((uint32_t)s->win << p->snd_wscale));
	if (ack > p->snd_una) {
		p->snd_una = ack;
		p->snd_nxt = most(p->snd_nxt, ack);
		p->rto = RTO_MIN;
		set_timeout(p);
	}
	send_text(p);
}

static void segment_arrives(struct foreign_peer *p, const struct seg *s, uint32_t seq)
{
	uint32_t len = s->len + ((s->flags & FIN) != 0);
	bool old = p->timestamps && (int32_t)(s->tsval - p->ts_recent) < 0; /* RFC 7323 5.3 */
	bool acceptable = !old && is_acceptable(p, seq, len);
	bool closed = p->rcv_edge == p->rcv_nxt && seq == p->rcv_nxt;

	if (s->len && is_here(p, seq, seq + s->len)) {
		p->dup_left = seq;
		p->dup_right = seq + s->len;
	}
	if (acceptable || (!old && closed && p->acks_when_closed)) {
		if (seq <= p->rcv_nxt)
			p->ts_recent = s->tsval;
		take_ack(p, s);
	}
	if (acceptable && len)
		take_text(p, seq, seq + len);
	if (!acceptable || len) {
		choose_window(p);
		send_ack(p);
	}
}

void foreign_peer_input(struct foreign_peer *p, uint64_t now, const uint8_t *packet, size_t len)
{
	struct seg_path from;
	struct seg s;
	const char *error = seg_parse_packet(packet, len, &from, &s);

	p->now = now;
	if (error) {
		wrong(p, error);
	} else if (s.flags & RST) {
		p->reset = true;
	} else if (s.flags & SYN) {
		take_syn(p, &s);
	} else {
		check_segment(p, &s, s.seq - p->base.ack);
		if (!p->wrong)
			segment_arrives(p, &s, s.seq - p->base.ack);
	}
}
