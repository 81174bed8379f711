/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file neighbour_case.h
 * The neighbour 10.0.0.2 at 02:00:00:00:00:02 of a struct host that has IPv4: what asks for it,
 * what it answers, and packets for it.
 */
#ifndef TESTS_UNIT_IP_NEIGHBOUR_CASE_H
#define TESTS_UNIT_IP_NEIGHBOUR_CASE_H

#include "host.h"

#define REQUEST                                                             \
	"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 02"
#define REPLY                                                               \
	"02 00 00 00 00 01 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 02" \
	"02 00 00 00 00 02 0a 00 00 02 02 00 00 00 00 01 0a 00 00 01"

/** Its entry, which is made if there is none. */
struct ip_neighbour *neighbour_case_entry(struct host *h);

/** Send it an empty TCP segment; @p p is made with the first, but for its TOS. */
void neighbour_case_send(struct host *h, struct ip_path *p);

#endif
