/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rdmap.h
 * RDMAP (RFC 5040): the operations of one RDMA stream, over DDP over MPA.
 *
 * Pure protocol. The QP above owns memory, queues and locks. RDMAP decides which work request may
 * start (fences, ORD), answers inbound Reads (IRD), orders completions, and makes the Terminate for
 * an error.
 */
#ifndef RDMAP_RDMAP_H
#define RDMAP_RDMAP_H

#include "ddp/ddp.h"
#include "mpa/mpa.h"
#include "rdmap/rdmap_wire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the work queue elements ------------------------------------------------------------- */

/** One scatter/gather element. @p stag is the lkey. */
struct rdmap_sge {
	uint64_t addr;
	uint32_t len;
	uint32_t stag;
};

enum rdmap_wr_op {
	RDMAP_WR_SEND,     /**< with RDMAP_WR_SOLICITED: Send with Solicited Event */
	RDMAP_WR_SEND_INV, /**< likewise */
	RDMAP_WR_WRITE,
	RDMAP_WR_READ, /**< one sge, the sink; or none, with length 0 */
	RDMAP_WR_LOCAL_INV,
	RDMAP_WR_WRITE_IMM, /**< Write, then Immediate Data (with RDMAP_WR_SOLICITED: and SE) */
	RDMAP_WR_FETCH_ADD, /**< RFC 7306 section 5.1; one sge of 8 bytes for the old value */
	RDMAP_WR_CMP_SWAP,  /**< likewise */
	RDMAP_WR_BIND_MW,   /**< done by ops->local_op */
	/**
	 * Send, then Immediate Data (with RDMAP_WR_SOLICITED: and SE), as one message to the peer's
	 * program. Only if both sides have agreed to it (mpa.send_imm).
	 */
	RDMAP_WR_SEND_IMM,
	RDMAP_WR_OPS
};

#define RDMAP_WR_SIGNALED  0x01
#define RDMAP_WR_FENCE     0x02 /**< RFC 5040 section 5.5: wait for all Reads and Atomics before */
#define RDMAP_WR_SOLICITED 0x04
#define RDMAP_WR_INLINE    0x08 /**< the data is in the element, at rdmap_wqe_inline() */

/** The operands of an Atomic Operation (RFC 7306 section 5.2.1), in the host's byte order. */
struct rdmap_atomic {
	uint64_t data;         /**< to add, or to swap in */
	uint64_t mask;         /**< FetchAdd: highest bit of each field; CmpSwap: bits to swap */
	uint64_t compare;      /**< CmpSwap */
	uint64_t compare_mask; /**< CmpSwap: bits to compare; 0 makes it a Swap */
};

/** A send queue element: this header, then sge[] or inline bytes, up to the ring's stride. */
struct rdmap_wqe {
	uint64_t wr_id;
	uint64_t remote_to;
	uint32_t remote_stag;
	union {
		uint32_t inv_stag; /**< SEND_INV, LOCAL_INV */
		uint32_t imm;      /**< WRITE_IMM, SEND_IMM: in network order */
	};
	uint32_t length; /**< sum of the elements, or of the inline bytes */
	uint8_t op;
	uint8_t flags;
	uint8_t num_sge;
	uint8_t status; /**< enum rdmap_wc_status, set while it waits to complete in order */
	bool done;      /**< finished out of order; completes after those before it */
	uint32_t msn;   /**< of its (first) untagged message, once it has started; 0: none */
	union {
		uint64_t end;               /**< SEND*, WRITE*: where it ends in the LLP's stream */
		struct rdmap_atomic atomic; /**< FETCH_ADD, CMP_SWAP */
		uint64_t local_arg[4];      /**< BIND_MW, Sends of UD QPs: private to the rnic */
	};
	struct rdmap_sge sge[];
};

static inline void *rdmap_wqe_inline(struct rdmap_wqe *w)
{
	return w->sge;
}

/**
 * The send queue: a ring of @p size (a power of two) elements of @p stride bytes. The poster
 * advances head, with release order and under its own lock. All other fields belong to rdmap.
 */
struct rdmap_sq {
	uint8_t *ring;
	uint32_t size;
	uint32_t stride;
	_Atomic uint32_t head; /**< posted up to here (free running) */
	_Atomic uint32_t tail; /**< completed up to here; head - tail elements are in use */
	/**
	 * Elements that completed without ops->complete(), so no completion tells of their room.
	 */
	_Atomic uint32_t silent;
	uint32_t next; /**< the next to start */
};

