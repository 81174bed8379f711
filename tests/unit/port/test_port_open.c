/* SPDX-License-Identifier: BSD-2-Clause */
/* Each way in which a port does not open has a sentence of its own, and leaves nothing behind. */
#include "dpdk-port/pool.h"
#include "dpdk-port/port.h"

#include "support/capabilities.h"
#include "support/limit.h"
#include "support/mempool_ops.h"

#include <errno.h>
#include <pthread.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};

static unsigned pools;

static void count_pool(struct rte_mempool *mp, void *arg)
{
	pools++;
}

static unsigned count_pools(void)
{
	pools = 0;
	rte_mempool_walk(count_pool, NULL);
	return pools;
}

static struct port_config config_of(const char *device)
{
	return (struct port_config){.device = device, .memory_mib = 8};
}

static struct port *open_port(const struct port_config *cfg)
{
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(cfg, &p, &e) != 0)
		fail_msg("%s", e.text);
	return p;
}

/** Where DPDK has the choice of the error. */
#define ANY 0

/** Refused with @p error and exactly this sentence, or one that begins with it when it ends in
 * an asterisk. */
static void assert_refused(const struct port_config *cfg, int error, const char *sentence)
{
	size_t len = strlen(sentence);
	unsigned ports = rte_eth_dev_count_avail();
	unsigned before = count_pools();
	struct port_error e = {""};
	struct port *p = NULL;
	bool begins = sentence[len - 1] == '*';
	int r = port_open(cfg, &p, &e);

	assert_null(p);
	if (begins ? strncmp(e.text, sentence, len - 1) != 0 : strcmp(e.text, sentence) != 0)
		fail_msg("says: %s", e.text);
	assert_null(strchr(e.text, '\n'));
	if (error == ANY)
		assert_true(r < 0);
	else
		assert_int_equal(r, error);
	assert_int_equal(rte_eth_dev_count_avail(), ports);
	assert_int_equal(count_pools(), before);
}

static int start_the_eal(void **state)
{
	struct port_config cfg = config_of("net_null9");

	cfg.eal = "--vdev=net_null8"; /* as a PCI device, it is probed when the EAL starts */
	port_close(open_port(&cfg));
	return 0;
}

static void a_device_that_no_driver_knows(void **state)
{
	struct port_config cfg = config_of("net_nosuch0,speed=fast");

	assert_refused(&cfg, ANY,
		"port \"net_nosuch0,speed=fast\": DPDK cannot open it: no driver of its knows such "
		"a device");
	cfg.device = "";
	assert_refused(&cfg, ANY, "port \"\": DPDK cannot open it*");
	cfg.device = "some thing";
	assert_refused(&cfg, ANY,
		"port \"some thing\": DPDK cannot open it: no driver of its knows such a device");
}

static void a_long_name_is_cut_in_the_sentence(void **state)
{
	char device[400];
	struct port_config cfg = config_of(device);

	memset(device, 'x', sizeof device - 1);
	device[sizeof device - 1] = '\0';
	memcpy(device, "net_nosuch1,", 12);
	assert_refused(&cfg, ANY,
		"port \"net_nosuch1,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxx\": DPDK cannot open it*");
}

static void arguments_that_the_driver_refuses(void **state)
{
	struct port_config cfg = config_of("net_pcap7,rx_pcap=/no/such/file");

	assert_refused(&cfg, ANY,
		"port \"net_pcap7,rx_pcap=/no/such/file\": DPDK cannot open it: "
		"open_single_rx_pcap(): Couldn't open /no/such/file: *");
}

static void an_interface_that_is_not_there(void **state)
{
	struct port_config cfg = config_of("net_af_packet7,iface=nosuchif");

	assert_refused(&cfg, ANY, "port \"net_af_packet7,iface=nosuchif\": DPDK cannot open it: *");
}

/** The driver names the call that failed. */
static void what_the_process_may_not_is_named(void **state)
{
	uint32_t before = capabilities_get().effective;
	struct port_config cfg = config_of("net_af_packet6,iface=lo,framesz=2048");

	capabilities_set_effective(0);
	assert_refused(&cfg, ANY,
		"port \"net_af_packet6,iface=lo,framesz=2048\": DPDK cannot open it without the "
		"capability "
		"CAP_NET_RAW: *");
	cfg.device = "net_tap6,iface=uiwt6";
	assert_refused(&cfg, ANY,
		"port \"net_tap6,iface=uiwt6\": DPDK cannot open it without the capability "
		"CAP_NET_ADMIN: *");
	capabilities_set_effective(before);
}

