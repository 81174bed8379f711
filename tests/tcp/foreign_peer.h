/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_peer.h
 * A TCP that is not ours: as simple as RFC 9293 lets it be, and as rude. By chance it takes back
 * its window, takes a part of a segment, forgets what it has SACKed, closes its window or keeps it
 * small. It sends segments of any size, and all of them again after a time-out. Nothing of src/tcp
 * is used.
 *
 * Sequence numbers are relative; the text of either side begins at 1, and its FIN follows.
 */
#ifndef TESTS_TCP_FOREIGN_PEER_H
#define TESTS_TCP_FOREIGN_PEER_H

#include "base/prng.h"
#include "foreign_path.h"
#include "segment.h"

struct foreign_peer {
	struct prng *random;
	struct foreign_path *path;
	struct seg_path to_host;
	struct seg_base base;            /**< of what the peer sends: its ISN, then the host's */
	const uint8_t *text, *host_text; /**< what it sends and must get, by sequence number */
	uint64_t now;
	const char *wrong; /**< the first thing that the host must not have done */

	/* What it is like. The first three: if the host agrees. */
	bool timestamps, sack, scales;
	bool takes_back;       /**< its window */
	bool reneges;          /**< RFC 2018 section 8 */
	bool takes_parts;      /**< of segments, though they are in the window */
	bool acks_when_closed; /**< it looks at ACKs of text while its window is closed */
	bool reads_last; /**< its window stays closed until all that it sends is acknowledged */
	uint8_t wscale;
	uint16_t mss; /**< what it offers; then what the host does */

	bool established, reset;
	bool calm; /**< from now on it does nothing rude */

	uint8_t *rcv_has;             /**< for each number whether it is here; SYN: no */
	uint32_t rcv_nxt, rcv_end;    /**< rcv_end: behind the FIN */
	uint32_t rcv_high;            /**< behind the last that is here */
	uint32_t rcv_edge, rcv_told;  /**< of the window; the farthest that was ever told */
	uint32_t rcv_newest;          /**< where the last segment taken began */
	uint32_t dup_left, dup_right; /**< to be told as D-SACK */
	uint32_t ts_clock, ts_recent; /**< ts_clock: in ms, at time 0 */

	uint32_t snd_una, snd_nxt, snd_max, snd_end, snd_edge;
	uint8_t snd_wscale;
	uint64_t rto, rto_at;
};

/** Draw what it is like. It gets @p host_octets of text and sends @p octets. */
void foreign_peer_start(
	struct foreign_peer *p, struct prng *random, uint32_t host_octets, uint32_t octets);
void foreign_peer_end(struct foreign_peer *p);

/** The SYN that it opens with. @return its length. */
size_t foreign_peer_syn(const struct foreign_peer *p, uint8_t *packet);

/** A packet has arrived. */
void foreign_peer_input(struct foreign_peer *p, uint64_t now, const uint8_t *packet, size_t len);

/** Its retransmission time-out, at rto_at. */
void foreign_peer_timeout(struct foreign_peer *p, uint64_t now);

/** Its window changes; @p tells: and it says so. */
void foreign_peer_window(struct foreign_peer *p, uint64_t now, bool tells);

/** All has arrived, both ways, and both FINs. */
bool foreign_peer_done(const struct foreign_peer *p);

#endif
