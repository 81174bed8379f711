/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capability.h"

#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct __user_cap_data_struct before[_LINUX_CAPABILITY_U32S_3];

static void set_effective(uint32_t effective)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	memcpy(data, before, sizeof data);
	data[0].effective = effective;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static int setup(void **state)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, before) != 0;
}

static int teardown(void **state)
{
	set_effective(before[0].effective);
	return 0;
}

static void test_none_is_there(void **state)
{
	set_effective(0);
	assert_string_equal(capability_missing("net_af_packet0,iface=eth0"), "CAP_NET_RAW");
	assert_string_equal(capability_missing("net_af_xdp0,iface=eth0"), "CAP_NET_ADMIN");
	assert_string_equal(capability_missing("net_tap"), "CAP_NET_ADMIN");
	/* These need none. */
	assert_null(capability_missing("net_memif0,role=client"));
	assert_null(capability_missing("0000:00:04.0"));
	assert_null(capability_missing(""));
}

static void test_the_other_is_there(void **state)
{
	if (!(before[0].permitted & 1u << CAP_NET_RAW))
		skip();
	set_effective(1u << CAP_NET_RAW);
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
