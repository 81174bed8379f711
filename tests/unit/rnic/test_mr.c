/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/mr.h"

#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#define RW (RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ)

static uint8_t memory[4096];

static int setup(void **state)
{
	static struct pair p;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, NULL);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &p.a.pd), 0);
	*state = &p;
	return 0;
}

static struct rnic_mr *reg(struct pair *p, unsigned access)
{
	struct rnic_mr *mr;

	assert_int_equal(rnic_mr_reg(p->a.pd, memory, sizeof memory, 0x10000, access, &mr), 0);
	return mr;
}

/** A QP with this PD and these rights for its peer, as far as checks look at it. */
static const struct rnic_qp *user(struct rnic *r, struct rnic_pd *pd, unsigned access)
{
	static struct rnic_qp qp;

	qp = (struct rnic_qp){.rnic = r, .pd = pd, .access = access};
	return &qp;
}

static int check(
	struct pair *p, const struct rnic_mr *mr, uint64_t to, uint32_t len, unsigned access)
{
	uint8_t *mem = NULL;
	int rc = mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr), to, len, access, &mem);

	if (!rc && len)
		assert_ptr_equal(mem, memory + (to - 0x10000));
	return rc;
}

static void bounds(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RW);
	const struct {
		uint64_t to;
		uint32_t len;
		int rc;
	} t[] = {
		{0x10000, 1, 0},
		{0x10000, 4096, 0},
		{0x10fff, 1, 0},
		{0x10000, 4097, -ERANGE},
		{0x0ffff, 1, -ERANGE},
		{0x0ffff, 2, -ERANGE},
		{0x11000, 1, -ERANGE},
		{0x10fff, 2, -ERANGE},
		{0, 1, -ERANGE},
		{UINT64_MAX, 1, -ERANGE},
		{UINT64_MAX, 2, -EOVERFLOW},
		{UINT64_MAX - 0xffffffff + 2, 0xffffffff, -EOVERFLOW},
		{0x10001, 0xffffffff, -ERANGE},
		/* Nothing is touched: only the STag counts. */
		{0x10000, 0, 0},
		{0x11000, 0, 0},
		{UINT64_MAX, 0, 0},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		assert_int_equal(
			check(p, mr, t[i].to, t[i].len, RDMAP_ACCESS_REMOTE_WRITE), t[i].rc);
		assert_int_equal(check(p, mr, t[i].to, t[i].len, RDMAP_ACCESS_LOCAL_READ), t[i].rc);
	}
	rnic_mr_dereg(mr);
}

static void up_to_the_last_address(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr;
	uint8_t *mem;

	assert_int_equal(rnic_mr_reg(p->a.pd, memory, 16, UINT64_MAX - 15, RW, &mr), 0);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr), UINT64_MAX - 15,
				 16, RDMAP_ACCESS_REMOTE_READ, &mem),
		0);
	assert_ptr_equal(mem, memory);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr), UINT64_MAX, 1,
				 RDMAP_ACCESS_REMOTE_READ, &mem),
		0);
	assert_ptr_equal(mem, memory + 15);
	rnic_mr_dereg(mr);
}

static void rights(void **state)
{
	struct pair *p = *state;
	const struct {
		unsigned mr, access;
		int rc;
	} t[] = {
		{0, RDMAP_ACCESS_LOCAL_READ, 0},
		{0, RDMAP_ACCESS_LOCAL_WRITE, -EACCES},
		{0, RDMAP_ACCESS_READ_SINK, -EACCES},
		{0, RDMAP_ACCESS_REMOTE_READ, -EACCES},
		{0, RDMAP_ACCESS_REMOTE_WRITE, -EACCES},
		{RNIC_ACCESS_LOCAL_WRITE, RDMAP_ACCESS_LOCAL_WRITE, 0},
		{RNIC_ACCESS_LOCAL_WRITE, RDMAP_ACCESS_READ_SINK, 0},
		{RNIC_ACCESS_LOCAL_WRITE, RDMAP_ACCESS_REMOTE_WRITE, -EACCES},
		{RNIC_ACCESS_REMOTE_READ, RDMAP_ACCESS_REMOTE_READ, 0},
		{RNIC_ACCESS_REMOTE_READ, RDMAP_ACCESS_REMOTE_WRITE, -EACCES},
		{RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, RDMAP_ACCESS_REMOTE_WRITE, 0},
		{RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, RDMAP_ACCESS_REMOTE_READ,
			-EACCES},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct rnic_mr *mr = reg(p, t[i].mr);

		assert_int_equal(check(p, mr, 0x10000, 1, t[i].access), t[i].rc);
		rnic_mr_dereg(mr);
	}
}

