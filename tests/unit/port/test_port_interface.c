/* SPDX-License-Identifier: BSD-2-Clause */
/* A port over an interface of the kernel's, whose carrier goes and comes, or that is deleted. */
#include "dpdk-port/carrier.h"
#include "dpdk-port/port_private.h"
#include "support/limit.h"
#include "support/wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Linux 5.0 */
#ifndef TUNSETCARRIER
#define TUNSETCARRIER _IOW('T', 226, int)
#endif

static time_t end;

static void nap(void)
{
	assert_true(time(NULL) < end);
	usleep(1000);
}

static struct port *open_port(const char *driver, const char *interface)
{
	char device[64];
	struct port_config cfg = {.device = device, .memory_mib = 8};
	struct port_error e = {""};
	struct port *p = NULL;

	snprintf(device, sizeof device, "%s,iface=%s", driver, interface);
	if (port_open(&cfg, &p, &e) != 0)
		fail_msg("%s", e.text);
	return p;
}

/** A TAP that lives as long as the descriptor. @param name is completed. */
static int make_tap(char name[IFNAMSIZ], short flags)
{
	struct ifreq r = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | flags)};
	int fd = open("/dev/net/tun", O_RDWR);

	/* Tests run without root too. */
	if (fd < 0 || geteuid() != 0)
		skip();
	memcpy(r.ifr_name, "uiwi%d", 7);
	assert_return_code(ioctl(fd, TUNSETIFF, &r), errno);
	memcpy(name, r.ifr_name, IFNAMSIZ);
	return fd;
}

static void set_up(const char *name, bool up)
{
	struct ifreq r = {.ifr_flags = up ? IFF_UP : 0};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memcpy(r.ifr_name, name, IFNAMSIZ);
	assert_return_code(ioctl(fd, SIOCSIFFLAGS, &r), errno);
	close(fd);
}

static void set_carrier(int tap, int on)
{
	if (ioctl(tap, TUNSETCARRIER, &on))
		skip();
}

/** /sys may be another network namespace's. */
static bool sysfs_has(const char *name)
{
	int fd = carrier_open_downs(name, if_nametoindex(name));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void wait_until_up(struct port *p)
{
	while (!port_watch(p))
		nap();
}

/** A port over an interface that is up, as soon as its link is. */
static struct port *open_with_link(const char *driver, const char *interface)
{
	struct port *p = open_port(driver, interface);

	wait_until_up(p);
	return p;
}

/** One over @p tap whose carrier Linux counts. */
static struct port *open_with_count(int *tap)
{
	char name[IFNAMSIZ];

	*tap = make_tap(name, 0);
	set_carrier(*tap, 1);
	if (!sysfs_has(name)) {
		close(*tap);
		skip();
	}
	set_up(name, true);
	return open_with_link("net_af_packet0", name);
}

/** With the TAP its interface goes. */
static void close_with_tap(struct port *p, int tap)
{
	port_close(p);
	close(tap);
}

/** net_ring's driver has none. */
WRAPPED int __wrap_rte_eth_tx_done_cleanup(uint16_t id, uint16_t queue, uint32_t n);

int __wrap_rte_eth_tx_done_cleanup(uint16_t id, uint16_t queue, uint32_t n)
{
	return 0;
}

/** As Linux counts in @p file. */
static void count_downs(int file, char downs)
{
	assert_int_equal(pwrite(file, &downs, 1, 0), 1);
}

/** Send until there is no room. */
static void fill(struct port *p)
{
	while (!port_backlog(p)) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

		assert_non_null(m);
		assert_non_null(rte_pktmbuf_append(m, 60));
		port_tx(p, m);
		port_flush(p);
	}
}

/** The device goes on reading and sending: so it is waited for, and its queue kept. */
static void a_link_that_has_changed_carries_all_the_same(void **state)
{
	struct port_config cfg = {.device = "net_ring0", .memory_mib = 8};
	int downs = memfd_create("downs", MFD_CLOEXEC);
	struct port_error e = {""};
	struct rte_mbuf *m;
	struct port *p;
	unsigned queued;

	assert_int_equal(port_open(&cfg, &p, &e), 0);
	p->carrier_fd = downs;
	count_downs(downs, '2');
	port_watch(p);
	wait_until_up(p);
	fill(p);
	queued = port_backlog(p);
	count_downs(downs, '4');
	assert_false(port_watch(p));
	assert_false(port_link(p, NULL));
	assert_true(port_carries(p));
	assert_true(port_settle(p));
	assert_int_equal(port_backlog(p), queued);
	assert_int_equal(port_get_stats(p)->tx_dropped, 0);
	wait_until_up(p);
	assert_int_equal(port_backlog(p), queued);
	while (port_rx(p, &m, 1) == 1)
		rte_pktmbuf_free(m);
	port_close(p);
}

/** It is told of as any that was down for longer. */
static void a_carrier_that_is_back_at_the_next_look(void **state)
{
	int tap;
	struct port *p = open_with_count(&tap);

	assert_true(port_watch(p));
	set_carrier(tap, 0);
	set_carrier(tap, 1);
	while (carrier_get(p->rx_fd, p->if_index) != CARRIER_UP)
		nap();
	assert_false(port_watch(p));
	assert_false(port_link(p, NULL));
	wait_until_up(p);
	assert_true(port_link(p, NULL));
	assert_true(port_watch(p));
	close_with_tap(p, tap);
}

static void an_interface_that_is_back_at_the_next_look(void **state)
{
	char name[IFNAMSIZ];
	int tap = make_tap(name, 0);
	struct port *p;

	set_up(name, true);
	p = open_with_link("net_af_packet0", name);
	set_up(name, false);
	set_up(name, true);
	while (carrier_get(p->rx_fd, p->if_index) != CARRIER_UP)
		nap();
	assert_false(port_watch(p));
	wait_until_up(p);
	close_with_tap(p, tap);
}

