/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capability.h"

#include "support/capabilities.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct capabilities before;

static int setup(void **state)
{
	before = capabilities_get();
	return 0;
}

static int teardown(void **state)
{
	capabilities_set_effective(before.effective);
	return 0;
}

static void test_none_is_there(void **state)
{
	capabilities_set_effective(0);
	assert_string_equal(capability_missing("net_af_packet0,iface=eth0"), "CAP_NET_RAW");
	assert_string_equal(capability_missing("net_af_xdp0,iface=eth0"), "CAP_NET_ADMIN");
	assert_string_equal(capability_missing("net_tap"), "CAP_NET_ADMIN");
	assert_string_equal(capability_missing("eth_af_packet0,iface=eth0"), "CAP_NET_RAW");
	assert_string_equal(capability_missing("eth_tap0"), "CAP_NET_ADMIN");
	/* These need none. */
	assert_null(capability_missing("net_memif0,role=client"));
	assert_null(capability_missing("0000:00:04.0"));
	assert_null(capability_missing(""));
}

static void test_the_other_is_there(void **state)
{
	if (!(before.permitted & 1u << CAP_NET_RAW))
		skip();
	capabilities_set_effective(1u << CAP_NET_RAW);
	assert_null(capability_missing("net_af_packet0,iface=eth0"));
	assert_string_equal(capability_missing("net_tap0"), "CAP_NET_ADMIN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_other_is_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
