/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to the port of pairings: strangers with raw bytes. */
#include "rnic/pairing_service.h"

#include "paired.h"
#include "rnic/ep_priv.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define PORT 61525

static struct pair p;

static int setup_with(uint16_t port)
{
	const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED}, .pairing_port = port};

	pair_init(&p, &config);
	return 0;
}

static int setup(void **state)
{
	setup_with(PORT);
	return rnic_pairing_open(p.b.rnic);
}

static int setup_off(void **state)
{
	return setup_with(0);
}

static int teardown(void **state)
{
	pair_fini(&p);
	return 0;
}

/* ---- strangers ------------------------------------------------------------------------------ */

static void knock_from(
	unsigned host, struct llp_mem_peer *s, const void *private_data, uint16_t len)
{
	struct ip_endpoint to = llp_mem_endpoint(p.mem, 1, PORT);
	uint8_t frame[MPA_FRAME_MAX];
	size_t n = paired_frame(MPA_FRAME_REQUEST, private_data, len, frame);

	*s = (struct llp_mem_peer){0};
	llp_mem_peer_connect(s, p.mem, host, &to);
	pair_run(&p);
	assert_true(s->connected);
	llp_mem_send_raw(s->llp, frame, n);
	pair_run(&p);
}

static void knock(struct llp_mem_peer *s, const void *private_data, uint16_t len)
{
	knock_from(0, s, private_data, len);
}

static void knock_from_for(unsigned host, struct llp_mem_peer *s, const struct pairing_hello *h)
{
	uint8_t data[PAIRING_HELLO_LEN];

	pairing_put_hello(data, h);
	knock_from(host, s, data, sizeof data);
}

static void knock_for(struct llp_mem_peer *s, const struct pairing_hello *h)
{
	knock_from_for(0, s, h);
}

/** Until something is said or it is over. */
static enum pairing_refusal answer_to(struct llp_mem_peer *s)
{
	struct pairing_hello hello = {0};
	struct mpa_start st;
	const char *reason;
	size_t need;

	assert_true(mpa_startup_parse(MPA_FRAME_REPLY, s->rx, s->rx_len, &st, &need, &reason) > 0);
	assert_true(st.reject);
	assert_true(pairing_get_hello(st.private_data, st.private_len, &hello));
	return (enum pairing_refusal)hello.refusal;
}

static unsigned requests(void)
{
	const struct rnic_ep *ep;
	unsigned n = 0;

	LIST_FOREACH (ep, &p.b.rnic->eps, link) {
		n += ep->state == EP_REQUEST;
	}
	return n;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_ill(void **state)
{
	const struct pairing_hello good = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1, .psn = 1};
	/* Where to put which byte. */
	static const uint8_t change[][2] = {{0, 'x'}, {4, 2}, {5, PAIRING_REFUSALS},
		{5, PAIRING_BUSY}, {6, 1}, {7, 1}, {8, 1}, {12, 1}, {16, 1}};
	uint8_t data[PAIRING_HELLO_LEN + 1] = {0};
	struct llp_mem_peer s;

	for (unsigned i = 0; i < sizeof change / sizeof change[0]; i++) {
		pairing_put_hello(data, &good);
		data[change[i][0]] = change[i][1];
		knock(&s, data, PAIRING_HELLO_LEN);
		assert_int_equal(answer_to(&s), PAIRING_ILL);
		llp_mem_peer_done(&s);
	}
	pairing_put_hello(data, &good);
	for (uint16_t len = 0; len <= PAIRING_HELLO_LEN + 1; len++) {
		if (len == PAIRING_HELLO_LEN)
			continue;
		knock(&s, data, len);
		assert_int_equal(answer_to(&s), PAIRING_ILL);
		llp_mem_peer_done(&s);
	}
	assert_int_equal(requests(), 0);
}

static void test_no_qp(void **state)
{
	struct llp_mem_peer s;

	knock_for(&s, &(struct pairing_hello){.to_qp = 0, .from_qp = 1});
	assert_int_equal(answer_to(&s), PAIRING_NO_QP);
	llp_mem_peer_done(&s);
	knock_for(&s, &(struct pairing_hello){.to_qp = PAIRING_NUMBER_MASK, .from_qp = 1});
	assert_int_equal(answer_to(&s), PAIRING_NO_QP);
	llp_mem_peer_done(&s);
}

/* A QP that rdma_cm has connected is nobody else's. */
static void test_qp_of_rdma_cm(void **state)
{
	struct llp_mem_peer s;

	pair_connect(&p);
	knock_for(&s, &(struct pairing_hello){.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1});
	assert_int_equal(answer_to(&s), PAIRING_NO_QP);
	llp_mem_peer_done(&s);
}

static void test_held_while_all_stand_still(void **state)
{
	struct llp_mem_peer s;

	knock_for(&s, &(struct pairing_hello){.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1});
	pair_stand_still(&p, 60000);
	pair_advance(&p, PAIRING_HOLD_MS - 10);
	assert_int_equal(s.rx_len, 0);
	pair_advance(&p, 20);
	assert_int_equal(answer_to(&s), PAIRING_NOT_READY);
	llp_mem_peer_done(&s);
}

