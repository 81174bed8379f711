/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that a program takes away under its registration, and its own handlers of faults. */
#include "fixture.h"
#include "setters.h"

#include "base/guarded.h"
#include "support/as_init.h"
#include "support/child.h"
#include "support/limit.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define AREA ((size_t)65536)

enum taken { UNMAPPED, PROTECTED, READ_ONLY, CUT_SHORT };

/** A part of an end's memory, in place of its own buffer. */
struct area {
	struct end end;
	int fd;
};

static void area_open(struct area *a, const struct end *owner)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	a->end = *owner;
	a->fd = memfd_create("area", 0);
	assert_int_equal(ftruncate(a->fd, AREA), 0);
	a->end.buf = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	assert_ptr_not_equal(a->end.buf, MAP_FAILED);
	memset(a->end.buf, 0x5a, AREA);
	a->end.mr = ibv_reg_mr(owner->id->pd, a->end.buf, AREA, access);
	assert_non_null(a->end.mr);
}

/** Take the second half away. */
static void area_take(const struct area *a, enum taken how)
{
	uint8_t *half = a->end.buf + AREA / 2;

	switch (how) {
	case UNMAPPED:
		assert_int_equal(munmap(half, AREA / 2), 0);
		break;
	case PROTECTED:
		assert_int_equal(mprotect(half, AREA / 2, PROT_NONE), 0);
		break;
	case READ_ONLY:
		assert_int_equal(mprotect(half, AREA / 2, PROT_READ), 0);
		break;
	case CUT_SHORT:
		assert_int_equal(ftruncate(a->fd, AREA / 2), 0);
		break;
	}
}

static void area_close(struct area *a)
{
	assert_int_equal(ibv_dereg_mr(a->end.mr), 0);
	munmap(a->end.buf, AREA);
	close(a->fd);
}

/** The client's request of @p len bytes, local ones at @p from, remote ones at @p to. */
static void post(enum ibv_wr_opcode op, const struct end *from, const struct end *to, size_t at,
	uint32_t len)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(op, &sge, from, len);

	sge.addr += at;
	wr.wr.rdma.remote_addr = (uintptr_t)to->buf + at;
	wr.wr.rdma.rkey = to->mr->rkey;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to->buf + at;
		wr.wr.atomic.rkey = to->mr->rkey;
		wr.wr.atomic.compare_add = 1;
	}
	client_posts(&wr);
}

static void server_has_event(enum ibv_event_type type)
{
	struct ibv_async_event ev;

	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	assert_int_equal(ev.event_type, type);
	assert_ptr_equal(ev.element.qp, fx.server.id->qp);
	ibv_ack_async_event(&ev);
}

static uint32_t length_of(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 30000;
}

/** A peer reaches for what is gone: the peer is refused, and this process lives. */
static void remote(enum ibv_wr_opcode op, enum taken how)
{
	struct area area;
	struct ibv_wc wc;

	fixture_connect(NULL);
	area_open(&area, &fx.server);
	post(op, &fx.client, &area.end, 0, length_of(op));
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	area_take(&area, how);
	/* It begins where there is memory, but for the Atomic. */
	post(op, &fx.client, &area.end, length_of(op) == 8 ? AREA / 2 : AREA / 2 - 16000,
		length_of(op));
	server_has_event(IBV_EVENT_QP_ACCESS_ERR);
	wc = take(fx.client.id->send_cq);
	if (op != IBV_WR_RDMA_WRITE) /* which is over when it is sent */
		assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	area_close(&area);
	fixture_disconnect(NULL);
}

static void test_remote(void **state)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
	static const enum taken hows[] = {UNMAPPED, PROTECTED, CUT_SHORT};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++)
			remote(ops[i], hows[j]);
	remote(IBV_WR_RDMA_WRITE, READ_ONLY);
	remote(IBV_WR_ATOMIC_FETCH_AND_ADD, READ_ONLY);
}

/** What the program's own request names is gone: its request fails. */
static void local(enum ibv_wr_opcode op, enum taken how)
{
	struct area area;
	struct ibv_wc wc;

	fixture_connect(NULL);
	post_recv(&fx.server, 1);
	area_open(&area, &fx.client);
	area_take(&area, how);
	post(op, &area.end, &fx.server, AREA / 2, length_of(op));
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	area_close(&area);
	fixture_disconnect(NULL);
}

static void test_local(void **state)
{
	local(IBV_WR_SEND, UNMAPPED);
	local(IBV_WR_SEND, CUT_SHORT);
	local(IBV_WR_RDMA_WRITE, PROTECTED);
	local(IBV_WR_RDMA_READ, UNMAPPED);
	local(IBV_WR_RDMA_READ, READ_ONLY);
	local(IBV_WR_ATOMIC_FETCH_AND_ADD, UNMAPPED);
}

/** Inline data is read when it is posted, once: the post fails, and nothing else happens. */
static void test_inline(void **state)
{
	struct area area;
	struct ibv_sge sge;
	struct ibv_send_wr wr, *bad = NULL;

	post_recv(&fx.server, 1);
	area_open(&area, &fx.client);
	area_take(&area, UNMAPPED);
	wr = request(IBV_WR_SEND, &sge, &area.end, 8);
	wr.send_flags |= IBV_SEND_INLINE;
	sge.addr += AREA / 2 - 4;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EFAULT);
	assert_ptr_equal(bad, &wr);
	sge.addr -= 4;
	client_posts(&wr);
	assert_int_equal(take(fx.server.id->recv_cq).byte_len, 8);
	take_sent(wr.wr_id);
	area_close(&area);
}

