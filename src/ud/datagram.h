/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file datagram.h
 * The messages of UD queue pairs on the wire: one in each UDP datagram (docs/ud.md). All numbers
 * are big-endian but the CRC, which lies as MPA's does (RFC 5044 section 4.4).
 *
 *      0  4  "uiUD"
 *      4  1  version, 1
 *      5  1  flags: UD_WITH_IMM, UD_SOLICITED; the others 0
 *      6  2  octets of the message
 *      8  4  number of the QP that it is for
 *     12  4  number of the QP that it is from
 *     16  4  Q_Key
 *     20  4  immediate data; 0 without UD_WITH_IMM
 *     24     the message
 *      +  4  CRC32c of all before
 *
 * No state: any thread may call these.
 */
#ifndef UD_DATAGRAM_H
#define UD_DATAGRAM_H

#include "base/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UD_HEADER_LEN 24
#define UD_CRC_LEN    4
/** What a datagram has besides its message. */
#define UD_OVERHEAD (UD_HEADER_LEN + UD_CRC_LEN)
/** The longest message: InfiniBand's largest MTU. */
#define UD_MESSAGE_MAX  4096
#define UD_DATAGRAM_MAX (UD_MESSAGE_MAX + UD_OVERHEAD)
/** QP numbers have 24 bits. */
#define UD_QP_MASK 0xffffffu

#define UD_WITH_IMM  0x01
#define UD_SOLICITED 0x02 /**< the receiver is to raise an event for it */

struct ud_header {
	uint8_t flags;
	uint16_t len; /**< of the message */
	uint32_t to_qp, from_qp;
	uint32_t qkey;
	uint32_t imm; /**< in network order */
};

/** What is wrong with a datagram. */
enum ud_fault {
	UD_GOOD,
	UD_FAULT_FORMAT, /**< no such datagram, or of another version; its length is wrong */
	UD_FAULT_CRC,
};

/** Check a datagram and read its header. The message is UD_HEADER_LEN octets behind @p p. */
enum ud_fault ud_parse(const uint8_t *p, size_t len, struct ud_header *h);

/** A datagram that is being written. The fields are private. */
struct ud_writer {
	uint8_t *at, *end; /**< the next octet of the message, and the CRC's first */
	struct digest digest;
};

/** Begin in @p room for UD_OVERHEAD + @p h->len octets. */
void ud_begin(struct ud_writer *w, uint8_t *room, const struct ud_header *h);

/**
 * Copy the next @p len octets of the message out of the program's memory (base/guarded.h). No more
 * than the header says in all.
 * @return false: that memory is not there.
 */
bool ud_gather(struct ud_writer *w, const void *from, size_t len);

/**
 * All octets of the message are there.
 * @return the sum of the datagram's 16-bit words, folded, as UDP wants it (digest.h).
 */
uint16_t ud_finish(struct ud_writer *w);

#endif
