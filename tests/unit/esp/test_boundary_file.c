/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that an IPsec boundary reads, and reads again: while packets go, and when it cannot. */
#include "ends.h"

#include "base/bytes.h"
#include "ip/stack.h"

#include <rte_mbuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void a_new_file_is_in_force_and_a_wrong_one_is_not(void **state)
{
	char *text = ends_both_ways("", ""), next[8192];
	struct rte_mbuf *m;

	ends_begin(text, text);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 0);
	ends_write_file(ends.a.path, "ip xfrm nonsense\n");
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads_failed, 1);
	assert_non_null(strstr(ends.a.log_text, "line 1"));
	assert_non_null(strstr(ends.a.log_text, "stays in force"));
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	end_expect_delivered(&ends.b, 1);
	/* B first takes the new SA, then A uses it; packets of the old one are still good. */
	snprintf(next, sizeof next, "%s" SA, text, "10.0.0.1", "10.0.0.2", 0x1001, "");
	ends_write_file(ends.b.path, next);
	esp_boundary_look(ends.b.esp, ends.now);
	assert_int_equal(end_stats(&ends.b)->sas_in, 2);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	m = end_take(&ends.a);
	ends_write_file(ends.a.path, next);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 1);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	assert_int_equal(load_be32(end_octets(ends.a.out[0]) + V4), 0x1001);
	end_give(&ends.b, end_take(&ends.a));
	end_give(&ends.b, m);
	end_expect_delivered(&ends.b, 3);
	ends_end();
}

static void a_file_without_a_policy_says_what_becomes_of_packets(void **state)
{
	char *text = ends_both_ways("", "");

	ends_begin(text, text);
	ends_write_file(ends.a.path, "");
	esp_boundary_look(ends.a.esp, ends.now);
	assert_non_null(strstr(ends.a.log_text, "was read again"));
	assert_string_equal(strstr(ends.a.log_before, "has no policy"),
		"has no policy for this host: packets in are discarded, packets out are "
		"discarded");
	ends_write_file(ends.a.path, "# still none\n");
	esp_boundary_look(ends.a.esp, ends.now);
	assert_null(strstr(ends.a.log_before, "has no policy"));
	ends_write_file(ends.a.path, "ip xfrm policy setdefault in accept out accept\n");
	esp_boundary_look(ends.a.esp, ends.now);
	assert_string_equal(strstr(ends.a.log_before, "has no policy"),
		"has no policy for this host: packets in are taken in the clear, packets out are "
		"sent in the clear");
	ends_end();
}

/* Refused for a passing reason, told once, and taken as it is when that has passed. */
static void a_file_is_tried_again(void **state)
{
	char *text = ends_both_ways("", "");
	struct rlimit all, none;
	unsigned lines;

	ends_begin(text, text);
	ends_write_file(ends.a.path, "");
	assert_int_equal(chmod(ends.a.path, 0644), 0);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads_failed, 1);
	assert_int_equal(chmod(ends.a.path, 0600), 0);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 1);
	ends_write_file(ends.a.path, text);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){0, all.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	esp_boundary_look(ends.a.esp, ends.now);
	lines = ends.a.log_lines;
	ends.now += SECOND;
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(end_stats(&ends.a)->reloads_failed, 3);
	assert_int_equal(ends.a.log_lines, lines);
	/* Not at once: it may last. */
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 1);
	ends.now += SECOND;
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 2);
	ends_end();
}

#define NEIGHBOURS 200

