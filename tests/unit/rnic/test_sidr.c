/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs find each other (docs/ud.md): two RNICs over a wire that the test moves. */
#include "rnic/sidr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sidr_wire.h"

#define QKEY 0x01234567

static struct pair *const pair = &sidr_wire.pair;

static int setup(void **state)
{
	sidr_wire_init(NULL);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(sidr_wire_fini(), 0);
	return 0;
}

static void resolve(struct rnic_ep *ep)
{
	struct ip_endpoint to = llp_mem_endpoint(pair->mem, 1, PAIR_PORT);

	assert_int_equal(rnic_ep_resolve(ep, &to, 0), 0);
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_ADDR_RESOLVED);
}

static int ask(struct rnic_ep *ep, const char *text, uint16_t len)
{
	const struct rnic_conn_param p = {.private_data = text, .private_len = len};

	return rnic_ep_connect(ep, &p);
}

/* As far as CONNECT_REQUEST, which is adopted. */
static void request(void)
{
	pair_listen(pair, 4);
	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	sidr_wire_run();
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 1);
	assert_int_equal(pair_last(&pair->b)->private_len, 3);
	assert_memory_equal(pair_last(&pair->b)->private_data, "who", 3);
	rnic_ep_set_context(pair->b.request, pair_ep_event, &pair->b);
}

static int answer(const char *text)
{
	const struct rnic_conn_param p = {.ud_qp = 0x20007,
		.ud_qkey = QKEY,
		.private_data = text,
		.private_len = (uint16_t)strlen(text)};

	return rnic_ep_accept(pair->b.request, &p);
}

static void is_established(void)
{
	const struct ep_record *r = pair_last(&pair->a);

	assert_int_equal(r->type, RNIC_EP_ESTABLISHED);
	assert_int_equal(r->ud_qp, 0x20007);
	assert_int_equal(r->ud_qkey, QKEY);
	assert_int_equal(r->private_len, 4);
	assert_memory_equal(r->private_data, "here", 4);
}

static void accepted(void **state)
{
	struct ip_endpoint local, remote, at = llp_mem_endpoint(pair->mem, 1, PAIR_PORT);

	request();
	rnic_ep_addresses(pair->b.request, &local, &remote);
	assert_true(ip_addr_equal(&local.addr, &at.addr));
	assert_int_equal(local.port, PAIR_PORT);
	assert_int_equal(answer("here"), 0);
	assert_int_equal(answer("here"), -EINVAL);
	sidr_wire_run();
	is_established();
	/* Nothing goes on: no request, and no event. */
	pair_advance(pair, 20000);
	assert_int_equal(sidr_wire.n_sent, 0);
	assert_int_equal(pair_count(&pair->a, RNIC_EP_UNREACHABLE), 0);
	assert_int_equal(ask(pair->a.ep, "", 0), -EINVAL);
	assert_int_equal(rnic_ep_disconnect(pair->a.ep), -EINVAL);
}

static void rejected(void **state)
{
	request();
	assert_int_equal(rnic_ep_reject(pair->b.request, "no", 2), 0);
	assert_int_equal(rnic_ep_reject(pair->b.request, "no", 2), -EINVAL);
	sidr_wire_run();
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&pair->a)->status, SIDR_REJECTED);
	assert_memory_equal(pair_last(&pair->a)->private_data, "no", 2);
	/* And again, by the program. */
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	rnic_ep_destroy(pair->b.request);
	pair->b.request = NULL;
	sidr_wire_run();
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 2);
}

/* Where the route's source is none, another address may be. */
static void another_gid(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(pair->mem, 1, PAIR_PORT);

	sidr_wire.no_gid = true;
	sidr_wire.gid = (struct ip_addr){{0xfd, [15] = 7}};
	assert_int_equal(rnic_ep_resolve(pair->a.ep, &to, 0), 0);
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_ADDR_RESOLVED);
	assert_true(ip_addr_equal(&pair->a.ep->local.addr, &sidr_wire.gid));
}

static struct rnic_failure failure;

static void note_failure(void *arg, const struct rnic_failure *f)
{
	failure = *f;
}

