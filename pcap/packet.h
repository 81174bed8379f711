/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * Parses captured frames to TCP segments, and datagrams of the port mapper: link headers (Ethernet
 * with any VLAN tags, and SNAP, Linux cooked, loopback, raw IP), IPv4, IPv6 with extension headers.
 * No state. packet_sum() looks at TCP's checksum, for those who want to know: a capture on the
 * sender has frames before the NIC fills them in.
 */
#ifndef PCAP_PACKET_H
#define PCAP_PACKET_H

#include "base/digest.h"
#include "base/ip_addr.h"
#include "pcap/capture.h"

enum packet_kind {
	PACKET_TCP,
	PACKET_OTHER,    /**< no TCP, or a link type that we do not know */
	PACKET_FRAGMENT, /**< of an IP packet that may carry TCP */
	PACKET_CUT,      /**< the snap length cut the headers off */
	PACKET_BAD,      /**< invalid headers */
	PACKET_MAPPER,   /**< UDP from or to the iWARP port mapper's port */
	PACKET_KINDS
};

#define PACKET_FIN 0x01
#define PACKET_SYN 0x02
#define PACKET_RST 0x04
#define PACKET_PSH 0x08
#define PACKET_ACK 0x10

/** What TCP's checksum says of a segment. */
enum packet_sum {
	PACKET_SUM_UNKNOWN,  /**< nothing: not all of it is here, or the field is empty */
	PACKET_SUM_RIGHT,    /**< it is as it was sent */
	PACKET_SUM_UNFILLED, /**< nothing yet: hardware was to fill it in */
	PACKET_SUM_WRONG,    /**< it is not as it was sent */
};

struct packet {
	struct ip_endpoint src, dst;
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags;
	uint32_t len;      /**< of the text on the wire; fragment: of its data */
	uint32_t captured; /**< bytes of it in the capture */
	const uint8_t *text;
	const char *unread; /**< PACKET_OTHER: the tunnel or protocol that was not read; or NULL */
	uint8_t header; /**< octets of TCP's header, which lies before its text if all is here */
	bool routed;    /**< the pseudo header may have other addresses: IP has options */
	enum packet_sum sum; /**< as its user has looked; UNKNOWN at first */
	bool continues;      /**< its text belongs to the segment of the packet before */
	bool more;           /**< a fragment, or a segment made of them: others follow */
	uint32_t offset;     /**< a fragment: in octets */
	uint32_t id;         /**< a fragment: Identification */
	uint8_t protocol;    /**< a fragment: what the packet begins with, behind IP */
	uint32_t before;     /**< octets before the text, from where the parser began */
};

/**
 * Read a frame.
 * @param[out] p all fields with PACKET_TCP; with PACKET_FRAGMENT addresses, text and the fields of
 *               fragments; with PACKET_MAPPER both ends and text.
 */
enum packet_kind packet_parse(const struct cap_frame *f, struct packet *p);

/**
 * Parse a packet of @p len octets, of which @p p is the first fragment, and set the fields of
 * PACKET_TCP: its text may go on in others.
 * @return as packet_parse().
 */
enum packet_kind packet_parse_whole(struct packet *p, uint32_t len);

/** Look at the checksum of a segment that is in one piece. */
enum packet_sum packet_sum(const struct packet *p);

/** The same of @p len octets of TCP, header and all, that begin with @p head: @p d is their sum. */
enum packet_sum packet_judge_sum(const struct packet *head, const struct digest *d, uint32_t len);

/** True if frames of this LINKTYPE_ are read; those of others are PACKET_OTHER. */
bool packet_knows_link(uint32_t link);

#endif