/* ---- what is held --------------------------------------------------------------------------- */

static void test_held_and_let_go(void **state)
{
	struct llp_mem_peer s;

	knock_for(&s, &(struct pairing_hello){.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1});
	pair_advance(&p, PAIRING_HOLD_MS - 10);
	assert_int_equal(s.rx_len, 0);
	assert_int_equal(requests(), 1);
	pair_advance(&p, 20);
	assert_int_equal(answer_to(&s), PAIRING_NOT_READY);
	assert_int_equal(requests(), 0);
	llp_mem_peer_done(&s);
}

static bool is_accepted(const struct llp_mem_peer *s)
{
	struct mpa_start st;
	const char *reason;
	size_t need;

	return mpa_startup_parse(MPA_FRAME_REPLY, s->rx, s->rx_len, &st, &need, &reason) > 0 &&
	       !st.reject;
}

/** Ours, whose peer is QP 7 of host 0. */
static void begin_to_wait(void)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_RTR,
		.ird = 4,
		.path = {.local = llp_mem_endpoint(p.mem, 1, 0).addr,
			.remote = llp_mem_endpoint(p.mem, 0, 0).addr,
			.remote_qp = 7}};

	assert_int_equal(
		rnic_qp_modify(p.b.qp, RNIC_QP_STATE | RNIC_QP_PATH | RNIC_QP_IRD, &attr), 0);
}

/* A peer has been accepted, has lost that connection, and asks again before we know of it. */
static void test_held_until_another_is_lost(void **state)
{
	const struct pairing_hello h = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 7, .psn = 1};
	struct llp_mem_peer s[2];

	begin_to_wait();
	knock_for(&s[0], &h);
	assert_true(is_accepted(&s[0]));
	knock_for(&s[1], &h);
	assert_int_equal(s[1].rx_len, 0);
	llp_mem_peer_done(&s[0]);
	pair_advance(&p, 1);
	assert_true(is_accepted(&s[1]));
	llp_mem_peer_done(&s[1]);
	pair_run(&p);
}

/* Though the connection before it was lost, one of a QP that is not ready waits no longer. */
static void test_held_no_longer_than_once(void **state)
{
	const struct pairing_hello h = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 7, .psn = 1};
	struct llp_mem_peer s[3];

	begin_to_wait();
	knock_for(&s[0], &h);
	knock_for(&s[1], &h);
	knock_for(&s[2], &h);
	pair_advance(&p, PAIRING_HOLD_MS - 10);
	llp_mem_peer_done(&s[0]);
	pair_advance(&p, 1);
	assert_int_equal(is_accepted(&s[1]) + is_accepted(&s[2]), 1);
	assert_int_equal(requests(), 1);
	pair_advance(&p, 20);
	assert_int_equal(requests(), 0);
	for (unsigned i = 1; i < 3; i++)
		llp_mem_peer_done(&s[i]);
	pair_run(&p);
}

/* What the starting PSN is to be is what the one says that comes, not the one that has gone. */
static void test_psn_of_one_that_has_gone(void **state)
{
	struct pairing_hello h = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 7, .psn = 1};
	struct rnic_qp_attr attr = {.state = RNIC_QP_RTS, .sq_psn = 2, .ord = 4};
	struct llp_mem_peer s;

	begin_to_wait();
	knock_for(&s, &h);
	assert_true(is_accepted(&s));
	llp_mem_peer_done(&s);
	pair_advance(&p, 1);
	assert_int_equal(
		rnic_qp_modify(p.b.qp, RNIC_QP_STATE | RNIC_QP_SQ_PSN | RNIC_QP_ORD, &attr), 0);
	assert_int_equal(rnic_qp_get_state(p.b.qp), RNIC_QP_RTS);
	h.psn = 2;
	knock_for(&s, &h);
	assert_true(is_accepted(&s));
	llp_mem_peer_done(&s);
	pair_run(&p);
}

static void test_too_many(void **state)
{
	const struct pairing_hello hello = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1};
	struct llp_mem_peer *s = calloc(PAIRING_HELD_MAX + 1, sizeof *s);

	assert_non_null(s);
	for (unsigned i = 0; i <= PAIRING_HELD_MAX; i++)
		knock_for(&s[i], &hello);
	assert_int_equal(requests(), PAIRING_HELD_MAX);
	assert_int_equal(answer_to(&s[0]), PAIRING_BUSY);
	assert_int_equal(s[PAIRING_HELD_MAX].rx_len, 0);
	/* Connections without a peer any more make room when their time is over, too. */
	for (unsigned i = 0; i <= PAIRING_HELD_MAX; i++)
		llp_mem_peer_done(&s[i]);
	pair_advance(&p, PAIRING_HOLD_MS + 10);
	assert_int_equal(requests(), 0);
	knock_for(&s[0], &hello);
	assert_int_equal(requests(), 1);
	llp_mem_peer_done(&s[0]);
	free(s);
}

