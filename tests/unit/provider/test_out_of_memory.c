/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Programs that find no memory: each allocation of the provider fails once, one after the other, in
 * a program of verbs and of rdma_cm. What fails says ENOMEM and leaves nothing behind: it works
 * when it is called again, and all can be destroyed.
 */
#include "cm_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the injector -------------------------------------------------------------------------- */

/* glibc's own, behind the names that this program takes for itself. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

#define RANGES   16
#define EXPORTED __attribute__((visibility("default")))

static struct {
	uintptr_t begin, end;
} ranges[RANGES]; /* of the code of the product */
static unsigned n_ranges;
static pthread_t program;
static uint64_t at, seen, failed, failed_before;
static uintptr_t where;

static int note_ranges(struct dl_phdr_info *info, size_t size, void *data)
{
	for (unsigned i = 0; strstr(info->dlpi_name, "uiwarp") && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || n_ranges == RANGES)
			continue;
		ranges[n_ranges].begin = info->dlpi_addr + p->p_vaddr;
		ranges[n_ranges++].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 0;
}

/** Is it the product that calls, in the program's thread, and is it its turn? */
static bool fails(const void *caller)
{
	uintptr_t from = (uintptr_t)caller;

	if (!at || !pthread_equal(pthread_self(), program))
		return false;
	for (unsigned i = 0; i < n_ranges; i++) {
		if (from < ranges[i].begin || from >= ranges[i].end)
			continue;
		if (++seen != at)
			return false;
		failed++;
		where = from - ranges[i].begin;
		errno = ENOMEM;
		return true;
	}
	return false;
}

EXPORTED void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

EXPORTED void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

/* ---- what is called ------------------------------------------------------------------------ */

/** A call failed: for want of memory, which is said, and once? */
static bool shall_try_again(const char *call)
{
	bool injected = failed != failed_before;

	failed_before = failed;
	if (!injected || errno != ENOMEM)
		fail_msg("%s: %s, allocation %ju at %#jx", call, strerror(errno), (uintmax_t)at,
			(uintmax_t)where);
	return true;
}

