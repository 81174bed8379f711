/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "tcp/prr.h"

/* Segments of one byte, so that the figures of RFC 6937 section 3.1 can be read off. */

/** One ACK that delivers one segment; sends what is allowed. @return how much. */
static uint32_t ack(struct tcp_prr *p, uint32_t *pipe, bool safe)
{
	uint32_t n;

	--*pipe;
	n = tcp_prr_ack(p, 1, *pipe, 10, 1, safe);
	tcp_prr_sent(p, n);
	*pipe += n;
	return n;
}

/** Figure of a single loss: flight 20, ssthresh 10; every other ACK sends one. */
static void test_one_loss(void **state)
{
	struct tcp_prr p;
	uint32_t pipe = 19, sent = 0; /* at the third duplicate, two new ones are out */

	tcp_prr_begin(&p, 20);
	for (int i = 3; i <= 19; i++)
		sent += ack(&p, &pipe, false);
	/* The window halves over the round trip, no silence before: about one for two. */
	assert_in_range(sent, 8, 10);
	assert_in_range(pipe, 10, 11);
}

/** Figure of a burst of 15: five ACKs return; with new text acknowledged, slow start (SSRB). */
static void test_burst_loss(void **state)
{
	struct tcp_prr p;
	uint32_t pipe = 5;

	tcp_prr_begin(&p, 20);
	assert_int_equal(ack(&p, &pipe, true), 2); /* "2R" */
	assert_int_equal(ack(&p, &pipe, true), 2);
	assert_int_equal(ack(&p, &pipe, true), 2);
	assert_int_equal(pipe, 8);
}

/** With losses still being found, only what was delivered is sent (CRB). */
static void test_burst_loss_conservative(void **state)
{
	struct tcp_prr p;
	uint32_t pipe = 5;

	tcp_prr_begin(&p, 20);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ack(&p, &pipe, false), 1); /* "R  R  R" */
	assert_int_equal(pipe, 5);
}

static void test_never_beyond_ssthresh(void **state)
{
	struct tcp_prr p;

	tcp_prr_begin(&p, 20);
	tcp_prr_sent(&p, 1);
	assert_int_equal(tcp_prr_ack(&p, 15, 4, 10, 1, true), 6);
}

static void test_the_fast_retransmit_goes_out(void **state)
{
	struct tcp_prr p;

	tcp_prr_begin(&p, 20000);
	assert_int_equal(tcp_prr_ack(&p, 0, 19000, 10000, 1448, false), 1448);
	tcp_prr_sent(&p, 1448);
	assert_int_equal(tcp_prr_ack(&p, 0, 19000, 10000, 1448, false), 0);
}

static void test_large_windows_do_not_overflow(void **state)
{
	struct tcp_prr p;

	tcp_prr_begin(&p, 1u << 30);
	assert_int_equal(tcp_prr_ack(&p, 1u << 29, 1u << 30, 700u << 20, 1448, false), 350u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_loss),
		cmocka_unit_test(test_burst_loss),
		cmocka_unit_test(test_burst_loss_conservative),
		cmocka_unit_test(test_never_beyond_ssthresh),
		cmocka_unit_test(test_the_fast_retransmit_goes_out),
		cmocka_unit_test(test_large_windows_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
