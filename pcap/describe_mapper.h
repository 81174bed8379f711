/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file describe_mapper.h
 * Describes datagrams of the iWARP port mapper (iwpm/message.h), as text and as JSON.
 */
#ifndef PCAP_DESCRIBE_MAPPER_H
#define PCAP_DESCRIBE_MAPPER_H

#include "pcap/line.h"
#include "pcap/packet.h"

#include <jansson.h>

/** "port mapper Accept 00ff12c4d5e6f708 mapped to 10.0.0.2:33781". @param p of PACKET_MAPPER. */
void describe_mapper(struct line *l, const struct packet *p);

/** Add members to @p o: without "type" it is no message. */
void describe_mapper_json(json_t *o, const struct packet *p);

#endif
