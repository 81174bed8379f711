/* SPDX-License-Identifier: BSD-2-Clause */
/* How far SAs had counted: of the last ones it is known, of those before them that they were. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/ended.h"

#include <string.h>

static struct esp_ended *ended;

static void fill(void *ctx, void *to, size_t len)
{
	memset(to, 7, len);
}

static int set_up(void **state)
{
	ended = esp_ended_create(&(struct random_source){.fill = fill});
	return !ended;
}

static int tear_down(void **state)
{
	esp_ended_destroy(ended);
	return 0;
}

/** An SA that has sent as many packets as its name says ends. */
static void end(uint64_t name)
{
	const struct esp_sa sa = {
		.config = {.outbound = true, .iv_base = 9}, .sequence = name, .packets = name};

	esp_ended_add(ended, name, &sa);
}

static const struct ip_addr nowhere;

static struct esp_ended_sa *find(uint64_t name)
{
	return esp_ended_find(ended, name, &nowhere);
}

static struct esp_state one(void)
{
	struct esp_state s = {.spi = 0x100, .key_len = 16, .window = 64};

	memset(s.key, 1, sizeof s.key);
	memset(s.auth_key, 2, sizeof s.auth_key);
	memset(s.salt, 3, sizeof s.salt);
	return s;
}

/** What its packets are authentic by, and nothing else. */
static void a_name_is_of_what_packets_are_authentic_by(void **state)
{
	struct esp_state s = one(), other[8];
	uint64_t name = esp_ended_name(ended, &s);

	for (unsigned i = 0; i < 8; i++)
		other[i] = s;
	other[0].key[ESP_KEY_MAX - 1] ^= 1;
	other[1].auth_key[ESP_AUTH_KEY_MAX - 1] ^= 1;
	other[2].salt[0] ^= 1;
	other[3].spi++;
	other[4].key_len = 32;
	other[5].encryption++;
	other[6].integrity++;
	other[7].outbound = true;
	for (unsigned i = 0; i < 8; i++)
		assert_true(esp_ended_name(ended, &other[i]) != name);
	s.src.b[15] ^= 1;
	s.dst.b[15] ^= 1;
	s.reqid = 7;
	s.window = 4096;
	s.max_packets = s.max_octets = 90;
	s.udp = s.tunnel = s.esn = true;
	assert_true(esp_ended_name(ended, &s) == name);
}

/** An HMAC is verified before it is decrypted. */
static void below_an_hmac_encryption_has_no_part_in_it(void **state)
{
	struct esp_state s = one(), other[3];
	uint64_t name;

	s.encryption = ESP_AES_CBC;
	for (unsigned i = 0; i < 3; i++)
		other[i] = s;
	name = esp_ended_name(ended, &s);
	other[0].auth_key[0] ^= 1;
	other[1].integrity++;
	other[2].spi++;
	for (unsigned i = 0; i < 3; i++)
		assert_true(esp_ended_name(ended, &other[i]) != name);
	s.key[0] ^= 1;
	assert_true(esp_ended_name(ended, &s) == name);
	s.encryption = ESP_NULL;
	s.key_len = 0;
	assert_true(esp_ended_name(ended, &s) == name);
}

static void one_that_ended_is_known_until_it_is_back(void **state)
{
	struct esp_sa in = {.octets = 50};
	struct esp_ended_sa *was;

	assert_null(find(77));
	end(77);
	was = find(77);
	assert_non_null(was);
	assert_int_equal(was->use.sequence, 77);
	assert_int_equal(was->iv_base, 9);
	assert_int_equal(was->use.packets, 77);
	esp_ended_forget(was);
	assert_null(find(77));
	assert_false(esp_ended_is_lost(ended, 77));
	/* Of an inbound one the window tells. */
	in.window.top = 70;
	esp_ended_add(ended, 78, &in);
	was = find(78);
	assert_non_null(was);
	assert_int_equal(was->use.sequence, 70);
	assert_int_equal(was->use.octets, 50);
}

static void end_at(uint64_t name, bool outbound, uint8_t dst, uint64_t counted)
{
	const struct esp_sa sa = {
		.config = {.outbound = outbound, .dst = {{dst}}, .began = 1000 - counted},
		.sequence = outbound ? counted : 0,
		.window.top = outbound ? 0 : counted};

	esp_ended_add(ended, name, &sa);
}

/** Inbound ones may be sent what was recorded of each other; outbound ones have each their IVs. */
static void of_one_name_the_highest_count_is_known(void **state)
{
	const struct ip_addr first = {{1}};
	struct esp_ended_sa *was;

	end_at(77, false, 1, 70);
	end_at(77, false, 2, 90);
	end_at(77, false, 3, 80);
	was = esp_ended_find(ended, 77, &first);
	assert_int_equal(was->use.sequence, 90);
	assert_int_equal(was->use.began, 910);
	esp_ended_forget(was);
	assert_null(esp_ended_find(ended, 77, &first));
	end_at(78, true, 1, 70);
	end_at(78, true, 2, 90);
	assert_int_equal(find(78)->use.sequence, 90);
	assert_int_equal(esp_ended_find(ended, 78, &first)->use.sequence, 70);
	find(78)->taken = true;
	assert_int_equal(find(78)->use.sequence, 70);
	find(78)->taken = true;
	assert_null(find(78));
}

static void of_many_the_first_are_lost(void **state)
{
	const struct esp_sa unused = {.config = {.outbound = true}};

	for (uint64_t name = 1; name <= ESP_ENDED_MAX; name++)
		end(name);
	assert_non_null(find(1));
	/* One that has counted nothing takes nobody's place. */
	esp_ended_add(ended, 5000, &unused);
	assert_null(find(5000));
	assert_non_null(find(1));
	/* Nor does one for which there is a place. */
	esp_ended_forget(find(1));
	end(1);
	assert_non_null(find(2));
	/* Now it is the last. */
	end(5001);
	end(5002);
	for (uint64_t name = 2; name <= 3; name++) {
		assert_null(find(name));
		assert_true(esp_ended_is_lost(ended, name));
	}
	assert_non_null(find(1));
	assert_non_null(find(4));
	assert_false(esp_ended_is_lost(ended, 1));
	assert_false(esp_ended_is_lost(ended, 4));
}

/** However many there were: others are taken for one of them seldom. */
static void none_that_was_lost_is_forgotten(void **state)
{
	const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
	unsigned mistaken = 0;

	for (uint64_t i = 1; i <= 3 * ESP_ENDED_MAX; i++)
		end(i * step);
	for (uint64_t i = 1; i <= 2 * ESP_ENDED_MAX; i++)
		assert_true(esp_ended_is_lost(ended, i * step));
	for (uint64_t i = 2 * ESP_ENDED_MAX + 1; i <= 3 * ESP_ENDED_MAX; i++)
		assert_non_null(find(i * step));
	for (uint64_t i = 1; i <= 100000; i++)
		mistaken += esp_ended_is_lost(ended, ~(i * step));
	assert_in_range(mistaken, 0, 100);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_name_is_of_what_packets_are_authentic_by),
		TEST(below_an_hmac_encryption_has_no_part_in_it),
		TEST(one_that_ended_is_known_until_it_is_back),
		TEST(of_one_name_the_highest_count_is_known),
		TEST(of_many_the_first_are_lost),
		TEST(none_that_was_lost_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
