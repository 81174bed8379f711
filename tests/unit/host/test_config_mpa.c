/* SPDX-License-Identifier: BSD-2-Clause */
/* The presets of peers and the list of RTR types, as parsers. */
#include "host/config_mpa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

/** The preference names each type that can be done at most once, and then nothing. */
static void assert_order(const struct mpa_config *m)
{
	uint8_t seen = 0;

	for (unsigned i = 0; i < sizeof m->rtr_order; i++) {
		if (m->rtr_order[i] == 0) {
			for (; i < sizeof m->rtr_order; i++)
				assert_int_equal(m->rtr_order[i], 0);
			break;
		}
		assert_int_equal(m->rtr_order[i] & (m->rtr_order[i] - 1), 0);
		assert_int_equal(m->rtr_order[i] & ~m->rtr, 0);
		assert_int_equal(m->rtr_order[i] & seen, 0);
		seen |= m->rtr_order[i];
	}
}

static void test_every_preset(void **state)
{
	struct config c;
	unsigned n = 0;

	for (const struct config_word *w = config_mpa_peers; w->name; w++, n++) {
		config_init(&c);
		assert_null(config_mpa_peer(&c, w->name));
		assert_in_range(c.mpa.revision, 1, 2);
		assert_int_equal(c.mpa.crc, MPA_CRC_PREFERRED);
		assert_false(c.mpa.markers);
		assert_false(c.mpa.in_order);
		assert_int_not_equal(c.mpa.rtr, 0);
		assert_order(&c.mpa);
		assert_in_range(c.mpa.private_max, 0, MPA_PRIVATE_MAX);
		/* Peer-to-peer is of RFC 6581, and so of revision 2. */
		assert_int_equal(c.mpa.peer_to_peer, c.mpa.revision == 2);
	}
	assert_int_equal(n, 7);
}

/* Each preset is whole: nothing of the one before it is left. */
static void test_presets_do_not_add_up(void **state)
{
	struct config c, fresh;

	for (const struct config_word *a = config_mpa_peers; a->name; a++) {
		for (const struct config_word *b = config_mpa_peers; b->name; b++) {
			config_init(&c);
			config_init(&fresh);
			assert_null(config_mpa_peer(&c, a->name));
			assert_null(config_mpa_peer(&c, b->name));
			assert_null(config_mpa_peer(&fresh, b->name));
			assert_memory_equal(&c.mpa, &fresh.mpa, sizeof c.mpa);
		}
	}
}

static void test_rtr_orders(void **state)
{
	static const struct {
		const char *value;
		uint8_t order[3];
	} good[] = {
		{"write", {MPA_RTR_WRITE}},
		{"read", {MPA_RTR_READ}},
		{"send", {MPA_RTR_SEND}},
		{"write,read", {MPA_RTR_WRITE, MPA_RTR_READ}},
		{"send,read,write", {MPA_RTR_SEND, MPA_RTR_READ, MPA_RTR_WRITE}},
		{"read , send, write", {MPA_RTR_READ, MPA_RTR_SEND, MPA_RTR_WRITE}},
		{"none", {0}},
	};

	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		const uint8_t *o = good[i].order;
		struct config c;

		config_init(&c);
		assert_null(config_mpa_rtr(&c, good[i].value));
		assert_int_equal(c.mpa.rtr, o[0] | o[1] | o[2]);
		assert_memory_equal(c.mpa.rtr_order, o, 3);
		assert_int_equal(c.mpa.peer_to_peer, o[0] != 0);
	}
}

static void test_refusals_change_nothing(void **state)
{
	static const char *const rtr[] = {",", "read,\tsend", "write,", ",write", "write,,read",
		"Write", "write,write", "read,none", "none,none", "write;read", "writ", "all",
		"write, read, send                  ", "write,read,send,write"};
	static const char *const peer[] = {"", "SIW", "siw ", "mlx5", "auto,siw"};
	struct config c, before;

	config_init(&c);
	assert_null(config_mpa_peer(&c, "cxgb4"));
	before = c;
	for (unsigned i = 0; i < sizeof rtr / sizeof rtr[0]; i++) {
		assert_string_equal(config_mpa_rtr(&c, rtr[i]), CONFIG_UNEXPECTED);
		assert_memory_equal(&c, &before, sizeof c);
	}
	for (unsigned i = 0; i < sizeof peer / sizeof peer[0]; i++) {
		assert_string_equal(config_mpa_peer(&c, peer[i]), CONFIG_UNEXPECTED);
		assert_memory_equal(&c, &before, sizeof c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_preset),
		cmocka_unit_test(test_presets_do_not_add_up),
		cmocka_unit_test(test_rtr_orders),
		cmocka_unit_test(test_refusals_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
