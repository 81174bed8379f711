/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor says of a port before it is opened. */
#include "tools/doctor.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static char said[4000];

static void doctor_port_say(const char *fmt, va_list ap)
{
	size_t n = strlen(said);

	vsnprintf(said + n, sizeof said - n, fmt, ap);
}

#define DOCTOR_SAYS(name)                                 \
	void name(struct doctor *d, const char *fmt, ...) \
	{                                                 \
		va_list ap;                               \
                                                          \
		va_start(ap, fmt);                        \
		doctor_port_say(fmt, ap);                 \
		va_end(ap);                               \
	}

DOCTOR_SAYS(doctor_good)
DOCTOR_SAYS(doctor_note)
DOCTOR_SAYS(doctor_wrong)
DOCTOR_SAYS(doctor_advise)

void doctor_look_at_pci(struct doctor *d, const struct doctor_pci_host *host)
{
	doctor_note(d, "looks at PCI");
}

struct doctor_pci_host doctor_pci_this_host(void)
{
	return (struct doctor_pci_host){.root = ""};
}

/** With @p port and the address that each Linux has. */
static void look_at_port(const char *port)
{
	static const uint8_t loopback[] = {127, 0, 0, 1};
	static struct config config;
	struct doctor d = {.config = &config};

	said[0] = '\0';
	config_init(&config);
	snprintf(config.port, sizeof config.port, "%s", port);
	config.num_addresses = 1;
	config.address[0].addr = ip_addr_from_v4(loopback);
	config.address[0].prefix_len = 8;
	doctor_look_at_system(&d);
}

/* The other end of a memif, or the network of a NIC, may be elsewhere. */
static void an_address_of_linux_is_free_where_it_is_not(void **state)
{
	static const char *const ports[] = {
		"net_memif0,role=server,socket=/tmp/s", "0000:03:00.0", "net_vhost0,iface=/tmp/s"};

	for (unsigned i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		look_at_port(ports[i]);
		assert_null(strstr(said, "Linux itself has our address"));
		assert_null(strstr(said, "no interface"));
	}
}

static void only_what_has_a_pci_address_is_sought_there(void **state)
{
	static const char *const others[] = {"eth1", "mlx5_0", "kernl", "net_null0"};

	for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
		look_at_port(others[i]);
		assert_null(strstr(said, "PCI"));
	}
	look_at_port("0000:03:00.0");
	assert_non_null(strstr(said, "PCI"));
	look_at_port("03:00.0,txq_inline=1");
	assert_non_null(strstr(said, "PCI"));
}

static void a_port_that_waits_is_told_of(void **state)
{
	look_at_port("net_virtio_user0,path=/tmp/s,server=1");
	assert_non_null(strstr(said, "opens when a vhost has connected"));
	look_at_port("net_virtio_user0,path=/tmp/s");
	assert_null(strstr(said, "vhost"));
}

static bool loopback_has_its_address(void)
{
	const struct sockaddr_in *a;
	struct ifaddrs *list;
	bool found = false;

	assert_int_equal(getifaddrs(&list), 0);
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		a = (const struct sockaddr_in *)i->ifa_addr;
		found = found || (a && a->sin_family == AF_INET && !strcmp(i->ifa_name, "lo") &&
					 a->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	}
	freeifaddrs(list);
	return found;
}

static void an_address_of_linux_is_wrong_beside_it(void **state)
{
	static const char *const ports[] = {
		"net_af_packet0,iface=lo", "net_tap0", "eth_tap0", "net_pcap0,iface=lo"};

	/* In a network namespace of which nobody has set it up. */
	if (!loopback_has_its_address())
		skip();
	for (unsigned i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		look_at_port(ports[i]);
		assert_non_null(strstr(said, "Linux itself has our address 127.0.0.1, on lo"));
	}
}

static void a_tap_is_made_when_it_is_opened(void **state)
{
	static const char *const ports[] = {
		"net_tap0,iface=uiw_no_such", "eth_tap0,iface=uiw_no_such"};

	for (unsigned i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		look_at_port(ports[i]);
		assert_null(strstr(said, "no interface"));
	}
	look_at_port("eth_af_packet0,iface=uiw_no_such");
	assert_non_null(strstr(said, "there is no interface \"uiw_no_such\""));
}

/* With all that a PCI device needs, DPDK has no driver for it. */
static void without_a_driver_of_dpdks_packages_are_named(void **state)
{
	static struct config config;
	struct doctor d = {.config = &config};

	config_init(&config);
	strcpy(config.port, "0000:03:00.0");
	for (unsigned i = 0; i < 2; i++) {
		said[0] = '\0';
		d.pci_is_ready = i == 1;
		doctor_explain_port(&d);
		assert_int_equal(strstr(said, "librte-meta-net") != NULL, d.pci_is_ready);
		assert_int_equal(strstr(said, "mend first") != NULL, !d.pci_is_ready);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_of_linux_is_free_where_it_is_not),
		cmocka_unit_test(an_address_of_linux_is_wrong_beside_it),
		cmocka_unit_test(only_what_has_a_pci_address_is_sought_there),
		cmocka_unit_test(a_port_that_waits_is_told_of),
		cmocka_unit_test(a_tap_is_made_when_it_is_opened),
		cmocka_unit_test(without_a_driver_of_dpdks_packages_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
