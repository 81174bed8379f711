/* SPDX-License-Identifier: BSD-2-Clause */
/** @file describe.h Describes start-up frames and FPDUs, as text and as JSON. */
#ifndef PCAP_DESCRIBE_H
#define PCAP_DESCRIBE_H

#include "pcap/connection.h"
#include "pcap/line.h"

#include <jansson.h>

/** Bytes of the largest message that is only a header. */
#define DESCRIBE_HEADER_MAX 64

/** "MPA Request rev 2 C1 M0 S1 IRD 16 ORD 16". */
void describe_start(struct line *l, const struct stream_start *st);

/** "RDMA Write L stag 0x1f2 to 0x7f00 len 1428". */
void describe_fpdu(struct line *l, const struct stream_fpdu *f);

/** Add members to @p o. */
void describe_start_json(json_t *o, const struct stream_start *st);
void describe_fpdu_json(json_t *o, const struct stream_fpdu *f);

/**
 * Copy the first bytes of the payload of an FPDU's segment.
 * @return how many, at most @p max; 0 when they are not in the capture.
 */
size_t describe_payload(const struct stream_fpdu *f, uint8_t *out, size_t max);

#endif
