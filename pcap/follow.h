/* SPDX-License-Identifier: BSD-2-Clause */
/** @file follow.h Follows a capture: its frames, its TCP connections, and its iWARP connections. */
#ifndef PCAP_FOLLOW_H
#define PCAP_FOLLOW_H

#include "pcap/capture.h"
#include "pcap/connection.h"
#include "pcap/flow.h"
#include "pcap/fragments.h"

#define FOLLOW_PORTS_MAX 16

struct follow_config {
	uint16_t ports[FOLLOW_PORTS_MAX]; /**< followed even without their start */
	unsigned num_ports;
	unsigned max_flows;       /**< limit of TCP connections at one time; 0: 1,048,576 */
	unsigned max_connections; /**< limit of iWARP connections among them; 0: none */
	size_t max_memory;        /**< limit of octets for all of these; 0: 384 MiB */
	size_t max_pieces;        /**< limit of segments that wait; 0: 1,048,576 */
	struct siphash_key key;   /**< random for captures of strangers */
	struct keylog *keylog;    /**< opens connections inside of TLS; it stays. NULL: none */
};

/** Tunnels and protocols that are not read, and named. */
#define FOLLOW_UNREAD_MAX 8

struct follow_unread {
	const char *name;
	uint64_t frames, first; /**< first: number of a frame */
};

/** Counters of frames. */
struct follow_counters {
	uint64_t frames, bytes; /**< bytes: on the wire */
	uint64_t kind[PACKET_KINDS];
	uint64_t first[PACKET_KINDS]; /**< number of the first frame of each kind */
	uint64_t fragments_used;      /**< of kind[PACKET_FRAGMENT]: those that were reassembled */
	uint64_t unknown_links;       /**< frames of link types that are not read */
	uint32_t unknown_link;        /**< the first such link type */
	struct follow_unread unread[FOLLOW_UNREAD_MAX]; /**< up to the first without a name */
	uint64_t damaged; /**< segments left out as their TCP checksum is wrong */
	uint64_t evicted;
	uint64_t last, last_time; /**< number and time of the last frame */
};

struct follow {
	struct follow_config config;
	const struct connection_ops *ops;
	void *user;
	struct flow_table flows;
	struct fragments *fragments; /**< NULL: there were none */
	struct connection_shared shared;
	unsigned open; /**< present number of connections */
	size_t memory; /**< octets that they have, and all flows */
	/* Of the segment in hand, which is several packets if it came in fragments */
	bool damaged;
	enum packet_sum sum;
	struct follow_counters counters;
};

/** @return 0, or -ENOMEM. */
int follow_init(struct follow *w, const struct follow_config *config,
	const struct connection_ops *ops, void *user);

/** Process the next frame: tests/mutation has them in an order of its own. */
void follow_frame(struct follow *w, const struct cap_frame *f);

/** The capture ends: all connections do. */
void follow_finish(struct follow *w);

/** Follow a capture to its end. @return the last result of cap_next(). */
enum cap_result follow_capture(struct follow *w, struct cap_file *c, struct cap_error *e);

#endif
