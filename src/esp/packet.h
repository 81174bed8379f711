/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packet.h
 * IP packets through an SA: transport and tunnel mode (RFC 4303 section 3.1), IPv4 and IPv6 with
 * extension headers, in UDP if the SA says so (RFC 3948). Pure; counts by verdict in the SA.
 */
#ifndef ESP_PACKET_H
#define ESP_PACKET_H

#include "esp/sa.h"

/** Octets that a packet needs before it at most: outer IPv6 and UDP headers, ESP. */
#define ESP_HEADROOM (40 + 8 + ESP_LEN_MAX)
/** And behind it. */
#define ESP_TAILROOM (ESP_TRAILER_ROOM + ESP_ICV_MAX)

/**
 * Protect the IP packet @p b, whose header and checksums are complete. It may lie elsewhere
 * (esp_buffer.from).
 * @return else than ESP_OK: it must not be sent.
 */
enum esp_verdict esp_encapsulate(struct esp_sa *sa, struct esp_buffer *b);

/**
 * Make the IP packet @p b, which is whole and whose header was checked, what it was before ESP.
 * Tunnel mode: the inner packet, with the outer header's congestion mark (RFC 6040 section 4.2).
 * @param at where its ESP header begins, behind the UDP header if there is one.
 * @return else than ESP_OK: it is to be dropped.
 */
enum esp_verdict esp_decapsulate(struct esp_sa *sa, struct esp_buffer *b, size_t at);

/**
 * The longest IP packet without options and extension headers that fits @p mtu after
 * esp_encapsulate(). 0: none does.
 */
size_t esp_room(const struct esp_sa_config *c, bool v4, size_t mtu);

/** What came to a UDP port that ESP may come to (RFC 3948 section 2). */
enum esp_udp_kind {
	ESP_UDP_ESP,
	ESP_UDP_IKE,       /**< behind the non-ESP marker */
	ESP_UDP_KEEPALIVE, /**< to be forgotten */
	ESP_UDP_NOTHING,   /**< too short */
};

enum esp_udp_kind esp_udp_kind(const uint8_t *data, size_t len);

#endif