static inline struct rdmap_wqe *rdmap_sq_at(const struct rdmap_sq *q, uint32_t i)
{
	return (struct rdmap_wqe *)(void *)(q->ring + (size_t)(i & (q->size - 1)) * q->stride);
}

/** An element of a receive queue or SRQ. */
struct rdmap_rqe {
	uint64_t wr_id;
	uint32_t length; /**< sum of the elements */
	uint32_t num_sge;
	struct rdmap_sge sge[];
};

/* ---- completions ------------------------------------------------------------------------- */

enum rdmap_wc_status {
	RDMAP_WC_SUCCESS,
	RDMAP_WC_LOC_LEN_ERR,  /**< a Send was longer than the receive buffer */
	RDMAP_WC_LOC_PROT_ERR, /**< a local sge failed its check */
	RDMAP_WC_LOC_QP_OP_ERR,
	RDMAP_WC_MW_BIND_ERR,
	RDMAP_WC_REM_ACCESS_ERR, /**< the peer's Terminate named our Write or Read */
	RDMAP_WC_REM_INV_REQ_ERR,
	RDMAP_WC_REM_OP_ERR,
	RDMAP_WC_WR_FLUSH_ERR,
	RDMAP_WC_FATAL_ERR,
	RDMAP_WC_RETRY_EXC_ERR, /**< only by rdmap_fail_oldest() */
};

enum rdmap_wc_op {
	RDMAP_WC_SEND,
	RDMAP_WC_WRITE,
	RDMAP_WC_READ,
	RDMAP_WC_LOCAL_INV,
	RDMAP_WC_BIND_MW,
	RDMAP_WC_FETCH_ADD,
	RDMAP_WC_CMP_SWAP,
	RDMAP_WC_RECV,     /**< from here on: of the receive queue */
	RDMAP_WC_RECV_IMM, /**< Immediate Data came; nothing is in the receive element's buffer */
};

#define RDMAP_WC_WITH_INV  0x01
#define RDMAP_WC_SOLICITED 0x02 /**< receive side: the peer asked for an event */
#define RDMAP_WC_WITH_IMM  0x04
#define RDMAP_WC_GRH       0x08 /**< UD: a Global Routing Header is before the message */

struct rdmap_wc {
	uint64_t wr_id;
	/**
	 * Of RECV_IMM: the length of the Write that came right before, as users of InfiniBand
	 * expect. In iWARP, Immediate Data is a message of its own and says nothing of a Write (RFC
	 * 7306 section 6), but messages come in order. 0 if no Write came right before. Of RECV,
	 * also with RDMAP_WC_WITH_IMM: the length of the Send.
	 */
	uint32_t byte_len;
	union {
		uint32_t inv_stag;
		/**
		 * The first four of the eight bytes, in network order. Verbs have four; the other
		 * four are sent as zero, as Chelsio's cxgb4 does.
		 */
		uint32_t imm;
	};
	uint8_t status;
	uint8_t op;
	uint8_t flags;
	uint32_t src_qp; /**< only of UD QPs */
};

/* ---- upcalls ----------------------------------------------------------------------------- */

#define RDMAP_ACCESS_LOCAL_READ    0x0
#define RDMAP_ACCESS_LOCAL_WRITE   0x1
#define RDMAP_ACCESS_REMOTE_WRITE  0x2
#define RDMAP_ACCESS_REMOTE_READ   0x4
#define RDMAP_ACCESS_READ_SINK     0x8 /**< of our own Read or Atomic: local write suffices */
#define RDMAP_ACCESS_REMOTE_ATOMIC 0x10

/** Why a connection ended, for the QP. */
struct rdmap_end {
	enum {
		RDMAP_END_CLOSED,       /**< the peer closed in good order, or both did */
		RDMAP_END_LOST,         /**< the LLP failed; see error */
		RDMAP_END_TERMINATE_TX, /**< we found an error and sent a Terminate */
		RDMAP_END_TERMINATE_RX, /**< the peer found an error and sent a Terminate */
	} kind;
	int error;                  /**< negative errno for LOST, else 0 */
	uint8_t layer, etype, code; /**< of the Terminate (RFC 5040 section 4.8) */
	bool swapped;               /**< it was written as siw does; see rdmap/term_code.h */
};

/**
 * One side closed in the middle of something that the other had begun, and the other says so.
 * Nothing was wrong with what came until then.
 */
