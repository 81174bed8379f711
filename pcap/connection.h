/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file connection.h
 * An iWARP connection in a capture: MPA's start-up, then FPDUs in both directions, framed by the
 * code that frames live connections (mpa/startup.h, mpa/deframe.h).
 *
 * It reports what is there. Its user judges it (check.h). Only lengths were checked.
 */
#ifndef PCAP_CONNECTION_H
#define PCAP_CONNECTION_H

#include "ddp/ddp.h"
#include "mpa/deframe.h"
#include "mpa/startup.h"
#include "pcap/order.h"
#include "pcap/reassembly.h"
#include "pcap/sealed.h"

struct connection;
struct stream;

enum stream_phase {
	STREAM_START, /**< its start-up frame is due */
	STREAM_WAIT,  /**< it has sent its start-up frame, the peer's has not been seen */
	STREAM_FPDU,  /**< full operation */
	STREAM_LOST,  /**< full operation, but the beginning of FPDUs is not known */
	STREAM_OVER,  /**< the rest is not iWARP */
};

/** One side's start-up frame. */
struct stream_start {
	bool seen;
	enum mpa_frame kind;
	const char *error; /**< what is wrong with it, or NULL */
	bool damaged;      /**< TCP's checksum of the segment that it began in is wrong */
	bool near_key;     /**< its key has wrong octets, but is meant to be one */
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
	uint64_t number;       /**< in its direction, from 1; those in holes are not counted */
	uint64_t at;           /**< octet of full operation that it begins with (mpa/deframe.h) */
	struct mpa_cursor raw; /**< its octets, markers included */
	uint64_t frame, end_frame;
	uint64_t time, end_time;
	uint32_t seq;     /**< of its first octet */
	uint32_t end_seq; /**< behind its last one */
	uint32_t ack;     /**< of the segment that it began in */
	uint32_t pieces;  /**< number of parts of segments that it lies in */
	uint32_t segments;
	bool unproved;  /**< that FPDUs begin there is likely, but not certain: nothing is to blame
			 */
	bool aligned;   /**< it began with a TCP segment */
	bool unseen;    /**< some bytes are not in the capture, so its CRC is not valid */
	bool header;    /**< its DDP and RDMAP headers are in the capture */
	bool crc;       /**< CRCs are in use */
	bool markers;   /**< markers are in use */
	bool crc_zero;  /**< its CRC field is zero */
	bool pad_dirty; /**< its pad is not zero */
	bool damaged;   /**< TCP's checksum of a segment that it lies in is wrong */
	enum mpa_deframe_result result;
	struct mpa_fpdu fpdu;
	enum ddp_error ddp; /**< result of parsing the header */
	struct ddp_segment segment;
};

/** An acknowledgement of text that was not captured yet. */
struct stream_ahead {
	bool set;
	uint32_t ack, file, unit;
	uint64_t frame, time;
};

/** One direction. */
struct stream {
	struct connection *c;
	struct cap_reassembly tcp;
	enum stream_phase phase;
	bool guess;        /**< the terms are to be guessed from the first FPDU */
	bool crc_known;    /**< deframe.crc is certain */
	unsigned unproved; /**< FPDUs that must look right before it is certain that they are */
	bool joined;       /**< markers may be in use, but their places are not known */
	bool doubtful;     /**< the last FPDU had a wrong CRC: its length may be wrong, too */
	bool rejected;     /**< phase OVER: by a Reply that rejects */
	bool fin_told;
	bool whole; /**< its first octet is the first that its end has sent, or follows a key */
	unsigned likely; /**< FPDUs that look right except for the CRC, while !crc_known */
	size_t sought;   /**< joined: octets of the queue where no marker was found */
	uint64_t found;  /**< joined: the octet from which there was no marker */
	struct stream_start start;
	struct mpa_deframe deframe; /**< at: octet where the queue below begins */
	uint64_t fpdus;
	/* Text to be processed: a meta for each v */
	struct llp_iov *v;
	struct piece *meta;
	unsigned n, cap;
	size_t off, total, need;
	uint32_t sent;   /**< sequence number behind all that its end was seen to send */
	bool sent_known; /**< sent is valid */
	struct stream_ahead ahead;
};

enum connection_end {
	CONNECTION_CLOSED, /**< both directions by FIN */
	CONNECTION_RESET,
	CONNECTION_REUSED,  /**< another connection began between its ends */
	CONNECTION_EVICTED, /**< idle, and its memory was needed */
	CONNECTION_CAPTURE_END,
};

struct connection_shared;

