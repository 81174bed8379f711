/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines in the terms of ip-xfrm(8): what they say, and the sentences about those that are wrong. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/statement.h"

#include <errno.h>
#include <stdio.h>

#define KEY16 "0x000102030405060708090a0b0c0d0e0fA0a1a2a3"
#define KEY32 "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa0a1a2a3"
#define CBC16 "0x000102030405060708090a0b0c0d0e0f"
#define CBC32 "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define SHA1  "auth-trunc hmac(sha1) " KEY16 " 96"
#define AEAD  "aead 'rfc4106(gcm(aes))' " KEY16 " 128"
#define HOSTS "src 10.0.0.1 dst 10.0.0.2 "
#define STATE "ip xfrm state add " HOSTS "proto esp spi 0x1000 "
#define OUT   "ip xfrm policy add " HOSTS "dir out "

static char why[200];

static int parse(const char *text, struct esp_statement *s)
{
	char line[1024];

	snprintf(line, sizeof line, "%s", text);
	why[0] = '\0';
	return esp_statement_parse(line, s, why, sizeof why);
}

static struct esp_statement good(const char *text)
{
	struct esp_statement s;

	if (parse(text, &s) != 0)
		fail_msg("%s: %s", text, why);
	return s;
}

static void bad(const char *text, const char *reason)
{
	struct esp_statement s;

	assert_int_equal(parse(text, &s), -EINVAL);
	if (!strstr(why, reason))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, why, reason);
	/* Not a digit of a key. */
	assert_null(strstr(why, "0a0b"));
}

static void an_sa_has_what_its_line_says(void **state)
{
	struct esp_statement s = good(STATE "reqid 7 mode tunnel replay-window 128 flag esn "
					    "aead \"rfc4106(gcm(aes))\" " KEY32 " 128 "
					    "encap espinudp 4500 4501 0.0.0.0 "
					    "limit packet-hard 9 limit byte-hard 10 "
					    "sel src 10.1.0.0/16 dst 10.2.0.0/16 proto tcp "
					    "dport 7174 # the rest is a comment");

	assert_int_equal(s.kind, ESP_STATEMENT_STATE);
	assert_int_equal(s.state.spi, 0x1000);
	assert_int_equal(s.state.reqid, 7);
	assert_true(s.state.tunnel && s.state.esn && s.state.udp && s.state.has_selector);
	assert_int_equal(s.state.window, 128);
	assert_int_equal(s.state.key_len, 32);
	assert_int_equal(s.state.key[31], 0x1f);
	assert_memory_equal(s.state.salt, "\xa0\xa1\xa2\xa3", 4);
	assert_int_equal(s.state.udp_src, 4500);
	assert_int_equal(s.state.udp_dst, 4501);
	assert_int_equal(s.state.max_packets, 9);
	assert_int_equal(s.state.max_octets, 10);
	assert_int_equal(s.state.selector.src_len, 16);
	assert_int_equal(s.state.selector.proto, 6);
	assert_int_equal(s.state.selector.dst_port, 7174);
}

static void an_sa_has_the_defaults_of_ip_xfrm(void **state)
{
	struct esp_statement s = good(STATE AEAD);

	assert_false(s.state.tunnel || s.state.esn || s.state.udp || s.state.has_selector);
	assert_int_equal(s.state.window, 0);
	assert_int_equal(s.state.key_len, 16);
	assert_int_equal(s.state.key[15], 0x0f);
	(void)good("ip xfrm state add src fd00::1 dst fd00::2 proto esp spi 256 " AEAD);
}

static void algorithms_are_what_the_line_says(void **state)
{
	struct esp_statement s = good(STATE "enc cbc(aes) " CBC16 " " SHA1);

	assert_int_equal(s.state.encryption, ESP_AES_CBC);
	assert_int_equal(s.state.key_len, 16);
	assert_int_equal(s.state.key[15], 0x0f);
	assert_int_equal(s.state.integrity, ESP_HMAC_SHA1_96);
	assert_int_equal(s.state.auth_key[19], 0xa3);
	s = good(STATE "auth-trunc 'hmac(sha256)' " CBC32 " 128 enc 'cbc(aes)' " CBC32);
	assert_int_equal(s.state.key_len, 32);
	assert_int_equal(s.state.integrity, ESP_HMAC_SHA256_128);
	assert_int_equal(s.state.auth_key[31], 0x1f);
	s = good(STATE "enc 'ecb(cipher_null)' '' " SHA1);
	assert_int_equal(s.state.encryption, ESP_NULL);
	assert_int_equal(s.state.key_len, 0);
	s = good(STATE AEAD);
	assert_int_equal(s.state.encryption, ESP_AES_GCM);
}

