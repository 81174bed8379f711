/* SPDX-License-Identifier: BSD-2-Clause */
/* The emulator between two ports that read and write capture files. */
#include "wan/bridge.h"

#include "base/bytes.h"

#include <pcap/pcap.h>
#include <rte_ethdev.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#define FRAMES 300u
#define MS     UINT64_C(1000000)

static char directory[] = "/tmp/uiwarp-wan-XXXXXX";
static char device[2][256];
static char said[1024];
static unsigned lines;
static uint64_t written[2]; /* frames for each port */

/* What the loop's callback looks at. */
static struct {
	struct wan_bridge *bridge;
	uint64_t expected[2]; /* frames out before the end */
	uint64_t first_seen;  /* when the first was out, ns */
	unsigned ticks;
} run;

static volatile sig_atomic_t stop;

static void log_line(void *ctx, enum log_level level, const char *text)
{
	snprintf(said, sizeof said, "%s", text);
	lines++;
}

static const struct log_sink sink = {log_line, NULL, LOG_LEVEL_WARNING};

static const char *path_of(const char *what, unsigned i)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof path[0], "%s/%s%u", directory, what, i);
	return p;
}

/* Length of frame @k of port @i: all sizes from the smallest to the largest. */
static uint32_t length(unsigned i, unsigned k)
{
	return 60 + (k * 97 + i * 13) % 1455;
}

static void fill(uint8_t *b, unsigned i, unsigned k, uint32_t len)
{
	memset(b, (int)(k * 3 + i), len);
	memset(b, 0xff, 6);
	store_be16(b + 12, 0x88b5);
	store_be32(b + 14, k);
}

/* @count frames for port @i to receive, each filled by @fill. */
static void write_frames(unsigned i, unsigned count, uint32_t (*len)(unsigned, unsigned),
	void (*filler)(uint8_t *, unsigned, unsigned, uint32_t))
{
	pcap_t *p = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *d = pcap_dump_open(p, path_of("in", i));
	static uint8_t bytes[4096];

	assert_non_null(d);
	written[i] = count;
	for (unsigned k = 0; k < count; k++) {
		struct pcap_pkthdr h = {.caplen = len(i, k), .len = len(i, k)};

		filler(bytes, i, k, h.len);
		pcap_dump((u_char *)d, &h, bytes);
	}
	pcap_dump_close(d);
	pcap_close(p);
}

/* Frames that port @i has sent are those that the other received, in order, unchanged. */
static unsigned check_frames(unsigned i)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(path_of("out", i), error);
	struct pcap_pkthdr *h;
	const u_char *bytes;
	uint8_t expected[2048];
	unsigned k = 0;

	assert_non_null(p);
	for (; pcap_next_ex(p, &h, &bytes) == 1; k++) {
		assert_int_equal(h->len, length(1 - i, k));
		fill(expected, 1 - i, k, h->len);
		assert_memory_equal(bytes, expected, h->len);
	}
	pcap_close(p);
	return k;
}

static void tick(void *ctx)
{
	uint64_t out[2];
	bool all_in = true;

	for (unsigned d = 0; d < 2; d++) {
		const struct wan_path_stats *s = wan_path_get_stats(wan_bridge_path(run.bridge, d));

		all_in &=
			s->frames_in + wan_bridge_get_stats(run.bridge, d)->oversize == written[d];
		out[d] = s->frames_out;
	}
	if (run.first_seen == 0 && out[0] + out[1] != 0)
		run.first_seen = wan_bridge_elapsed(run.bridge);
	/* Longer than anything here takes. */
	if (++run.ticks > 600 || (all_in && out[0] >= run.expected[0] && out[1] >= run.expected[1]))
		stop = 1;
}

