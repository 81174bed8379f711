/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_control_case.h
 * A memif's driver and its peer, which says what a test has it say. Pairs of sockets stand for
 * channels; the driver is none, and has received what passes.
 */
#ifndef TESTS_UNIT_PORT_MEMIF_CONTROL_CASE_H
#define TESTS_UNIT_PORT_MEMIF_CONTROL_CASE_H

#include "dpdk-port/memif_control.h"

#include "memif_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE 65536u

extern struct memif_control control;
/** The last sentence that was logged, and how many. */
extern char told[MEMIF_CONTROL_SENTENCE];
extern unsigned sentences;
/** The driver's end and its peer's; -1: there is none. */
extern int driver, peer;
/** What the driver was given and closes: interrupts, and files once they are mapped. */
extern int given[64];
extern unsigned n_given;
/** The peer's. */
extern int file, interrupt;

void open_channel(void);

void close_channel(void);

/** Channels that are kept. */
unsigned channels(void);

/** A file that can be sealed. */
int sealable(off_t size);

/** For each test. */
int setup(void **state);

/** Nothing is kept for a channel that is over, and no descriptor of it. */
int teardown(void **state);

/** For memif_control_received(). */
void keep(const char *sentence);

/** recvmsg() as the driver has it. @return what it is told. */
ssize_t hear(bool keeps);

/** What a client may say. */
struct memif_peer_message init(void);

struct memif_peer_message region(uint16_t index, uint64_t size);

struct memif_peer_message ring(uint16_t to_server, uint32_t offset);

struct memif_peer_message of_type(uint16_t type);

/** Say @p m with the descriptor @p fd or NULL, and see that the driver is told of it. */
void passes(struct memif_peer_message m, const int *fd);

/** Say @p octets of @p m with @p n descriptors, and see it refused. The next channel is a new one.
 */
void is_refused_as(
	const char *reason, struct memif_peer_message m, size_t octets, const int *fds, unsigned n);

/** Likewise, all of @p m. */
void is_refused(const char *reason, struct memif_peer_message m, const int *fd);

/** What every client has said first. */
void has_sent_memory(void);

void has_connected(void);

/** What every server has said first. */
void was_greeted(void);

#endif
