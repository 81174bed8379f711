/* SPDX-License-Identifier: BSD-2-Clause */
/* The entries of the neighbour cache: which is found, and which makes room. */
#include "ip/neighbour_priv.h"
#include "ip/stack.h"
#include "neighbour_case.h"

static void unused_entries_expire(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("10.0.0.2");
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	host_forget(h);
	host_run(h, 640 * SECOND);
	assert_null(neighbour_find(h->ip, &a));
	/* A path that knew it finds a new one. */
	neighbour_case_send(h, &p);
	host_expect(h, REQUEST);
	host_free(h);
}

static void strangers_cannot_push_out_who_is_used(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};
	struct ip_addr a = host_addr("10.0.0.2"), x = host_addr("10.9.0.0");

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	host_forget(h);
	for (unsigned i = 0; i < 20000; i++) {
		x.b[14] = (uint8_t)(i >> 8);
		x.b[15] = (uint8_t)i;
		assert_non_null(neighbour_get(h->ip, &x, h->now));
	}
	assert_non_null(neighbour_find(h->ip, &a));
	neighbour_case_send(h, &p); /* its path is found again */
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/* A neighbour of the worth that the cases below want, in use since @p used. */
static struct ip_neighbour *occupant(
	struct host *h, unsigned i, enum neighbour_state state, uint64_t used, uint64_t confirmed)
{
	struct ip_addr a = host_addr("10.7.0.0");
	struct ip_neighbour *n;

	a.b[14] = (uint8_t)(i >> 8);
	a.b[15] = (uint8_t)i;
	n = neighbour_get(h->ip, &a, h->now);
	n->state = (uint8_t)state;
	n->used = used;
	n->confirmed = confirmed;
	return n;
}

/* When the table is full: who has failed goes, then strangers, then who has not answered, then who
 * never helped; of equals the one longest unused; a gateway last. */
static void least_worth_goes_first(void **state)
{
	static const struct {
		enum neighbour_state state;
		uint64_t used, confirmed;
	} t[] = {
		{NEIGHBOUR_FAILED, 900, 900},
		{NEIGHBOUR_STALE, 0, 900},
		{NEIGHBOUR_INCOMPLETE, 900, 0},
		{NEIGHBOUR_STALE, 800, 0},
		{NEIGHBOUR_REACHABLE, 500, 900},
		{NEIGHBOUR_REACHABLE, 600, 900},
	};
	struct host *h = host_new_v4();
	struct ip_addr net = host_addr("192.0.2.0"), link = host_addr("10.7.0.0"), gateway;
	const unsigned first = NEIGHBOUR_MAX - 40; /* free entries are taken from the front */

	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++)
		(void)occupant(h, i, NEIGHBOUR_REACHABLE, 1000, 1000);
	assert_null(h->ip->neighbours.free);
	assert_int_equal(ip_route_add(h->ip, &link, 16, NULL), 0);
	/* Whatever their order in the table, these are within one look. */
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		struct ip_neighbour *n = &h->ip->neighbours.e[first + 5 * i];

		n->state = (uint8_t)t[i].state;
		n->used = t[i].used;
		n->confirmed = t[i].confirmed;
	}
	gateway = h->ip->neighbours.e[first + 3].addr;
	h->ip->neighbours.e[first + 3].used = 1;
	assert_int_equal(ip_route_add(h->ip, &net, 24, &gateway), 0);
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		struct ip_addr victim = h->ip->neighbours.e[first + 5 * i].addr;

		h->ip->neighbours.hand = first - 10;
		assert_non_null(neighbour_find(h->ip, &victim));
		(void)occupant(h, 60000 + i, NEIGHBOUR_REACHABLE, 1000, 1000);
		assert_null(neighbour_find(h->ip, &victim));
	}
	h->ip->neighbours.hand = first - 10;
	(void)occupant(h, 61000, NEIGHBOUR_REACHABLE, 1000, 1000);
	assert_non_null(neighbour_find(h->ip, &gateway));
	host_free(h);
}

static void count_reachable(
	void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state)
{
	unsigned *n = ctx;

	*n += strcmp(state, "REACHABLE") == 0 && mac[5] == 2;
}

static void listing(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};
	unsigned n = 0;

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	ip_neighbour_each(h->ip, count_reachable, &n);
	assert_int_equal(n, 1);
	host_free(h);
}

/** All there can be, also those that share a bucket; each is found, and none that was let go. */
static void each_is_found_until_it_is_released(void **state)
{
	struct host *h = host_new_v4();
	struct ip_neighbour *n[NEIGHBOUR_MAX];
	struct ip_addr a = host_addr("10.7.0.0");

	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++)
		n[i] = occupant(h, i, NEIGHBOUR_STALE, 1, 1);
	for (unsigned step = 2; step; step--) {
		for (unsigned i = 0; i < NEIGHBOUR_MAX; i += step) {
			a = n[i]->addr;
			if (!neighbour_find(h->ip, &a))
				continue;
			assert_ptr_equal(neighbour_find(h->ip, &a), n[i]);
			assert_ptr_equal(neighbour_get(h->ip, &a, h->now), n[i]);
			neighbour_release(h->ip, n[i]);
			assert_null(neighbour_find(h->ip, &a));
		}
	}
	for (unsigned i = 0; i < NEIGHBOUR_BUCKETS; i++)
		assert_null(h->ip->neighbours.bucket[i]);
	host_free(h);
}

/** Whoever had the entry before, nothing of that one is believed, asked or sent. */
static void an_entry_begins_anew(void **state)
{
	static const uint8_t none[ETH_ADDR_LEN];
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};
	struct ip_addr a = host_addr("10.0.0.3");
	struct ip_neighbour *before, *n;

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	before = neighbour_case_entry(h);
	before->router = before->has_rival = before->has_proven = before->told = before->moved =
		before->polled = true;
	before->since = before->taken = before->contested = before->doubted = before->claimed = 1;
	before->asked = NEIGHBOUR_ASK_ALL;
	before->probes = before->doubts = 1;
	neighbour_release(h->ip, before);
	n = neighbour_get(h->ip, &a, h->now);
	assert_ptr_equal(n, before);
	assert_int_equal(n->state, NEIGHBOUR_NEW);
	assert_memory_equal(n->eth, none, ETH_ADDR_LEN);
	assert_false(n->router || n->answered || n->has_rival || n->has_proven || n->told ||
		     n->moved || n->polled);
	assert_true(n->used == 0 && n->confirmed == 0 && n->since == 0 && n->taken == 0);
	assert_true(n->contested == 0 && n->doubted == 0 && n->claimed == 0);
	assert_true(n->asked == 0 && n->doubts == 0 && n->probes == 0 && n->queued == 0);
	host_free(h);
}

/** One that nobody has sent to is forgotten after a minute. */
static void one_that_is_not_used_goes(void **state)
{
	struct host *h = host_new_v4();

	(void)neighbour_case_entry(h);
	host_run(h, 59 * SECOND);
	assert_non_null(host_neighbour(h, "10.0.0.2"));
	host_run(h, 2 * SECOND);
	assert_null(host_neighbour(h, "10.0.0.2"));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unused_entries_expire),
		cmocka_unit_test(strangers_cannot_push_out_who_is_used),
		cmocka_unit_test(least_worth_goes_first),
		cmocka_unit_test(listing),
		cmocka_unit_test(each_is_found_until_it_is_released),
		cmocka_unit_test(an_entry_begins_anew),
		cmocka_unit_test(one_that_is_not_used_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
