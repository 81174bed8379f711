/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/eal_leftover.h"
#include "support/child_fork.h"

#include <rte_eal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char parent[] = "/tmp/uiwarp-leftover.XXXXXX";

static const char *in_parent(const char *name)
{
	static char path[sizeof parent + 64];

	snprintf(path, sizeof path, "%s/%s", parent, name);
	return path;
}

static void make(const char *name)
{
	assert_int_equal(mkdir(in_parent(name), 0700), 0);
}

static bool is_there(const char *name)
{
	return access(in_parent(name), F_OK) == 0;
}

/* The prefix of a process that has been. */
static void prefix_of_the_dead(char *buf, size_t len)
{
	pid_t child = child_fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	eal_leftover_prefix(buf, len, child);
}

static void what_the_dead_have_left_goes(void **state)
{
	char dead[32], full[32], alive[32], own[32];

	prefix_of_the_dead(dead, sizeof dead);
	make(dead);
	prefix_of_the_dead(full, sizeof full);
	make(full);
	make(strcat(full, "/in it"));
	*strchr(full, '/') = '\0';
	eal_leftover_prefix(alive, sizeof alive, getppid());
	make(alive);
	eal_leftover_prefix(own, sizeof own, getpid());
	make(own);
	make("uiwarp-");
	make("uiwarp-12x");
	make("uiwarp-99999999999999999999");
	make("rte");
	eal_leftover_remove(in_parent(own));
	assert_false(is_there(dead));
	assert_false(is_there(own));
	assert_true(is_there(full));
	assert_true(is_there(alive));
	assert_true(is_there("uiwarp-"));
	assert_true(is_there("uiwarp-12x"));
	assert_true(is_there("uiwarp-99999999999999999999"));
	assert_true(is_there("rte"));
}

static void what_is_no_directory_is_left_alone(void **state)
{
	eal_leftover_remove("");
	eal_leftover_remove("uiwarp-1");
	eal_leftover_remove("/no/such/directory");
}

/* A start cleans up behind others that were killed in theirs. */
static void a_start_removes_them(void **state)
{
	struct port_config cfg = {.device = "net_null0", .memory_mib = 8};
	struct port_error e = {""};
	char dead[32];

	assert_int_equal(mkdir(in_parent("dpdk"), 0700), 0);
	setenv("RUNTIME_DIRECTORY", parent, 1);
	memcpy(dead, "dpdk/", 5);
	prefix_of_the_dead(dead + 5, sizeof dead - 5);
	make(dead);
	assert_int_equal(eal_start(&cfg, &e), 0);
	assert_ptr_equal(strstr(rte_eal_get_runtime_dir(), parent), rte_eal_get_runtime_dir());
	assert_false(is_there(dead));
}

static int make_parent(void **state)
{
	return mkdtemp(parent) ? 0 : -1;
}

static int remove_parent(void **state)
{
	char command[sizeof parent + 16];

	snprintf(command, sizeof command, "rm -rf %s", parent);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_dead_have_left_goes),
		cmocka_unit_test(what_is_no_directory_is_left_alone),
		cmocka_unit_test(a_start_removes_them),
	};

	return cmocka_run_group_tests(tests, make_parent, remove_parent);
}
