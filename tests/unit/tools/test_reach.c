/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *obstacle(const char *program)
{
	char *path;
	const char *why = reach_obstacle(program, &path);

	free(path);
	return why;
}

/* On whatever processor this runs: what is built beside the library is reached. */
static void what_is_built_here_is_reached(void **state)
{
	assert_null(obstacle("/proc/self/exe"));
}

static void programs_for_other_processors_are_not(void **state)
{
	Elf64_Ehdr h = {.e_phentsize = sizeof(Elf64_Phdr), .e_machine = EM_S390};
	char name[] = "/tmp/uiw-reach.XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	assert_int_equal(write(fd, &h, sizeof h), sizeof h);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	assert_string_equal(
		obstacle(name), "is a program for another processor than the device's library");
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_built_here_is_reached),
		cmocka_unit_test(programs_for_other_processors_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