static void the_qp_must_grant_it_too(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RW);
	uint32_t stag = rnic_mr_stag(mr);
	uint8_t *mem;

	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RNIC_ACCESS_REMOTE_READ), stag, 0x10000,
				 1, RDMAP_ACCESS_REMOTE_WRITE, &mem),
		-EACCES);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RNIC_ACCESS_REMOTE_READ), stag, 0x10000,
				 1, RDMAP_ACCESS_REMOTE_READ, &mem),
		0);
	/* What we do ourselves is none of the peer's business. */
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, 0), stag, 0x10000, 1,
				 RDMAP_ACCESS_LOCAL_WRITE, &mem),
		0);
	rnic_mr_dereg(mr);
}

static void another_pd_gets_nothing(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RW);
	uint32_t stag = rnic_mr_stag(mr);
	struct rnic_pd *pd;
	uint8_t *mem;

	assert_int_equal(rnic_pd_alloc(p->a.rnic, &pd), 0);
	assert_int_equal(mr_check(user(p->a.rnic, pd, RW), stag, 0x10000, 1, 0, &mem), -EPERM);
	assert_int_equal(mr_invalidate(user(p->a.rnic, pd, 0), stag, true), -EPERM);
	/* Moved there, under a new STag. */
	assert_int_equal(rnic_mr_rereg(mr, RNIC_REREG_PD, pd, NULL, 0, 0), 0);
	assert_int_not_equal(rnic_mr_stag(mr), stag);
	assert_int_equal(mr_check(user(p->a.rnic, pd, RW), stag, 0x10000, 1, 0, &mem), -ENOENT);
	assert_int_equal(
		mr_check(user(p->a.rnic, pd, RW), rnic_mr_stag(mr), 0x10000, 1, 0, &mem), 0);
	assert_int_equal(rnic_pd_dealloc(pd), -EBUSY);
	rnic_mr_dereg(mr);
	assert_int_equal(rnic_pd_dealloc(pd), 0);
}

static void dead_stags_stay_dead(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RW);
	uint32_t stag = rnic_mr_stag(mr);
	uint8_t *mem;

	assert_int_equal(
		mr_check(user(p->a.rnic, p->a.pd, RW), stag ^ 1, 0x10000, 1, 0, &mem), -ENOENT);
	assert_int_equal(
		mr_check(user(p->a.rnic, p->a.pd, RW), stag ^ 0x100, 0x10000, 1, 0, &mem), -ENOENT);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), 0, 0x10000, 0, 0, &mem), -ENOENT);
	rnic_mr_dereg(mr);
	assert_int_equal(
		mr_check(user(p->a.rnic, p->a.pd, RW), stag, 0x10000, 1, 0, &mem), -ENOENT);
	mr = reg(p, RW);
	assert_int_not_equal(rnic_mr_stag(mr), stag);
	assert_int_equal(
		mr_check(user(p->a.rnic, p->a.pd, RW), stag, 0x10000, 1, 0, &mem), -ENOENT);
	rnic_mr_dereg(mr);
}

static void invalidate(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RNIC_ACCESS_LOCAL_WRITE);
	uint32_t stag = rnic_mr_stag(mr);

	/* Peers cannot reach it, so they cannot take it away. */
	assert_int_equal(mr_invalidate(user(p->a.rnic, p->a.pd, 0), stag, true), -EACCES);
	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(mr_invalidate(user(p->a.rnic, p->a.pd, 0), stag, false), 0);
	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_LOCAL_WRITE), -ENOENT);
	assert_int_equal(mr_invalidate(user(p->a.rnic, p->a.pd, 0), stag, false), -ENOENT);
	rnic_mr_dereg(mr);
	mr = reg(p, RNIC_ACCESS_REMOTE_READ);
	assert_int_equal(mr_invalidate(user(p->a.rnic, p->a.pd, 0), rnic_mr_stag(mr), true), 0);
	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_REMOTE_READ), -ENOENT);
	rnic_mr_dereg(mr);
}

