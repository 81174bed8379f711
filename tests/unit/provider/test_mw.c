/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows, by ibv_bind_mw(), ibv_post_send() and ibv_wr_bind_mw(). */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* The server's memory, registered for windows; no peer has rights but through one. */
static struct ibv_mr *region;

static int connect_with_region(void **state)
{
	int rc = fixture_connect(state);

	if (rc == 0)
		region = ibv_reg_mr(fx.server.id->pd, fx.server.buf, 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	return rc != 0 || region == NULL;
}

static int disconnect(void **state)
{
	if (region != NULL)
		ibv_dereg_mr(region);
	return fixture_disconnect(state);
}

static struct ibv_mw *window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(fx.server.id->pd, type);

	assert_non_null(mw);
	assert_int_equal(mw->type, type);
	assert_ptr_equal(mw->pd, fx.server.id->pd);
	return mw;
}

static struct ibv_mw_bind_info info(size_t offset, size_t len, unsigned access)
{
	return (struct ibv_mw_bind_info){.mr = region,
		.addr = (uintptr_t)fx.server.buf + offset,
		.length = len,
		.mw_access_flags = access};
}

static void expect_bound(uint64_t wr_id)
{
	struct ibv_wc wc = take(fx.server.id->send_cq);

	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
}

static void client_writes(uint32_t rkey, size_t offset, const char *text)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr =
		request(IBV_WR_RDMA_WRITE, &sge, &fx.client, (uint32_t)strlen(text));

	memcpy(fx.client.buf, text, strlen(text));
	aim(&wr, offset);
	wr.wr.rdma.rkey = rkey;
	client_posts(&wr);
	take_sent(wr.wr_id);
}

/* Reads come back behind what was written before: then it is there. */
static void client_reads(uint32_t rkey, size_t offset, enum ibv_wc_status status)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, 4);

	aim(&wr, offset);
	wr.wr.rdma.rkey = rkey;
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, status);
}

static void test_type_1(void **state)
{
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 5, .send_flags = IBV_SEND_SIGNALED, .bind_info = info(100, 50, REMOTE)};
	uint32_t first = mw->rkey;

	client_begins();
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, mw, &bind), 0);
	assert_int_not_equal(mw->rkey, first);
	expect_bound(5);
	client_writes(mw->rkey, 120, "type one");
	client_reads(mw->rkey, 100, IBV_WC_SUCCESS);
	assert_memory_equal(fx.server.buf + 120, "type one", 8);
	assert_int_equal(ibv_dereg_mr(region), EBUSY);
	/* To nothing. */
	bind.bind_info = (struct ibv_mw_bind_info){0};
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, mw, &bind), 0);
	expect_bound(5);
	client_reads(mw->rkey, 100, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(region), 0);
	region = NULL;
}

static struct {
	uint8_t *page; /* not readable yet */
	size_t len;
	int rc;
} reset;

static void reset_at_fault(int sig, siginfo_t *info, void *context)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	(void)sig;
	(void)info;
	(void)context;
	if (mprotect(reset.page, reset.len, PROT_READ | PROT_WRITE) != 0)
		_exit(1);
	reset.rc = ibv_modify_qp(fx.server.id->qp, &attr, IBV_QP_STATE);
}

/* The QP is reset while the bind is built: that is dropped, and the window has its key still. The
 * moment is when the first word of the request is read, which lies in a page by itself. */
static void test_type_1_dropped(void **state)
{
	struct sigaction act = {.sa_sigaction = reset_at_fault, .sa_flags = SA_SIGINFO}, old;
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);
	uint32_t first = mw->rkey;
	struct ibv_mw_bind *bind;

	client_begins();
	reset.len = (size_t)sysconf(_SC_PAGESIZE);
	reset.rc = -1;
	reset.page = mmap(
		NULL, 2 * reset.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(reset.page, MAP_FAILED);
	bind = (void *)(reset.page + reset.len - offsetof(struct ibv_mw_bind, bind_info));
	*bind = (struct ibv_mw_bind){.wr_id = 5, .bind_info = info(100, 50, REMOTE)};
	assert_int_equal(mprotect(reset.page, reset.len, PROT_NONE), 0);
	assert_int_equal(sigaction(SIGSEGV, &act, &old), 0);
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, mw, bind), 0);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_int_equal(reset.rc, 0);
	assert_int_equal(mw->rkey, first);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(munmap(reset.page, 2 * reset.len), 0);
}

