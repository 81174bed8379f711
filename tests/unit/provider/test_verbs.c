/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which library answers which verb. Run with the preloaded library between a libibverbs and a
 * libuiwarp.so that only note their calls; argument "old": that libibverbs has hardly any verbs.
 */
#include "support/child_fork.h"
#include "unit/provider/newer.h"
#include "unit/provider/stub/reach.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type);

/* One of each, on the device that a test chooses. */
static struct {
	struct ibv_context context;
	struct ibv_pd pd;
	struct ibv_mr mr;
	struct ibv_comp_channel channel;
	struct ibv_cq cq;
	struct ibv_srq srq;
	struct ibv_qp qp;
	struct ibv_ah ah;
} o;
static struct ibv_device *ours, *theirs;

/* Only their addresses count. */
static uint8_t mac[6];
static uint16_t vid;
static char thing[6];
#define T(i) ((void *)&thing[i])

static void put_on(struct ibv_device *device)
{
	o.context.device = device;
	o.pd.context = o.mr.context = o.channel.context = o.cq.context = o.srq.context =
		o.qp.context = o.ah.context = &o.context;
}

/* ---- every verb ------------------------------------------------------------------------------ */

/* How a verb says no. */
enum kind {
	POINTER, /* NULL with errno */
	ERROR,   /* a positive errno, and errno */
	MINUS,   /* -1 with errno */
	RESULT,  /* a positive errno without errno */
	LENGTH,  /* a negative errno */
	ZERO,    /* 0 with errno: a mask */
};

/* What becomes of it on our device. */
enum ours { HERE, NOT_IWARP };