/** The file has an SA for each of our neighbours, from @p spi on, and a packet leaves by each. */
static void use_many(uint32_t spi)
{
	static char text[512 * NEIGHBOURS];
	char peer[NEIGHBOURS][16];
	size_t len = 0;

	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		snprintf(peer[i], sizeof peer[i], "10.0.0.%u", i + 2);
		len += (size_t)snprintf(text + len, sizeof text - len, SA POLICY, "10.0.0.1",
			peer[i], spi + i, "", "10.0.0.1", peer[i], "out");
	}
	/* Files of one moment differ in their lengths. */
	ends_write_file(ends.a.path, "");
	esp_boundary_look(ends.a.esp, ends.now);
	ends_write_file(ends.a.path, text);
	esp_boundary_look(ends.a.esp, ends.now);
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		struct ip_addr dst = ends_addr(peer[i]);

		assert_int_equal(end_send_to(&ends.a, &dst, SEGMENT), 0);
		rte_pktmbuf_free(end_take(&ends.a));
	}
	assert_int_equal(end_stats(&ends.a)->sas_out, NEIGHBOURS);
}

/* What will be refused for ever is read once, however often it is looked at. */
static void a_file_that_stays_wrong_is_read_once(void **state)
{
	char *text = ends_both_ways("", ""), first[512];

	ends_begin(text, text);
	for (unsigned i = 0; i <= ESP_ENDED_MAX / NEIGHBOURS + 1; i++)
		use_many(0x10000 + i * NEIGHBOURS);
	assert_int_equal(end_stats(&ends.a)->reloads_failed, 0);
	snprintf(first, sizeof first, SA, "10.0.0.1", "10.0.0.2", 0x10000, "");
	ends_write_file(ends.a.path, first);
	for (unsigned i = 0; i < 3; i++) {
		esp_boundary_look(ends.a.esp, ends.now);
		ends.now += 2 * SECOND;
	}
	assert_non_null(strstr(ends.a.log_text, "may have had this key before"));
	assert_int_equal(end_stats(&ends.a)->reloads_failed, 1);
	ends_end();
}

static void a_new_sa_is_taken_as_soon_as_it_is_used(void **state)
{
	char *text = ends_both_ways("", ""), next[8192];
	int len = snprintf(next, sizeof next, "%s", text);

	ends_begin(text, text);
	for (uint32_t spi = 0x1001; spi < 0x1004; spi++) {
		/* As strangers, too, may send what there is no SA for, the third comes too early.
		 */
		ends.now += spi == 0x1003 ? SECOND / 2000 : SECOND;
		len += snprintf(
			next + len, sizeof next - (size_t)len, SA, "10.0.0.1", "10.0.0.2", spi, "");
		ends_write_file(ends.a.path, next);
		ends_write_file(ends.b.path, next);
		esp_boundary_look(ends.a.esp, ends.now);
		assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
		end_give(&ends.b, end_take(&ends.a));
	}
	assert_int_equal(end_stats(&ends.b)->reloads, 2);
	assert_int_equal(end_stats(&ends.b)->rx_no_sa, 1);
	end_expect_delivered(&ends.b, 2);
	ends_end();
}

/** What was recorded is not taken once more, and no IV is sent again, though its SA was away. */
static void an_sa_that_comes_back_goes_on(void **state)
{
	char *text = ends_both_ways("", "replay-window 64");
	struct rte_mbuf *first, *second;

	ends_begin(text, text);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	first = end_take(&ends.a);
	end_give(&ends.b, end_again(first));
	end_expect_delivered(&ends.b, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct end *e = i ? &ends.b : &ends.a;

		ends_write_file(e->path, "");
		esp_boundary_look(e->esp, ends.now);
		assert_int_equal(end_stats(e)->sas_in, 0);
		ends_write_file(e->path, text);
		esp_boundary_look(e->esp, ends.now);
		assert_int_equal(end_stats(e)->sas_in, 1);
	}
	end_give(&ends.b, end_again(first));
	assert_int_equal(end_stats(&ends.b)->rx_replay, 1);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	second = end_take(&ends.a);
	assert_int_equal(load_be32(end_octets(second) + V4 + 4), 2);
	assert_memory_not_equal(end_octets(first) + V4 + 8, end_octets(second) + V4 + 8, 8);
	end_give(&ends.b, second);
	end_expect_delivered(&ends.b, 2);
	rte_pktmbuf_free(first);
	ends_end();
}

