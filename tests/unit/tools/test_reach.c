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

/* As of a checkout of that name, beside what its group may write to. */
static void a_directory_of_its_name_is_passed_over(void **state)
{
	char directory[] = "/tmp/uiw-reach.XXXXXX", name[64], path[128], *found;
	/* Where this is emulated it may be another processor's. */
	const char *why = obstacle("/bin/sh");

	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof name, "%s/sh", directory);
	assert_int_equal(mkdir(name, 0777), 0);
	assert_int_equal(chmod(name, 02777), 0);
	snprintf(path, sizeof path, "%s:/nonexistent:/bin", directory);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_ptr_equal(reach_obstacle("sh", &found), why);
	assert_string_equal(found, "/bin/sh");
	free(found);
	assert_null(obstacle(name));
	/* exec(3) has a list of its own then, and the working directory is not in it. */
	assert_int_equal(unsetenv("PATH"), 0);
	assert_int_equal(chdir(directory), 0);
	assert_ptr_equal(reach_obstacle("sh", &found), why);
	assert_string_equal(found, "/bin/sh");
	free(found);
	assert_int_equal(rmdir(name), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_built_here_is_reached),
		cmocka_unit_test(programs_for_other_processors_are_not),
		cmocka_unit_test(a_directory_of_its_name_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
