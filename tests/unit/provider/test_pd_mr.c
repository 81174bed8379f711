/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains and memory: what may be registered, with which rights, and what it is then. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096
#define RW   (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static struct ibv_pd *pd;

static int setup(void **state)
{
	if (fixture_open(state) != 0)
		return -1;
	pd = ibv_alloc_pd(fx.context);
	return pd == NULL;
}

static int teardown(void **state)
{
	return ibv_dealloc_pd(pd) != 0 || fixture_close(state) != 0;
}

static uint8_t *map_pages(size_t n, int prot)
{
	void *p = mmap(NULL, n * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void refused(void *addr, size_t length, int access, int error)
{
	errno = 0;
	assert_null(ibv_reg_mr(pd, addr, length, access));
	assert_int_equal(errno, error);
}

static void accepted(void *addr, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, addr, length, access);

	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_pd(void **state)
{
	struct ibv_pd *second = ibv_alloc_pd(fx.context);
	uint8_t byte;
	struct ibv_mr *mr;

	assert_non_null(second);
	assert_ptr_equal(second->context, fx.context);
	mr = ibv_reg_mr(second, &byte, 1, 0);
	assert_int_equal(ibv_dealloc_pd(second), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(second), 0);
}

static void test_region(void **state)
{
	uint8_t *p = map_pages(2, PROT_READ | PROT_WRITE);
	/* The same memory twice is two regions. */
	struct ibv_mr *a = ibv_reg_mr(pd, p + 1, PAGE, RW);
	struct ibv_mr *b = ibv_reg_mr(pd, p + 1, PAGE, IBV_ACCESS_LOCAL_WRITE);

	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_equal(a->pd, pd);
	assert_ptr_equal(a->context, fx.context);
	assert_ptr_equal(a->addr, p + 1);
	assert_int_equal(a->length, PAGE);
	assert_int_equal(a->lkey, a->rkey);
	assert_int_not_equal(a->lkey, b->lkey);
	assert_int_not_equal(a->lkey, 0);
	assert_int_equal(ibv_dereg_mr(a), 0);
	assert_int_equal(ibv_dereg_mr(b), 0);
	munmap(p, 2 * PAGE);
}

/* The pages are there afterwards: a peer's data must not wait for, or fail at, the first touch. */
static void test_pages_are_touched(void **state)
{
	uint8_t *p = map_pages(4, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(pd, p + PAGE - 1, 2 + PAGE, RW);
	unsigned char in_core[4];

	assert_non_null(mr);
	assert_int_equal(mincore(p, 4 * PAGE, in_core), 0);
	for (int i = 0; i < 3; i++)
		assert_true((in_core[i] & 1) != 0);
	assert_false((in_core[3] & 1) != 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, 4 * PAGE);
}

static void test_bad_memory(void **state)
{
	uint8_t *p = map_pages(4, PROT_READ | PROT_WRITE);

	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(mprotect(p + 2 * PAGE, PAGE, PROT_NONE), 0);
	munmap(p + 3 * PAGE, PAGE);
	accepted(p, PAGE, RW);
	/* Not writable. */
	refused(p, PAGE + 1, RW, EFAULT);
	refused(p + PAGE, 1, IBV_ACCESS_LOCAL_WRITE, EFAULT);
	accepted(p, 2 * PAGE, 0);
	accepted(p, 2 * PAGE, IBV_ACCESS_REMOTE_READ);
	/* Not readable. */
	refused(p + PAGE, PAGE + 1, 0, EFAULT);
	refused(p + 2 * PAGE, PAGE, RW, EFAULT);
	/* Not there. */
	refused(p + 3 * PAGE, 1, 0, EFAULT);
	refused(p + 3 * PAGE, 1, RW, EFAULT);
	refused(NULL, PAGE, 0, EFAULT);
	munmap(p, 3 * PAGE);
}

/* Behind the end of a file there are addresses, but no memory: to touch it is SIGBUS. */
static void test_file(void **state)
{
	char name[] = "/tmp/test_pd_mr.XXXXXX";
	int fd = mkstemp(name);
	uint8_t *p;

	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	accepted(p, PAGE, RW);
	refused(p, PAGE + 1, RW, EFAULT);
	refused(p + PAGE, PAGE, 0, EFAULT);
	munmap(p, 2 * PAGE);
	close(fd);
}

static void test_lengths(void **state)
{
	struct ibv_device_attr attr;
	uint8_t byte;

	assert_int_equal(ibv_query_device(fx.context, &attr), 0);
	refused(&byte, 0, 0, EINVAL);
	refused(NULL, 0, RW, EINVAL);
	/* Around the end of the address space, and up to it. */
	refused(&byte, SIZE_MAX, 0, EINVAL);
	refused((void *)(UINTPTR_MAX - PAGE), PAGE + 2, 0, EINVAL);
	refused((void *)(UINTPTR_MAX - PAGE), PAGE + 1, 0, EFAULT);
	refused((void *)UINTPTR_MAX, 1, 0, EFAULT);
	refused(&byte, attr.max_mr_size + 1, 0, EFAULT);
	accepted(&byte, 1, RW);
}

static void test_access(void **state)
{
	uint8_t byte;

	accepted(&byte, 1, 0);
	accepted(&byte, 1, IBV_ACCESS_LOCAL_WRITE);
	accepted(&byte, 1, IBV_ACCESS_REMOTE_READ);
	accepted(&byte, 1, RW | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
	/* ibv_reg_mr(3): remote write and atomics need local write. */
	refused(&byte, 1, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	refused(&byte, 1, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, EINVAL);
	refused(&byte, 1, IBV_ACCESS_REMOTE_ATOMIC, EINVAL);
	accepted(&byte, 1, RW | IBV_ACCESS_ON_DEMAND);
	refused(&byte, 1, 1 << 15, EOPNOTSUPP);
	/* Optional by definition: ignored where not known. */
	accepted(&byte, 1, RW | IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_HUGETLB);
	accepted(&byte, 1, RW | 1 << 29);
}

static void test_iova(void **state)
{
	uint8_t bytes[16];
	struct ibv_mr *mr = ibv_reg_mr_iova(pd, bytes, sizeof bytes, 0x1000, RW);

	assert_non_null(mr);
	assert_ptr_equal(mr->addr, bytes);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	/* Its end is the last address there is; one more is too many. */
	mr = ibv_reg_mr_iova(pd, bytes, sizeof bytes, UINT64_MAX - 15, RW);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	errno = 0;
	assert_null(ibv_reg_mr_iova(pd, bytes, sizeof bytes, UINT64_MAX - 14, RW));
	assert_int_equal(errno, EINVAL);
}

/* ---- a change of a region ------------------------------------------------------------------- */

static void rereg_refused(
	struct ibv_mr *mr, int flags, struct ibv_pd *to, void *addr, size_t length, int access)
{
	const struct ibv_mr before = *mr;

	assert_int_equal(ibv_rereg_mr(mr, flags, to, addr, length, access), IBV_REREG_MR_ERR_INPUT);
	assert_memory_equal(mr, &before, sizeof before);
}

static void test_rereg(void **state)
{
	uint8_t *p = map_pages(2, PROT_READ | PROT_WRITE);
	struct ibv_pd *other = ibv_alloc_pd(fx.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, p, PAGE, RW);
	uint32_t key = mr->rkey;

	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p + 8, 64, 0), 0);
	assert_ptr_equal(mr->addr, p + 8);
	assert_int_equal(mr->length, 64);
	assert_int_equal(mr->lkey, mr->rkey);
	/* The old key must not reach the new memory. */
	assert_int_not_equal(mr->rkey, key);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, other);
	assert_int_equal(ibv_dealloc_pd(other), EBUSY);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), 0);
	assert_int_equal(ibv_rereg_mr(mr,
				 IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD |
					 IBV_REREG_MR_CHANGE_TRANSLATION,
				 pd, p, 2 * PAGE, RW),
		0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, 2 * PAGE);
}

