/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_peer.h"

#include "dpdk-port/memif_ring.h"

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

enum { ACK = 1, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT };

#define COOKIE  0x3E31F20u
#define VERSION 0x0200

struct message {
	uint16_t type;
	union {
		struct {
			uint16_t version;
			uint32_t id;
			uint8_t mode, secret[24], name[32];
		} __attribute__((packed)) init;
		struct {
			uint16_t index;
			uint64_t size;
		} __attribute__((packed)) region;
		struct {
			uint16_t to_server, index, region;
			uint32_t offset;
			uint8_t log2_size;
			uint16_t header;
		} __attribute__((packed)) ring;
		uint8_t rest[126];
	};
} __attribute__((packed));

_Static_assert(sizeof(struct message) == 128, "as the protocol has them");

static void memif_peer_say(int channel, const struct message *say, int fd)
{
	char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec iov = {(void *)(uintptr_t)say, sizeof *say};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof control;
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	assert_int_equal(sendmsg(channel, &m, MSG_NOSIGNAL), sizeof *say);
}

/** @return the type of the next message; 0: the connection is over. */
static uint16_t memif_peer_hear(int channel)
{
	struct message m = {0};

	return recv(channel, &m, sizeof m, 0) == sizeof m ? m.type : 0;
}

static void memif_peer_ask(int channel, const struct message *say, int fd)
{
	memif_peer_say(channel, say, fd);
	assert_int_equal(memif_peer_hear(channel), ACK);
}

/** @return -1: there is another client still. */
static int memif_peer_try(const char *socket_name)
{
	struct message init = {.type = INIT, .init = {.version = VERSION}};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	socklen_t len =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(socket_name));

	strcpy(sun.sun_path + 1, socket_name);
	assert_int_equal(connect(channel, (struct sockaddr *)&sun, len), 0);
	assert_int_equal(memif_peer_hear(channel), HELLO);
	memif_peer_say(channel, &init, -1);
	if (memif_peer_hear(channel) == ACK)
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
		&(struct message){.type = ADD_REGION, .region = {.index = index, .size = size}},
		fd);
}

void memif_peer_add_ring(int channel, bool to_server, uint32_t offset, int interrupt)
{
	memif_peer_ask(channel,
		&(struct message){.type = ADD_RING,
			.ring = {.to_server = to_server,
				.offset = offset,
				.log2_size = MEMIF_PEER_LOG2}},
		interrupt);
}

bool memif_peer_connect(int channel)
{
	memif_peer_say(channel, &(struct message){.type = CONNECT}, -1);
	return memif_peer_hear(channel) == CONNECTED;
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