static void wrong_sas_are_refused(void **state)
{
	bad("ip xfrm state add " HOSTS "spi 255 " AEAD, "256");
	bad("ip xfrm state add " HOSTS "spi 0x1ffffffff " AEAD, "4294967295");
	bad("ip xfrm state add " HOSTS "spi 0x " AEAD, "behind \"spi\"");
	bad("ip xfrm state add " HOSTS AEAD, "\"spi\" is missing");
	bad(STATE, "\"aead\" is missing");
	bad("ip xfrm state add src 10.0.0.1 spi 256 " AEAD, "two families");
	bad("ip xfrm state add src 10.0.0.1 dst fd00::1 spi 256 " AEAD, "two families");
	bad("ip xfrm state add src 0.0.0.0 dst 10.0.0.1 spi 256 " AEAD, "address of a host");
	bad("ip xfrm state add src 10.0.0.1 dst 224.0.0.1 spi 256 " AEAD, "address of a host");
	bad("ip xfrm state add src nobody dst 10.0.0.1 spi 256 " AEAD, "behind \"src\"");
	bad("ip xfrm state add " HOSTS "proto ah spi 256 " AEAD, "expected esp");
	bad(STATE "mode beet " AEAD, "transport or tunnel");
	bad(STATE "replay-window 31 " AEAD, "32 to 4096");
	bad(STATE "replay-window 4097 " AEAD, "32 to 4096");
	bad(STATE "flag esn " AEAD, "replay-window");
	bad(STATE "flag noecn " AEAD, "expected esn");
	bad(STATE "aead 'rfc4106(gcm(aes))' " KEY16 " 96", "128");
	bad(STATE "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f 128", "40 or 72");
	bad(STATE "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2ag 128",
		"hexadecimal");
	bad(STATE "aead 'rfc4106(gcm(aes))'", "40 or 72");
	bad(STATE "aead 'rfc7539esp(chacha20,poly1305)' " KEY16 " 128", "rfc4106");
	bad(STATE "enc cbc(des3_ede) " KEY16, "cbc(aes)");
	bad(STATE "enc cbc(aes) 0x0011 " SHA1, "32 or 64");
	bad(STATE "enc cbc(aes) 0x000102030405060708090a0b0c0d0e0g " SHA1, "hexadecimal");
	bad(STATE "enc ecb(cipher_null) " CBC16 " " SHA1, "expected ''");
	bad(STATE "enc ecb(cipher_null)", "expected ''");
	bad(STATE "enc cbc(aes) " CBC16, "\"auth-trunc\"");
	bad(STATE AEAD " " SHA1, "\"auth-trunc\"");
	bad(STATE AEAD " enc cbc(aes) " CBC16, "one \"aead\" or \"enc\"");
	bad(STATE SHA1, "\"aead\" is missing");
	bad(STATE SHA1 " " SHA1, "one \"auth-trunc\"");
	bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(md5) " CBC16 " 96", "hmac(sha256)");
	bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha1) " CBC16 " 96", "40");
	bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha1) " KEY16 " 128",
		"expected 96 behind");
	bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha256) " CBC32 " 96",
		"expected 128 behind");
	bad(STATE AEAD " encap espintcp 4500 4500 0.0.0.0", "espinudp");
	bad(STATE AEAD " encap espinudp 0 4500 0.0.0.0", "from 1");
	bad(STATE AEAD " limit time-hard 5", "packet-hard");
	bad(STATE AEAD " sel src 10.0.0.0/8", "\"src\" and \"dst\"");
}

