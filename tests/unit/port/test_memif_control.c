/* SPDX-License-Identifier: BSD-2-Clause */
/* What a memif's driver is told of what its peer says. Pairs of sockets stand for channels; the
 * driver is none, and has received what passes. */
#include "dpdk-port/memif_control.h"

#include "dpdk-port/memif_ring.h"
#include "dpdk-port/memif_seal.h"
#include "memif_peer.h"
#include "support/open_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE 65536u

static struct memif_control control;
static char told[MEMIF_CONTROL_SENTENCE];
static unsigned sentences, descriptors;
/* The driver's end and its peer's; -1: there is none. */
static int driver = -1, peer = -1;
/* What the driver was given and closes: interrupts, and files once they are mapped. */
static int given[64];
static unsigned n_given;
/* The peer's. */
static int file, interrupt;

static void keep(const char *sentence)
{
	snprintf(told, sizeof told, "%s", sentence);
	sentences++;
}

static void open_channel(void)
{
	int pair[2], on = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	driver = pair[0];
	peer = pair[1];
	/* As the driver's listener has it: it takes room of what is for descriptors. */
	assert_int_equal(setsockopt(driver, SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
}

static void close_channel(void)
{
	close(driver);
	close(peer);
	driver = peer = -1;
}

static unsigned channels(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++)
		n += control.channel[i].cookie != 0;
	return n;
}

static int sealable(off_t size)
{
	int fd = memfd_create("memif", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	assert_return_code(fd, 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static int setup(void **state)
{
	memset(&control, 0, sizeof control);
	told[0] = '\0';
	sentences = n_given = 0;
	descriptors = open_descriptors();
	file = sealable(FILE_SIZE);
	interrupt = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	open_channel();
	return 0;
}

/** Nothing is kept for a channel that is over, and no descriptor of it. */
static int teardown(void **state)
{
	if (driver >= 0)
		close_channel();
	memif_control_sweep(&control);
	while (n_given)
		close(given[--n_given]);
	close(file);
	close(interrupt);
	assert_int_equal(channels(), 0);
	assert_int_equal(open_descriptors(), descriptors);
	return 0;
}

static void keep_given(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_type == SCM_RIGHTS)
			memcpy(&given[n_given++], CMSG_DATA(c), sizeof(int));
}

/** recvmsg() as the driver has it. @return what it is told. */
static ssize_t hear(bool keeps)
{
	char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))] = {0};
	struct memif_peer_message message = {0};
	struct iovec iov = {&message, sizeof message};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof room};
	ssize_t n = recvmsg(driver, &m, MSG_DONTWAIT);

	n = memif_control_received(&control, driver, &m, n, keep);
	if (n > 0 && keeps)
		keep_given(&m);
	return n;
}

/* ---- what passes ----------------------------------------------------------------------------- */

static struct memif_peer_message init(void)
{
	return (struct memif_peer_message){
		.type = MEMIF_PEER_INIT, .init = {.version = 0x0200, .name = "peer"}};
}

static struct memif_peer_message region(uint16_t index, uint64_t size)
{
	return (struct memif_peer_message){
		.type = MEMIF_PEER_ADD_REGION, .region = {.index = index, .size = size}};
}

static struct memif_peer_message ring(uint16_t to_server, uint32_t offset)
{
	return (struct memif_peer_message){.type = MEMIF_PEER_ADD_RING,
		.ring = {.to_server = to_server, .offset = offset, .log2_size = 4}};
}

static struct memif_peer_message of_type(uint16_t type)
{
	return (struct memif_peer_message){.type = type};
}

static void passes(struct memif_peer_message m, const int *fd)
{
	(void)memif_peer_say(peer, &m, sizeof m, fd, fd ? 1 : 0);
	/* The files are this module's to close until there is a connection. */
	assert_int_equal(hear(m.type != MEMIF_PEER_ADD_REGION), sizeof m);
	assert_int_equal(sentences, 0);
}

