/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/mw.h"

#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#define REMOTE (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ)
#define RW     (RNIC_ACCESS_LOCAL_WRITE | REMOTE)

static uint8_t memory[4096];

/** Two connected QPs; b's memory has a region that windows may be bound to, for local use alone. */
static struct rnic_mr *region;

static int setup(void **state)
{
	static struct pair p;

	pair_init(&p, NULL);
	pair_connect(&p);
	assert_int_equal(rnic_mr_reg(p.b.pd, memory, sizeof memory, 0x10000,
				 RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_MW_BIND, &region),
		0);
	memset(memory, '.', sizeof memory);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	if (region)
		rnic_mr_dereg(region);
	pair_fini(*state);
	return 0;
}

static struct rnic_mw *alloc(struct pair *p, enum rnic_mw_type type)
{
	struct rnic_mw *mw;

	assert_int_equal(rnic_mw_alloc(p->b.pd, type, &mw), 0);
	return mw;
}

/** As verbs' users do: the key is one more at each bind. @return the new STag. */
static uint32_t next(const struct rnic_mw *mw)
{
	uint32_t stag = rnic_mw_stag(mw);

	return (stag & 0xffffff00) | ((stag + 1) & 0xff);
}

static int bind(struct rnic_qp *qp, uint32_t stag, const struct rnic_mr *mr, uint64_t addr,
	uint64_t len, unsigned access)
{
	const struct rdmap_wqe w = {.op = RDMAP_WR_BIND_MW,
		.remote_stag = stag,
		.inv_stag = rnic_mr_stag(mr),
		.local_arg = {addr, len, access}};
	struct engine *e = qp->rnic->engine;
	int status;

	engine_lock(e);
	status = mw_bind(qp, &w);
	engine_unlock(e);
	return status;
}

static void bound(struct pair *p, struct rnic_mw *mw, uint64_t addr, uint64_t len, unsigned access)
{
	uint32_t stag = next(mw);

	assert_int_equal(bind(p->b.qp, stag, region, addr, len, access), RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_mw_stag(mw), stag);
}

static int check(
	const struct rnic_qp *qp, uint32_t stag, uint64_t to, uint32_t len, unsigned access)
{
	uint8_t *mem;

	return mr_check(qp, stag, to, len, access, &mem);
}

/** Through the whole of it: the bind is a work request, and peers write where the window is. */
static void a_peer_writes_through_it(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_2);
	uint32_t stag = next(mw);
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(p->b.qp), 0);
	w = rnic_sq_next(p->b.qp);
	w->wr_id = 9;
	w->op = RDMAP_WR_BIND_MW;
	w->flags = RDMAP_WR_SIGNALED;
	w->remote_stag = stag;
	w->inv_stag = rnic_mr_stag(region);
	w->local_arg[0] = 0x10100;
	w->local_arg[1] = 16;
	w->local_arg[2] = REMOTE;
	rnic_sq_commit(p->b.qp);
	rnic_sq_end(p->b.qp);
	/* b is the responder: its sends wait for a's first. */
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 0, 0, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_expect(p, &p->b, 9, RDMAP_WC_SUCCESS).wc.op, RDMAP_WC_BIND_MW);
	memcpy(p->a.buf, "through the pane", 16);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_WRITE, 0, 16, 0x10100, stag);
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_READ, 100, 4, 0x10108, stag);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	assert_memory_equal(memory + 0x100, "through the pane", 16);
	assert_memory_equal(p->a.buf + 100, "the ", 4);
	/* One byte outside: an error that ends the stream. */
	pair_post(&p->a, p->a.qp, 4, RDMAP_WR_WRITE, 0, 16, 0x10101, stag);
	pair_run(p);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(memory[0x110], '.');
	assert_int_equal(rnic_mw_dealloc(mw), 0);
}

static struct {
	const void *addr;
	bool answer;
} paged;

static bool page_in(const void *addr, size_t len, bool write)
{
	paged.addr = addr;
	return paged.answer;
}

