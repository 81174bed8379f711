/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file check.h
 * The conformance check: what each end of an iWARP connection sends, against what RFC 5040, 5041,
 * 5044, 6581 and 7306 demand of a sender.
 *
 * An observer knows less than the ends. What it has not seen (holes of the capture, a direction
 * that was not captured) it does not judge: after a hole the sequence numbers of messages and the
 * Reads under way are taken up again where that is possible without doubt.
 */
#ifndef PCAP_CHECK_H
#define PCAP_CHECK_H

#include "pcap/reads.h"
#include "pcap/report.h"
#include "rdmap/rdmap_wire.h"

/** Headers of an end's last segments, that a Terminate of its peer may quote. */
#define CHECK_QUOTABLE 64

struct check_quotable {
	uint16_t ulpdu_len;
	uint8_t header_len; /**< 0: none */
	uint8_t header[DDP_HEADER_MAX];
	bool read; /**< a Read Request, with its header */
	uint8_t read_header[RDMAP_READ_HEADER_LEN];
};

/** A message that has begun, of one queue or tagged. */
struct check_message {
	bool open;
	uint8_t ulp;
	uint32_t ulp32; /**< untagged: RsvdULP; tagged: the STag */
	uint64_t next;  /**< tagged: the TO that comes next */
};

/** What one end has sent. */
struct check_side {
	struct ddp ddp;               /**< rx: what its next untagged segments must say */
	bool queue_known[DDP_QUEUES]; /**< false after a hole, until the next segment */
	struct check_message untagged[DDP_QUEUES], tagged;
	struct reads reads; /**< that it asked for */
	bool terminated;
	uint64_t terminate_frame;
	bool first;         /**< its first FPDU was seen, and nothing before it missed */
	uint32_t first_end; /**< sequence number behind that */
	bool gap;           /**< some of its FPDUs were not seen */
	uint64_t fpdus, unaligned, cut, unseen; /**< cut: over more than one segment */
	uint64_t missing, missing_frame;
	struct check_quotable quotable[CHECK_QUOTABLE];
	uint64_t quoted; /**< how many were put there */
};

struct check_connection {
	struct check_side side[2];
	uint16_t told[REQUIREMENTS];
};

/** A check of one capture, or several. */
struct check {
	struct report report;
};

/** For follow_init(), with a struct check. */
extern const struct connection_ops check_ops;

/* ---- what its files share ------------------------------------------------------------------- */

static inline struct check_side *check_side_of(const struct stream *s)
{
	struct check_connection *c = s->c->own;

	return &c->side[stream_side(s)];
}

/** Octets of an FPDU that are shown with what is wrong in it. */
#define CHECK_BYTES 64

/** An FPDU that is judged. */
struct check_fpdu {
	struct check *k;
	struct stream *s;
	struct check_side *me, *peer;
	const struct stream_fpdu *f;
	uint8_t opcode;
	const uint8_t *bytes; /**< its first octets, as on the wire */
	size_t len;           /**< of them, at most CHECK_BYTES */
};

/** The sender of an FPDU did not meet a demand. */
#define check_fail(x, id, ...)                                                                     \
	report_violation(&(x)->k->report,                                                          \
		&(struct report_place){(x)->s, (x)->f->frame, (x)->f->time, (x)->bytes, (x)->len}, \
		id, check_told((x)->s, id), __VA_ARGS__)

#define check_note(x, ...)                                                                         \
	report_note(&(x)->k->report,                                                               \
		&(struct report_place){(x)->s, (x)->f->frame, (x)->f->time, (x)->bytes, (x)->len}, \
		__VA_ARGS__)

static inline uint16_t *check_told(const struct stream *s, enum requirement_id id)
{
	struct check_connection *c = s->c->own;

	return &c->told[id];
}

/** check_start.c: a start-up frame. */
void check_start(struct check *k, struct stream *s);

/** check_fpdu.c: the frame itself, and when it comes. */
void check_framing(struct check_fpdu *x);

/** check_segment.c: DDP's header. @return true if RDMAP's part can be judged. */
bool check_segment(struct check_fpdu *x);

/** check_message.c: RDMAP's. */
void check_message(struct check_fpdu *x);

/** check_terminate.c */
void check_terminate(struct check_fpdu *x);

/** check_terminate.c: keep what a Terminate of the peer may quote. */
void check_remember(struct check_fpdu *x);

#endif
