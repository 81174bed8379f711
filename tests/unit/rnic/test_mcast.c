/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of UD queue pairs: one RNIC, whose datagrams the test makes. */
#include "rnic/mcast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "rnic/qp.h"
#include "ud/datagram.h"

#define QKEY  0x11223344
#define QPS   3
#define LINKS 8

/* What the net below has been told: a group, and on which link. */
struct link {
	struct ip_addr group, local;
};

static struct {
	struct pair pair;
	struct ud_net net;
	ud_input_fn *input;
	void *user;
	uint16_t port, group_port;
	struct link link[LINKS];
	unsigned links;
	int join_rc;
	bool unsettled; /**< something was joined or left since settle() */
	int settle_rc;  /**< what it says of any group */
	int later_rc;   /**< if that was the answer to @c first: what it says then */
	void (*first)(void);
	struct ip_addr prepared;
	struct rnic_qp *qp[QPS];
} v;

static const struct ip_addr any;
static const struct ip_addr group = {{[10] = 0xff, 0xff, 239, 1, 2, 3}};
static const struct ip_addr other = {{0xff, 2, [15] = 3}};

/* Another thread's. */
static struct {
	pthread_t thread;
	sem_t called;
	bool comes; /**< it has yet to call */
	int rc;
} second;

static int net_open(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	v.port = port;
	v.group_port = group_port;
	v.input = input;
	v.user = user;
	return 0;
}

static void net_close(void *ctx)
{
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
	v.input = NULL;
}

/** The host may take long, and others go on meanwhile. */
static void net_prepare(void *ctx, const struct ip_addr *remote)
{
	assert_false(engine_is_held(&v.pair.engine));
	v.prepared = *remote;
	if (second.comes) {
		second.comes = false;
		sem_post(&second.called);
	}
}

static int net_join(void *ctx, const struct ip_addr *g, const struct ip_addr *local)
{
	assert_true(ip_addr_equal(&v.prepared, g));
	assert_true(engine_is_held(&v.pair.engine));
	v.unsettled = true;
	if (!v.join_rc)
		v.link[v.links++] = (struct link){*g, *local};
	return v.join_rc;
}

static void net_leave(void *ctx, const struct ip_addr *g, const struct ip_addr *local)
{
	assert_true(engine_is_held(&v.pair.engine));
	v.unsettled = true;
	for (unsigned i = 0; i < v.links; i++)
		if (ip_addr_equal(&v.link[i].group, g) && ip_addr_equal(&v.link[i].local, local)) {
			v.link[i] = v.link[--v.links];
			return;
		}
	fail();
}

/** The host may take long here, too. */
static int net_settle(void *ctx, const struct ip_addr *g, const struct ip_addr *local)
{
	assert_false(engine_is_held(&v.pair.engine));
	v.unsettled = false;
	if (g && v.first) {
		void (*first)(void) = v.first;
		int rc = v.settle_rc;

		v.first = NULL;
		first();
		v.settle_rc = v.later_rc;
		return rc;
	}
	return g ? v.settle_rc : 0;
}

static int net_group_source(void *ctx, const struct ip_addr *g, struct ip_addr *local)
{
	*local = llp_mem_endpoint(v.pair.mem, 0, 0).addr;
	return 0;
}

static bool net_flush(void *ctx)
{
	return true;
}

static struct rnic_qp *ud_qp(bool block_self)
{
	struct rnic_qp_init init = {.send_cq = v.pair.a.cq,
		.recv_cq = v.pair.a.cq,
		.max_send_wr = 4,
		.max_recv_wr = 8,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.ud = true,
		.block_self_multicast = block_self};
	const struct rnic_qp_attr attr = {.state = RNIC_QP_INIT, .qkey = QKEY};
	struct rnic_qp *q;

	assert_int_equal(rnic_qp_create(v.pair.a.pd, &init, &q), 0);
	assert_int_equal(rnic_qp_modify(q, RNIC_QP_STATE | RNIC_QP_QKEY, &attr), 0);
	assert_int_equal(pair_go(q, RNIC_QP_RTR), 0);
	return q;
}

