/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file handshake.h
 * The SYNs of a TCP connection that is not followed yet. Anybody can send a SYN, and old ones may
 * come late: the ends go on from one of them, and what they send then tells which.
 */
#ifndef PCAP_HANDSHAKE_H
#define PCAP_HANDSHAKE_H

#include "pcap/packet.h"

/** SYNs that belong to each other. */
struct handshake {
	uint32_t isn[2];
	bool syn[2];   /**< isn is known */
	bool answered; /**< a SYN and its answer were seen */
};

/** Of those that are not the one in force, as many are kept. */
#define HANDSHAKE_OTHERS 2

struct handshakes {
	struct handshake now;
	struct handshake other[HANDSHAKE_OTHERS]; /**< the newest first */
};

/** A SYN of end @p side. @p talked: there was text behind the one in force, so it is another. */
void handshake_syn(struct handshakes *h, bool talked, unsigned side, const struct packet *p);

/** Any other segment of it. @return true: another handshake is the one in force now. */
bool handshake_confirm(struct handshakes *h, unsigned side, const struct packet *p);

#endif