/** RFC 5040 section 8.1.1 rule 7: a peer cannot take away what other streams could use too. */
static void shared_is_not_for_peers_to_invalidate(void **state)
{
	struct pair p;
	struct rnic_qp *second;
	struct rnic_mr *mr;

	pair_init(&p, NULL);
	second = pair_qp(&p.a, p.a.cq, NULL);
	assert_int_equal(rnic_mr_reg(p.a.pd, memory, 16, 0, RW, &mr), 0);
	assert_int_equal(mr_invalidate(p.a.qp, rnic_mr_stag(mr), true), -EPERM);
	assert_int_equal(rnic_qp_destroy(second), 0);
	assert_int_equal(mr_invalidate(p.a.qp, rnic_mr_stag(mr), true), 0);
	rnic_mr_dereg(mr);
	pair_fini(&p);
}

/** A stream of another PD receives into it by an SRQ. */
static void shared_by_an_srq_is_not_for_peers_to_invalidate(void **state)
{
	struct pair p;
	struct side other;
	struct rnic_srq *srq;
	struct rnic_qp *second;
	struct rnic_mr *mr;

	pair_init(&p, NULL);
	other = p.a;
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &other.pd), 0);
	assert_int_equal(rnic_srq_create(p.a.pd, 8, 2, 0, NULL, &srq), 0);
	assert_int_equal(rnic_mr_reg(p.a.pd, memory, 16, 0, RW, &mr), 0);
	second = pair_qp(&other, p.a.cq, srq);
	assert_int_equal(mr_invalidate(p.a.qp, rnic_mr_stag(mr), true), -EPERM);
	assert_int_equal(rnic_qp_destroy(second), 0);
	/* Its own QP is one stream, by whichever queue it receives. */
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = pair_qp(&p.a, p.a.cq, srq);
	assert_int_equal(mr_invalidate(p.a.qp, rnic_mr_stag(mr), true), 0);
	rnic_mr_dereg(mr);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = pair_qp(&p.a, p.a.cq, NULL);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	assert_int_equal(rnic_pd_dealloc(other.pd), 0);
	pair_fini(&p);
}

static void what_cannot_be_registered(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr;
	const struct {
		void *addr;
		size_t len;
		uint64_t iova;
		unsigned access;
	} bad[] = {
		{memory, 0, 0, RW},
		{memory, 16, UINT64_MAX - 14, RW},
		{(void *)(UINTPTR_MAX - 14), 16, 0, RW},
		{memory, SIZE_MAX, 0, RW},
		{memory, (UINT64_C(1) << 47) + 1, 0, RW},
		{memory, 16, 0, RNIC_ACCESS_REMOTE_WRITE},
		{memory, 16, 0, RNIC_ACCESS_REMOTE_ATOMIC},
		{memory, 16, 0, 0x80},
		{memory, 16, 0, 0x80000000 | RNIC_ACCESS_LOCAL_WRITE},
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(rnic_mr_reg(p->a.pd, bad[i].addr, bad[i].len, bad[i].iova,
					 bad[i].access, &mr),
			-EINVAL);
}

/** Reads are zeros, at any address, whatever was written; peers have no right to it. */
static void null_region(void **state)
{
	struct pair *p = *state;
	const struct rnic_qp *qp;
	struct rnic_mr *mr;
	uint8_t *mem, *sink;

	assert_int_equal(rnic_mr_alloc_null(p->a.pd, &mr), 0);
	qp = user(p->a.rnic, p->a.pd, RW);
	assert_int_equal(mr_check(qp, rnic_mr_stag(mr), UINT64_MAX - 7, RNIC_PIECE_MAX, 0, &mem),
		-EOVERFLOW);
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 77, RNIC_PIECE_MAX, RDMAP_ACCESS_LOCAL_WRITE, &sink),
		0);
	memset(sink, 0xff, RNIC_PIECE_MAX);
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 77, RNIC_PIECE_MAX, RDMAP_ACCESS_LOCAL_READ, &mem),
		0);
	for (unsigned i = 0; i < RNIC_PIECE_MAX; i++)
		assert_int_equal(mem[i], 0);
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 77, 1, RDMAP_ACCESS_REMOTE_READ, &mem), -EACCES);
	assert_int_equal(rnic_mr_dereg(mr), 0);
}

static struct {
	const void *addr;
	size_t len;
	bool write, answer;
	unsigned calls;
} paged;

