/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sidr.h
 * The messages by which UD queue pairs find each other over rdma_cm (docs/ud.md). The name, and who
 * asks what, are InfiniBand's service ID resolution. Each is one UDP datagram of SIDR_LEN octets,
 * so that no answer is longer than what caused it. Big-endian but the CRC, which lies as MPA's does
 * (RFC 5044 section 4.4).
 *
 *      0  4  "uiSR"
 *      4  1  version, 1
 *      5  1  enum sidr_kind
 *      6  1  reply: enum sidr_status; request: 0
 *      7  1  octets of private data, at most SIDR_PRIVATE_MAX
 *      8  8  number of the request; a reply has that of its request
 *     16  4  reply that accepts: number of the QP; else 0
 *     20  4  reply that accepts: its Q_Key; else 0
 *     24  4  0
 *     28  180  private data, and 0 behind it
 *    208  4  CRC32c of all before
 *
 * No state: any thread may call these.
 */
#ifndef UD_SIDR_H
#define UD_SIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** As much as a program may give over InfiniBand. */
#define SIDR_PRIVATE_MAX 180
#define SIDR_LEN         212

enum sidr_kind { SIDR_REQUEST = 1, SIDR_REPLY = 2 };

/** Those of InfiniBand's SIDR_REP that have a meaning here, with its numbers. */
enum sidr_status {
	SIDR_ACCEPTED,
	SIDR_NOBODY_LISTENS,
	SIDR_REJECTED,
	SIDR_STATUSES,
};

struct sidr_message {
	uint8_t kind, status;
	uint8_t private_len;
	uint64_t number;
	uint32_t qp, qkey;
	const uint8_t *private_data; /**< parsed: within the datagram; put: may be NULL */
};

/** Write @p m, whose fields are within their limits. */
void sidr_put(uint8_t p[SIDR_LEN], const struct sidr_message *m);

/** @return false: it is no such message, or of another version, or damaged. */
bool sidr_parse(const uint8_t *p, size_t len, struct sidr_message *m);

#endif
