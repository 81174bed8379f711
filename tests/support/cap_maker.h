/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cap_maker.h
 * Builds captures in memory, frame by frame: a TCP connection between 10.0.0.1:40000 (side 0) and
 * 10.0.0.2:7174 (side 1), in Ethernet frames of the pcap format, 1 us apart.
 */
#ifndef TESTS_SUPPORT_CAP_MAKER_H
#define TESTS_SUPPORT_CAP_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cap_maker {
	uint8_t *bytes;
	size_t len, size;
	uint32_t seq[2]; /**< that each side sends next */
	uint64_t frames;
	uint32_t snap;     /**< snap length of frames; 0: none */
	bool crc, markers; /**< of FPDUs that are made */
	bool sums;         /**< TCP's checksum is filled in; else the field is zero */
	uint64_t at[2];    /**< octet of full operation */
};

/** Begin with a file header. ISNs: 1000 and 5000. */
void cap_maker_init(struct cap_maker *m);
void cap_maker_free(struct cap_maker *m);

/** Any segment. Only the file of *m changes. */
void cap_maker_packet(struct cap_maker *m, unsigned side, uint32_t seq, uint32_t ack, uint8_t flags,
	const void *text, size_t len);

/** SYN, SYN and ACK, ACK. */
void cap_maker_handshake(struct cap_maker *m);

/** Text in order, acknowledging all that the other side has sent. */
void cap_maker_text(struct cap_maker *m, unsigned side, const void *text, size_t len);

/** A request (side 0) or reply (side 1) frame of revision 2 with IRD and ORD 4. */
void cap_maker_request(struct cap_maker *m);
void cap_maker_reply(struct cap_maker *m);

/** A whole start-up: handshake, request, reply. */
void cap_maker_start(struct cap_maker *m);

/** Frame a ULPDU into @p out (len + 600 bytes are enough). @return its length; at[] advances. */
size_t cap_maker_frame(
	struct cap_maker *m, unsigned side, const void *ulpdu, size_t len, uint8_t *out);

/** An FPDU in a segment of its own. */
void cap_maker_fpdu(struct cap_maker *m, unsigned side, const void *ulpdu, size_t len);

/** Likewise: a Send, a Write, a Read Request (sink STag 0x11 at 0x100, source STag 0x22 at 0). */
void cap_maker_send(struct cap_maker *m, unsigned side, uint32_t msn, size_t len);
void cap_maker_write(struct cap_maker *m, unsigned side, size_t len);
void cap_maker_read_request(struct cap_maker *m, unsigned side, uint32_t msn, uint32_t size);
void cap_maker_read_response(struct cap_maker *m, unsigned side, uint64_t to, size_t len);

/** FIN, and the other side's ACK. */
void cap_maker_fin(struct cap_maker *m, unsigned side);

#endif