/** Each end counts once, in however many ways it is seen, and no return does. */
static void counts_the_ends_of_a_carrier(void **state)
{
	int tap;
	struct port *p = open_with_count(&tap);

	assert_int_equal(port_link_downs(p), 0);
	for (unsigned n = 1; n <= 3; n++) {
		set_carrier(tap, 0);
		port_watch(p);
		assert_int_equal(port_link_downs(p), n);
		while (port_link(p, NULL))
			nap();
		port_watch(p);
		assert_int_equal(port_link_downs(p), n);
		set_carrier(tap, 1);
		port_watch(p);
		assert_int_equal(port_link_downs(p), n);
	}
	set_carrier(tap, 0);
	set_carrier(tap, 1);
	set_carrier(tap, 0);
	set_carrier(tap, 1);
	port_watch(p);
	assert_int_equal(port_link_downs(p), 5);
	close_with_tap(p, tap);
}

/** A TAP that is set down keeps its carrier. */
static void counts_the_ends_of_an_interface(void **state)
{
	char name[IFNAMSIZ];
	int tap = make_tap(name, 0);
	struct port *p;

	set_up(name, true);
	p = open_with_link("net_af_packet0", name);
	for (unsigned n = 1; n <= 3; n++) {
		set_up(name, false);
		for (unsigned i = 0; i < 2; i++) {
			assert_false(port_watch(p));
			assert_int_equal(port_link_downs(p), n);
		}
		set_up(name, true);
		wait_until_up(p);
		assert_int_equal(port_link_downs(p), n);
	}
	close_with_tap(p, tap);
}

/** Linux counts it, and tells up to a second later that the link is down. */
static void counts_once_what_is_told_later(void **state)
{
	int downs = memfd_create("downs", MFD_CLOEXEC);
	struct port_config cfg = {.device = "net_ring0", .memory_mib = 8};
	struct port_error e = {""};
	struct port *p;

	assert_int_equal(port_open(&cfg, &p, &e), 0);
	p->carrier_fd = downs;
	wait_until_up(p);
	count_downs(downs, '2');
	for (unsigned i = 0; i < 3; i++)
		assert_false(port_watch(p));
	assert_int_equal(port_link_downs(p), 2);
	assert_int_equal(rte_eth_dev_set_link_down(p->id), 0);
	assert_false(port_link(p, NULL)); /* somebody else has seen it */
	assert_false(port_watch(p));
	assert_false(port_carries(p));
	assert_int_equal(port_link_downs(p), 2);
	assert_int_equal(rte_eth_dev_set_link_up(p->id), 0);
	wait_until_up(p);
	count_downs(downs, '0'); /* as of an interface that is gone */
	port_watch(p);
	assert_int_equal(port_link_downs(p), 2);
	assert_int_equal(rte_eth_dev_set_link_down(p->id), 0);
	port_watch(p);
	assert_int_equal(port_link_downs(p), 3);
	port_close(p);
}

/** What was the carrier's before the port was there is not told of. */
static void a_carrier_that_was_back_before(void **state)
{
	char name[IFNAMSIZ];
	int tap = make_tap(name, 0);
	struct port *p;

	set_up(name, true);
	set_carrier(tap, 0);
	set_carrier(tap, 1);
	p = open_with_link("net_af_packet0", name);
	for (unsigned i = 0; i < 3; i++)
		assert_true(port_watch(p));
	close_with_tap(p, tap);
}

static void a_carrier_that_stays_away(void **state)
{
	char name[IFNAMSIZ];
	int tap = make_tap(name, 0);
	struct port *p;

	set_carrier(tap, 1);
	set_up(name, true);
	p = open_with_link("net_af_packet0", name);
	set_carrier(tap, 0);
	while (port_link(p, NULL))
		nap();
	assert_false(port_watch(p));
	set_carrier(tap, 1);
	while (!port_link(p, NULL))
		nap();
	/* Its end was told of: it is up at once. */
	assert_true(port_watch(p));
	close_with_tap(p, tap);
}

/** As its queue is one of two, which cannot be told from each other. */
static void a_tap_without_a_descriptor_that_is_deleted(void **state)
{
	char name[IFNAMSIZ], command[64];
	int queue = make_tap(name, IFF_MULTI_QUEUE);
	struct port *p;

	assert_int_equal(fcntl(queue, F_SETFL, O_ASYNC | O_NONBLOCK), 0);
	p = open_port("net_tap0", name);
	assert_int_equal(port_rx_fd(p), -1);
	wait_until_up(p);
	assert_false(port_is_gone(p));
	snprintf(command, sizeof command, "ip link del %s", name);
	assert_int_equal(system(command), 0);
	assert_false(port_watch(p));
	assert_true(port_is_gone(p));
	close_with_tap(p, queue);
}

static int setup(void **state)
{
	end = time(NULL) + LIMIT_S;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_has_changed_carries_all_the_same),
		cmocka_unit_test(a_carrier_that_is_back_at_the_next_look),
		cmocka_unit_test(an_interface_that_is_back_at_the_next_look),
		cmocka_unit_test(counts_the_ends_of_a_carrier),
		cmocka_unit_test(counts_the_ends_of_an_interface),
		cmocka_unit_test(counts_once_what_is_told_later),
		cmocka_unit_test(a_carrier_that_was_back_before),
		cmocka_unit_test(a_carrier_that_stays_away),
		cmocka_unit_test(a_tap_without_a_descriptor_that_is_deleted),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
