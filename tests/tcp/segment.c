/* SPDX-License-Identifier: BSD-2-Clause */
#include "segment.h"

#include "support/plain_sum.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { OPT_EOL, OPT_NOP, OPT_MSS, OPT_WS, OPT_SACK_OK, OPT_SACK, OPT_TS = 8 };
enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_ICMPV6 = 58 };

static uint32_t be(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static void put(uint8_t *p, unsigned n, uint32_t v)
{
	while (n--) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

/* ---- from text ------------------------------------------------------------------------------ */

/** What is left of a text. */
struct reader {
	const char *p;
	const struct seg_base *base;
	const char *error;
};

static bool word_is(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	while (*r->p == ' ')
		r->p++;
	if (strncmp(r->p, word, n) || isalnum((unsigned char)r->p[n]) || r->p[n] == '-')
		return false;
	r->p += n;
	return true;
}

static bool mark_is(struct reader *r, char c)
{
	while (*r->p == ' ')
		r->p++;
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

static uint32_t number(struct reader *r)
{
	char *end;
	long long v = strtoll(r->p, &end, 0);

	if (end == r->p)
		r->error = "a number is missing";
	r->p = end;
	return (uint32_t)v;
}

/** A sequence number. @p wire, if not NULL, tells whether it was one of the wire. */
static uint32_t sequence(struct reader *r, uint32_t base, bool *wire)
{
	bool raw = mark_is(r, '=');

	if (wire)
		*wire = raw;
	return number(r) + (raw ? 0 : base);
}

static void read_flags(struct reader *r, struct seg *s)
{
	static const char letters[] = "FSRP.UEC";

	while (*r->p == ' ')
		r->p++;
	for (; *r->p && *r->p != ' '; r->p++) {
		const char *at = strchr(letters, *r->p);

		if (*r->p == '-')
			continue;
		if (!at) {
			r->error = "no such flag";
			return;
		}
		s->flags |= (uint8_t)(1 << (at - letters));
	}
	if (s->flags & PSH)
		s->has |= HAS_PSH;
}

static uint8_t *option(struct seg *s, struct reader *r, unsigned n)
{
	static uint8_t nowhere[40];

	if (s->n_options + n > sizeof s->options) {
		r->error = "options do not fit";
		return nowhere;
	}
	s->n_options += n;
	return s->options + s->n_options - n;
}

static void sized_option(struct seg *s, struct reader *r, uint8_t kind, unsigned n, uint32_t v)
{
	uint8_t *o = option(s, r, n);

	o[0] = kind;
	o[1] = (uint8_t)n;
	put(o + 2, n - 2, v);
}

static void read_timestamp(struct reader *r, struct seg *s)
{
	s->has |= HAS_TS;
	if (!mark_is(r, '.')) {
		s->tsval = number(r);
		s->has |= HAS_TSVAL;
	}
	if (!mark_is(r, '.')) {
		s->tsecr = number(r);
		s->has |= HAS_TSECR;
	}
	if ((s->has & (HAS_TSVAL | HAS_TSECR)) == (HAS_TSVAL | HAS_TSECR)) {
		uint8_t *o = option(s, r, 10);

		o[0] = OPT_TS;
		o[1] = 10;
		put(o + 2, 4, s->tsval);
		put(o + 6, 4, s->tsecr);
	}
}

static void read_sack(struct reader *r, struct seg *s)
{
	uint8_t *o = option(s, r, 2);
	unsigned n = 0;

	while (*r->p == ' ')
		r->p++;
	while (isdigit((unsigned char)*r->p) || *r->p == '-' || *r->p == '=') {
		uint8_t *b = option(s, r, 8);

		if (n == SEG_SACK_MAX) {
			r->error = "too many SACK blocks";
			return;
		}
		s->sack[n].left = sequence(r, r->base->ack, NULL);
		if (!mark_is(r, ':'))
			r->error = "a SACK block is left:right";
		s->sack[n].right = sequence(r, r->base->ack, NULL);
		put(b, 4, s->sack[n].left);
		put(b + 4, 4, s->sack[n].right);
		n++;
		while (*r->p == ' ')
			r->p++;
	}
	s->n_sack = (uint8_t)n;
	o[0] = OPT_SACK;
	o[1] = (uint8_t)(2 + 8 * n);
}

static void read_raw(struct reader *r, struct seg *s)
{
	while (*r->p == ' ')
		r->p++;
	while (isxdigit((unsigned char)r->p[0]) && isxdigit((unsigned char)r->p[1])) {
		const char hex[3] = {r->p[0], r->p[1]};

		*option(s, r, 1) = (uint8_t)strtoul(hex, NULL, 16);
		r->p += 2;
		while (*r->p == ' ')
			r->p++;
	}
}

static void read_option(struct reader *r, struct seg *s)
{
	if (word_is(r, "mss")) {
		s->mss = (uint16_t)number(r);
		s->has |= HAS_MSS;
		sized_option(s, r, OPT_MSS, 4, s->mss);
	} else if (word_is(r, "ws")) {
		s->ws = (uint8_t)number(r);
		s->has |= HAS_WS;
		sized_option(s, r, OPT_WS, 3, s->ws);
	} else if (word_is(r, "sackOK")) {
		s->has |= HAS_SACK_OK;
		sized_option(s, r, OPT_SACK_OK, 2, 0);
	} else if (word_is(r, "ts")) {
		read_timestamp(r, s);
	} else if (word_is(r, "no-ts")) {
		s->has |= HAS_NO_TS;
	} else if (word_is(r, "sack")) {
		read_sack(r, s);
	} else if (word_is(r, "nop")) {
		*option(s, r, 1) = OPT_NOP;
	} else if (word_is(r, "eol")) {
		*option(s, r, 1) = OPT_EOL;
	} else if (word_is(r, "raw")) {
		read_raw(r, s);
	} else {
		r->error = "no such option";
	}
}

static void read_field(struct reader *r, struct seg *s)
{
	static const char *const ecn[] = {"not-ect", "ect1", "ect0", "ce"};
	bool wire;

	for (uint8_t i = 0; i < 4; i++)
		if (word_is(r, ecn[i])) {
			s->ecn = i;
			s->has |= HAS_ECN;
			return;
		}
	if (word_is(r, "ack")) {
		s->ack = sequence(r, r->base->ack, &wire);
		s->has |= HAS_ACK | (wire ? HAS_ACK_WIRE : 0);
	} else if (word_is(r, "win")) {
		s->win = (uint16_t)number(r);
		s->has |= HAS_WIN;
	} else if (word_is(r, "urg")) {
		s->urg = (uint16_t)number(r);
	} else if (word_is(r, "other")) {
		s->has |= HAS_OTHER;
	} else if (word_is(r, "badsum")) {
		s->has |= HAS_BADSUM;
	} else if (word_is(r, "doff")) {
		s->doff = (uint8_t)number(r);
		s->has |= HAS_DOFF;
	} else if (mark_is(r, '<')) {
		do
			read_option(r, s);
		while (!r->error && mark_is(r, ','));
		if (!r->error && !mark_is(r, '>'))
			r->error = "the options do not end";
	} else {
		r->error = "no such field";
	}
}

const char *seg_parse_text(const char *text, const struct seg_base *base, struct seg *out)
{
	struct reader r = {text, base, NULL};
	bool wire;

	*out = (struct seg){0};
	read_flags(&r, out);
	out->seq = sequence(&r, base->seq, &wire);
	out->has |= wire ? HAS_SEQ_WIRE : 0;
	if (mark_is(&r, ':'))
		out->len = sequence(&r, base->seq, NULL) - out->seq;
	while (!r.error) {
		while (*r.p == ' ')
			r.p++;
		if (!*r.p)
			break;
		read_field(&r, out);
	}
	return r.error;
}

bool seg_add_timestamp(struct seg *s, uint32_t val, uint32_t ecr)
{
	if (s->n_options + 12 > sizeof s->options)
		return false;
	memmove(s->options + 12, s->options, s->n_options);
	s->n_options += 12;
	s->options[0] = s->options[1] = OPT_NOP;
	s->options[2] = OPT_TS;
	s->options[3] = 10;
	put(s->options + 4, 4, val);
	put(s->options + 8, 4, ecr);
	s->tsval = val;
	s->tsecr = ecr;
	s->has |= HAS_TS;
	return true;
}

/* ---- to packets ----------------------------------------------------------------------------- */

static size_t ip_header_len(const uint8_t *packet)
{
	return packet[0] >> 4 == 4 ? (packet[0] & 15u) * 4u : 40;
}

static uint8_t ip_proto(const uint8_t *packet)
{
	return packet[packet[0] >> 4 == 4 ? 9 : 6];
}

/** Over the pseudo header, where there is one, and the payload. */
static uint16_t payload_sum(const uint8_t *packet, size_t len)
{
	size_t h = ip_header_len(packet);
	uint8_t proto = ip_proto(packet);
	uint32_t sum = 0;

	if (proto != PROTO_ICMP) {
		sum = proto + (uint32_t)(len - h);
		sum = packet[0] >> 4 == 4 ? plain_sum(packet + 12, 8, sum)
					  : plain_sum(packet + 8, 32, sum);
	}
	return (uint16_t)plain_sum(packet + h, len - h, sum);
}

void packet_finish(uint8_t *packet, size_t len)
{
	size_t h = ip_header_len(packet);
	uint8_t *field = packet + h + (ip_proto(packet) == PROTO_TCP ? 16 : 2);

	if (packet[0] >> 4 == 4) {
		put(packet + 10, 2, 0);
		put(packet + 10, 2, (uint16_t)~plain_sum(packet, h, 0));
	}
	put(field, 2, 0);
	put(field, 2, (uint16_t)~payload_sum(packet, len));
}

size_t packet_ip_header(
	const struct seg_path *p, uint8_t proto, size_t payload, uint8_t ecn, uint8_t *out)
{
	if (p->family == AF_INET) {
		memset(out, 0, 20);
		out[0] = 0x45;
		out[1] = ecn;
		put(out + 2, 2, (uint32_t)(20 + payload));
		out[6] = 0x40; /* DF */
		out[8] = 64;
		out[9] = proto;
		memcpy(out + 12, p->src, 4);
		memcpy(out + 16, p->dst, 4);
		return 20;
	}
	memset(out, 0, 40);
	put(out, 4, 6u << 28 | (uint32_t)ecn << 20);
	put(out + 4, 2, (uint32_t)payload);
	out[6] = proto;
	out[7] = 64;
	memcpy(out + 8, p->src, 16);
	memcpy(out + 24, p->dst, 16);
	return 40;
}

size_t seg_build(const struct seg *s, const struct seg_path *p, const uint8_t *text, uint8_t *out)
{
	unsigned header = 20 + (s->n_options + 3) / 4 * 4;
	size_t h = packet_ip_header(p, PROTO_TCP, header + s->len, s->ecn, out);
	uint8_t *t = out + h;

	memset(t, 0, header);
	put(t, 2, p->sport);
	put(t + 2, 2, p->dport);
	put(t + 4, 4, s->seq);
	put(t + 8, 4, s->ack);
	t[12] = (uint8_t)((s->has & HAS_DOFF ? s->doff : header / 4) << 4);
	t[13] = s->flags;
	put(t + 14, 2, s->win);
	put(t + 18, 2, s->urg);
	memcpy(t + 20, s->options, s->n_options);
	if (s->len)
		memcpy(t + header, text, s->len);
	packet_finish(out, h + header + s->len);
	if (s->has & HAS_BADSUM)
		t[16] ^= 0x55;
	return h + header + s->len;
}

static const char *parse_option(const uint8_t *o, unsigned len, struct seg *s)
{
	switch (o[0]) {
	case OPT_MSS:
		s->mss = (uint16_t)be(o + 2, 2);
		s->has |= HAS_MSS;
		return len == 4 ? NULL : "MSS option of a wrong length";
	case OPT_WS:
		s->ws = o[2];
		s->has |= HAS_WS;
		return len == 3 ? NULL : "window scale option of a wrong length";
	case OPT_SACK_OK:
		s->has |= HAS_SACK_OK;
		return len == 2 ? NULL : "SACK-permitted option of a wrong length";
	case OPT_SACK:
		if (len < 10 || (len - 2) % 8)
			return "SACK option of a wrong length";
		s->n_sack = (uint8_t)((len - 2) / 8);
		for (unsigned i = 0; i < s->n_sack; i++) {
			s->sack[i].left = be(o + 2 + 8 * i, 4);
			s->sack[i].right = be(o + 6 + 8 * i, 4);
		}
		return NULL;
	case OPT_TS:
		if (len != 10)
			return "timestamp option of a wrong length";
		s->tsval = be(o + 2, 4);
		s->tsecr = be(o + 6, 4);
		s->has |= HAS_TS | HAS_TSVAL | HAS_TSECR;
		return NULL;
	default:
		return "an option that nobody asked for";
	}
}

static const char *parse_options(const uint8_t *o, unsigned left, struct seg *s)
{
	while (left) {
		const char *error;

		if (o[0] == OPT_EOL)
			return NULL;
		if (o[0] == OPT_NOP) {
			o++;
			left--;
			continue;
		}
		if (left < 2 || o[1] < 2 || o[1] > left)
			return "an option's length is wrong";
		error = parse_option(o, o[1], s);
		if (error)
			return error;
		left -= o[1];
		o += o[1];
	}
	return NULL;
}

static const char *parse_ip(const uint8_t *packet, size_t len, struct seg_path *p, struct seg *s)
{
	bool v4 = packet[0] >> 4 == 4;
	unsigned n = v4 ? 4 : 16;

	p->family = v4 ? AF_INET : AF_INET6;
	if (v4 ? len < 20 || be(packet + 2, 2) != len
	       : packet[0] >> 4 != 6 || len < 40 || be(packet + 4, 2) != len - 40)
		return "the IP length is wrong";
	if (v4 && plain_sum(packet, ip_header_len(packet), 0) != 0xffff)
		return "the IP checksum is wrong";
	s->ecn = v4 ? packet[1] & 3 : packet[1] >> 4 & 3;
	memcpy(p->src, packet + (v4 ? 12 : 8), n);
	memcpy(p->dst, packet + (v4 ? 16 : 24), n);
	return ip_proto(packet) == PROTO_TCP ? NULL : "not TCP";
}

const char *seg_parse_packet(const uint8_t *packet, size_t len, struct seg_path *p, struct seg *out)
{
	const uint8_t *t = packet + ip_header_len(packet);
	const char *error;
	unsigned header;

	*out = (struct seg){0};
	*p = (struct seg_path){0};
	error = parse_ip(packet, len, p, out);
	if (error)
		return error;
	if (payload_sum(packet, len) != 0xffff)
		return "the TCP checksum is wrong";
	len -= ip_header_len(packet);
	header = len < 20 ? 0 : (t[12] >> 4) * 4u;
	if (header < 20 || header > len)
		return "the TCP header's length is wrong";
	p->sport = (uint16_t)be(t, 2);
	p->dport = (uint16_t)be(t + 2, 2);
	out->seq = be(t + 4, 4);
	out->ack = be(t + 8, 4);
	out->flags = t[13];
	out->win = (uint16_t)be(t + 14, 2);
	out->urg = (uint16_t)be(t + 18, 2);
	out->has = HAS_WIN | HAS_ACK;
	out->text = t + header;
	out->len = (uint32_t)len - header;
	out->n_options = header - 20;
	memcpy(out->options, t + 20, out->n_options);
	return parse_options(t + 20, header - 20, out);
}

/* ---- to text -------------------------------------------------------------------------------- */

struct writer {
	char *p;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct writer *w, const char *fmt, ...)
{
	va_list v;
	int n;

	va_start(v, fmt);
	n = vsnprintf(w->p, w->left, fmt, v);
	va_end(v);
	if (n > 0 && (size_t)n < w->left) {
		w->p += n;
		w->left -= (size_t)n;
	}
}

static void add_options(struct writer *w, const struct seg *s, const struct seg_base *base)
{
	const char *sep = " <";

	if (s->has & HAS_MSS) {
		add(w, "%smss %u", sep, s->mss);
		sep = ",";
	}
	if (s->has & HAS_SACK_OK) {
		add(w, "%ssackOK", sep);
		sep = ",";
	}
	if (s->has & HAS_TS) {
		add(w, "%sts %u %u", sep, s->tsval, s->tsecr);
		sep = ",";
	}
	if (s->has & HAS_WS) {
		add(w, "%sws %u", sep, s->ws);
		sep = ",";
	}
	for (unsigned i = 0; i < s->n_sack; i++) {
		add(w, "%s%d:%d",
			i               ? " "
			: sep[0] == ',' ? ",sack "
					: " <sack ",
			(int32_t)(s->sack[i].left - base->ack),
			(int32_t)(s->sack[i].right - base->ack));
		sep = ",";
	}
	if (sep[0] == ',')
		add(w, ">");
}

void seg_format(const struct seg *s, const struct seg_base *base, char *buf, size_t len)
{
	static const char letters[] = "FSRP.UEC";
	static const char *const ecn[] = {"", " ect1", " ect0", " ce"};
	struct writer w = {buf, len};

	for (unsigned i = 0; i < 8; i++)
		if (s->flags & 1 << i)
			add(&w, "%c", letters[i]);
	add(&w, " %d", (int32_t)(s->seq - base->seq));
	if (s->len)
		add(&w, ":%d", (int32_t)(s->seq + s->len - base->seq));
	if (s->flags & ACK)
		add(&w, " ack %d", (int32_t)(s->ack - base->ack));
	add(&w, " win %u%s", s->win, ecn[s->ecn]);
	add_options(&w, s, base);
}