static int setup(void **state)
{
	struct rnic_config cfg = {
		.mpa = {.revision = 2}, .pairing_port = 61525, .ud = &v.net, .ud_port = 61000};

	memset(&v, 0, sizeof v);
	v.net = (struct ud_net){.open = net_open,
		.close = net_close,
		.flush = net_flush,
		.prepare = net_prepare,
		.join = net_join,
		.leave = net_leave,
		.settle = net_settle,
		.group_source = net_group_source,
		.max_message = 1024,
		.group_ttl = 1};
	pair_engine_init(&v.pair);
	pair_rnic(&v.pair, &v.pair.a, 0, &cfg);
	pair_rnic(&v.pair, &v.pair.b, 1, NULL);
	pair_side(&v.pair.a);
	pair_side(&v.pair.b);
	for (unsigned i = 0; i < QPS; i++)
		v.qp[i] = ud_qp(i == 2);
	return 0;
}

/* Whatever is attached or joined ends with what it is of. */
static int teardown(void **state)
{
	for (unsigned i = 0; i < QPS; i++)
		if (v.qp[i])
			assert_int_equal(rnic_qp_destroy(v.qp[i]), 0);
	assert_false(v.unsettled);
	pair_fini(&v.pair);
	assert_int_equal(v.links, 0);
	assert_null(v.input);
	return 0;
}

static struct rnic_ud_stats stats(void)
{
	return rnic_ud_get_stats(v.pair.a.rnic);
}

/* A datagram for @p to_qp comes to @p to. */
static void comes(
	const struct ip_addr *to, uint32_t to_qp, uint32_t from_qp, uint32_t qkey, bool own)
{
	const struct ud_path path = {.local = *to, .remote = {{1}}, .ttl = 1, .own = own};
	const struct ud_header h = {.len = 2, .to_qp = to_qp, .from_qp = from_qp, .qkey = qkey};
	uint8_t bytes[UD_OVERHEAD + 2];
	struct ud_writer w;

	ud_begin(&w, bytes, &h);
	assert_true(ud_gather(&w, "hi", 2));
	(void)ud_finish(&w);
	engine_lock(&v.pair.engine);
	v.input(v.user, &path, bytes, sizeof bytes);
	engine_unlock(&v.pair.engine);
}

/* The i-th QP posts a receive, whose number is i. */
static void post(unsigned i)
{
	pair_post_recv(&v.pair.a, v.qp[i], i, 1000 * i, 100);
}

/* Which of the QPs have received: a bit each. */
static unsigned received(void)
{
	struct rnic_wc wc;
	unsigned bits = 0;

	while (rnic_cq_poll(v.pair.a.cq, 1, &wc) == 1) {
		assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
		assert_int_equal(wc.wc.byte_len, RNIC_UD_GRH_LEN + 2);
		assert_memory_equal(v.pair.a.buf + 1000 * wc.wc.wr_id + 24, group.b, 16);
		assert_memory_equal(v.pair.a.buf + 1000 * wc.wc.wr_id + RNIC_UD_GRH_LEN, "hi", 2);
		assert_false(bits & 1u << wc.wc.wr_id);
		bits |= 1u << wc.wc.wr_id;
	}
	return bits;
}

static void is_joined(const struct ip_addr *g, const struct ip_addr *local)
{
	for (unsigned i = 0; i < v.links; i++)
		if (ip_addr_equal(&v.link[i].group, g) && ip_addr_equal(&v.link[i].local, local))
			return;
	fail();
}

/* ---- attaching ----------------------------------------------------------------------------- */

/* Each that is attached gets it once; whoever is not, or has no receive or another key, does not.
 */
