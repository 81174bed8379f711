/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_peer.h"

#include "dpdk-port/memif_ring.h"

#include <errno.h>
#include <rte_common.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define COOKIE  0x3E31F20u
#define VERSION 0x0200

bool memif_peer_say(int channel, const struct memif_peer_message *say, size_t octets,
	const int *fds, unsigned n)
{
	char control[CMSG_SPACE(MEMIF_PEER_DESCRIPTORS * sizeof *fds)] = {0};
	struct iovec iov = {(void *)(uintptr_t)say, octets};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(n * sizeof *fds);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof *fds),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), fds, n * sizeof *fds);
	}
	if (sendmsg(channel, &m, MSG_NOSIGNAL) == (ssize_t)octets)
		return true;
	assert_true(errno == EPIPE || errno == ECONNRESET);
	return false;
}

uint16_t memif_peer_hear(int channel, struct memif_peer_message *m)
{
	ssize_t n;

	memset(m, 0, sizeof *m);
	/* The other end has not read all. What it has sent before comes then. */
	do
		n = recv(channel, m, sizeof *m, 0);
	while (n < 0 && errno == ECONNRESET);
	return n == sizeof *m ? m->type : 0;
}

static void memif_peer_ask(int channel, const struct memif_peer_message *say, int fd)
{
	struct memif_peer_message answer;

	assert_true(memif_peer_say(channel, say, sizeof *say, &fd, 1));
	assert_int_equal(memif_peer_hear(channel, &answer), MEMIF_PEER_ACK);
}

/** @return -1: there is another client still. */
static int memif_peer_try(const char *socket_name)
{
	struct memif_peer_message answer,
		init = {.type = MEMIF_PEER_INIT, .init = {.version = VERSION}};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	socklen_t len =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(socket_name));

	strcpy(sun.sun_path + 1, socket_name);
	assert_int_equal(connect(channel, (struct sockaddr *)&sun, len), 0);
	assert_int_equal(memif_peer_hear(channel, &answer), MEMIF_PEER_HELLO);
	assert_true(memif_peer_say(channel, &init, sizeof init, NULL, 0));
	if (memif_peer_hear(channel, &answer) == MEMIF_PEER_ACK)
		return channel;
	close(channel);
	return -1;
}

int memif_peer_open(const char *socket_name)
{
	int channel;

	while ((channel = memif_peer_try(socket_name)) < 0)
		;
	return channel;
}

void memif_peer_add_region(int channel, uint16_t index, int fd, uint64_t size)
{
	memif_peer_ask(channel,
		&(struct memif_peer_message){
			.type = MEMIF_PEER_ADD_REGION, .region = {.index = index, .size = size}},
		fd);
}

void memif_peer_add_ring(int channel, bool to_server, uint32_t offset, int interrupt)
{
	memif_peer_ask(channel,
		&(struct memif_peer_message){.type = MEMIF_PEER_ADD_RING,
			.ring = {.to_server = to_server,
				.offset = offset,
				.log2_size = MEMIF_PEER_LOG2}},
		interrupt);
}

bool memif_peer_connect(int channel)
{
	struct memif_peer_message connect = {.type = MEMIF_PEER_CONNECT};

	assert_true(memif_peer_say(channel, &connect, sizeof connect, NULL, 0));
	return memif_peer_hear(channel, &connect) == MEMIF_PEER_CONNECTED;
}

void memif_peer_lay_out(int fd, uint64_t size)
{
	uint8_t *memory;
	struct stat st;
	size_t len;

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fstat(fd, &st), 0);
	len = RTE_ALIGN_CEIL(MEMIF_PEER_OCTETS, (size_t)st.st_blksize); /* a huge page at least */
	memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	for (unsigned i = 0; i < 2; i++) {
		struct memif_ring *ring =
			(void *)(memory + (i ? MEMIF_PEER_TO_CLIENT : MEMIF_PEER_TO_SERVER));

		atomic_store(&ring->cookie, COOKIE);
		for (unsigned k = 0; k < MEMIF_PEER_SLOTS; k++)
			ring->desc[k] = (struct memif_desc){.length = MEMIF_PEER_ROOM,
				.offset = MEMIF_PEER_BUFFERS +
					  (i * MEMIF_PEER_SLOTS + k) * MEMIF_PEER_ROOM};
	}
	munmap(memory, len);
}

int memif_peer_join(const char *socket_name, int file, const int interrupts[2])
{
	int channel = memif_peer_open(socket_name);

	memif_peer_add_region(channel, 0, file, MEMIF_PEER_OCTETS);
	memif_peer_add_ring(channel, true, MEMIF_PEER_TO_SERVER, interrupts[0]);
	memif_peer_add_ring(channel, false, MEMIF_PEER_TO_CLIENT, interrupts[1]);
	assert_true(memif_peer_connect(channel));
	return channel;
}