static void test_receive(void **state)
{
	struct area area;
	struct ibv_wc wc;

	area_open(&area, &fx.server);
	area_take(&area, UNMAPPED);
	area.end.buf += AREA / 2 - FIXTURE_SIZE / 10;
	{
		struct ibv_sge sge = {.addr = (uintptr_t)area.end.buf,
			.length = FIXTURE_SIZE / 5,
			.lkey = area.end.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1}, *bad;

		assert_int_equal(ibv_post_recv(fx.server.id->qp, &wr, &bad), 0);
	}
	post(IBV_WR_SEND, &fx.client, &fx.server, 0, FIXTURE_SIZE / 5);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.wr_id, 3);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	area.end.buf -= AREA / 2 - FIXTURE_SIZE / 10;
	area_close(&area);
}

/* ---- the program's own faults ---------------------------------------------------------------- */

static sigjmp_buf out;
static volatile sig_atomic_t calls, on_own_stack;
static void *volatile fault_address;
static uint8_t own_stack[65536];

static void with_info(int sig, siginfo_t *info, void *context)
{
	uint8_t here;

	calls++;
	fault_address = info->si_addr;
	on_own_stack = &here >= own_stack && &here < own_stack + sizeof own_stack;
	siglongjmp(out, 1);
}

static void plain(int sig)
{
	calls++;
	siglongjmp(out, 1);
}

/** An address that nothing is mapped at. */
static volatile uint8_t *nowhere(void)
{
	uint8_t *p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	munmap(p, 4096);
	return p;
}

static void stumble(volatile uint8_t *at)
{
	if (sigsetjmp(out, 1) == 0)
		*at = 1;
}

static void test_handlers(void **state)
{
	stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
	struct sigaction act = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction before, now;
	volatile uint8_t *p = nowhere();

	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, &act, &before), 0);
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	assert_ptr_equal(now.sa_sigaction, with_info);
	assert_int_equal(now.sa_flags & (SA_SIGINFO | SA_ONSTACK), SA_SIGINFO | SA_ONSTACK);
	calls = 0;
	for (int i = 1; i <= 2; i++) {
		stumble(p);
		assert_int_equal(calls, i);
		assert_ptr_equal(fault_address, p);
		assert_true(on_own_stack);
	}
	/* Of ours it hears nothing. */
	remote(IBV_WR_RDMA_WRITE, UNMAPPED);
	local(IBV_WR_RDMA_READ, CUT_SHORT);
	assert_int_equal(calls, 2);
	assert_ptr_equal(signal(SIGSEGV, plain), with_info);
	stumble(p);
	assert_int_equal(calls, 3);
	assert_ptr_equal(signal(SIGSEGV, plain), plain);
	act = (struct sigaction){.sa_handler = plain, .sa_flags = (int)SA_RESETHAND};
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
	stumble(p);
	assert_int_equal(calls, 4);
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

/* By whatever function it is set: ours stays in front, and the program sees its own. */
static void test_setters(void **state)
{
	void *ours = setters_kernel_action(SIGSEGV);

	assert_ptr_not_equal(ours, SIG_DFL);
	setters_agree(SIGSEGV);
	setters_stand_behind(SIGSEGV, ours, plain);
	setters_stand_behind(SIGSEGV, ours, SIG_IGN);
}

/** In a program of its own, with its stack. @return its status. */
static int run(const char *how)
{
	const char *const argv[] = {"/proc/self/exe", how, NULL};
	static struct child c;

	child_run(&c, argv, NULL);
	return c.status;
}

static int ended_by(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A fault that nobody handles ends the process as ever. */
static void test_deaths(void **state)
{
	assert_int_equal(ended_by(run("fault")), SIGSEGV);
	assert_int_equal(ended_by(run("fault-ignored")), SIGSEGV);
	assert_int_equal(ended_by(run("sent")), SIGSEGV);
	assert_int_equal(run("sent-ignored"), 0);
}

/** A SIGSEGV that was sent does nothing by default, and our own accesses stay guarded. */
static int live_as_init(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	void *ours;

	if (list == NULL || ibv_alloc_pd(ibv_open_device(list[0])) == NULL)
		return 96;
	ours = setters_kernel_action(SIGSEGV);
	kill(getpid(), SIGSEGV);
	return ours != (void *)SIG_DFL && setters_kernel_action(SIGSEGV) == ours ? 0 : 95;
}

/* As many programs in containers are. */
static void test_process_1_lives(void **state)
{
	int status = run("init");

	if (status == AS_INIT_REFUSED << 8)
		skip();
	assert_int_equal(status, 0);
}

static int be(const char *how)
{
	struct ibv_device **list;
	volatile uint8_t *p = nowhere();

	if (strcmp(how, "init") == 0)
		as_init(live_as_init);
	list = ibv_get_device_list(NULL);
	if (list == NULL)
		return 98;
	if (strstr(how, "ignored") != NULL)
		signal(SIGSEGV, SIG_IGN);
	if (strncmp(how, "sent", 4) == 0)
		kill(getpid(), SIGSEGV);
	else
		*p = 1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_local),
		CONNECTED(test_inline),
		CONNECTED(test_receive),
		cmocka_unit_test(test_handlers),
		CONNECTED(test_setters),
		cmocka_unit_test(test_deaths),
		cmocka_unit_test(test_process_1_lives),
	};

	if (argc > 1)
		return be(argv[1]);
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