/** What is not there yet, or not any more, is asked for through a window as without one. */
static void a_window_on_demand(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_1);
	struct rnic_mr *all;
	uint32_t stag = next(mw);
	uint8_t *mem;

	rnic_set_page_in(p->b.rnic, page_in);
	assert_int_equal(rnic_mr_reg(p->b.pd, NULL, SIZE_MAX, 0,
				 RW | RNIC_ACCESS_MW_BIND | RNIC_ACCESS_ON_DEMAND, &all),
		0);
	assert_int_equal(bind(p->b.qp, stag, all, 0x5000, 64, REMOTE), RDMAP_WC_SUCCESS);
	paged.answer = true;
	assert_int_equal(mr_check(p->b.qp, stag, 0x5010, 16, RDMAP_ACCESS_REMOTE_WRITE, &mem), 0);
	assert_int_equal((uintptr_t)mem, 0x5010);
	assert_ptr_equal(paged.addr, mem);
	paged.answer = false;
	assert_int_equal(check(p->b.qp, stag, 0x5010, 16, RDMAP_ACCESS_REMOTE_READ), -ERANGE);
	assert_int_equal(rnic_mw_dealloc(mw), 0);
	assert_int_equal(rnic_mr_dereg(all), 0);
}

/** RFC 5041 section 8.2: the stream that a window of type 2 is bound to, and no other. */
static void type_2_is_of_one_stream(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *other = pair_qp(&p->b, p->b.cq, NULL);
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_2), *wide = alloc(p, RNIC_MW_TYPE_1);
	uint32_t stag;

	bound(p, mw, 0x10000, 64, REMOTE);
	bound(p, wide, 0x10000, 64, REMOTE);
	stag = rnic_mw_stag(mw);
	assert_int_equal(check(p->b.qp, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), 0);
	assert_int_equal(check(other, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), -EPERM);
	assert_int_equal(check(other, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_READ), -EPERM);
	assert_int_equal(mr_invalidate(other, stag, true), -EPERM);
	assert_int_equal(mr_invalidate(other, stag, false), -EPERM);
	/* Type 1 is for all of the PD. */
	assert_int_equal(
		check(other, rnic_mw_stag(wide), 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), 0);
	/* Its own peer may take it away, though the PD has other streams. */
	assert_int_equal(mr_invalidate(p->b.qp, stag, true), 0);
	assert_int_equal(check(p->b.qp, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), -ENOENT);
	/* Bound again, by the other. */
	stag = next(mw);
	assert_int_equal(bind(other, stag, region, 0x10000, 64, REMOTE), RDMAP_WC_SUCCESS);
	assert_int_equal(check(other, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), 0);
	assert_int_equal(check(p->b.qp, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), -EPERM);
	/* The stream ends for good: nobody has the window. */
	assert_int_equal(rnic_qp_destroy(other), 0);
	assert_int_equal(check(p->b.qp, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), -ENOENT);
	assert_int_equal(rnic_mw_dealloc(mw), 0);
	assert_int_equal(rnic_mw_dealloc(wide), 0);
	assert_int_equal(rnic_mr_dereg(region), 0);
	region = NULL;
}

/** RFC 5040 section 5.3 asks whether the STag is of the stream, and for no right. */
static void type_2_without_rights_is_invalidated(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_2);
	uint32_t stag;

	bound(p, mw, 0x10000, 64, 0);
	stag = rnic_mw_stag(mw);
	assert_int_equal(check(p->b.qp, stag, 0x10000, 8, RDMAP_ACCESS_REMOTE_READ), -EACCES);
	assert_int_equal(mr_invalidate(p->b.qp, stag, true), 0);
	assert_int_equal(mr_invalidate(p->b.qp, stag, true), -ENOENT);
	assert_int_equal(rnic_mw_dealloc(mw), 0);
}

static void a_reset_qp_has_no_windows(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_2);

	bound(p, mw, 0x10000, 64, REMOTE);
	assert_int_equal(rnic_mr_dereg(region), -EBUSY);
	assert_int_equal(rnic_qp_modify(p->b.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_RESET}),
		0);
	assert_int_equal(
		check(p->b.qp, rnic_mw_stag(mw), 0x10000, 8, RDMAP_ACCESS_REMOTE_WRITE), -ENOENT);
	assert_int_equal(rnic_mr_dereg(region), 0);
	region = NULL;
	assert_int_equal(rnic_mw_dealloc(mw), 0);
}

