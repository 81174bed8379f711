/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mpa.h
 * MPA: Marker PDU Aligned framing (RFC 5044) with enhanced connection set-up (RFC 6581).
 *
 * One struct mpa stands on one LLP connection. It begins with the start-up: the initiator sends a
 * request frame, and the responder a reply. Then comes full operation: FPDUs both ways. Pure
 * protocol: no clock, no lock, no allocation. The CM endpoint above owns the deadlines.
 *
 * After closed(), mpa_abort(), mpa_release() and mpa_reject() what begins, sends, resumes, drops or
 * ends does nothing, and mpa_reserve() gives no room; queries may be made. Not so mpa_watch_acks()
 * and mpa_queued(), what needs a reservation, such as mpa_commit() and mpa_cancel(), and
 * mpa_rx_pause(), which is for inside ulpdu() alone.
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
	MPA_CRC_OFF, /**< only if the peer asks for them */
	/** Ask for them; then they are used. Over an LLP that protects (llp_protects()): as off. */
	MPA_CRC_PREFERRED,
	MPA_CRC_REQUIRED, /**< likewise, and the reply must have its C bit set, too */
};

/** When IRD and ORD are looked for in the private data; see legacy.h. */
enum mpa_legacy { MPA_LEGACY_SMB_PORT, MPA_LEGACY_NEVER, MPA_LEGACY_ALWAYS };

/** What this side wants; from the configuration of the RNIC. */
struct mpa_config {
	uint8_t revision;     /**< of our requests: 1 or 2 */
	uint8_t crc;          /**< enum mpa_crc_use */
	bool markers;         /**< ask the peer to send them; what we send is up to the peer */
	bool peer_to_peer;    /**< initiator: set the A flag (RFC 6581 section 9.2) */
	uint8_t rtr;          /**< mask of MPA_RTR_* that we can do, in either role */
	uint8_t rtr_order[3]; /**< initiator: MPA_RTR_* by preference; 0: Write, Read, Send */
	uint16_t fpdu_max;    /**< octets of the largest FPDU; 0: as many as fit a segment */
	uint16_t private_max; /**< limit of the whole field in our frames; 0: 512 */
	uint16_t settle_ms;   /**< initiator: the user's delay from the reply to the first FPDU */
	uint8_t legacy;       /**< enum mpa_legacy, for the user */
	bool in_order;        /**< no placement out of order (docs/placement.md) */
	bool send_imm;        /**< Send with Immediate, with uiwarps (docs/connect.md) */
	bool tell_acked; /**< the user is to complete what the peer's TCP has (docs/verbs.md) */
};

/**
 * The RTR types that we take as a responder. A responder must take at least one (RFC 6581 section
 * 9.2), so with none configured it takes all.
 */
static inline uint8_t mpa_rtr_taken(const struct mpa_config *cfg)
{
	return cfg->rtr != 0 ? cfg->rtr : MPA_RTR_WRITE | MPA_RTR_READ | MPA_RTR_SEND;
}

/** The contents of a request or reply frame. */
struct mpa_start {
	uint8_t revision; /**< 0, 1 or 2, as in the frame */
	bool crc, markers, reject;
	bool enhanced;               /**< revision 2 with the S bit: ird, ord and rtr are valid */
	bool peer_to_peer;           /**< the A flag */
	uint8_t rtr;                 /**< MPA_RTR_* mask */
	uint16_t ird, ord;           /**< the sender's; MPA_DEPTH_UNKNOWN: not given */
	bool send_imm;               /**< offers Send with Immediate; a reply: agrees to it */
	const uint8_t *private_data; /**< without the enhanced words; valid during the call */
	uint16_t private_len;        /**< 0 - 512, 508 with enhanced words */
};

#define MPA_DEPTH_UNKNOWN 0x3fff

enum mpa_role { MPA_INITIATOR, MPA_RESPONDER };

enum mpa_state {
	MPA_IDLE,         /**< initiator: the LLP is not connected, or the request was not sent */
	MPA_WAIT_REQUEST, /**< responder */
	MPA_WAIT_REPLY,   /**< initiator */
	MPA_WAIT_ACCEPT,  /**< responder: the user has the request and has not answered it */
	MPA_WAIT_FIRST,   /**< responder: must not send before the first FPDU (7.1.2 rule 4) */
	MPA_OPERATIONAL,
	MPA_CLOSED, /**< over or failed; nothing is sent or received any more */
};