static inline bool rdmap_end_is_cut_off(const struct rdmap_end *e)
{
	return (e->kind == RDMAP_END_TERMINATE_TX || e->kind == RDMAP_END_TERMINATE_RX) &&
	       e->layer == RDMAP_LAYER_LLP && e->etype == RDMAP_ETYPE_MPA &&
	       e->code == MPA_ERROR_CLOSED;
}

/**
 * The upcalls of a stream to its QP. Inside an upcall the QP may call any function of this file for
 * the same stream. It must not free the struct rdmap before the upcall has returned.
 */
struct rdmap_ops {
	/**
	 * Check [to, to + len) of @p stag for @p access and find its memory. Called for each piece
	 * that is about to be read or written; results are never cached. With @p len 0 it succeeds
	 * for any valid STag. It is not called for zero-length remote operations (RFC 5040 section
	 * 5.2).
	 * @return 0; -ENOENT: no such STag, or invalidated; -EPERM: wrong PD or QP; -EACCES:
	 *         rights; -ERANGE: bounds; -EOVERFLOW: to + len wraps.
	 */
	int (*stag_check)(void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access,
		uint8_t **mem);
	/**
	 * After stag_check() has allowed to read there: what the LLP knows the memory of @p stag
	 * by. NULL: it does not.
	 */
	struct llp_memory *(*stag_memory)(void *user, uint32_t stag);
	/**
	 * Invalidate by Send with Invalidate (@p remote) or by a local request. @return as above.
	 */
	int (*stag_invalidate)(void *user, uint32_t stag, bool remote);
	/** Do a work request that sends nothing, such as BIND_MW. @return enum rdmap_wc_status. */
	int (*local_op)(void *user, struct rdmap_wqe *w);
	/**
	 * Take the next receive element. It stays valid until recv_done(). NULL: none is posted.
	 */
	const struct rdmap_rqe *(*recv_take)(void *user);
	/**
	 * recv_take() had none. May the message wait?
	 * @return false: no, it is an error (RFC 5041 section 7.1). true: the message stays in the
	 *         LLP, with all behind it, until rdmap_recv_posted(). The peer only sees the LLP's
	 *         flow control. If payload behind the message was placed already, waiting is not
	 *         possible, and it is an error all the same. With mpa_config.in_order that never
	 *         happens.
	 */
	bool (*recv_wait)(void *user);
	/**
	 * The receive element for the @p n-th message from now (0: the one that is taken, or else
	 * the next), for payload that comes before its turn. NULL: it is not posted, or not known,
	 * as with a shared queue.
	 */
	const struct rdmap_rqe *(*recv_peek)(void *user, uint32_t n);
	/** The element that was taken last is done with. complete() for it follows. */
	void (*recv_done)(void *user);
	/** A work request completed. Sends come in posting order, receives in MSN order. */
	void (*complete)(void *user, const struct rdmap_wc *wc);
	/**
	 * The stream is open for sending (initiator: at rdmap_attach(); responder: when the first
	 * message was taken, or waits for a receive element; not if that was a Terminate, or
	 * wrong). Work requests that were posted before go out after this returns.
	 */
	void (*operational)(void *user);
	/** The peer closed its direction; ours is still open. */
	void (*peer_closed)(void *user);
	/**
	 * The peer closed its direction behind a message that waits for a receive element: no more
	 * will come than what it has sent. It may come again. May be NULL.
	 */
	void (*peer_closing)(void *user);
	/**
	 * After rdmap_sq_suspend() has returned false: what had started is finished. Called once.
	 */
	void (*drained)(void *user);
	/**
	 * The stream is over. The QP goes to ERROR and calls rdmap_flush_sq(). Called once.
	 *
	 * After CLOSED and LOST the MPA connection is gone. After a Terminate our direction is
	 * closed and input is dropped, but the connection is kept, so that the Terminate gets
	 * through. Call rdmap_release() or rdmap_abort(), or wait until it closes, for which there
	 * is no upcall. The struct mpa must live until then.
	 */
	void (*ended)(void *user, const struct rdmap_end *e);
};

/* ---- the stream -------------------------------------------------------------------------- */

/** An inbound Read or Atomic Request that is being answered or waits. */
struct rdmap_irqe {
	bool atomic;
	uint32_t src_stag; /**< what is read, or operated on */
	uint64_t src_to;
	union {
		struct { /**< Read */
			uint32_t sink_stag;
			uint64_t sink_to;
			uint32_t len, sent;
		};
		struct { /**< Atomic */
			uint8_t atomic_opcode;
			uint32_t request_id;
			struct rdmap_atomic operands;
		};
	};
};

