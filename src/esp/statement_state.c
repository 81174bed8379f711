/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hex.h"
#include "esp/statement_priv.h"
#include "esp/window.h"

#include <string.h>

#define SPI_MIN 256 /* RFC 4303 section 2.1 */

static bool esp_state_src(struct esp_line *l)
{
	return esp_address(l, "src", &l->s->state.src);
}

static bool esp_state_dst(struct esp_line *l)
{
	return esp_address(l, "dst", &l->s->state.dst);
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

/** The octets of a key of 0x and hexadecimal digits. */
static bool esp_octets(struct esp_line *l, const char *digits, uint8_t *out, size_t len)
{
	return hex_octets(digits, len, out) ||
	       esp_refuse(l, "the key has other than hexadecimal digits");
}

/** @return how many digits are behind its 0x. */
static size_t esp_key_digits(const char *w)
{
	return w && w[0] == '0' && w[1] == 'x' ? strlen(w + 2) : 0;
}

/** There is one of aead and enc. */
static bool esp_state_encrypts(struct esp_line *l, enum esp_encryption e)
{
	if (l->s->state.has_encryption)
		return esp_refuse(l, "expected one \"aead\" or \"enc\"");
	l->s->state.has_encryption = true;
	l->s->state.encryption = e;
	return true;
}

/** RFC 4106 section 8.1: the key, and behind it the salt. */
static bool esp_state_aead_key(struct esp_line *l, const char *w)
{
	struct esp_state *s = &l->s->state;
	size_t len = esp_key_digits(w);

	if (len != 2 * (16 + ESP_SALT_LEN) && len != 2 * (32 + ESP_SALT_LEN))
		return esp_refuse(l, "expected a key of 0x and 40 or 72 hexadecimal digits: an "
				     "AES key and the salt of 4 octets");
	s->key_len = len / 2 - ESP_SALT_LEN;
	return esp_octets(l, w + 2, s->key, s->key_len) &&
	       esp_octets(l, w + 2 + 2 * s->key_len, s->salt, ESP_SALT_LEN);
}

static bool esp_state_aead(struct esp_line *l)
{
	const char *name = esp_next(l), *key = esp_next(l);
	uint64_t bits;

	if (!name || strcmp(name, "rfc4106(gcm(aes))") != 0)
		return esp_refuse(l, "expected 'rfc4106(gcm(aes))' behind \"aead\"");
	return esp_state_encrypts(l, ESP_AES_GCM) && esp_state_aead_key(l, key) &&
	       esp_number(l, "the key", 128, 128, &bits);
}

static bool esp_state_enc(struct esp_line *l)
{
	const char *name = esp_next(l), *key = esp_next(l);
	struct esp_state *s = &l->s->state;
	size_t len = esp_key_digits(key);

	if (name && strcmp(name, "ecb(cipher_null)") == 0)
		return esp_state_encrypts(l, ESP_NULL) &&
		       ((key && strspn(key, "0x") == strlen(key)) ||
			       esp_refuse(l, "expected '' behind 'ecb(cipher_null)'"));
	if (!name || strcmp(name, "cbc(aes)") != 0)
		return esp_refuse(l, "expected 'cbc(aes)' or 'ecb(cipher_null)' behind \"enc\"");
	if (len != 32 && len != 64)
		return esp_refuse(l, "expected a key of 0x and 32 or 64 hexadecimal digits");
	s->key_len = len / 2;
	return esp_state_encrypts(l, ESP_AES_CBC) && esp_octets(l, key + 2, s->key, s->key_len);
}

/** The ICV's length is its algorithm's: another one would be another algorithm. */
static bool esp_state_auth(struct esp_line *l)
{
	const char *name = esp_next(l), *key = esp_next(l);
	struct esp_state *s = &l->s->state;
	uint64_t bits, want;
	size_t len;

	if (s->has_integrity)
		return esp_refuse(l, "expected one \"auth-trunc\"");
	if (!name || (strcmp(name, "hmac(sha1)") != 0 && strcmp(name, "hmac(sha256)") != 0))
		return esp_refuse(
			l, "expected 'hmac(sha1)' or 'hmac(sha256)' behind \"auth-trunc\"");
	s->has_integrity = true;
	s->integrity = strcmp(name, "hmac(sha1)") == 0 ? ESP_HMAC_SHA1_96 : ESP_HMAC_SHA256_128;
	len = esp_auth_key_len(s->integrity);
	want = 8U * esp_shape_of(ESP_NULL, s->integrity).icv_len;
	if (esp_key_digits(key) != 2 * len)
		return esp_refuse(l, "expected a key of 0x and %zu hexadecimal digits", 2 * len);
	return esp_octets(l, key + 2, s->auth_key, len) &&
	       esp_number(l, "the key", want, want, &bits);
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
	if (esp_next_is(l, "time-hard"))
		return esp_number(l, "time-hard", 1, UINT64_MAX, &s->max_seconds);
	return esp_refuse(l, "expected packet-hard, byte-hard or time-hard behind \"limit\"");
}

static bool esp_state_is_whole(struct esp_line *l)
{
	const struct esp_state *s = &l->s->state;

	if (!s->has_encryption || s->spi == 0)
		return esp_refuse(l, "\"%s\" is missing", s->spi ? "aead" : "spi");
	if (s->has_integrity != (s->encryption != ESP_AES_GCM))
		return esp_refuse(l, "expected \"auth-trunc\" with \"enc\", and not with \"aead\"");
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

bool esp_take_state(struct esp_line *l)
{
	static const struct esp_parameter list[] = {{"src", esp_state_src}, {"dst", esp_state_dst},
		{"proto", esp_take_proto_esp}, {"spi", esp_state_spi}, {"reqid", esp_state_reqid},
		{"mode", esp_state_mode}, {"replay-window", esp_state_window},
		{"flag", esp_state_flag}, {"aead", esp_state_aead}, {"enc", esp_state_enc},
		{"auth-trunc", esp_state_auth}, {"encap", esp_state_encap},
		{"sel", esp_state_selector}, {"limit", esp_state_limit}, {0}};

	l->s->kind = ESP_STATEMENT_STATE;
	return esp_take_all(l, list) && esp_all_taken(l) && esp_state_is_whole(l);
}
