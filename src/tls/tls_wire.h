/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tls_wire.h What TLS 1.3 puts on the wire (RFC 8446 sections 4, 5 and 6). */
#ifndef TLS_TLS_WIRE_H
#define TLS_TLS_WIRE_H

#include <stdint.h>

/** Content types (section 5.1). */
enum tls_content {
	TLS_CHANGE_CIPHER_SPEC = 20,
	TLS_ALERT = 21,
	TLS_HANDSHAKE = 22,
	TLS_APPLICATION_DATA = 23,
};

/* A record: type, legacy version, length of what follows (section 5.1). */
#define TLS_AT_VERSION     1
#define TLS_AT_LENGTH      3
#define TLS_HEADER_LEN     5
#define TLS_LEGACY_VERSION 0x0303

#define TLS_TYPE_LEN  1  /**< of the content type behind the content (section 5.2) */
#define TLS_TAG_LEN   16 /**< of all three ciphers */
#define TLS_NONCE_LEN 12
/** What a protected record has more than its content. */
#define TLS_RECORD_OVERHEAD (TLS_HEADER_LEN + TLS_TYPE_LEN + TLS_TAG_LEN)
/** Section 5.1: content of one record. */
#define TLS_CONTENT_MAX 16384
/** Section 5.2: the length field of a protected record, at most. */
#define TLS_CIPHERTEXT_MAX (TLS_CONTENT_MAX + 256)

/** Alerts (section 6). */
enum tls_alert {
	TLS_ALERT_CLOSE_NOTIFY = 0,
	TLS_ALERT_UNEXPECTED_MESSAGE = 10,
	TLS_ALERT_BAD_RECORD_MAC = 20,
	TLS_ALERT_RECORD_OVERFLOW = 22,
	TLS_ALERT_DECODE_ERROR = 50,
	TLS_ALERT_ILLEGAL_PARAMETER = 47,
	TLS_ALERT_INTERNAL_ERROR = 80,
	TLS_ALERT_USER_CANCELED = 90,
};
#define TLS_ALERT_LEN     2
#define TLS_ALERT_WARNING 1
#define TLS_ALERT_FATAL   2

/** Handshake messages that may come after the handshake (section 4). */
enum tls_message {
	TLS_NEW_SESSION_TICKET = 4,
	TLS_KEY_UPDATE = 24,
};
#define TLS_MESSAGE_HEADER_LEN 4 /**< type and 24 bits of length */

/** Bytes that follow this header of a message. */
static inline uint32_t tls_message_body_len(const uint8_t header[TLS_MESSAGE_HEADER_LEN])
{
	return (uint32_t)header[1] << 16 | (uint32_t)header[2] << 8 | header[3];
}

#define TLS_KEY_UPDATE_LEN   1
#define TLS_UPDATE_REQUESTED 1

#endif