static void carry(const struct wan_path_config *path, uint64_t a_to_b, uint64_t b_to_a)
{
	struct wan_bridge_config cfg = {
		.device = {device[0], device[1]},
		.memory_mib = 8,
		.path = {*path, *path},
		.seed = 1,
		.tick = tick,
		.log = &sink,
	};
	struct port_error e = {""};

	memset(&run, 0, sizeof run);
	run.expected[0] = a_to_b;
	run.expected[1] = b_to_a;
	stop = 0;
	lines = 0;
	if (wan_bridge_open(&cfg, &run.bridge, &e) != 0)
		fail_msg("%s", e.text);
	wan_bridge_run(run.bridge, &stop);
}

/* All buffers are back, each once: rte_mempool_avail_count() does not show more than there are. */
static void check_pool(struct rte_mempool *p, void *arg)
{
	void **all = calloc(2 * (size_t)p->size, sizeof *all);
	unsigned n = 0, cached = 0;

	assert_non_null(all);
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++)
		cached += p->local_cache[i].len;
	while (n < 2 * p->size && rte_mempool_generic_get(p, &all[n], 1, NULL) == 0)
		n++;
	rte_mempool_generic_put(p, all, n, NULL);
	free(all);
	assert_int_equal(n + cached, p->size);
}

static const struct wan_path_stats *path_stats(unsigned d)
{
	return wan_path_get_stats(wan_bridge_path(run.bridge, d));
}

static int set_up(void **state)
{
	if (mkdtemp(directory) == NULL)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		snprintf(device[i], sizeof device[i], "net_pcap%u,rx_pcap=%s,tx_pcap=%s", i,
			path_of("in", i), path_of("out", i));
	return 0;
}

static int tear_down(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		unlink(path_of("in", i));
		unlink(path_of("out", i));
	}
	return rmdir(directory);
}

static void frames_pass_both_ways_unchanged_and_in_order(void **state)
{
	write_frames(0, FRAMES, length, fill);
	write_frames(1, FRAMES / 2, length, fill);
	carry(&(struct wan_path_config){.delay = 20 * MS, .jitter = 10 * MS}, FRAMES, FRAMES / 2);
	assert_int_equal(path_stats(0)->frames_in, FRAMES);
	assert_int_equal(path_stats(0)->frames_out, FRAMES);
	assert_int_equal(path_stats(1)->frames_out, FRAMES / 2);
	rte_mempool_walk(check_pool, NULL);
	for (unsigned d = 0; d < 2; d++) {
		const struct wan_bridge_stats *s = wan_bridge_get_stats(run.bridge, d);

		assert_int_equal(s->bytes_out, path_stats(d)->bytes_in);
		assert_int_equal(s->lateness.count, path_stats(d)->frames_out);
		assert_int_equal(s->oversize + s->refused, 0);
	}
	wan_bridge_close(run.bridge);
	assert_int_equal(check_frames(1), FRAMES);
	assert_int_equal(check_frames(0), FRAMES / 2);
	assert_int_equal(lines, 0);
}

static void no_frame_comes_before_its_time(void **state)
{
	write_frames(0, 10, length, fill);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){.delay = 250 * MS}, 10, 0);
	assert_true(run.first_seen >= 250 * MS);
	wan_bridge_close(run.bridge);
	assert_int_equal(check_frames(1), 10);
}

static void what_the_path_loses_does_not_arrive(void **state)
{
	write_frames(0, FRAMES, length, fill);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){.loss = {.good = 1}}, 0, 0);
	assert_int_equal(path_stats(0)->fate[WAN_DROP_LOSS], FRAMES);
	wan_bridge_close(run.bridge);
	assert_int_equal(check_frames(1), 0);
}

/* Around 1500 octets of IP, with a tag and without. */
static uint32_t around_the_mtu(unsigned i, unsigned k)
{
	return (k % 2 == 0 ? 14 : 18) + 1500 + k / 2 % 2;
}

static void fill_tagged(uint8_t *b, unsigned i, unsigned k, uint32_t len)
{
	fill(b, i, k, len);
	if (k % 2 != 0)
		store_be16(b + 12, 0x8100);
}