#define VERBS(V)                                                                                   \
	V(ibv_close_device, MINUS, HERE, (&o.context), A(&o.context))                              \
	V(ibv_get_async_event, MINUS, HERE, (&o.context, T(1)), A(&o.context), A(T(1)))            \
	V(ibv_query_device, ERROR, HERE, (&o.context, T(1)), A(&o.context), A(T(1)))               \
	V(ibv_query_port, ERROR, HERE, (&o.context, 3, T(1)), A(&o.context), 3, A(T(1)))           \
	V(ibv_query_gid, MINUS, HERE, (&o.context, 3, 4, T(1)), A(&o.context), 3, 4, A(T(1)))      \
	V(ibv_query_pkey, MINUS, HERE, (&o.context, 3, 4, T(1)), A(&o.context), 3, 4, A(T(1)))     \
	V(ibv_get_pkey_index, MINUS, HERE, (&o.context, 3, 5), A(&o.context), 3, 5)                \
	V(_ibv_query_gid_ex, RESULT, HERE, (&o.context, 3, 4, T(1), 5, 6), A(&o.context), 3, 4,    \
		A(T(1)), 5, 6)                                                                     \
	V(_ibv_query_gid_table, LENGTH, HERE, (&o.context, T(1), 4, 5, 6), A(&o.context), A(T(1)), \
		4, 5, 6)                                                                           \
	V(ibv_query_gid_type, MINUS, HERE, (&o.context, 3, 4, T(1)), A(&o.context), 3, 4, A(T(1))) \
	V(ibv_alloc_pd, POINTER, HERE, (&o.context), A(&o.context))                                \
	V(ibv_dealloc_pd, ERROR, HERE, (&o.pd), A(&o.pd))                                          \
	V(ibv_rereg_mr, ERROR, HERE, (&o.mr, 3, &o.pd, T(1), 5, 6), A(&o.mr), 3, A(&o.pd),         \
		A(T(1)), 5, 6)                                                                     \
	V(ibv_dereg_mr, ERROR, HERE, (&o.mr), A(&o.mr))                                            \
	V(ibv_create_comp_channel, POINTER, HERE, (&o.context), A(&o.context))                     \
	V(ibv_destroy_comp_channel, ERROR, HERE, (&o.channel), A(&o.channel))                      \
	V(ibv_get_cq_event, MINUS, HERE, (&o.channel, T(1), T(2)), A(&o.channel), A(T(1)),         \
		A(T(2)))                                                                           \
	V(ibv_create_cq, POINTER, HERE, (&o.context, 3, T(1), T(2), 4), A(&o.context), 3, A(T(1)), \
		A(T(2)), 4)                                                                        \
	V(ibv_resize_cq, ERROR, HERE, (&o.cq, 3), A(&o.cq), 3)                                     \
	V(ibv_destroy_cq, ERROR, HERE, (&o.cq), A(&o.cq))                                          \
	V(ibv_create_srq, POINTER, HERE, (&o.pd, T(1)), A(&o.pd), A(T(1)))                         \
	V(ibv_modify_srq, ERROR, HERE, (&o.srq, T(1), 3), A(&o.srq), A(T(1)), 3)                   \
	V(ibv_query_srq, ERROR, HERE, (&o.srq, T(1)), A(&o.srq), A(T(1)))                          \
	V(ibv_destroy_srq, ERROR, HERE, (&o.srq), A(&o.srq))                                       \
	V(ibv_create_qp, POINTER, HERE, (&o.pd, T(1)), A(&o.pd), A(T(1)))                          \
	V(ibv_modify_qp, ERROR, HERE, (&o.qp, T(1), 3), A(&o.qp), A(T(1)), 3)                      \
	V(ibv_query_qp, ERROR, HERE, (&o.qp, T(1), 3, T(2)), A(&o.qp), A(T(1)), 3, A(T(2)))        \
	V(ibv_query_qp_data_in_order, ZERO, HERE, (&o.qp, 3, 4), A(&o.qp), 3, 4)                   \
	V(ibv_destroy_qp, ERROR, HERE, (&o.qp), A(&o.qp))                                          \
	V(ibv_qp_to_qp_ex, POINTER, HERE, (&o.qp), A(&o.qp))                                       \
	V(ibv_reg_dmabuf_mr, POINTER, NOT_IWARP, (&o.pd, 3, 4, 5, 6, 7), A(&o.pd), 3, 4, 5, 6, 7)  \
	V(ibv_import_mr, POINTER, NOT_IWARP, (&o.pd, 3), A(&o.pd), 3)                              \
	V(ibv_import_pd, POINTER, NOT_IWARP, (&o.context, 3), A(&o.context), 3)                    \
	V(ibv_import_dm, POINTER, NOT_IWARP, (&o.context, 3), A(&o.context), 3)                    \
	V(ibv_create_ah, POINTER, HERE, (&o.pd, T(1)), A(&o.pd), A(T(1)))                          \
	V(ibv_create_ah_from_wc, POINTER, HERE, (&o.pd, T(1), T(2), 3), A(&o.pd), A(T(1)),         \
		A(T(2)), 3)                                                                        \
	V(ibv_init_ah_from_wc, MINUS, HERE, (&o.context, 3, T(1), T(2), T(3)), A(&o.context), 3,   \
		A(T(1)), A(T(2)), A(T(3)))                                                         \
	V(ibv_destroy_ah, ERROR, HERE, (&o.ah), A(&o.ah))                                          \
	V(ibv_resolve_eth_l2_from_gid, ERROR, NOT_IWARP, (&o.context, T(1), mac, &vid),            \
		A(&o.context), A(T(1)), A(mac), A(&vid))                                           \
	V(ibv_attach_mcast, ERROR, HERE, (&o.qp, T(1), 3), A(&o.qp), A(T(1)), 3)                   \
	V(ibv_detach_mcast, ERROR, HERE, (&o.qp, T(1), 3), A(&o.qp), A(T(1)), 3)                   \
	V(ibv_set_ece, ERROR, NOT_IWARP, (&o.qp, T(1)), A(&o.qp), A(T(1)))                         \
	V(ibv_query_ece, ERROR, NOT_IWARP, (&o.qp, T(1)), A(&o.qp), A(T(1)))                       \
	V(ibv_query_port_speed, ERROR, HERE, (&o.context, 3, T(1)), A(&o.context), 3, A(T(1)))     \
	V(ibv_alloc_dmah, POINTER, NOT_IWARP, (&o.context, T(1)), A(&o.context), A(T(1)))          \
	V(_ibv_query_comp_cntr_caps, ERROR, NOT_IWARP, (&o.context, T(1), 3), A(&o.context),       \
		A(T(1)), 3)                                                                        \
	V(ibv_create_comp_cntr, POINTER, NOT_IWARP, (&o.context, T(1)), A(&o.context), A(T(1)))    \
	V(ibv_qp_attach_comp_cntr, ERROR, NOT_IWARP, (&o.qp, T(1), T(2)), A(&o.qp), A(T(1)),       \
		A(T(2)))

