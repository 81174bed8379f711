/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file check.h
 * The conformance check: it compares what each end of an iWARP connection sends with the demands of
 * RFC 5040, 5041, 5044, 6581 and 7306.
 *
 * An observer knows less than the ends. So it does not judge what it has not seen, such as holes of
 * the capture or a direction that was not captured. After a hole it goes on with sequence numbers
 * of messages and with Reads under way where they are certain.
 */
#ifndef PCAP_CHECK_H
#define PCAP_CHECK_H

#include "pcap/reads.h"
#include "pcap/report.h"
#include "rdmap/rdmap_wire.h"

/** Number of the last segments with headers that are kept, as a Terminate may quote them. */
#define CHECK_QUOTABLE 64

struct check_quotable {
	uint32_t doubted; /**< octets of the header that its sender got wrong, a bit each */
	uint16_t ulpdu_len;
	bool bad_crc;       /**< the length may be wrong, too */
	uint8_t header_len; /**< 0: none */
	uint8_t header[DDP_HEADER_MAX];
	bool read; /**< a Read Request, with its header */
	uint8_t read_header[RDMAP_READ_HEADER_LEN];
};

/** A message under way, of an untagged queue or tagged. */
struct check_message {
	bool open;
	uint8_t ulp;
	uint32_t ulp32; /**< untagged: RsvdULP; tagged: the STag */
	uint64_t next;  /**< tagged: the TO that comes next */
};

/** State of what one end has sent. */
struct check_side {
	struct ddp ddp;                /**< rx: expected values of its next untagged segments */
	uint32_t messages[DDP_QUEUES]; /**< that have ended */
	bool queue_known[DDP_QUEUES];  /**< false after a hole, until the next segment */
	struct check_message untagged[DDP_QUEUES], tagged;
	/* After a segment that was wrong: what the next is like if nothing else is. */
	struct ddp due;
	bool queue_wrong[DDP_QUEUES];
	struct check_message untagged_due[DDP_QUEUES], tagged_due; /**< open: there is one */
	struct reads reads;                                        /**< that it has requested */
	bool requests_counted; /**< the MSN of its last request is known, so that a later one tells
				* how many were not seen */
	bool requests_missing; /**< some may not be, since then */
	bool terminated;
	uint64_t terminate_frame;
	bool first;         /**< its first FPDU was seen, and nothing before it is missing */
	uint32_t first_end; /**< sequence number behind that */
	uint64_t first_at;  /**< octet of full operation behind that */
	bool gap;           /**< some of its FPDUs were not seen */
	uint64_t fpdus, unaligned, cut, unseen; /**< cut: over more than one segment */
	uint64_t missing, missing_frame;
	uint64_t closed, closed_frame; /**< TLS records that no key opens, and where the first is */
	struct check_quotable *quotable; /**< grows up to CHECK_QUOTABLE */
	unsigned cap_quotable;
	uint64_t quoted; /**< number of headers that were kept */
};

/** How often one thing was found of one end. */
struct check_count {
	uint16_t id; /**< enum requirement_id, or from REQUIREMENTS on enum check_remark */
	uint16_t side;
	uint16_t told; /**< as report_violation() counts */
};

/** What is noted, and may be so often. */
enum check_remark {
	CHECK_LOST,
	CHECK_FOUND,
	CHECK_MISSING,
	CHECK_CONFLICT,
	CHECK_DAMAGED,
	CHECK_FOREIGN
};

struct check_connection {
	struct check_side side[2];
	struct check_count *counts;
	unsigned num_counts;
};

/** A check of one capture, or several. */
struct check {
	struct report report;
};

/** For follow_init(), with a struct check. */
extern const struct connection_ops check_ops;

/* ---- private ------------------------------------------------------------------- */

static inline struct check_side *check_side_of(const struct stream *s)
{
	struct check_connection *c = s->c->own;

	return &c->side[stream_side(s)];
}

/** Octets of an FPDU that are shown with a finding. */
#define CHECK_BYTES 64

/** An FPDU under check. */
struct check_fpdu {
	struct check *k;
	struct stream *s;
	struct check_side *me, *peer;
	const struct stream_fpdu *f;
	uint8_t opcode;
	bool misplaced;              /**< STag or TO was found wrong by that of its message */
	uint32_t unseen_requests;    /**< that were sent before it, by its MSN, and not seen */
	const uint8_t *bytes;        /**< its first octets, as on the wire */
	size_t len;                  /**< of them, at most CHECK_BYTES */
	struct check_quotable *kept; /**< NULL: out of memory */
};

/** The sender of an FPDU did not meet a demand. */
#define check_fail(x, id, ...)                                                                     \
	report_violation(&(x)->k->report,                                                          \
		&(struct report_place){(x)->s, (x)->f->frame, (x)->f->time, (x)->bytes, (x)->len}, \
		id, check_told((x)->s, id), __VA_ARGS__)

/** The same, and @p n octets of its DDP header from @p at on are what is wrong. */
#define check_fail_header(x, at, n, id, ...)    \
	do {                                    \
		check_doubt(x, at, n);          \
		check_fail(x, id, __VA_ARGS__); \
	} while (0)

/** A frame in a finding's text. */
#define check_frame(x, frame) (report_frame(&(x)->k->report, frame).text)

#define check_note(x, ...)                                                                         \
	report_note(&(x)->k->report,                                                               \
		&(struct report_place){(x)->s, (x)->f->frame, (x)->f->time, (x)->bytes, (x)->len}, \
		__VA_ARGS__)

/** The count of it, for the end that sends in @p s; valid until the next call. */
uint16_t *check_told(const struct stream *s, unsigned id);

/** check_start.c: a start-up frame. */
void check_start(struct check *k, struct stream *s);

/** check_fpdu.c: count it. */
void check_count(struct check_fpdu *x);

/** check_fpdu.c: its framing, and whether it may come now. */
void check_framing(struct check_fpdu *x);

/** check_segment.c: DDP's header. @return true if RDMAP's part can be judged. */
bool check_segment(struct check_fpdu *x);

/** check_message.c: RDMAP's header. @return true if the message is known. */
bool check_message(struct check_fpdu *x);

/** check_read.c: a request of a Read or an Atomic Operation. */
void check_request(struct check_fpdu *x);

/** check_read.c: a message of its queue, of which nothing is known. */
void check_unknown_request(struct check_fpdu *x);

/** check_read.c: the answer to one, or a part of it. */
void check_response(struct check_fpdu *x);

/** check_read.c: some of what an end has sent was not seen. */
void check_forget_reads(struct stream *s);

/** check_read.c: true if the requests of @p s that have no answer are known. */
bool check_reads_known(const struct stream *s);

/** True if all that was sent before in the direction of @p s was seen, from its start-up on. */
bool check_has_all(const struct stream *s);

/** True if all that the FPDU acknowledges is in FPDUs that were seen. */
bool check_has_parsed(const struct check_fpdu *x);

/** check_terminate.c */
void check_terminate(struct check_fpdu *x);

/** check_terminate.c: free what was kept. */
void check_forget_quotable(struct check_side *side);

/** check_terminate.c: keep headers, as a Terminate of the peer may quote them. */
void check_remember(struct check_fpdu *x);

/** check_terminate.c: a quote of it need not have these octets of its header. */
void check_doubt(struct check_fpdu *x, unsigned at, unsigned n);

#endif
