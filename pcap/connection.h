/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file connection.h
 * An iWARP connection in a capture: MPA's start-up, then FPDUs in both directions, framed by the
 * code that frames live connections (mpa/startup.h, mpa/deframe.h).
 *
 * It says what is there; judging it is its user's (check.h). Nothing of what it tells is believed
 * beyond the lengths that were checked.
 */
#ifndef PCAP_CONNECTION_H
#define PCAP_CONNECTION_H

#include "ddp/ddp.h"
#include "mpa/deframe.h"
#include "mpa/startup.h"
#include "pcap/reassembly.h"

struct connection;
struct stream;

enum stream_phase {
	STREAM_START, /**< its start-up frame is due */
	STREAM_WAIT,  /**< it has sent its start-up frame, the peer's has not been seen */
	STREAM_FPDU,  /**< full operation */
	STREAM_LOST,  /**< full operation, but where FPDUs begin is not known */
	STREAM_OVER,  /**< what comes is not iWARP any more */
};

/** One side's start-up frame. */
struct stream_start {
	bool seen;
	enum mpa_frame kind;
	const char *error; /**< what is wrong with it, if it cannot be taken; else NULL */
	struct mpa_start st;
	uint8_t flags;      /**< as on the wire */
	uint8_t revision;   /**< likewise, also of frames with an error */
	uint16_t pd_length; /**< likewise */
	uint16_t words[2];  /**< the enhanced words, with their control flags */
	uint64_t frame;     /**< where it began */
	uint64_t time;
	uint32_t ack;         /**< of the segment that it began in */
	uint32_t end;         /**< sequence number of the first octet behind it */
	const uint8_t *bytes; /**< during the upcall only */
	size_t len;
};

/** An FPDU as captured. */
struct stream_fpdu {
	uint64_t number;       /**< within its direction, from 1; those in holes are not counted */
	uint64_t at;           /**< octet of full operation that it begins with (mpa/deframe.h) */
	struct mpa_cursor raw; /**< there, markers and all */
	uint64_t frame, end_frame;
	uint64_t time, end_time;
	uint32_t seq;    /**< of its first octet */
	uint32_t ack;    /**< of the segment that it began in */
	uint32_t pieces; /**< parts of segments it lies in */
	uint32_t segments;
	bool aligned;   /**< it began with a TCP segment */
	bool unseen;    /**< some of its bytes are not in the capture: its CRC says nothing */
	bool header;    /**< its DDP and RDMAP headers are */
	bool crc;       /**< CRCs are in use */
	bool markers;   /**< markers are */
	bool crc_zero;  /**< its CRC field is zero */
	bool pad_dirty; /**< its pad is not */
	enum mpa_deframe_result result;
	struct mpa_fpdu fpdu;
	enum ddp_error ddp; /**< of reading the header */
	struct ddp_segment segment;
};

/** One direction. */
struct stream {
	struct connection *c;
	struct cap_reassembly tcp;
	enum stream_phase phase;
	bool guess;     /**< what was negotiated is to be found out from the first FPDU */
	bool crc_known; /**< whether CRCs are in use; else only that they may be */
	bool joined;    /**< markers may be in use, but where they lie is not known */
	bool fin_told;
	unsigned likely; /**< FPDUs that look right but for the CRC, while it is not known */
	size_t sought;   /**< joined: octets of the queue where no marker was found */
	uint64_t found;  /**< joined: the octet from which there was no marker */
	struct stream_start start;
	struct mpa_deframe deframe; /**< at: octet where the queue below begins */
	uint64_t fpdus;
	/* Text that is not done with: v and meta go together */
	struct llp_iov *v;
	struct piece *meta;
	unsigned n, cap;
	size_t off, total, need;
};

enum connection_end {
	CONNECTION_CLOSED, /**< both directions by FIN */
	CONNECTION_RESET,
	CONNECTION_REUSED,  /**< its addresses and ports began another connection */
	CONNECTION_EVICTED, /**< idle, and its memory was needed */
	CONNECTION_CAPTURE_END,
};

/** What the follower is told. All but opened() and fpdu() may be NULL: not wanted. */
struct connection_ops {
	/** MPA was seen, or the connection is followed for its port. */
	void (*opened)(void *user, struct connection *c);
	/** A start-up frame, good or bad. */
	void (*start)(void *user, struct connection *c, struct stream *s);
	void (*fpdu)(
		void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f);
	/** FPDUs can be followed no further, from @p p on. */
	void (*lost)(void *user, struct connection *c, struct stream *s, const struct piece *p,
		const char *why);
	/** They can again; the next upcall is an FPDU. */
	void (*found)(void *user, struct connection *c, struct stream *s, uint64_t frame);
	/** Sent again with other bytes. */
	void (*conflict)(void *user, struct connection *c, struct stream *s,
		const struct piece *now, const struct piece *before);
	/** Text that is not in the capture. */
	void (*missing)(void *user, struct connection *c, struct stream *s, const struct piece *p);
	/** FIN, after all text; @p rest octets of an incomplete FPDU or frame were before it. */
	void (*fin)(void *user, struct connection *c, struct stream *s, size_t rest);
	/** Any segment, before what is in it. */
	void (*segment)(void *user, struct connection *c, struct stream *s, const struct packet *p,
		const struct cap_frame *f);
	/** Over, or as far as the capture goes. The connection is freed afterwards. */
	void (*closed)(void *user, struct connection *c, enum connection_end how, uint64_t frame);
};

