/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/requirement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names_match(void **state)
{
	assert_string_equal(requirement(REQ_MPA_4_3_2)->id, "MPA-4.3-2");
	assert_int_equal(requirement(REQ_MPA_4_3_2)->rfc, 5044);
	assert_string_equal(requirement(REQ_MPA_4_3_2)->section, "4.3");
	assert_string_equal(requirement(REQ_MPA_4_3_2)->level, "MUST");
	assert_string_equal(requirement(REQ_RDMAX_5_1_1_3)->id, "RDMAX-5.1.1-3");
	assert_string_equal(requirement(REQ_RDMAX_5_1_1_3)->level, "MUST NOT");
	assert_string_equal(requirement(REQ_MPA_A_4_1)->section, "A.4");
}

/* What a report prints of a demand is there, and points into one of the RFCs. */
static void test_all_are_whole(void **state)
{
	static const unsigned int rfcs[] = {5040, 5041, 5042, 5044, 6581, 7306};
	unsigned int seen[6] = {0};
	int id;
	size_t i;

	for (id = 0; id < REQUIREMENTS; id++) {
		const struct requirement *r = requirement((enum requirement_id)id);

		assert_non_null(strchr(r->id, '-'));
		assert_true(strlen(r->section) > 0 && strlen(r->level) > 0 && strlen(r->text) > 0);
		for (i = 0; i < 6 && rfcs[i] != r->rfc; i++)
			;
		assert_true(i < 6);
		seen[i]++;
	}
	for (i = 0; i < 6; i++)
		assert_true(seen[i] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_match),
		cmocka_unit_test(test_all_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