static void an_mtu_out_of_the_port_s_range(void **state)
{
	struct port_config cfg = config_of("net_null7");

	cfg.mtu = 575;
	assert_refused(&cfg, -EINVAL, "port \"net_null7\": mtu 575 is not within its 576 to 65318");
	cfg.mtu = 576;
	port_close(open_port(&cfg));
	/* A buffer's size has 16 bits, of which a larger frame's would leave nothing. */
	cfg.mtu = POOL_MTU_MAX + 1;
	assert_refused(
		&cfg, -EINVAL, "port \"net_null7\": mtu 65319 is not within its 576 to 65318");
	cfg.mtu = UINT16_MAX;
	assert_refused(
		&cfg, -EINVAL, "port \"net_null7\": mtu 65535 is not within its 576 to 65318");
}

static void buffers_hold_the_largest_packets(void **state)
{
	struct port_config cfg = config_of("net_null7");
	struct rte_mbuf *m;
	struct port *p;

	cfg.mtu = POOL_MTU_MAX;
	p = open_port(&cfg);
	assert_int_equal(port_get_caps(p)->mtu, POOL_MTU_MAX);
	m = rte_pktmbuf_alloc(port_pool(p));
	assert_non_null(m);
	assert_true(rte_pktmbuf_tailroom(m) >= pool_frame_size(POOL_MTU_MAX));
	rte_pktmbuf_free(m);
	port_close(p);
}

/** What DPDK logged in a step that succeeded is not told as the reason of a later one. */
static void a_device_that_was_there_already_gets_no_false_reason(void **state)
{
	struct port_config cfg = config_of("net_null8");
	struct port_error e = {""};
	struct port *p = NULL;

	cfg.mtu = 100;
	assert_int_equal(port_open(&cfg, &p, &e), -EINVAL);
	assert_string_equal(e.text, "port \"net_null8\": mtu 100 is not within its 576 to 65318");
	/* Refused, it is gone as any other. */
	cfg.mtu = 1500;
	port_close(open_port(&cfg));
}

/* Tests run without root too: then there is no such port. */
static void an_mtu_that_the_frames_or_the_interface_cannot_carry(void **state)
{
	struct port_config cfg = config_of("net_af_packet7,iface=lo,framesz=2048");

	if (geteuid() != 0)
		skip();
	cfg.mtu = 9000;
	assert_refused(&cfg, -EINVAL,
		"port \"net_af_packet7,iface=lo,framesz=2048\": framesz=2048 is too small for mtu "
		"9000: without framesz and blocksz they follow from mtu");
	cfg.device = "net_af_packet7,iface=lo,framesz=256";
	cfg.mtu = 0;
	assert_refused(&cfg, -EINVAL,
		"port \"net_af_packet7,iface=lo,framesz=256,blocksz=4096\": its frames of "
		"framesz=256 are too small");
	cfg.device = "net_af_packet7,iface=lo";
	cfg.mtu = 65500;
	assert_refused(&cfg, -EINVAL,
		"port \"net_af_packet7,iface=lo,framesz=66560,blocksz=266240,framecnt=124\": its "
		"frames of framesz=66560 are too large");
}

static void an_af_packet_port_has_the_mtu_that_is_asked_for(void **state)
{
	const char *const devices[] = {"net_af_packet7,iface=lo",
		"net_af_packet7,iface=lo,framesz=16384,blocksz=65536",
		"eth_af_packet7,iface=lo,framesz=10000", "net_af_packet7,iface=lo,framecnt=64"};
	struct port *p;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		struct port_config cfg = config_of(devices[i]);

		cfg.mtu = 9000;
		p = open_port(&cfg);
		assert_int_equal(port_get_caps(p)->mtu, 9000);
		assert_true(
			rte_pktmbuf_data_room_size(port_pool(p)) >= 9000 + RTE_PKTMBUF_HEADROOM);
		port_close(p);
	}
	/* The interface's own, but for that of lo, which is 65536. */
	p = open_port(&(struct port_config){.device = devices[0], .memory_mib = 8});
	assert_int_equal(port_get_caps(p)->mtu, 9216);
	port_close(p);
}

static void a_memif_that_this_process_had_otherwise(void **state)
{
	struct port_config cfg = config_of("net_memif7,role=server,socket=@uiwarp-test-open");
	struct port *p = open_port(&cfg);

	port_close(p);
	cfg.device = "net_memif7,role=client,socket=@uiwarp-test-open";
	assert_refused(&cfg, -EBUSY,
		"port \"net_memif7,role=client,socket=@uiwarp-test-open\": this process had it "
		"open with other arguments: Device or resource busy");
	cfg.device = "net_memif7,role=server,socket=@uiwarp-test-open";
	port_close(open_port(&cfg));
}

static pthread_barrier_t together;

static void *close_together(void *port)
{
	pthread_barrier_wait(&together);
	port_close(port);
	return NULL;
}