static void a_tag_is_no_part_of_the_mtu(void **state)
{
	write_frames(0, 8, around_the_mtu, fill_tagged);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){.mtu = 1500}, 4, 0);
	assert_int_equal(path_stats(0)->fate[WAN_DROP_MTU], 4);
	assert_int_equal(path_stats(0)->fate[WAN_TAKEN], 4);
	assert_int_equal(wan_bridge_get_stats(run.bridge, 0)->bytes_out, 2 * (1514 + 1518));
	wan_bridge_close(run.bridge);
}

static void duplicates_arrive_twice_from_one_buffer(void **state)
{
	write_frames(0, FRAMES, length, fill);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){.duplicate = 1}, 2 * (uint64_t)FRAMES, 0);
	assert_int_equal(path_stats(0)->duplicated, FRAMES);
	assert_int_equal(
		wan_bridge_get_stats(run.bridge, 0)->bytes_out, 2 * path_stats(0)->bytes_in);
	rte_mempool_walk(check_pool, NULL);
	wan_bridge_close(run.bridge);
}

static void frames_on_the_way_at_the_end_are_let_go(void **state)
{
	write_frames(0, FRAMES, length, fill);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){.delay = 3600000 * MS}, 0, 0);
	assert_int_equal(path_stats(0)->fate[WAN_TAKEN], FRAMES);
	assert_int_equal(path_stats(0)->frames_out, 0);
	wan_bridge_close(run.bridge);
	assert_int_equal(check_frames(1), 0);
}

/* TCP over IPv4 with the sum of the pseudo header in its checksum field. */
static void fill_unfilled(uint8_t *b, unsigned i, unsigned k, uint32_t len)
{
	memset(b, 0, len);
	store_be16(b + 12, 0x0800);
	b[14] = 0x45;
	b[17] = 40;
	b[23] = 6;
	store_be32(b + 26, 0x0a000001);
	store_be32(b + 30, 0x0a000002);
	store_be16(b + 50, 0x0a00 + 0x0a00 + 3 + 6 + 20);
}

static uint32_t too_long(unsigned i, unsigned k)
{
	return k % 2 == 0 ? 1600 : 1518;
}

/* The beginning of what a kernel leaves to the segmentation of its hardware. */
static void fill_segments(uint8_t *b, unsigned i, unsigned k, uint32_t len)
{
	fill_unfilled(b, i, k, len);
	store_be16(b + 16, 40000);
}

static void segments_larger_than_the_mtu_are_dropped_and_told_of_once(void **state)
{
	write_frames(0, 10, too_long, fill_segments);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){0}, 5, 0);
	assert_int_equal(wan_bridge_get_stats(run.bridge, 0)->oversize, 5);
	assert_int_equal(path_stats(0)->frames_in, 5);
	wan_bridge_close(run.bridge);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, "frames larger than its MTU"));
	assert_non_null(strstr(said, "ethtool -K DEVICE tx off tso off gso off gro off"));
}

static void so_are_others_but_the_sentence_is_another(void **state)
{
	write_frames(0, 10, too_long, fill);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){0}, 5, 0);
	assert_int_equal(wan_bridge_get_stats(run.bridge, 0)->oversize, 5);
	wan_bridge_close(run.bridge);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, "IPv4 fragments that the kernel put together"));
}

static uint32_t bare(unsigned i, unsigned k)
{
	return 60;
}

static void missing_checksums_are_told_of_once(void **state)
{
	write_frames(0, 100, bare, fill_unfilled);
	write_frames(1, 0, length, fill);
	carry(&(struct wan_path_config){0}, 100, 0);
	wan_bridge_close(run.bridge);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, "TCP segments come without their checksums"));
	assert_non_null(strstr(said, device[0]));
}

static void tick_ten_times(void *ctx)
{
	if (++run.ticks == 10)
		stop = 1;
}