/* One peer cannot keep another out, however often it asks, before and after. */
static void test_greedy(void **state)
{
	const struct pairing_hello hello = {.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1};
	const unsigned n = PAIRING_HELD_MAX + 100;
	struct llp_mem_peer *greedy = calloc(n, sizeof *greedy), s;

	assert_non_null(greedy);
	for (unsigned i = 0; i < PAIRING_HELD_MAX; i++)
		knock_from_for(2, &greedy[i], &hello);
	knock_for(&s, &hello);
	assert_int_equal(answer_to(&greedy[0]), PAIRING_BUSY);
	for (unsigned i = PAIRING_HELD_MAX; i < n; i++)
		knock_from_for(2, &greedy[i], &hello);
	assert_int_equal(requests(), PAIRING_HELD_MAX);
	assert_int_equal(s.rx_len, 0);
	pair_advance(&p, PAIRING_HOLD_MS + 10);
	assert_int_equal(answer_to(&s), PAIRING_NOT_READY);
	llp_mem_peer_done(&s);
	for (unsigned i = 0; i < n; i++)
		llp_mem_peer_done(&greedy[i]);
	free(greedy);
}

/* Those that wait do not outlive the service. */
static void test_closed(void **state)
{
	struct llp_mem_peer s;

	knock_for(&s, &(struct pairing_hello){.to_qp = rnic_qp_num(p.b.qp), .from_qp = 1});
	engine_lock(&p.engine);
	pairing_service_close(p.b.rnic);
	pairing_service_close(p.b.rnic);
	engine_unlock(&p.engine);
	pair_run(&p);
	/* Rejected in MPA's words (RFC 5044 section 7.1.1): the R bit. */
	assert_true(s.eof && s.rx_len >= 20 && s.rx[16] & 0x20);
	llp_mem_peer_done(&s);
}

/* ---- the port ------------------------------------------------------------------------------- */

/** As if others on its address had the first @p n ports, and it had no QP yet. */
static void take_ports(struct rnic *r, unsigned n)
{
	engine_lock(&p.engine);
	pairing_service_close(r);
	r->has_qp_space = false;
	for (unsigned i = 0; i < n; i++) {
		struct ip_endpoint any = {.port = (uint16_t)(PORT + i)};

		assert_int_equal(llp_port_reserve(r->net, &any, 0), 0);
	}
	engine_unlock(&p.engine);
}

static void test_port_is_its_own(void **state)
{
	struct ip_endpoint any = {.port = PORT};

	/* Since it has a QP, whose number leads there. */
	assert_int_equal(rnic_ep_bind(p.a.ep, &any, false, false), -EADDRINUSE);
	assert_int_equal(rnic_pairing_open(p.a.rnic), 0);
	assert_int_equal(rnic_pairing_open(p.b.rnic), 0); /* again */
}

static void test_port_is_taken(void **state)
{
	take_ports(p.a.rnic, RNIC_QP_SPACES);
	assert_int_equal(rnic_pairing_open(p.a.rnic), -EADDRINUSE);
	assert_int_equal(p.a.rnic->qp_space, 0);
}

/** RNICs on one address have a port each, and the numbers of their QPs tell which. */
static void test_next_port(void **state)
{
	struct ip_endpoint next = {.port = PORT + 2};
	struct rnic_qp *qp;
	uint32_t num;

	take_ports(p.a.rnic, 2);
	qp = pair_qp(&p.a, p.a.cq, NULL);
	num = rnic_qp_num(qp);
	assert_int_equal(num >> RNIC_QP_SPACE_SHIFT, 2);
	assert_int_equal(num & 0xff000000, 0);
	assert_int_equal(llp_port_reserve(p.a.rnic->net, &next, 0), -EADDRINUSE);
	assert_int_equal(rnic_pairing_open(p.a.rnic), 0);
	engine_lock(&p.engine);
	assert_ptr_equal(rnic_qp_find(p.a.rnic, num), qp);
	assert_null(rnic_qp_find(p.a.rnic, num & ((1u << RNIC_QP_SPACE_SHIFT) - 1)));
	engine_unlock(&p.engine);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	p.a.rnic->qp_space = 0; /* that of the QP which was there before */
}

static void test_off(void **state)
{
	struct rnic_qp_attr attr = {.state = RNIC_QP_RTR,
		.path = {.local = llp_mem_endpoint(p.mem, 0, 0).addr,
			.remote = llp_mem_endpoint(p.mem, 1, 0).addr,
			.remote_qp = 1}};

	assert_int_equal(rnic_pairing_open(p.a.rnic), -EOPNOTSUPP);
	assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE | RNIC_QP_PATH, &attr), -EOPNOTSUPP);
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_INIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ill, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_qp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_qp_of_rdma_cm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_and_let_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_while_all_stand_still, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_until_another_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_no_longer_than_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_psn_of_one_that_has_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_greedy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_port_is_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_port_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_next_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off, setup_off, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
