/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture.h"
#include "dpdk-port/port_private.h"
#include "support/child_fork.h"
#include "support/limit.h"
#include "support/wrapped.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* net_ring gives back what is sent; net_null takes all and receives zeros without end. */
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 7};

/** Of the next port's driver; 0: its own. */
static struct rte_eth_desc_lim limits;
static bool without_segments;

int __real_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
WRAPPED int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);

int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	int r = __real_rte_eth_dev_info_get(id, info);

	if (limits.nb_seg_max)
		info->tx_desc_lim.nb_seg_max = limits.nb_seg_max;
	if (limits.nb_mtu_seg_max)
		info->tx_desc_lim.nb_mtu_seg_max = limits.nb_mtu_seg_max;
	if (without_segments)
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return r;
}

static struct port *open_port(const char *device)
{
	struct port_config cfg = {.device = device, .memory_mib = 40};
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	return p;
}

static struct rte_mbuf *frame(struct port *p, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, 64), &number, sizeof number);
	return m;
}

static uint32_t number_of(struct rte_mbuf *m)
{
	uint32_t n;

	memcpy(&n, rte_pktmbuf_mtod(m, void *), sizeof n);
	return n;
}

static void frames_go_out_at_flush_or_by_the_burst(void **state)
{
	struct port *p = open_port("net_ring0");
	struct rte_mbuf *got[64];
	unsigned n;

	assert_int_equal(port_rx(p, got, 64), 0);
	assert_false(port_has_queued(p));
	port_tx(p, frame(p, 0));
	assert_true(port_has_queued(p));
	assert_int_equal(port_rx(p, got, 64), 0);
	port_flush(p);
	assert_false(port_has_queued(p));
	assert_int_equal(port_rx(p, got, 64), 1);
	rte_pktmbuf_free(got[0]);
	for (uint32_t i = 0; i < 40; i++)
		port_tx(p, frame(p, i));
	n = port_rx(p, got, 64);
	assert_int_equal(n, 32);
	port_flush(p);
	assert_int_equal(port_rx(p, got + 32, 32), 8);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(number_of(got[i]), i);
		rte_pktmbuf_free(got[i]);
	}
	assert_int_equal(port_backlog(p), 0);
	assert_int_equal(port_get_stats(p)->tx_packets, 41);
	assert_int_equal(port_get_stats(p)->rx_packets, 41);
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), 0);
	port_close(p);
}

/** What is queued by now has left when @p n frames have been taken. */
static void leaves_with(struct port *p, unsigned n)
{
	uint32_t end = port_queue_end(p);
	struct rte_mbuf *got[32];

	for (unsigned i = 0; i < n; i++) {
		assert_false(port_is_past(p, end));
		assert_int_equal(port_rx(p, got, 1), 1);
		rte_pktmbuf_free(got[0]);
		port_flush(p);
	}
	assert_true(port_is_past(p, end));
}

static void what_is_queued_is_past_when_it_has_left(void **state)
{
	static const uint32_t at[] = {0, UINT32_MAX - 3, INT32_MAX - 3};
	struct port *p = open_port("net_ring4");
	uint32_t frames = 0;

	assert_true(port_is_past(p, port_queue_end(p)));
	while (!port_backlog(p)) {
		port_tx(p, frame(p, frames++));
		port_flush(p);
	}
	for (unsigned i = 0; i < 3; i++) {
		port_drop(p);
		p->head = p->tail = at[i];
		for (unsigned k = 0; k < 10; k++)
			port_tx(p, frame(p, frames++));
		leaves_with(p, 10);
		/* What was before, and what is not queued yet. */
		for (unsigned k = 0; k < 5; k++)
			port_tx(p, frame(p, frames++));
		assert_true(port_is_past(p, p->head));
		assert_true(port_is_past(p, p->head - 1));
		assert_true(port_is_past(p, p->tail + 1));
		assert_false(port_is_past(p, p->head + 1));
	}
	port_close(p);
}

static void a_full_port_keeps_order_and_drops_the_newest(void **state)
{
	struct port *p = open_port("net_ring1");
	struct rte_mbuf *got[32];
	uint32_t expected = 0, sent = 0;
	unsigned n;

	/* The ring holds 1023; our own queue 8192. */
	while (port_get_stats(p)->tx_dropped < 5 && sent < 12000) {
		port_tx(p, frame(p, sent++));
		port_flush(p);
	}
	assert_int_equal(port_get_stats(p)->tx_dropped, 5);
	assert_int_equal(port_backlog(p), 8192);
	sent -= 5;
	while ((n = port_rx(p, got, 32)) > 0) {
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(number_of(got[i]), expected++);
			rte_pktmbuf_free(got[i]);
		}
		port_flush(p);
	}
	assert_int_equal(expected, sent);
	assert_int_equal(port_backlog(p), 0);
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), 0);
	port_close(p);
}

