/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is registered, and that the program has unmapped: the request that needs it fails,
 * and its stream ends by a Terminate; the process goes on (base/guarded.h).
 */
#include "base/fault_pc.h"
#include "base/guarded.h"
#include "qp.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef GUARDED_PLAIN

#define LEN 64u

static volatile sig_atomic_t faults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uintptr_t to = guarded_resume(fault_pc(context));

	if (to == 0)
		_exit(1);
	fault_set_pc(context, to);
	faults++;
}

/** Whose memory is taken away. */
enum taken { SOURCE, SINK, RECEIVE };

static const struct {
	const char *what;
	enum rdmap_wr_op op;
	enum taken taken;
	unsigned mode; /**< of the pages, that the access is not allowed */
	enum rdmap_wc_status status;
	enum rdmap_wc_op wc;
} cases[] = {
	{"Write out of it", RDMAP_WR_WRITE, SOURCE, PROT_NONE, RDMAP_WC_LOC_PROT_ERR,
		RDMAP_WC_WRITE},
	{"Send out of it", RDMAP_WR_SEND, SOURCE, PROT_NONE, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_SEND},
	{"Write into it", RDMAP_WR_WRITE, SINK, PROT_READ, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE},
	{"Send into it", RDMAP_WR_SEND, RECEIVE, PROT_READ, RDMAP_WC_SUCCESS, RDMAP_WC_SEND},
	{"Read out of it", RDMAP_WR_READ, SINK, PROT_NONE, RDMAP_WC_REM_ACCESS_ERR, RDMAP_WC_READ},
	{"Read into it", RDMAP_WR_READ, SOURCE, PROT_READ, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_READ},
	{"Atomic that cannot read", RDMAP_WR_FETCH_ADD, SINK, PROT_NONE, RDMAP_WC_REM_ACCESS_ERR,
		RDMAP_WC_FETCH_ADD},
	{"Atomic that cannot write", RDMAP_WR_FETCH_ADD, SINK, PROT_READ, RDMAP_WC_REM_ACCESS_ERR,
		RDMAP_WC_FETCH_ADD},
	{"Atomic's answer into it", RDMAP_WR_FETCH_ADD, SOURCE, PROT_READ, RDMAP_WC_LOC_PROT_ERR,
		RDMAP_WC_FETCH_ADD},
};

/* In segments of every size: what is copied whole, and what is put together of pieces. */
static void run_case(unsigned i, size_t segment)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *gone = mmap(NULL, page, (int)cases[i].mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t len = cases[i].op == RDMAP_WR_FETCH_ADD ? 8 : LEN;
	struct qp_region *source, *sink, *receive, *taken;
	const struct rdmap_wc *wc;
	struct rdmap_wqe *w;
	struct qp_net n;
	uint8_t *own;

	assert_ptr_not_equal(gone, MAP_FAILED);
	qp_net_init(&n);
	qp_net_connect(&n);
	qp_net_run(&n);
	if (segment)
		llp_mem_set_segment(n.mem, segment);
	source = qp_region_add(n.a, 1, 0x100, LEN, LOCAL);
	sink = qp_region_add(n.b, 2, 0x200, LEN, LOCAL | REMOTE | RDMAP_ACCESS_REMOTE_ATOMIC);
	receive = qp_region_add(n.b, 3, 0x300, LEN, LOCAL);
	taken = cases[i].taken == SOURCE ? source : cases[i].taken == SINK ? sink : receive;
	own = taken->mem;
	taken->mem = gone;
	qp_post_recv(n.b, 9, receive, 0, LEN);
	faults = 0;
	w = qp_wqe(n.a, 1, cases[i].op, RDMAP_WR_SIGNALED);
	w->remote_stag = sink->stag;
	w->remote_to = sink->to;
	qp_wqe_sge(w, source, 0, len);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(faults, 1);
	wc = qp_expect_wc(n.a, 1, cases[i].status, cases[i].wc,
		cases[i].status == RDMAP_WC_SUCCESS ? len : 0);
	assert_non_null(wc);
	assert_int_equal(n.a->endeds, 1);
	assert_int_equal(n.b->endeds, 1);
	if (cases[i].taken == RECEIVE)
		qp_expect_wc(n.b, 9, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_RECV, 0);
	taken->mem = own;
	qp_net_done(&n);
	munmap(gone, page);
}

static void stream_ends_and_nothing_else(void **state)
{
	struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	/* cmocka has a handler of its own around each test. */
	assert_int_equal(sigaction(SIGSEGV, &a, NULL), 0);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		print_message("%s\n", cases[i].what);
		for (size_t segment = 0; segment < 40; segment++)
			run_case(i, segment);
	}
}

#else

static void stream_ends_and_nothing_else(void **state)
{
	skip(); /* the sanitizer sees the accesses, and takes them for errors */
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream_ends_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
