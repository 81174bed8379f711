/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/priority.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void sleeps_end_when_they_should(void **state)
{
	priority_ask();
	assert_int_equal(prctl(PR_GET_TIMERSLACK), 1);
}

static void a_privileged_thread_comes_before_others(void **state)
{
	if (geteuid() != 0)
		skip();
	priority_ask();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), -10);
	/* Asked again it is no different. */
	priority_ask();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), -10);
}

/** One that its user has told to stay behind others does not overtake them. */
static void a_nice_program_stays_nice(void **state)
{
	if (geteuid() != 0)
		skip();
	setpriority(PRIO_PROCESS, 0, 15);
	priority_ask();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 5);
	setpriority(PRIO_PROCESS, 0, -15);
	priority_ask();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), -15);
}

/** Nor does one that its user has told to run when nobody else does. */
static void a_program_keeps_its_class(void **state)
{
	const struct sched_param none = {0};

	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	priority_ask();
	assert_int_equal(sched_getscheduler(0), SCHED_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps_end_when_they_should),
		cmocka_unit_test(a_privileged_thread_comes_before_others),
		cmocka_unit_test(a_nice_program_stays_nice),
		cmocka_unit_test(a_program_keeps_its_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