/** Say @p octets of @p m with @p n descriptors, and see it refused. The next channel is a new one.
 */
static void is_refused_as(
	const char *reason, struct memif_peer_message m, size_t octets, const int *fds, unsigned n)
{
	struct memif_peer_message answer;
	char end[256];

	(void)memif_peer_say(peer, &m, octets, fds, n);
	assert_int_equal(hear(true), 0);
	assert_int_equal(sentences, 1);
	snprintf(end, sizeof end, "process %d, is refused: %s", (int)getpid(), reason);
	assert_non_null(strstr(told, end));
	assert_int_equal(memif_peer_hear(peer, &answer), MEMIF_PEER_DISCONNECT);
	assert_memory_equal(
		answer.disconnect.reason, reason, strlen(reason) < 95 ? strlen(reason) : 95);
	assert_int_equal(answer.disconnect.reason[95], '\0');
	assert_int_equal(channels(), 0);
	sentences = 0;
	close_channel();
	open_channel();
}

static void is_refused(const char *reason, struct memif_peer_message m, const int *fd)
{
	is_refused_as(reason, m, sizeof m, fd, fd ? 1 : 0);
}

/** What every client has said first. */
static void has_sent_memory(void)
{
	passes(init(), NULL);
	passes(region(0, FILE_SIZE), &file);
}

static void has_connected(void)
{
	has_sent_memory();
	passes(ring(1, 0), &interrupt);
	passes(ring(0, 4096), &interrupt);
	given[n_given++] = control.channel[0].file[0];
	passes(of_type(MEMIF_PEER_CONNECT), NULL);
}

static void was_greeted(void)
{
	struct memif_peer_message hello = {.type = MEMIF_PEER_HELLO, .name = "server"};

	passes(hello, NULL);
}

static void an_honest_client_is_heard(void **state)
{
	has_connected();
	assert_int_equal(channels(), 1);
	passes(of_type(MEMIF_PEER_DISCONNECT), NULL);
	assert_int_equal(channels(), 0);
	/* The driver has mapped its file, and closes it. */
	assert_return_code(fcntl(given[n_given - 1], F_GETFD), 0);
}

/** The driver sends and the server answers, by turns. */
static void an_honest_server_is_heard(void **state)
{
	struct memif_peer_message connect = {.type = MEMIF_PEER_CONNECT};
	struct iovec iov = {&connect, sizeof connect};
	const struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	was_greeted();
	for (unsigned i = 0; i < 4; i++)
		passes(of_type(MEMIF_PEER_ACK), NULL);
	memif_control_sent(&control, driver, &m);
	passes(of_type(MEMIF_PEER_CONNECTED), NULL);
	memif_control_sent(&control, driver, &m);
	is_refused("it sends a message that it may not, or not yet, or not any more",
		of_type(MEMIF_PEER_CONNECTED), NULL);
}

/** It may have no room for us. */
static void a_server_may_end_it_first(void **state)
{
	passes(of_type(MEMIF_PEER_DISCONNECT), NULL);
	assert_int_equal(channels(), 0);
}