/** A position in a list of scatter/gather elements. */
struct rdmap_sge_at {
	uint32_t index;
	uint32_t offset; /**< bytes into that element */
};

/** Room for the largest Terminate: control, length, untagged header, Read Request header. */
#define RDMAP_TERM_MAX \
	(RDMAP_TERM_HEADER_LEN + RDMAP_TERM_LENGTH_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN)

enum rdmap_tx { RDMAP_TX_NONE, RDMAP_TX_SQ, RDMAP_TX_RESPONSE };

/** One RDMA stream. The fields are private. */
struct rdmap {
	struct mpa *mpa; /**< NULL: not connected, or over */
	const struct rdmap_ops *ops;
	void *user;
	struct rdmap_sq *sq;
	struct ddp ddp;
	bool operational;
	bool by_acks;            /**< Sends and Writes complete when they are acknowledged */
	bool external;           /**< payload may be sent from where it lies */
	bool ended;              /**< ended() was called, or must not be called any more */
	bool closing;            /**< rdmap_close() under way */
	bool eof;                /**< the peer has closed its direction */
	bool sq_held;            /**< no work request starts */
	bool draining;           /**< held, or closed meanwhile, and some had started */
	bool running;            /**< inside rdmap_run() */
	bool wake;               /**< input lets rdmap_run() go on */
	uint16_t ord, reads_out; /**< outbound Reads and Atomics: limit, and number under way */
	uint16_t ird;
	uint16_t irq_head, irq_count; /**< inbound Reads and Atomics: ring of ird elements */
	struct rdmap_irqe *irq;
	/* The ready-to-receive frame of RFC 6581 section 9.2 */
	uint8_t rtr_send;       /**< the type of ours, which is still to be sent */
	uint8_t rtr_expect;     /**< the types that the peer's may have, while it may come */
	bool rtr_read;          /**< ours was a Read, and its response has not come */
	bool rtr_answer;        /**< the peer's was a Read, and is to be answered */
	uint32_t rtr_sink_stag; /**< of the peer's Read */
	uint64_t rtr_sink_to;
	/**
	 * Octets of payload that were given to the LLP or taken from it, and receives that
	 * completed. Empty messages that complete nothing do not count.
	 */
	uint64_t transferred;
	uint64_t transferred_own; /**< the part of it that our own requests have asked for */
	/* The message being sent */
	enum rdmap_tx tx;
	bool response_turn;    /**< take turns between Read responses and the SQ */
	uint16_t mulpdu_least; /**< of all since the stream began */
	uint32_t mulpdu;       /**< during one rdmap_run() */
	uint32_t tx_offset;    /**< bytes of sq->next already sent */
	struct rdmap_sge_at tx_at;
	bool tx_imm;      /**< Write or Send with Immediate: the Write or Send is sent */
	bool tx_external; /**< some of it is read where it lies, until it is acknowledged */
	/* Send with Immediate */
	bool send_imm;      /**< agreed to */
	bool imm_due;       /**< the Send of rqe is whole, and its Immediate Data has not come */
	uint32_t imms_sent; /**< behind Sends; modulo 2^32 */
	uint32_t imms_received; /**< likewise */
	uint32_t send_len;      /**< of the Send whose Immediate Data is due */
	/* The messages being received */
	const struct rdmap_rqe *rqe; /**< receive element of the Send under way */
	struct rdmap_sge_at rx_at;
	uint32_t read_placed; /**< received bytes of the oldest Read's response */
	uint32_t write_len; /**< received octets of the last Write, if no Send came after its end */
	bool write_open;    /**< its last segment has not come */
	bool heard;         /**< a message has come */
	bool answers_only;  /**< others are dropped */
	/* A Terminate that waits for room in the LLP */
	uint8_t term[RDMAP_TERM_MAX];
	uint8_t term_len; /**< 0: none */
};

/** Prepare @p r for a QP. */
void rdmap_init(struct rdmap *r, struct rdmap_sq *sq, const struct rdmap_ops *ops, void *user);

