/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers of a memif that would end the process in DPDK's driver, or fill it with descriptors, by
 * what they say before frames go. Here that driver hears them, behind the calls that our programs
 * have in front of it. test_memif_control.c has all that they may not say. */
#include "memif_peer.h"

#include "dpdk-port/memif_ring.h"
#include "dpdk-port/memif_seal.h"
#include "dpdk-port/port_private.h"
#include "support/limit.h"
#include "support/open_descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SOCKET        "@uiwarp-test-hostile"
#define SERVER_SOCKET "uiwarp-test-hostile-server"

static struct port *server;
static time_t end;
static int interrupt, file;

/* Of the interrupt thread; taken by this one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[1024];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	pthread_mutex_lock(&lock);
	if (strstr(text, "memif at"))
		snprintf(said, sizeof said, "%s", text);
	pthread_mutex_unlock(&lock);
}

static const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_DEBUG};

static void assert_said(const char *part)
{
	pthread_mutex_lock(&lock);
	if (!strstr(said, part))
		fail_msg("said: %s", said);
	said[0] = '\0';
	pthread_mutex_unlock(&lock);
}

static void nap(void)
{
	assert_true(time(NULL) < end);
	usleep(1000);
}

/** The driver's thread closes what it does not need any more. */
static void wait_until_open(unsigned n)
{
	while (open_descriptors() != n)
		nap();
}

/** The next that the server says to @p channel, but for so many answers, is that it ends. */
static void assert_ended(int channel, unsigned answers, const char *reason)
{
	struct memif_peer_message m;

	while (answers--)
		assert_int_equal(memif_peer_hear(channel, &m), MEMIF_PEER_ACK);
	assert_int_equal(memif_peer_hear(channel, &m), MEMIF_PEER_DISCONNECT);
	assert_memory_equal(m.disconnect.reason, reason, strlen(reason));
	assert_int_equal(memif_peer_hear(channel, &m), 0);
	close(channel);
	assert_said(reason);
}

