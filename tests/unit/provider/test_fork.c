/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that fork: the parent goes on, while the child exits, execs, touches nothing, or asks
 * for things that are its parent's, which it is told by ENODEV. Also in the middle of everything,
 * when locks are held that nobody will let go in the child.
 */
#include "cm_server.h"
#include "must.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 20

static struct cm_server server;

/* In a child: what is wrong is its exit status. */
#define CHILD(condition)                           \
	do {                                       \
		if (!(condition))                  \
			_exit(__LINE__ % 250 + 1); \
	} while (0)

static void child_ends_well(pid_t pid)
{
	int status;

	MUST(pid > 0);
	MUST(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "the child's status is 0x%x: line %% 250 is %d\n", (unsigned)status,
			WEXITSTATUS(status) - 1);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- before anything has started ------------------------------------------------------------- */

static bool has_device(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	bool found = false;

	for (int i = 0; i < n; i++)
		found |= strcmp(ibv_get_device_name(list[i]), "uiw0") == 0;
	ibv_free_device_list(list);
	return found;
}

static struct ibv_context *open_device(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context = n == 0 ? NULL : ibv_open_device(list[n - 1]);

	ibv_free_device_list(list);
	MUST(context != NULL);
	return context;
}

/* Nobody's yet: the child may have one of its own. */
static void fork_before_the_start(void)
{
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(ibv_alloc_pd(open_device()) != NULL ? 0 : 1);
	child_ends_well(pid);
}

/* In a child: the device is its own, even if the parent opened it, and tells the parent nothing. */
static void use_inherited(struct ibv_context *context)
{
	struct ibv_port_attr port;
	struct ibv_pd *pd;

	alarm(LIMIT_S);
	CHILD(has_device());
	pd = ibv_alloc_pd(context);
	CHILD(pd != NULL);
	CHILD(ibv_query_port(context, 1, &port) == 0);
	CHILD(eventfd_write(context->async_fd, 1) == 0);
	CHILD(ibv_dealloc_pd(pd) == 0);
	CHILD(ibv_close_device(context) == 0);
	CHILD(ibv_alloc_pd(open_device()) != NULL);
}

/* Listed, opened and closed, or open still; also by a grandchild. */
static void fork_before_the_use(void)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr attr;
	eventfd_t v;
	pid_t pid;

	MUST(ibv_query_device(context, &attr) == 0);
	MUST(ibv_close_device(open_device()) == 0);
	pid = child_fork();
	if (pid == 0) {
		pid_t grandchild = child_fork();

		if (grandchild == 0) {
			use_inherited(context);
			_exit(0);
		}
		child_ends_well(grandchild);
		use_inherited(context);
		_exit(0);
	}
	child_ends_well(pid);
	MUST(fcntl(context->async_fd, F_SETFL, O_NONBLOCK) == 0);
	MUST(eventfd_read(context->async_fd, &v) == -1 && errno == EAGAIN);
	MUST(ibv_close_device(context) == 0);
}

static void *start(void *arg)
{
	MUST(ibv_alloc_pd(arg) != NULL);
	return NULL;
}

/* While another thread starts: the child has a device or none, but hangs in no lock. */
static void fork_during_the_start(void)
{
	struct ibv_context *context = open_device();
	pthread_t thread;
	pid_t pid[10];

	MUST(pthread_create(&thread, NULL, start, context) == 0);
	for (unsigned i = 0; i < 10; i++) {
		pid[i] = child_fork();
		if (pid[i] == 0) {
			alarm(LIMIT_S);
			CHILD(ibv_alloc_pd(context) != NULL || errno == ENODEV);
			_exit(0);
		}
		usleep(3000); /* spreads the forks over the start; nothing waits for it */
	}
	for (unsigned i = 0; i < 10; i++)
		child_ends_well(pid[i]);
	pthread_join(thread, NULL);
}

/* ---- what a child gets ----------------------------------------------------------------------- */

struct objects {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct rdma_cm_id *id;
	char buf[64];
};

