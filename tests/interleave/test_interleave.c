/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Threads that post, poll and sleep, and the engine's own thread, in thousands of orders. The
 * engine, the RNIC, RDMAP and the thread are the product's, compiled with hooks.h; the network is
 * in memory and takes no time, so nothing moves but by doorbells and wake-ups. If one is lost,
 * somebody sleeps for ever.
 *
 * usage: test_interleave [FROM:TO]    these seeds; default 1:400
 */
#include "base/prng.h"
#include "dpdk-port/priority.h"
#include "dpdk-port/spawn.h"
#include "host/thread.h"
#include "unit/rnic/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define POSTERS 2
#define POSTS   10
#define MS      UINT64_C(1000000)
/** All is done by then; the engine's thread and the consumer would sleep for an hour. */
#define PATIENCE (60000 * MS)
/** From a post to its completion: the engine's thread looks once in a millisecond (IDLE_AWAY_NS).
 */
#define LATENCY  (3 * MS)
#define WAKE_FD  0
#define QUIET_FD 1 /**< of the port, which tells of nothing */

static uint64_t first_seed = 1, last_seed = 400;

/** One order of one program. */
struct order {
	struct prng r;
	struct pair pair;
	struct poller poller;
	struct engine_ops ops;
	struct engine_thread *thread;
	struct rnic_cq *cq; /**< of both posters' QPs, and their receives */
	struct rnic_qp *qp[POSTERS];
	uint32_t num[POSTERS];
	bool sleeps;           /**< the consumer does, until it is notified */
	bool fails;            /**< somebody moves the first QP to ERROR meanwhile */
	bool looks;            /**< somebody takes the engine now and then, or gives it up */
	bool destroys;         /**< the consumer destroys each QP as soon as all is completed */
	unsigned posted, done; /**< requests and receives */
	unsigned posters_left;
	unsigned left[POSTERS];  /**< requests and receives that are not completed */
	bool last_post[POSTERS]; /**< all is posted; the poster may still be about it */
	bool second_is_done;     /**< it posts receives to the first QP, too */
	unsigned next[POSTERS];  /**< the wr_id that has to be completed next */
	uint64_t posted_at[POSTERS][POSTS];
	unsigned told; /**< the CQ has notified */
	unsigned last; /**< the first poster has only a receive left to post */
	char wrong[128];
};

static struct order order;

static void order_wrong(const char *what, uint64_t a, uint64_t b)
{
	if (!order.wrong[0])
		snprintf(order.wrong, sizeof order.wrong, "%s: %ju, %ju", what, (uintmax_t)a,
			(uintmax_t)b);
}

/* ---- what the product asks of the machine ------------------------------------------------- */

uint64_t clock_kernel_ns(void)
{
	return interleave_now();
}

void priority_ask(void)
{
}

static void *(*thread_run)(void *);

static void thread_main(void *arg)
{
	thread_run(arg);
}

int spawn_thread(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	thread_run = run;
	*out = interleave_spawn(thread_main, arg);
	return 0;
}

void poller_wake(void *ctx)
{
	interleave_set_readable(WAKE_FD, true);
}

void poller_wake_clear(struct poller *p)
{
	interleave_set_readable(WAKE_FD, false);
}

static int source_fd(const struct poller *p)
{
	return QUIET_FD;
}

static bool source_no(const struct poller *p)
{
	return false;
}

static void source_nothing(struct poller *p)
{
}

static uint64_t source_received(const struct poller *p)
{
	return 0;
}

static const struct poller_source source = {.fd = source_fd,
	.is_interrupt = source_no,
	.arm = source_nothing,
	.woken = source_nothing,
	.received = source_received,
	.has_backlog = source_no};

static uint64_t op_clock(void *ctx)
{
	return interleave_now();
}

static void op_flush(void *ctx)
{
	llp_mem_run(order.pair.mem, 100000);
}

/** What is to be moved may wait for the next who takes the lock, and no longer. */
static bool op_flush_may_wait(void *ctx)
{
	return prng_chance(&order.r, 0.5);
}

static unsigned op_poll(void *ctx, uint64_t now)
{
	timer_wheel_run(&order.pair.engine.wheel, now);
	return llp_mem_run(order.pair.mem, 100000);
}

/* ---- threads ------------------------------------------------------------------------------ */

/** Nothing, a moment, until another wakes, or long enough that all others sleep long. */
static void pause_some(void)
{
	static const uint64_t most[] = {0, 0, 100, 2000, 200000, 20 * MS, 2000 * MS};
	unsigned kind = (unsigned)prng_below(&order.r, order.sleeps && !order.fails ? 9 : 5);
	uint64_t first = interleave_first_wake(), now = interleave_now();
	uint64_t ns = kind < 7 ? prng_below(&order.r, most[kind]) : prng_below(&order.r, 400);
	unsigned never = 0;

	if (kind >= 7 && first > now && first - now < 2000 * MS)
		ns += first - now;
	if (ns)
		interleave_sleep(&never, ns);
}

