/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mpa.h
 * MPA: Marker PDU Aligned framing (RFC 5044) with enhanced connection set-up (RFC 6581).
 *
 * One struct mpa sits on one LLP connection. First the start-up: the initiator sends a request
 * frame, the responder a reply; then full operation: FPDUs both ways. Pure protocol: no clock, no
 * lock, no allocation. The CM endpoint above owns the deadlines.
 *
 * After closed(), mpa_abort(), mpa_release() and mpa_reject() every function here does nothing.
 */
#ifndef MPA_MPA_H
#define MPA_MPA_H

#include "llp/llp.h"
#include "mpa/deframe.h"
#include "mpa/enframe.h"
#include "mpa/mpa_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** CRCs (RFC 5044 section 7.1.1); see terms.h. */
enum mpa_crc_use {
	MPA_CRC_OFF,       /**< only if the peer asks for them */
	MPA_CRC_PREFERRED, /**< ask: they are used */
	MPA_CRC_REQUIRED,  /**< likewise, and the reply to our request must agree in its own bit */
};

/** When IRD and ORD are looked for in the private data; see legacy.h. */
enum mpa_legacy { MPA_LEGACY_SMB_PORT, MPA_LEGACY_NEVER, MPA_LEGACY_ALWAYS };

/** What this side wants; from the configuration of the RNIC. */
struct mpa_config {
	uint8_t revision;     /**< to request with: 1 or 2 */
	uint8_t crc;          /**< enum mpa_crc_use */
	bool markers;         /**< the peer must send them; what it wants of us we do anyway */
	bool peer_to_peer;    /**< RFC 6581 section 9.2: ask for (initiator) the A flag */
	uint8_t rtr;          /**< MPA_RTR_* mask that we can do, as initiator and responder */
	uint8_t rtr_order[3]; /**< initiator: which MPA_RTR_* first; 0: Write, Read, Send */
	uint16_t fpdu_max;    /**< octets of the largest FPDU; 0: as one segment takes */
	uint16_t private_max; /**< of the whole field in a frame that we send; 0: 512 */
	uint16_t settle_ms;   /**< initiator: from the reply to the first FPDU (the user waits) */
	uint8_t legacy;       /**< enum mpa_legacy (the user looks) */
	bool in_order;        /**< hand nothing up before its turn (docs/placement.md) */
};

/**
 * The RTR types that we take as a responder, which must take one at least (RFC 6581 section 9.2):
 * a side that would not send any takes all.
 */
static inline uint8_t mpa_rtr_taken(const struct mpa_config *cfg)
{
	return cfg->rtr != 0 ? cfg->rtr : MPA_RTR_WRITE | MPA_RTR_READ | MPA_RTR_SEND;
}

/** What a request or reply frame said, or shall say. */
struct mpa_start {
	uint8_t revision; /**< 0, 1 or 2, as in the frame */
	bool crc, markers, reject;
	bool enhanced;               /**< revision 2 with the S bit: ird, ord and rtr are there */
	bool peer_to_peer;           /**< the A flag */
	uint8_t rtr;                 /**< MPA_RTR_* mask */
	uint16_t ird, ord;           /**< of the sender of the frame; MPA_DEPTH_UNKNOWN: not told */
	const uint8_t *private_data; /**< without the enhanced words; valid during the call only */
	uint16_t private_len;        /**< 0 - 512, 508 with enhanced words */
};

#define MPA_DEPTH_UNKNOWN 0x3fff

enum mpa_role { MPA_INITIATOR, MPA_RESPONDER };

enum mpa_state {
	MPA_IDLE,         /**< initiator: the LLP is not connected or the request not sent yet */
	MPA_WAIT_REQUEST, /**< responder */
	MPA_WAIT_REPLY,   /**< initiator */
	MPA_WAIT_ACCEPT,  /**< responder: the request is with the user */
	MPA_WAIT_FIRST,   /**< responder: must not send before the first FPDU (7.1.2 rule 4) */
	MPA_OPERATIONAL,
	MPA_CLOSED, /**< over or failed; nothing is sent or taken any more */
};

/**
 * What the user of an MPA connection is told. Inside any upcall the user may call any function of
 * this file, and may free the struct mpa after mpa_abort(), mpa_release() or mpa_reject().
 */
