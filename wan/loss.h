/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file loss.h
 * Decides which frames are lost: independently with one probability, or in bursts after Gilbert and
 * Elliott. Their model is a chain of two states, good and bad, with a probability of loss in each.
 */
#ifndef WAN_LOSS_H
#define WAN_LOSS_H

#include "base/prng.h"

/** All are probabilities per frame, 0 to 1. Without @p enter the state is always good. */
struct wan_loss_config {
	double good;  /**< of loss in the good state */
	double bad;   /**< of loss in the bad state */
	double enter; /**< of changing from good to bad, before the frame */
	double leave; /**< of changing from bad to good */
};

struct wan_loss {
	struct wan_loss_config cfg;
	bool is_bad;
};

/**
 * The chain that loses a share @p loss (below 1) of all frames, in bursts of @p burst frames (at
 * least 1, and wan_loss_least_burst()) on average. It is Gilbert's model: all are lost in the bad
 * state, none in the good one.
 */
struct wan_loss_config wan_loss_bursts(double loss, double burst);

/** The bursts of a share @p loss: between two of them one frame at least gets through. */
double wan_loss_least_burst(double loss);

/** The share of frames that @p cfg loses in the long run. */
double wan_loss_share(const struct wan_loss_config *cfg);

/** Decide about the next frame. */
bool wan_loss_next(struct wan_loss *l, struct prng *r);

#endif
