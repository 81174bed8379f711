/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file path.h
 * One direction of a path, as a model: frames go in at a time and come out at another, or do not.
 *
 *     MTU ─► queue (tail drop) ─► link of a rate ─► loss, corruption, duplication ─► delay, jitter,
 *                                                                                    reordering
 *
 * It reads no clock and touches no frame: the time is an argument (ns, never going back), a frame
 * is a pointer of the caller's with a length. The same seed and the same calls give the same
 * results. All that happens to a frame is decided when it goes in, so what is on the way is not
 * touched by a change of the configuration.
 */
#ifndef WAN_PATH_H
#define WAN_PATH_H

#include "wan/loss.h"

#include <stdint.h>

struct wan_path;

enum wan_queue_unit { WAN_QUEUE_ENDLESS, WAN_QUEUE_BYTES, WAN_QUEUE_FRAMES, WAN_QUEUE_TIME };

struct wan_path_config {
	uint64_t rate;        /**< bit/s; 0: without limit, and so without a queue */
	uint32_t overhead;    /**< bytes that each frame takes on the link beside its own */
	uint64_t delay;       /**< ns, after the link */
	uint64_t jitter;      /**< ns: delays are spread evenly over delay +- jitter, not below 0 */
	bool jitter_reorders; /**< else a frame waits for the one before it */
	struct wan_loss_config loss;
	double reorder;      /**< probability that a frame is late, and is overtaken */
	uint64_t reorder_by; /**< ns: by up to this much, spread evenly */
	double duplicate;    /**< probability that a frame comes twice */
	double corrupt;      /**< probability that one bit of a frame is turned over */
	enum wan_queue_unit queue_unit;
	uint64_t queue; /**< bytes, frames or ns that may wait for the link; one frame always may */
	uint32_t mtu; /**< bytes of a frame after its Ethernet header; larger ones vanish. 0: any */
};

/** What the path needs done with frames. */
struct wan_path_ops {
	/** Another frame of the same content, or NULL if there is no memory. */
	void *(*clone)(void *ctx, void *frame);
	/** Turn over one bit, which @p random chooses. @return the frame that goes on. */
	void *(*corrupt)(void *ctx, void *frame, uint64_t random);
	void *ctx;
};

enum wan_fate {
	WAN_TAKEN,       /**< it is the path's now, until wan_path_take() */
	WAN_DROP_LOSS,   /**< the frame is still the caller's, here and below */
	WAN_DROP_QUEUE,  /**< no room before the link */
	WAN_DROP_MTU,    /**< too large */
	WAN_DROP_MEMORY, /**< more frames on the way than wan_path_create() was told */
	WAN_NUM_FATES
};

struct wan_path_stats {
	uint64_t frames_in, bytes_in;
	uint64_t fate[WAN_NUM_FATES];
	uint64_t frames_out; /**< duplicates included */
	uint64_t duplicated, corrupted, reordered;
	uint64_t queue_bytes;     /**< waiting now, as of the last frame that went in */
	uint64_t queue_bytes_max; /**< most that ever waited */
	uint64_t queue_ns_max; /**< longest wait for the link, without the frame's own time on it */
};

/**
 * @param capacity frames that may be on the way at a time, 1 to 2^30.
 * @return NULL: no memory.
 */
struct wan_path *wan_path_create(const struct wan_path_config *cfg, const struct wan_path_ops *ops,
	uint32_t capacity, uint64_t seed);

/** Take out all frames before: with WAN_NEVER as the time all are due. */
void wan_path_destroy(struct wan_path *p);

/** Change the path for frames that go in from now on. They do not overtake those before. */
void wan_path_configure(struct wan_path *p, const struct wan_path_config *cfg);

const struct wan_path_config *wan_path_config(const struct wan_path *p);

/** A frame of @p len bytes, with its Ethernet header and without FCS, comes at @p now. */
enum wan_fate wan_path_put(struct wan_path *p, uint64_t now, void *frame, uint32_t len);

/** When the next frame comes out, ns, or WAN_NEVER. */
uint64_t wan_path_next(const struct wan_path *p);

/** A frame that is due by @p now, with the time that it was due at; NULL: none is. */
void *wan_path_take(struct wan_path *p, uint64_t now, uint64_t *due);

const struct wan_path_stats *wan_path_get_stats(const struct wan_path *p);

#endif