struct mpa_user_ops {
	/** Initiator: the LLP is connected; call mpa_request() now or later. */
	void (*connected)(void *user);
	/**
	 * Start-up: room for the first @p len octets (at most 532) of the peer's frame, of which
	 * the rest has not come; the same as before or larger, with what was in it. It must last
	 * until connected(), request(), reply() or the end. NULL, or no such function: they wait
	 * in the LLP, where a few octets may cost a packet.
	 */
	uint8_t *(*keep)(void *user, size_t len);
	/** Responder: a good request came. mpa_accept() or mpa_reject() it, now or later. */
	void (*request)(void *user, const struct mpa_start *st);
	/** Initiator: the reply came; st->reject tells which. After an accept: operational. */
	void (*reply)(void *user, const struct mpa_start *st);
	/**
	 * Responder: the first FPDU is about to be handed up, sending is open from now on; or the
	 * initiator is operational. Called once, before any ulpdu().
	 */
	void (*operational)(void *user);
	/**
	 * One ULPDU. The user may end the connection in here. NULL: this user cannot take any yet;
	 * they wait in the LLP until the next user calls mpa_rx_resume().
	 */
	void (*ulpdu)(void *user, const struct mpa_ulpdu *u);
	/**
	 * A ULPDU came before its turn, its CRC good; where it belongs in the stream is known as
	 * docs/placement.md says. May its payload be used now? This only asks: nothing is copied,
	 * and no function of this file called.
	 * @return how many bytes, from its first, are wanted again when its turn comes (1 - 18).
	 * With 0, for this one or for another of its segment, or where there is no room to remember
	 * so many bytes, ulpdu() follows as if nothing had been; it may be asked again before.
	 * NULL: this user wants them in turn.
	 */
	uint32_t (*placement)(void *user, const struct mpa_ulpdu *u);
	/**
	 * After placement(), when all of its segment is taken: use the payload. Once for a ULPDU:
	 * placed() follows in its turn, or the connection ends. No function of this file is called.
	 * @return false: it went wrong half way; placed() tells it.
	 */
	bool (*place)(void *user, const struct mpa_ulpdu *u);
	/**
	 * As ulpdu(), for one that place() was called for; no more bytes than placement() said may
	 * be read. @p whole: what place() said, of this one and of those before it in its segment.
	 */
	void (*placed)(void *user, const struct mpa_ulpdu *u, bool whole);
	/** All complete FPDUs that have arrived were handed up: time to answer. May be NULL. */
	void (*rx_done)(void *user);
	/** mpa_reserve() had refused; there is room again. */
	void (*writable)(void *user);
	/** The peer closed its direction between FPDUs (or during start-up). */
	void (*eof)(void *user);
	/**
	 * A protocol error (RFC 5044 section 8): the code to put in a Terminate, or, during
	 * start-up (MPA_ERROR_START, MPA_ERROR_CLOSED), only a reason. MPA_ERROR_CATASTROPHIC: we
	 * do not want what the peer accepted. No more input is taken. The user ends the connection;
	 * a Terminate can still go out, unless this is the start-up or mpa_shutdown() was called.
	 */
	void (*error)(void *user, enum mpa_error code, const char *reason);
	/** The LLP is gone: 0 orderly, else a negative errno as llp closed(). The last upcall. */
	void (*closed)(void *user, int error);
};

/** So many times in a row text ended with an FPDU: the peer's segments are taken for aligned. */
#define MPA_ALIGNED_ENOUGH 16

struct mpa {
	struct llp *llp; /**< NULL once gone */
	const struct mpa_user_ops *ops;
	void *user;
	struct mpa_config config;
	enum mpa_role role;
	enum mpa_state state;
	struct mpa_deframe rx; /**< full operation: the FPDUs that come */
	struct mpa_enframe tx; /**< and those that we send */
	uint8_t peer_revision;
	bool peer_enhanced; /**< its request or reply had the enhanced words */
	bool peer_p2p;      /**< with the A flag */
	bool told_operational;
	bool tx_closed;     /**< mpa_shutdown() was called */
	bool rx_off;        /**< an error was reported, or mpa_drop_input() */
	bool eof;           /**< the peer closed its direction */
	bool rx_partial;    /**< bytes of an incomplete FPDU or frame wait in the LLP */
	bool rx_paused;     /**< mpa_rx_pause(): the FPDU in front waits for mpa_rx_resume() */
	uint8_t rx_aligned; /**< times in a row, up to MPA_ALIGNED_ENOUGH */
	bool *gone;         /**< set when the user ends it inside readable() */
	uint8_t *tx_room;   /**< of the FPDU being built */
	uint8_t *kept;      /**< start-up: what keep() gave, */
	uint32_t kept_len;  /**< and how much of the frame is in it */
	uint32_t tx_len;    /**< of its ULPDU */
};

