/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ecn.h Congestion marks on a packet (RFC 3168 section 5). */
#ifndef TESTS_SIM_ECN_H
#define TESTS_SIM_ECN_H

#include "sim/packet.h"

/** True for ECT(0), ECT(1) and CE. */
bool sim_ecn_capable(struct rte_mbuf *m);

/** Set CE. Owns @p m. @return the packet marked, or NULL (no memory). */
struct rte_mbuf *sim_ecn_mark(struct sim *s, struct rte_mbuf *m);

#endif