/* No more than to look for a peer at each tick: 10,000 naps are what a second has of them. */
static void memifs_that_nobody_is_at_want_no_naps(void **state)
{
	static char memif[2][256];
	struct wan_bridge_config cfg = {.device = {memif[0], memif[1]},
		.memory_mib = 8,
		.tick = tick_ten_times,
		.log = &sink};
	struct rusage before, after;
	struct port_error e = {""};

	for (unsigned i = 0; i < 2; i++)
		snprintf(memif[i], sizeof memif[i],
			"net_memif%u,role=server,id=%u,socket=%s,socket-abstract=no", i, i,
			path_of("memif", i));
	run.ticks = 0;
	stop = 0;
	if (wan_bridge_open(&cfg, &run.bridge, &e) != 0)
		fail_msg("%s", e.text);
	getrusage(RUSAGE_SELF, &before);
	wan_bridge_run(run.bridge, &stop);
	getrusage(RUSAGE_SELF, &after);
	wan_bridge_close(run.bridge);
	assert_true(after.ru_nvcsw - before.ru_nvcsw < 500);
	for (unsigned i = 0; i < 2; i++)
		unlink(path_of("memif", i));
}

int __wrap_rte_eth_link_get_nowait(uint16_t id, struct rte_eth_link *link);
int __real_rte_eth_link_get_nowait(uint16_t id, struct rte_eth_link *link);

static unsigned watches;

int __wrap_rte_eth_link_get_nowait(uint16_t id, struct rte_eth_link *link)
{
	watches++;
	return __real_rte_eth_link_get_nowait(id, link);
}

static void tick_a_thousand_times(void *ctx)
{
	if (++run.ticks == 1000)
		stop = 1;
}

/* Each is a look at what may have been said, and none at the ports. */
static void ports_are_watched_no_more_often_for_what_is_said(void **state)
{
	int wake = eventfd(1, EFD_CLOEXEC);
	struct wan_bridge_config cfg = {.device = {"net_null0,no-rx=1", "net_null1,no-rx=1"},
		.memory_mib = 8,
		.wake_fd = &wake,
		.tick = tick_a_thousand_times,
		.log = &sink};
	struct port_error e = {""};

	assert_true(wake >= 0);
	run.ticks = 0;
	stop = 0;
	if (wan_bridge_open(&cfg, &run.bridge, &e) != 0)
		fail_msg("%s", e.text);
	watches = 0;
	wan_bridge_run(run.bridge, &stop);
	assert_in_range(watches, 2, 2 + 2 * (wan_bridge_elapsed(run.bridge) / (100 * MS)));
	wan_bridge_close(run.bridge);
	close(wake);
}

static void a_port_that_does_not_open_leaves_none(void **state)
{
	struct wan_bridge_config cfg = {
		.device = {device[0], "net_af_packet9,iface=nosuchif"}, .memory_mib = 8};
	struct wan_bridge *b = NULL;

	for (int i = 0; i < 2; i++) {
		struct port_error e = {""};

		assert_true(wan_bridge_open(&cfg, &b, &e) < 0);
		assert_null(b);
		assert_non_null(strstr(e.text, "port \"net_af_packet9,iface=nosuchif\""));
	}
	/* The first can be opened again. */
	frames_pass_both_ways_unchanged_and_in_order(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_pass_both_ways_unchanged_and_in_order),
		cmocka_unit_test(no_frame_comes_before_its_time),
		cmocka_unit_test(what_the_path_loses_does_not_arrive),
		cmocka_unit_test(a_tag_is_no_part_of_the_mtu),
		cmocka_unit_test(duplicates_arrive_twice_from_one_buffer),
		cmocka_unit_test(frames_on_the_way_at_the_end_are_let_go),
		cmocka_unit_test(segments_larger_than_the_mtu_are_dropped_and_told_of_once),
		cmocka_unit_test(so_are_others_but_the_sentence_is_another),
		cmocka_unit_test(missing_checksums_are_told_of_once),
		cmocka_unit_test(memifs_that_nobody_is_at_want_no_naps),
		cmocka_unit_test(ports_are_watched_no_more_often_for_what_is_said),
		cmocka_unit_test(a_port_that_does_not_open_leaves_none),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
