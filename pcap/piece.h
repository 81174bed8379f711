/* SPDX-License-Identifier: BSD-2-Clause */
/** @file piece.h Text of one direction of a TCP connection, as a segment in the capture has it. */
#ifndef PCAP_PIECE_H
#define PCAP_PIECE_H

#include <stdbool.h>
#include <stdint.h>

struct piece {
	const uint8_t *bytes; /**< NULL: not in the capture */
	uint32_t len;
	uint32_t seq;
	uint32_t ack;    /**< acknowledgement number of its segment */
	uint32_t more;   /**< octets of TCP behind it that belong to it: what seals a record
			    (sealed.h) */
	bool unmeasured; /**< with bytes NULL: nobody knows how much of the ULP's text it is */
	bool closed;     /**< likewise: it is in the capture, and no key opens it */
	bool first;      /**< the first piece of a TCP segment */
	bool last;       /**< the last piece of a TCP segment */
	bool damaged;    /**< TCP's checksum of it is wrong */
	bool lost; /**< with bytes NULL: true: no frame has it; false: the snap length cut it off */
	uint64_t frame; /**< its frame; of lost text: where the loss was noticed */
	uint64_t time;
};

#endif
