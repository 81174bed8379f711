/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture.h
 * Writes all frames that a port sends and receives to a pcapng file (draft-ietf-opsawg-pcapng).
 *
 * The engine copies each frame, as a block of the file, into a ring, and a thread writes the ring
 * to the file. Checksums that the port is to compute are filled in. When the ring is full frames
 * are left out and counted: a capture never delays the stack.
 */
#ifndef DPDK_PORT_CAPTURE_H
#define DPDK_PORT_CAPTURE_H

#include "base/log.h"

#include <stdint.h>

struct rte_mbuf;
struct capture;

enum capture_direction { CAPTURE_IN = 1, CAPTURE_OUT = 2 }; /* of epb_flags, section 4.3.1 */

/**
 * Create @p path and start its thread.
 * @param ifname name of the interface in the file.
 * @param now the present time of capture_packet()'s clock, ns; the file has times of day.
 * @return 0, -errno (file), -ENOMEM; -EFBIG: the limit of file sizes (ulimit -f) is too small.
 */
int capture_open(const char *path, const char *ifname, uint64_t now, const struct log_sink *log,
	struct capture **out);

/** Why capture_open() has failed with @p rc. */
const char *capture_strerror(int rc);

/**
 * Begin another file whenever one has @p size bytes: PATH becomes PATH.1, that PATH.2, and so on;
 * @p files are kept, PATH included, and older ones are removed. Call it before the first frame.
 */
void capture_rotate(struct capture *c, uint64_t size, unsigned files);

/** Write out the rest, with the number of frames left out, and close. NULL does nothing. */
void capture_close(struct capture *c);

/** Copy one frame. One thread at a time. */
void capture_packet(
	struct capture *c, const struct rte_mbuf *m, enum capture_direction dir, uint64_t now);

/** Frames left out because the ring was full. */
uint64_t capture_dropped(const struct capture *c);

/** errno, when the file has taken no more: the capture is at its end; else 0. */
int capture_error(const struct capture *c);

#endif
