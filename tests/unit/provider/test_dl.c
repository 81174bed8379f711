/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dlsym() and dlvsym() for programs that look up verbs at run time: argument "inert" without a
 * configuration, "active" with one.
 */
#include "unit/provider/stub/reach.h"
#include "unit/provider/stub/stub_next.h"

#include <pthread.h>
#include <stdlib.h>

#define OURS "libuiwarp-preload.so"
#define REAL "libibverbs.so"

/* As a program does that links no libibverbs. */
static void *handle_of_verbs(void)
{
	void *h = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	assert_non_null(h);
	return h;
}

static void everybody_finds_other_functions_as_before(void **state)
{
	void *m = dlopen("libm.so.6", RTLD_NOW);
	double (*root)(double) = (double (*)(double))dlsym(m, "sqrt");

	assert_from((void *)root, "libm.so");
	assert_true(root(49) == 7);
	assert_from(dlsym(RTLD_DEFAULT, "getpagesize"), "libc.so");
	assert_from(dlvsym(RTLD_DEFAULT, "getpagesize", "GLIBC_2.2.5"), "libc.so");
	assert_null(dlvsym(RTLD_DEFAULT, "getpagesize", "GLIBC_9.9"));
	assert_non_null(strstr(dlerror(), "getpagesize"));
	assert_null(dlsym(m, "ibv_no_such_verb"));
	assert_non_null(strstr(dlerror(), "ibv_no_such_verb"));
	assert_null(dlerror());
	dlclose(m);
}

/* The caller decides what comes next, so the real dlsym() must see the caller's own address. */
static void next_is_next_to_the_caller(void **state)
{
	assert_from(dlsym(RTLD_NEXT, "write"), OURS);
	assert_from(stub_next("write"), "libc.so");
	assert_non_null(stub_verbs());
	assert_from(stub_next("ibv_open_device"), REAL);
	assert_from(stub_next("ibv_get_device_list"), REAL);
	assert_from(dlsym(RTLD_NEXT, "ibv_open_device"), OURS);
	assert_null(stub_next("ibv_no_such_verb"));
}

static void without_a_configuration_verbs_are_the_real_ones(void **state)
{
	void *h = handle_of_verbs();

	assert_from(dlsym(h, "ibv_get_device_list"), REAL);
	assert_from(dlsym(h, "ibv_open_device"), REAL);
	assert_from(dlsym(h, "_ibv_query_gid_ex"), REAL);
	assert_from(dlvsym(h, "ibv_reg_mr", "IBVERBS_1.1"), REAL);
	dlclose(h);
	assert_false(is_mapped("libuiwarp.so"));
}

static void with_one_verbs_are_ours(void **state)
{
	void *h = handle_of_verbs();

	assert_from(dlsym(h, "ibv_get_device_list"), OURS);
	assert_from(dlsym(h, "ibv_open_device"), OURS);
	assert_from(dlsym(h, "_ibv_query_gid_ex"), OURS);
	/* What we leave to the real one, what is no verb, and what nobody has. */
	assert_from(dlsym(h, "ibv_get_device_name"), REAL);
	assert_from(dlsym(h, "stub_verbs"), REAL);
	assert_null(dlsym(h, "ibv_no_such_verb"));
	assert_non_null(strstr(dlerror(), "ibv_no_such_verb"));
	/* Ours, but this libibverbs has none. */
	assert_null(dlsym(h, "ibv_reg_mr_ex"));
	/* To look is not to use. */
	assert_false(is_mapped("libuiwarp.so"));
	dlclose(h);
}

static void a_function_that_was_looked_up_works(void **state)
{
	void *h = handle_of_verbs();
	struct ibv_device **(*get)(int *) =
		(struct ibv_device * *(*)(int *)) dlsym(h, "ibv_get_device_list");
	void (*drop)(struct ibv_device **) =
		(void (*)(struct ibv_device **))dlsym(h, "ibv_free_device_list");
	int num = 0;
	struct ibv_device **list = get(&num);

	assert_int_equal(num, 3);
	drop(list);
	assert_non_null(reach_provider());
	dlclose(h);
}

/* Another library's functions may be called as verbs are. */
static void a_verb_in_another_library_is_that_library_s(void **state)
{
	char path[4096];
	void *h;

	snprintf(path, sizeof path, "%s/libstub-verb.so", getenv("STUB_DIR"));
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(h);
	assert_from(dlsym(h, "ibv_alloc_pd"), "libstub-verb.so");
	dlclose(h);
}

static void versions_are_those_of_the_real_library(void **state)
{
	void *h = handle_of_verbs();

	assert_from(dlvsym(h, "ibv_reg_mr", "IBVERBS_1.1"), OURS);
	assert_from(dlvsym(h, "ibv_get_device_name", "IBVERBS_1.1"), REAL);
	assert_null(dlvsym(h, "ibv_reg_mr", "IBVERBS_9.9"));
	assert_non_null(strstr(dlerror(), "IBVERBS_9.9"));
	dlclose(h);
}

static void *look_up_often(void *h)
{
	for (int i = 0; i < 2000; i++)
		if (dlsym(h, "ibv_open_device") == NULL || dlsym(h, "ibv_no_such_verb") != NULL)
			return h;
	return NULL;
}

static void threads_may_look_up_at_the_same_time(void **state)
{
	void *h = handle_of_verbs(), *bad;
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, look_up_often, h), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(t[i], &bad), 0);
		assert_null(bad);
	}
	dlclose(h);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest inert[] = {
		cmocka_unit_test(everybody_finds_other_functions_as_before),
		cmocka_unit_test(next_is_next_to_the_caller),
		cmocka_unit_test(without_a_configuration_verbs_are_the_real_ones),
	};
	const struct CMUnitTest active[] = {
		cmocka_unit_test(everybody_finds_other_functions_as_before),
		cmocka_unit_test(next_is_next_to_the_caller),
		cmocka_unit_test(with_one_verbs_are_ours),
		cmocka_unit_test(a_function_that_was_looked_up_works),
		cmocka_unit_test(a_verb_in_another_library_is_that_library_s),
		cmocka_unit_test(versions_are_those_of_the_real_library),
		cmocka_unit_test(threads_may_look_up_at_the_same_time),
	};

	if (argc > 1 && strcmp(argv[1], "inert") == 0)
		return cmocka_run_group_tests(inert, NULL, NULL);
	return cmocka_run_group_tests(active, NULL, NULL);
}
