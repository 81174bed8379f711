/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread domains and parent domains: which may go before which, and that all is made with them. */
#include "fixture.h"

#include <errno.h>

static void *no_alloc(
	struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment, uint64_t resource_type)
{
	return NULL;
}

static void no_free(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
}

static void refused(struct ibv_parent_domain_init_attr *a, int error)
{
	errno = 0;
	assert_null(ibv_alloc_parent_domain(fx.context, a));
	assert_int_equal(errno, error);
}

static void test_refusals(void **state)
{
	struct ibv_parent_domain_init_attr a = {0};
	struct ibv_td_init_attr bad = {.comp_mask = 1};
	struct ibv_context *other = ibv_open_device(fx.context->device);
	struct ibv_pd *foreign = ibv_alloc_pd(other), *pd = ibv_alloc_pd(fx.context);

	errno = 0;
	assert_null(ibv_alloc_td(fx.context, &bad));
	assert_int_equal(errno, EINVAL);
	refused(&a, EINVAL);
	a.pd = foreign;
	refused(&a, EINVAL);
	a.pd = pd;
	a.comp_mask = 1 << 7;
	refused(&a, EINVAL);
	a.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	a.alloc = no_alloc;
	a.free = no_free;
	refused(&a, EOPNOTSUPP);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dealloc_pd(foreign), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

/* ibv_alloc_parent_domain(3): interchangeable with the PD; nothing goes before what it uses. */
static void test_order(void **state)
{
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_td *td = ibv_alloc_td(fx.context, &td_attr);
	struct ibv_pd *pd = ibv_alloc_pd(fx.context), *parent;
	struct ibv_parent_domain_init_attr a = {
		.pd = pd, .td = td, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT};
	struct ibv_cq_init_attr_ex cq_attr = {.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct ibv_qp_init_attr qp_attr = {.qp_type = IBV_QPT_RC};
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_qp *qp;
	char byte;

	assert_non_null(td);
	parent = ibv_alloc_parent_domain(fx.context, &a);
	assert_non_null(parent);
	assert_ptr_equal(parent->context, fx.context);
	assert_int_equal(ibv_dealloc_td(td), EBUSY);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	cq_attr.parent_domain = pd;
	assert_null(ibv_create_cq_ex(fx.context, &cq_attr));
	cq_attr.parent_domain = parent;
	cq = ibv_create_cq_ex(fx.context, &cq_attr);
	assert_non_null(cq);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	qp_attr.send_cq = qp_attr.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(parent, &qp_attr);
	assert_ptr_equal(qp->pd, parent);
	srq = ibv_create_srq(parent, &srq_attr);
	mw = ibv_alloc_mw(parent, IBV_MW_TYPE_1);
	mr = ibv_reg_mr(parent, &byte, 1, 0);
	assert_non_null(srq);
	assert_non_null(mw);
	assert_non_null(mr);
	/* From the parent domain to the plain one. */
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dealloc_pd(parent), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_refusals),
		OPENED(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
