/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mpa_wire.h
 * What MPA puts on the wire: start-up frames (RFC 5044 section 7.1, RFC 6581 section 9) and FPDUs
 * (RFC 5044 section 4).
 */
#ifndef MPA_MPA_WIRE_H
#define MPA_MPA_WIRE_H

#include <stdint.h>

#define MPA_KEY_LEN      16
#define MPA_HEADER_LEN   20  /**< key, flags, revision, private data length */
#define MPA_PRIVATE_MAX  512 /**< of the whole field (RFC 5044 section 7.1) */
#define MPA_ENHANCED_LEN 4   /**< the IRD and ORD words at the front of the field */

/* Offsets in a request or reply frame (RFC 5044 section 7.1.1). */
#define MPA_AT_FLAGS        16
#define MPA_AT_REVISION     17
#define MPA_AT_PD_LENGTH    18
#define MPA_AT_PRIVATE_DATA 20
/* Offsets in the enhanced data at the front of the private data (RFC 6581 section 9). */
#define MPA_AT_IRD 0
#define MPA_AT_ORD 2

#define MPA_REQUEST_KEY "MPA ID Req Frame"
#define MPA_REPLY_KEY   "MPA ID Rep Frame"
#define MPA_FRAME_MAX   (MPA_HEADER_LEN + MPA_PRIVATE_MAX)

#define MPA_FLAG_MARKERS  0x80
#define MPA_FLAG_CRC      0x40
#define MPA_FLAG_REJECT   0x20
#define MPA_FLAG_ENHANCED 0x10 /**< RFC 6581 section 9: S */

/**
 * The reserved bits, which are not checked on receipt (RFC 5044 section 7.1.1). uiwarps tell each
 * other by them that a Send may be followed by Immediate Data of its own (docs/connect.md). A peer
 * that echoes the request's bits has not agreed.
 */
#define MPA_FLAGS_RESERVED       0x0f
#define MPA_FLAGS_SEND_IMM_OFFER 0x05 /**< in a request */
#define MPA_FLAGS_SEND_IMM_AGREE 0x0a /**< in the reply to such a request */

/* The four control flags of the enhanced words: A, B in the IRD word, C, D in the ORD word. */
#define MPA_IRD_PEER_TO_PEER 0x8000
#define MPA_IRD_RTR_SEND     0x4000
#define MPA_ORD_RTR_WRITE    0x8000
#define MPA_ORD_RTR_READ     0x4000
#define MPA_DEPTH_MASK       0x3fff

/** Ready-to-receive frames as a mask (RFC 6581 section 9.2). */
enum mpa_rtr { MPA_RTR_SEND = 1, MPA_RTR_WRITE = 2, MPA_RTR_READ = 4 };

#define MPA_FPDU_HEADER_LEN 2
#define MPA_CRC_LEN         4
#define MPA_ULPDU_MAX       65535 /**< that a ULPDU Length can tell */
#define MPA_MULPDU_MIN      128   /**< RFC 5044 section 4.5 */
#define MPA_MULPDU_MAX      64768 /**< RFC 5044 section 3: no longer one is sent */

/* Markers (RFC 5044 sections 4.2 and 4.3). */
#define MPA_MARKER_LEN    4
#define MPA_MARKER_PERIOD 512 /**< octets of the stream from one marker to the next */
#define MPA_MARKER_GAP    (MPA_MARKER_PERIOD - MPA_MARKER_LEN)
#define MPA_AT_FPDUPTR    2      /**< in a marker */
#define MPA_FPDUPTR_MASK  0xfffc /**< the two low bits count as zero */

/** Bytes of an FPDU up to its CRC field, without markers: length, ULPDU, pad (section 4.1). */
static inline uint32_t mpa_fpdu_body(uint32_t ulpdu_len)
{
	return (MPA_FPDU_HEADER_LEN + ulpdu_len + 3) & ~UINT32_C(3);
}

/** Bytes of a whole FPDU, without markers. */
static inline uint32_t mpa_fpdu_len(uint32_t ulpdu_len)
{
	return mpa_fpdu_body(ulpdu_len) + MPA_CRC_LEN;
}

/** Octets from @p at in the stream to the next marker: 0 - 511; 0: one begins there. */
static inline uint32_t mpa_marker_distance(uint64_t at)
{
	return (uint32_t)(-at % MPA_MARKER_PERIOD);
}

/**
 * Bytes of the markers of an FPDU that begins at @p at in the stream and has @p len bytes without
 * them. A marker between two FPDUs belongs to the second (section 4.3). So an FPDU may begin with a
 * marker, but never ends with one.
 */
static inline uint32_t mpa_marker_bytes(uint64_t at, uint32_t len)
{
	uint32_t first = mpa_marker_distance(at);

	return len <= first ? 0 : (1 + (len - first - 1) / MPA_MARKER_GAP) * MPA_MARKER_LEN;
}

/**
 * Where the ULPDU Length field is of an FPDU that begins at @p at: behind its first marker, if any.
 */
static inline uint64_t mpa_fpdu_header_at(uint64_t at)
{
	return mpa_marker_distance(at) == 0 ? at + MPA_MARKER_LEN : at;
}

/** Error codes of the MPA (LLP) layer in a Terminate (RFC 5044 section 8, RFC 6581 section 8). */
enum mpa_error {
	MPA_ERROR_CLOSED = 0x01,       /**< TCP connection closed, terminated or lost */
	MPA_ERROR_CRC = 0x02,          /**< received CRC does not match */
	MPA_ERROR_MARKER = 0x03,       /**< marker and ULPDU length disagree */
	MPA_ERROR_START = 0x04,        /**< invalid request or reply frame */
	MPA_ERROR_CATASTROPHIC = 0x05, /**< RFC 6581: local catastrophic error */
	MPA_ERROR_INSUFFICIENT_IRD = 0x06,
	MPA_ERROR_NO_RTR = 0x07, /**< no matching RTR option */
};

#endif
