/* SPDX-License-Identifier: BSD-2-Clause */
/** @file esp_wire.h ESP on the wire (RFC 4303 section 2, RFC 4106, RFC 3602, RFC 3948). */
#ifndef ESP_ESP_WIRE_H
#define ESP_ESP_WIRE_H

enum {
	ESP_SPI = 0,
	ESP_SEQUENCE = 4,    /**< the low 32 bits */
	ESP_IV = 8,          /**< or what is encrypted, if there is none */
	ESP_TRAILER_LEN = 2, /**< pad length and next header */
	ESP_AAD_MAX = 12,    /**< SPI and a sequence number of 64 bits (RFC 4106 section 5) */
	ESP_AAD_ROOM = 16,   /**< so that one store can write it */
};

/** What depends on the algorithms. */
enum {
	ESP_GCM_IV_LEN = 8, /**< RFC 4106 section 3.1 */
	ESP_GCM_ICV_LEN = 16,
	ESP_SALT_LEN = 4,
	ESP_CBC_BLOCK_LEN = 16, /**< and the length of its IV (RFC 3602 section 3) */
	ESP_ALIGN = 4,          /**< of the trailer's end, at least */
	ESP_LEN_MAX = ESP_IV + ESP_CBC_BLOCK_LEN,
	ESP_TRAILER_ROOM = ESP_CBC_BLOCK_LEN - 1 + ESP_TRAILER_LEN, /**< with padding, at most */
	ESP_ICV_MAX = 16,
};

/** Next headers (IANA). */
enum {
	ESP_PROTO = 50,
	ESP_NEXT_IPV4 = 4,
	ESP_NEXT_UDP = 17,
	ESP_NEXT_IPV6 = 41,
	ESP_NEXT_DUMMY = 59
};

/** RFC 3948 sections 2.1 to 2.3. */
enum { ESP_UDP_MARKER_LEN = 4, ESP_UDP_KEEPALIVE_OCTET = 0xff };

#endif