/* The three that become one on our device, and so are looked at apart there. */
#define REGISTER(V)                                                                           \
	V(ibv_reg_mr, POINTER, HERE, (&o.pd, T(1), 4, 5), A(&o.pd), A(T(1)), 4, 5)            \
	V(ibv_reg_mr_iova, POINTER, HERE, (&o.pd, T(1), 4, 5, 6), A(&o.pd), A(T(1)), 4, 5, 6) \
	V(ibv_reg_mr_iova2, POINTER, HERE, (&o.pd, T(1), 4, 5, 6), A(&o.pd), A(T(1)), 4, 5, 6)

#define CALLER(verb, kind, where, args, ...) \
	static intptr_t call_##verb(void)    \
	{                                    \
		return (intptr_t)verb args;  \
	}
#define ROW(verb, kind, where, args, ...) {#verb, kind, where, call_##verb, {__VA_ARGS__}},

VERBS(CALLER)
REGISTER(CALLER)

struct row {
	const char *name;
	enum kind kind;
	enum ours where;
	intptr_t (*call)(void);
	uintptr_t args[STUB_MAX_ARGS];
};

/* T() and the objects are addresses, so the tables are made at run time. */
#define NUM_VERBS 51
static unsigned make_rows(struct row *rows)
{
	const struct row all[] = {VERBS(ROW) REGISTER(ROW)};

	memcpy(rows, all, sizeof all);
	return sizeof all / sizeof all[0];
}

static intptr_t refusal(enum kind kind, int error)
{
	switch (kind) {
	case ERROR:
	case RESULT:
		return error;
	case MINUS:
		return -1;
	case LENGTH:
		return -error;
	default:
		return 0;
	}
}

static void assert_refused(const struct row *r, int error)
{
	intptr_t got;

	errno = 0;
	got = r->call();
	if (got != refusal(r->kind, error))
		fail_msg("%s gives %ld", r->name, (long)got);
	if (r->kind != RESULT && r->kind != LENGTH && errno != error)
		fail_msg("%s sets errno %d, not %d", r->name, errno, error);
}

static void assert_called(const struct row *r, const struct stub *s, const char *name, int answer)
{
	intptr_t got = r->call();

	if (s->calls != 1 || strcmp(s->name, name) != 0)
		fail_msg("%s: %u calls, the last of %s", r->name, s->calls, s->name);
	if (got != answer)
		fail_msg("%s gives %ld, not %d", r->name, (long)got, answer);
	for (unsigned i = 0; i < STUB_MAX_ARGS; i++)
		if (s->args[i] != r->args[i])
			fail_msg("%s: argument %u is %lx, not %lx", r->name, i,
				(unsigned long)s->args[i], (unsigned long)r->args[i]);
}

static int find_devices(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	theirs = list[0];
	ours = list[2];
	ibv_free_device_list(list);
	return reach_provider() == NULL;
}

static void the_real_library_gets_every_call_for_its_devices(void **state)
{
	struct row rows[NUM_VERBS];
	unsigned n = make_rows(rows);

	put_on(theirs);
	assert_int_equal(n, NUM_VERBS);
	reach_provider()->stub.calls = 0;
	for (unsigned i = 0; i < n; i++) {
		stub_verbs()->calls = 0;
		assert_called(&rows[i], stub_verbs(), rows[i].name, STUB_VERBS_ANSWER);
	}
	assert_int_equal(reach_provider()->stub.calls, 0);
}

static void ours_gets_every_call_for_our_device(void **state)
{
	struct stub *s = &reach_provider()->stub;
	struct row rows[NUM_VERBS];
	unsigned n = make_rows(rows);

	put_on(ours);
	stub_verbs()->calls = 0;
	for (unsigned i = 0; i < n; i++) {
		const char *name = rows[i].name + (rows[i].name[0] == '_' ? 5 : 4);

		if (rows[i].where != HERE || strncmp(name, "reg_mr", 6) == 0)
			continue;
		s->calls = 0;
		assert_called(&rows[i], s, name, STUB_PROVIDER_ANSWER);
	}
	assert_int_equal(stub_verbs()->calls, 0);
}