static void test_rereg_refusals(void **state)
{
	struct ibv_context *second = ibv_open_device(fx.context->device);
	struct ibv_pd *foreign = ibv_alloc_pd(second);
	uint8_t *p = map_pages(1, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(pd, p, PAGE, RW);

	rereg_refused(mr, 0, NULL, NULL, 0, 0);
	rereg_refused(mr, 8, NULL, NULL, 0, 0);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_PD, foreign, NULL, 0, 0);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1 << 15);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, PAGE, 0);
	assert_int_equal(errno, EINVAL);
	/* Told, but not asked for: it would be passed over. */
	rereg_refused(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p, 64, RW);
	assert_int_equal(errno, EINVAL);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, RW);
	assert_int_equal(errno, EINVAL);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p, 0, 0);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p, SIZE_MAX, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(foreign), 0);
	assert_int_equal(ibv_close_device(second), 0);
	munmap(p, PAGE);
}

/* The right to write, kept or newly given, needs memory that can be written to. */
static void test_rereg_read_only(void **state)
{
	uint8_t *p = map_pages(2, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(pd, p, PAGE, RW);
	struct ibv_mr *ro;

	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	rereg_refused(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p + PAGE, PAGE, 0);
	assert_int_equal(errno, EFAULT);
	ro = ibv_reg_mr(pd, p + PAGE, PAGE, 0);
	assert_non_null(ro);
	rereg_refused(ro, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RW);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS, NULL,
			p + PAGE, PAGE, IBV_ACCESS_REMOTE_READ),
		0);
	/* What it may do is remembered. */
	assert_int_equal(
		ibv_rereg_mr(ro, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p + PAGE, 8, 0), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(ro), 0);
	munmap(p, 2 * PAGE);
}