/* Of an address that no address handle names nothing is begun, and nobody is told. */
static void no_gid(void **state)
{
	struct ip_endpoint at = llp_mem_endpoint(pair->mem, 0, PAIR_PORT);
	struct ip_endpoint to = llp_mem_endpoint(pair->mem, 1, PAIR_PORT);
	struct ip_endpoint any = {.addr = {{[10] = 0xff, 0xff}}, .port = PAIR_PORT};

	assert_int_equal(rnic_ep_bind(pair->b.ep, &any, false, false), 0);
	assert_int_equal(rnic_ep_listen(pair->b.ep, 4), 0);
	sidr_wire.no_gid = true;
	assert_int_equal(rnic_ep_bind(pair->a.ep, &at, false, false), -EADDRNOTAVAIL);
	rnic_set_failure_handler(pair->a.rnic, note_failure, NULL);
	assert_int_equal(rnic_ep_resolve(pair->a.ep, &to, 0), 0);
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_ADDR_ERROR);
	assert_int_equal(pair_last(&pair->a)->status, -EADDRNOTAVAIL);
	assert_int_equal(failure.status, -EADDRNOTAVAIL);
	assert_true(ip_addr_equal(&failure.remote.addr, &to.addr));
	assert_true(ip_addr_equal(&failure.local, &at.addr));
	/* It may be tried again. A listener of all addresses is not one of this. */
	sidr_wire.no_gid = false;
	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	sidr_wire.no_gid = true;
	sidr_wire_run();
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 0);
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&pair->a)->status, SIDR_NOBODY_LISTENS);
}

/* A request that the program does away with is rejected. */
static void destroyed(void **state)
{
	request();
	rnic_ep_destroy(pair->b.request);
	pair->b.request = NULL;
	sidr_wire_run();
	assert_int_equal(pair_last(&pair->a)->status, SIDR_REJECTED);
}

/* One that the program cannot take. */
static void refused(void **state)
{
	pair_listen(pair, 4);
	pair->b.refuses = true;
	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	sidr_wire_run();
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 1);
	assert_int_equal(pair_last(&pair->a)->status, SIDR_REJECTED);
}

/* Not adopted: it goes with its listener. */
static void listener_destroyed(void **state)
{
	pair_listen(pair, 4);
	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	sidr_wire_run();
	pair->b.request = NULL;
	rnic_ep_destroy(pair->b.ep);
	pair->b.ep = NULL;
	sidr_wire_run();
	assert_int_equal(pair_last(&pair->a)->status, SIDR_REJECTED);
}

/* Each of the first two requests is lost, and the first answer: it is given again, and told once.
 */
static void lost(void **state)
{
	struct sidr_datagram late;

	pair_listen(pair, 4);
	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "who", 3), 0);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(sidr_wire.n_sent, i);
		pair_advance(pair, i * 100 - 10 * i);
		assert_int_equal(sidr_wire.n_sent, i);
		pair_advance(pair, 20);
	}
	assert_int_equal(sidr_wire.n_sent, 3);
	late = sidr_wire.sent[2];
	sidr_wire_run(); /* three of one request */
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 1);
	assert_int_equal(pair->b.n_ep_events, 1);
	rnic_ep_set_context(pair->b.request, pair_ep_event, &pair->b);
	assert_int_equal(answer("here"), 0);
	sidr_wire.n_sent = 0; /* lost */
	sidr_wire_deliver(&late);
	assert_int_equal(sidr_wire.n_sent, 1);
	late = sidr_wire.sent[0];
	sidr_wire_run();
	is_established();
	sidr_wire_deliver(&late);
	assert_int_equal(pair_count(&pair->a, RNIC_EP_ESTABLISHED), 1);
	assert_int_equal(pair->b.n_ep_events, 1);
}

static void all_stand_still(void **state)
{
	unsigned n;

	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
	n = pair->a.n_ep_events;
	pair_stand_still(pair, 600000);
	pair_advance(pair, 1000);
	assert_int_equal(pair->a.n_ep_events, n);
	pair_advance(pair, 60000);
	assert_int_equal(pair_last(&pair->a)->status, -ETIMEDOUT);
}

static void nobody_answers(void **state)
{
	unsigned n;

	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
	pair_advance(pair, 60000);
	assert_int_equal(pair_last(&pair->a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&pair->a)->status, -ETIMEDOUT);
	n = sidr_wire.n_sent;
	assert_true(n >= 5 && n <= 16);
	pair_advance(pair, 60000);
	assert_int_equal(sidr_wire.n_sent, n);
}

/* After 6.3 s each 4 s: a start-up may be given longer than the usual 10 s. */
static void asks_no_less_often(void **state)
{
	resolve(pair->a.ep);
	pair->a.rnic->start_timeout = 60000 * PAIR_MS;
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
	pair_advance(pair, 7000);
	assert_int_equal(sidr_wire.n_sent, 7);
	for (unsigned i = 8; i < 21; i++) {
		pair_advance(pair, 4000);
		assert_int_equal(sidr_wire.n_sent, i);
	}
	pair_advance(pair, 2000);
	assert_int_equal(pair_last(&pair->a)->status, -ETIMEDOUT);
}

