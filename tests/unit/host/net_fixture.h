/* SPDX-License-Identifier: BSD-2-Clause */
/** @file net_fixture.h A network for the tests of this directory. Include it after cmocka.h. */
#ifndef TESTS_UNIT_HOST_NET_FIXTURE_H
#define TESTS_UNIT_HOST_NET_FIXTURE_H

#include "host/net.h"

/** Settings of a host on DPDK's null port. */
static inline void net_fixture_null(struct config *c)
{
	static const char *const set[] = {
		"port=net_null0", "address=10.0.0.1/24", "memory=16", "log=error"};
	struct config_error e;

	config_init(c);
	for (unsigned i = 0; i < sizeof set / sizeof set[0]; i++)
		assert_int_equal(config_set(c, "--set", set[i], &e), 0);
}

/** Open one with @p n settings, `KEY=VALUE` each; it is not started. Fails the test with the
 * reason. */
static inline struct net *net_fixture_open(const char *const *set, unsigned n)
{
	struct config_error e = {.text = ""};
	struct config c;
	struct net *net;

	config_init(&c);
	for (unsigned i = 0; i < n; i++)
		if (config_set(&c, "--set", set[i], &e))
			fail_msg("%s", e.text);
	if (net_open(&c, &net, &e))
		fail_msg("%s", e.text);
	return net;
}

#endif
