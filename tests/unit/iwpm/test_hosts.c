/* SPDX-License-Identifier: BSD-2-Clause */
/** What hosts did before is remembered for a minute, of so many at most. */
#include "iwpm/hosts.h"
#include "world.h"

#define MINUTE UINT64_C(60000000000)

static void a_minute(void **state)
{
	struct iwpm_hosts h = {.key = {{1, 2}}};
	struct ip_addr a = world_at("10.0.0.1", 0).addr, b = world_at("fd00::1", 0).addr;

	assert_int_equal(iwpm_hosts_get(&h, &a, 5), IWPM_HOST_UNKNOWN);
	iwpm_hosts_set(&h, &a, IWPM_HOST_SILENT, 5);
	iwpm_hosts_set(&h, &b, IWPM_HOST_ANSWERS, 6);
	assert_int_equal(iwpm_hosts_get(&h, &a, 5 + MINUTE - 1), IWPM_HOST_SILENT);
	assert_int_equal(iwpm_hosts_get(&h, &b, 5 + MINUTE), IWPM_HOST_ANSWERS);
	assert_int_equal(iwpm_hosts_get(&h, &a, 5 + MINUTE), IWPM_HOST_UNKNOWN);
	iwpm_hosts_set(&h, &a, IWPM_HOST_ANSWERS, 5 + MINUTE);
	assert_int_equal(iwpm_hosts_get(&h, &a, 5 + MINUTE), IWPM_HOST_ANSWERS);
}

/** Who takes another's place is not taken for it. */
static void many_hosts(void **state)
{
	struct iwpm_hosts h = {.key = {{1, 2}}};
	unsigned kept = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct ip_addr a = ip_addr_from_v4(&i);

		assert_int_equal(iwpm_hosts_get(&h, &a, 0), IWPM_HOST_UNKNOWN);
		iwpm_hosts_set(&h, &a, IWPM_HOST_SILENT, 0);
		assert_int_equal(iwpm_hosts_get(&h, &a, 0), IWPM_HOST_SILENT);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		struct ip_addr a = ip_addr_from_v4(&i);

		kept += iwpm_hosts_get(&h, &a, 0) == IWPM_HOST_SILENT;
	}
	assert_in_range(kept, 200, IWPM_HOSTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_minute),
		cmocka_unit_test(many_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