/**
 * Another station has claimed our address while the file is read: it is ours still, and its SAs do
 * not end. Nothing would have the file read again when the address is in use again.
 */
static void an_address_that_is_not_in_use_keeps_its_sas(void **state)
{
	struct ip_addr our;
	struct local_addr *l;
	char *text;

	ends.v6 = true;
	text = ends_both_ways("", "");
	ends_begin(text, text);
	our = ends_addr(ends_addr_of(&ends.a));
	l = local_find(ends.a.ip, &our);
	assert_non_null(l);
	l->state = LOCAL_DUPLICATE;
	ends_write_file(ends.a.path, ends_both_ways("# another one\n", ""));
	esp_boundary_look(ends.a.esp, ends.now);
	assert_int_equal(end_stats(&ends.a)->reloads, 1);
	assert_int_equal(end_stats(&ends.a)->sas_in, 1);
	assert_int_equal(end_stats(&ends.a)->sas_out, 1);
	l->state = LOCAL_PREFERRED;
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	end_expect_delivered(&ends.b, 1);
	assert_int_equal(end_send_one(&ends.b, SEGMENT), 0);
	end_give(&ends.a, end_take(&ends.b));
	end_expect_delivered(&ends.a, 1);
	ends_end();
	ends.v6 = false;
}

static void addresses_with_one_key_are_told_of(void **state)
{
	static const char window[] = "replay-window 64";
	struct ip_addr second = ends_addr("10.0.0.9");
	char *text = ends_both_ways("", ""), next[8192];

	ends_begin(text, text);
	assert_int_equal(ip_addr_add(ends.a.ip, &second, 24, ends.now), 0);
	snprintf(next, sizeof next, "%s" SA SA, text, "10.0.0.2", "10.0.0.1", 0x900, window,
		"10.0.0.2", "10.0.0.9", 0x901, window);
	ends_write_file(ends.a.path, next);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_null(strstr(ends.a.log_before, "one key"));
	/* Files of one moment differ in their lengths. */
	snprintf(next, sizeof next, "%s" SA SA "#\n", text, "10.0.0.2", "10.0.0.1", 0x900, window,
		"10.0.0.2", "10.0.0.9", 0x900, window);
	ends_write_file(ends.a.path, next);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_non_null(
		strstr(ends.a.log_before, "spi 0x900 to 10.0.0.1 and to 10.0.0.9 have one key"));
	/* New keys between the same ends are no news. */
	snprintf(next, sizeof next, "%s" SA SA, text, "10.0.0.2", "10.0.0.1", 0x902, window,
		"10.0.0.2", "10.0.0.9", 0x902, window);
	ends_write_file(ends.a.path, next);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_null(strstr(ends.a.log_before, "one key"));
	/* Where nothing is counted there is nothing to say. */
	snprintf(next, sizeof next, "%s" SA SA, text, "10.0.0.2", "10.0.0.1", 0x900, window,
		"10.0.0.2", "10.0.0.9", 0x900, "");
	ends_write_file(ends.a.path, next);
	esp_boundary_look(ends.a.esp, ends.now);
	assert_null(strstr(ends.a.log_before, "one key"));
	assert_int_equal(end_stats(&ends.a)->reloads, 4);
	ends_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file_is_in_force_and_a_wrong_one_is_not),
		cmocka_unit_test(a_file_without_a_policy_says_what_becomes_of_packets),
		cmocka_unit_test(a_file_is_tried_again),
		cmocka_unit_test(a_file_that_stays_wrong_is_read_once),
		cmocka_unit_test(a_new_sa_is_taken_as_soon_as_it_is_used),
		cmocka_unit_test(an_sa_that_comes_back_goes_on),
		cmocka_unit_test(an_address_that_is_not_in_use_keeps_its_sas),
		cmocka_unit_test(addresses_with_one_key_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