static void rights_and_range_are_its_own(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *mw = alloc(p, RNIC_MW_TYPE_1);
	uint32_t stag;

	assert_int_equal(
		check(p->b.qp, rnic_mw_stag(mw), 0x10000, 1, RDMAP_ACCESS_REMOTE_READ), -ENOENT);
	bound(p, mw, 0x10010, 16, RNIC_ACCESS_REMOTE_READ);
	stag = rnic_mw_stag(mw);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 16, RDMAP_ACCESS_REMOTE_READ), 0);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 17, RDMAP_ACCESS_REMOTE_READ), -ERANGE);
	assert_int_equal(check(p->b.qp, stag, 0x1000f, 1, RDMAP_ACCESS_REMOTE_READ), -ERANGE);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 1, RDMAP_ACCESS_REMOTE_WRITE), -EACCES);
	/* It is no lkey. */
	assert_int_equal(check(p->b.qp, stag, 0x10010, 1, RDMAP_ACCESS_LOCAL_READ), -EACCES);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 1, RDMAP_ACCESS_LOCAL_WRITE), -EACCES);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 1, RDMAP_ACCESS_READ_SINK), -EACCES);
	/* Counted from zero; the STag before is dead. */
	bound(p, mw, 0x10020, 16, REMOTE | RNIC_ACCESS_ZERO_BASED);
	assert_int_equal(check(p->b.qp, stag, 0x10010, 1, RDMAP_ACCESS_REMOTE_READ), -ENOENT);
	stag = rnic_mw_stag(mw);
	assert_int_equal(check(p->b.qp, stag, 15, 1, RDMAP_ACCESS_REMOTE_WRITE), 0);
	assert_int_equal(check(p->b.qp, stag, 16, 1, RDMAP_ACCESS_REMOTE_WRITE), -ERANGE);
	/* Type 1 is not invalidated but bound to nothing. */
	assert_int_equal(mr_invalidate(p->b.qp, stag, false), -EACCES);
	assert_int_equal(mr_invalidate(p->b.qp, stag, true), -EACCES);
	bound(p, mw, 0, 0, 0);
	assert_int_equal(
		check(p->b.qp, rnic_mw_stag(mw), 0, 1, RDMAP_ACCESS_REMOTE_WRITE), -ENOENT);
	assert_int_equal(rnic_mw_dealloc(mw), 0);
}

