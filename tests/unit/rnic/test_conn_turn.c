/* SPDX-License-Identifier: BSD-2-Clause */
/** Turns of hosts: in the order of asking, whatever is ready first, leaves, or belongs to others.
 */
#include "rnic/conn_turn.h"

#include "base/container_of.h"
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CONNECTS 12

struct connect {
	struct conn_turn turn;
	struct world *world;
	bool again; /**< when it has begun: once more, as after a late answer */
};

struct world {
	struct pair pair;
	struct conn_turns *turns;
	struct connect connect[CONNECTS];
	char begun[2 * CONNECTS + 1]; /**< their letters */
	unsigned n_begun;
};

static void world_begin(struct conn_turn *t)
{
	struct connect *c = container_of(t, struct connect, turn);
	struct world *w = c->world;

	assert_int_equal(t->state, CONN_TURN_NONE);
	assert_true(w->n_begun < sizeof w->begun - 1);
	w->begun[w->n_begun++] = (char)('a' + (c - w->connect));
	if (c->again) {
		c->again = false;
		conn_turn_again(w->turns, t);
	}
}

static struct ip_addr world_host(unsigned n)
{
	return ip_addr_from_v4((const uint8_t[4]){10, 0, (uint8_t)(n >> 8), (uint8_t)n});
}

static void world_init(struct world *w)
{
	memset(w, 0, sizeof *w);
	pair_engine_init(&w->pair);
	engine_lock(&w->pair.engine);
	assert_int_equal(
		conn_turns_create(&w->pair.engine, &(struct random_source){pair_random, &w->pair},
			world_begin, &w->turns),
		0);
	for (unsigned i = 0; i < CONNECTS; i++)
		w->connect[i].world = w;
}

static void world_fini(struct world *w)
{
	for (unsigned i = 0; i < CONNECTS; i++)
		conn_turn_leave(w->turns, &w->connect[i].turn);
	conn_turns_destroy(w->turns);
	engine_unlock(&w->pair.engine);
	engine_fini(&w->pair.engine);
	llp_mem_destroy(w->pair.mem);
}

static struct conn_turn *world_turn(struct world *w, char letter)
{
	return &w->connect[letter - 'a'].turn;
}

static void world_take(struct world *w, const char *letters, unsigned host)
{
	struct ip_addr addr = world_host(host);

	for (; *letters; letters++)
		conn_turn_take(w->turns, world_turn(w, *letters), &addr);
}

static void world_ready(struct world *w, const char *letters)
{
	for (; *letters; letters++)
		conn_turn_ready(w->turns, world_turn(w, *letters));
}

static void world_leave(struct world *w, const char *letters)
{
	for (; *letters; letters++)
		conn_turn_leave(w->turns, world_turn(w, *letters));
}

/** Serve doorbells; then just these must have begun, in this order, since the last time. */
static void world_expect(struct world *w, const char *letters)
{
	engine_unlock(&w->pair.engine);
	engine_lock(&w->pair.engine);
	w->begun[w->n_begun] = '\0';
	assert_string_equal(w->begun, letters);
	w->n_begun = 0;
}

static void the_order_is_that_of_asking(void **state)
{
	struct world w;

	world_init(&w);
	world_take(&w, "abcd", 1);
	world_ready(&w, "db");
	world_expect(&w, "");
	world_ready(&w, "a");
	world_expect(&w, "ab");
	world_ready(&w, "c");
	world_expect(&w, "cd");
	assert_null(conn_turns_first(w.turns, &(struct ip_addr){0}));
	world_fini(&w);
}

/** None begins before the doorbell: whoever says that one is ready may be inside an upcall. */
static void none_begins_at_once(void **state)
{
	struct ip_addr host = world_host(1);
	struct world w;

	world_init(&w);
	world_take(&w, "a", 1);
	assert_ptr_equal(conn_turns_first(w.turns, &host), world_turn(&w, 'a'));
	world_ready(&w, "a");
	assert_int_equal(w.n_begun, 0);
	/* Until then others of its host must not pass. */
	assert_ptr_equal(conn_turns_first(w.turns, &host), world_turn(&w, 'a'));
	world_take(&w, "b", 1);
	world_ready(&w, "b");
	world_expect(&w, "ab");
	assert_null(conn_turns_first(w.turns, &host));
	world_fini(&w);
}

static void who_leaves_lets_those_behind_pass(void **state)
{
	struct world w;

	world_init(&w);
	world_take(&w, "abcdef", 1);
	world_ready(&w, "bce");
	world_leave(&w, "b"); /* ready, in the middle */
	world_expect(&w, "");
	world_leave(&w, "a"); /* the first */
	world_expect(&w, "c");
	world_ready(&w, "d");
	world_leave(&w, "d"); /* due */
	world_expect(&w, "e");
	world_leave(&w, "fa"); /* the last one; one that has no place */
	world_take(&w, "a", 1);
	world_ready(&w, "a");
	world_expect(&w, "a");
	world_fini(&w);
}

/** Also those that share a bucket: there are more hosts than buckets. */
static void hosts_do_not_wait_for_each_other(void **state)
{
	struct world w;

	world_init(&w);
	for (unsigned host = 2; host < 4 * CONN_TURN_BUCKETS; host++) {
		world_take(&w, "a", 1);
		world_take(&w, "b", host);
		world_take(&w, "c", 1);
		world_take(&w, "d", host);
		world_ready(&w, "cd");
		world_expect(&w, "");
		world_ready(&w, "b");
		world_expect(&w, "bd");
		world_leave(&w, "a");
		world_expect(&w, "c");
	}
	world_fini(&w);
}

static void a_host_is_released_in_order(void **state)
{
	struct ip_addr host = world_host(1), other = world_host(2), nobody = world_host(3);
	struct world w;

	world_init(&w);
	world_take(&w, "ab", 1);
	world_take(&w, "c", 2);
	world_take(&w, "d", 1);
	world_ready(&w, "b");
	conn_turns_release(w.turns, &nobody);
	world_expect(&w, "");
	conn_turns_release(w.turns, &host);
	world_ready(&w, "d"); /* it is already */
	world_expect(&w, "abd");
	conn_turns_release(w.turns, &other);
	world_expect(&w, "c");
	world_fini(&w);
}

/** One that has had its turn does not go to the end of the queue. */
static void who_begins_again_waits_for_nobody(void **state)
{
	struct world w;

	world_init(&w);
	world_take(&w, "abc", 1);
	world_ready(&w, "a");
	world_expect(&w, "a");
	conn_turn_again(w.turns, world_turn(&w, 'a'));
	world_expect(&w, "a");
	/* Nor from where it is told to begin. */
	w.connect[1].again = true;
	world_ready(&w, "bc");
	world_expect(&w, "bcb");
	world_fini(&w);
}

static void what_is_due_may_go(void **state)
{
	struct world w;

	world_init(&w);
	world_take(&w, "ab", 1);
	world_ready(&w, "ab");
	world_leave(&w, "ab");
	conn_turns_destroy(w.turns);
	w.turns = NULL;
	world_expect(&w, "");
	conn_turns_destroy(NULL);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_is_that_of_asking),
		cmocka_unit_test(none_begins_at_once),
		cmocka_unit_test(who_leaves_lets_those_behind_pass),
		cmocka_unit_test(hosts_do_not_wait_for_each_other),
		cmocka_unit_test(a_host_is_released_in_order),
		cmocka_unit_test(who_begins_again_waits_for_nobody),
		cmocka_unit_test(what_is_due_may_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
