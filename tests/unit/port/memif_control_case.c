/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_control_case.h"

#include "support/open_descriptors.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct memif_control control;
char told[MEMIF_CONTROL_SENTENCE];
unsigned sentences;
static unsigned descriptors;
int driver = -1, peer = -1;
int given[64];
unsigned n_given;
int file, interrupt;

void keep(const char *sentence)
{
	snprintf(told, sizeof told, "%s", sentence);
	sentences++;
}

void open_channel(void)
{
	int pair[2], on = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	driver = pair[0];
	peer = pair[1];
	/* As the driver's listener has it: it takes room of what is for descriptors. */
	assert_int_equal(setsockopt(driver, SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
}

void close_channel(void)
{
	close(driver);
	close(peer);
	driver = peer = -1;
}

unsigned channels(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++)
		n += control.channel[i].cookie != 0;
	return n;
}

int sealable(off_t size)
{
	int fd = memfd_create("memif", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	assert_return_code(fd, 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

int setup(void **state)
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

int teardown(void **state)
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

ssize_t hear(bool keeps)
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

struct memif_peer_message init(void)
{
	return (struct memif_peer_message){
		.type = MEMIF_PEER_INIT, .init = {.version = 0x0200, .name = "peer"}};
}

struct memif_peer_message region(uint16_t index, uint64_t size)
{
	return (struct memif_peer_message){
		.type = MEMIF_PEER_ADD_REGION, .region = {.index = index, .size = size}};
}

struct memif_peer_message ring(uint16_t to_server, uint32_t offset)
{
	return (struct memif_peer_message){.type = MEMIF_PEER_ADD_RING,
		.ring = {.to_server = to_server, .offset = offset, .log2_size = 4}};
}

struct memif_peer_message of_type(uint16_t type)
{
	return (struct memif_peer_message){.type = type};
}

void passes(struct memif_peer_message m, const int *fd)
{
	(void)memif_peer_say(peer, &m, sizeof m, fd, fd ? 1 : 0);
	/* The files are this module's to close until there is a connection. */
	assert_int_equal(hear(m.type != MEMIF_PEER_ADD_REGION), sizeof m);
	assert_int_equal(sentences, 0);
}

void is_refused_as(
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

void is_refused(const char *reason, struct memif_peer_message m, const int *fd)
{
	is_refused_as(reason, m, sizeof m, fd, fd ? 1 : 0);
}

void has_sent_memory(void)
{
	passes(init(), NULL);
	passes(region(0, FILE_SIZE), &file);
}

void has_connected(void)
{
	has_sent_memory();
	passes(ring(1, 0), &interrupt);
	passes(ring(0, 4096), &interrupt);
	given[n_given++] = control.channel[0].file[0];
	passes(of_type(MEMIF_PEER_CONNECT), NULL);
}

void was_greeted(void)
{
	struct memif_peer_message hello = {.type = MEMIF_PEER_HELLO, .name = "server"};

	passes(hello, NULL);
}