static void objects_create(struct objects *o)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 4, .max_send_sge = 1}};

	o->id = cm_routed(CM_V4, 4000);
	o->context = o->id->verbs;
	o->pd = ibv_alloc_pd(o->context);
	assert_non_null(o->pd);
	o->mr = ibv_reg_mr(o->pd, o->buf, sizeof o->buf, IBV_ACCESS_LOCAL_WRITE);
	o->mw = ibv_alloc_mw(o->pd, IBV_MW_TYPE_1);
	o->channel = ibv_create_comp_channel(o->context);
	o->cq = ibv_create_cq(o->context, 8, NULL, o->channel, 0);
	o->srq = ibv_create_srq(o->pd, &srq);
	assert_true(o->mr != NULL && o->mw != NULL && o->cq != NULL && o->srq != NULL);
	qp.send_cq = qp.recv_cq = o->cq;
	qp.srq = o->srq;
	o->qp = ibv_create_qp(o->pd, &qp);
	assert_non_null(o->qp);
}

static void objects_destroy(struct objects *o)
{
	assert_int_equal(ibv_destroy_qp(o->qp), 0);
	assert_int_equal(ibv_destroy_srq(o->srq), 0);
	assert_int_equal(ibv_destroy_cq(o->cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(o->channel), 0);
	assert_int_equal(ibv_dealloc_mw(o->mw), 0);
	assert_int_equal(ibv_dereg_mr(o->mr), 0);
	assert_int_equal(ibv_dealloc_pd(o->pd), 0);
	cm_destroy(o->id);
}

#define NO_POINTER(call) CHILD((errno = 0, (call) == NULL) && errno == ENODEV)
#define NO_MINUS(call)   CHILD((errno = 0, (call) < 0) && errno == ENODEV)
#define NO_INT(call)     CHILD((call) == ENODEV)

static void child_makes_nothing(struct objects *o)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq_init_attr_ex srq_ex = {.attr = srq.attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = o->pd};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC, .send_cq = o->cq, .recv_cq = o->cq};
	struct ibv_qp_init_attr_ex qp_ex = {.qp_type = IBV_QPT_RC,
		.send_cq = o->cq,
		.recv_cq = o->cq,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = o->pd};
	struct ibv_cq_init_attr_ex cq_ex = {.cqe = 4};

	NO_POINTER(ibv_open_device(o->context->device));
	NO_POINTER(ibv_alloc_pd(o->context));
	NO_POINTER(ibv_reg_mr(o->pd, o->buf, 8, 0));
	NO_POINTER(ibv_alloc_mw(o->pd, IBV_MW_TYPE_2));
	NO_POINTER(ibv_create_comp_channel(o->context));
	NO_POINTER(ibv_create_cq(o->context, 4, NULL, NULL, 0));
	NO_POINTER(ibv_create_cq_ex(o->context, &cq_ex));
	NO_POINTER(ibv_create_srq(o->pd, &srq));
	NO_POINTER(ibv_create_srq_ex(o->context, &srq_ex));
	NO_POINTER(ibv_create_qp(o->pd, &qp));
	NO_POINTER(ibv_create_qp_ex(o->context, &qp_ex));
}

static void child_learns_nothing(struct objects *o)
{
	struct ibv_qp_init_attr init;
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_async_event event;
	struct ibv_srq_attr srq;
	struct ibv_qp_attr qp;
	struct ibv_cq *cq;
	union ibv_gid gid;
	void *context;

	NO_INT(ibv_query_device(o->context, &attr));
	NO_INT(ibv_query_device_ex(o->context, NULL, &ex));
	NO_INT(ibv_query_port(o->context, 1, &port));
	NO_MINUS(ibv_query_gid(o->context, 1, 0, &gid));
	NO_INT(ibv_query_qp(o->qp, &qp, IBV_QP_STATE, &init));
	NO_INT(ibv_query_srq(o->srq, &srq));
	NO_MINUS(ibv_get_async_event(o->context, &event));
	NO_MINUS(ibv_get_cq_event(o->channel, &cq, &context));
}

