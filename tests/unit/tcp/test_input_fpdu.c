/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that arrives for a user that takes nothing before all of an FPDU is there. */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** As MPA does with the longest FPDU: it takes nothing before all of it is there. */
#define LONG_FPDU 65544u

static size_t readable_long_fpdu(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct app *a = user;

	a->shows++;
	*need = total == LONG_FPDU ? 0 : LONG_FPDU; /* it looks at the next one */
	if (total < LONG_FPDU)
		return 0;
	for (unsigned i = 0, at = 0; i < n; i++)
		for (uint32_t k = 0; k < v[i].len && at < LONG_FPDU; k++, at++)
			assert_int_equal(v[i].base[k], (uint8_t)(at / 7 % 251));
	a->n_got += LONG_FPDU;
	return LONG_FPDU;
}

/** In which order the segments of an FPDU come. */
enum order { FORWARD, BACKWARD, EVEN_FIRST, INWARD };

static uint32_t nth(enum order order, uint32_t i, uint32_t n)
{
	switch (order) {
	case FORWARD:
		return i;
	case BACKWARD:
		return n - 1 - i;
	case EVEN_FIRST: /* from the far end, each island a segment; then what lies between */
		return n - 1 - (i < n / 2 ? 2 * i : i < n / 2 * 2 ? 2 * (i - n / 2) + 1 : i);
	case INWARD: /* both ends in turn */
		return i & 1 ? i / 2 : n - 1 - i / 2;
	}
	return i;
}

static void send_long_fpdu(uint32_t len, enum order order)
{
	static uint8_t text[LONG_FPDU];
	uint32_t n = (LONG_FPDU + len - 1) / len;

	for (uint32_t i = 0; i < LONG_FPDU; i++)
		text[i] = (uint8_t)(i / 7 % 251);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = nth(order, i, n) * len;

		peer_send_at(&p, TCP_ACK, p.seq + at, p.ack, text + at,
			LONG_FPDU - at < len ? LONG_FPDU - at : len);
		ip_double_drain(&h.ip);
	}
	p.seq += LONG_FPDU;
}

static void check_long_fpdus_taken(unsigned n)
{
	assert_int_equal(c->rcv_nxt, p.seq);
	assert_int_equal(h.app.n_got, n * LONG_FPDU);
	assert_int_equal(c->recvq.count, 0);
	assert_int_equal(h.tcp->rx_held, 0);
}

/** The user waits for long FPDUs, and has taken one: a SYN's window is not wide enough for it. */
static void start_with_long_fpdu(void)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 1 << 20};
	static struct llp_user_ops ops;

	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED, &cfg);
	ops = app_ops;
	ops.readable = readable_long_fpdu;
	llp_set_user(h.app.llp, &ops, &h.app);
	send_long_fpdu(1460, FORWARD);
	check_long_fpdus_taken(1);
}

/** Whatever the packets are that an FPDU lies in, the user gets it. */
static void take_long_fpdus(uint32_t len, enum order order)
{
	start_with_long_fpdu();
	for (unsigned n = 2; n <= 3; n++) {
		send_long_fpdu(len, order);
		check_long_fpdus_taken(n);
	}
	host_end(&h);
}

/** When the user tells what it needs, all of it is there already: nothing else would show it. */
static void test_an_fpdu_waits_behind_the_end_of_another(void **state)
{
	start_with_long_fpdu();
	p.seq += LONG_FPDU;
	send_long_fpdu(300, BACKWARD);
	p.seq -= 2 * LONG_FPDU;
	send_long_fpdu(1460, FORWARD);
	p.seq += LONG_FPDU;
	check_long_fpdus_taken(3);
	host_end(&h);
}

static void test_an_fpdu_comes_in_any_segments(void **state)
{
	static const uint32_t len[] = {100, 256, 257, 300, 500, 511, 512, 536, 1460};

	for (unsigned i = 0; i < sizeof len / sizeof *len; i++)
		for (enum order order = FORWARD; order <= INWARD; order++)
			take_long_fpdus(len[i], order);
}

static void test_an_fpdu_comes_in_single_bytes(void **state)
{
	take_long_fpdus(1, FORWARD);
	take_long_fpdus(1, BACKWARD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_fpdu_comes_in_any_segments),
		cmocka_unit_test(test_an_fpdu_comes_in_single_bytes),
		cmocka_unit_test(test_an_fpdu_waits_behind_the_end_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
