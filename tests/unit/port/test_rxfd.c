/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/rxfd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int packet_socket(unsigned ifindex)
{
	struct sockaddr_ll sll = {.sll_family = AF_PACKET,
		.sll_protocol = htons(0x88b5),
		.sll_ifindex = (int)ifindex};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0)
		return -1;
	assert_int_equal(bind(fd, (struct sockaddr *)&sll, sizeof sll), 0);
	return fd;
}

static void a_packet_socket_is_found_by_its_interface(void **state)
{
	unsigned lo = if_nametoindex("lo");
	int fd, second;

	assert_int_equal(rxfd_packet_socket(lo), -1);
	fd = packet_socket(lo);
	if (fd < 0)
		skip(); /* takes CAP_NET_RAW */
	assert_int_equal(rxfd_packet_socket(lo), fd);
	assert_int_equal(rxfd_packet_socket(lo + 100), -1);
	second = packet_socket(lo);
	assert_int_equal(rxfd_packet_socket(lo), -1);
	close(second);
	close(fd);
}

static void handle(int number)
{
}

static void a_tap_queue_is_found_and_its_signals_turned_off(void **state)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	struct rxfd_signal s;
	int fd = open("/dev/net/tun", O_RDWR);

	memcpy(ifr.ifr_name, "uiwrxfd%d", 10);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr)) {
		if (fd >= 0)
			close(fd);
		skip(); /* takes CAP_NET_ADMIN */
	}
	/* Not asynchronous: it is not the one that the driver receives on. */
	assert_int_equal(rxfd_tap_quiet(ifr.ifr_name, &s), -1);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC), 0);
	assert_int_equal(rxfd_tap_quiet("uiwother", &s), -1);
	assert_int_equal(rxfd_tap_quiet(ifr.ifr_name, &s), fd);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ASYNC | O_NONBLOCK), O_NONBLOCK);
	assert_null(s.handler);
	/* With a signal that has a handler, as the driver does it. */
	signal(SIGUSR1, handle);
	assert_int_equal(fcntl(fd, F_SETSIG, SIGUSR1), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC), 0);
	assert_int_equal(rxfd_tap_quiet(ifr.ifr_name, &s), fd);
	assert_int_equal(s.number, SIGUSR1);
	assert_ptr_equal(s.handler, handle);
	signal(SIGUSR1, SIG_DFL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_socket_is_found_by_its_interface),
		cmocka_unit_test(a_tap_queue_is_found_and_its_signals_turned_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