static void test_delivery(void **state)
{
	assert_int_equal(v.group_port, 61000 + 127);
	for (unsigned i = 0; i < QPS; i++)
		post(i);
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	assert_int_equal(rnic_qp_attach(v.qp[1], &group), 0);
	assert_int_equal(rnic_qp_attach(v.qp[2], &other), 0);
	assert_int_equal(v.links, 2);
	comes(&group, RNIC_UD_QP_GROUP, 77, QKEY, false);
	assert_int_equal(received(), 3);
	post(0);
	comes(&group, RNIC_UD_QP_GROUP, 77, QKEY, false); /* the second QP has no receive */
	assert_int_equal(received(), 1);
	assert_int_equal(stats().no_receive, 1);
	comes(&group, RNIC_UD_QP_GROUP, 77, QKEY + 1, false);
	assert_int_equal(stats().wrong_qkey, 2);
	assert_int_equal(received(), 0);
	assert_int_equal(stats().received, 3);
}

static void test_detach(void **state)
{
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	assert_int_equal(rnic_qp_attach(v.qp[1], &group), 0);
	assert_true(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(rnic_qp_detach(v.qp[0], &group), 0);
	assert_int_equal(rnic_qp_detach(v.qp[0], &group), -EINVAL);
	assert_int_equal(rnic_qp_detach(v.qp[1], &other), -EINVAL);
	assert_false(rnic_qp_is_attached(v.qp[0]));
	post(0);
	post(1);
	comes(&group, RNIC_UD_QP_GROUP, 77, QKEY, false);
	assert_int_equal(received(), 2);
	is_joined(&group, &any);
	assert_int_equal(rnic_qp_detach(v.qp[1], &group), 0);
	assert_int_equal(v.links, 0);
	comes(&group, RNIC_UD_QP_GROUP, 77, QKEY, false);
	assert_int_equal(stats().no_qp, 1);
}

/* A number of the other kind is nobody's: of a QP at a group, of all at one address. */
static void test_wrong_number(void **state)
{
	const struct ip_addr own = {{9}};

	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	post(0);
	comes(&group, rnic_qp_num(v.qp[0]), 77, QKEY, false);
	comes(&own, RNIC_UD_QP_GROUP, 77, QKEY, false);
	assert_int_equal(stats().bad, 2);
	assert_int_equal(received(), 0);
}

/* What a QP has sent itself comes back to it, unless it was created to have none of that. */
static void test_self(void **state)
{
	for (unsigned i = 0; i < QPS; i++)
		assert_int_equal(rnic_qp_attach(v.qp[i], &group), 0);
	for (unsigned i = 0; i < QPS; i++) {
		post(0);
		post(1);
		post(2);
		comes(&group, RNIC_UD_QP_GROUP, rnic_qp_num(v.qp[i]), QKEY, true);
		assert_int_equal(received(), i == 2 ? 3 : 7);
	}
	/* Another host may have a QP of that number. */
	comes(&group, RNIC_UD_QP_GROUP, rnic_qp_num(v.qp[2]), QKEY, false);
	assert_int_equal(received(), 4);
	assert_int_equal(stats().no_receive, 2);
}

static void test_refused(void **state)
{
	const struct ip_addr nobody = {{0xfd, [15] = 1}};
	struct ip_addr many = group;

	assert_int_equal(rnic_qp_attach(v.qp[0], &nobody), -EINVAL);
	assert_int_equal(rnic_qp_attach(v.pair.a.qp, &group), -EINVAL); /* reliable, connected */
	assert_int_equal(rnic_qp_detach(v.pair.a.qp, &group), -EINVAL);
	assert_false(rnic_qp_is_attached(v.pair.a.qp));
	v.join_rc = -ENOSPC;
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), -ENOSPC);
	assert_false(rnic_qp_is_attached(v.qp[0]));
	v.join_rc = -EINVAL;
	for (unsigned i = 0; i <= RNIC_MCAST_GROUPS; i++) /* none is left behind */
		assert_int_equal(rnic_qp_attach(v.qp[0], &group), -EINVAL);
	v.net.join = net_join;
	v.join_rc = 0;
	for (unsigned i = 0; i < LINKS; i++) {
		many.b[15] = (uint8_t)i;
		assert_int_equal(rnic_qp_attach(v.qp[0], &many), 0);
	}
	assert_int_equal(v.links, LINKS);
}