static void child_does_nothing(struct objects *o)
{
	struct ibv_mw_bind bind = {.bind_info = {.mr = o->mr, .addr = (uintptr_t)o->buf}};
	struct ibv_srq_attr srq = {.srq_limit = 1};
	struct ibv_recv_wr recv = {0}, *bad_recv;
	struct ibv_send_wr send = {0}, *bad_send;
	struct ibv_qp_attr qp = {.qp_state = IBV_QPS_ERR};
	struct ibv_wc wc;

	CHILD(ibv_poll_cq(o->cq, 1, &wc) < 0);
	NO_INT(ibv_req_notify_cq(o->cq, 0));
	NO_INT(ibv_resize_cq(o->cq, 100));
	NO_INT(ibv_post_send(o->qp, &send, &bad_send));
	NO_INT(ibv_post_recv(o->qp, &recv, &bad_recv));
	NO_INT(ibv_post_srq_recv(o->srq, &recv, &bad_recv));
	NO_INT(ibv_bind_mw(o->qp, o->mw, &bind));
	NO_INT(ibv_modify_qp(o->qp, &qp, IBV_QP_STATE));
	NO_INT(ibv_modify_srq(o->srq, &srq, IBV_SRQ_LIMIT));
	NO_INT(ibv_rereg_mr(o->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
}

static void child_ends_nothing(struct objects *o)
{
	NO_INT(ibv_destroy_qp(o->qp));
	NO_INT(ibv_destroy_srq(o->srq));
	NO_INT(ibv_destroy_cq(o->cq));
	NO_INT(ibv_destroy_comp_channel(o->channel));
	NO_INT(ibv_dealloc_mw(o->mw));
	NO_INT(ibv_dereg_mr(o->mr));
	NO_INT(ibv_dealloc_pd(o->pd));
	/* A descriptor of its own, in the kernel's terms: that it is closed says nothing. */
	CHILD(ibv_close_device(o->context) == 0);
}

static void child_connects_nothing(struct objects *o)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_event_channel *other;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	NO_MINUS(rdma_create_id(cm_channel, &id, NULL, RDMA_PS_TCP));
	NO_MINUS(rdma_get_cm_event(cm_channel, &ev));
	NO_MINUS(rdma_connect(o->id, &param));
	NO_MINUS(rdma_destroy_id(o->id));
	other = rdma_create_event_channel();
	CHILD(other == NULL);
	CHILD(errno == ENODEV);
}

static void in_a_child(struct objects *o)
{
	alarm(LIMIT_S); /* the parent waits */
	child_makes_nothing(o);
	child_learns_nothing(o);
	child_does_nothing(o);
	child_ends_nothing(o);
	child_connects_nothing(o);
}

static void test_what_a_child_gets(void **state)
{
	struct objects o;
	pid_t pid;

	objects_create(&o);
	pid = child_fork();
	if (pid == 0) {
		in_a_child(&o);
		CHILD(!has_device());
		_exit(0);
	}
	child_ends_well(pid);
	/* Whatever it tried: the parent has its objects as they were. */
	objects_destroy(&o);
}

/* ---- beside traffic -------------------------------------------------------------------------- */

static _Atomic bool over;

static void *visit(void *arg)
{
	while (!atomic_load(&over))
		cm_server_visit(&server);
	return NULL;
}

static void *list_devices(void *arg)
{
	while (!atomic_load(&over))
		MUST(has_device());
	return NULL;
}

static void *register_memory(void *arg)
{
	struct objects *o = arg;

	while (!atomic_load(&over)) {
		struct ibv_mr *mr = ibv_reg_mr(o->pd, o->buf, sizeof o->buf, 0);

		MUST(mr != NULL && ibv_dereg_mr(mr) == 0);
	}
	return NULL;
}

static void *poll_and_arm(void *arg)
{
	struct objects *o = arg;
	struct ibv_wc wc;

	while (!atomic_load(&over)) {
		MUST(ibv_poll_cq(o->cq, 1, &wc) == 0);
		MUST(ibv_req_notify_cq(o->cq, 0) == 0);
	}
	return NULL;
}

/*
 * Children of every kind, while everything goes on: none hangs, and nothing stops. None lists
 * devices: libibverbs has a lock of its own for that, and does not care for forks.
 */
static void test_fork_beside_traffic(void **state)
{
	static void *(*const what[])(void *) = {visit, list_devices, register_memory, poll_and_arm};
	pthread_t thread[4];
	struct objects o;

	objects_create(&o);
	cm_server_start(&server);
	atomic_store(&over, false);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, what[i], &o), 0);
	for (unsigned i = 0; i < FORKS; i++) {
		pid_t pid = child_fork();

		if (pid == 0 && i % 3 == 0)
			in_a_child(&o);
		if (pid == 0 && i % 3 == 1) {
			/* Without the preloaded library, which a sanitizer's build cannot
			 * give to just any program. */
			execle("/bin/true", "true", NULL, (char *[]){NULL});
			_exit(1);
		}
		if (pid == 0)
			_exit(0);
		child_ends_well(pid);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	cm_server_stop(&server);
	objects_destroy(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_what_a_child_gets),
		CM(test_fork_beside_traffic),
	};

	alarm(LIMIT_S);
	MUST(ibv_fork_init() == 0);
	fork_before_the_start();
	fork_before_the_use();
	fork_during_the_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