static void other_sockets_pass(void **state)
{
	struct memif_peer_message m = ring(1, UINT32_MAX);
	struct iovec iov = {&m, sizeof m};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	assert_int_equal(
		memif_control_received(&control, pair[0], &message, sizeof m, keep), sizeof m);
	assert_int_equal(memif_control_received(&control, -1, &message, 0, keep), 0);
	assert_int_equal(channels() + sentences, 0);
	close(pair[0]);
	close(pair[1]);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void a_file_that_is_shorter_than_it_says(void **state)
{
	static const char reason[] = "a file of its memory is empty, or shorter than it says";
	int empty = sealable(0), small = sealable(4096);

	passes(init(), NULL);
	is_refused(reason, region(0, FILE_SIZE), &empty);
	passes(init(), NULL);
	is_refused(reason, region(0, 4097), &small);
	passes(init(), NULL);
	is_refused(reason, region(0, UINT64_MAX), &small);
	passes(init(), NULL);
	is_refused(reason, region(0, 0), &small);
	passes(init(), NULL);
	passes(region(0, 4096), &small);
	/* And it stays as it is. */
	assert_int_equal(ftruncate(small, 0), -1);
	close(empty);
	close(small);
}

static void a_file_that_may_get_shorter(void **state)
{
	int files[] = {memfd_create("memif", MFD_CLOEXEC), open("/dev/zero", O_RDWR | O_CLOEXEC),
		eventfd(0, EFD_CLOEXEC), sealable(0)};

	assert_int_equal(ftruncate(files[0], FILE_SIZE), 0);
	assert_int_equal(ftruncate(files[3], FILE_SIZE), 0);
	assert_int_equal(fcntl(files[3], F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), 0);
	for (unsigned i = 0; i < 4; i++) {
		passes(init(), NULL);
		is_refused(MEMIF_SEAL_REFUSED, region(0, FILE_SIZE), &files[i]);
		close(files[i]);
	}
}

static void a_file_that_cannot_be_mapped(void **state)
{
	static const char reason[] = "a file of its memory cannot be mapped";
	int written = sealable(FILE_SIZE), read_only;
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	assert_return_code(read_only, 0);
	assert_int_equal(fcntl(written, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	passes(init(), NULL);
	is_refused(reason, region(0, FILE_SIZE), &written);
	passes(init(), NULL);
	is_refused(reason, region(0, FILE_SIZE), &read_only);
	close(written);
	close(read_only);
}

static void files_that_are_too_large_together(void **state)
{
	int large = sealable((off_t)1 << 40), half = sealable((off_t)1 << 30);

	passes(init(), NULL);
	is_refused(MEMIF_REGIONS_TOO_LARGE, region(0, UINT64_C(1) << 40), &large);
	passes(init(), NULL);
	passes(region(0, UINT64_C(1) << 30), &half);
	passes(region(1, UINT64_C(1) << 30), &half);
	passes(region(2, 1 << 20), &half);
	is_refused(MEMIF_REGIONS_TOO_LARGE, region(3, 1), &half);
	close(large);
	close(half);
}

static void files_out_of_turn(void **state)
{
	static const char reason[] =
		"the files of its memory have not the numbers from 0 to 15 in turn";

	passes(init(), NULL);
	is_refused(reason, region(1, FILE_SIZE), &file);
	has_sent_memory();
	is_refused(reason, region(0, FILE_SIZE), &file);
	has_sent_memory();
	is_refused(reason, region(UINT16_MAX, FILE_SIZE), &file);
	has_sent_memory();
	for (uint16_t i = 1; i < MEMIF_REGIONS_MAX; i++)
		passes(region(i, FILE_SIZE), &file);
	is_refused(reason, region(MEMIF_REGIONS_MAX, FILE_SIZE), &file);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void a_ring_outside_of_memory(void **state)
{
	static const char reason[] = "a ring of its is not in the memory that it has sent";
	static const uint32_t offsets[] = {FILE_SIZE - 384 + 16, FILE_SIZE - 16, FILE_SIZE,
		UINT32_MAX - 15, UINT32_MAX, 1u << 31, 8};
	struct memif_peer_message elsewhere = ring(1, 0);

	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
		has_sent_memory();
		is_refused(reason, ring(1, offsets[i]), &interrupt);
	}
	for (unsigned i = 0; i < 2; i++) {
		has_sent_memory();
		elsewhere.ring.region = i ? UINT16_MAX : 1;
		is_refused(reason, elsewhere, &interrupt);
	}
	passes(init(), NULL);
	is_refused(reason, ring(1, 0), &interrupt);
	has_sent_memory();
	passes(ring(1, FILE_SIZE - 384), &interrupt);
}

static void a_ring_that_is_too_large(void **state)
{
	struct memif_peer_message m = ring(1, 0);
	/* The largest, exactly. */
	uint64_t size = 128 + (16u << MEMIF_RING_LOG2_MAX);
	int fits = sealable((off_t)size);

	for (unsigned log2 = MEMIF_RING_LOG2_MAX + 1; log2 <= UINT8_MAX; log2 += 60) {
		has_sent_memory();
		m.ring.log2_size = (uint8_t)log2;
		is_refused("a ring of its has more descriptors than any of DPDK's, 16384", m,
			&interrupt);
	}
	has_sent_memory();
	m.ring.log2_size = MEMIF_RING_LOG2_MAX;
	is_refused("a ring of its is not in the memory that it has sent", m, &interrupt);
	passes(init(), NULL);
	passes(region(0, size), &fits);
	passes(m, &interrupt);
	close(fits);
}

static void more_rings_than_queues(void **state)
{
	static const char reason[] = "it sends other rings than one each way, with the number 0";
	struct memif_peer_message second = ring(1, 0);

	for (uint16_t to_server = 0; to_server < 2; to_server++) {
		has_sent_memory();
		passes(ring(to_server, 0), &interrupt);
		is_refused(reason, ring(to_server, 4096), &interrupt);
		second.ring.to_server = to_server;
		second.ring.index = 1;
		has_sent_memory();
		passes(ring(to_server, 0), &interrupt);
		is_refused(reason, second, &interrupt);
		has_sent_memory();
		is_refused(reason, second, &interrupt);
		has_sent_memory();
		second.ring.index = UINT16_MAX;
		is_refused(reason, second, &interrupt);
	}
}

/* ---- order and form -------------------------------------------------------------------------- */

static const char out_of_turn[] = "it sends a message that it may not, or not yet, or not any more";

static void a_client_s_messages_out_of_turn(void **state)
{
	static const uint16_t never[] = {0, MEMIF_PEER_ACK, MEMIF_PEER_HELLO, MEMIF_PEER_INIT,
		MEMIF_PEER_CONNECTED, MEMIF_PEER_DISCONNECT + 1, UINT16_MAX};

	is_refused(out_of_turn, region(0, FILE_SIZE), &file);
	is_refused(out_of_turn, ring(1, 0), &interrupt);
	is_refused(out_of_turn, of_type(MEMIF_PEER_CONNECT), NULL);
	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		has_sent_memory();
		is_refused(out_of_turn, of_type(never[i]), NULL);
		has_connected();
		is_refused(out_of_turn, of_type(never[i]), NULL);
	}
	has_connected();
	is_refused(out_of_turn, region(1, FILE_SIZE), &file);
	has_connected();
	is_refused(out_of_turn, ring(1, 0), &interrupt);
	has_connected();
	is_refused(out_of_turn, of_type(MEMIF_PEER_CONNECT), NULL);
}

static void a_client_that_connects_without_a_ring(void **state)
{
	static const char reason[] = "it connects without a ring each way";

	passes(init(), NULL);
	is_refused(reason, of_type(MEMIF_PEER_CONNECT), NULL);
	for (uint16_t to_server = 0; to_server < 2; to_server++) {
		has_sent_memory();
		passes(ring(to_server, 0), &interrupt);
		is_refused(reason, of_type(MEMIF_PEER_CONNECT), NULL);
	}
}

/** The driver would take a server for a client, read its queues elsewhere, or send files by numbers
 * that are others' by then. */
static void a_server_s_messages_out_of_turn(void **state)
{
	is_refused(out_of_turn, of_type(MEMIF_PEER_ACK), NULL);
	is_refused(out_of_turn, of_type(MEMIF_PEER_CONNECTED), NULL);
	was_greeted();
	is_refused(out_of_turn, of_type(MEMIF_PEER_HELLO), NULL);
	was_greeted();
	is_refused(out_of_turn, of_type(MEMIF_PEER_CONNECTED), NULL);
	was_greeted();
	is_refused(out_of_turn, of_type(MEMIF_PEER_CONNECT), NULL);
	was_greeted();
	is_refused(out_of_turn, region(1, FILE_SIZE), &file);
	was_greeted();
	is_refused(out_of_turn, ring(1, UINT32_MAX), &interrupt);
}

static void descriptors_that_nobody_asked_for(void **state)
{
	static const char number[] = "it sends another number of descriptors than the protocol has";
	int fds[MEMIF_PEER_DESCRIPTORS];
	int off = 0;

	for (unsigned i = 0; i < MEMIF_PEER_DESCRIPTORS; i++)
		fds[i] = interrupt;
	is_refused(number, init(), &interrupt);
	passes(init(), NULL);
	is_refused(number, region(0, FILE_SIZE), NULL);
	has_sent_memory();
	is_refused(number, ring(1, 0), NULL);
	has_sent_memory();
	is_refused_as(number, ring(1, 0), 128, fds, 2);
	has_sent_memory();
	is_refused_as("it sends more descriptors than the protocol has", ring(1, 0), 128, fds,
		MEMIF_PEER_DESCRIPTORS);
	/* A client's socket has more room for them. */
	assert_int_equal(setsockopt(driver, SOL_SOCKET, SO_PASSCRED, &off, sizeof off), 0);
	is_refused_as(number, of_type(MEMIF_PEER_DISCONNECT), 128, fds, 10);
}

static void a_message_of_another_length(void **state)
{
	static const char reason[] = "it sends a message of another length than the protocol has";
	struct memif_peer_message two[2] = {init()};
	struct iovec iov = {two, sizeof two[0] + 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	is_refused_as(reason, init(), 127, &interrupt, 1);
	is_refused_as(reason, init(), 1, NULL, 0);
	assert_int_equal(sendmsg(peer, &m, 0), 129);
	assert_int_equal(hear(true), 0);
	assert_non_null(strstr(told, reason));
}

/** To the driver it is the end; but it came with a descriptor. */
static void a_message_of_no_length(void **state)
{
	struct memif_peer_message m = init();

	(void)memif_peer_say(peer, &m, 0, &interrupt, 1);
	assert_int_equal(hear(true), 0);
	assert_int_equal(sentences, 0);
}

static void a_name_without_an_end(void **state)
{
	static const char reason[] = "it sends a name without an end";
	struct memif_peer_message m;

	m = init();
	memset(m.init.name, 'a', sizeof m.init.name);
	is_refused(reason, m, NULL);
	/* The secret is compared by its length. */
	m = init();
	memset(m.init.secret, 'a', sizeof m.init.secret);
	passes(m, NULL);
	is_refused(out_of_turn, m, NULL);
	m = of_type(MEMIF_PEER_HELLO);
	memset(m.rest, 'a', sizeof m.rest);
	is_refused(reason, m, NULL);
	has_sent_memory();
	passes(ring(1, 0), &interrupt);
	passes(ring(0, 4096), &interrupt);
	m.type = MEMIF_PEER_CONNECT;
	is_refused(reason, m, NULL);
	m.type = MEMIF_PEER_DISCONNECT;
	is_refused(reason, m, NULL);
}

/* ---- channels -------------------------------------------------------------------------------- */

/** The driver closes what it has mapped, and no more; it was told of an end or of a reset. */
static void who_goes_before_it_has_connected(void **state)
{
	has_sent_memory();
	close(peer);
	assert_int_equal(hear(true), 0);
	assert_int_equal(channels(), 0);
	close(driver);
	open_channel();
	has_sent_memory();
	/* What it does not read is a reset. */
	assert_int_equal(send(driver, "", 1, 0), 1);
	close(peer);
	assert_int_equal(hear(true), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(channels(), 0);
	close(driver);
	open_channel();
	has_sent_memory();
	passes(of_type(MEMIF_PEER_DISCONNECT), NULL);
	assert_int_equal(channels(), 0);
}

/** The driver has ended it, or the port was closed. */
static void a_channel_that_is_closed_is_forgotten(void **state)
{
	has_sent_memory();
	close_channel();
	assert_int_equal(channels(), 1);
	memif_control_sweep(&control);
	assert_int_equal(channels(), 0);
	/* Its number may be another's by then. */
	open_channel();
	has_sent_memory();
	close_channel();
	open_channel();
	passes(init(), NULL);
	assert_int_equal(channels(), 1);
}

static void channels_do_not_run_out(void **state)
{
	int ends[MEMIF_CONTROL_CHANNELS][2];

	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++) {
		passes(init(), NULL);
		ends[i][0] = driver;
		ends[i][1] = peer;
		open_channel();
	}
	(void)memif_peer_say(
		peer, &(struct memif_peer_message){.type = MEMIF_PEER_INIT}, 128, NULL, 0);
	assert_int_equal(hear(true), 0);
	assert_non_null(strstr(told, "there are too many connections"));
	sentences = 0;
	close(ends[7][0]);
	close(ends[7][1]);
	passes(init(), NULL);
	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++) {
		if (i == 7)
			continue;
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

/** The log says which memif it is. */
static void the_socket_is_named(void **state)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "\0uiwarp-test-control"};
	socklen_t len = sizeof sun.sun_family + 1 + sizeof "uiwarp-test-control" - 1;
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ends[2] = {-1, -1};
	struct memif_peer_message m = of_type(MEMIF_PEER_CONNECT);

	close_channel();
	assert_int_equal(bind(listener, (struct sockaddr *)&sun, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	ends[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ends[0], (struct sockaddr *)&sun, len), 0);
	ends[1] = accept(listener, NULL, NULL);
	/* A server's, and a client's. */
	for (unsigned i = 0; i < 2; i++) {
		driver = ends[1 - i];
		peer = ends[i];
		told[0] = '\0';
		(void)memif_peer_say(peer, &m, sizeof m, NULL, 0);
		assert_int_equal(hear(true), 0);
		assert_non_null(strstr(told, "memif at @uiwarp-test-control: its peer, process "));
		assert_int_equal(memif_peer_hear(peer, &m), MEMIF_PEER_DISCONNECT);
		m.type = MEMIF_PEER_CONNECT;
	}
	close(listener);
}

/* ---- anything -------------------------------------------------------------------------------- */

/** What the driver would do with what it was told. */
static struct {
	unsigned regions, rings[2];
	uint64_t size[MEMIF_REGIONS_MAX];
} model;

static uint32_t drawn = 1;

/** One of @p n. */
static uint32_t draw(uint32_t n)
{
	drawn = drawn * 1664525u + 1013904223u;
	return (drawn >> 8) % n;
}

/** What an honest client says next. */
static struct memif_peer_message next_message(void)
{
	if (channels() == 0)
		return init();
	if (!model.regions)
		return region(0, FILE_SIZE);
	if (!model.rings[1])
		return ring(1, 0);
	return model.rings[0] ? of_type(MEMIF_PEER_CONNECT) : ring(0, 384);
}

/** What is plausible, or near to that. */
static struct memif_peer_message draw_message(void)
{
	static const uint32_t offsets[] = {0, 384, 8, FILE_SIZE - 384, FILE_SIZE - 368, 1u << 31};
	static const uint64_t sizes[] = {FILE_SIZE, 4096, FILE_SIZE + 1, 0, UINT64_MAX};
	struct memif_peer_message m = of_type((uint16_t)draw(10));

	if (draw(4) || m.type == MEMIF_PEER_INIT)
		return draw(4) ? next_message() : init();
	if (m.type == MEMIF_PEER_ADD_REGION)
		m = region((uint16_t)(draw(4) ? model.regions : draw(17)), sizes[draw(5)]);
	if (m.type == MEMIF_PEER_ADD_RING) {
		m = ring((uint16_t)draw(2), offsets[draw(6)]);
		m.ring.index = (uint16_t)(draw(3) / 2);
		m.ring.region = (uint16_t)(draw(3) / 2);
		m.ring.log2_size = (uint8_t)(4 * (1 + draw(2) * draw(20)));
	}
	if (draw(20) == 0)
		m.rest[draw(sizeof m.rest)] = (uint8_t)draw(256);
	return m;
}

/** The driver does what it is told: nothing of it would harm. */
static void obey(const struct memif_peer_message *m)
{
	uint64_t len;

	switch (m->type) {
	case MEMIF_PEER_INIT:
		memset(&model, 0, sizeof model);
		break;
	case MEMIF_PEER_ADD_REGION:
		assert_int_equal(m->region.index, model.regions);
		assert_in_range(m->region.size, 1, FILE_SIZE);
		model.size[model.regions++] = m->region.size;
		break;
	case MEMIF_PEER_ADD_RING:
		assert_in_range(m->ring.log2_size, 0, MEMIF_RING_LOG2_MAX);
		len = 128 + (UINT64_C(16) << m->ring.log2_size);
		assert_in_range(m->ring.region, 0, model.regions - 1);
		assert_true(m->ring.offset + len <= model.size[m->ring.region]);
		assert_int_equal(m->ring.index, 0);
		assert_int_equal(model.rings[m->ring.to_server & 1]++, 0);
		break;
	case MEMIF_PEER_CONNECT:
		assert_int_equal(model.rings[0] + model.rings[1], 2);
		break;
	default:
		break;
	}
}

static void nothing_harms_of_what_passes(void **state)
{
	unsigned connections = 0;

	for (unsigned i = 0; i < 50000; i++) {
		struct memif_peer_message m = draw_message();
		bool has_file = m.type == MEMIF_PEER_ADD_REGION;
		unsigned n = draw(10) ? has_file || m.type == MEMIF_PEER_ADD_RING : draw(4);
		int fds[3] = {has_file ? file : interrupt, interrupt, interrupt};

		(void)memif_peer_say(peer, &m, sizeof m, fds, n);
		if (hear(!has_file) == sizeof m)
			obey(&m);
		for (unsigned k = 0; m.type == MEMIF_PEER_CONNECT && k < MEMIF_REGIONS_MAX; k++)
			if (control.channel[0].stage == MEMIF_CONTROL_SERVER_UP &&
				k < control.channel[0].regions)
				given[n_given++] = control.channel[0].file[k];
		connections += control.channel[0].stage == MEMIF_CONTROL_SERVER_UP;
		if (channels() == 0 || control.channel[0].stage == MEMIF_CONTROL_SERVER_UP) {
			close_channel();
			memif_control_sweep(&control);
			while (n_given)
				close(given[--n_given]);
			memset(&model, 0, sizeof model);
			open_channel();
		}
	}
	assert_true(connections > 10);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(an_honest_client_is_heard),
		T(an_honest_server_is_heard),
		T(a_server_may_end_it_first),
		T(other_sockets_pass),
		T(a_file_that_is_shorter_than_it_says),
		T(a_file_that_may_get_shorter),
		T(a_file_that_cannot_be_mapped),
		T(files_that_are_too_large_together),
		T(files_out_of_turn),
		T(a_ring_outside_of_memory),
		T(a_ring_that_is_too_large),
		T(more_rings_than_queues),
		T(a_client_s_messages_out_of_turn),
		T(a_client_that_connects_without_a_ring),
		T(a_server_s_messages_out_of_turn),
		T(descriptors_that_nobody_asked_for),
		T(a_message_of_another_length),
		T(a_message_of_no_length),
		T(a_name_without_an_end),
		T(who_goes_before_it_has_connected),
		T(a_channel_that_is_closed_is_forgotten),
		T(channels_do_not_run_out),
		T(the_socket_is_named),
		T(nothing_harms_of_what_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
