/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file switch.h
 * An Ethernet switch with ideal ports: frames to a host that was attached go to its port, frames to
 * any other station to the trunk, multicasts to all. With a switch at each end of a path, many
 * hosts share it: a dumbbell.
 */
#ifndef TESTS_SIM_SWITCH_H
#define TESTS_SIM_SWITCH_H

#include "sim/element.h"

struct sim_switch;

struct sim_switch *sim_switch_create(struct sim *s);

/** Where a host's frames go in, and those of the trunk. */
struct sim_element *sim_switch_element(struct sim_switch *w);
struct sim_element *sim_switch_trunk_in(struct sim_switch *w);

/** Frames to @p h leave by @p port: the host itself, or a path to it. */
void sim_switch_attach(struct sim_switch *w, struct sim_host *h, struct sim_element *port);

/** Frames to others go here. */
void sim_switch_set_trunk(struct sim_switch *w, struct sim_element *port);

#endif