static int sealable(uint64_t size)
{
	int fd = memfd_create("memif", MFD_ALLOW_SEALING);

	assert_return_code(fd, 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

/** All is well with the server: an honest client is heard. */
static void assert_serves(void)
{
	int interrupts[2] = {interrupt, interrupt};
	int channel = memif_peer_join(SOCKET, file, interrupts);

	while (!port_watch(server))
		nap();
	assert_true(memif_link_is_open(&server->memif));
	close(channel);
	while (port_watch(server))
		nap();
}

static struct memif_peer_message region(uint16_t index, uint64_t size)
{
	return (struct memif_peer_message){
		.type = MEMIF_PEER_ADD_REGION, .region = {.index = index, .size = size}};
}

static struct memif_peer_message ring(uint16_t to_server, uint16_t number, uint32_t offset)
{
	return (struct memif_peer_message){.type = MEMIF_PEER_ADD_RING,
		.ring = {.to_server = to_server,
			.index = number,
			.offset = offset,
			.log2_size = MEMIF_PEER_LOG2}};
}

/** The server may have ended it already. */
static void say(int channel, struct memif_peer_message m, int fd)
{
	(void)memif_peer_say(channel, &m, sizeof m, &fd, fd < 0 ? 0 : 1);
}

/** To which the driver would read: an error of the bus. */
static void an_empty_file(void **state)
{
	int empty = sealable(0), channel = memif_peer_open(SOCKET);

	say(channel, region(0, MEMIF_PEER_OCTETS), empty);
	say(channel, ring(1, 0, MEMIF_PEER_TO_SERVER), interrupt);
	say(channel, ring(0, 0, MEMIF_PEER_TO_CLIENT), interrupt);
	say(channel, (struct memif_peer_message){.type = MEMIF_PEER_CONNECT}, -1);
	assert_ended(channel, 0, "a file of its memory is empty, or shorter than it says");
	close(empty);
	assert_serves();
}

static void a_file_that_cannot_be_sealed(void **state)
{
	int open_ended = sealable(MEMIF_PEER_OCTETS), channel = memif_peer_open(SOCKET);

	assert_int_equal(fcntl(open_ended, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL), 0);
	say(channel, region(0, MEMIF_PEER_OCTETS), open_ended);
	assert_ended(channel, 0, MEMIF_SEAL_REFUSED);
	close(open_ended);
	assert_serves();
}

/** Where nothing is mapped. */
static void a_ring_outside_of_memory(void **state)
{
	static const uint32_t offsets[] = {1u << 31, UINT32_MAX - 15};

	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
		int channel = memif_peer_open(SOCKET);

		say(channel, region(0, MEMIF_PEER_OCTETS), file);
		say(channel, ring(1, 0, offsets[i]), interrupt);
		say(channel, ring(0, 0, offsets[i]), interrupt);
		say(channel, (struct memif_peer_message){.type = MEMIF_PEER_CONNECT}, -1);
		assert_ended(channel, 1, "a ring of its is not in the memory that it has sent");
	}
	assert_serves();
}

/** The driver would go through as many queues, of which it has one. */
static void more_rings_than_queues(void **state)
{
	int channel = memif_peer_open(SOCKET);

	memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
	for (unsigned i = 0; i < 2; i++)
		say(channel, ring(1, 0, MEMIF_PEER_TO_SERVER), interrupt);
	say(channel, ring(0, 0, MEMIF_PEER_TO_CLIENT), interrupt);
	say(channel, (struct memif_peer_message){.type = MEMIF_PEER_CONNECT}, -1);
	assert_ended(channel, 1, "it sends other rings than one each way, with the number 0");
	assert_serves();
}

/** Each way to leave descriptors behind. */
static void descriptors_left_behind(void **state)
{
	int many[MEMIF_PEER_DESCRIPTORS], channel;
	struct memif_peer_message m = ring(1, 0, MEMIF_PEER_TO_SERVER);
	unsigned before;

	for (unsigned i = 0; i < MEMIF_PEER_DESCRIPTORS; i++)
		many[i] = interrupt;
	assert_serves();
	before = open_descriptors();
	for (unsigned i = 0; i < 10; i++) {
		channel = memif_peer_open(SOCKET);
		memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
		(void)memif_peer_say(channel, &m, sizeof m, many, 2);
		assert_ended(
			channel, 0, "it sends another number of descriptors than the protocol has");
		/* Who sends a file and goes. */
		channel = memif_peer_open(SOCKET);
		memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
		memif_peer_add_region(channel, 1, file, MEMIF_PEER_OCTETS);
		close(channel);
		/* In a message of another length, and of none. */
		channel = memif_peer_open(SOCKET);
		(void)memif_peer_say(channel, &m, 7, many, 1);
		assert_ended(
			channel, 0, "it sends a message of another length than the protocol has");
		channel = memif_peer_open(SOCKET);
		(void)memif_peer_say(channel, &m, 0, many, 1);
		assert_int_equal(memif_peer_hear(channel, &m), 0);
		close(channel);
		m = ring(1, 0, MEMIF_PEER_TO_SERVER);
		/* A file out of turn. */
		channel = memif_peer_open(SOCKET);
		say(channel, region(7, MEMIF_PEER_OCTETS), file);
		assert_ended(channel, 0,
			"the files of its memory have not the numbers from 0 to 15 in turn");
	}
	wait_until_open(before);
	assert_serves();
}

/* ---- a server, whose client is the driver --------------------------------------------------- */

static const struct sockaddr_un server_name = {
	.sun_family = AF_UNIX, .sun_path = "\0" SERVER_SOCKET};
#define SERVER_NAME_LEN ((socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof SERVER_SOCKET))

static int listener_with_room_for(int connections)
{
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_int_equal(bind(listener, (const struct sockaddr *)&server_name, SERVER_NAME_LEN), 0);
	assert_int_equal(listen(listener, connections), 0);
	return listener;
}

static struct port *open_client(void)
{
	struct port_config cfg = {.device = "net_memif1,role=client,socket=" SERVER_SOCKET,
		.memory_mib = 8,
		.log = &sink};
	struct port_error e = {""};
	struct port *client;

	if (port_open(&cfg, &client, &e))
		fail_msg("%s", e.text);
	return client;
}

static void a_server_that_sends_what_a_client_does(void **state)
{
	struct memif_peer_message m = {.type = MEMIF_PEER_HELLO};
	int listener = listener_with_room_for(4), channel;
	struct port *client = open_client();

	channel = accept(listener, NULL, NULL);
	m.rest[32 + 2] = m.rest[32] = 0;
	m.rest[33] = m.rest[35] = 2; /* versions from 2.0 to 2.0 */
	say(channel, m, -1);
	assert_int_equal(memif_peer_hear(channel, &m), MEMIF_PEER_INIT);
	say(channel, ring(1, 0, 1u << 31), interrupt);
	say(channel, (struct memif_peer_message){.type = MEMIF_PEER_CONNECTED}, -1);
	assert_ended(channel, 0, "it sends a message that it may not");
	assert_false(port_watch(client));
	port_close(client);
	close(listener);
}

/** One that was stopped, for example. The kernel has connections wait for it, but not many. */
static void a_server_that_accepts_nobody(void **state)
{
	int listener = listener_with_room_for(1), waiting[8], channel;
	struct port *client;
	unsigned n = 0;

	do
		waiting[n] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	while (connect(waiting[n++], (const struct sockaddr *)&server_name, SERVER_NAME_LEN) == 0 &&
		n < 8);
	client = open_client();
	assert_false(port_watch(client));
	port_close(client);
	/* It comes when there is room. */
	client = open_client();
	while (n--) {
		if (n)
			close(accept(listener, NULL, NULL));
		close(waiting[n]);
	}
	assert_int_equal(fcntl(listener, F_SETFL, O_NONBLOCK), 0);
	while ((channel = accept(listener, NULL, NULL)) < 0) {
		assert_false(port_watch(client));
		nap();
	}
	close(channel);
	port_close(client);
	close(listener);
}

static int setup(void **state)
{
	struct port_config cfg = {
		.device = "net_memif0,role=server,socket=" SOCKET, .memory_mib = 8, .log = &sink};
	struct port_error e = {""};

	end = time(NULL) + LIMIT_S;
	interrupt = eventfd(0, EFD_NONBLOCK);
	file = memfd_create("memif", MFD_ALLOW_SEALING);
	memif_peer_lay_out(file, MEMIF_PEER_OCTETS);
	if (port_open(&cfg, &server, &e))
		fail_msg("%s", e.text);
	return 0;
}

static int teardown(void **state)
{
	port_close(server);
	close(interrupt);
	close(file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file),
		cmocka_unit_test(a_file_that_cannot_be_sealed),
		cmocka_unit_test(a_ring_outside_of_memory),
		cmocka_unit_test(more_rings_than_queues),
		cmocka_unit_test(descriptors_left_behind),
		cmocka_unit_test(a_server_that_sends_what_a_client_does),
		cmocka_unit_test(a_server_that_accepts_nobody),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
