/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/statement.h"

#include "base/number.h"
#include "esp/statement_priv.h"

#include <errno.h>
#include <string.h>

#define SPI_MIN 256 /* RFC 4303 section 2.1 */

/* ---- states -------------------------------------------------------------------------------- */

bool esp_state_encrypts_as(const struct esp_state *a, const struct esp_state *b)
{
	return a->encryption == b->encryption && a->key_len == b->key_len &&
	       memcmp(a->key, b->key, a->key_len) == 0 &&
	       memcmp(a->salt, b->salt, sizeof a->salt) == 0;
}

bool esp_state_uses_key(const struct esp_state *a, const struct esp_state *b)
{
	bool gcm = a->encryption == ESP_AES_GCM || b->encryption == ESP_AES_GCM;

	return a->spi == b->spi && a->outbound == b->outbound && a->integrity == b->integrity &&
	       memcmp(a->auth_key, b->auth_key, sizeof a->auth_key) == 0 &&
	       (!gcm || esp_state_encrypts_as(a, b));
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

bool esp_selector_take(struct esp_line *l, struct esp_selector *s)
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

/* ---- policy -------------------------------------------------------------------------------- */

bool esp_take_proto_esp(struct esp_line *l)
{
	return esp_next_is(l, "esp") || esp_refuse(l, "expected esp behind \"proto\"");
}

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