static void *attach_too(void *unused)
{
	second.rc = rnic_qp_attach(v.qp[0], &group);
	return NULL;
}

static void call_second(void)
{
	second.comes = true;
	assert_int_equal(pthread_create(&second.thread, NULL, attach_too, NULL), 0);
	sem_wait(&second.called);
}

/* @return what the first of two got that attach a QP to a group at once. */
static int attach_twice(int first, int later)
{
	int rc;

	sem_init(&second.called, 0, 0);
	v.settle_rc = first;
	v.later_rc = later;
	v.first = call_second;
	rc = rnic_qp_attach(v.qp[0], &group);
	pthread_join(second.thread, NULL);
	sem_destroy(&second.called);
	v.settle_rc = 0;
	return rc;
}

/* Who comes while the host is asked for another is told what the host says, too. */
static void test_attached_at_once(void **state)
{
	assert_int_equal(attach_twice(-ENOSPC, -ENOSPC), -ENOSPC);
	assert_int_equal(second.rc, -ENOSPC);
	assert_false(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(attach_twice(-ENOSPC, 0), -ENOSPC);
	assert_int_equal(second.rc, 0);
	assert_true(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(rnic_qp_detach(v.qp[0], &group), 0);
	assert_int_equal(attach_twice(0, 0), 0);
	assert_int_equal(second.rc, 0);
	assert_true(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(rnic_qp_detach(v.qp[0], &group), 0);
	assert_int_equal(v.links, 0);
}

/* The host is told of all that is joined and left, when others have the engine. */
static void test_settled(void **state)
{
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	assert_false(v.unsettled);
	assert_int_equal(rnic_qp_detach(v.qp[0], &group), 0);
	assert_false(v.unsettled);
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	rnic_qp_detach_all(v.qp[0]);
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	rnic_qp_retire(v.qp[0]);
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
	/* Nothing comes to one that other threads only know yet. */
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), -EINVAL);
	assert_int_equal(v.links, 0);
	rnic_qp_free(v.qp[0]);
	v.qp[0] = NULL;
}

/* It may refuse then: nothing is left behind, and who was in before stays. */
static void test_host_refuses(void **state)
{
	v.settle_rc = -ENOSPC;
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), -ENOSPC);
	assert_false(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
	v.settle_rc = 0;
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	v.settle_rc = -ENOSPC;
	assert_int_equal(rnic_qp_attach(v.qp[0], &group), 0);
	assert_int_equal(rnic_qp_attach(v.qp[1], &group), -ENOSPC);
	assert_true(rnic_qp_is_attached(v.qp[0]));
	assert_int_equal(v.links, 1);
}

/* ---- endpoints ----------------------------------------------------------------------------- */

static struct rnic_ep *endpoint(bool bound)
{
	struct ip_endpoint at = llp_mem_endpoint(v.pair.mem, 0, 0);
	struct rnic_ep *ep;

	assert_int_equal(rnic_ep_create_ud(v.pair.a.rnic, pair_ep_event, &v.pair.a, &ep), 0);
	if (bound)
		assert_int_equal(rnic_ep_bind(ep, &at, false, false), 0);
	return ep;
}

/* On its link alone; without it, where all are. */
static void test_join(void **state)
{
	const struct ip_addr local = llp_mem_endpoint(v.pair.mem, 0, 0).addr;
	const struct ip_addr *g = ip_addr_is_v4(&local) ? &group : &other;
	struct rnic_ep *ep = endpoint(true), *more = endpoint(true);

	assert_int_equal(rnic_ep_join(ep, g), 0);
	is_joined(g, &local);
	assert_int_equal(rnic_qp_attach(v.qp[0], g), 0);
	assert_int_equal(v.links, 1);
	assert_int_equal(rnic_ep_join(more, g), 0);
	assert_int_equal(v.links, 2);
	assert_int_equal(rnic_ep_leave(ep, g), 0);
	assert_int_equal(rnic_ep_leave(ep, g), -EINVAL);
	assert_int_equal(v.links, 1);
	is_joined(g, &local);
	/* The last goes, by its end: the QP stays. */
	rnic_ep_destroy(more);
	assert_int_equal(v.links, 1);
	is_joined(g, &any);
	/* If that cannot be, it is attached all the same. */
	assert_int_equal(rnic_ep_join(ep, g), 0);
	assert_int_equal(rnic_qp_detach(v.qp[0], g), 0);
	assert_int_equal(rnic_qp_attach(v.qp[0], g), 0);
	v.join_rc = -ENOSPC;
	assert_int_equal(rnic_ep_leave(ep, g), 0);
	assert_int_equal(v.links, 0);
	assert_true(rnic_qp_is_attached(v.qp[0]));
	rnic_ep_destroy(ep);
}