static void a_registration_has_an_iova_of_its_own_or_the_address(void **state)
{
	struct stub *s = &reach_provider()->stub;

	put_on(ours);
	s->calls = 0;
	assert_ptr_equal(ibv_reg_mr(&o.pd, T(1), 4, 5), (void *)STUB_PROVIDER_ANSWER);
	assert_string_equal(s->name, "reg_mr");
	assert_memory_equal(
		s->args, ((uintptr_t[]){A(&o.pd), A(T(1)), 4, A(T(1)), 5, 0}), sizeof s->args);
	assert_ptr_equal(ibv_reg_mr_iova(&o.pd, T(1), 4, 5, 6), (void *)STUB_PROVIDER_ANSWER);
	assert_memory_equal(
		s->args, ((uintptr_t[]){A(&o.pd), A(T(1)), 4, 5, 6, 0}), sizeof s->args);
	assert_ptr_equal(ibv_reg_mr_iova2(&o.pd, T(2), 7, 8, 9), (void *)STUB_PROVIDER_ANSWER);
	assert_memory_equal(
		s->args, ((uintptr_t[]){A(&o.pd), A(T(2)), 7, 8, 9, 0}), sizeof s->args);
	assert_int_equal(s->calls, 3);
}

static void what_iwarp_has_not_is_refused_on_our_device(void **state)
{
	struct row rows[NUM_VERBS];
	unsigned n = make_rows(rows), refused = 0;

	put_on(ours);
	stub_verbs()->calls = reach_provider()->stub.calls = 0;
	for (unsigned i = 0; i < n; i++) {
		if (rows[i].where != NOT_IWARP)
			continue;
		assert_refused(&rows[i], EOPNOTSUPP);
		refused++;
	}
	assert_int_equal(refused, 11);
	assert_int_equal(stub_verbs()->calls + reach_provider()->stub.calls, 0);
}

static void what_an_old_library_has_not_is_enosys(void **state)
{
	struct row rows[NUM_VERBS];
	unsigned n = make_rows(rows);

	put_on(theirs);
	for (unsigned i = 0; i < n; i++)
		assert_refused(&rows[i], ENOSYS);
	errno = 0;
	assert_null(ibv_open_device(theirs));
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(ibv_get_device_guid(theirs), 0);
	assert_int_equal(ibv_get_device_index(theirs), -1);
}

/* ---- after a fork ---------------------------------------------------------------------------- */

/** In a child, which has no cmocka: @return the number of the first wrong verb, or 0. */
static unsigned first_wrong_in_child(void)
{
	struct row rows[NUM_VERBS];
	unsigned n = make_rows(rows);

	for (unsigned i = 0; i < n; i++) {
		int error = rows[i].where == HERE ? ENODEV : EOPNOTSUPP;
		intptr_t got;

		errno = 0;
		got = rows[i].call();
		/* It never fails. */
		if (strcmp(rows[i].name, "ibv_close_device") == 0) {
			if (got != 0)
				return i + 1;
			continue;
		}
		if (got != refusal(rows[i].kind, error) ||
			(rows[i].kind != RESULT && rows[i].kind != LENGTH && errno != error))
			return i + 1;
	}
	errno = 0;
	if (ibv_open_device(ours) != NULL || errno != ENODEV)
		return n + 1;
	return reach_provider()->stub.calls == 0 ? 0 : n + 2;
}