static bool page_in(const void *addr, size_t len, bool write)
{
	paged.addr = addr;
	paged.len = len;
	paged.write = write;
	paged.calls++;
	return paged.answer;
}

/** Each piece is asked for when it is used, and not before. */
static void on_demand(void **state)
{
	struct pair *p = *state;
	const struct rnic_qp *qp;
	struct rnic_mr *mr;
	uint8_t *mem;

	rnic_set_page_in(p->a.rnic, page_in);
	assert_int_equal(
		rnic_mr_reg(p->a.pd, NULL, SIZE_MAX, 0, RW | RNIC_ACCESS_ON_DEMAND, &mr), 0);
	qp = user(p->a.rnic, p->a.pd, RW);
	paged.calls = 0;
	paged.answer = true;
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 0x5000, 100, RDMAP_ACCESS_REMOTE_WRITE, &mem), 0);
	assert_int_equal((uintptr_t)mem, 0x5000);
	assert_ptr_equal(paged.addr, mem);
	assert_int_equal(paged.len, 100);
	assert_true(paged.write);
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 0x5000, 100, RDMAP_ACCESS_LOCAL_READ, &mem), 0);
	assert_false(paged.write);
	assert_int_equal(mr_check(qp, rnic_mr_stag(mr), 0x5000, RNIC_PIECE_MAX + 1,
				 RDMAP_ACCESS_LOCAL_READ, &mem),
		0);
	assert_int_equal(paged.calls, 2);
	paged.answer = false;
	assert_int_equal(
		mr_check(qp, rnic_mr_stag(mr), 0, 1, RDMAP_ACCESS_LOCAL_READ, &mem), -ERANGE);
	assert_int_equal(rnic_mr_dereg(mr), 0);
	assert_int_equal(
		rnic_mr_reg(p->a.pd, NULL, SIZE_MAX, 4, RW | RNIC_ACCESS_ON_DEMAND, &mr), -EINVAL);
}

static void zero_based(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr;
	uint8_t *mem;

	assert_int_equal(rnic_mr_reg(p->a.pd, memory, 16, (uintptr_t)memory,
				 RW | RNIC_ACCESS_ZERO_BASED, &mr),
		0);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr), 15, 1,
				 RDMAP_ACCESS_REMOTE_WRITE, &mem),
		0);
	assert_ptr_equal(mem, memory + 15);
	rnic_mr_dereg(mr);
}

static void reregister(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RNIC_ACCESS_LOCAL_WRITE);
	uint32_t stag = rnic_mr_stag(mr);
	uint8_t *mem;

	assert_int_equal(rnic_mr_rereg(mr, 0, NULL, NULL, 0, 0), -EINVAL);
	assert_int_equal(rnic_mr_rereg(mr, 8, NULL, NULL, 0, 0), -EINVAL);
	assert_int_equal(rnic_mr_rereg(mr, RNIC_REREG_PD, NULL, NULL, 0, 0), -EINVAL);
	assert_int_equal(
		rnic_mr_rereg(mr, RNIC_REREG_ACCESS, NULL, NULL, 0, RNIC_ACCESS_REMOTE_WRITE),
		-EINVAL);
	assert_int_equal(rnic_mr_rereg(mr, RNIC_REREG_TRANSLATION, NULL, memory, 0, 0), -EINVAL);
	/* What failed changed nothing. */
	assert_int_equal(rnic_mr_stag(mr), stag);
	assert_int_equal(check(p, mr, 0x10000, 4096, RDMAP_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(mr_invalidate(user(p->a.rnic, p->a.pd, 0), stag, false), 0);
	assert_int_equal(rnic_mr_rereg(mr, RNIC_REREG_TRANSLATION | RNIC_REREG_ACCESS, NULL,
				 memory + 8, 8, RW),
		0);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr),
				 (uintptr_t)memory + 8, 8, RDMAP_ACCESS_REMOTE_WRITE, &mem),
		0);
	assert_ptr_equal(mem, memory + 8);
	assert_int_equal(mr_check(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr),
				 (uintptr_t)memory + 8, 9, RDMAP_ACCESS_REMOTE_WRITE, &mem),
		-ERANGE);
	rnic_mr_dereg(mr);
}

