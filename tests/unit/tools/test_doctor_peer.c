/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer's port as the doctor sees it, over an engine and a clock that do as the test says. */
#include "tools/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static struct {
	struct llp llp;
	unsigned unlocks;      /* so far */
	unsigned round;        /* the engine's thread runs behind this unlock; 0: never */
	int error;             /* that the connection ends with in its round */
	uint64_t now, look_ns; /* a look at the clock is so far from the one before */
	unsigned locks;        /* held */
	bool open;             /* there is a connection */
	bool open_when_told;   /* it was still there when the doctor spoke of it */
	bool told;
	int told_error;
} w;

/* ---- a connection ------------------------------------------------------------------------- */

static void doctor_peer_llp_end(struct llp *l)
{
	w.open = false;
}

static const struct llp_ops doctor_peer_llp_ops = {
	.abort = doctor_peer_llp_end,
	.release = doctor_peer_llp_end,
};

static int doctor_peer_llp_connect(struct llp_stack *s, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	w.llp = (struct llp){.ops = &doctor_peer_llp_ops, .user_ops = ops, .user = user};
	w.open = true;
	*out = &w.llp;
	return 0;
}

static const struct llp_stack_ops doctor_peer_llp_stack_ops = {.connect = doctor_peer_llp_connect};
static struct llp_stack doctor_peer_llp_stack = {.ops = &doctor_peer_llp_stack_ops};

/* ---- what is around the doctor ------------------------------------------------------------ */

struct engine *net_engine(struct net *n)
{
	return NULL;
}

struct llp_stack *net_llp(struct net *n)
{
	return &doctor_peer_llp_stack;
}

struct tls_stack *net_tls(struct net *n)
{
	return NULL;
}

uint64_t net_now(const struct net *n)
{
	return w.now += w.look_ns;
}

void engine_lock(struct engine *e)
{
	assert_int_equal(w.locks++, 0);
}

/* The engine's thread gets its turn as soon as the lock is free, however long ours then waits. */
void engine_unlock(struct engine *e)
{
	assert_int_equal(w.locks--, 1);
	if (++w.unlocks == w.round && w.open) {
		w.open = false;
		w.llp.user_ops->closed(w.llp.user, w.error);
	}
}

bool doctor_map_port(struct doctor *d, const char *peer)
{
	return true;
}

bool doctor_explain_tls(struct doctor *d, int error, bool connected, const char *peer)
{
	w.told = true;
	w.told_error = error;
	w.open_when_told = w.open;
	return true;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void doctor_peer_look(unsigned round, uint64_t look_ns)
{
	static struct config config;
	struct doctor d = {.config = &config, .port = 7174};

	memset(&w, 0, sizeof w);
	w.round = round;
	w.error = -EKEYREJECTED;
	w.look_ns = look_ns;
	doctor_look_at_peer(&d);
	assert_true(w.told);
	assert_false(w.open_when_told);
	assert_false(w.open);
}

/* What came of the connection stays, though it came before our thread had its turn again. */
static void an_end_before_we_look_is_told(void **state)
{
	doctor_peer_look(1, 1000000);
	assert_int_equal(w.told_error, -EKEYREJECTED);
}

/* Whenever the machine stood still: at the first look, and at each of several. */
static void a_pause_is_no_silence(void **state)
{
	for (unsigned round = 2; round < 20; round++) {
		doctor_peer_look(round, 7 * SECOND);
		assert_int_equal(w.told_error, -EKEYREJECTED);
	}
}

/* In 5 s of naps of 1 ms, whatever comes later. */
static void silence_is_told(void **state)
{
	doctor_peer_look(0, SECOND / 10);
	assert_int_equal(w.told_error, -ETIMEDOUT);
	assert_in_range(w.unlocks, 40, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_before_we_look_is_told),
		cmocka_unit_test(a_pause_is_no_silence),
		cmocka_unit_test(silence_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
