/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file host.h
 * One IP stack under test: 10.0.0.1/24 and fd00::1/64 at 02:00:00:00:00:01, a virtual clock, what
 * it sends and delivers kept for a look.
 */
#ifndef TESTS_UNIT_IP_HOST_H
#define TESTS_UNIT_IP_HOST_H

#include "ip/ip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HOST_KEEP 128
#define SECOND    UINT64_C(1000000000)

/** Hexadecimal text with blanks, as a packet literal: "45 00 ...". */
struct bytes {
	uint8_t b[4096];
	unsigned len;
};

struct host {
	struct ip_stack *ip;
	struct timer_wheel wheel;
	struct rte_mempool *pool;
	struct log_sink log;
	uint64_t now;
	struct rte_mbuf *tx[HOST_KEEP]; /**< frames that the stack sent */
	unsigned n_tx;
	struct rte_mbuf *rx[HOST_KEEP]; /**< what came up to TCP */
	struct ip_rx rx_info[HOST_KEEP];
	unsigned n_rx;
	struct ip_error error; /**< the last one */
	uint8_t error_l4[64];
	unsigned n_errors, log_lines;
	char log_text[512];
};

/** Start a host without addresses; both setters add theirs and throw away what they sent. */
struct host *host_new(void);
struct host *host_new_at(uint8_t station); /**< another one on the link, 02:00:00:00:00:station */
struct host *host_new_offload(void);       /**< on a port that fills in checksums */
struct host *host_new_no_link(void);       /**< on a port without a link layer */
struct host *host_new_ipsec(const struct ip_ipsec *x, bool no_link);
struct host *host_new_v4(void);
struct host *host_new_v6(void);

/** Ends the host; fails the test if a packet is missing. */
void host_free(struct host *h);

struct ip_addr host_addr(const char *text);

/** Parse a literal. */
struct bytes bytes(const char *hex);

/** Append the literal @p hex to @p b. */
void bytes_add(struct bytes *b, const char *hex);

/** Let the stack receive one frame, cut into pieces of @p piece bytes (0: whole). */
void host_input(struct host *h, const struct bytes *frame, unsigned piece);

/** The same for a literal. */
void host_input_hex(struct host *h, const char *hex);

/** Move the clock on, timers firing on their way. */
void host_run(struct host *h, uint64_t ns);

/** The next sent frame must be exactly these bytes. */
void host_expect(struct host *h, const char *hex);

/** No frame must have been sent. */
void host_expect_nothing(struct host *h);

/** @return the neighbour with this address, or NULL. */
struct ip_neighbour *host_neighbour(struct host *h, const char *addr);

/** Do packets to @p dst go to @p hop? */
bool host_has_hop(struct host *h, const char *dst, const char *hop);

/** Throw away what was sent and delivered. */
void host_forget(struct host *h);

/** A transport packet of @p len bytes, the first 20 of them zero but for the data offset. */
struct rte_mbuf *host_segment(struct host *h, unsigned len);

/** Send an empty TCP segment; @p p is made with the first, but for its TOS. */
void host_send(struct host *h, struct ip_path *p, const char *src, const char *dst);

/** Write the IPv4 header checksum of a frame literal, and the ICMP(v6) or TCP one behind it. */
void fix_v4(struct bytes *frame);
void fix_v4_header(struct bytes *frame); /**< the IPv4 header's only */
void fix_v6(struct bytes *frame);

#endif
