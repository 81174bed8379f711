/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our device beside that of a libibverbs.so.1 of a time to come: see standin/standin.h. Both are
 * real to the program: each object's verbs, completions and events are those of its own device.
 */
#include "standin/standin.h"

#include "support/limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* After those that it needs. */
#include <cmocka.h>

/* The same of each device. */
static struct both {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
} ours, theirs;

static int go(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr a = {.qp_state = to, .port_num = 1};

	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

static void open_one(struct both *b, struct ibv_device *device)
{
	struct ibv_qp_init_attr a = {
		.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 4, .max_recv_wr = 4}};

	b->context = ibv_open_device(device);
	assert_non_null(b->context);
	b->pd = ibv_alloc_pd(b->context);
	b->channel = ibv_create_comp_channel(b->context);
	b->cq = ibv_create_cq(b->context, 8, b, b->channel, 0);
	a.send_cq = a.recv_cq = b->cq;
	b->qp = ibv_create_qp(b->pd, &a);
	assert_non_null(b->qp);
	assert_ptr_equal(b->qp->context, b->context);
}

static void close_one(struct both *b)
{
	assert_int_equal(ibv_destroy_qp(b->qp), 0);
	assert_int_equal(ibv_destroy_cq(b->cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(b->channel), 0);
	assert_int_equal(ibv_dealloc_pd(b->pd), 0);
	assert_int_equal(ibv_close_device(b->context), 0);
}

static int setup(void **state)
{
	struct ibv_device **list;
	int n;

	list = ibv_get_device_list(&n);
	assert_non_null(list);
	assert_int_equal(n, 2);
	assert_string_equal(ibv_get_device_name(list[0]), STANDIN_NAME);
	assert_string_equal(ibv_get_device_name(list[1]), "uiw0");
	assert_null(list[2]);
	open_one(&theirs, list[0]);
	open_one(&ours, list[1]);
	ibv_free_device_list(list);
	return 0;
}

static int teardown(void **state)
{
	close_one(&ours);
	close_one(&theirs);
	assert_int_equal(standin_alive(), 0);
	return 0;
}

/* Each library counts its own objects. */
static void objects(void **state)
{
	unsigned before = standin_alive();
	static char byte;
	struct ibv_mr *mr = ibv_reg_mr(theirs.pd, &byte, 1, 0);

	assert_int_equal(standin_alive(), before + 1);
	assert_int_equal(mr->lkey, 0x0711e7);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr(ours.pd, &byte, 1, 0);
	assert_int_equal(standin_alive(), before);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(theirs.qp->qp_num, 0x0711e7);
	assert_int_equal(go(theirs.qp, IBV_QPS_RTS), 0);
	/* Ours knows its steps. */
	assert_int_equal(go(ours.qp, IBV_QPS_RTS), EINVAL);
}

static void expect_event(struct both *b, uint64_t wr_id)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	assert_int_equal(ibv_get_cq_event(b->channel, &cq, &context), 0);
	assert_ptr_equal(cq, b->cq);
	assert_ptr_equal(context, b);
	ibv_ack_cq_events(cq, 1);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void completions(void **state)
{
	struct ibv_send_wr send = {.wr_id = 7}, *bad_send;
	struct ibv_recv_wr recv = {.wr_id = 8}, *bad_recv;

	assert_int_equal(ibv_req_notify_cq(theirs.cq, 0), 0);
	assert_int_equal(ibv_req_notify_cq(ours.cq, 0), 0);
	assert_int_equal(ibv_post_send(theirs.qp, &send, &bad_send), 0);
	assert_true(is_readable(theirs.channel->fd));
	assert_false(is_readable(ours.channel->fd));
	expect_event(&theirs, 7);
	assert_int_equal(go(ours.qp, IBV_QPS_INIT), 0);
	assert_int_equal(ibv_post_recv(ours.qp, &recv, &bad_recv), 0);
	assert_int_equal(go(ours.qp, IBV_QPS_ERR), 0);
	assert_false(is_readable(theirs.channel->fd));
	expect_event(&ours, 8);
}

static void asynchronous_events(void **state)
{
	struct ibv_qp_attr drain = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_async_event ev;

	standin_raise(theirs.qp, IBV_EVENT_QP_FATAL);
	assert_false(is_readable(ours.context->async_fd));
	assert_int_equal(ibv_get_async_event(theirs.context, &ev), 0);
	assert_ptr_equal(ev.element.qp, theirs.qp);
	ibv_ack_async_event(&ev);
	assert_int_equal(theirs.qp->events_completed, 1);
	assert_int_equal(go(ours.qp, IBV_QPS_INIT), 0);
	assert_int_equal(go(ours.qp, IBV_QPS_RTR), 0);
	assert_int_equal(go(ours.qp, IBV_QPS_RTS), 0);
	assert_int_equal(
		ibv_modify_qp(ours.qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	assert_false(is_readable(theirs.context->async_fd));
	assert_int_equal(ibv_get_async_event(ours.context, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(ev.element.qp, ours.qp);
	/* The library's own, which nobody stands in front of; destroying waits for it. */
	ibv_ack_async_event(&ev);
}

/* What this build has never heard of reaches their library, which has an answer for our context. */
static void verbs_of_a_time_to_come(void **state)
{
	assert_int_equal(ibv_of_a_time_to_come(theirs.context), 0);
	assert_int_equal(ibv_of_a_time_to_come(ours.context), EOPNOTSUPP);
}

static void newer_verbs(void **state)
{
	uint64_t speed = 0;

	assert_int_equal(ibv_query_port_speed(theirs.context, 1, &speed), 0);
	assert_int_equal(speed, 1000);
	assert_int_equal(ibv_query_port_speed(ours.context, 2, &speed), EINVAL);
	assert_int_equal(ibv_query_port_speed(ours.context, 1, &speed), 0);
	assert_int_not_equal(speed, 1000);
	errno = 0;
	assert_null(ibv_alloc_dmah(ours.context, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
}

/* ---- ibv_alloc_buf(3) ------------------------------------------------------------------------ */

static void refused(struct ibv_mr *mr, int error)
{
	assert_null(mr);
	assert_int_equal(errno, error);
	errno = 0;
}

static void buffers(void **state)
{
	struct ibv_pd *other = ibv_alloc_pd(ours.context);
	struct ibv_buf *buf = NULL;
	char *memory = ibv_alloc_buf(ours.pd, 5000, &buf);
	struct ibv_mr *mr;

	assert_non_null(memory);
	assert_non_null(buf);
	assert_int_equal((uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
	memset(memory, 1, 5000);
	mr = ibv_reg_buf_mr(ours.pd, buf, memory + 8, 4992, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_ptr_equal(mr->context, ours.context);
	assert_ptr_equal(mr->addr, memory + 8);
	assert_int_equal(mr->length, 4992);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	refused(ibv_reg_buf_mr(ours.pd, buf, memory + 8, 4993, 0), EINVAL);
	refused(ibv_reg_buf_mr(ours.pd, buf, memory + 8, SIZE_MAX, 0), EINVAL);
	refused(ibv_reg_buf_mr(ours.pd, buf, memory - 1, 1, 0), EINVAL);
	refused(ibv_reg_buf_mr(ours.pd, buf, memory + 5001, 0, 0), EINVAL);
	refused(ibv_reg_buf_mr(other, buf, memory, 8, 0), EINVAL);
	refused(ibv_reg_buf_mr(ours.pd, NULL, memory, 8, 0), EINVAL);
	assert_int_equal(ibv_export_buf_dmabuf_fd(buf), -1);
	assert_int_equal(errno, ENODATA);
	ibv_free_buf(buf);
	ibv_free_buf(NULL);
	errno = 0;
	assert_null(ibv_alloc_buf(ours.pd, SIZE_MAX, &buf));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(ibv_dealloc_pd(other), 0);
}

/* Buffers of the two devices never meet. */
static void buffers_of_both(void **state)
{
	struct ibv_buf *mine, *foreign, *second;
	char *a = ibv_alloc_buf(ours.pd, 64, &mine), *b = ibv_alloc_buf(theirs.pd, 64, &foreign);
	struct ibv_mr_init_attr attr = {.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF,
		.addr = a,
		.length = 64,
		.buf = mine};
	unsigned before = standin_alive();
	struct ibv_mr *mr;

	errno = 0;
	refused(ibv_reg_buf_mr(ours.pd, foreign, b, 64, 0), EINVAL);
	refused(ibv_reg_buf_mr(theirs.pd, mine, a, 64, 0), EINVAL);
	refused(ibv_reg_mr_ex(theirs.pd, &attr), EINVAL);
	assert_int_equal(standin_alive(), before);
	attr.buf = foreign;
	mr = ibv_reg_mr_ex(theirs.pd, &attr);
	assert_int_equal(standin_alive(), before + 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_buf_mr(theirs.pd, foreign, b, 64, 0);
	assert_int_equal(standin_alive(), before + 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_export_buf_dmabuf_fd(foreign), 0x0711);
	/* In another order than they came. */
	assert_non_null(ibv_alloc_buf(ours.pd, 64, &second));
	ibv_free_buf(mine);
	ibv_free_buf(foreign);
	ibv_free_buf(second);
	assert_int_equal(standin_alive(), before - 1);
}

/* Memory that others can reach, in a confidential guest: of rdma-core 65, and all the same to us.
 */
static void unprotected(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(ours.context), *parent;
	struct ibv_parent_domain_init_attr a = {
		.pd = pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC};
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	void *memory;

	parent = ibv_alloc_parent_domain(ours.context, &a);
	assert_non_null(parent);
	memory = ibv_alloc_buf(parent, 100, &buf);
	assert_non_null(memory);
	errno = 0;
	assert_null(ibv_reg_buf_mr(pd, buf, memory, 100, 0));
	assert_int_equal(errno, EINVAL);
	mr = ibv_reg_buf_mr(parent, buf, memory, 100, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	ibv_free_buf(buf);
	assert_int_equal(ibv_dealloc_pd(parent), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* ---- ibv_reg_mr_ex(3) ------------------------------------------------------------------------ */

static void masks(void **state)
{
	static const struct {
		uint64_t mask;
		int error; /* 0: it registers */
	} cases[] = {
		{IBV_REG_MR_MASK_ADDR, 0},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA, 0},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF, 0},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_IOVA, 0},
		{0, EINVAL},
		{IBV_REG_MR_MASK_IOVA, EINVAL},
		{IBV_REG_MR_MASK_BUF, EINVAL},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD, EINVAL},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD_OFFSET, EINVAL},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_FD, EINVAL},
		{IBV_REG_MR_MASK_FD, EINVAL},
		{IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET, EINVAL},
		{IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA, EOPNOTSUPP},
		{IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH, EOPNOTSUPP},
		{IBV_REG_MR_MASK_ADDR | 1 << 6, EOPNOTSUPP},
	};
	struct ibv_mr_init_attr attr = {.length = 16, .iova = 0x1000, .fd = -1};

	attr.addr = ibv_alloc_buf(ours.pd, 16, &attr.buf);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ibv_mr *mr;

		attr.comp_mask = cases[i].mask;
		errno = 0;
		mr = ibv_reg_mr_ex(ours.pd, &attr);
		if ((mr == NULL) != (cases[i].error != 0) || errno != cases[i].error)
			fail_msg("case %u: %p, errno %d", i, (void *)mr, errno);
		if (mr != NULL)
			assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	ibv_free_buf(attr.buf);
}

/* Inline verbs go through tables, of which ours stand behind their larger front. */
static void a_larger_context(void **state)
{
	struct ibv_device_attr_ex attr;

	assert_int_equal(
		verbs_get_ctx(ours.context)->sz, sizeof(struct verbs_context) + STANDIN_GROWTH);
	assert_int_equal(ibv_query_device_ex(ours.context, NULL, &attr), 0);
	assert_int_equal(attr.phys_port_cnt_ex, 1);
	/* Theirs has no such verb: the header asks the old one. */
	assert_int_equal(ibv_query_device_ex(theirs.context, NULL, &attr), 0);
	assert_int_equal(attr.orig_attr.vendor_id, 0x0711e7);
}

/* As programs do that load libibverbs themselves, by dlsym() or by version. */
static void by_name(void **state)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	struct ibv_device **(*get)(int *) =
		(struct ibv_device * *(*)(int *)) dlsym(lib, "ibv_get_device_list");
	struct ibv_pd *(*alloc)(struct ibv_context *) =
		(struct ibv_pd * (*)(struct ibv_context *)) dlsym(lib, "ibv_alloc_pd");
	unsigned before = standin_alive();
	struct ibv_device **list;
	struct ibv_pd *pd;
	int n;

	assert_non_null(lib);
	list = get(&n);
	assert_int_equal(n, 2);
	ibv_free_device_list(list);
	pd = alloc(ours.context);
	assert_int_equal(standin_alive(), before);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	pd = alloc(theirs.context);
	assert_int_equal(standin_alive(), before + 1);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	/* One that we do not stand in front of. */
	assert_non_null(dlsym(lib, "ibv_of_a_time_to_come"));
	dlclose(lib);
}

#define OPENED(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(objects),
		OPENED(completions),
		OPENED(asynchronous_events),
		OPENED(verbs_of_a_time_to_come),
		OPENED(newer_verbs),
		OPENED(buffers),
		OPENED(buffers_of_both),
		OPENED(unprotected),
		OPENED(masks),
		OPENED(a_larger_context),
		OPENED(by_name),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