/**
 * The upcalls of an MPA connection. Inside an upcall the user may call any function of this file,
 * except where an upcall says otherwise. It may free the struct mpa after mpa_abort(),
 * mpa_release() or mpa_reject().
 */
struct mpa_user_ops {
	/** Initiator: the LLP is connected. Call mpa_request() now or later. */
	void (*connected)(void *user);
	/**
	 * Start-up: return memory for the first @p len octets (at most 532) of the peer's frame,
	 * which is not complete. A later call must return the same memory, or larger memory with
	 * the same contents. It must last until connected(), request(), reply() or the end.
	 *
	 * NULL, or no such function: the octets wait in the LLP, where a few octets may occupy a
	 * packet buffer.
	 */
	uint8_t *(*keep)(void *user, size_t len);
	/** Responder: a valid request came. Call mpa_accept() or mpa_reject() now or later. */
	void (*request)(void *user, const struct mpa_start *st);
	/** Initiator: the reply came. Unless st->reject is set the connection is operational. */
	void (*reply)(void *user, const struct mpa_start *st);
	/**
	 * Sending is allowed from now on. Called once, before any ulpdu().
	 * @param first of a responder: the ULPDU of the first FPDU, which ulpdu() is about to get;
	 *        else NULL
	 */
	void (*operational)(void *user, const struct mpa_ulpdu *first);
	/**
	 * One ULPDU. The user may end the connection in here. NULL: this user takes none. They wait
	 * in the LLP until the next user calls mpa_rx_resume().
	 */
	void (*ulpdu)(void *user, const struct mpa_ulpdu *u);
	/**
	 * A ULPDU came before its turn, with a good CRC (docs/placement.md). May its payload be
	 * placed now? The user only answers: it copies nothing and calls no function of this file.
	 * NULL: never.
	 *
	 * @return how many of its first bytes are needed again when its turn comes (1 to 18). 0:
	 *         no. If the answer is no for any ULPDU of a segment, or if there is no room to
	 *         store those bytes, ulpdu() follows in its turn. placement() may be called again
	 *         before that.
	 */
	uint32_t (*placement)(void *user, const struct mpa_ulpdu *u);
	/**
	 * Place the payload. Called once for a ULPDU, after placement() has agreed to all ULPDUs of
	 * the segment. placed() follows in its turn, unless the connection ends before. The user
	 * calls no function of this file.
	 * @return false: placing failed part of the way. placed() reports it.
	 */
	bool (*place)(void *user, const struct mpa_ulpdu *u);
	/**
	 * As ulpdu(), for a ULPDU that place() was called for. Only as many bytes as placement()
	 * returned may be read. @p whole is false if place() failed for this one or for one before
	 * it in its segment.
	 */
	void (*placed)(void *user, const struct mpa_ulpdu *u, bool whole);
	/** All complete FPDUs were handed up: a good time to answer. May be NULL. */
	void (*rx_done)(void *user);
	/** mpa_reserve() has failed before, and there is room now. */
	void (*writable)(void *user);
	/** Only after mpa_watch_acks(): mpa_acked() may have moved on. May be NULL. */
	void (*acked)(void *user);
	/** The peer closed its direction between FPDUs (or during start-up). */
	void (*eof)(void *user);
	/**
	 * The peer closed its direction, and FPDUs are before that, which wait for
	 * mpa_rx_resume(): eof() follows when the user has taken them. It may come again. The user
	 * does not end the connection in here. May be NULL.
	 */
	void (*eof_waits)(void *user);
	/**
	 * A protocol error (RFC 5044 section 8). @p code goes into a Terminate. During start-up
	 * (MPA_ERROR_START, MPA_ERROR_CLOSED) there is no Terminate, and it is only a reason.
	 * MPA_ERROR_CATASTROPHIC: the peer's reply is not acceptable to us. No more input is taken.
	 * The user ends the connection. A Terminate can still go out, except during start-up and
	 * after mpa_shutdown().
	 */
	void (*error)(void *user, enum mpa_error code, const char *reason);
	/** The LLP's connection is over; @p error as for llp's closed(). The last upcall. */
	void (*closed)(void *user, int error);
};