/** Start an initiator on @p llp. It becomes the user of @p llp. */
void mpa_init_initiator(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user);

/** Start a responder on an accepted @p llp. It becomes the user of @p llp. */
void mpa_init_responder(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user);

/** Hand the connection to another user (the CM endpoint gives it to the QP). */
static inline void mpa_set_user(struct mpa *m, const struct mpa_user_ops *ops, void *user)
{
	m->ops = ops;
	m->user = user;
}

/** @return true if @p user is the one that mpa_set_user() made it. */
static inline bool mpa_has_user(const struct mpa *m, const void *user)
{
	return m->user == user;
}

/** The connection below, for questions about it; NULL once gone. It stays MPA's to end. */
static inline struct llp *mpa_llp(const struct mpa *m)
{
	return m->llp;
}

/** @return true if the peer began this connection. */
static inline bool mpa_is_responder(const struct mpa *m)
{
	return m->role == MPA_RESPONDER;
}

/**
 * Initiator: send the request. ird and ord go out with revision 2 only.
 * @return 0, -EINVAL (private data too long for the revision), -ENOTCONN, -ENOMEM.
 */
int mpa_request(struct mpa *m, uint16_t ird, uint16_t ord, const void *private_data, size_t len);

/**
 * Initiator, instead of mpa_request(): the LLP leads back to this very connection, so there is
 * nobody to agree with. Full operation begins, on our own terms both ways.
 * @return 0, -ENOTCONN.
 */
int mpa_begin_alone(struct mpa *m);

/**
 * Responder: accept, in the requester's revision. @p rtr: the types of the request that we
 * take, to be named in the reply (0: none of them). From here the first FPDU opens sending.
 * @return 0, -EINVAL, -ENOTCONN, -ENOMEM.
 */
int mpa_accept(struct mpa *m, uint16_t ird, uint16_t ord, uint8_t rtr, const void *private_data,
	size_t len);

/** Responder: reject, then close in good order. The struct is finished with. */
int mpa_reject(struct mpa *m, const void *private_data, size_t len);

/** Largest ULPDU that fits one segment now (RFC 5044 section 3.1: MULPDU). 128 to 64,768. */
uint32_t mpa_mulpdu(const struct mpa *m);

/**
 * Room for a ULPDU of exactly @p len bytes (at most 65,535; 65,014 with markers); then mpa_commit()
 * or mpa_cancel().
 * @param join may share a TCP segment with the FPDU before it.
 * @return NULL: no room now (writable() follows), or not allowed to send yet or any more.
 */
uint8_t *mpa_reserve(struct mpa *m, uint32_t len, bool join);

/** True if FPDUs can go out, now or when there is room. */
static inline bool mpa_may_send(const struct mpa *m)
{
	return m->state == MPA_OPERATIONAL && !m->tx_closed && m->llp;
}

/** Frame what was written: length, pad, CRC; queue it. */
void mpa_commit(struct mpa *m);

/** Give an unused reservation back. */
void mpa_cancel(struct mpa *m);

/**
 * Inside ulpdu() alone: this one was not taken. It and what comes behind it stay in the LLP until
 * mpa_rx_resume() shows it again. The LLP's window closes when there is much. eof() waits too.
 * @return false: that cannot be, as something behind it was taken early. Never with in_order.
 */
bool mpa_rx_pause(struct mpa *m);

/** The user can take ULPDUs now: show what waits in the LLP. They come by a later upcall. */
void mpa_rx_resume(struct mpa *m);

/** Take no more ULPDUs: what still comes is dropped. */
void mpa_drop_input(struct mpa *m);

/** Let queued FPDUs go. */
void mpa_push(struct mpa *m);

/** Close our direction after what is queued (graceful). */
void mpa_shutdown(struct mpa *m);

/** Reset the connection now; no upcall follows. */
void mpa_abort(struct mpa *m);

/** Let go of the connection in good order; no upcall follows. */
void mpa_release(struct mpa *m);

#endif
