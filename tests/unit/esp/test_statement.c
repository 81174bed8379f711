/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines in the terms of ip-xfrm(8) but those of SAs: what they say, and the sentences about those
 * that are wrong. */
#include "statement_case.h"

#include <string.h>

#define OUT "ip xfrm policy add " HOSTS "dir out "

static void a_policy_has_what_its_line_says(void **state)
{
	struct esp_statement s = statement_good(
		"ip xfrm policy add src 10.1.0.0/16 dst 10.2.0.0/16 proto udp sport 5 dir in "
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
	s = statement_good(OUT "tmpl proto esp mode transport");
	assert_true(s.policy.outbound);
	assert_int_equal(s.policy.action, ESP_PROTECT);
	assert_int_equal(statement_good(OUT).policy.action, ESP_BYPASS);
	assert_int_equal(statement_good(OUT "action allow").policy.action, ESP_BYPASS);
	assert_int_equal(statement_good(OUT "action block").policy.action, ESP_DISCARD);
	assert_int_equal(
		statement_good(OUT "action block tmpl proto esp").policy.action, ESP_DISCARD);
}

static void wrong_policies_are_refused(void **state)
{
	statement_bad("ip xfrm policy add dst 10.0.0.1 dir out", "\"src\" and \"dst\"");
	statement_bad("ip xfrm policy add src fd00::/8 dst 10.0.0.1 dir out", "two families");
	statement_bad("ip xfrm policy add " HOSTS "dport 5 dir out", "tcp or udp");
	statement_bad("ip xfrm policy add " HOSTS "proto 256 dir out", "at most");
	statement_bad("ip xfrm policy add " HOSTS "tmpl proto esp", "\"dir\"");
	statement_bad("ip xfrm policy add " HOSTS "dir fwd", "out or in");
	statement_bad("ip xfrm policy add src 10.0.0.0/33 dst 10.0.0.1 dir out", "ADDRESS/PREFIX");
	statement_bad(OUT "action perhaps", "allow or block");
	statement_bad(OUT "tmpl proto ah", "expected esp");
	statement_bad(OUT "tmpl proto esp level use", "expected required");
	statement_bad(OUT "tmpl proto esp mode tunnel", "tunnel's ends");
	statement_bad(OUT "tmpl src 10.0.0.1 dst fd00::1 proto esp mode tunnel", "tunnel's ends");
	statement_bad(OUT "tmpl proto esp tmpl proto esp", "protected once");
}

static void the_default_is_for_each_direction(void **state)
{
	struct esp_statement s = statement_good("ip xfrm policy setdefault in accept out block");

	assert_int_equal(s.kind, ESP_STATEMENT_DEFAULT);
	assert_true(s.none.has_in && s.none.accept_in && s.none.has_out && !s.none.accept_out);
	assert_false(statement_good("ip xfrm policy setdefault in accept").none.has_out);
	statement_bad("ip xfrm policy setdefault in perhaps", "block or accept");
	statement_bad("ip xfrm policy setdefault fwd accept", "belongs to no parameter");
}

static void other_lines_are_nothing_or_refused(void **state)
{
	char words[1024] = "ip xfrm state add";

	assert_int_equal(statement_good("").kind, ESP_STATEMENT_NONE);
	assert_int_equal(statement_good(" \t\r\n").kind, ESP_STATEMENT_NONE);
	assert_int_equal(statement_good("# " KEY16).kind, ESP_STATEMENT_NONE);
	statement_bad("ip xfrm state flush", "state add");
	statement_bad("ip xfrm", "state add");
	statement_bad("ip route add", "ip xfrm");
	statement_bad("ip xfrm monitor", "behind \"ip xfrm\"");
	statement_bad(STATE "aead 'rfc4106(gcm(aes)) " KEY16 " 128", "not closed");
	statement_bad(STATE "aead 'rfc4106(gcm(aes))'" KEY16 " 128", "not closed");
	for (unsigned i = 0; i < 61; i++)
		strcat(words, " x");
	statement_bad(words, "at most 64 words");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_has_what_its_line_says),
		cmocka_unit_test(wrong_policies_are_refused),
		cmocka_unit_test(the_default_is_for_each_direction),
		cmocka_unit_test(other_lines_are_nothing_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