/* ---- what a peer may do ---------------------------------------------------------------------- */

static void test_remote_iova(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr_iova(fx.server.id->pd, fx.server.buf + 500, 100, 0x7000, RW);
	struct ibv_mr *zero =
		ibv_reg_mr(fx.server.id->pd, fx.server.buf + 700, 100, RW | IBV_ACCESS_ZERO_BASED);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 40);

	fill(fx.client.buf, 5);
	wr.wr.rdma.remote_addr = 0x7000 + 60;
	wr.wr.rdma.rkey = mr->rkey;
	client_posts(&wr);
	wr.wr.rdma.remote_addr = 60;
	wr.wr.rdma.rkey = zero->rkey;
	client_posts(&wr);
	wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, 1);
	aim(&wr, 0);
	client_posts(&wr);
	take_sent(1000 + IBV_WR_RDMA_WRITE);
	take_sent(1000 + IBV_WR_RDMA_WRITE);
	take_sent(1000 + IBV_WR_RDMA_READ);
	fill(fx.client.buf, 5);
	assert_memory_equal(fx.server.buf + 560, fx.client.buf, 40);
	assert_memory_equal(fx.server.buf + 760, fx.client.buf, 40);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(zero), 0);
}

/* One byte beyond the end, and no right: neither changes a byte, both end the connection. */
static void no_write(struct ibv_mr *mr, uint64_t addr)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);

	fill(fx.client.buf, 1);
	post_recv(&fx.server, 1);
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = mr->rkey;
	client_posts(&wr);
	assert_int_equal(take(fx.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; i < 200; i++)
		assert_int_equal(fx.server.buf[i], 0);
}

