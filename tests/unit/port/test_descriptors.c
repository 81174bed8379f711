/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/descriptors.h"

#include "dpdk-port/port.h"
#include "support/open_descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct rlimit before;

/* So many descriptors can be opened from now on. */
static void leave(unsigned n)
{
	struct rlimit few = before;
	int fd[256], limit = 0;

	for (unsigned i = 0; i < n; i++)
		limit = fd[i] = dup(STDERR_FILENO);
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	few.rlim_cur = n == 0 ? 0 : (rlim_t)limit + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static int get_limit(void **state)
{
	return getrlimit(RLIMIT_NOFILE, &before);
}

static int put_limit_back(void **state)
{
	return setrlimit(RLIMIT_NOFILE, &before);
}

static void enough_are_enough(void **state)
{
	unsigned free, open = open_descriptors();

	leave(20);
	assert_int_equal(descriptors_check(20, &free), 0);
	assert_int_equal(free, 20);
	assert_int_equal(open_descriptors(), open);
}

static void one_too_few_is_told(void **state)
{
	unsigned free, open = open_descriptors();

	leave(20);
	assert_int_equal(descriptors_check(21, &free), -EMFILE);
	assert_int_equal(free, 20);
	assert_int_equal(open_descriptors(), open);
	leave(0);
	assert_int_equal(descriptors_check(1, &free), -EMFILE);
	assert_int_equal(free, 0);
}

static void the_limit_is_told(void **state)
{
	leave(0);
	assert_int_equal(descriptors_limit(), 0);
}

/* Before DPDK begins: the EAL, which begins once, is there for the next try. */
static void a_port_without_is_refused_in_one_sentence(void **state)
{
	const struct port_config cfg = {.device = "net_null0"};
	struct port_error e = {""};
	struct port *p = NULL;

	leave(DESCRIPTORS_OF_PORT - 1);
	assert_int_equal(port_open(&cfg, &p, &e), -EMFILE);
	assert_non_null(strstr(
		e.text, "port \"net_null0\": it needs 24 descriptors, of which 23 are free"));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(port_open(&cfg, &p, &e), 0);
	port_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(enough_are_enough, put_limit_back),
		cmocka_unit_test_teardown(one_too_few_is_told, put_limit_back),
		cmocka_unit_test_teardown(the_limit_is_told, put_limit_back),
		cmocka_unit_test_teardown(
			a_port_without_is_refused_in_one_sentence, put_limit_back),
	};

	return cmocka_run_group_tests(tests, get_limit, put_limit_back);
}
