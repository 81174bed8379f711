/* SPDX-License-Identifier: BSD-2-Clause */
/* The look-ups that the preloaded library makes, in a program that has none. */
#include "unit/provider/preloaded.h"

#include "provider/shim/shim.h"

#include <stdlib.h>

void *shim_real_dlsym(void);
void *shim_real_dlvsym(void);

static void the_real_dlsym_is_that_of_libc(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	assert_ptr_equal(shim_real_dlsym(), dlsym(libc, "dlsym"));
	assert_ptr_equal(shim_real_dlvsym(), dlsym(libc, "dlvsym"));
	assert_ptr_equal(shim_dlsym(libc, "getpid"), dlsym(libc, "getpid"));
	assert_ptr_equal(shim_dlvsym(libc, "getpid", "GLIBC_2.2.5"), dlsym(libc, "getpid"));
	assert_null(shim_dlvsym(libc, "getpid", "GLIBC_9.9"));
	assert_null(shim_dlsym(libc, "no_such_function"));
	dlclose(libc);
}

static void a_function_of_libc_is_looked_up_once(void **state)
{
	shim_slot slot = NULL;
	void *found = shim_real_libc(&slot, "write");

	assert_non_null(found);
	assert_ptr_equal(slot, found);
	/* What the slot has is the answer, whatever is asked. */
	assert_ptr_equal(shim_real_libc(&slot, "close"), found);
	slot = NULL;
	assert_null(shim_real_libc(&slot, "no_such_function"));
	assert_null(slot);
}

static void libibverbs_is_found_though_the_program_does_not_link_it(void **state)
{
	shim_slot slot = NULL;
	void *found = shim_find_verbs("ibv_open_device");

	assert_from(found, "libibverbs.so");
	assert_ptr_equal(shim_real_verbs(&slot, "ibv_open_device"), found);
	assert_ptr_equal(slot, found);
	assert_ptr_equal(shim_real_verbs(&slot, "ibv_close_device"), found);
	/* Private to rdma-core. */
	assert_from(shim_find_verbs("ibv_query_gid_type"), "libibverbs.so");
	slot = NULL;
	assert_null(shim_real_verbs(&slot, "ibv_no_such_verb"));
	assert_null(slot);
	/* The program's own scope has none of it. */
	assert_null(dlsym(RTLD_DEFAULT, "ibv_open_device"));
}

static void addresses_are_told_apart_by_their_library(void **state)
{
	void *rte = dlopen("librte_kvargs.so.23", RTLD_NOW);
	int on_stack = 0;

	assert_non_null(rte);
	assert_true(shim_in_libibverbs(shim_find_verbs("ibv_get_device_name")));
	assert_false(shim_in_libibverbs(shim_real_dlsym()));
	assert_false(shim_in_libibverbs(&on_stack));
	assert_false(shim_in_libibverbs(NULL));
	assert_true(shim_is_below(dlsym(rte, "rte_kvargs_parse")));
	assert_false(shim_is_below(shim_find_verbs("ibv_get_device_name")));
	assert_false(shim_is_below(shim_real_dlsym()));
	assert_false(shim_is_below((void *)addresses_are_told_apart_by_their_library));
	assert_false(shim_is_below(&on_stack));
	assert_false(shim_is_below(NULL));
	dlclose(rte);
}

static void our_own_library_is_below_but_the_preloaded_is_not(void **state)
{
	char path[4096];
	void *h;

	snprintf(path, sizeof path, "%s/libuiwarp.so", getenv("STUB_DIR"));
	h = dlopen(path, RTLD_NOW);
	assert_non_null(h);
	assert_true(shim_is_below(dlsym(h, "uiwarp_provider")));
	dlclose(h);
	snprintf(path, sizeof path, "%s/libuiwarp-preload.so", getenv("STUB_DIR"));
	h = dlopen(path, RTLD_NOW);
	assert_non_null(h);
	assert_false(shim_is_below(dlsym(h, "ibv_open_device")));
	dlclose(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_real_dlsym_is_that_of_libc),
		cmocka_unit_test(a_function_of_libc_is_looked_up_once),
		cmocka_unit_test(libibverbs_is_found_though_the_program_does_not_link_it),
		cmocka_unit_test(addresses_are_told_apart_by_their_library),
		cmocka_unit_test(our_own_library_is_below_but_the_preloaded_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
