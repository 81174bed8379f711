/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/** As the EAL makes the file of its memory. */
static void the_eal_s_file_can_be_sealed(void **state)
{
	int fd = memfd_create("nohuge", memif_file_flags(0));

	assert_return_code(fd, 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	close(fd);
}

static void huge_pages_stay_as_they_are(void **state)
{
	assert_int_equal(memif_file_flags(MFD_HUGETLB), MFD_HUGETLB);
	assert_int_equal(memif_file_flags(MFD_CLOEXEC), MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_eal_s_file_can_be_sealed),
		cmocka_unit_test(huge_pages_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