/* What a driver calls when its card is pulled out: for drivers only, and so in no public header. */
extern char rte_eth_devices[];
int rte_eth_dev_callback_process(void *first, enum rte_eth_event_type event, void *ret);

static void a_port_may_be_pulled_out(void **state)
{
	struct port *p = open_port("net_null7");

	assert_int_equal(p->id, 0);
	assert_false(port_is_gone(p));
	assert_true(port_watch(p));
	rte_eth_dev_callback_process(rte_eth_devices, RTE_ETH_EVENT_INTR_RMV, NULL);
	assert_true(port_is_gone(p));
	/* Whatever its driver says. */
	for (unsigned i = 0; i < 2; i++) {
		assert_false(port_watch(p));
		assert_int_equal(port_link_downs(p), 1);
	}
	port_close(p);
}

/**
 * A memif of this run alone: the test may run several times at once, of several builds.
 * @return @p before, and the socket's name behind it.
 */
static const char *memif_of_this_run(const char *before)
{
	static char device[96];
	static pid_t run;

	if (!run) /* of who forks, not of the children */
		run = getpid();
	snprintf(device, sizeof device, "%s,socket=@uiwarp-test-port-%d", before, (int)run);
	return device;
}

static void a_link_that_is_down_keeps_nothing(void **state)
{
	struct port *p = open_port(memif_of_this_run("net_memif0,role=server"));

	assert_false(port_link(p, NULL));
	for (uint32_t i = 0; i < 10; i++)
		port_tx(p, frame(p, i));
	port_flush(p);
	assert_int_equal(port_backlog(p), 0);
	assert_int_equal(port_get_stats(p)->tx_dropped, 10);
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), 0);
	assert_int_equal(port_rx_fd(p), -1);
	port_close(p);
	/* A memif server is used again. */
	p = open_port(memif_of_this_run("net_memif0,role=server"));
	port_close(p);
}

/** In another process: be the server for one frame, once told to go. @return its pid. */
static pid_t fork_server(int go, int ready)
{
	pid_t pid = child_fork();
	struct rte_mbuf *m;
	struct port *p;
	char x;

	if (pid)
		return pid;
	alarm(LIMIT_S);
	if (read(go, &x, 1) != 1)
		_exit(1);
	p = open_port(memif_of_this_run("net_memif1,role=server"));
	if (write(ready, &x, 1) != 1)
		_exit(1);
	while (!port_rx(p, &m, 1))
		port_watch(p);
	_exit(number_of(m) != 7);
}

/** Let other threads and processes go on, which is what the caller waits for. */
static bool not_yet(bool condition, time_t end)
{
	if (condition || time(NULL) >= end)
		return false;
	sched_yield();
	return true;
}

static void a_memif_client_waits_for_its_server(void **state)
{
	time_t end = time(NULL) + LIMIT_S;
	struct port *c;
	int go[2], ready[2], status;
	pid_t server[2];
	char x;

	/* Before this process has an EAL, which does not survive a fork. */
	(void)memif_of_this_run("");
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	server[0] = fork_server(go[0], ready[1]);
	server[1] = fork_server(go[0], ready[1]);
	close(ready[1]);
	c = open_port(memif_of_this_run("net_memif1,role=client"));
	assert_false(port_watch(c));
	port_tx(c, frame(c, 1));
	port_flush(c);
	assert_int_equal(port_get_stats(c)->tx_dropped, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write(go[1], "x", 1), 1);
		assert_int_equal(read(ready[0], &x, 1), 1);
		/* The server listens, so the next look begins the handshake, which is the business
		 * of the drivers' own threads. */
		assert_false(port_watch(c));
		assert_true(c->started);
		while (not_yet(port_link(c, NULL), end))
			;
		assert_true(port_watch(c));
		port_tx(c, frame(c, 7));
		port_flush(c);
		assert_true(waitpid(-1, &status, 0) > 0);
		assert_int_equal(status, 0);
		/* It is gone; the client notices, and finds nobody when it connects again. */
		while (not_yet(!port_watch(c) && !c->started, end))
			;
		assert_false(c->started);
	}
	assert_true(server[0] > 0 && server[1] > 0);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	port_close(c);
}

