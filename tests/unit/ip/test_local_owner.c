/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks with the same address: whose it is. */
#include "local_case.h"

#include "ip/stack.h"

/** What @p from has sent reaches @p to. */
static void carry(struct host *from, struct host *to)
{
	for (unsigned i = 0; i < from->n_tx; i++)
		assert_int_equal(ip_input(to->ip, &from->tx[i], 1, to->now), 1);
	from->n_tx = 0;
}

/** Two stacks with one address: who comes second goes without it, and the owner keeps it. */
static void owner_answers_the_probe(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1"), ll = host_addr("fe80::ff:fe00:9");

	assert_int_equal(local_case_add(owner, "fd00::1", 64), 0);
	host_run(owner, 20 * SECOND);
	host_forget(owner);
	assert_int_equal(local_case_add(other, "fd00::1", 64), 0);
	carry(other, owner);
	carry(owner, other);
	assert_true(ip_addr_is_local(owner->ip, &a));
	assert_false(ip_addr_is_local(other->ip, &a));
	assert_true(ip_addr_is_local(other->ip, &ll));
	assert_int_equal(ip_stack_stats(owner->ip)->nd_conflicts, 0);
	assert_int_equal(ip_stack_stats(other->ip)->nd_conflicts, 1);
	assert_non_null(strstr(other->log_text, "claimed by 02:00:00:00:00:01: it cannot be used"));
	host_free(owner);
	host_free(other);
}

/** Both did not hear each other's probes: each tells of it, and defends the address once. */
static void owners_that_meet_tell_of_it(void **state)
{
	struct host *h[] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(local_case_add(h[i], "fd00::1", 64), 0);
		host_run(h[i], SECOND / 2);
		host_forget(h[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		host_run(h[i], 20 * SECOND);
	for (unsigned i = 0; i < 4; i++)
		carry(h[i % 2], h[(i + 1) % 2]);
	for (unsigned i = 0; i < 2; i++) {
		assert_in_range(ip_stack_stats(h[i]->ip)->nd_conflicts, 1, 2);
		assert_true(ip_addr_is_local(h[i]->ip, &a));
		host_expect_nothing(h[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		host_free(h[i]);
}

/** RFC 4862 section 5.4: there an address may have another owner, or none any more. */
static void link_that_comes_up_has_its_own_owners(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1"), src = host_addr("fd00::5");
	struct ip_path p = {.tos = 0};

	assert_int_equal(local_case_add(owner, "fd00::1", 64), 0);
	assert_int_equal(local_case_add(other, "fd00::1", 64), 0);
	assert_int_equal(local_case_add(other, "fd00::5", 64), 0);
	host_run(owner, 20 * SECOND);
	host_run(other, 20 * SECOND);
	host_forget(owner);
	host_forget(other);
	ip_link_up(other->ip, other->now);
	carry(other, owner);
	carry(owner, other);
	/* It is asked for once more, as it was in use. */
	assert_true(ip_addr_is_local(other->ip, &a));
	host_run(other, SECOND + SECOND / 10);
	carry(other, owner);
	carry(owner, other);
	assert_true(ip_addr_is_local(owner->ip, &a));
	assert_false(ip_addr_is_local(other->ip, &a));
	host_run(other, 2 * SECOND);
	host_forget(other);
	assert_int_equal(ip_path_init(other->ip, &p, &src, &a, other->now), 0);
	assert_false(p.loop);
	/* Nobody has it there, which is known in two seconds. */
	ip_link_up(other->ip, other->now);
	host_run(other, 2 * SECOND - SECOND / 10);
	assert_false(ip_addr_is_local(other->ip, &a));
	host_run(other, SECOND / 5);
	assert_true(ip_addr_is_local(other->ip, &a));
	assert_int_equal(
		ip_send(other->ip, &p, IP_PROTO_TCP, host_segment(other, 20), other->now), 0);
	assert_true(p.loop);
	host_run(other, 20 * SECOND);
	assert_true(ip_addr_is_local(other->ip, &a));
	host_free(other);
	host_free(owner);
}

/** The switch is back: who goes without the address tries again, and its owner keeps it. */
static void owner_does_not_give_way_to_a_try(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(local_case_add(owner, "fd00::1", 64), 0);
	host_run(owner, 20 * SECOND);
	assert_int_equal(local_case_add(other, "fd00::1", 64), 0);
	carry(other, owner);
	host_forget(owner);
	for (unsigned i = 0; i < 3; i++) {
		ip_link_up(owner->ip, owner->now); /* in the midst of its own probing, too */
		ip_link_up(other->ip, other->now);
		carry(other, owner);
		carry(owner, other);
		assert_true(ip_addr_is_local(owner->ip, &a));
		assert_false(ip_addr_is_local(other->ip, &a));
	}
	host_run(owner, 20 * SECOND);
	assert_true(ip_addr_is_local(owner->ip, &a));
	host_forget(owner);
	host_forget(other);
	host_free(other);
	host_free(owner);
}

/** Of two that have used it, each on its own link, neither gives way when the links are joined. */
static void users_of_an_address_do_not_give_way_to_each_other(void **state)
{
	struct host *h[2] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(local_case_add(h[i], "fd00::1", 64), 0);
		host_run(h[i], 20 * SECOND);
		host_forget(h[i]);
		ip_link_up(h[i]->ip, h[i]->now);
	}
	for (unsigned i = 0; i < 4; i++)
		carry(h[i % 2], h[1 - i % 2]);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(ip_addr_is_local(h[i]->ip, &a));
		host_forget(h[i]);
	}
	host_free(h[1]);
	host_free(h[0]);
}

/** Two that try to have an address at the same moment do not do so for ever. */
static void one_of_two_gets_the_address(void **state)
{
	struct host *h[2] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(local_case_add(h[i], "fd00::1", 64), 0);
	for (unsigned n = 0; n < 3000; n++) {
		struct rte_mbuf *tx[HOST_KEEP];
		unsigned n_tx = h[0]->n_tx;

		/* Both speak before they hear. */
		memcpy(tx, h[0]->tx, sizeof tx);
		h[0]->n_tx = 0;
		carry(h[1], h[0]);
		for (unsigned i = 0; i < n_tx; i++)
			assert_int_equal(ip_input(h[1]->ip, &tx[i], 1, h[1]->now), 1);
		if (n == 1) {
			assert_false(ip_addr_is_local(h[0]->ip, &a));
			assert_false(ip_addr_is_local(h[1]->ip, &a));
		}
		for (unsigned i = 0; i < 2; i++)
			host_run(h[i], SECOND / 10);
	}
	assert_true(ip_addr_is_local(h[0]->ip, &a) != ip_addr_is_local(h[1]->ip, &a));
	for (unsigned i = 0; i < 2; i++) {
		host_forget(h[i]);
		host_free(h[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_answers_the_probe),
		cmocka_unit_test(owners_that_meet_tell_of_it),
		cmocka_unit_test(link_that_comes_up_has_its_own_owners),
		cmocka_unit_test(owner_does_not_give_way_to_a_try),
		cmocka_unit_test(users_of_an_address_do_not_give_way_to_each_other),
		cmocka_unit_test(one_of_two_gets_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
