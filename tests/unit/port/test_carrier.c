/* SPDX-License-Identifier: BSD-2-Clause */
/* Carriers that come and go are in tests/netns/link.sh. */
#include "dpdk-port/carrier.h"

#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void is_that_of_the_interface(void **state)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq r = {.ifr_name = "lo"};

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &r), 0);
	assert_int_equal(carrier_get(fd, if_nametoindex("lo")),
		r.ifr_flags & IFF_RUNNING ? CARRIER_UP : CARRIER_DOWN);
	assert_int_equal(carrier_get(fd, 0x7ffffff0), CARRIER_GONE);
	close(fd);
}

static void is_unknown_where_nobody_can_be_asked(void **state)
{
	int pipes[2];

	assert_int_equal(carrier_get(-1, 1), CARRIER_UNKNOWN);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(carrier_get(pipes[0], 1), CARRIER_UNKNOWN);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_that_of_the_interface),
		cmocka_unit_test(is_unknown_where_nobody_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
