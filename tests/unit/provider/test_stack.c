/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes, each with its own stack, joined by memif: nothing in between is a double. The
 * passive one never polls: its engine's thread does the work. */
#include "provider/stack.h"
#include "rnic/ep.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE 300000
#define PORT 7174

/** What the callbacks tell the thread that waits. */
struct box {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned seen[RNIC_EP_DEVICE_REMOVAL + 1];
	bool failed; /**< no event but the end will follow */
	struct rnic_ep *request;
	struct {
		uint64_t to;
		uint32_t stag;
	} private_data;
	unsigned notified;
};

struct side {
	struct box box;
	struct stack *stack;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct rnic_mr *mr;
	struct rnic_ep *ep, *conn;
	uint8_t buf[SIZE];
};

/* Not cmocka's asserts: one of the sides is another process. */
#define CHECK(x)                                                                \
	do {                                                                    \
		if (!(x)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #x); \
			return 1;                                               \
		}                                                               \
	} while (0)

static bool is_failure(enum rnic_ep_event_type type)
{
	return type == RNIC_EP_ADDR_ERROR || type == RNIC_EP_REJECTED ||
	       type == RNIC_EP_UNREACHABLE || type == RNIC_EP_CONNECT_ERROR;
}

static void on_event(const struct rnic_ep_event *ev)
{
	struct side *s = ev->context;
	struct box *b = &s->box;

	pthread_mutex_lock(&b->lock);
	b->seen[ev->type]++;
	if (is_failure(ev->type)) {
		fprintf(stderr, "event %d, status %d\n", (int)ev->type, ev->status);
		b->failed = true;
	}
	if (ev->type == RNIC_EP_CONNECT_REQUEST)
		b->request = ev->request;
	if (ev->private_len >= sizeof b->private_data)
		memcpy(&b->private_data, ev->private_data, sizeof b->private_data);
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static void on_completion(void *context)
{
	struct side *s = context;

	pthread_mutex_lock(&s->box.lock);
	s->box.notified++;
	pthread_cond_broadcast(&s->box.changed);
	pthread_mutex_unlock(&s->box.lock);
}

/** Wait until *@p count is not 0; take one. @return false after a failure, or LIMIT_S. */
static bool wait_for(struct side *s, unsigned *count)
{
	struct timespec end;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += LIMIT_S; /* a goodbye that was lost is noticed by keep-alives */
	pthread_mutex_lock(&s->box.lock);
	while (!*count && !s->box.failed &&
		pthread_cond_timedwait(&s->box.changed, &s->box.lock, &end) == 0)
		;
	ok = *count > 0;
	if (ok)
		--*count;
	pthread_mutex_unlock(&s->box.lock);
	return ok;
}

static int side_open(struct side *s, const char *const *settings)
{
	struct config c;
	struct config_error e = {.text = ""};

	pthread_mutex_init(&s->box.lock, NULL);
	pthread_cond_init(&s->box.changed, NULL);
	config_init(&c);
	for (; *settings; settings++)
		CHECK(config_set(&c, "--set", *settings, &e) == 0);
	if (config_check(&c, &e) || stack_open(&c, &s->stack, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	CHECK(rnic_pd_alloc(stack_rnic(s->stack), &s->pd) == 0);
	CHECK(rnic_cq_create(stack_rnic(s->stack), 64, on_completion, s, &s->cq) == 0);
	CHECK(rnic_mr_reg(s->pd, s->buf, SIZE, (uintptr_t)s->buf,
		      RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ,
		      &s->mr) == 0);
	CHECK(rnic_ep_create(stack_rnic(s->stack), on_event, s, &s->ep) == 0);
	return 0;
}

static int make_qp(struct side *s)
{
	struct rnic_qp_init init = {.send_cq = s->cq,
		.recv_cq = s->cq,
		.context = s,
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.sq_sig_all = true};
	const struct rnic_qp_attr to_init = {.state = RNIC_QP_INIT,
		.access = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ};

	CHECK(rnic_qp_create(s->pd, &init, &s->qp) == 0);
	CHECK(rnic_qp_modify(s->qp, RNIC_QP_STATE | RNIC_QP_ACCESS, &to_init) == 0);
	return 0;
}

static int post_recv(struct side *s)
{
	struct rdmap_rqe *w;

	CHECK(rnic_rq_begin(s->qp) == 0);
	w = rnic_rq_next(s->qp);
	CHECK(w);
	w->wr_id = 99;
	w->length = 100;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){
		.addr = (uintptr_t)s->buf + SIZE - 100, .len = 100, .stag = rnic_mr_stag(s->mr)};
	rnic_rq_commit(s->qp);
	rnic_rq_end(s->qp);
	return 0;
}

static int post(struct side *s, uint8_t op, uint32_t len)
{
	struct rdmap_wqe *w;

	CHECK(rnic_sq_begin(s->qp) == 0);
	w = rnic_sq_next(s->qp);
	CHECK(w);
	w->wr_id = op;
	w->op = op;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->num_sge = 1;
	w->remote_stag = s->box.private_data.stag;
	w->remote_to = s->box.private_data.to;
	w->sge[0] = (struct rdmap_sge){
		.addr = (uintptr_t)s->buf, .len = len, .stag = rnic_mr_stag(s->mr)};
	rnic_sq_commit(s->qp);
	rnic_sq_end(s->qp);
	return 0;
}

/** Take one completion without polling in a loop. */
static int next_blocking(struct side *s, struct rnic_wc *wc)
{
	for (;;) {
		int n = rnic_cq_poll(s->cq, 1, wc);

		CHECK(n >= 0);
		if (n == 1)
			return 0;
		CHECK(rnic_cq_arm(s->cq, false) == 0);
		n = rnic_cq_poll(s->cq, 1, wc);
		CHECK(n >= 0);
		if (n == 1)
			return 0;
		CHECK(wait_for(s, &s->box.notified));
	}
}

static int next_polling(struct side *s, struct rnic_wc *wc)
{
	time_t end = time(NULL) + LIMIT_S;
	int n;

	while ((n = rnic_cq_poll(s->cq, 1, wc)) == 0 && time(NULL) < end)
		;
	CHECK(n == 1);
	return 0;
}

static int side_close(struct side *s)
{
	rnic_ep_destroy(s->ep);
	if (s->conn && s->conn != s->ep)
		rnic_ep_destroy(s->conn);
	CHECK(rnic_qp_destroy(s->qp) == 0);
	CHECK(rnic_mr_dereg(s->mr) == 0);
	CHECK(rnic_cq_destroy(s->cq) == 0);
	CHECK(rnic_pd_dealloc(s->pd) == 0);
	stack_close(s->stack);
	return 0;
}

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

static int serve(struct side *s, const char *const *settings, const char *address, int ready)
{
	struct ip_endpoint local = {.port = PORT};
	struct rnic_conn_param param = {.ird = 4, .ord = 4};
	struct rnic_wc wc;

	CHECK(side_open(s, settings) == 0);
	CHECK(ip_addr_parse(address, &local.addr) == 0);
	CHECK(rnic_ep_bind(s->ep, &local, false, false) == 0);
	CHECK(rnic_ep_listen(s->ep, 4) == 0);
	CHECK(write(ready, "x", 1) == 1);
	CHECK(wait_for(s, &s->box.seen[RNIC_EP_CONNECT_REQUEST]));
	s->conn = s->box.request;
	rnic_ep_set_context(s->conn, on_event, s);
	CHECK(make_qp(s) == 0);
	CHECK(post_recv(s) == 0);
	s->box.private_data.to = (uintptr_t)s->buf;
	s->box.private_data.stag = rnic_mr_stag(s->mr);
	param.qp = s->qp;
	param.private_data = &s->box.private_data;
	param.private_len = sizeof s->box.private_data;
	CHECK(rnic_ep_accept(s->conn, &param) == 0);
	CHECK(next_blocking(s, &wc) == 0);
	CHECK(wc.wc.op == RDMAP_WC_RECV && wc.wc.status == RDMAP_WC_SUCCESS);
	CHECK(wc.wc.byte_len == 50);
	for (uint32_t i = 0; i < SIZE - 100; i++)
		CHECK(s->buf[i] == pattern(i));
	for (uint32_t i = 0; i < 50; i++)
		CHECK(s->buf[SIZE - 100 + i] == pattern(i));
	memset(s->buf, 0x5a, 1000);
	CHECK(post(s, RDMAP_WR_SEND, 60) == 0);
	CHECK(wait_for(s, &s->box.seen[RNIC_EP_DISCONNECTED]));
	return side_close(s);
}

static int connect_to_server(
	struct side *s, const char *const *settings, const char *address, int ready)
{
	struct ip_endpoint remote = {.port = PORT};
	struct rnic_conn_param param = {.ird = 4, .ord = 4};
	char x;

	CHECK(side_open(s, settings) == 0);
	CHECK(read(ready, &x, 1) == 1);
	CHECK(ip_addr_parse(address, &remote.addr) == 0);
	/* As programs do it: a peer that is busy for seconds is asked again. */
	CHECK(rnic_ep_resolve(s->ep, &remote, LIMIT_NS) == 0);
	CHECK(wait_for(s, &s->box.seen[RNIC_EP_ADDR_RESOLVED]));
	CHECK(make_qp(s) == 0);
	param.qp = s->qp;
	CHECK(rnic_ep_connect(s->ep, &param) == 0);
	CHECK(wait_for(s, &s->box.seen[RNIC_EP_ESTABLISHED]));
	CHECK(s->box.private_data.stag);
	CHECK(post_recv(s) == 0);
	for (uint32_t i = 0; i < SIZE - 100; i++)
		s->buf[i] = pattern(i);
	CHECK(post(s, RDMAP_WR_WRITE, SIZE - 100) == 0);
	CHECK(post(s, RDMAP_WR_SEND, 50) == 0);
	return 0;
}

static int call(struct side *s, const char *const *settings, const char *address, int ready)
{
	struct rnic_wc wc;

	CHECK(connect_to_server(s, settings, address, ready) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(next_polling(s, &wc) == 0);
		CHECK(wc.wc.status == RDMAP_WC_SUCCESS);
	}
	CHECK(wc.wc.op == RDMAP_WC_RECV && wc.wc.byte_len == 60);
	CHECK(post(s, RDMAP_WR_READ, SIZE - 100) == 0);
	CHECK(next_polling(s, &wc) == 0);
	CHECK(wc.wc.status == RDMAP_WC_SUCCESS && wc.wc.op == RDMAP_WC_READ);
	for (uint32_t i = 0; i < SIZE - 100; i++)
		CHECK(s->buf[i] == (i < 1000 ? 0x5a : pattern(i)));
	CHECK(rnic_ep_disconnect(s->ep) == 0);
	CHECK(wait_for(s, &s->box.seen[RNIC_EP_DISCONNECTED]));
	return side_close(s);
}

/** Closes in good order, and is gone by the time that all of it could be sent. */
static int call_and_end(struct side *s, const char *const *settings, const char *address, int ready)
{
	CHECK(connect_to_server(s, settings, address, ready) == 0);
	CHECK(rnic_ep_disconnect(s->ep) == 0);
	stack_before_end();
	_exit(0);
}

/** Does not close at all: the peer must hear of it sooner than from its keep-alive. */
static int call_and_vanish(
	struct side *s, const char *const *settings, const char *address, int ready)
{
	struct rnic_wc wc;

	CHECK(connect_to_server(s, settings, address, ready) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(next_polling(s, &wc) == 0);
	stack_before_end();
	_exit(0);
}

/** A signal ends it while it polls. */
static int call_and_be_ended(
	struct side *s, const char *const *settings, const char *address, int ready)
{
	struct rnic_wc wc;

	CHECK(connect_to_server(s, settings, address, ready) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(next_polling(s, &wc) == 0);
	CHECK(stack_end_by(SIGTERM));
	for (;;)
		rnic_cq_poll(s->cq, 1, &wc);
}

typedef int side_fn(struct side *s, const char *const *settings, const char *address, int ready);

/** Each side in a process of its own: an EAL does not survive a fork. */
static pid_t run(side_fn *fn, const char *const *settings, const char *address, int ready)
{
	static struct side side; /* the child's own copy */
	pid_t p = child_fork();

	if (p)
		return p;
	alarm(LIMIT_S);
	exit(fn(&side, settings, address, ready));
}

/** @param signal that ends the caller, or 0. */
static void pair(const char *const *server, side_fn *caller, const char *const *client,
	const char *address, int signal)
{
	int ready[2], status;
	pid_t a, b;

	assert_int_equal(pipe(ready), 0);
	a = run(serve, server, address, ready[1]);
	b = run(caller, client, address, ready[0]);
	assert_int_equal(waitpid(b, &status, 0), b);
	assert_int_equal(status, signal);
	assert_int_equal(waitpid(a, &status, 0), a);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
}

static void rdma_between_two_processes_over_memif(void **state)
{
	char server_port[128], client_port[128];
	const char *const server[] = {server_port, "address=10.9.0.1/24", NULL};
	const char *const client[] = {client_port, "address=10.9.0.2/24", NULL};

	snprintf(server_port, sizeof server_port, "port=net_memif0,role=server,socket=@uiwarp-t%d",
		(int)getpid());
	snprintf(client_port, sizeof client_port, "port=net_memif0,role=client,socket=@uiwarp-t%d",
		(int)getpid());
	pair(server, call, client, "10.9.0.1", 0);
	pair(server, call_and_end, client, "10.9.0.1", 0);
	pair(server, call_and_vanish, client, "10.9.0.1", 0);
	pair(server, call_and_be_ended, client, "10.9.0.1", SIGTERM);
}

static void rdma_over_ipv6_with_a_capture(void **state)
{
	char server_port[128], client_port[128], capture[64];
	const char *const server[] = {server_port, "address=fd00:9::1/64", NULL};
	const char *const client[] = {client_port, "address=fd00:9::2/64", capture, NULL};
	struct stat st;

	snprintf(server_port, sizeof server_port, "port=net_memif0,role=server,socket=@uiwarp-t%d",
		(int)getpid());
	snprintf(client_port, sizeof client_port, "port=net_memif0,role=client,socket=@uiwarp-t%d",
		(int)getpid());
	snprintf(capture, sizeof capture, "capture=/tmp/uiwarp-test-stack-%d", (int)getpid());
	pair(server, call, client, "fd00:9::1", 0);
	assert_int_equal(stat(capture + 8, &st), 0);
	/* What was written and read is in it. */
	assert_true(st.st_size > 2 * SIZE);
	unlink(capture + 8);
}

/** In a process of its own: open with @p settings. @return 0 if refused with @p says. */
static int refused(const char *const *settings, const char *says)
{
	int status = -1;
	pid_t p = child_fork();

	if (p == 0) {
		struct config c;
		struct config_error e = {.text = ""};
		struct stack *s;
		int r = 0;

		config_init(&c);
		for (; *settings && !r; settings++)
			r = config_set(&c, "--set", *settings, &e);
		if (!r)
			r = stack_open(&c, &s, &e);
		if (!strstr(e.text, says))
			fprintf(stderr, "%s\n", e.text);
		_exit(!r || !strstr(e.text, says));
	}
	waitpid(p, &status, 0);
	return status;
}

static void what_cannot_be_opened_is_said(void **state)
{
	const char *const port[] = {"port=net_none0", "address=10.9.0.1/24", NULL};
	const char *const eal[] = {"port=net_null0", "address=10.9.0.1/24", "eal=--bogus", NULL};
	const char *const capture[] = {
		"port=net_null0", "address=10.9.0.1/24", "capture=/no/such/dir/f", NULL};
	const char *const log[] = {"port=net_null0", "log_file=/no/such/dir/f", NULL};

	assert_int_equal(refused(port, "no driver"), 0);
	assert_int_equal(refused(eal, "bogus"), 0);
	assert_int_equal(refused(capture, "/no/such/dir/f"), 0);
	assert_int_equal(refused(log, "/no/such/dir/f"), 0);
}

static int forked(void)
{
	const char *const settings[] = {"port=net_ring0", "address=10.9.0.1/24", NULL};
	struct side *s = calloc(1, sizeof *s);
	int status = -1;
	uint16_t mtu;
	uint32_t speed;
	bool up;
	pid_t p;

	CHECK(s && side_open(s, settings) == 0);
	CHECK(!stack_is_orphan(s->stack));
	p = child_fork();
	if (p == 0) {
		stack_link(s->stack, &mtu, &speed, &up);
		/* Not exit(): LeakSanitizer may wait for a lock that a thread of the parent held.
		 */
		_exit(!stack_is_orphan(s->stack) || up);
	}
	CHECK(waitpid(p, &status, 0) == p);
	CHECK(status == 0);
	CHECK(!stack_is_orphan(s->stack));
	stack_link(s->stack, &mtu, &speed, &up);
	CHECK(up && mtu == 1500);
	return 0;
}

static void a_child_does_not_touch_its_parents_stack(void **state)
{
	int status = -1;
	pid_t p = child_fork();

	if (p == 0) {
		alarm(LIMIT_S);
		exit(forked()); /* with the stack open */
	}
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_opened_is_said),
		cmocka_unit_test(a_child_does_not_touch_its_parents_stack),
		cmocka_unit_test(rdma_between_two_processes_over_memif),
		cmocka_unit_test(rdma_over_ipv6_with_a_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
