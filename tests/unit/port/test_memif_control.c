/* SPDX-License-Identifier: BSD-2-Clause */
/* What a memif's driver is told of what its peer says. */
#include "memif_control_case.h"

#include "dpdk-port/memif_ring.h"
#include "dpdk-port/memif_seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
