/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/echo.h"

#include <errno.h>
#include <rte_mbuf.h>

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define ETH_OUT "02 00 00 00 00 02 02 00 00 00 00 01 08 00 "
/* Makes 10.0.0.2 a neighbour; its answer is thrown away. */
#define ARP                                                                 \
	"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01"
#define REQUEST                                                               \
	ETH_OUT "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 02" \
		"08 00 39 0f be ef 00 01 00 00 00 00"

static void input_fixed(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);

	fix_v4(&b);
	host_input(h, &b, 0);
}

static struct host *start(struct echo *e)
{
	struct host *h = host_new_v4();

	host_input_hex(h, ARP);
	host_forget(h);
	echo_init(e, h->ip, 0xbeef);
	return h;
}

static void send_one(struct host *h, struct echo *e)
{
	struct ip_addr to = host_addr("10.0.0.2");

	assert_int_equal(echo_send(e, &to, 32, h->now), 0);
	assert_int_equal(e->state, ECHO_WAITING);
}

static void reply_is_seen(void **state)
{
	struct echo e;
	struct host *h = start(&e);

	send_one(h, &e);
	host_expect(h, REQUEST);
	host_run(h, 1000);
	/* Of another's request, of another sequence number, from another host. */
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "00 00 00 00 be ee 00 01");
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "00 00 00 00 be ef 00 02");
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 03 0a 00 00 01"
			   "00 00 00 00 be ef 00 01");
	assert_int_equal(e.state, ECHO_WAITING);
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "00 00 00 00 be ef 00 01");
	assert_int_equal(e.state, ECHO_REPLIED);
	assert_true(e.answered >= e.sent + 1000);
	/* The next has a number of its own: a late answer to the first is none. */
	send_one(h, &e);
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "00 00 00 00 be ef 00 01");
	assert_int_equal(e.state, ECHO_WAITING);
	/* Requests of others are still answered. */
	host_forget(h);
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "08 00 00 00 be ef 00 02");
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(e.state, ECHO_WAITING);
	host_forget(h);
	host_free(h);
}

static void error_is_seen(void **state)
{
	struct echo e;
	struct host *h = start(&e);

	send_one(h, &e);
	host_forget(h);
	/* Fragmentation needed, 1400; first about something else. */
	input_fixed(h, ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 09 0a 00 00 01"
			   "03 04 00 00 00 00 05 78"
			   "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 02"
			   "08 00 39 0f be ef 00 07");
	assert_int_equal(e.state, ECHO_WAITING);
	input_fixed(h, ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 09 0a 00 00 01"
			   "03 04 00 00 00 00 05 78"
			   "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 02"
			   "08 00 39 0f be ef 00 01");
	assert_int_equal(e.state, ECHO_ERROR);
	assert_int_equal(e.error, IP_ERROR_MTU);
	assert_int_equal(e.mtu, 1400);
	host_free(h);
}

static void silent_neighbour_is_an_error(void **state)
{
	struct ip_addr to = host_addr("10.0.0.77");
	struct echo e;
	struct host *h = start(&e);

	assert_int_equal(echo_send(&e, &to, 32, h->now), 0);
	host_run(h, 10 * SECOND);
	assert_int_equal(e.state, ECHO_ERROR);
	assert_int_equal(e.error, IP_ERROR_HOST);
	host_free(h);
}

static void sizes(void **state)
{
	struct ip_addr to = host_addr("10.0.0.2"), far = host_addr("192.0.2.1");
	struct echo e;
	struct host *h = start(&e);

	assert_int_equal(echo_send(&e, &to, 27, h->now), -EMSGSIZE);
	assert_int_equal(echo_send(&e, &to, 1501, h->now), -EMSGSIZE);
	assert_int_equal(echo_send(&e, &far, 28, h->now), -ENETUNREACH);
	assert_int_equal(e.state, ECHO_IDLE);
	host_expect_nothing(h);
	assert_int_equal(echo_send(&e, &to, 1500, h->now), 0);
	assert_int_equal(h->tx[0]->pkt_len, 1514);
	host_free(h);
}

static void v6(void **state)
{
	struct ip_addr to = host_addr("fd00::2");
	struct host *h = host_new_v6();
	struct echo e;

	echo_init(&e, h->ip, 0xbeef);
	/* Its neighbour advertisement lets the request go. */
	assert_int_equal(echo_send(&e, &to, 48, h->now), 0);
	host_run(h, 10 * SECOND);
	assert_int_equal(e.state, ECHO_ERROR);
	assert_int_equal(e.error, IP_ERROR_HOST);
	assert_int_equal(echo_send(&e, &to, 47, h->now), -EMSGSIZE);
	host_free(h);
}

/* To ourselves: request and answer go by the loop, where no checksum is looked at. */
static void own_address_answers(void **state)
{
	static const char *const own[] = {"10.0.0.1", "fd00::1"};
	struct host *h = host_new_v4();
	struct ip_addr to = host_addr("fd00::1");
	struct rte_mbuf *none = NULL;
	struct echo e;

	assert_int_equal(ip_addr_add(h->ip, &to, 64, h->now), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
	echo_init(&e, h->ip, 1);
	for (unsigned i = 0; i < 2; i++) {
		to = host_addr(own[i]);
		assert_int_equal(echo_send(&e, &to, 100, h->now), 0);
		assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
		assert_int_equal(e.state, ECHO_WAITING);
		assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
		assert_int_equal(e.state, ECHO_REPLIED);
	}
	host_expect_nothing(h);
	host_free(h);
}

/* Errors about other requests than the one that is waited for change nothing. */
static void errors_about_others_are_not_ours(void **state)
{
	struct echo e;
	struct host *h = start(&e);

	send_one(h, &e);
	host_forget(h);
	/* About one to another host; about our answer to a request with the same number. */
	input_fixed(h, ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 09 0a 00 00 01"
			   "03 01 00 00 00 00 00 00"
			   "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 03"
			   "08 00 39 0f be ef 00 01");
	input_fixed(h, ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 09 0a 00 00 01"
			   "03 01 00 00 00 00 00 00"
			   "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 02"
			   "00 00 39 0f be ef 00 01");
	assert_int_equal(e.state, ECHO_WAITING);
	/* And once it is answered, an error comes too late. */
	input_fixed(h, ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			   "00 00 00 00 be ef 00 01");
	input_fixed(h, ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 09 0a 00 00 01"
			   "03 01 00 00 00 00 00 00"
			   "45 00 00 20 00 00 40 00 40 01 26 db 0a 00 00 01 0a 00 00 02"
			   "08 00 39 0f be ef 00 01");
	assert_int_equal(e.state, ECHO_REPLIED);
	host_free(h);
}

/* After a failure the next request fails at once, and so says its state. */
static void known_failure_is_told(void **state)
{
	struct ip_addr to = host_addr("10.0.0.77");
	struct echo e;
	struct host *h = start(&e);

	assert_int_equal(echo_send(&e, &to, 32, h->now), 0);
	host_run(h, 3 * SECOND + SECOND / 2);
	assert_int_equal(e.state, ECHO_ERROR);
	assert_int_equal(echo_send(&e, &to, 32, h->now), -EHOSTUNREACH);
	assert_int_equal(e.state, ECHO_IDLE);
	host_forget(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_address_answers),
		cmocka_unit_test(errors_about_others_are_not_ours),
		cmocka_unit_test(known_failure_is_told),
		cmocka_unit_test(reply_is_seen),
		cmocka_unit_test(error_is_seen),
		cmocka_unit_test(silent_neighbour_is_an_error),
		cmocka_unit_test(sizes),
		cmocka_unit_test(v6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