/** The upcalls. All but opened() and fpdu() may be NULL. */
struct connection_ops {
	/** MPA was seen, or the connection is followed for its port. */
	void (*opened)(void *user, struct connection *c);
	/** A start-up frame, good or bad. */
	void (*start)(void *user, struct connection *c, struct stream *s);
	void (*fpdu)(
		void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f);
	/** FPDUs cannot be followed from @p p on. */
	void (*lost)(void *user, struct connection *c, struct stream *s, const struct piece *p,
		const char *why);
	/** FPDUs can be followed again. The next upcall is fpdu(). */
	void (*found)(void *user, struct connection *c, struct stream *s, uint64_t frame);
	/** The length of the FPDU that begins with @p p is wrong: others with good CRCs begin
	 * inside of it, the first @p skipped octets on in frame @p frame. */
	void (*misframed)(void *user, struct connection *c, struct stream *s, const struct piece *p,
		uint32_t ulpdu_len, size_t skipped, uint64_t frame);
	/** FPDUs, from the first on, have markers (s->deframe.markers) although the peer has not
	 * asked for them, or have none although it has. */
	void (*markers)(void *user, struct connection *c, struct stream *s, const struct piece *p);
	/** An FPDU, although a Reply has rejected the connection. */
	void (*stray)(void *user, struct connection *c, struct stream *s, const struct piece *p);
	/** Text was sent again with other bytes. */
	void (*conflict)(void *user, struct connection *c, struct stream *s,
		const struct piece *now, const struct piece *before);
	/** A RST or SYN that its receiver does not take (RFC 5961): the connection goes on. */
	void (*foreign)(void *user, struct connection *c, struct stream *s, const struct packet *p,
		const struct cap_frame *f);
	/** A segment whose TCP checksum is wrong: its receiver has not taken it, nor do we. */
	void (*damaged)(void *user, struct connection *c, struct stream *s, const struct packet *p,
		const struct cap_frame *f);
	/** Text is missing in the capture. */
	void (*missing)(void *user, struct connection *c, struct stream *s, const struct piece *p);
	/** FIN, after all text; @p rest octets of an incomplete FPDU or frame were before it. */
	void (*fin)(void *user, struct connection *c, struct stream *s, size_t rest);
	/** Any segment, before the upcalls for its text. */
	void (*segment)(void *user, struct connection *c, struct stream *s, const struct packet *p,
		const struct cap_frame *f);
	/** The connection or the capture has ended. The connection is freed afterwards. */
	void (*closed)(void *user, struct connection *c, enum connection_end how, uint64_t frame);
	/** Octets of memory that the user has for it. */
	size_t (*memory)(const struct connection *c);
	/** A datagram of the port mapper, which belongs to no connection. */
	void (*mapper)(void *user, const struct connection_shared *shared, const struct packet *p,
		const struct cap_frame *f);
};

/**
 * An answer that is before its question, by the times of two files (capture_set.h): of the file
 * with the answer the clock is behind that of the other.
 */
struct connection_ahead {
	uint64_t answer, question; /**< frames; 0: there is none */
	uint64_t ns;               /**< between them; the most that was seen */
};

/** Shared by the connections of a capture. */
struct connection_shared {
	struct cap_reassembly_budget budget;
	uint64_t connections;           /**< number of connections */
	uint64_t origin;                /**< time of the capture's first frame */
	struct keylog *keylog;          /**< of connections inside of TLS; NULL: none */
	uint64_t unjudged[SEALED_WHYS]; /**< TLS connections, if there is a key log */
	uint64_t tried;                 /**< octets that tries to open records in vain have cost */
	uint64_t lent;                  /**< of which no connection's own octets have paid for */
	struct connection_ahead ahead;
};

/** A SYN within a connection, which may begin another, or be anybody's. */
struct connection_syn {
	bool seen, acks; /**< acks: ack is valid */
	uint32_t isn, ack;
};

struct connection {
	const struct connection_ops *ops;
	void *user;
	uint64_t id;               /**< from 1; 0: MPA has not been seen yet */
	struct ip_endpoint end[2]; /**< of stream[0] and stream[1] */
	struct stream stream[2];
	int initiator; /**< index; -1: not known */
	bool not_mpa;  /**< it is no iWARP connection */
	bool headless; /**< it is inside of TLS, and has not begun so */
	struct connection_shared *shared;
	uint64_t frame, time;         /**< of the present segment */
	struct sealed *sealed;        /**< NULL: it is not inside of TLS */
	struct connection_syn syn[2]; /**< the last of each end */
	unsigned far;       /**< segments in a row that are far from all that was seen before */
	uint64_t left_out;  /**< for that */
	struct order order; /**< segments that were captured before what they acknowledge */
	void *own;          /**< the user's, freed in closed() */
	size_t counted;     /**< octets of memory, when they were counted last (follow.c) */
};

