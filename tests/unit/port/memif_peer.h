/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_peer.h
 * A memif's client that says and sends what it is told to: the messages of protocol 2.0, without a
 * driver. What the protocol answers to each is awaited.
 */
#ifndef UNIT_PORT_MEMIF_PEER_H
#define UNIT_PORT_MEMIF_PEER_H

#include <stdbool.h>
#include <stdint.h>

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
