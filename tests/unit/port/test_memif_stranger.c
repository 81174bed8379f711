/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers of a memif that do what DPDK's do not. Each is refused with a sentence, or does no harm. */
#include "memif_peer.h"

#include "dpdk-port/port_private.h"
#include "support/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SOCKET "@uiwarp-test-stranger"

static struct port *server;
static time_t end;
static char said[1024];
static int interrupts[2];
/* Of the present peer, or -1. */
static int channel = -1;

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	if (strstr(text, "peer"))
		snprintf(said, sizeof said, "%s", text);
}

static void nap(void)
{
	assert_true(time(NULL) < end);
	usleep(1000);
}

/** Until the server has its link, and has looked at what is there. */
static void watch_until_up(void)
{
	said[0] = '\0';
	while (!port_watch(server))
		nap();
}

static void leave(void)
{
	close(channel);
	channel = -1;
	while (port_watch(server))
		nap();
	assert_false(memif_link_is_open(&server->memif));
}

/** Whatever failed: the next test's peer comes alone. */
static int leave_if_there(void **state)
{
	if (channel >= 0)
		leave();
	return 0;
}

static int memory(unsigned flags, uint64_t size)
{
	int fd = memfd_create("memif", flags);

	assert_return_code(fd, 0);
	memif_peer_lay_out(fd, size);
	return fd;
}

static int sealable(void)
{
	return memory(MFD_ALLOW_SEALING, MEMIF_PEER_OCTETS);
}

static void assert_refused(const char *reason)
{
	char sentence[256];

	watch_until_up();
	assert_false(memif_link_is_open(&server->memif));
	assert_false(server->memif.by_driver);
	snprintf(sentence, sizeof sentence,
		"port net_memif0: nothing goes to this peer or comes from it: %s", reason);
	assert_string_equal(said, sentence);
	/* Once. */
	said[0] = '\0';
	assert_true(port_watch(server));
	assert_string_equal(said, "");
	/* The next that is refused is not told if it is the third, ... of many. */
	server->memif.refusals = 0;
}

/* ---- frames, for those who are not refused --------------------------------------------------- */

static struct memif_ring *ring_to_server(void)
{
	return server->memif.rx.end.ring;
}

/** The peer sends a frame of octets @p octet. */
static void peer_sends(int file, uint8_t octet)
{
	struct memif_ring *ring = ring_to_server();
	uint16_t head = atomic_load(&ring->head);
	struct memif_desc *d = &ring->desc[head % MEMIF_PEER_SLOTS];
	uint8_t frame[60];

	memset(frame, octet, sizeof frame);
	assert_int_equal(pwrite(file, frame, sizeof frame, d->offset), sizeof frame);
	d->length = sizeof frame;
	atomic_store(&ring->head, (uint16_t)(head + 1));
}

static void assert_gets(uint8_t octet)
{
	struct rte_mbuf *m = NULL;

	assert_int_equal(port_rx(server, &m, 1), 1);
	assert_int_equal(m->pkt_len, 60);
	assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), octet);
	rte_pktmbuf_free(m);
}

static void server_sends(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(server));
	struct memif_ring *ring = server->memif.tx.end.ring;
	uint16_t tail = atomic_load(&ring->tail);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), 7, 60);
	/* The peer offers a buffer, and wants to be woken. */
	atomic_store(&ring->head, (uint16_t)(tail + 1));
	atomic_store(&ring->flags, 0);
	port_tx(server, m);
	port_flush(server);
	assert_int_equal(atomic_load(&ring->tail), (uint16_t)(tail + 1));
}