static void a_policy_has_what_its_line_says(void **state)
{
	struct esp_statement s =
		good("ip xfrm policy add src 10.1.0.0/16 dst 10.2.0.0/16 proto udp sport 5 dir in "
		     "priority 3 tmpl src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1000 reqid 7 "
		     "mode tunnel level required");

	assert_int_equal(s.kind, ESP_STATEMENT_POLICY);
	assert_false(s.policy.outbound);
	assert_int_equal(s.policy.priority, 3);
	assert_int_equal(s.policy.action, ESP_PROTECT);
	assert_int_equal(s.policy.selector.src_port, 5);
	assert_true(s.policy.tmpl.tunnel);
	assert_int_equal(s.policy.tmpl.spi, 0x1000);
	assert_int_equal(s.policy.tmpl.reqid, 7);
	s = good(OUT "tmpl proto esp mode transport");
	assert_true(s.policy.outbound);
	assert_int_equal(s.policy.action, ESP_PROTECT);
	assert_int_equal(good(OUT).policy.action, ESP_BYPASS);
	assert_int_equal(good(OUT "action allow").policy.action, ESP_BYPASS);
	assert_int_equal(good(OUT "action block").policy.action, ESP_DISCARD);
	assert_int_equal(good(OUT "action block tmpl proto esp").policy.action, ESP_DISCARD);
}

static void wrong_policies_are_refused(void **state)
{
	bad("ip xfrm policy add dst 10.0.0.1 dir out", "\"src\" and \"dst\"");
	bad("ip xfrm policy add src fd00::/8 dst 10.0.0.1 dir out", "two families");
	bad("ip xfrm policy add " HOSTS "dport 5 dir out", "tcp or udp");
	bad("ip xfrm policy add " HOSTS "proto 256 dir out", "at most");
	bad("ip xfrm policy add " HOSTS "tmpl proto esp", "\"dir\"");
	bad("ip xfrm policy add " HOSTS "dir fwd", "out or in");
	bad("ip xfrm policy add src 10.0.0.0/33 dst 10.0.0.1 dir out", "ADDRESS/PREFIX");
	bad(OUT "action perhaps", "allow or block");
	bad(OUT "tmpl proto ah", "expected esp");
	bad(OUT "tmpl proto esp level use", "expected required");
	bad(OUT "tmpl proto esp mode tunnel", "tunnel's ends");
	bad(OUT "tmpl src 10.0.0.1 dst fd00::1 proto esp mode tunnel", "tunnel's ends");
	bad(OUT "tmpl proto esp tmpl proto esp", "protected once");
}

static void the_default_is_for_each_direction(void **state)
{
	struct esp_statement s = good("ip xfrm policy setdefault in accept out block");

	assert_int_equal(s.kind, ESP_STATEMENT_DEFAULT);
	assert_true(s.none.has_in && s.none.accept_in && s.none.has_out && !s.none.accept_out);
	assert_false(good("ip xfrm policy setdefault in accept").none.has_out);
	bad("ip xfrm policy setdefault in perhaps", "block or accept");
	bad("ip xfrm policy setdefault fwd accept", "belongs to no parameter");
}

static void other_lines_are_nothing_or_refused(void **state)
{
	char words[1024] = "ip xfrm state add";

	assert_int_equal(good("").kind, ESP_STATEMENT_NONE);
	assert_int_equal(good(" \t\r\n").kind, ESP_STATEMENT_NONE);
	assert_int_equal(good("# " KEY16).kind, ESP_STATEMENT_NONE);
	bad("ip xfrm state flush", "state add");
	bad("ip xfrm", "state add");
	bad("ip route add", "ip xfrm");
	bad("ip xfrm monitor", "behind \"ip xfrm\"");
	bad(STATE "aead 'rfc4106(gcm(aes)) " KEY16 " 128", "not closed");
	bad(STATE "aead 'rfc4106(gcm(aes))'" KEY16 " 128", "not closed");
	for (unsigned i = 0; i < 61; i++)
		strcat(words, " x");
	bad(words, "at most 64 words");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_sa_has_what_its_line_says),
		cmocka_unit_test(an_sa_has_the_defaults_of_ip_xfrm),
		cmocka_unit_test(algorithms_are_what_the_line_says),
		cmocka_unit_test(wrong_sas_are_refused),
		cmocka_unit_test(a_policy_has_what_its_line_says),
		cmocka_unit_test(wrong_policies_are_refused),
		cmocka_unit_test(the_default_is_for_each_direction),
		cmocka_unit_test(other_lines_are_nothing_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
