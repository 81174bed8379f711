/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_control.h
 * What a memif's peer says by its control channel (protocol 2.0) before frames go. DPDK's driver
 * (22.11), which reads it, believes it: it reads rings where a client says that they are, also
 * outside of its memory, or in a file that is shorter than it says; goes through more queues than
 * it has, if it is told of more rings; begins anew in the middle of a connection; and keeps
 * descriptors that it did not ask for, and the files of a client that goes before it has connected.
 * So each message is looked at between recvmsg() and the driver, with what was said before on the
 * same channel. What would harm is not told to the driver, which sees the end of the channel
 * instead and does what it does then.
 *
 * All functions are called by one thread, the EAL's for interrupts.
 */
#ifndef DPDK_PORT_MEMIF_CONTROL_H
#define DPDK_PORT_MEMIF_CONTROL_H

#include "dpdk-port/memif_regions.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/** Channels at a time that have said something: one for each port, and who is to be told that it is
 * taken. */
#define MEMIF_CONTROL_CHANNELS 64

/** Rings each way: a port has one queue to receive by and one to send by. */
#define MEMIF_CONTROL_RINGS 1

/** Longest sentence about a peer, with its end. */
#define MEMIF_CONTROL_SENTENCE 384

/** How far a channel is. */
enum memif_control_stage {
	MEMIF_CONTROL_NEW,
	MEMIF_CONTROL_SERVER,    /**< ours, whose client has begun, */
	MEMIF_CONTROL_SERVER_UP, /**< and has connected */
	MEMIF_CONTROL_CLIENT,    /**< ours, which was greeted, */
	MEMIF_CONTROL_ASKING,    /**< has sent all and asked to connect, */
	MEMIF_CONTROL_CLIENT_UP, /**< and is connected */
};

/** What was said on a channel. */
struct memif_control_channel {
	int fd;
	uint64_t cookie; /**< of the socket; no other ever has the same. 0: there is none */
	enum memif_control_stage stage;
	unsigned regions, rings[2]; /**< that a client has sent; rings to it, and to us */
	int file[MEMIF_REGIONS_MAX];
	uint64_t size[MEMIF_REGIONS_MAX]; /**< as the client says, and its file is no shorter */
};

/** Zero-initialised: nothing was said. */
struct memif_control {
	struct memif_control_channel channel[MEMIF_CONTROL_CHANNELS];
};

/** Is told why a peer is refused: one line. */
typedef void memif_control_tell_fn(const char *sentence);

/**
 * The driver's recvmsg() of @p m, which memif_send_is_message() was true of, gave @p n. Sockets of
 * other kinds pass.
 * @return what the driver is told: @p n with errno as it is, or 0, the end of the channel. Then the
 * message's descriptors are closed, its sender has the reason, and so has @p tell.
 */
ssize_t memif_control_received(struct memif_control *c, int fd, const struct msghdr *m, ssize_t n,
	memif_control_tell_fn *tell);

/** The driver sends @p m by @p fd. Any thread may send what does not ask to connect. */
void memif_control_sent(struct memif_control *c, int fd, const struct msghdr *m);

/** Forget channels that are closed, and close files that the driver left behind. */
void memif_control_sweep(struct memif_control *c);

/** @return false: @p fd is no socket. No file is asked. */
bool memif_control_cookie(int fd, uint64_t *cookie);

#endif
