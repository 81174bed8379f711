/* SPDX-License-Identifier: BSD-2-Clause */
/* Selectors: prefixes of both families, protocols, ports. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/selector.h"

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static struct ip_flow flow(const char *src, const char *dst, uint8_t proto, uint16_t to)
{
	return (struct ip_flow){.src = addr(src),
		.dst = addr(dst),
		.proto = proto,
		.src_port = proto == 6 ? 40000 : 0,
		.dst_port = to};
}

static bool has(const struct esp_selector *s, struct ip_flow f)
{
	return esp_selector_has(s, &f);
}

static void prefixes_are_of_their_family(void **state)
{
	const struct esp_selector v4 = {
		.src = addr("10.0.0.0"), .src_len = 8, .dst = addr("0.0.0.0"), .dst_len = 0};
	const struct esp_selector v6 = {
		.src = addr("fd00::1"), .src_len = 128, .dst = addr("::"), .dst_len = 0};

	assert_true(has(&v4, flow("10.1.2.3", "192.0.2.1", 6, 5)));
	assert_false(has(&v4, flow("11.1.2.3", "192.0.2.1", 6, 5)));
	assert_false(has(&v4, flow("fd00::1", "fd00::2", 6, 5)));
	assert_true(has(&v6, flow("fd00::1", "fd00::2", 6, 5)));
	assert_false(has(&v6, flow("fd00::3", "fd00::2", 6, 5)));
	assert_false(has(&v6, flow("10.1.2.3", "192.0.2.1", 6, 5)));
}

static void protocol_and_ports_count_if_they_are_given(void **state)
{
	struct esp_selector s = {.src = addr("10.0.0.0"),
		.src_len = 24,
		.dst = addr("10.0.0.2"),
		.dst_len = 32,
		.proto = 6,
		.dst_port = 7174};

	assert_true(has(&s, flow("10.0.0.1", "10.0.0.2", 6, 7174)));
	assert_false(has(&s, flow("10.0.0.1", "10.0.0.2", 6, 7175)));
	assert_false(has(&s, flow("10.0.0.1", "10.0.0.2", 17, 7174)));
	s.src_port = 1;
	assert_false(has(&s, flow("10.0.0.1", "10.0.0.2", 6, 7174)));
	assert_true(esp_selector_has_addresses(&s, &s.src, &s.dst));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_are_of_their_family),
		cmocka_unit_test(protocol_and_ports_count_if_they_are_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