/** @return NULL: out of memory. */
struct connection *connection_new(const struct connection_ops *ops, void *user,
	const struct ip_endpoint end[2], struct connection_shared *shared);

/** Follow a connection without its start-up. */
void connection_join(struct connection *c);

/** Process a segment of stream @p side. */
void connection_segment(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f);

/** True for a RST that its receiver takes, as far as the capture can tell. */
bool connection_is_reset(const struct connection *c, unsigned side, const struct packet *p);

/** A SYN of stream @p side that begins nothing so far. */
void connection_foreign(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f);

/** A segment of stream @p side is left out, as its TCP checksum is wrong. */
void connection_damaged(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f);

/** Octets of memory that it has, its user's included. */
size_t connection_memory(const struct connection *c);

/**
 * Make the last upcalls, and free it.
 * @return true: it was told of, or counted as one that is not judged.
 */
bool connection_end(struct connection *c, enum connection_end how, uint64_t frame);

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

/** True if it is the initiator's; false if not, or not known. */
static inline bool stream_is_initiator(const struct stream *s)
{
	return s->c->initiator == (int)stream_side(s);
}

/** Its direction in a line of text: from the initiator, or from the first end. */
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

/** The sequence number of the first octet that has not been told of. */
static inline uint32_t stream_next_seq(const struct stream *s)
{
	if (!s->c->sealed)
		return s->tcp.next - (uint32_t)s->total;
	return s->n != 0 ? s->meta[0].seq + (uint32_t)s->off : s->tcp.next;
}

/* ---- stream.c, for connection.c ------------------------------------------------------------ */

void stream_init(struct stream *s, struct connection *c);

/** The next text of MPA, in order. */
void stream_take_text(struct stream *s, const struct piece *p);

/** No more text comes: what is not complete has a wrong length, if others begin in it. */
void stream_finish(struct stream *s);

/** Process the text that waits: the peer's start-up frame has come, or will not come. */
void stream_resume(struct stream *s);

void stream_free(struct stream *s);

/* ---- stream_queue.c: text to be processed ------------------------------------ */

/** Append; @return false: too many pieces. */
bool stream_push(struct stream *s, const struct piece *p);

/** The sequence number behind the first @p len octets, of which there are as many. */
uint32_t stream_seq_behind(const struct stream *s, size_t len);

/** Remove @p len octets from the front. */
void stream_drop(struct stream *s, size_t len);

/** A cursor at the front: stream_drop() removes pieces that are used up. */
static inline struct mpa_cursor stream_cursor(const struct stream *s)
{
	return (struct mpa_cursor){.v = s->v, .n = s->n, .off = s->off};
}

/** stream_captured() of octets that are not all in the first piece. */
bool stream_captured_in_pieces(const struct stream *s, size_t at, size_t len);

/** True if all of the @p len octets at @p at of the queue are in the capture. */
static inline bool stream_captured(const struct stream *s, size_t at, size_t len)
{
	if (s->n != 0 && s->off + at + len <= s->v[0].len)
		return s->meta[0].bytes != NULL;
	return stream_captured_in_pieces(s, at, len);
}

/* ---- stream_resync.c: where FPDUs begin ----------------------------------------------------- */

/** Octets in which the headers of an FPDU lie, with a marker before its length and one in them. */
#define STREAM_HEADERS (MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN + 2 * MPA_MARKER_LEN)

/** FPDUs without CRCs that follow each other, when their place was found by what they look like. */
#define STREAM_PROOF 8

/** What an FPDU's headers must be like where nothing else tells that one begins here. */
bool stream_plausible(const struct mpa_fpdu *f);

/** True if what the queue begins with may be an FPDU, whether all of it is there or not. */
bool stream_may_begin(const struct stream *s);

/** True if an FPDU with a good CRC begins @p at octets on in the queue. */
bool stream_begins_good(const struct stream *s, size_t at);

/** True if @p p begins with an FPDU with a good CRC, all of it in there. */
bool stream_is_fpdu(const struct piece *p);

/** Guess the negotiated terms from the first FPDU. @return false: needs more text. */
bool stream_guess(struct stream *s);

/** After connection_join(): find the place of markers by the next FPDU. @return false: as above. */
bool stream_seek_marker(struct stream *s);

/** Find an FPDU in the queue, and drop all before it. @return false: there is none yet. */
bool stream_find(struct stream *s);

#endif