/**
 * Put the stream on a connection. It becomes the user of @p m. An initiator calls this in reply()
 * or later, a responder before or after mpa_accept(). Input that comes in between waits in the LLP.
 * If @p m is operational already, as an initiator's is, the RTR frame goes out and
 * ops->operational() is called before this returns.
 * @param ird inbound Reads and Atomics that are taken at a time, which share a queue (RFC 7306
 *            section 5.2): what the peer was told, or more.
 * @param irq the caller's memory for @p ird elements, until ended(), rdmap_abort() or
 *            rdmap_release().
 * @param rtr initiator: the type of RTR frame to send first (0: none); responder: the types that
 *            the first frame may have (RFC 6581 section 9.2). The QP does not see an RTR frame.
 */
void rdmap_attach(struct rdmap *r, struct mpa *m, uint16_t ird, uint16_t ord,
	struct rdmap_irqe *irq, uint8_t rtr);

/**
 * Instead of rdmap_attach(), for an initiator that cannot accept the terms of the reply. It sends a
 * Terminate of MPA (RFC 6581 section 9) and nothing that is posted. ended() is called before this
 * returns.
 */
void rdmap_refuse(struct rdmap *r, struct mpa *m, enum mpa_error code);

/**
 * Answer inbound Reads and send work requests, as far as the LLP has room. Called at a doorbell. It
 * is cheap when there is nothing to do. Sends and Writes complete once they are copied into the
 * LLP. With mpa_config.tell_acked, and where payload is not copied, they complete once the peer's
 * has acknowledged their last byte.
 */
void rdmap_run(struct rdmap *r);

/**
 * Start no more work requests. Those that have started are finished. Receiving and answering go on.
 * May be called before there is a connection.
 * @return true: none had started; false: ops->drained() follows, unless the stream ends before, or
 * has ended.
 */
bool rdmap_sq_suspend(struct rdmap *r);

/** Start work requests again. */
void rdmap_sq_resume(struct rdmap *r);

/** Is a work request under way, or may one start? While suspended, none may. */
bool rdmap_sq_is_busy(const struct rdmap *r);

/** Has all that was posted been given to the LLP, and every Read and Atomic its answer? */
bool rdmap_sq_is_sent(const struct rdmap *r);

/**
 * Close in good order: finish what was posted, then close our direction (RFC 5040 section 6.2).
 * ended() follows when the peer has closed too.
 */
void rdmap_close(struct rdmap *r);

/**
 * Send a Terminate for an error that was not caused by an incoming message, and close our direction
 * (RFC 5040 section 6.2.1). ended() is called before this returns. Does nothing after ended().
 */
void rdmap_terminate(struct rdmap *r, uint8_t layer, uint8_t etype, uint8_t code);

/**
 * True after ended() while the Terminate waits for room in the LLP. It goes out by itself.
 * rdmap_release() and rdmap_abort() would drop it.
 */
static inline bool rdmap_terminate_waits(const struct rdmap *r)
{
	return r->term_len != 0;
}

/** A receive element was posted: a message may wait for it. */
void rdmap_recv_posted(struct rdmap *r);

/** Has the peer closed behind a message that waits for a receive element? */
bool rdmap_eof_waits(const struct rdmap *r);

/**
 * The peer has closed behind a message that waits for a receive element, which is waited for no
 * longer: it is dropped, and so is what follows, but answers to requests and a Terminate. Then
 * ended() or peer_closed() tells what the stream ended by. Only if rdmap_eof_waits().
 */
void rdmap_take_answers_only(struct rdmap *r);

/**
 * Complete what the peer's TCP is known to have, where requests complete by that, though the LLP
 * has not told of it yet. Call it before rdmap_fail_oldest() and rdmap_abort() of a stream.
 */
void rdmap_take_acked(struct rdmap *r);

/** Reset the connection. ended() is not called. */
void rdmap_abort(struct rdmap *r);

/**
 * Give up the connection. What is queued, such as a Terminate, is delivered; then it closes.
 * ended() is not called any more.
 */
void rdmap_release(struct rdmap *r);

/**
 * The QP is in ERROR: complete a receive element that is partly filled, then every posted send
 * element, in order. A request that failed has its own status. The others are flushed, even those
 * that finished behind one that did not: verbs promise that no request succeeds behind a failed
 * one, and it is not known whether their data arrived. Call it again for elements that are posted
 * later.
 */
void rdmap_flush_sq(struct rdmap *r);

/** Without a stream: the owner of the queue has done the oldest send element by itself. */
void rdmap_sq_complete_oldest(struct rdmap *r);

/**
 * Set the status of the oldest unfinished send element, if any. Call it before rdmap_flush_sq().
 */
void rdmap_fail_oldest(struct rdmap *r, enum rdmap_wc_status status);

#endif
