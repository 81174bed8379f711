/* SPDX-License-Identifier: BSD-2-Clause */
/** @file nd_frame.h Frames of ND as literals, for struct host of host.h, and what they are made of.
 */
#ifndef TESTS_UNIT_IP_ND_FRAME_H
#define TESTS_UNIT_IP_ND_FRAME_H

#include "host.h"

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define ETH_ALL "33 33 00 00 00 01 02 00 00 00 00 02 86 dd "
#define ETH_SOL "33 33 ff 00 00 01 02 00 00 00 00 02 86 dd "
#define HEAD    "60 00 00 00 00 00 3a ff "
#define FD2     "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define FD1     "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define LL2     "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define LL_US   "fe 80 00 00 00 00 00 00 00 00 00 ff fe 00 00 01 "
#define NONE    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
#define ALL     "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define ROUTERS "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define SOL1    "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01 "
#define SOL2    "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 02 "
#define NS      "87 00 00 00 00 00 00 00 "
#define SLLA    "01 01 02 00 00 00 00 02 "
#define TLLA    "02 01 02 00 00 00 00 02 "
#define ETH3    "33 33 00 00 00 01 02 00 00 00 00 03 86 dd "
#define LL3     "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 03 "
#define SLLA3   "01 01 02 00 00 00 00 03 "
#define RIVAL   "02 01 02 00 00 00 00 66 " /* TLLA of another station */

/* Life 1800 s, MTU 1400, on-link prefix 2001:db8:1::/64 for 600 s. */
#define RA     "86 00 00 00 40 00 07 08 00 00 00 00 00 00 00 00 "
#define RA_END "86 00 00 00 40 00 00 00 00 00 00 00 00 00 00 00 "
#define MTU    "05 01 00 00 00 00 05 78 "
#define PREFIX                                             \
	"03 04 40 80 00 00 02 58 00 00 02 58 00 00 00 00 " \
	"20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 00 "

/* The same, which is none any more. */
#define PREFIX_END                                         \
	"03 04 40 80 00 00 00 00 00 00 00 00 00 00 00 00 " \
	"20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 00 "

/** Let the stack receive one, its length and ICMPv6 checksum filled in here. */
void nd_frame_input(struct host *h, const char *hex, unsigned piece);

/** The next frame sent must be this, filled in likewise. */
void nd_frame_expect(struct host *h, const char *hex);

/** A host with IPv6 that has heard of the router fe80::2, at 02:00:00:00:00:02. */
struct host *nd_frame_host_with_router(void);

/** Send an empty TCP segment from fd00::1 to who is beyond a router; @p p is made with the first.
 */
void nd_frame_send_beyond(struct host *h, struct ip_path *p);

#endif