/** Of calls that return a pointer, a status with errno, and an errno. */
#define MAKES(to, call)                 \
	do {                            \
		failed_before = failed; \
		errno = 0;              \
		(to) = (call);          \
	} while (!(to) && shall_try_again(#call))
#define WORKS(call) ((failed_before = failed), !(call) || !shall_try_again(#call))
#define RETURNS_0(call)                 \
	do {                            \
		failed_before = failed; \
	} while ((errno = (call)) && shall_try_again(#call))

static struct ibv_context *open_device(void)
{
	struct ibv_device **list, *device = NULL;
	struct ibv_context *context;
	int n = 0;

	MAKES(list, ibv_get_device_list(&n));
	for (int i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), "uiw0"))
			device = list[i];
	assert_non_null(device);
	MAKES(context, ibv_open_device(device));
	ibv_free_device_list(list);
	return context;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr a = {.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp *qp;

	MAKES(qp, ibv_create_qp(pd, &a));
	RETURNS_0(ibv_modify_qp(
		qp, &init, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	RETURNS_0(ibv_modify_qp(qp, &error, IBV_QP_STATE));
	return qp;
}

static void objects(void)
{
	static uint8_t buf[100];
	struct ibv_context *context = open_device();
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_td *td;
	struct ibv_mr *mr, *null;
	struct ibv_mw *mw;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp, *shared;

	MAKES(pd, ibv_alloc_pd(context));
	MAKES(td, ibv_alloc_td(context, &td_attr));
	MAKES(mr, ibv_reg_mr(pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE));
	MAKES(null, ibv_alloc_null_mr(pd));
	MAKES(mw, ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	MAKES(channel, ibv_create_comp_channel(context));
	MAKES(cq, ibv_create_cq(context, 10, NULL, channel, 0));
	RETURNS_0(ibv_resize_cq(cq, 100));
	MAKES(srq, ibv_create_srq(pd, &srq_attr));
	qp = make_qp(pd, cq, NULL);
	shared = make_qp(pd, cq, srq);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_qp(shared), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(null), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

/** Wait for an event. @return false: it tells that there was no memory. */
static bool hears(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev = NULL;
	bool right;

	if (!WORKS(rdma_get_cm_event(channel, &ev)))
		return false;
	right = ev->event == type;
	errno = -ev->status;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	return right || !shall_try_again("event");
}

static bool listens_and_resolves(
	struct rdma_event_channel *channel, struct rdma_cm_id *listener, struct rdma_cm_id *id)
{
	struct cm_address here = cm_address(CM_V4, 7471), any = cm_address(CM_V4, 0);

	return WORKS(rdma_bind_addr(listener, cm_sockaddr(&here))) &&
	       WORKS(rdma_listen(listener, 4)) && WORKS(rdma_bind_addr(id, cm_sockaddr(&any))) &&
	       WORKS(rdma_resolve_addr(id, NULL, cm_sockaddr(&here), 1000)) &&
	       hears(channel, RDMA_CM_EVENT_ADDR_RESOLVED) && WORKS(rdma_resolve_route(id, 1000)) &&
	       hears(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/** librdmacm does several things in one call, and takes none back: try again with other ids. */
static void endpoints(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	bool done;

	do {
		MAKES(channel, rdma_create_event_channel());
		while (!WORKS(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP)))
			;
		while (!WORKS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)))
			;
		done = listens_and_resolves(channel, listener, id);
		assert_int_equal(rdma_destroy_id(id), 0);
		assert_int_equal(rdma_destroy_id(listener), 0);
		rdma_destroy_event_channel(channel);
	} while (!done);
}

static bool makes_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	return WORKS(rdma_create_qp(id, NULL, &a));
}

static bool accepts(struct rdma_cm_id *request)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	return makes_qp(request) && WORKS(rdma_accept(request, &param));
}

static void hang_up(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	assert_int_equal(rdma_destroy_id(id), 0);
}

/**
 * Who asks hears something in any case: that it is connected, or for want of memory that it is
 * rejected.
 */
static bool connects(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *request = NULL;
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;
	uint64_t before = failed;

	if (!WORKS(rdma_connect(id, &param)))
		return false;
	do {
		assert_int_equal(rdma_get_cm_event(channel, &ev), 0);
		type = ev->id == id ? ev->event : RDMA_CM_EVENT_CONNECT_REQUEST;
		if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			request = ev->id;
		assert_int_equal(rdma_ack_cm_event(ev), 0);
		if (request && !request->qp && !accepts(request)) {
			hang_up(request);
			request = NULL;
		}
	} while (type == RDMA_CM_EVENT_CONNECT_REQUEST);
	if (type != RDMA_CM_EVENT_ESTABLISHED && failed == before)
		fail_msg("%s, and nothing had failed", rdma_event_str(type));
	if (request)
		hang_up(request);
	return type == RDMA_CM_EVENT_ESTABLISHED;
}

static void connections(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	bool done;

	do {
		MAKES(channel, rdma_create_event_channel());
		while (!WORKS(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP)))
			;
		while (!WORKS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)))
			;
		done = listens_and_resolves(channel, listener, id) && makes_qp(id) &&
		       connects(channel, id);
		hang_up(id);
		assert_int_equal(rdma_destroy_id(listener), 0);
		rdma_destroy_event_channel(channel);
	} while (!done);
}

static void each_fails(void (*use)(void))
{
	uint64_t n = 1;

	program = pthread_self();
	/* The first time the stack starts, and librdmacm looks around. */
	use();
	n_ranges = 0;
	dl_iterate_phdr(note_ranges, NULL);
	assert_true(n_ranges > 0);
	for (uint64_t turn = 1; turn <= n; turn++) {
		seen = 0;
		at = turn;
		use();
		n = seen;
		at = 0;
	}
	print_message("%ju allocations\n", (uintmax_t)n);
	assert_true(failed > 0);
}

static void test_objects(void **state)
{
	each_fails(objects);
}

static void test_endpoints(void **state)
{
	each_fails(endpoints);
}

static void test_connections(void **state)
{
	each_fails(connections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