static void in_a_forked_child_our_device_is_gone(void **state)
{
	int status;
	pid_t pid;

	put_on(ours);
	reach_provider()->stub.calls = 0;
	pid = child_fork();
	if (pid == 0)
		_exit((int)first_wrong_in_child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* The others are there as before: the child asks the real library. */
	pid = child_fork();
	if (pid == 0) {
		int num = 0;
		struct ibv_device **list = ibv_get_device_list(&num);

		_exit(num != 2 || list[0] != theirs ||
			ibv_open_device(theirs) != (void *)STUB_VERBS_ANSWER);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void our_device_comes_after_the_real_ones(void **state)
{
	int num = 0;
	struct ibv_device **list = ibv_get_device_list(&num);

	assert_int_equal(num, 3);
	assert_string_equal(ibv_get_device_name(list[0]), "real0");
	assert_string_equal(ibv_get_device_name(list[1]), "real1");
	assert_string_equal(ibv_get_device_name(list[2]), "uiw0");
	assert_null(list[3]);
	stub_verbs()->calls = 0;
	ibv_free_device_list(list);
	assert_string_equal(stub_verbs()->name, "ibv_free_device_list");
	assert_int_equal(stub_verbs()->calls, 1);
}

/* qperf frees the list as if it were a plain block; the address comes again. */
static void a_program_may_free_the_list_itself(void **state)
{
	struct ibv_device **mine = calloc(2, sizeof *mine);

	for (int i = 0; i < 20; i++) {
		int num = 0;
		struct ibv_device **list = ibv_get_device_list(&num);

		assert_int_equal(num, 3);
		if (i % 2)
			free(list);
		else
			ibv_free_device_list(list);
	}
	/* One that is not ours goes to the real library as it is. */
	stub_verbs()->calls = 0;
	ibv_free_device_list(mine);
	assert_int_equal(stub_verbs()->calls, 1);
}

static void *list_often(void *arg)
{
	for (int i = 0; i < 500; i++) {
		int num = 0;
		struct ibv_device **list = ibv_get_device_list(&num);

		if (num != 3 || list[2] != ours)
			return arg;
		ibv_free_device_list(list);
	}
	return NULL;
}

static void threads_may_list_at_the_same_time(void **state)
{
	pthread_t t[4];
	void *bad;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, list_often, ours), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(t[i], &bad), 0);
		assert_null(bad);
	}
}

static void each_device_is_described_and_opened_by_its_library(void **state)
{
	struct stub *p = &reach_provider()->stub, *v = stub_verbs();

	p->calls = v->calls = 0;
	assert_int_equal(ibv_get_device_guid(ours), STUB_PROVIDER_ANSWER);
	assert_string_equal(p->name, "get_device_guid");
	assert_int_equal(ibv_get_device_guid(theirs), STUB_VERBS_ANSWER);
	assert_string_equal(v->name, "ibv_get_device_guid");
	assert_int_equal(ibv_get_device_index(ours), -1);
	assert_int_equal(ibv_get_device_index(theirs), STUB_VERBS_ANSWER);
	assert_ptr_equal(ibv_open_device(ours), (void *)STUB_PROVIDER_ANSWER);
	assert_ptr_equal((void *)p->args[0], ours);
	assert_ptr_equal(ibv_open_device(theirs), (void *)STUB_VERBS_ANSWER);
	assert_ptr_equal((void *)v->args[0], theirs);
	assert_int_equal(p->calls, 2);
	assert_int_equal(v->calls, 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest now[] = {
		cmocka_unit_test(the_real_library_gets_every_call_for_its_devices),
		cmocka_unit_test(ours_gets_every_call_for_our_device),
		cmocka_unit_test(a_registration_has_an_iova_of_its_own_or_the_address),
		cmocka_unit_test(what_iwarp_has_not_is_refused_on_our_device),
		cmocka_unit_test(in_a_forked_child_our_device_is_gone),
		cmocka_unit_test(our_device_comes_after_the_real_ones),
		cmocka_unit_test(a_program_may_free_the_list_itself),
		cmocka_unit_test(threads_may_list_at_the_same_time),
		cmocka_unit_test(each_device_is_described_and_opened_by_its_library),
	};
	const struct CMUnitTest old[] = {
		cmocka_unit_test(what_an_old_library_has_not_is_enosys),
		cmocka_unit_test(ours_gets_every_call_for_our_device),
		cmocka_unit_test(what_iwarp_has_not_is_refused_on_our_device),
		cmocka_unit_test(our_device_comes_after_the_real_ones),
	};

	if (argc > 1 && strcmp(argv[1], "old") == 0)
		return cmocka_run_group_tests_name("verbs, old", old, find_devices, NULL);
	return cmocka_run_group_tests_name("verbs", now, find_devices, NULL);
}