static void test_join_refused(void **state)
{
	const struct ip_addr local = llp_mem_endpoint(v.pair.mem, 0, 0).addr;
	const struct ip_addr *g = ip_addr_is_v4(&local) ? &group : &other;
	struct rnic_ep *ep = endpoint(false);

	assert_int_equal(rnic_ep_join(ep, g), -EINVAL); /* on which link? */
	rnic_ep_destroy(ep);
	ep = endpoint(true);
	assert_int_equal(rnic_ep_join(ep, g == &group ? &other : &group), -EINVAL);
	assert_int_equal(rnic_ep_join(ep, &local), -EINVAL);
	assert_int_equal(rnic_ep_join(v.pair.a.ep, g), -EINVAL); /* of connections */
	assert_int_equal(rnic_ep_leave(v.pair.a.ep, g), -EINVAL);
	v.join_rc = -EADDRNOTAVAIL;
	assert_int_equal(rnic_ep_join(ep, g), -EADDRNOTAVAIL);
	assert_int_equal(rnic_ep_leave(ep, g), -EINVAL);
	v.join_rc = 0;
	v.settle_rc = -ENOSPC;
	assert_int_equal(rnic_ep_join(ep, g), -ENOSPC);
	assert_int_equal(rnic_ep_leave(ep, g), -EINVAL);
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
	v.settle_rc = 0;
	assert_int_equal(rnic_ep_join(ep, g), 0);
	assert_false(v.unsettled);
	assert_int_equal(rnic_ep_leave(ep, g), 0);
	assert_false(v.unsettled);
	assert_int_equal(rnic_ep_join(ep, g), 0);
	rnic_ep_destroy(ep);
	assert_int_equal(v.links, 0);
	assert_false(v.unsettled);
}

/* A group is resolved at once; nobody is to be asked for a QP there. */
static void test_resolve(void **state)
{
	const struct ip_addr local = llp_mem_endpoint(v.pair.mem, 0, 0).addr;
	const struct ip_addr *g = ip_addr_is_v4(&local) ? &group : &other;
	const struct ip_endpoint to = {.addr = *g, .port = 1};
	const struct rnic_conn_param p = {.ud_qp = 1};
	struct ip_endpoint from, remote;

	for (unsigned bound = 0; bound < 2; bound++) {
		struct rnic_ep *ep = endpoint(bound != 0);

		assert_int_equal(rnic_ep_resolve(ep, &to, 1000), 0);
		assert_int_equal(pair_last(&v.pair.a)->type, RNIC_EP_ADDR_RESOLVED);
		rnic_ep_addresses(ep, &from, &remote);
		assert_true(ip_addr_equal(&from.addr, &local));
		assert_true(ip_addr_equal(&remote.addr, g));
		assert_int_equal(rnic_ep_connect(ep, &p), -EINVAL);
		assert_int_equal(rnic_ep_join(ep, g), 0);
		rnic_ep_destroy(ep);
	}
	assert_int_equal(rnic_ep_resolve(v.pair.a.ep, &to, 1000), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		TEST(test_delivery),
		TEST(test_detach),
		TEST(test_wrong_number),
		TEST(test_self),
		TEST(test_refused),
		TEST(test_attached_at_once),
		TEST(test_settled),
		TEST(test_host_refuses),
		TEST(test_join),
		TEST(test_join_refused),
		TEST(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
