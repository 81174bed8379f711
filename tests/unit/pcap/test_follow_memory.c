/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Each from another port, and all of them open. */
static void ten_connections(struct cap_maker *m)
{
	cap_maker_init(m);
	for (unsigned i = 0; i < 10; i++) {
		size_t at = m->len;

		m->seq[0] = 1000;
		m->seq[1] = 5000;
		cap_maker_start(m);
		while (at < m->len) {
			uint8_t *tcp = m->bytes + at + 16 + 14 + 20;
			bool from = load_be16(tcp) == 40000;

			store_be16(tcp + (from ? 0 : 2), (uint16_t)(40001 + i));
			at += 16 + load_le32(m->bytes + at + 8);
		}
	}
}

static void test_bounds(void **state)
{
	static const struct follow_config config = {.max_flows = 4, .max_connections = 2};
	struct cap_maker m;
	struct heard h;

	ten_connections(&m);
	follow(&m, &config, &h);
	assert_int_equal(h.connections, 10);
	assert_string_equal(h.text, "ORPORPCORPCORPCORPCORPCORPCORPCORPCORPCC");
}

/* The same bound by memory: what was idle for longest goes, a flow of something else, too. */
static void test_memory(void **state)
{
	static const struct follow_config config = {.max_memory = 6000};
	struct cap_maker m;
	struct heard h;

	ten_connections(&m);
	follow(&m, &config, &h);
	assert_int_equal(h.connections, 10);
	assert_int_equal(h.evicted, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