/* The port is not open: ICMP says so. Open, and nobody listens at that address: we do. */
static void nobody_listens(void **state)
{
	struct ip_endpoint other = llp_mem_endpoint(pair->mem, 1, PAIR_PORT);
	struct sidr_datagram forged;

	resolve(pair->a.ep);
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
	assert_int_equal(sidr_wire.n_sent, 1);
	/* Who does not know the number of the request cannot say so. */
	forged = sidr_wire.sent[0];
	sidr_put(forged.data, &(struct sidr_message){.kind = SIDR_REQUEST, .number = 1});
	assert_false(sidr_wire_deliver(&forged));
	assert_int_equal(pair_count(&pair->a, RNIC_EP_UNREACHABLE), 0);
	sidr_wire_run();
	assert_int_equal(pair_last(&pair->a)->status, SIDR_NOBODY_LISTENS);

	pair_listen(pair, 4);
	other.addr.b[15] = 99;
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
	sidr_wire.sent[0].to = other;
	sidr_wire_run();
	assert_int_equal(pair->b.n_ep_events, 0);
	/* From another address than was asked: not for us. */
	assert_int_equal(pair_count(&pair->a, RNIC_EP_UNREACHABLE), 1);
}

/* An answer counts from whom was asked, with the number of the request, and while it is awaited. */
static void forged_answers(void **state)
{
	struct sidr_datagram good, d;

	request();
	assert_int_equal(answer("here"), 0);
	good = sidr_wire.sent[0];
	sidr_wire.n_sent = 0;
	d = good;
	d.from.addr.b[15] ^= 4;
	sidr_wire_deliver(&d);
	d = good;
	d.from.port++;
	sidr_wire_deliver(&d);
	d = good;
	sidr_put(d.data, &(struct sidr_message){.kind = SIDR_REPLY, .number = 2, .qp = 3});
	sidr_wire_deliver(&d);
	d = good;
	d.data[100] ^= 1;
	sidr_wire_deliver(&d);
	assert_int_equal(pair_count(&pair->a, RNIC_EP_ESTABLISHED), 0);
	sidr_wire_deliver(&good);
	is_established();
}

/* More than the backlog from one peer wait outside; they come in when they ask again. */
static void backlog(void **state)
{
	struct rnic_ep *ep[3];

	pair_listen(pair, 2);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
			rnic_ep_create_ud(pair->a.rnic, pair_ep_event, &pair->a, &ep[i]), 0);
		resolve(ep[i]);
		assert_int_equal(ask(ep[i], "who", 3), 0);
	}
	sidr_wire_run();
	assert_int_equal(pair_count(&pair->b, RNIC_EP_CONNECT_REQUEST), 2);
	for (unsigned i = 0; i < 2; i++) {
		rnic_ep_set_context(pair->b.ep_events[i].ep, pair_ep_event, &pair->b);
	}
	pair->b.request = NULL;
	for (unsigned i = 0; i < 3; i++)
		rnic_ep_destroy(ep[i]);
	sidr_wire.n_sent = 0;
}

static void parameters(void **state)
{
	static const char long_one[SIDR_PRIVATE_MAX + 1];
	struct rnic_conn_param p = {.ud_qp = 1u << 24};

	assert_int_equal(ask(pair->a.ep, "", 0), -EINVAL); /* not resolved */
	request();
	assert_int_equal(rnic_ep_accept(pair->b.request, &p), -EINVAL);
	p = (struct rnic_conn_param){.private_data = long_one, .private_len = sizeof long_one};
	assert_int_equal(rnic_ep_accept(pair->b.request, &p), -EINVAL);
	assert_int_equal(rnic_ep_reject(pair->b.request, long_one, sizeof long_one), -EINVAL);
	assert_int_equal(ask(pair->a.ep, long_one, sizeof long_one), -EINVAL);
	p.private_len = SIDR_PRIVATE_MAX;
	assert_int_equal(rnic_ep_accept(pair->b.request, &p), 0);
	sidr_wire_run();
	assert_int_equal(pair_last(&pair->a)->private_len, SIDR_PRIVATE_MAX);
}

static void no_datagrams(void **state)
{
	struct rnic_config cfg = {.mpa = {.revision = 2}};
	struct pair p;
	struct rnic_ep *ep;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	assert_int_equal(rnic_ep_create_ud(p.a.rnic, pair_ep_event, &p.a, &ep), -EOPNOTSUPP);
	pair_fini(&p);
}

/* No port for requests: the call says so, and may be made again. */
static void no_port(void **state)
{
	resolve(pair->a.ep);
	sidr_wire.open_rc = -ENOSPC;
	assert_int_equal(ask(pair->a.ep, "", 0), -ENOSPC);
	sidr_wire.open_rc = 0;
	assert_int_equal(ask(pair->a.ep, "", 0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(accepted),
		TEST(rejected),
		TEST(another_gid),
		TEST(no_gid),
		TEST(destroyed),
		TEST(refused),
		TEST(listener_destroyed),
		TEST(lost),
		TEST(nobody_answers),
		TEST(asks_no_less_often),
		TEST(all_stand_still),
		TEST(nobody_listens),
		TEST(forged_answers),
		TEST(backlog),
		TEST(parameters),
		TEST(no_port),
		cmocka_unit_test(no_datagrams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
