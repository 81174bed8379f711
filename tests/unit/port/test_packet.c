/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/packet.h"

#include "dpdk-port/pool.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void assert_completed(const char *device, uint16_t mtu, const char *expected)
{
	struct port_config cfg = {.device = device, .mtu = mtu};
	char out[300];

	assert_int_equal(packet_complete(&cfg, out, sizeof out), 0);
	assert_string_equal(out, expected);
}

static void frames_follow_from_the_mtu(void **state)
{
	/* With a number of frames, as that depends on what may be locked. */
	assert_completed("net_af_packet0,framecnt=64", 1500, "net_af_packet0,framecnt=64");
	assert_completed("net_af_packet0,framecnt=64", 0, "net_af_packet0,framecnt=64");
	assert_completed("net_af_packet0,framecnt=64,iface=nosuchif", 0,
		"net_af_packet0,framecnt=64,iface=nosuchif");
	assert_completed("net_af_packet0,framecnt=64", 4000,
		"net_af_packet0,framecnt=64,framesz=5120,blocksz=20480");
	assert_completed("net_af_packet0,framecnt=64", 9000,
		"net_af_packet0,framecnt=64,framesz=9216,blocksz=36864");
	/* Of lo: MTU 65536. */
	assert_completed("net_af_packet0,framecnt=64,iface=lo", 0,
		"net_af_packet0,framecnt=64,iface=lo,framesz=10240,blocksz=20480");
}

static void what_the_user_gives_stays(void **state)
{
	assert_completed("net_af_packet0,iface=lo,framesz=16384,blocksz=65536", 9000,
		"net_af_packet0,iface=lo,framesz=16384,blocksz=65536");
	assert_completed("net_af_packet0,iface=lo,blocksz=65536", 9000,
		"net_af_packet0,iface=lo,blocksz=65536");
	/* Blocks are whole pages of whole frames. */
	assert_completed("net_af_packet0,iface=lo,framesz=16384,framecnt=64", 9000,
		"net_af_packet0,iface=lo,framesz=16384,framecnt=64,blocksz=16384");
	assert_completed("net_af_packet0,framesz=10000,framecnt=512", 9000,
		"net_af_packet0,framesz=10000,framecnt=512,blocksz=2560000");
	assert_completed("net_af_packet0,framesz=0", 9000, "net_af_packet0,framesz=0");
	assert_completed("net_af_packet0,framesz=nonsense", 0, "net_af_packet0,framesz=nonsense");
	assert_completed(
		"net_af_packet0,framesz=4294967295", 0, "net_af_packet0,framesz=4294967295");
	assert_completed("net_af_packet0,=,", 0, "net_af_packet0,=,");
	assert_completed("net_af_packet0", 9000, "net_af_packet0");
}

/** Whatever the MTU: its frame fits into the ring's, and that into a packet buffer. */
static void every_mtu_fits_into_its_frames(void **state)
{
	for (unsigned mtu = 576; mtu <= 64000; mtu++) {
		struct port_config cfg = {
			.device = "net_af_packet0,framecnt=64", .mtu = (uint16_t)mtu};
		char out[100];
		unsigned size, block;
		const char *at;

		assert_int_equal(packet_complete(&cfg, out, sizeof out), 0);
		size = packet_frame_size(strchr(out, ',') + 1);
		at = strstr(out, ",blocksz=");
		block = at ? (unsigned)atoi(at + 9) : 4096;
		assert_true(packet_mtu_max(size) >= mtu);
		assert_int_equal(block % size, 0);
		assert_int_equal(block % 4096, 0);
		assert_true(packet_buffer_room(size) >= pool_frame_size((uint16_t)mtu));
		assert_true(packet_buffer_room(size) <= POOL_FRAME_MAX);
	}
}

static void too_long_is_said(void **state)
{
	struct port_config cfg = {.device = "net_af_packet0,framecnt=64", .mtu = 9000};
	char out[60];

	for (size_t len = 1; len < sizeof out; len++) {
		int r = packet_complete(&cfg, out, len);

		assert_int_equal(
			r, len > strlen("net_af_packet0,framecnt=64,framesz=9216,blocksz=36864")
				   ? 0
				   : -ENAMETOOLONG);
	}
}

static char said[300];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	snprintf(said, sizeof said, "%d %s", (int)level, text);
}

/** The limit holds for all but root: CAP_IPC_LOCK lifts it. */
static void rings_are_as_large_as_may_be_locked(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_WARNING};
	struct port_config cfg = {.device = "net_af_packet0,iface=nosuchif", .log = &sink};
	struct rlimit before, small = {65536, 65536};
	char out[100];

	if (geteuid() == 0 && seteuid(65534))
		skip();
	getrlimit(RLIMIT_MEMLOCK, &before);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &small), 0);
	assert_int_equal(packet_complete(&cfg, out, sizeof out), 0);
	setrlimit(RLIMIT_MEMLOCK, &before);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_string_equal(out, "net_af_packet0,iface=nosuchif,framecnt=16");
	assert_string_equal(said,
		"1 port net_af_packet0,iface=nosuchif: locked memory is limited to 64 KiB "
		"(ulimit -l): its rings have 16 frames instead of 512, and lose what comes faster "
		"than it is taken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_follow_from_the_mtu),
		cmocka_unit_test(what_the_user_gives_stays),
		cmocka_unit_test(every_mtu_fits_into_its_frames),
		cmocka_unit_test(too_long_is_said),
		cmocka_unit_test(rings_are_as_large_as_may_be_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