static void what_is_queued_at_close_is_freed_and_the_device_reopens(void **state)
{
	for (int i = 0; i < 3; i++) {
		struct port *p = open_port("net_null0");

		for (uint32_t k = 0; k < 10; k++)
			port_tx(p, frame(p, k));
		port_close(p);
	}
}

static void caps_tell_what_the_port_is(void **state)
{
	struct port_config cfg = {.device = "net_null1", .memory_mib = 8, .mac = mac, .mtu = 1400};
	struct port_error e = {""};
	struct port *p;
	const struct port_caps *c;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	c = port_get_caps(p);
	assert_string_equal(c->driver, "net_null");
	assert_int_equal(c->mtu, 1400);
	assert_memory_equal(c->mac, mac, 6);
	assert_false(c->rx_interrupt);
	assert_true(port_link(p, NULL));
	port_close(p);
}

static void failures_say_why(void **state)
{
	static const struct {
		const char *device, *says;
		uint16_t mtu;
	} bad[] = {
		{"net_nosuchdriver0", "no driver", 0},
		{"nonsense", "\"nonsense\"", 0},
		{"net_memif5,role=client,socket=/no/such/dir/s,socket-abstract=no", "/no/such/dir",
			0},
		{"net_memif5,role=boss", "boss", 0},
		{"net_memif0,role=client", "other arguments", 0},
		{"net_af_packet0,iface=nosuchif", "nosuchif", 0},
		{"net_pcap0,rx_pcap=/no/such/file", "/no/such/file", 0},
		{"net_null0", "mtu 100", 100},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct port_config cfg = {
			.device = bad[i].device, .memory_mib = 8, .mtu = bad[i].mtu};
		struct port_error e = {""};
		struct port *p = NULL;

		assert_true(port_open(&cfg, &p, &e) < 0);
		assert_null(p);
		if (!strstr(e.text, bad[i].says) || strchr(e.text, '\n'))
			fail_msg("%s", e.text);
	}
}

/** A frame of 20 bytes each in @p n segments. */
static struct rte_mbuf *frame_in(struct port *p, unsigned n)
{
	struct rte_mbuf *first = NULL;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

		assert_non_null(m);
		memset(rte_pktmbuf_append(m, 20), (int)i, 20);
		if (first)
			assert_int_equal(rte_pktmbuf_chain(first, m), 0);
		else
			first = m;
	}
	return first;
}

/** What is sent in @p n segments leaves in as many as @p expected, with all that is in them. */
static void assert_leaves_in(struct port *p, unsigned n, unsigned expected)
{
	struct rte_mbuf *m = NULL;
	uint8_t *at;

	port_tx(p, frame_in(p, n));
	port_flush(p);
	assert_int_equal(port_rx(p, &m, 1), 1);
	assert_int_equal(m->nb_segs, expected);
	assert_int_equal(m->pkt_len, 20 * n);
	assert_int_equal(rte_pktmbuf_linearize(m), 0);
	at = rte_pktmbuf_mtod(m, uint8_t *);
	for (unsigned i = 0; i < 20 * n; i++)
		assert_int_equal(at[i], i / 20);
	rte_pktmbuf_free(m);
}

/** A driver that knows one segment only sends the bytes behind that, whatever they are. */
static void frames_leave_in_no_more_segments_than_the_driver_takes(void **state)
{
	static const struct {
		struct rte_eth_desc_lim limits;
		bool without;
		unsigned most;
	} drivers[] = {
		{.without = true, .most = 1},
		{.limits = {.nb_seg_max = 40, .nb_mtu_seg_max = 8}, .most = 8},
		{.limits = {.nb_seg_max = 4, .nb_mtu_seg_max = 8}, .most = 4},
		{.most = 20},
	};

	for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
		unsigned most = drivers[i].most;
		struct port *p;

		limits = drivers[i].limits;
		without_segments = drivers[i].without;
		p = open_port("net_ring9");
		limits = (struct rte_eth_desc_lim){0};
		without_segments = false;
		assert_leaves_in(p, most, most);
		if (most < 20)
			assert_leaves_in(p, most + 1, 1);
		assert_int_equal(port_get_stats(p)->tx_dropped, 0);
		assert_int_equal(rte_mempool_in_use_count(port_pool(p)), 0);
		port_close(p);
	}
}

