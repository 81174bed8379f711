/* SPDX-License-Identifier: BSD-2-Clause */
/* The device as programs find, open and close it, and every verb that it does not have. */
#include "fixture.h"

#include "support/child_fork.h"
#include "support/limit.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_list(void **state)
{
	struct ibv_device **list, *d;
	int n = 0;

	list = ibv_get_device_list(&n);
	assert_non_null(list);
	assert_true(n >= 1);
	assert_null(list[n]);
	ibv_free_device_list(list);
	list = ibv_get_device_list(NULL);
	assert_non_null(list);
	ibv_free_device_list(list);

	d = fixture_device(&list);
	assert_string_equal(ibv_get_device_name(d), "uiw0");
	assert_int_equal(d->node_type, IBV_NODE_RNIC);
	assert_int_equal(d->transport_type, IBV_TRANSPORT_IWARP);
	assert_string_equal(d->dev_name, "uverbs-uiw0");
	assert_true(access(d->dev_path, F_OK) != 0 && access(d->ibdev_path, F_OK) != 0);
	assert_int_equal(ibv_get_device_index(d), -1);
	/* Some programs do this, and it must do: one block of malloc(). */
	assert_true(malloc_usable_size(list) >= 2 * sizeof *list);
	free(list);
	/* The device outlives its list. */
	assert_string_equal(ibv_get_device_name(d), "uiw0");
}

/* RFC 4291 appendix A, of 02:00:00:00:00:01. */
static void test_guid(void **state)
{
	static const uint8_t expected[8] = {0, 0, 0, 0xff, 0xfe, 0, 0, 1};
	struct ibv_device **list, *d = fixture_device(&list);
	__be64 guid = ibv_get_device_guid(d);

	assert_memory_equal(&guid, expected, 8);
	ibv_free_device_list(list);
}

static void test_contexts(void **state)
{
	struct ibv_context *second = ibv_open_device(fx.context->device);

	assert_non_null(second);
	assert_ptr_not_equal(second, fx.context);
	assert_ptr_equal(second->device, fx.context->device);
	assert_int_not_equal(second->async_fd, fx.context->async_fd);
	assert_true(second->async_fd >= 0);
	assert_int_equal(second->num_comp_vectors, 1);
	assert_int_equal(ibv_close_device(second), 0);
}

#define REFUSED_POINTER(call)                        \
	do {                                         \
		errno = 0;                           \
		assert_null(call);                   \
		assert_int_equal(errno, EOPNOTSUPP); \
	} while (0)

static void test_no_such_objects(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct ibv_rwq_ind_table_init_attr table = {0};
	struct ibv_counters_init_attr counters = {0};
	struct ibv_xrcd_init_attr xrcd = {.fd = -1};
	struct ibv_qp_open_attr open_qp = {0};
	struct ibv_wq_init_attr wq = {.pd = pd};
	struct ibv_alloc_dm_attr dm = {.length = 64};

	REFUSED_POINTER(ibv_alloc_dm(fx.context, &dm));
	REFUSED_POINTER(ibv_open_qp(fx.context, &open_qp));
	REFUSED_POINTER(ibv_open_xrcd(fx.context, &xrcd));
	REFUSED_POINTER(ibv_create_wq(fx.context, &wq));
	REFUSED_POINTER(ibv_create_rwq_ind_table(fx.context, &table));
	REFUSED_POINTER(ibv_create_counters(fx.context, &counters));
	REFUSED_POINTER(ibv_import_pd(fx.context, 1));
	REFUSED_POINTER(ibv_import_mr(pd, 1));
	REFUSED_POINTER(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, 0));
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_no_such_calls(void **state)
{
	const struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_flow_attr flow = {.size = sizeof flow, .port = 1};
	struct ibv_srq *srq;
	union ibv_gid gid = {{0}};
	struct ibv_ece ece = {0};
	struct lone l;
	uint32_t num;

	lone_open(&l, &cap, 4, false);
	srq = ibv_create_srq(l.pd, &srq_attr);
	assert_int_equal(ibv_get_srq_num(srq, &num), EOPNOTSUPP);
	assert_int_equal(ibv_attach_mcast(l.qp, &gid, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(l.qp, &gid, 0), EINVAL);
	assert_int_equal(ibv_set_ece(l.qp, &ece), EOPNOTSUPP);
	assert_int_equal(ibv_query_ece(l.qp, &ece), EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_create_flow(l.qp, &flow));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	lone_close(&l);
}

/* The port as DPDK's null driver has it, told without embellishment. */
static void test_port(void **state)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	assert_int_equal(ibv_query_port(fx.context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.active_mtu, IBV_MTU_1024);
	assert_int_equal(ibv_query_port(fx.context, 2, &port), EINVAL);
	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &gid), 0);
	/* Its address: 10.99.0.1. */
	assert_memory_equal(gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\12\143\0\1", 16);
	assert_int_equal(ibv_query_gid(fx.context, 1, 1, &gid), -1);
	assert_int_equal(ibv_query_pkey(fx.context, 1, 0, &pkey), 0);
	assert_int_equal(ibv_get_pkey_index(fx.context, 1, pkey), 0);
	assert_int_equal(ibv_get_pkey_index(fx.context, 1, 0x1234), -1);
}

/* In a child nothing of the device works, and everything says so; the parent's is left alone. */
static bool child_is_refused(struct lone *l)
{
	struct ibv_recv_wr recv = {0}, *bad_recv = NULL;
	struct ibv_send_wr send = {0}, *bad_send = NULL;
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(l->qp);
	struct ibv_device_attr attr;
	struct ibv_wc wc;

	/* Pointers first: they tell by errno. */
	if (ibv_alloc_pd(fx.context) != NULL || errno != ENODEV ||
		ibv_open_device(fx.context->device) != NULL || errno != ENODEV ||
		ibv_reg_mr(l->pd, &wc, sizeof wc, 0) != NULL || errno != ENODEV || ex != NULL)
		return false;
	return ibv_query_device(fx.context, &attr) == ENODEV && ibv_poll_cq(l->cq, 1, &wc) < 0 &&
	       ibv_req_notify_cq(l->cq, 0) == ENODEV &&
	       ibv_post_send(l->qp, &send, &bad_send) == ENODEV && bad_send == &send &&
	       ibv_post_recv(l->qp, &recv, &bad_recv) == ENODEV && bad_recv == &recv &&
	       ibv_destroy_qp(l->qp) == ENODEV && ibv_destroy_cq(l->cq) == ENODEV &&
	       ibv_dealloc_pd(l->pd) == ENODEV && ibv_close_device(fx.context) == 0;
}

static void test_fork(void **state)
{
	const struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};
	struct lone l;
	int status;
	pid_t pid;

	lone_open(&l, &cap, 4, true);
	assert_int_equal(qp_go(l.qp, IBV_QPS_INIT), 0);
	pid = child_fork();
	if (pid == 0)
		_exit(child_is_refused(&l) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	lone_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_guid),
		OPENED(test_contexts),
		OPENED(test_no_such_objects),
		OPENED(test_no_such_calls),
		OPENED(test_port),
		OPENED(test_fork),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
