/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file path.h
 * A model of one direction of a path: frames go in, and come out at a later time or not at all.
 *
 *     MTU ─► queue (tail drop) ─► link of a rate ─► loss, corruption, duplication ─► delay, jitter,
 *                                                                                    reordering
 *
 * It reads no clock: the time is an argument (ns, never going back). It does not access frames: a
 * frame is a pointer and a length. The same seed and the same calls give the same results. All is
 * decided when a frame goes in, so a change of the configuration does not affect frames on the way.
 */
#ifndef WAN_PATH_H
#define WAN_PATH_H

#include "wan/loss.h"

#include <stdint.h>

struct wan_path;

enum wan_queue_unit { WAN_QUEUE_ENDLESS, WAN_QUEUE_BYTES, WAN_QUEUE_FRAMES, WAN_QUEUE_TIME };

struct wan_path_config {
	uint64_t rate;        /**< bit/s; 0: without limit, and so without a queue */
	uint32_t overhead;    /**< additional bytes of each frame on the link */
	uint64_t delay;       /**< ns, after the link */
	uint64_t jitter;      /**< ns: delays are uniform over delay +- jitter, not below 0 */
	bool jitter_reorders; /**< false: a frame waits for the one before it */
	struct wan_loss_config loss;
	double reorder;      /**< probability that a frame is late, and is overtaken */
	uint64_t reorder_by; /**< ns: uniform up to this much */
	double duplicate;    /**< probability that a frame comes twice */
	double corrupt;      /**< probability that one bit of a frame is inverted */
	enum wan_queue_unit queue_unit;
	uint64_t queue; /**< bytes, frames or ns that may wait for the link; at least one frame */
	/** Bytes of a frame after its Ethernet header; larger ones are dropped. 0: any */
	uint32_t mtu;
};

/** The caller's operations on frames. */
struct wan_path_ops {
	/** Copy a frame; NULL: no memory. */
	void *(*clone)(void *ctx, void *frame);
	/** Invert one bit, chosen by @p random. @return the frame to send on. */
	void *(*corrupt)(void *ctx, void *frame, uint64_t random);
	void *ctx;
};

enum wan_fate {
	WAN_TAKEN,       /**< the path owns it until wan_path_take() */
	WAN_DROP_LOSS,   /**< the caller still owns the frame, here and below */
	WAN_DROP_QUEUE,  /**< no room before the link */
	WAN_DROP_MTU,    /**< too large */
	WAN_DROP_MEMORY, /**< more frames on the way than the capacity */
	WAN_NUM_FATES
};

struct wan_path_stats {
	uint64_t frames_in, bytes_in;
	uint64_t fate[WAN_NUM_FATES];
	uint64_t frames_out; /**< duplicates included */
	uint64_t duplicated, corrupted, reordered;
	uint64_t queue_bytes;     /**< waiting, when the last frame went in or came out */
	uint64_t queue_bytes_max; /**< maximum of queue_bytes */
	/** Longest wait for the link, without the frame's own transmission */
	uint64_t queue_ns_max;
};

/**
 * @param capacity frames that may be on the way at a time, 1 to 2^30.
 * @return NULL: no memory.
 */
struct wan_path *wan_path_create(const struct wan_path_config *cfg, const struct wan_path_ops *ops,
	uint32_t capacity, uint64_t seed);

/** Take out all frames before. At WAN_NEVER all are due. */
void wan_path_destroy(struct wan_path *p);

/** Change the path for later frames. They do not overtake those before. */
void wan_path_configure(struct wan_path *p, const struct wan_path_config *cfg);

const struct wan_path_config *wan_path_config(const struct wan_path *p);

/**
 * A frame of @p len bytes, with its Ethernet header and without FCS, comes at @p now.
 * @param header bytes of its Ethernet header, VLAN tags included.
 */
enum wan_fate wan_path_put(
	struct wan_path *p, uint64_t now, void *frame, uint32_t len, uint32_t header);

/** When the next frame comes out, ns, or WAN_NEVER. */
uint64_t wan_path_next(const struct wan_path *p);

/** Take a frame that is due by @p now, with its due time; NULL: none is due. */
void *wan_path_take(struct wan_path *p, uint64_t now, uint64_t *due);

const struct wan_path_stats *wan_path_get_stats(const struct wan_path *p);

#endif