static void captures_both_directions(void **state)
{
	struct port *p = open_port("net_ring2");
	char path[] = "/tmp/uiwarp-test-port-XXXXXX";
	int fd = mkstemp(path);
	struct rte_mbuf *m;
	struct capture *c;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(capture_open(path, "net_ring2", 0, NULL, &c), 0);
	port_set_capture(p, c);
	fstat(fd, &st);
	port_tx(p, frame(p, 1));
	port_flush(p);
	assert_int_equal(port_rx(p, &m, 1), 1);
	rte_pktmbuf_free(m);
	port_set_capture(p, NULL);
	port_tx(p, frame(p, 1));
	port_flush(p);
	capture_close(c);
	unlink(path);
	/* Twice a frame of 64 bytes, each in a block of 108. */
	assert_int_equal(lseek(fd, 0, SEEK_END), st.st_size + 2 * 108);
	close(fd);
	assert_int_equal(port_rx(p, &m, 1), 1);
	rte_pktmbuf_free(m);
	port_close(p);
}

/* ---- a TAP's signals ------------------------------------------------------------------------ */

#define TEST_ETHERTYPE 0x88b5 /* for local experiments (IEEE 802) */

/* What the host itself sends there is not counted. */
static bool has_received(struct port *p)
{
	struct rte_mbuf *m;
	bool found = false;

	while (port_rx(p, &m, 1) == 1) {
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

		found |= frame[12] == TEST_ETHERTYPE >> 8 && frame[13] == (TEST_ETHERTYPE & 0xff);
		rte_pktmbuf_free(m);
	}
	return found;
}

static void host_sends(const char *interface)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(interface)};
	uint8_t frame[60] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, TEST_ETHERTYPE >> 8, TEST_ETHERTYPE & 0xff};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(fd >= 0);
	assert_int_equal(sendto(fd, frame, sizeof frame, 0, (struct sockaddr *)&to, sizeof to), 60);
	close(fd);
}

/* The signal of a frame that came while the port was being opened. @return how many handle it. */
static unsigned raise_the_driver_s_signal(void)
{
	unsigned n = 0;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		struct sigaction sa;

		if (sigaction(number, NULL, &sa) != 0 || sa.sa_handler == SIG_DFL)
			continue;
		raise(number);
		n++;
	}
	return n;
}

static void a_tap_receives_although_a_signal_has_come(void **state)
{
	char device[48], name[16];
	struct port *p;

	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0)
		skip();
	snprintf(name, sizeof name, "uiwp%d", (int)getpid());
	snprintf(device, sizeof device, "net_tap0,iface=%s", name);
	p = open_port(device);
	assert_int_equal(raise_the_driver_s_signal(), 1);
	for (int i = 0; i < 3; i++) {
		assert_false(has_received(p));
		host_sends(name);
		assert_true(has_received(p));
	}
	port_close(p);
}

static void delete_interface(const char *name)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("ip", "ip", "link", "del", name, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Its descriptor polls in error without end: who sleeps on it would not sleep. */
static void a_tap_that_is_deleted_is_gone(void **state)
{
	char device[48], name[16];
	struct port *p;

	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0)
		skip();
	snprintf(name, sizeof name, "uiwg%d", (int)getpid());
	snprintf(device, sizeof device, "net_tap1,iface=%s", name);
	p = open_port(device);
	assert_true(port_watch(p));
	assert_false(port_is_gone(p));
	assert_true(port_rx_fd(p) >= 0);
	delete_interface(name);
	assert_false(port_link(p, NULL));
	assert_true(port_is_gone(p));
	assert_false(port_watch(p));
	assert_true(port_is_gone(p));
	assert_int_equal(port_rx_fd(p), -1);
	port_tx(p, frame(p, 1));
	port_flush(p);
	assert_false(port_has_queued(p));
	port_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memif_client_waits_for_its_server),
		cmocka_unit_test(frames_go_out_at_flush_or_by_the_burst),
		cmocka_unit_test(what_is_queued_is_past_when_it_has_left),
		cmocka_unit_test(a_full_port_keeps_order_and_drops_the_newest),
		cmocka_unit_test(a_port_may_be_pulled_out),
		cmocka_unit_test(a_link_that_is_down_keeps_nothing),
		cmocka_unit_test(what_is_queued_at_close_is_freed_and_the_device_reopens),
		cmocka_unit_test(caps_tell_what_the_port_is),
		cmocka_unit_test(failures_say_why),
		cmocka_unit_test(frames_leave_in_no_more_segments_than_the_driver_takes),
		cmocka_unit_test(captures_both_directions),
		cmocka_unit_test(a_tap_receives_although_a_signal_has_come),
		cmocka_unit_test(a_tap_that_is_deleted_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