/** What if all is completed before it comes back? */
static void begin_last_post(unsigned who)
{
	order.last_post[who] = true;
	if (order.destroys)
		interleave_stall_within(20);
}

static bool post_send(unsigned who, unsigned n)
{
	struct side *a = &order.pair.a, *b = &order.pair.b;
	struct rdmap_wqe *w;

	if (rnic_sq_begin(order.qp[who]))
		return false;
	w = rnic_sq_next(order.qp[who]);
	if (!w) {
		rnic_sq_abort(order.qp[who]);
		return false;
	}
	w->wr_id = n;
	w->op = RDMAP_WR_WRITE;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = 8;
	w->remote_to = (uintptr_t)b->buf + 1024 * who + 8 * n;
	w->remote_stag = rnic_mr_stag(b->mr);
	w->num_sge = 1;
	w->sge[0] =
		(struct rdmap_sge){(uintptr_t)a->buf + 1024 * who + 8 * n, 8, rnic_mr_stag(a->mr)};
	rnic_sq_commit(order.qp[who]);
	order.posted++;
	order.left[who]++;
	order.posted_at[who][n] = interleave_now();
	if (n == POSTS - 1 && !(order.fails && who == 0))
		begin_last_post(who);
	rnic_sq_end(order.qp[who]);
	return true;
}

/** Into the queue of the QP that fails: each must come back. */
static void post_recv(bool last)
{
	struct rdmap_rqe *w;

	if (rnic_rq_begin(order.qp[0]))
		return;
	w = rnic_rq_next(order.qp[0]);
	if (w) {
		w->wr_id = UINT32_MAX;
		rnic_rq_commit(order.qp[0]);
		order.posted++;
		order.left[0]++;
	}
	if (last)
		begin_last_post(0);
	rnic_rq_end(order.qp[0]);
}

static void run_poster(void *arg)
{
	unsigned who = (unsigned)(uintptr_t)arg, never = 0;

	for (unsigned n = 0; n < POSTS;) {
		pause_some();
		for (unsigned k = 0; order.fails && k < 2; k++)
			post_recv(false);
		if (post_send(who, n))
			n++;
		else
			interleave_yield();
	}
	if (who == 0)
		order.last = 1;
	else
		order.second_is_done = true;
	if (order.fails && who == 0) {
		interleave_sleep(&never, prng_below(&order.r, 1500));
		post_recv(true);
	}
	/* The last look of a consumer that sleeps may have been before the last post. */
	if (--order.posters_left == 0)
		order.told = 1;
}

/** As those who only look: they take no engine that is not to be had soon. */
static void run_look(void *arg)
{
	unsigned never = 0;

	for (unsigned i = 0; i < 20 && order.posters_left; i++) {
		interleave_stall_within(50);
		if (engine_lock_within(&order.pair.engine, 1))
			engine_unlock(&order.pair.engine);
		interleave_sleep(&never, prng_below(&order.r, 2000));
	}
}

static void run_failure(void *arg)
{
	unsigned never = 0;

	/* Most often while the last receive is posted, behind which nothing rings. */
	if (prng_chance(&order.r, 0.7))
		interleave_sleep(&order.last, 3600000 * MS);
	else
		interleave_sleep(&never, prng_below(&order.r, 20000));
	pair_go(order.qp[0], RNIC_QP_ERROR);
}

static void consume(const struct rnic_wc *wc)
{
	unsigned who = wc->qp_num == order.num[1];

	order.done++;
	order.left[who]--;
	if (wc->wc.op == RDMAP_WC_RECV)
		return;
	if (wc->wc.wr_id != order.next[who]++)
		order_wrong("a completion out of its turn", who, wc->wc.wr_id);
	else if (interleave_now() - order.posted_at[who][wc->wc.wr_id] > LATENCY)
		order_wrong("a completion is late", who, wc->wc.wr_id);
	if (wc->wc.status != RDMAP_WC_SUCCESS && (!order.fails || who))
		order_wrong("a request failed", who, wc->wc.status);
}

static bool is_done_with(unsigned who)
{
	return order.last_post[who] && !order.left[who] &&
	       (who || !order.fails || order.second_is_done);
}

static void destroy_what_is_done(void)
{
	for (unsigned i = 0; i < POSTERS; i++)
		if (order.destroys && order.qp[i] && is_done_with(i)) {
			rnic_qp_destroy(order.qp[i]);
			order.qp[i] = NULL;
		}
}

static bool consume_some(void)
{
	struct rnic_wc wc[3];
	int n = rnic_cq_poll(order.cq, 3, wc);

	if (n < 0)
		order_wrong("poll", 0, (uint64_t)-n);
	for (int i = 0; i < n; i++)
		consume(&wc[i]);
	destroy_what_is_done();
	return n > 0;
}

static void run_consumer(void *arg)
{
	while (order.posters_left || order.done < order.posted) {
		if (consume_some())
			continue;
		if (!order.sleeps) {
			interleave_yield();
			continue;
		}
		rnic_cq_arm(order.cq, false);
		if (!consume_some())
			interleave_sleep(&order.told, 3600000 * MS);
	}
	engine_thread_stop(order.thread);
}