static void test_no_remote_right(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(fx.server.id->pd, fx.server.buf, 100,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);

	no_write(mr, (uintptr_t)fx.server.buf);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_remote_bounds(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(fx.server.id->pd, fx.server.buf, 100, RW);

	no_write(mr, (uintptr_t)fx.server.buf + 93);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* ---- on demand, and nothing at all ------------------------------------------------------------
 */

#define GIB ((size_t)1 << 30)

/* An area much larger than the machine's memory: nothing of it is touched that is not used. */
static void test_huge(void **state)
{
	void *p = mmap(NULL, 64 * GIB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *bytes = p;
	unsigned char in_core[1];

	assert_ptr_not_equal(p, MAP_FAILED);
	accepted(p, 64 * GIB, RW);
	accepted(p, 64 * GIB, RW | IBV_ACCESS_ON_DEMAND);
	assert_int_equal(mincore(bytes + 32 * GIB, PAGE, in_core), 0);
	assert_int_equal(in_core[0] & 1, 0);
	/* All of it must be there, and writable. */
	munmap(bytes + 32 * GIB, PAGE);
	refused(p, 64 * GIB, 0, EFAULT);
	assert_int_equal(mprotect(p, PAGE, PROT_READ), 0);
	refused(p, 32 * GIB, RW, EFAULT);
	accepted(p, 32 * GIB, 0);
	munmap(p, 64 * GIB);
}

/* Registering memory takes no descriptor of a program that has no more. */
static void test_huge_without_descriptors(void **state)
{
	uint8_t *p = mmap(NULL, GIB, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct rlimit before, none;

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	accepted(p, GIB, RW);
	munmap(p + GIB / 2, PAGE);
	refused(p, GIB, 0, EFAULT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	munmap(p, GIB);
}

/* Have the client write 8 bytes to the server's @p to. @return how that ended. */
static enum ibv_wc_status write_to(uint64_t to, uint32_t rkey)
{
	struct ibv_sge sge, sink;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);
	struct ibv_send_wr read = request(IBV_WR_RDMA_READ, &sink, &fx.client, 8);

	sink.addr += 64;
	wr.wr.rdma.remote_addr = to;
	wr.wr.rdma.rkey = rkey;
	client_posts(&wr);
	if (take(fx.client.id->send_cq).status != IBV_WC_SUCCESS)
		return IBV_WC_WR_FLUSH_ERR;
	/* A Write says nothing of its arrival: a Read behind it does. */
	aim(&read, 0);
	client_posts(&read);
	return take(fx.client.id->send_cq).status;
}

/* Memory that comes, changes and goes after registration, as ibv_reg_mr(3) has it on demand. */
static void test_on_demand(void **state)
{
	const int access = RW | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND;
	uint8_t *p = map_pages(2, PROT_NONE);
	struct ibv_mr *mr = ibv_reg_mr(fx.server.id->pd, p, 2 * PAGE, access);
	struct ibv_sge sge = {.addr = (uintptr_t)p, .length = PAGE};

	assert_non_null(mr);
	sge.lkey = mr->lkey;
	assert_int_equal(mprotect(p, PAGE, PROT_READ | PROT_WRITE), 0);
	fill(fx.client.buf, 5);
	assert_int_equal(write_to((uintptr_t)p + 16, mr->rkey), IBV_WC_SUCCESS);
	assert_memory_equal(p + 16, fx.client.buf, 8);
	/* Another page at the same address. */
	assert_ptr_equal(mmap(p, PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		p);
	assert_int_equal(write_to((uintptr_t)p + 24, mr->rkey), IBV_WC_SUCCESS);
	assert_int_equal(p[16], 0);
	assert_int_equal(ibv_advise_mr(fx.server.id->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				 IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		0);
	sge.length = PAGE + 1;
	assert_int_equal(
		ibv_advise_mr(fx.server.id->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EFAULT);
	/* Where nothing is, the peer's access is refused, and this program lives. */
	assert_int_not_equal(write_to((uintptr_t)p + PAGE, mr->rkey), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, 2 * PAGE);
}

/* One region for everything that is or will be mapped. */
static void test_implicit(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(fx.server.id->pd, NULL, SIZE_MAX,
		RW | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	uint8_t *p = map_pages(1, PROT_READ | PROT_WRITE);

	assert_non_null(mr);
	assert_int_equal(write_to((uintptr_t)p, mr->rkey), IBV_WC_SUCCESS);
	assert_memory_equal(p, fx.client.buf, 8);
	assert_int_not_equal(write_to(0, mr->rkey), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, PAGE);
}

static void test_advice(void **state)
{
	struct ibv_pd *second = ibv_alloc_pd(fx.context);
	uint8_t *p = map_pages(1, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(pd, p, PAGE, IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *plain = ibv_reg_mr(pd, p, PAGE, 0);
	struct ibv_sge sge = {.addr = (uintptr_t)p, .length = PAGE, .lkey = mr->lkey};

	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), 0);
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0, &sge, 1), 0);
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1), EPERM);
	assert_int_equal(ibv_advise_mr(second, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EPERM);
	assert_int_equal(ibv_advise_mr(pd, (enum ibv_advise_mr_advice)9, 0, &sge, 1), ENOTSUP);
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 2, &sge, 1), EINVAL);
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 0), EINVAL);
	sge.lkey ^= 1;
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), ENOENT);
	sge.lkey ^= 0x5a5a5a00;
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EFAULT);
	sge.lkey = plain->lkey;
	assert_int_equal(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EINVAL);
	assert_int_equal(ibv_dereg_mr(plain), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(second), 0);
	munmap(p, PAGE);
}

/* ibv_alloc_null_mr(3): reads as zeros, swallows what is written, wherever. */
static void test_null(void **state)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(fx.client.id->pd);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, FIXTURE_SIZE);

	assert_non_null(mr);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
		IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(errno, EINVAL);
	fill(fx.server.buf, 3);
	aim(&wr, 0);
	wr.opcode = IBV_WR_RDMA_READ;
	sge.lkey = mr->lkey;
	sge.addr = 0x123456789;
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_SUCCESS);
	/* Zeros still, after something was written. */
	wr.opcode = IBV_WR_RDMA_WRITE;
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_SUCCESS);
	sge.lkey = fx.client.mr->lkey;
	sge.addr = (uintptr_t)fx.client.buf;
	fill(fx.client.buf, 9);
	wr.opcode = IBV_WR_RDMA_READ;
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_SUCCESS);
	for (size_t i = 0; i < FIXTURE_SIZE; i++)
		assert_int_equal(fx.client.buf[i], 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

#define WITH_PD(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PD(test_pd),
		WITH_PD(test_region),
		WITH_PD(test_pages_are_touched),
		WITH_PD(test_bad_memory),
		WITH_PD(test_file),
		WITH_PD(test_lengths),
		WITH_PD(test_access),
		WITH_PD(test_iova),
		WITH_PD(test_rereg),
		WITH_PD(test_rereg_refusals),
		WITH_PD(test_rereg_read_only),
		WITH_PD(test_huge),
		WITH_PD(test_huge_without_descriptors),
		WITH_PD(test_advice),
		CONNECTED(test_on_demand),
		CONNECTED(test_implicit),
		CONNECTED(test_null),
		CONNECTED(test_remote_iova),
		CONNECTED(test_no_remote_right),
		CONNECTED(test_remote_bounds),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