static void what_cannot_be_bound(void **state)
{
	struct pair *p = *state;
	struct rnic_mw *one = alloc(p, RNIC_MW_TYPE_1), *two = alloc(p, RNIC_MW_TYPE_2), *foreign;
	struct rnic_mr *closed, *elsewhere, *read_only;
	struct rnic_pd *pd;
	const struct {
		uint64_t addr, len;
		unsigned access;
	} bad[] = {
		{0x0ffff, 2, REMOTE},
		{0x10000, 4097, REMOTE},
		{0x11000, 1, REMOTE},
		{UINT64_MAX, 2, REMOTE},
		{0x10000, UINT64_MAX, REMOTE},
		{0x10000, 1, REMOTE | RNIC_ACCESS_LOCAL_WRITE},
		{0x10000, 1, REMOTE | RNIC_ACCESS_MW_BIND},
		{0x10000, 1, 0x80000000},
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(
			bind(p->b.qp, next(one), region, bad[i].addr, bad[i].len, bad[i].access),
			RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(rnic_pd_alloc(p->b.rnic, &pd), 0);
	assert_int_equal(rnic_mr_reg(p->b.pd, memory, 64, 0, RW, &closed), 0);
	assert_int_equal(rnic_mr_reg(pd, memory, 64, 0, RW | RNIC_ACCESS_MW_BIND, &elsewhere), 0);
	assert_int_equal(rnic_mr_reg(p->b.pd, memory, 64, 0, RNIC_ACCESS_MW_BIND, &read_only), 0);
	assert_int_equal(rnic_mw_alloc(pd, RNIC_MW_TYPE_1, &foreign), 0);
	assert_int_equal(bind(p->b.qp, next(one), closed, 0, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(bind(p->b.qp, next(one), elsewhere, 0, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(bind(p->b.qp, next(one), read_only, 0, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(bind(p->b.qp, next(one), read_only, 0, 8, RNIC_ACCESS_REMOTE_READ), 0);
	assert_int_equal(
		bind(p->b.qp, next(foreign), region, 0x10000, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	/* Not a window's STag, or nobody's. */
	assert_int_equal(bind(p->b.qp, rnic_mr_stag(region), region, 0x10000, 8, REMOTE),
		RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(bind(p->b.qp, rnic_mw_stag(one) ^ 0x100, region, 0x10000, 8, REMOTE),
		RDMAP_WC_MW_BIND_ERR);
	/* A window is no region. */
	assert_int_equal(bind(p->b.qp, next(two), &one->view, 0, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	assert_int_equal(
		bind(p->b.qp, next(two), region, 0x10000, 0, REMOTE), RDMAP_WC_MW_BIND_ERR);
	bound(p, two, 0x10000, 8, REMOTE);
	assert_int_equal(
		bind(p->b.qp, next(two), region, 0x10000, 8, REMOTE), RDMAP_WC_MW_BIND_ERR);
	/* While it is bound the region stays as it is. */
	assert_int_equal(rnic_mr_dereg(region), -EBUSY);
	assert_int_equal(rnic_mr_rereg(region, RNIC_REREG_ACCESS, NULL, NULL, 0, RW), -EBUSY);
	assert_int_equal(mr_invalidate(p->b.qp, rnic_mr_stag(region), false), -EBUSY);
	assert_int_equal(rnic_pd_dealloc(pd), -EBUSY);
	assert_int_equal(rnic_mw_dealloc(one), 0);
	assert_int_equal(rnic_mw_dealloc(two), 0);
	assert_int_equal(rnic_mw_dealloc(foreign), 0);
	assert_int_equal(rnic_mr_dereg(closed), 0);
	assert_int_equal(rnic_mr_dereg(elsewhere), 0);
	assert_int_equal(rnic_mr_dereg(read_only), 0);
	assert_int_equal(rnic_pd_dealloc(pd), 0);
}

static void limit_is_kept(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_mw = 2, .limits.max_mr = 1};
	struct pair p;
	struct rnic_mw *mw[3];
	struct rnic_mr *mr;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &p.a.pd), 0);
	assert_int_equal(rnic_mw_alloc(p.a.pd, RNIC_MW_TYPE_1, &mw[0]), 0);
	assert_int_equal(rnic_mw_alloc(p.a.pd, RNIC_MW_TYPE_2, &mw[1]), 0);
	assert_int_equal(rnic_mw_alloc(p.a.pd, RNIC_MW_TYPE_1, &mw[2]), -ENOMEM);
	assert_int_equal(rnic_mr_reg(p.a.pd, memory, 1, 0, RW, &mr), 0);
	assert_int_equal(rnic_mw_dealloc(mw[0]), 0);
	assert_int_equal(rnic_mw_alloc(p.a.pd, RNIC_MW_TYPE_1, &mw[0]), 0);
	assert_int_equal(rnic_mw_dealloc(mw[0]), 0);
	assert_int_equal(rnic_mw_dealloc(mw[1]), 0);
	assert_int_equal(rnic_mr_dereg(mr), 0);
	pair_fini(&p);
}

/** Of either type: it stands for nothing, and its region is free. */
static void a_revoked_window(void **state)
{
	struct pair *p = *state;

	for (enum rnic_mw_type type = RNIC_MW_TYPE_1; type <= RNIC_MW_TYPE_2; type++) {
		struct rnic_mw *mw = alloc(p, type);

		bound(p, mw, 0x10000, 16, REMOTE);
		rnic_mw_revoke(mw);
		assert_int_equal(
			check(p->b.qp, rnic_mw_stag(mw), 0x10000, 1, RDMAP_ACCESS_REMOTE_WRITE),
			-ENOENT);
		assert_int_equal(region->windows, 0);
		assert_int_equal(rnic_mw_dealloc(mw), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_peer_writes_through_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_window_on_demand, setup, teardown),
		cmocka_unit_test_setup_teardown(type_2_is_of_one_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(
			type_2_without_rights_is_invalidated, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reset_qp_has_no_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(rights_and_range_are_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(a_revoked_window, setup, teardown),
		cmocka_unit_test(limit_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
