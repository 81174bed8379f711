/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ip_case.h A struct host that sends to 10.0.0.2 or fd00::2, which is 02:00:00:00:00:02. */
#ifndef TESTS_UNIT_IP_IP_CASE_H
#define TESTS_UNIT_IP_IP_CASE_H

#include "host.h"

#define IP_CASE_ETH_TO_US "02 00 00 00 00 01 02 00 00 00 00 02 "

/** The request for 10.0.0.2, and its answer. */
#define IP_CASE_ARP_REQUEST                                                 \
	"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 02"
#define IP_CASE_ARP_REPLY                                                   \
	"02 00 00 00 00 01 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 02" \
	"02 00 00 00 00 02 0a 00 00 02 02 00 00 00 00 01 0a 00 00 01"

/** The same of fd00::2, but for its checksum. */
#define IP_CASE_ND_REPLY                                                    \
	IP_CASE_ETH_TO_US "86 dd 60 00 00 00 00 20 3a ff"                   \
			  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02" \
			  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01" \
			  "88 00 00 00 60 00 00 00"                         \
			  "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02" \
			  "02 01 02 00 00 00 00 02"

/** A TCP header of zeros but for its length, checksum by hand: to 10.0.0.2, and from there. */
#define IP_CASE_SENT                                                  \
	"02 00 00 00 00 02 02 00 00 00 00 01 08 00"                   \
	"45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 01 0a 00 00 02" \
	"00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00"

#define IP_CASE_TCP                                                   \
	"45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01" \
	"00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00"

/** Of both families: host_new_v4() and host_new_v6() in one. */
struct host *ip_case_host(void);

/** 10.0.0.2 and fd00::2 tell their link-layer address, if there is a path to them. */
void ip_case_answer(struct host *h);

/** From the source that is right for @p dst. */
void ip_case_path(struct host *h, struct ip_path *p, const char *dst);

/** Send an empty TCP segment. @return as ip_send(). */
int ip_case_send(struct host *h, struct ip_path *p);

#endif