/**
 * If the bytes shown end with an FPDU this many times in a row, the peer's segments are aligned.
 */
#define MPA_ALIGNED_ENOUGH 16

/** Has the peer closed its direction? */
enum mpa_eof {
	MPA_EOF_NONE,
	MPA_EOF_BEHIND, /**< yes, behind octets that the LLP has not shown */
	MPA_EOF_SHOWN,  /**< yes, and all octets before that were shown */
};

struct mpa {
	struct llp *llp; /**< NULL once gone */
	const struct mpa_user_ops *ops;
	void *user;
	struct mpa_config config;
	enum mpa_role role;
	enum mpa_state state;
	uint32_t kept_len;     /**< octets of the frame in kept */
	struct mpa_deframe rx; /**< full operation: received FPDUs */
	struct mpa_enframe tx; /**< full operation: sent FPDUs */
	uint8_t peer_revision;
	bool peer_enhanced : 1; /**< its frame had the enhanced words */
	bool peer_p2p : 1;      /**< its frame had the A flag */
	bool peer_no_ird : 1;   /**< its request left the IRD to the users; likewise: */
	bool peer_no_ord : 1;
	bool send_imm; /**< both sides know Send with Immediate; valid in full operation */
	bool told_operational;
	bool acks_watched;  /**< mpa_watch_acks() was called */
	bool tx_closed;     /**< mpa_shutdown() was called */
	bool rx_off;        /**< an error was reported, or mpa_drop_input() */
	uint8_t eof;        /**< enum mpa_eof */
	bool rx_partial;    /**< bytes of an incomplete FPDU or frame wait in the LLP */
	bool rx_paused;     /**< mpa_rx_pause(): the FPDU in front waits for mpa_rx_resume() */
	uint8_t rx_aligned; /**< times in a row, up to MPA_ALIGNED_ENOUGH */
	uint32_t tx_len;    /**< length of the ULPDU that is being built */
	bool *gone;         /**< set when the user ends the connection inside readable() */
	union {
		uint8_t *tx_room; /**< the FPDU that is being built */
		uint64_t acked;   /**< what mpa_acked() tells once llp is gone */
	};
	uint8_t *kept; /**< start-up: memory from keep() */
};

/** Start an initiator. @p m becomes the user of @p llp. */
void mpa_init_initiator(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user);

/** Start a responder on an accepted connection. @p m becomes the user of @p llp. */
void mpa_init_responder(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user);

/** Hand the connection to another user, as the CM endpoint hands it to the QP. */
static inline void mpa_set_user(struct mpa *m, const struct mpa_user_ops *ops, void *user)
{
	m->ops = ops;
	m->user = user;
}

/** True if @p user is the present user. */
static inline bool mpa_has_user(const struct mpa *m, const void *user)
{
	return m->user == user;
}

/** The connection below, for queries; NULL once it is over. Only MPA may end it. */
static inline struct llp *mpa_llp(const struct mpa *m)
{
	return m->llp;
}

/** True if the peer began this connection. */
static inline bool mpa_is_responder(const struct mpa *m)
{
	return m->role == MPA_RESPONDER;
}

/**
 * Initiator: send the request. Only revision 2 carries ird and ord.
 * @return 0, -EINVAL (private data too long for the revision), -ENOTCONN, -ENOMEM.
 */
int mpa_request(struct mpa *m, uint16_t ird, uint16_t ord, const void *private_data, size_t len);

/**
 * Initiator, instead of mpa_request(): the LLP loops back to this very connection, so there is no
 * peer to negotiate with. Full operation begins, on our own terms both ways.
 * @return 0, -ENOTCONN.
 */
int mpa_begin_alone(struct mpa *m);

/**
 * Responder: accept, in the requester's revision. From now on the first FPDU opens sending. @p rtr:
 * the RTR types of the request that we take, for the reply (0: none).
 * @return 0, -EINVAL, -ENOTCONN, -ENOMEM.
 */
int mpa_accept(struct mpa *m, uint16_t ird, uint16_t ord, uint8_t rtr, const void *private_data,
	size_t len);

