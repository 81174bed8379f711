/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/statement.h"

#include "base/hex.h"
#include "base/number.h"
#include "esp/window.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64
#define SPI_MIN   256 /* RFC 4303 section 2.1 */

/** The words of a line, and where we are among them. */
struct esp_line {
	char *word[WORDS_MAX];
	unsigned n, at;
	struct esp_statement *s;
	char *why;
	size_t size;
};

/** One parameter: its name, and what takes the words behind it. */
struct esp_parameter {
	const char *name;
	bool (*take)(struct esp_line *l);
};

/** Always false. */
__attribute__((format(printf, 2, 3))) static bool esp_refuse(
	struct esp_line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, l->size, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- words --------------------------------------------------------------------------------- */

/** Cut @p text into words, as a shell would: quotes hold together, '#' begins a comment. */
static bool esp_line_split(struct esp_line *l, char *text)
{
	for (;;) {
		char *end;

		text += strspn(text, " \t\r\n");
		if (*text == '\0' || *text == '#')
			return true;
		if (l->n == WORDS_MAX)
			return esp_refuse(l, "expected at most %u words", WORDS_MAX);
		if (*text == '\'' || *text == '"') {
			end = strchr(text + 1, *text);
			if (!end || !strchr(" \t\r\n", end[1]))
				return esp_refuse(l, "a quote is not closed");
			text++;
		} else {
			end = text + strcspn(text, " \t\r\n");
		}
		l->word[l->n++] = text;
		if (*end == '\0')
			return true;
		*end = '\0';
		text = end + 1;
	}
}

/** @return the next word; NULL: that was all. */
static const char *esp_next(struct esp_line *l)
{
	return l->at < l->n ? l->word[l->at++] : NULL;
}

/** @return true if the next word is @p word: then it is taken. */
static bool esp_next_is(struct esp_line *l, const char *word)
{
	if (l->at == l->n || strcmp(l->word[l->at], word) != 0)
		return false;
	l->at++;
	return true;
}

static bool esp_number(
	struct esp_line *l, const char *of, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *w = esp_next(l);

	if (w && w[0] == '0' && w[1] == 'x') {
		char *end;

		errno = 0;
		*out = strtoull(w + 2, &end, 16);
		if (w[2] != '\0' && strspn(w + 2, "0123456789abcdefABCDEF") == strlen(w + 2) &&
			errno == 0 && *out >= min && *out <= max)
			return true;
	} else if (w && number_parse(w, min, max, out)) {
		return true;
	}
	return esp_refuse(l, "expected a number from %llu to %llu behind \"%s\"",
		(unsigned long long)min, (unsigned long long)max, of);
}

static bool esp_number_u32(struct esp_line *l, const char *of, uint32_t min, uint32_t *out)
{
	uint64_t v;

	if (!esp_number(l, of, min, UINT32_MAX, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool esp_port(struct esp_line *l, const char *of, uint16_t *out)
{
	uint64_t v;

	if (!esp_number(l, of, 1, UINT16_MAX, &v))
		return false;
	*out = (uint16_t)v;
	return true;
}

static bool esp_address(struct esp_line *l, const char *of, struct ip_addr *out)
{
	const char *w = esp_next(l);

	if (!w || ip_addr_parse(w, out) != 0)
		return esp_refuse(l, "expected an address behind \"%s\"", of);
	return true;
}

/** @return true: the next word is one of the two, and @p out says that it is @p yes. */
static bool esp_choice(
	struct esp_line *l, const char *of, const char *no, const char *yes, bool *out)
{
	const char *w = esp_next(l);

	if (!w || (strcmp(w, no) != 0 && strcmp(w, yes) != 0))
		return esp_refuse(l, "expected %s or %s behind \"%s\"", no, yes, of);
	*out = strcmp(w, yes) == 0;
	return true;
}

/** Take parameters of @p list until one is met that is not in it. */
static bool esp_take_all(struct esp_line *l, const struct esp_parameter *list)
{
	while (l->at < l->n) {
		const struct esp_parameter *p = list;

		while (p->name && strcmp(p->name, l->word[l->at]) != 0)
			p++;
		if (!p->name)
			return true;
		l->at++;
		if (!p->take(l))
			return false;
	}
	return true;
}

/** What is left over belongs nowhere. */
static bool esp_all_taken(struct esp_line *l)
{
	/* It may be a key in a wrong place: not a word of it. */
	return l->at == l->n ||
	       esp_refuse(l, "word %u belongs to no parameter that is known here", l->at + 1);
}

/* ---- selectors ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t number;
} esp_protocols[] = {
	{"any", 0}, {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"ipv6-icmp", 58}, {"icmpv6", 58}};

static bool esp_protocol(struct esp_line *l, uint8_t *out)
{
	const char *w = esp_next(l);
	uint64_t v;

	for (size_t i = 0; w && i < sizeof esp_protocols / sizeof esp_protocols[0]; i++) {
		if (strcmp(w, esp_protocols[i].name) == 0) {
			*out = esp_protocols[i].number;
			return true;
		}
	}
	if (!w || !number_parse(w, 0, UINT8_MAX, &v))
		return esp_refuse(l,
			"expected tcp, udp, icmp, ipv6-icmp, any or a number of at most "
			"255 behind \"proto\"");
	*out = (uint8_t)v;
	return true;
}

static bool esp_prefix(struct esp_line *l, const char *of, struct ip_addr *a, unsigned *len)
{
	const char *w = esp_next(l);

	if (!w || ip_addr_parse_cidr(w, a, len) != 0)
		return esp_refuse(l, "expected an address or ADDRESS/PREFIX behind \"%s\"", of);
	return true;
}

/** The selector at the present place, in any order of its parameters. */
static bool esp_selector_take(struct esp_line *l, struct esp_selector *s)
{
	bool src = false, dst = false, ok = true;

	*s = (struct esp_selector){.proto = 0};
	while (ok) {
		if (esp_next_is(l, "src"))
			ok = src = esp_prefix(l, "src", &s->src, &s->src_len);
		else if (esp_next_is(l, "dst"))
			ok = dst = esp_prefix(l, "dst", &s->dst, &s->dst_len);
		else if (esp_next_is(l, "proto"))
			ok = esp_protocol(l, &s->proto);
		else if (esp_next_is(l, "sport"))
			ok = esp_port(l, "sport", &s->src_port);
		else if (esp_next_is(l, "dport"))
			ok = esp_port(l, "dport", &s->dst_port);
		else
			break;
	}
	if (!ok)
		return false;
	if (!src || !dst)
		return esp_refuse(l, "a selector has \"src\" and \"dst\"");
	if (ip_addr_is_v4(&s->src) != ip_addr_is_v4(&s->dst))
		return esp_refuse(l, "the selector's \"src\" and \"dst\" are of two families");
	if ((s->src_port || s->dst_port) && s->proto != 6 && s->proto != 17)
		return esp_refuse(l, "a selector has ports only with \"proto\" tcp or udp");
	return true;
}

/* ---- state --------------------------------------------------------------------------------- */

static bool esp_state_src(struct esp_line *l)
{
	return esp_address(l, "src", &l->s->state.src);
}

static bool esp_state_dst(struct esp_line *l)
{
	return esp_address(l, "dst", &l->s->state.dst);
}

static bool esp_take_proto_esp(struct esp_line *l)
{
	return esp_next_is(l, "esp") || esp_refuse(l, "expected esp behind \"proto\"");
}

static bool esp_state_spi(struct esp_line *l)
{
	return esp_number_u32(l, "spi", SPI_MIN, &l->s->state.spi);
}

static bool esp_state_reqid(struct esp_line *l)
{
	return esp_number_u32(l, "reqid", 0, &l->s->state.reqid);
}

static bool esp_state_mode(struct esp_line *l)
{
	return esp_choice(l, "mode", "transport", "tunnel", &l->s->state.tunnel);
}

static bool esp_state_window(struct esp_line *l)
{
	if (!esp_number_u32(l, "replay-window", 0, &l->s->state.window))
		return false;
	if (l->s->state.window > ESP_WINDOW_MAX ||
		(l->s->state.window != 0 && l->s->state.window < ESP_WINDOW_MIN))
		return esp_refuse(l,
			"expected 0, or a number from %u to %u, behind "
			"\"replay-window\"",
			ESP_WINDOW_MIN, ESP_WINDOW_MAX);
	return true;
}

static bool esp_state_flag(struct esp_line *l)
{
	l->s->state.esn = true;
	return esp_next_is(l, "esn") || esp_refuse(l, "expected esn behind \"flag\"");
}

/** RFC 4106 section 8.1: the key, and behind it the salt. */
static bool esp_state_key(struct esp_line *l, const char *w)
{
	struct esp_state *s = &l->s->state;
	size_t len = w && w[0] == '0' && w[1] == 'x' ? strlen(w + 2) : 0;

	if (len != 2 * (16 + ESP_SALT_LEN) && len != 2 * (32 + ESP_SALT_LEN))
		return esp_refuse(l, "expected a key of 0x and 40 or 72 hexadecimal digits: an "
				     "AES key and the salt of 4 octets");
	s->key_len = len / 2 - ESP_SALT_LEN;
	if (!hex_octets(w + 2, s->key_len, s->key) ||
		!hex_octets(w + 2 + 2 * s->key_len, ESP_SALT_LEN, s->salt))
		return esp_refuse(l, "the key has other than hexadecimal digits");
	return true;
}

static bool esp_state_aead(struct esp_line *l)
{
	const char *name = esp_next(l), *key = esp_next(l);
	uint64_t bits;

	if (!name || strcmp(name, "rfc4106(gcm(aes))") != 0)
		return esp_refuse(l, "expected 'rfc4106(gcm(aes))' behind \"aead\"");
	return esp_state_key(l, key) && esp_number(l, "the key", 128, 128, &bits);
}

/** RFC 3948. The original address is for NAT, and is not looked at. */
static bool esp_state_encap(struct esp_line *l)
{
	struct esp_state *s = &l->s->state;
	struct ip_addr original;

	if (!esp_next_is(l, "espinudp"))
		return esp_refuse(l, "expected espinudp behind \"encap\"");
	s->udp = true;
	return esp_port(l, "espinudp", &s->udp_src) && esp_port(l, "espinudp", &s->udp_dst) &&
	       esp_address(l, "encap", &original);
}

static bool esp_state_selector(struct esp_line *l)
{
	l->s->state.has_selector = true;
	return esp_selector_take(l, &l->s->state.selector);
}

static bool esp_state_limit(struct esp_line *l)
{
	struct esp_state *s = &l->s->state;

	if (esp_next_is(l, "packet-hard"))
		return esp_number(l, "packet-hard", 1, UINT64_MAX, &s->max_packets);
	if (esp_next_is(l, "byte-hard"))
		return esp_number(l, "byte-hard", 1, UINT64_MAX, &s->max_octets);
	return esp_refuse(l, "expected packet-hard or byte-hard behind \"limit\"");
}

static bool esp_state_is_whole(struct esp_line *l)
{
	const struct esp_state *s = &l->s->state;

	if (s->key_len == 0 || s->spi == 0)
		return esp_refuse(l, "\"%s\" is missing", s->spi ? "aead" : "spi");
	if (ip_addr_is_v4(&s->src) != ip_addr_is_v4(&s->dst))
		return esp_refuse(l, "\"src\" and \"dst\" are of two families");
	if (ip_addr_is_any(&s->src) || ip_addr_is_any(&s->dst) || ip_addr_is_multicast(&s->src) ||
		ip_addr_is_multicast(&s->dst))
		return esp_refuse(l, "expected \"src\" and \"dst\", each the address of a host");
	if (s->esn && s->window == 0)
		return esp_refuse(
			l, "\"flag esn\" needs a \"replay-window\" (RFC 4303 appendix A)");
	return true;
}

static bool esp_take_state(struct esp_line *l)
{
	static const struct esp_parameter list[] = {{"src", esp_state_src}, {"dst", esp_state_dst},
		{"proto", esp_take_proto_esp}, {"spi", esp_state_spi}, {"reqid", esp_state_reqid},
		{"mode", esp_state_mode}, {"replay-window", esp_state_window},
		{"flag", esp_state_flag}, {"aead", esp_state_aead}, {"encap", esp_state_encap},
		{"sel", esp_state_selector}, {"limit", esp_state_limit}, {0}};

	l->s->kind = ESP_STATEMENT_STATE;
	return esp_take_all(l, list) && esp_all_taken(l) && esp_state_is_whole(l);
}

/* ---- policy -------------------------------------------------------------------------------- */

static bool esp_policy_priority(struct esp_line *l)
{
	return esp_number_u32(l, "priority", 0, &l->s->policy.priority);
}

static bool esp_policy_action(struct esp_line *l)
{
	bool block = false;

	if (!esp_choice(l, "action", "allow", "block", &block))
		return false;
	if (block)
		l->s->policy.action = ESP_DISCARD;
	return true;
}

static bool esp_tmpl_src(struct esp_line *l)
{
	return esp_address(l, "src", &l->s->policy.tmpl.src);
}

static bool esp_tmpl_dst(struct esp_line *l)
{
	return esp_address(l, "dst", &l->s->policy.tmpl.dst);
}

static bool esp_tmpl_spi(struct esp_line *l)
{
	return esp_number_u32(l, "spi", SPI_MIN, &l->s->policy.tmpl.spi);
}

static bool esp_tmpl_reqid(struct esp_line *l)
{
	return esp_number_u32(l, "reqid", 0, &l->s->policy.tmpl.reqid);
}

static bool esp_tmpl_mode(struct esp_line *l)
{
	return esp_choice(l, "mode", "transport", "tunnel", &l->s->policy.tmpl.tunnel);
}

static bool esp_tmpl_level(struct esp_line *l)
{
	/* "use" would let packets go in the clear for want of an SA. */
	return esp_next_is(l, "required") || esp_refuse(l, "expected required behind \"level\"");
}

static bool esp_policy_tmpl(struct esp_line *l)
{
	static const struct esp_parameter list[] = {{"src", esp_tmpl_src}, {"dst", esp_tmpl_dst},
		{"proto", esp_take_proto_esp}, {"spi", esp_tmpl_spi}, {"reqid", esp_tmpl_reqid},
		{"mode", esp_tmpl_mode}, {"level", esp_tmpl_level}, {0}};
	struct esp_policy *p = &l->s->policy;

	if (p->action == ESP_PROTECT)
		return esp_refuse(l, "expected one \"tmpl\": packets are protected once");
	p->tmpl.src = p->tmpl.dst = (struct ip_addr){{0}};
	if (!esp_take_all(l, list))
		return false;
	if (p->tmpl.tunnel && (ip_addr_is_any(&p->tmpl.src) || ip_addr_is_any(&p->tmpl.dst) ||
				      ip_addr_is_v4(&p->tmpl.src) != ip_addr_is_v4(&p->tmpl.dst)))
		return esp_refuse(l, "a \"tmpl\" of mode tunnel has the \"src\" and \"dst\" of the "
				     "tunnel's ends");
	if (p->action != ESP_DISCARD)
		p->action = ESP_PROTECT;
	return true;
}

static bool esp_take_policy(struct esp_line *l)
{
	static const struct esp_parameter list[] = {{"priority", esp_policy_priority},
		{"action", esp_policy_action}, {"tmpl", esp_policy_tmpl}, {0}};
	bool in = false;

	l->s->kind = ESP_STATEMENT_POLICY;
	if (!esp_selector_take(l, &l->s->policy.selector))
		return false;
	if (!esp_next_is(l, "dir"))
		return esp_refuse(l, "expected \"dir\" behind the selector");
	if (!esp_choice(l, "dir", "out", "in", &in))
		return false;
	l->s->policy.outbound = !in;
	return esp_take_all(l, list) && esp_all_taken(l);
}

static bool esp_default_in(struct esp_line *l)
{
	l->s->none.has_in = true;
	return esp_choice(l, "in", "block", "accept", &l->s->none.accept_in);
}

static bool esp_default_out(struct esp_line *l)
{
	l->s->none.has_out = true;
	return esp_choice(l, "out", "block", "accept", &l->s->none.accept_out);
}

static bool esp_take_default(struct esp_line *l)
{
	static const struct esp_parameter list[] = {
		{"in", esp_default_in}, {"out", esp_default_out}, {0}};

	l->s->kind = ESP_STATEMENT_DEFAULT;
	return esp_take_all(l, list) && esp_all_taken(l);
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool esp_take_line(struct esp_line *l)
{
	if (l->n == 0)
		return true;
	if (!esp_next_is(l, "ip") || !esp_next_is(l, "xfrm"))
		return esp_refuse(l,
			"expected \"ip xfrm state add\", \"ip xfrm policy add\" or \"ip "
			"xfrm policy setdefault\"");
	if (esp_next_is(l, "state") && (esp_next_is(l, "add") || esp_next_is(l, "update")))
		return esp_take_state(l);
	l->at = 2;
	if (esp_next_is(l, "policy")) {
		if (esp_next_is(l, "add") || esp_next_is(l, "update"))
			return esp_take_policy(l);
		if (esp_next_is(l, "setdefault"))
			return esp_take_default(l);
	}
	return esp_refuse(l,
		"expected \"state add\", \"policy add\" or \"policy setdefault\" behind "
		"\"ip xfrm\"");
}

int esp_statement_parse(char *line, struct esp_statement *out, char *why, size_t size)
{
	struct esp_line l = {.s = out, .why = why, .size = size};

	explicit_bzero(out, sizeof *out);
	return esp_line_split(&l, line) && esp_take_line(&l) ? 0 : -EINVAL;
}
