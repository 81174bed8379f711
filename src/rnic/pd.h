/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pd.h Private: a protection domain. */
#ifndef RNIC_PD_H
#define RNIC_PD_H

#include "rnic/device.h"

struct rnic_pd {
	LIST_ENTRY(rnic_pd) link;
	struct rnic *rnic;
	uint32_t users; /**< memory regions and windows, SRQs and QPs; under the engine's lock */
	uint32_t qps;   /**< QPs that use its memory: its own, and those of its SRQs */
};

#endif