/** A hundred times, as only some of them hit the moment. */
static void both_ends_of_a_memif_that_close_together(void **state)
{
	struct port_config server = config_of("net_memif5,role=server,socket=@uiwarp-test-both");
	struct port_config client = config_of("net_memif6,role=client,socket=@uiwarp-test-both");
	time_t end = time(NULL) + LIMIT_S;
	pthread_t other;

	pthread_barrier_init(&together, NULL, 2);
	for (int i = 0; i < 100; i++) {
		struct port *s = open_port(&server), *c = open_port(&client);

		/* Both, as each is told by its own handler. */
		while (!port_link(s, NULL) || !port_link(c, NULL)) {
			assert_true(time(NULL) < end);
			sched_yield();
		}
		assert_int_equal(pthread_create(&other, NULL, close_together, s), 0);
		close_together(c);
		pthread_join(other, NULL);
	}
	pthread_barrier_destroy(&together);
}

static void more_memory_than_there_is(void **state)
{
	struct port_config cfg = config_of("net_null7");

	cfg.memory_mib = 1u << 20;
	assert_refused(&cfg, -ENOMEM, "port \"net_null7\": no memory for its packet buffers: *");
}

static void a_port_that_was_refused_opens_when_it_is_asked_for_rightly(void **state)
{
	struct port_config cfg = config_of("net_null7");
	struct port *p;

	cfg.mtu = 100;
	for (int i = 0; i < 3; i++)
		assert_refused(&cfg, -EINVAL,
			"port \"net_null7\": mtu 100 is not within its 576 to 65318");
	cfg.mtu = 1400;
	cfg.mac = mac;
	p = open_port(&cfg);
	assert_int_equal(port_get_caps(p)->mtu, 1400);
	assert_memory_equal(port_get_caps(p)->mac, mac, 6);
	port_close(p);
}

/* ---- and what is said when all is well ------------------------------------------------------- */

static char said[2048];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	if (strncmp(text, "port ", 5) == 0)
		snprintf(said, sizeof said, "%d %s", (int)level, text);
}

static void a_port_that_opens_is_described_in_one_line(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_DEBUG};
	struct port_config cfg = config_of("net_null7");

	cfg.mac = mac;
	cfg.mtu = 1500;
	cfg.log = &sink;
	port_close(open_port(&cfg));
	assert_string_equal(said, "2 port net_null7: net_null, mtu 1500, 02:00:00:00:00:09");
}

static char warned[512];

static void keep_warning(void *ctx, enum log_level level, const char *text)
{
	if (level == LOG_LEVEL_WARNING)
		snprintf(warned, sizeof warned, "%s", text);
}

static void packet_buffers_in_a_ring_are_told_of(void **state)
{
	const struct log_sink sink = {.line = keep_warning, .max_level = LOG_LEVEL_DEBUG};
	struct port_config cfg = config_of("net_null7");

	cfg.log = &sink;
	port_close(open_port(&cfg));
	assert_string_equal(warned, "");
	mempool_ops_leave_out("stack");
	port_close(open_port(&cfg));
	mempool_ops_leave_out(NULL);
	assert_non_null(
		strstr(warned, "port net_null7: DPDK's mempool_stack is not in this process"));
}

static void a_dpdk_without_mempools(void **state)
{
	struct port_config cfg = config_of("net_null7");
	uint32_t all = rte_mempool_ops_table.num_ops;

	rte_mempool_ops_table.num_ops = 0;
	assert_refused(&cfg, -ENODEV,
		"port \"net_null7\": no mempool driver (DPDK's mempool_ring) for its packet "
		"buffers: *");
	rte_mempool_ops_table.num_ops = all;
	port_close(open_port(&cfg));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_no_driver_knows),
		cmocka_unit_test(a_long_name_is_cut_in_the_sentence),
		cmocka_unit_test(arguments_that_the_driver_refuses),
		cmocka_unit_test(an_interface_that_is_not_there),
		cmocka_unit_test(what_the_process_may_not_is_named),
		cmocka_unit_test(an_mtu_out_of_the_port_s_range),
		cmocka_unit_test(buffers_hold_the_largest_packets),
		cmocka_unit_test(a_device_that_was_there_already_gets_no_false_reason),
		cmocka_unit_test(an_mtu_that_the_frames_or_the_interface_cannot_carry),
		cmocka_unit_test(an_af_packet_port_has_the_mtu_that_is_asked_for),
		cmocka_unit_test(a_memif_that_this_process_had_otherwise),
		cmocka_unit_test(both_ends_of_a_memif_that_close_together),
		cmocka_unit_test(more_memory_than_there_is),
		cmocka_unit_test(a_port_that_was_refused_opens_when_it_is_asked_for_rightly),
		cmocka_unit_test(a_port_that_opens_is_described_in_one_line),
		cmocka_unit_test(packet_buffers_in_a_ring_are_told_of),
		cmocka_unit_test(a_dpdk_without_mempools),
	};

	return cmocka_run_group_tests(tests, start_the_eal, NULL);
}