/** Responder: reject, then close in good order. @p m is not used any more. */
int mpa_reject(struct mpa *m, const void *private_data, size_t len);

/** Largest ULPDU that fits one segment now (RFC 5044 section 3.1: MULPDU). 128 to 64,768. */
uint32_t mpa_mulpdu(const struct mpa *m);

/**
 * Reserve room for a ULPDU of exactly @p len bytes (at most 64,768).
 * mpa_commit() or mpa_cancel() must follow.
 * @param join it may share a TCP segment with the FPDU before it.
 * @return NULL: there is no room (writable() follows), or sending is not allowed yet or any more.
 */
uint8_t *mpa_reserve(struct mpa *m, uint32_t len, bool join);

/** True if sending is allowed, now or when there is room. */
static inline bool mpa_may_send(const struct mpa *m)
{
	return m->state == MPA_OPERATIONAL && !m->tx_closed && m->llp;
}

/**
 * Copy payload out of the program's memory to @p to, in what mpa_reserve() gave. Everything before
 * is written, and stays as it is.
 * @return false: that memory is not there; then mpa_cancel().
 */
static inline bool mpa_gather(struct mpa *m, uint8_t *to, const void *from, uint32_t len)
{
	return mpa_enframe_gather(&m->tx, to, from, len);
}

/** Have the LLP tell what the peer's TCP has. */
static inline void mpa_watch_acks(struct mpa *m)
{
	m->acks_watched = true;
	llp_watch_acks(m->llp);
}

/** Where the FPDUs end that are queued by now: a position in the LLP's stream (llp_queued()). */
static inline uint64_t mpa_queued(const struct mpa *m)
{
	return llp_queued(m->llp);
}

/** The peer's TCP has acknowledged all before this position. It stays known after the end. */
static inline uint64_t mpa_acked(const struct mpa *m)
{
	return m->llp ? llp_acked(m->llp) : m->acked;
}

/** Complete the FPDU with length, pad, markers and CRC, and queue it. */
void mpa_commit(struct mpa *m);

/** May payload be sent from where it lies? It is known in full operation (llp_takes_external()). */
static inline bool mpa_takes_external(const struct mpa *m)
{
	return m->llp && mpa_enframe_takes_external(&m->tx) && llp_takes_external(m->llp);
}

/**
 * The same as mpa_commit(), and @p e is the last part of the ULPDU, which was not written. The
 * program must leave it as it is until it is acknowledged (mpa_acked()).
 * @return false: that memory is not there; then mpa_cancel().
 */
bool mpa_commit_external(struct mpa *m, const struct llp_external *e);

/** llp_own_external(). */
static inline void mpa_own_external(struct mpa *m)
{
	if (m->llp)
		(void)llp_own_external(m->llp);
}

/** Give an unused reservation back. */
void mpa_cancel(struct mpa *m);

/**
 * Only inside ulpdu(): the user does not take this ULPDU. It stays in the LLP, with all behind it,
 * until mpa_rx_resume() shows it again. The LLP's window closes as it fills up. eof() waits, too.
 * @return false: this is not possible, because payload behind it was placed already. With
 *         mpa_config.in_order that never happens.
 */
bool mpa_rx_pause(struct mpa *m);

/** The peer has closed behind the ULPDU that waits. */
static inline bool mpa_eof_waits(const struct mpa *m)
{
	return m->eof != MPA_EOF_NONE && m->rx_paused;
}

/**
 * Show the ULPDUs that wait in the LLP. They come from inside of this call, and so may any other
 * upcall, closed() too (llp_resume()); inside ulpdu() they come when that has returned.
 */
void mpa_rx_resume(struct mpa *m);

/** Drop all further input. Upcalls may come as from mpa_rx_resume(), but none with input. */
void mpa_drop_input(struct mpa *m);

/** Send queued FPDUs, as far as the windows allow. */
void mpa_push(struct mpa *m);

/** Close our direction after what is queued (graceful). */
void mpa_shutdown(struct mpa *m);

/** Reset the connection now. No upcall follows. */
void mpa_abort(struct mpa *m);

/** Give up the connection in good order (llp_release()). No upcall follows. */
void mpa_release(struct mpa *m);

#endif
