/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/libraries.h"

#include "tls/tls.h"

#include <rte_version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

/* Each has its name and a version that begins with a number, or is told to be missing. */
static void all_are_named(void **state)
{
	static const char *const names[LIBRARIES] = {"DPDK", "OpenSSL", "libipsec-mb", "rdma-core"};
	struct libraries_one list[LIBRARIES];

	libraries_list(list);
	for (unsigned i = 0; i < LIBRARIES; i++) {
		const char *v = list[i].version;

		assert_string_equal(list[i].name, names[i]);
		assert_true((*v >= '0' && *v <= '9') || strcmp(v, "none") == 0);
		assert_null(strpbrk(v, " \n"));
	}
}

/* The libraries that run, and not the headers that were there. */
static void they_are_those_in_use(void **state)
{
	struct libraries_one list[LIBRARIES];
	char dpdk[80];

	libraries_list(list);
	snprintf(dpdk, sizeof dpdk, "DPDK %s", list[0].version);
	assert_string_equal(dpdk, rte_version());
	assert_int_equal(strcmp(list[1].version, "none") != 0, tls_is_available());
	/* The build wants its headers, so it is there. */
	assert_string_not_equal(list[3].version, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_named),
		cmocka_unit_test(they_are_those_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
