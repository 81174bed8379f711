/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_peer.h
 * A memif's client that says and sends what it is told to: the messages of protocol 2.0, without a
 * driver. What the protocol answers to each is awaited.
 */
#ifndef UNIT_PORT_MEMIF_PEER_H
#define UNIT_PORT_MEMIF_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MEMIF_PEER_ACK = 1,
	MEMIF_PEER_HELLO,
	MEMIF_PEER_INIT,
	MEMIF_PEER_ADD_REGION,
	MEMIF_PEER_ADD_RING,
	MEMIF_PEER_CONNECT,
	MEMIF_PEER_CONNECTED,
	MEMIF_PEER_DISCONNECT
};

struct memif_peer_message {
	uint16_t type;
	union {
		uint8_t name[32]; /**< of HELLO, CONNECT and CONNECTED */
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
		struct {
			uint32_t code;
			char reason[96];
		} __attribute__((packed)) disconnect;
		uint8_t rest[126];
	};
} __attribute__((packed));

_Static_assert(sizeof(struct memif_peer_message) == 128, "as the protocol has them");

/** Descriptors with one message, at most. */
#define MEMIF_PEER_DESCRIPTORS 16

/** Send the first @p octets of a message, with @p n descriptors. Nothing is awaited. @return false:
 * the other end has closed the channel. */
bool memif_peer_say(int channel, const struct memif_peer_message *say, size_t octets,
	const int *fds, unsigned n);

/** @return the type of the next message, which is in @p m; 0: the connection is over. */
uint16_t memif_peer_hear(int channel, struct memif_peer_message *m);

/** Descriptors of a ring. */
#define MEMIF_PEER_LOG2  4
#define MEMIF_PEER_SLOTS (1u << MEMIF_PEER_LOG2)
/** Where the rings are, and where the buffers of both begin, and their size. */
#define MEMIF_PEER_TO_SERVER 0u
#define MEMIF_PEER_TO_CLIENT 384u
#define MEMIF_PEER_BUFFERS   4096u
#define MEMIF_PEER_ROOM      2048u
/** What all that takes. */
#define MEMIF_PEER_OCTETS (MEMIF_PEER_BUFFERS + 2 * MEMIF_PEER_SLOTS * MEMIF_PEER_ROOM)

/** The channel to the server at the abstract @p socket, which has greeted and knows of us. */
int memif_peer_open(const char *socket);

/** Send region @p index, file @p fd, said to be of @p size. */
void memif_peer_add_region(int channel, uint16_t index, int fd, uint64_t size);

/** Send a ring's place in region 0, and @p interrupt, for it. */
void memif_peer_add_ring(int channel, bool to_server, uint32_t offset, int interrupt);

/** The connection begins. @return false: the server ended it instead. */
bool memif_peer_connect(int channel);

/** Lay out both rings and all buffers in file @p fd, which gets @p size: at least
 * MEMIF_PEER_OCTETS.
 */
void memif_peer_lay_out(int fd, uint64_t size);

/** All of an honest one's steps, with two rings in @p file of MEMIF_PEER_OCTETS. @return its
 * channel.
 */
int memif_peer_join(const char *socket, int file, const int interrupts[2]);

#endif