static void an_honest_one_is_heard(void **state)
{
	int file = sealable();
	uint64_t n;

	channel = memif_peer_join(SOCKET, file, interrupts);
	watch_until_up();
	assert_string_equal(said, "");
	assert_true(memif_link_is_open(&server->memif));
	peer_sends(file, 1);
	assert_gets(1);
	server_sends();
	assert_int_equal(read(interrupts[1], &n, sizeof n), sizeof n);
	assert_int_equal(n, 1);
	leave();
	close(file);
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/** Each has a read() or write() that waits. */
static void an_interrupt_that_is_no_eventfd(void **state)
{
	int ends[2], file = sealable();

	assert_int_equal(pipe(ends), 0);
	for (unsigned ring = 0; ring < 2; ring++)
		for (unsigned i = 0; i < 3; i++) {
			int given[2] = {interrupts[0], interrupts[1]};

			given[ring] = i < 2 ? ends[i] : file;
			channel = memif_peer_join(SOCKET, file, given);
			assert_refused("what it sends for interrupts is no eventfd");
			leave();
		}
	close(ends[0]);
	close(ends[1]);
	close(file);
}

/** One that waits, and that the peer empties and fills at the worst of moments. */
static void an_eventfd_that_waits_stops_nobody(void **state)
{
	int file = sealable(), given[2] = {eventfd(0, 0), eventfd(0, 0)};
	uint64_t full = UINT64_MAX - 1, n = 0;
	struct rte_mbuf *m;

	channel = memif_peer_join(SOCKET, file, given);
	watch_until_up();
	assert_true(memif_link_is_open(&server->memif));
	port_rx_arm(server);
	assert_int_equal(port_rx(server, &m, 1), 0);
	port_rx_woken(server);
	assert_int_equal(write(given[1], &full, sizeof full), sizeof full);
	for (unsigned i = 0; i < 3; i++)
		server_sends();
	assert_int_equal(read(given[1], &n, sizeof n), sizeof n);
	assert_true(n >= full);
	leave();
	close(given[0]);
	close(given[1]);
	close(file);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void what_can_be_sealed_is(void **state)
{
	int file = sealable();

	channel = memif_peer_join(SOCKET, file, interrupts);
	watch_until_up();
	assert_true(memif_link_is_open(&server->memif));
	assert_int_equal(ftruncate(file, 0), -1);
	assert_int_equal(errno, EPERM);
	leave();
	close(file);
}

static int in_directory(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		memif_peer_lay_out(fd, MEMIF_PEER_OCTETS);
	return fd;
}

static void memory_that_cannot_be_sealed(void **state)
{
	int files[] = {memory(0, MEMIF_PEER_OCTETS), sealable(), in_directory("/dev/shm"),
		in_directory("/tmp")};

	assert_int_equal(fcntl(files[1], F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (files[i] < 0)
			continue; /* a file system without such files */
		channel = memif_peer_join(SOCKET, files[i], interrupts);
		assert_refused(
			"its memory is in a file that cannot be sealed, so it might end under "
			"us");
		leave();
		close(files[i]);
	}
}

/** Huge pages can be sealed, but a hole in them may find none to be filled by. */
static void memory_of_huge_pages(void **state)
{
	int file = memfd_create("memif", MFD_ALLOW_SEALING | MFD_HUGETLB);
	struct stat st;
	void *page;

	if (file < 0 || fstat(file, &st))
		skip();
	page = mmap(NULL, (size_t)st.st_blksize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		close(file);
	if (page == MAP_FAILED)
		skip(); /* the machine has none */
	munmap(page, (size_t)st.st_blksize);
	memif_peer_lay_out(file, (uint64_t)st.st_blksize);
	channel = memif_peer_join(SOCKET, file, interrupts);
	assert_refused("its memory is in a file that cannot be sealed, so it might end under us");
	leave();
	close(file);
}

/** Holes all of it, but for the rings; one file, and several together. */
static void memory_without_an_end(void **state)
{
	static const uint64_t sizes[][2] = {{UINT64_C(1) << 40}, {MEMIF_REGIONS_BYTES_MAX + 1},
		{UINT64_C(3) << 29, UINT64_C(3) << 29}};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int files[2] = {memory(MFD_ALLOW_SEALING, sizes[i][0]), -1};

		channel = memif_peer_open(SOCKET);
		memif_peer_add_region(channel, 0, files[0], MEMIF_PEER_OCTETS);
		if (sizes[i][1]) {
			files[1] = memory(MFD_ALLOW_SEALING, sizes[i][1]);
			memif_peer_add_region(channel, 1, files[1], MEMIF_PEER_OCTETS);
		}
		memif_peer_add_ring(channel, true, MEMIF_PEER_TO_SERVER, interrupts[0]);
		memif_peer_add_ring(channel, false, MEMIF_PEER_TO_CLIENT, interrupts[1]);
		assert_true(memif_peer_connect(channel));
		assert_refused("its memory is larger than any that DPDK makes, 2 GiB and 1 MiB");
		leave();
		close(files[0]);
		if (files[1] >= 0)
			close(files[1]);
	}
}

static void a_large_file_is_not_filled(void **state)
{
	int file = memory(MFD_ALLOW_SEALING, UINT64_C(1) << 30);
	struct stat st;

	channel = memif_peer_join(SOCKET, file, interrupts);
	watch_until_up();
	assert_true(memif_link_is_open(&server->memif));
	assert_int_equal(fstat(file, &st), 0);
	assert_true((uint64_t)st.st_blocks * 512 <= MEMIF_REGIONS_POPULATED_MAX);
	leave();
	close(file);
}

static void memory_of_no_length(void **state)
{
	int file = sealable(), empty = memfd_create("memif", MFD_ALLOW_SEALING);

	channel = memif_peer_open(SOCKET);
	memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
	memif_peer_add_region(channel, 1, empty, 4096);
	memif_peer_add_ring(channel, true, MEMIF_PEER_TO_SERVER, interrupts[0]);
	memif_peer_add_ring(channel, false, MEMIF_PEER_TO_CLIENT, interrupts[1]);
	assert_true(memif_peer_connect(channel));
	assert_refused("its rings or buffers are not as the protocol has them");
	leave();
	close(file);
	close(empty);
}

/* ---- what is not there ----------------------------------------------------------------------- */

/** Nothing of it is left to the driver, which would believe what comes later. */
static void who_sends_too_little(void **state)
{
	static const char reason[] = "its rings or buffers are not as the protocol has them";
	int file = sealable();

	for (unsigned steps = 0; steps < 4; steps++) {
		channel = memif_peer_open(SOCKET);
		if (steps > 0)
			memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
		if (steps == 2)
			memif_peer_add_ring(channel, true, MEMIF_PEER_TO_SERVER, interrupts[0]);
		if (steps == 3)
			memif_peer_add_ring(channel, false, MEMIF_PEER_TO_CLIENT, interrupts[1]);
		assert_true(memif_peer_connect(channel));
		assert_refused(reason);
		leave();
	}
	close(file);
}

/** With the same file, of the same rings, and without a watch in between: all begins anew. */
static void who_comes_back_unseen_begins_anew(void **state)
{
	int file = sealable();

	channel = memif_peer_join(SOCKET, file, interrupts);
	watch_until_up();
	for (uint8_t i = 0; i < 5; i++) {
		peer_sends(file, i);
		assert_gets(i);
	}
	assert_int_equal(server->memif.rx.slot, 5);
	close(channel);
	channel = memif_peer_join(SOCKET, file, interrupts);
	watch_until_up();
	assert_true(memif_link_is_open(&server->memif));
	peer_sends(file, 77);
	assert_gets(77);
	assert_int_equal(server->memif.rx.slot, 1);
	leave();
	close(file);
}

static int setup(void **state)
{
	static const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_WARNING};
	struct port_config cfg = {
		.device = "net_memif0,role=server,socket=" SOCKET, .memory_mib = 8, .log = &sink};
	struct port_error e = {""};

	end = time(NULL) + LIMIT_S;
	interrupts[0] = eventfd(0, EFD_NONBLOCK);
	interrupts[1] = eventfd(0, EFD_NONBLOCK);
	if (port_open(&cfg, &server, &e))
		fail_msg("%s", e.text);
	return 0;
}

static int teardown(void **state)
{
	port_close(server);
	close(interrupts[0]);
	close(interrupts[1]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_honest_one_is_heard, leave_if_there),
		cmocka_unit_test_teardown(an_interrupt_that_is_no_eventfd, leave_if_there),
		cmocka_unit_test_teardown(an_eventfd_that_waits_stops_nobody, leave_if_there),
		cmocka_unit_test_teardown(what_can_be_sealed_is, leave_if_there),
		cmocka_unit_test_teardown(memory_that_cannot_be_sealed, leave_if_there),
		cmocka_unit_test_teardown(memory_of_huge_pages, leave_if_there),
		cmocka_unit_test_teardown(memory_without_an_end, leave_if_there),
		cmocka_unit_test_teardown(a_large_file_is_not_filled, leave_if_there),
		cmocka_unit_test_teardown(memory_of_no_length, leave_if_there),
		cmocka_unit_test_teardown(who_sends_too_little, leave_if_there),
		cmocka_unit_test_teardown(who_comes_back_unseen_begins_anew, leave_if_there),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