/* ---- a run -------------------------------------------------------------------------------- */

static void told(void *context)
{
	order.told = 1;
}

static void order_connect(struct side *s, unsigned who)
{
	struct pair *p = &order.pair;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.qp = order.qp[who], .ird = 1, .ord = 1};
	struct rnic_ep *active;

	assert_int_equal(rnic_ep_create(s->rnic, pair_ep_event, s, &active), 0);
	assert_int_equal(rnic_ep_resolve(active, &to, 0), 0);
	p->b.request = NULL;
	assert_int_equal(rnic_ep_connect(active, &cp), 0);
	pair_run(p);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	cp.qp = pair_qp(&p->b, p->b.cq, NULL);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_run(p);
}

/** Two streams from a to b, and the engine with its thread. */
static void order_begin(uint64_t seed)
{
	struct pair *p = &order.pair;
	struct engine_thread_config tc = {.poller = &order.poller, .core = -1};

	memset(&order, 0, sizeof order);
	order.r.state = seed ^ 0x696e746c;
	interleave_begin(seed, 1000 * MS);
	order.sleeps = prng_chance(&order.r, 0.6);
	order.fails = prng_chance(&order.r, 0.3);
	order.destroys = prng_chance(&order.r, 0.5);
	order.looks = prng_chance(&order.r, 0.3);
	order.posters_left = POSTERS;
	pair_init(p, NULL);
	order.ops = *p->engine.ops;
	order.ops.clock = order.ops.clock_unlocked = op_clock;
	order.ops.flush = op_flush;
	order.ops.flush_may_wait = op_flush_may_wait;
	order.ops.poll = op_poll;
	order.ops.wake = poller_wake;
	p->engine.ops = &order.ops;
	pair_listen(p, 4);
	assert_int_equal(rnic_cq_create(p->a.rnic, 128, told, NULL, &order.cq), 0);
	for (unsigned i = 0; i < POSTERS; i++) {
		order.qp[i] = pair_qp(&p->a, order.cq, NULL);
		order.num[i] = rnic_qp_num(order.qp[i]);
		order_connect(&p->a, i);
	}
	for (unsigned i = 0; i < PAIR_BUF; i++)
		p->a.buf[i] = (uint8_t)(i * 7 + seed);
	order.poller = (struct poller){.engine = &p->engine, .source = &source, .wake_fd = WAKE_FD};
	assert_int_equal(engine_thread_start(&tc, &order.thread), 0);
}

/** All are gone with their RNICs. */
static void order_end(void)
{
	struct pair *p = &order.pair;

	rnic_destroy(p->a.rnic);
	rnic_destroy(p->b.rnic);
	free(p->a.buf);
	free(p->b.buf);
	llp_mem_destroy(p->mem);
	engine_fini(&p->engine);
}

static void order_run(uint64_t seed)
{
	order_begin(seed);
	for (uintptr_t i = 0; i < POSTERS; i++)
		interleave_spawn(run_poster, (void *)i);
	interleave_spawn(run_consumer, NULL);
	if (order.fails)
		interleave_spawn(run_failure, NULL);
	if (order.looks)
		interleave_spawn(run_look, NULL);
	if (!interleave_run(PATIENCE))
		order_wrong("it does not come to an end", order.posted, order.done);
	if (interleave_touched_freed())
		order_wrong("memory is used that was freed", order.posted, order.done);
	for (unsigned i = order.fails ? 1 : 0; i < POSTERS && !order.wrong[0]; i++)
		if (memcmp(order.pair.a.buf + 1024 * i, order.pair.b.buf + 1024 * i, 8 * POSTS))
			order_wrong("other bytes", i, 0);
}

static void test_all_orders_end_well(void **state)
{
	uint64_t switches = 0, longest = 0;

	for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
		order_run(seed);
		if (order.wrong[0])
			fail_msg("seed %ju: %s", (uintmax_t)seed, order.wrong);
		switches += interleave_switches();
		longest = interleave_now() > longest ? interleave_now() : longest;
		order_end();
	}
	print_message("# %ju switches, the longest took %ju us\n", (uintmax_t)switches,
		(uintmax_t)((longest - 1000 * MS) / 1000));
}

static void look_for_ever(void *arg)
{
	for (;;)
		interleave_yield();
}

/* Who polls for what never comes sleeps at no time. */
static void test_endless_orders_are_noticed(void **state)
{
	interleave_begin(1, 1000 * MS);
	interleave_spawn(look_for_ever, NULL);
	interleave_spawn(look_for_ever, NULL);
	assert_false(interleave_run(PATIENCE));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_orders_end_well),
		cmocka_unit_test(test_endless_orders_are_noticed)};
	char *end;

	if (argc > 1) {
		first_seed = strtoull(argv[1], &end, 0);
		last_seed = *end == ':' ? strtoull(end + 1, NULL, 0) : first_seed;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