static void limit_is_kept(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_mr = 3};
	struct pair p;
	struct rnic_mr *mr[4];

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &p.a.pd), 0);
	for (unsigned i = 0; i < 3; i++)
		mr[i] = reg(&p, RW);
	assert_int_equal(rnic_mr_reg(p.a.pd, memory, 1, 0, RW, &mr[3]), -ENOMEM);
	/* Full is no reason to fail a change. */
	assert_int_equal(rnic_mr_rereg(mr[0], RNIC_REREG_ACCESS, NULL, NULL, 0, 0), 0);
	for (unsigned i = 0; i < 3; i++)
		rnic_mr_dereg(mr[i]);
	pair_fini(&p);
}

/** Out of everybody's reach, though it is still there. */
static void revoke(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr = reg(p, RW);

	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_REMOTE_WRITE), 0);
	rnic_mr_revoke(mr);
	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_REMOTE_WRITE), -ENOENT);
	assert_int_equal(check(p, mr, 0x10000, 1, RDMAP_ACCESS_LOCAL_READ), -ENOENT);
	assert_int_equal(rnic_mr_dereg(mr), 0);
}

static struct llp_memory *lent(struct pair *p, const struct rnic_mr *mr)
{
	return mr_memory(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr));
}

/** The LLP may send from a region as long as the region is valid. */
static void lent_to_the_llp(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr[5], *none;

	assert_null(lent(p, mr[0] = reg(p, RW)));
	llp_mem_set_external(p->mem);
	for (unsigned i = 1; i < 5; i++)
		assert_non_null(lent(p, mr[i] = reg(p, RW)));
	assert_int_equal(llp_mem_memories(p->mem), 4);
	assert_int_equal(rnic_mr_dereg(mr[1]), 0);
	assert_int_equal(llp_mem_memories(p->mem), 3);
	rnic_mr_revoke(mr[2]);
	assert_null(lent(p, mr[2]));
	assert_int_equal(llp_mem_memories(p->mem), 2);
	assert_int_equal(
		mr_invalidate(user(p->a.rnic, p->a.pd, RW), rnic_mr_stag(mr[3]), false), 0);
	assert_null(lent(p, mr[3]));
	assert_int_equal(llp_mem_memories(p->mem), 1);
	assert_int_equal(rnic_mr_rereg(mr[4], RNIC_REREG_TRANSLATION, NULL, memory, 8, 0), 0);
	assert_non_null(lent(p, mr[4]));
	assert_int_equal(llp_mem_memories(p->mem), 1);
	/* It may be missing, and a NIC cannot ask for it; or it is the same for all. */
	assert_int_equal(
		rnic_mr_reg(p->a.pd, NULL, SIZE_MAX, 0, RW | RNIC_ACCESS_ON_DEMAND, &none), 0);
	assert_null(lent(p, none));
	rnic_mr_dereg(none);
	assert_int_equal(rnic_mr_alloc_null(p->a.pd, &none), 0);
	assert_null(lent(p, none));
	rnic_mr_dereg(none);
	rnic_mr_dereg(mr[0]);
	for (unsigned i = 2; i < 5; i++)
		rnic_mr_dereg(mr[i]);
	assert_int_equal(llp_mem_memories(p->mem), 0);
}

/** One that could not be registered is not lent either. */
static void not_lent_beyond_the_limit(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_mr = 1};
	struct pair p;
	struct rnic_mr *mr, *more;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	llp_mem_set_external(p.mem);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &p.a.pd), 0);
	mr = reg(&p, RW);
	assert_int_equal(rnic_mr_reg(p.a.pd, memory, 1, 0, RW, &more), -ENOMEM);
	assert_int_equal(llp_mem_memories(p.mem), 1);
	rnic_mr_dereg(mr);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bounds, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(up_to_the_last_address, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(rights, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(the_qp_must_grant_it_too, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(another_pd_gets_nothing, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(dead_stags_stay_dead, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(invalidate, setup, pair_teardown),
		cmocka_unit_test(shared_is_not_for_peers_to_invalidate),
		cmocka_unit_test(shared_by_an_srq_is_not_for_peers_to_invalidate),
		cmocka_unit_test_setup_teardown(what_cannot_be_registered, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(null_region, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(on_demand, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(zero_based, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(reregister, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(revoke, setup, pair_teardown),
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test_setup_teardown(lent_to_the_llp, setup, pair_teardown),
		cmocka_unit_test(not_lent_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
