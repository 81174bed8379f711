/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mtu.h
 * A router before a link with a smaller MTU: larger packets are dropped, and their sender is told
 * (RFC 1191 section 4, RFC 4443 section 3.2), or is not: a black hole (RFC 2923 section 2.1).
 */
#ifndef TESTS_SIM_MTU_H
#define TESTS_SIM_MTU_H

#include "sim/element.h"

struct sim_mtu_config {
	uint16_t mtu; /**< IP header included; 0: any */
	/** Where the message to the sender goes: the way back. NULL: black hole. */
	struct sim_element *back;
};

struct sim_mtu;

struct sim_mtu *sim_mtu_create(struct sim *s, const struct sim_mtu_config *cfg);
struct sim_element *sim_mtu_element(struct sim_mtu *x);
struct sim_mtu_config *sim_mtu_config(struct sim_mtu *x); /**< to change at any time */
uint64_t sim_mtu_drops(const struct sim_mtu *x);

#endif
