/* SPDX-License-Identifier: BSD-2-Clause */
/** @file policer.h What exceeds a rate and a burst is dropped, without a queue. */
#ifndef TESTS_SIM_POLICER_H
#define TESTS_SIM_POLICER_H

#include "sim/bucket.h"
#include "sim/element.h"

struct sim_policer;

struct sim_policer *sim_policer_create(struct sim *s, const struct sim_bucket_config *cfg);
struct sim_element *sim_policer_element(struct sim_policer *p);
uint64_t sim_policer_drops(const struct sim_policer *p);

#endif