/* Bound with IBV_ACCESS_LOCAL_WRITE among its rights, which means nothing to a window. */
static void test_type_2(void **state)
{
	struct ibv_mw *mw = window(IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {.wr_id = 6,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw, .bind_info = info(100, 50, REMOTE | IBV_ACCESS_LOCAL_WRITE)}};
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(fx.server.id->qp);
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;

	client_begins();
	wr.bind_mw.rkey = mw->rkey = ibv_inc_rkey(mw->rkey);
	assert_int_equal(ibv_post_send(fx.server.id->qp, &wr, &bad), 0);
	expect_bound(6);
	client_writes(mw->rkey, 120, "type two");
	client_reads(mw->rkey, 100, IBV_WC_SUCCESS);
	assert_memory_equal(fx.server.buf + 120, "type two", 8);
	/* The client gives it back (RFC 5040 section 5.3): this window is its stream's alone. */
	post_recv(&fx.server, 1);
	wr = request(IBV_WR_SEND_WITH_INV, &sge, &fx.client, 1);
	wr.invalidate_rkey = mw->rkey;
	client_posts(&wr);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, mw->rkey);
	take_sent(wr.wr_id);
	/* And again, by the builders; counted from zero. */
	mw->rkey = ibv_inc_rkey(mw->rkey);
	ibv_wr_start(ex);
	ex->wr_id = 7;
	ex->wr_flags = IBV_SEND_SIGNALED;
	wr.bind_mw.bind_info = info(200, 8, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
	ibv_wr_bind_mw(ex, mw, mw->rkey, &wr.bind_mw.bind_info);
	assert_int_equal(ibv_wr_complete(ex), 0);
	expect_bound(7);
	memcpy(fx.server.buf + 204, "zero", 4);
	wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, 4);
	wr.wr.rdma.remote_addr = 4;
	wr.wr.rdma.rkey = mw->rkey;
	client_posts(&wr);
	take_sent(wr.wr_id);
	assert_memory_equal(fx.client.buf, "zero", 4);
	/* Local Invalidate ends it. */
	wr = (struct ibv_send_wr){.wr_id = 8,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey};
	assert_int_equal(ibv_post_send(fx.server.id->qp, &wr, &bad), 0);
	assert_int_equal(take(fx.server.id->send_cq).status, IBV_WC_SUCCESS);
	client_reads(mw->rkey, 0, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* What is wrong already when it is posted. */
static void test_refused(void **state)
{
	struct ibv_mw *one = window(IBV_MW_TYPE_1), *two = window(IBV_MW_TYPE_2);
	struct ibv_mw_bind bind = {.bind_info = info(0, 8, REMOTE)};
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = one, .rkey = one->rkey, .bind_info = bind.bind_info}};
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(fx.server.id->qp);
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_bind_mw(fx.server.id->qp, two, &bind), EINVAL);
	assert_int_equal(ibv_post_send(fx.server.id->qp, &wr, &bad), EINVAL);
	wr.bind_mw.mw = two; /* not its rkey */
	assert_int_equal(ibv_post_send(fx.server.id->qp, &wr, &bad), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_bind_mw(ex, two, one->rkey, &bind.bind_info);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	bind.bind_info.mw_access_flags |= IBV_ACCESS_MW_BIND;
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, one, &bind), EINVAL);
	bind.bind_info = info(0, 8, REMOTE);
	bind.bind_info.mr = NULL;
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, one, &bind), EINVAL);
	errno = 0;
	assert_null(ibv_alloc_mw(fx.server.id->pd, (enum ibv_mw_type)3));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dealloc_mw(one), 0);
	assert_int_equal(ibv_dealloc_mw(two), 0);
}

/* What the bind itself finds: the request fails, and the stream with it. */
static void test_bind_error(void **state)
{
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 5, .bind_info = info(4000, 97, REMOTE)};
	struct ibv_wc wc;

	client_begins();
	assert_int_equal(ibv_bind_mw(fx.server.id->qp, mw, &bind), 0);
	wc = take(fx.server.id->send_cq);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IBV_WC_MW_BIND_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_type_1, connect_with_region, disconnect),
		cmocka_unit_test_setup_teardown(
			test_type_1_dropped, connect_with_region, disconnect),
		cmocka_unit_test_setup_teardown(test_type_2, connect_with_region, disconnect),
		cmocka_unit_test_setup_teardown(test_refused, connect_with_region, disconnect),
		cmocka_unit_test_setup_teardown(test_bind_error, connect_with_region, disconnect),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
