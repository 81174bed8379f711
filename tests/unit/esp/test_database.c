/* SPDX-License-Identifier: BSD-2-Clause */
/* The SPD and the SAD: what is chosen for a flow. */
#include "database_case.h"

#include <stdio.h>
#include <string.h>

static void without_a_policy_nothing_passes(void **state)
{
	assert_int_equal(leaves(PEER, 6, 7), -1);
	assert_int_equal(arrives(PEER, 6, 0), ESP_REFUSED);
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(leaves(PEER, 6, 7), -1);
	assert_int_equal(arrives(PEER, 6, 0), ESP_REFUSED);
	assert_int_equal(update("ip xfrm policy setdefault in accept out accept"), 0);
	assert_int_equal(leaves(PEER, 6, 7), 0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_ARRIVED);
}

static void the_first_policy_that_fits_decides(void **state)
{
	assert_int_equal(update(PAIR BOTH HOSTS "proto icmp dir out priority 0\n" HOSTS
						"proto tcp dport 22 dir out action block\n"),
		0);
	/* All have priority 0: the first of the file is for everything. */
	assert_int_equal(leaves(PEER, 1, 0), 0x100);
	assert_int_equal(update(HOSTS "proto icmp dir out\n" HOSTS
				      "proto tcp dport 22 dir out action block\n" PAIR BOTH),
		0);
	assert_int_equal(leaves(PEER, 1, 0), 0);
	assert_int_equal(leaves(PEER, 6, 22), -1);
	assert_int_equal(leaves(PEER, 6, 23), 0x100);
	assert_int_equal(leaves("10.0.0.3", 6, 23), -1);
}

static void what_must_be_protected_comes_by_its_sa_alone(void **state)
{
	assert_int_equal(update(PAIR BOTH SA("10.0.0.3", OUR, "0x300", "") BACK
				 "proto icmp dir in priority 1\n"),
		0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_CLEAR);
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_ARRIVED);
	/* The key of another peer, and again of the right one, which is remembered. */
	assert_int_equal(arrives(PEER, 6, 0x300), ESP_MISMATCH);
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_ARRIVED);
	assert_int_equal(arrives(PEER, 6, 0x300), ESP_MISMATCH);
	assert_int_equal(arrives(PEER, 6, 0), ESP_CLEAR);
	assert_int_equal(arrives("10.0.0.3", 6, 0x300), ESP_REFUSED);
	assert_int_equal(update(PAIR BACK "dir in\n"), 0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_ARRIVED);
	/* What may come in the clear is not what the SA is for. */
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_MISMATCH);
}

static void templates_choose_among_sas(void **state)
{
	assert_int_equal(update(SA(OUR, PEER, "0x100", "reqid 1") SA(OUR, PEER, "0x101",
				 "reqid 2 sel src " OUR " dst " PEER " proto tcp") HOSTS
				 "proto tcp dport 1 dir out tmpl proto esp reqid 1\n" HOSTS
				 "proto tcp dport 2 dir out tmpl proto esp reqid 3\n" HOSTS
				 "proto tcp dport 3 dir out tmpl proto esp spi 0x100\n" HOSTS
				 "dir out tmpl proto esp\n"),
		0);
	assert_int_equal(leaves(PEER, 6, 1), 0x100);
	assert_int_equal(leaves(PEER, 6, 2), -2);
	assert_int_equal(leaves(PEER, 6, 3), 0x100);
	assert_int_equal(leaves(PEER, 6, 4), 0x101); /* the last that fits */
	assert_int_equal(leaves(PEER, 17, 4), 0x100);
}

static void sas_of_other_hosts_are_nobodys(void **state)
{
	struct ip_addr peer = addr(PEER);

	assert_int_equal(update(SA(PEER, "10.0.0.3", "0x400", "") SA(OUR, OUR, "0x401", "")), 0);
	assert_int_equal(db.inbound + db.outbound, 0);
	assert_null(esp_database_find_outbound(&db, &peer, 0x400));
}