/** What the connections of a capture have in common. */
struct connection_shared {
	struct cap_reassembly_budget budget;
	uint64_t connections; /**< how many there were */
	uint64_t origin;      /**< time of the capture's first frame */
};

struct connection {
	const struct connection_ops *ops;
	void *user;
	uint64_t id;               /**< from 1; 0: MPA has not been seen yet */
	struct ip_endpoint end[2]; /**< of stream[0] and stream[1] */
	struct stream stream[2];
	int initiator; /**< index; -1: not known */
	bool not_mpa;  /**< it is none: forget it */
	struct connection_shared *shared;
	uint64_t frame, time; /**< of the segment in hand */
	void *own;            /**< the user's, freed in closed() */
};

/** @return NULL: out of memory. */
struct connection *connection_new(const struct connection_ops *ops, void *user,
	const struct ip_endpoint end[2], struct connection_shared *shared);

/** Follow it in the middle, without its start-up. */
void connection_join(struct connection *c);

/** Take a segment of stream @p side. */
void connection_segment(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f);

/** Say what is left to say, and free it. */
void connection_end(struct connection *c, enum connection_end how, uint64_t frame);

/** The other direction. */
static inline struct stream *stream_peer(const struct stream *s)
{
	return s == &s->c->stream[0] ? &s->c->stream[1] : &s->c->stream[0];
}

/** The index of a direction. */
static inline unsigned stream_side(const struct stream *s)
{
	return s == &s->c->stream[1];
}

/** True when it is the initiator's; false too when that is not known. */
static inline bool stream_is_initiator(const struct stream *s)
{
	return s->c->initiator == (int)stream_side(s);
}

/** Its direction in a line: from the initiator, or from the end that is named first. */
static inline const char *stream_arrow(const struct stream *s)
{
	return (int)stream_side(s) == (s->c->initiator < 0 ? 0 : s->c->initiator) ? ">" : "<";
}

/** A time since the capture began. */
static inline uint64_t stream_time(const struct stream *s, uint64_t time)
{
	return time >= s->c->shared->origin ? time - s->c->shared->origin : 0;
}

/** The names of a direction's ends. */
static inline const struct ip_endpoint *stream_from(const struct stream *s)
{
	return &s->c->end[stream_side(s)];
}

static inline const struct ip_endpoint *stream_to(const struct stream *s)
{
	return &s->c->end[!stream_side(s)];
}

/* ---- stream.c, for connection.c ------------------------------------------------------------ */

void stream_init(struct stream *s, struct connection *c);

/** In-order text. */
void stream_text(struct stream *s, const struct piece *p);

/** Go on with what waits: the peer's start-up frame has come, or will not. */
void stream_resume(struct stream *s);

void stream_free(struct stream *s);

/* ---- stream_queue.c: what has come and is not done with ------------------------------------ */

/** Append; @return false: too many pieces. */
bool stream_push(struct stream *s, const struct piece *p);

/** Take @p len octets off the front. */
void stream_drop(struct stream *s, size_t len);

/** stream_drop() never leaves all of the first piece before it. */
static inline struct mpa_cursor stream_cursor(const struct stream *s)
{
	return (struct mpa_cursor){.v = s->v, .n = s->n, .off = s->off};
}

/** stream_captured() where they are not all in the first piece. */
bool stream_captured_in_pieces(const struct stream *s, size_t at, size_t len);

/** True if all of the @p len octets at @p at of the queue are in the capture. */
static inline bool stream_captured(const struct stream *s, size_t at, size_t len)
{
	if (s->n != 0 && s->off + at + len <= s->v[0].len)
		return s->meta[0].bytes != NULL;
	return stream_captured_in_pieces(s, at, len);
}

/* ---- stream_resync.c: where FPDUs begin ----------------------------------------------------- */

/** Find out, from the first FPDU, what was negotiated unseen. @return false: needs more text. */
bool stream_guess(struct stream *s);

/** Joined in the middle: does a marker make sense of the next FPDU? @return false: as above. */
bool stream_seek_marker(struct stream *s);

/** Find an FPDU in the queue and drop all before it. @return false: none yet. */
bool stream_find(struct stream *s);

#endif
