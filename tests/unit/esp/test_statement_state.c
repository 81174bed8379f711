/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of SAs: what they say, and the sentences about those that are wrong. */
#include "statement_case.h"

static void an_sa_has_what_its_line_says(void **state)
{
	struct esp_statement s =
		statement_good(STATE "reqid 7 mode tunnel replay-window 128 flag esn "
				     "aead \"rfc4106(gcm(aes))\" " KEY32 " 128 "
				     "encap espinudp 4500 4501 0.0.0.0 "
				     "limit packet-hard 9 limit byte-hard 10 limit time-hard 11 "
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
	assert_int_equal(s.state.max_seconds, 11);
	assert_int_equal(s.state.selector.src_len, 16);
	assert_int_equal(s.state.selector.proto, 6);
	assert_int_equal(s.state.selector.dst_port, 7174);
}

static void an_sa_has_the_defaults_of_ip_xfrm(void **state)
{
	struct esp_statement s = statement_good(STATE AEAD);

	assert_false(s.state.tunnel || s.state.esn || s.state.udp || s.state.has_selector);
	assert_int_equal(s.state.window, 0);
	assert_int_equal(s.state.key_len, 16);
	assert_int_equal(s.state.key[15], 0x0f);
	(void)statement_good("ip xfrm state add src fd00::1 dst fd00::2 proto esp spi 256 " AEAD);
}

static void algorithms_are_what_the_line_says(void **state)
{
	struct esp_statement s = statement_good(STATE "enc cbc(aes) " CBC16 " " SHA1);

	assert_int_equal(s.state.encryption, ESP_AES_CBC);
	assert_int_equal(s.state.key_len, 16);
	assert_int_equal(s.state.key[15], 0x0f);
	assert_int_equal(s.state.integrity, ESP_HMAC_SHA1_96);
	assert_int_equal(s.state.auth_key[19], 0xa3);
	s = statement_good(STATE "auth-trunc 'hmac(sha256)' " CBC32 " 128 enc 'cbc(aes)' " CBC32);
	assert_int_equal(s.state.key_len, 32);
	assert_int_equal(s.state.integrity, ESP_HMAC_SHA256_128);
	assert_int_equal(s.state.auth_key[31], 0x1f);
	s = statement_good(STATE "enc 'ecb(cipher_null)' '' " SHA1);
	assert_int_equal(s.state.encryption, ESP_NULL);
	assert_int_equal(s.state.key_len, 0);
	s = statement_good(STATE AEAD);
	assert_int_equal(s.state.encryption, ESP_AES_GCM);
}

static void wrong_sas_are_refused(void **state)
{
	statement_bad("ip xfrm state add " HOSTS "spi 255 " AEAD, "256");
	statement_bad("ip xfrm state add " HOSTS "spi 0x1ffffffff " AEAD, "4294967295");
	statement_bad("ip xfrm state add " HOSTS "spi 0x " AEAD, "behind \"spi\"");
	statement_bad("ip xfrm state add " HOSTS AEAD, "\"spi\" is missing");
	statement_bad(STATE, "\"aead\" is missing");
	statement_bad("ip xfrm state add src 10.0.0.1 spi 256 " AEAD, "two families");
	statement_bad("ip xfrm state add src 10.0.0.1 dst fd00::1 spi 256 " AEAD, "two families");
	statement_bad(
		"ip xfrm state add src 0.0.0.0 dst 10.0.0.1 spi 256 " AEAD, "address of a host");
	statement_bad(
		"ip xfrm state add src 10.0.0.1 dst 224.0.0.1 spi 256 " AEAD, "address of a host");
	statement_bad("ip xfrm state add src nobody dst 10.0.0.1 spi 256 " AEAD, "behind \"src\"");
	statement_bad("ip xfrm state add " HOSTS "proto ah spi 256 " AEAD, "expected esp");
	statement_bad(STATE "mode beet " AEAD, "transport or tunnel");
	statement_bad(STATE "replay-window 31 " AEAD, "32 to 4096");
	statement_bad(STATE "replay-window 4097 " AEAD, "32 to 4096");
	statement_bad(STATE "flag esn " AEAD, "replay-window");
	statement_bad(STATE "flag noecn " AEAD, "expected esn");
	statement_bad(STATE "aead 'rfc4106(gcm(aes))' " KEY16 " 96", "128");
	statement_bad(STATE "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f 128",
		"40 or 72");
	statement_bad(STATE
		"aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2ag 128",
		"hexadecimal");
	statement_bad(STATE "aead 'rfc4106(gcm(aes))'", "40 or 72");
	statement_bad(STATE "aead 'rfc7539esp(chacha20,poly1305)' " KEY16 " 128", "rfc4106");
	statement_bad(STATE "enc cbc(des3_ede) " KEY16, "cbc(aes)");
	statement_bad(STATE "enc cbc(aes) 0x0011 " SHA1, "32 or 64");
	statement_bad(STATE "enc cbc(aes) 0x000102030405060708090a0b0c0d0e0g " SHA1, "hexadecimal");
	statement_bad(STATE "enc ecb(cipher_null) " CBC16 " " SHA1, "expected ''");
	statement_bad(STATE "enc ecb(cipher_null)", "expected ''");
	statement_bad(STATE "enc cbc(aes) " CBC16, "\"auth-trunc\"");
	statement_bad(STATE AEAD " " SHA1, "\"auth-trunc\"");
	statement_bad(STATE AEAD " enc cbc(aes) " CBC16, "one \"aead\" or \"enc\"");
	statement_bad(STATE SHA1, "\"aead\" is missing");
	statement_bad(STATE SHA1 " " SHA1, "one \"auth-trunc\"");
	statement_bad(
		STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(md5) " CBC16 " 96", "hmac(sha256)");
	statement_bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha1) " CBC16 " 96", "40");
	statement_bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha1) " KEY16 " 128",
		"expected 96 behind");
	statement_bad(STATE "enc cbc(aes) " CBC16 " auth-trunc hmac(sha256) " CBC32 " 96",
		"expected 128 behind");
	statement_bad(STATE AEAD " encap espintcp 4500 4500 0.0.0.0", "espinudp");
	statement_bad(STATE AEAD " encap espinudp 0 4500 0.0.0.0", "from 1");
	statement_bad(STATE AEAD " limit time-use-hard 5", "or time-hard");
	statement_bad(STATE AEAD " limit time-hard 0", "behind \"time-hard\"");
	statement_bad(STATE AEAD " sel src 10.0.0.0/8", "\"src\" and \"dst\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_sa_has_what_its_line_says),
		cmocka_unit_test(an_sa_has_the_defaults_of_ip_xfrm),
		cmocka_unit_test(algorithms_are_what_the_line_says),
		cmocka_unit_test(wrong_sas_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
