/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/provider/preloaded.h"

#include "provider/shim/shim.h"

#include <sys/auxv.h>

static void a_function_is_found_where_dlsym_finds_it(void **state)
{
	static const char *const names[] = {"dlsym", "dlvsym", "open", "openat", "write", "close",
		"fstat64", "getpid", "abort", "qsort", "fork", "pthread_create", "ioctl",
		"sendmsg"};
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		/* Not through a sanitizer's own. */
		void *expected = dlsym(libc, names[i]);

		assert_non_null(expected);
		assert_ptr_equal(elf_find("libc.so", names[i]), expected);
	}
	dlclose(libc);
}

static void every_chain_of_a_table_is_walked_to_its_end(void **state)
{
	/* Of a library with some hundred symbols, so that buckets are shared; these have one
	 * version each, as elf_find() takes the first that it meets. */
	static const char *const names[] = {"ibv_reg_mr_iova", "ibv_reg_mr_iova2",
		"ibv_wc_status_str", "ibv_event_type_str", "ibv_node_type_str",
		"ibv_port_state_str", "ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps",
		"mbps_to_ibv_rate", "ibv_get_sysfs_path", "ibv_read_sysfs_file", "ibv_fork_init",
		"ibv_init_ah_from_wc", "ibv_resolve_eth_l2_from_gid", "ibv_copy_qp_attr_from_kern",
		"ibv_is_fork_initialized", "ibv_qp_to_qp_ex", "ibv_import_mr", "ibv_unimport_pd"};
	void *h = dlopen("libibverbs.so.1", RTLD_NOW);

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_ptr_equal(elf_find("libibverbs.so", names[i]), dlsym(h, names[i]));
	assert_non_null(elf_find("libibverbs.so", names[0]));
	dlclose(h);
}

static void what_is_not_there_is_not_found(void **state)
{
	assert_null(elf_find("libc.so", "no_such_function"));
	assert_null(elf_find("libc.so", ""));
	assert_null(elf_find("libc.so", "writ"));
	assert_null(elf_find("libc.so", "writexx"));
	assert_null(elf_find("libnosuch.so", "write"));
	/* Another object's function, even where it is referred to. */
	assert_null(elf_find("libcmocka.so", "malloc"));
	assert_non_null(elf_find("libcmocka.so", "_cmocka_run_group_tests"));
}

static void an_object_is_known_by_the_beginning_of_its_file_name(void **state)
{
	void *write_of_libc = elf_find("libc.so", "write");

	assert_ptr_equal(elf_find("libc.so.6", "write"), write_of_libc);
	assert_null(elf_find("libc.so.66", "write"));
	assert_null(elf_find("ibc.so", "write"));
}

/* Its table has offsets where others have addresses. */
static void the_kernel_s_own_object_can_be_searched(void **state)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	void *found = elf_find("linux-vdso.so", "__vdso_clock_gettime");

	if (base == 0)
		skip();
	if (found == NULL)
		skip(); /* an old one, with the old hash table */
	assert_in_range((uintptr_t)found, base, base + 0x4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_where_dlsym_finds_it),
		cmocka_unit_test(every_chain_of_a_table_is_walked_to_its_end),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(an_object_is_known_by_the_beginning_of_its_file_name),
		cmocka_unit_test(the_kernel_s_own_object_can_be_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
