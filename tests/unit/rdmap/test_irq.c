/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#define IRD 3

/* RFC 5040 section 4.8: the codes of remote protection errors. */
static void test_protection_codes(void **state)
{
	assert_int_equal(rdmap_protection_code(-ENOENT), 0x00);
	assert_int_equal(rdmap_protection_code(-ERANGE), 0x01);
	assert_int_equal(rdmap_protection_code(-EACCES), 0x02);
	assert_int_equal(rdmap_protection_code(-EPERM), 0x03);
	assert_int_equal(rdmap_protection_code(-EOVERFLOW), 0x04);
}

static void add(struct rdmap *r, uint32_t mark)
{
	const struct rdmap_irqe q = {.src_stag = mark};

	r->ddp.rx[RDMAP_QN_READ].msn++;
	r->wake = false;
	assert_true(rdmap_irq_add(r, &q, NULL));
	assert_true(r->wake);
}

/* What came first is answered first, with its own MSN, at any place of the ring and any MSN. */
static void test_ring(void **state)
{
	struct rdmap_irqe ring[IRD];
	struct rdmap r = {.irq = ring, .ird = IRD};
	uint32_t in = 0, out = 0;

	r.ddp.rx[RDMAP_QN_READ].msn = UINT32_MAX - 4;
	for (unsigned round = 0; round < 4 * IRD; round++) {
		while (r.irq_count < (round & 1 ? IRD : 1))
			add(&r, in++);
		while (r.irq_count > (round & 2 ? 1 : 0)) {
			assert_int_equal(r.irq[r.irq_head].src_stag, out);
			assert_int_equal(rdmap_irq_msn(&r), UINT32_MAX - 4 + out);
			r.tx = RDMAP_TX_RESPONSE;
			rdmap_irq_pop(&r);
			assert_int_equal(r.tx, RDMAP_TX_NONE);
			out++;
		}
	}
	assert_true(in > 2 * IRD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protection_codes),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
