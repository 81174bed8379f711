/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/device_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static char why[256];

static void assert_wrong(const char *device, const char *word)
{
	why[0] = '\0';
	assert_false(device_args_check(device, why, sizeof why));
	if (!strstr(why, word))
		fail_msg("\"%s\" has no word of \"%s\"", why, word);
}

static void assert_right(const char *device)
{
	if (!device_args_check(device, why, sizeof why))
		fail_msg("%s: %s", device, why);
}

static void what_drivers_know(void **state)
{
	assert_right("net_memif0,role=server,socket=/tmp/a=b.sock,socket-abstract=no");
	assert_right("net_memif0");
	assert_right("net_memif");
	assert_right("net_memif12,id=3,bsize=4096,rsize=11,mac=02:00:00:00:00:01,secret=x");
	assert_right("net_memif0,zero-copy=yes,owner-uid=0,owner-gid=0");
	assert_right("net_af_packet0,iface=eth1,framesz=16384,blocksz=65536,framecnt=512");
	assert_right("net_tap0,iface=uiw0,mac=fixed");
	assert_right("net_null0,no-rx=1");
}

static void typing_errors(void **state)
{
	assert_wrong(
		"net_memif0,rol=server", "it has no argument \"rol\"; expected one of id role");
	assert_wrong("net_memif0,role=server,sockets=/tmp/x", "\"sockets\"");
	assert_wrong("net_memif0,role=server,socket", "\"socket\" has no value");
	assert_wrong("net_memif0,role", "\"role\" has no value");
	assert_wrong("net_memif0, role=server", "\" role\"");
	assert_wrong("net_memif0,,role=server", "\"\" has no value");
	assert_wrong("net_memif0,role=server,", "\"\" has no value");
	assert_wrong("net_memif0,Role=server", "\"Role\"");
	assert_wrong("net_memif0,=server", "\"\"");
	assert_wrong("net_af_packet0,interface=eth1", "expected one of iface qpairs");
	/* Nothing of a key's length, nor of a longer one's front, will do. */
	assert_wrong("net_memif0,socket-abstrac=no", "socket-abstract");
	assert_wrong("net_memif0,id role=1", "\"id role\"");
}

/** The front of the name tells which driver it is; it may be the old one. */
static void other_names(void **state)
{
	assert_wrong("net_memifx0,rol=server", "no argument \"rol\"");
	assert_wrong("net_memif_left,role=serve", "role is \"serve\"");
	assert_wrong("eth_af_packet0,interface=eth1", "expected one of iface qpairs");
	assert_wrong("eth_af_packet0", "such as eth_af_packet0,iface=eth1");
	assert_wrong("eth_tap0,ifaces=uiw0", "expected one of iface remote");
	assert_wrong("eth_null0,sizes=64", "expected one of size copy");
	assert_wrong("eth_ring0,x=1", "expected one of nodeaction");
	assert_wrong("eth_pcap0,rx=x", "expected one of rx_pcap");
	assert_right("eth_af_packet0,iface=eth1");
	assert_right("net_tap_left,iface=uiw0");
}

/** The frames lie in the memory of the client, who offers it. */
static void zero_copy_is_the_clients(void **state)
{
	assert_right("net_memif0,zero-copy=yes");
	assert_right("net_memif0,role=client,zero-copy=yes");
	assert_right("net_memif0,zero-copy=yes,role=slave");
	assert_right("net_memif0,role=server,zero-copy=no");
	assert_wrong("net_memif0,role=server,zero-copy=yes",
		"zero-copy=yes is for the other end, with role=client");
	assert_wrong("net_memif0,zero-copy=yes,role=master,id=1", "role=client");
}

/** The sentence says what to write. */
static void values(void **state)
{
	assert_wrong("net_memif0,role=serve,socket=/tmp/x",
		"role is \"serve\"; expected server (the end that is started first) or client");
	assert_wrong("net_memif0,socket=/tmp/x,role=servers", "\"servers\"");
	assert_wrong("net_memif0,role=", "\"\"");
	assert_right("net_memif0,role=client");
	assert_right("net_memif0,role=master");
	assert_right("net_memif0,socket=/tmp/x,role=slave");
	assert_wrong("net_af_packet0", "such as net_af_packet0,iface=eth1");
	assert_wrong("net_af_packet1,framesz=4096", "such as net_af_packet1,iface=eth1");
	assert_wrong("net_af_xdp0", "such as net_af_xdp0,iface=eth1");
	assert_wrong("eth1", "write port = net_af_packet0,iface=eth1");
	assert_wrong("enp3s0f1", "write port = net_af_packet0,iface=enp3s0f1");
	assert_wrong("lo", "iface=lo");
	assert_wrong("kernl", "for the host's own TCP port = kernel");
	assert_right("some thing");
	assert_right("eth_null0");
	assert_right("0000:03:00.0");
}

/** Of more than one queue the others would be read by nobody. */
static void one_queue(void **state)
{
	assert_right("net_af_packet0,iface=eth1,qpairs=1");
	assert_right("net_af_packet0,iface=eth1,qpairs=0"); /* its driver refuses that */
	assert_wrong("net_af_packet0,iface=eth1,qpairs=2", "expected qpairs=1, or none");
	assert_wrong("net_af_packet0,qpairs=16,iface=eth1,framesz=4096", "qpairs=1");
	assert_wrong("net_af_packet0,qpairs=1,iface=eth1,qpairs=2", "qpairs=1");
	assert_wrong("eth_af_packet0,iface=eth1,qpairs=2", "qpairs=1");
	assert_wrong("net_af_packet_left,iface=eth1,qpairs=2", "qpairs=1");
}

static void a_long_one_is_cut(void **state)
{
	char device[2048] = "net_memif0,";

	memset(device + 11, 'x', sizeof device - 12);
	assert_wrong(device, "\"xxxx");
	assert_in_range(strlen(why), 60, sizeof why - 1);
}

/* Their drivers say what they want. */
static void others_pass(void **state)
{
	assert_right("0000:03:00.0,anything=1");
	assert_right("net_virtio_user0,path=/dev/vhost-net");
	assert_right("");
	assert_right(",");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_drivers_know),
		cmocka_unit_test(typing_errors),
		cmocka_unit_test(other_names),
		cmocka_unit_test(zero_copy_is_the_clients),
		cmocka_unit_test(values),
		cmocka_unit_test(one_queue),
		cmocka_unit_test(a_long_one_is_cut),
		cmocka_unit_test(others_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