#define PEERS 1000

/** One file for a mesh, in which each host sends with one SPI to all; other hosts have their part.
 * Policies are for pairs of hosts, and for the subnet. */
static void each_of_many_peers_has_its_own_sas(void **state)
{
	static char text[PEERS * 800];
	char peer[16];
	size_t len = 0;

	for (unsigned i = 0; i < PEERS; i++) {
		snprintf(peer, sizeof peer, "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		len += (size_t)snprintf(text + len, sizeof text - len,
			SA(OUR, "%s", "0x100", "") SA("%s", OUR, "%u", "")
				SA("%s", "10.0.9.9", "%u", "") "%s",
			peer, peer, 0x200 + i, peer, 0x200 + i,
			i % 2 ? "" : "ip xfrm policy add src 10.0.0.1 dst ");
		if (i % 2 == 0)
			len += (size_t)snprintf(
				text + len, sizeof text - len, "%s dir out tmpl proto esp\n", peer);
	}
	snprintf(text + len, sizeof text - len,
		"ip xfrm policy add src " OUR " dst 10.0.0.0/16 proto tcp dir out priority 1 "
		"tmpl proto esp\n"
		"ip xfrm policy add src 10.0.0.0/16 dst " OUR " dir in tmpl proto esp\n"
		"ip xfrm policy add src " OUR " dst 10.0.4.250 proto tcp dport 9 dir out "
		"priority 2 action block\n");
	if (update(text) != 0)
		fail_msg("%s", why);
	assert_int_equal(db.outbound, PEERS);
	assert_int_equal(db.inbound, PEERS);
	for (unsigned i = 0; i < PEERS; i++) {
		struct ip_addr to;
		struct ip_flow f;
		struct esp_sa *sa;

		snprintf(peer, sizeof peer, "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		to = addr(peer);
		f = flow(OUR, peer, 6, 9);
		assert_int_equal(esp_database_output(&db, &f, &sa), ESP_PROTECT);
		assert_ptr_equal(sa, esp_database_find_outbound(&db, &to, 0x100));
		assert_true(ip_addr_equal(&sa->config.dst, &to));
		assert_int_equal(leaves(peer, 17, 7), i % 2 ? -1 : 0x100);
		assert_int_equal(arrives(peer, 6, 0x200 + i), ESP_ARRIVED);
		assert_int_equal(arrives(peer, 6, 0x200 + (i + 1) % PEERS), ESP_MISMATCH);
	}
}

static void room_is_that_of_the_worst_policy(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER), far = addr("10.9.0.1"), to;
	struct ip_addr our6 = addr("fd00::1"), peer6 = addr("fd00::2");

	assert_int_equal(
		update(PAIR BOTH "ip xfrm policy add src " OUR
				 " dst 10.9.0.0/16 dir out tmpl src " OUR
				 " dst 10.0.0.9 proto esp mode tunnel\n"
				 "ip xfrm policy add src fd00::1 dst fd00::2 proto tcp dir out\n"),
		0);
	/* 1500 - 20 - 16 - 16 = 1448, of which 2 are the trailer. */
	assert_int_equal(esp_database_room(&db, &our, &peer, 1500, &to), 1466);
	assert_true(ip_addr_equal(&to, &peer));
	assert_int_equal(esp_database_room(&db, &our, &far, 1500, &to), 1446);
	peer = addr("10.0.0.9");
	assert_true(ip_addr_equal(&to, &peer));
	assert_int_equal(esp_database_room(&db, &our6, &peer6, 1500, &to), 1500);
	assert_true(ip_addr_equal(&to, &peer6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_policy_nothing_passes),
		TEST(the_first_policy_that_fits_decides),
		TEST(what_must_be_protected_comes_by_its_sa_alone),
		TEST(templates_choose_among_sas),
		TEST(sas_of_other_hosts_are_nobodys),
		TEST(each_of_many_peers_has_its_own_sas),
		TEST(room_is_that_of_the_worst_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
