/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_rnic.h
 * An RNIC that is not ours: as free as RFC 5040, 5041, 5044, 6581 and 7306 let it be. It cuts
 * messages and segments anywhere, sends Writes, Read Responses, Sends and Atomics between each
 * other's segments, and answers late. Once it does something illegal, if it is told to.
 */
#ifndef TESTS_IWARP_FOREIGN_RNIC_H
#define TESTS_IWARP_FOREIGN_RNIC_H

#include "foreign_wire.h"
#include "foreign_world.h"
#include "support/llp_mem.h"

/** Types of ready-to-receive frames, as of RFC 6581 section 9.2. */
enum foreign_rtr { FOREIGN_RTR_SEND = 1, FOREIGN_RTR_WRITE = 2, FOREIGN_RTR_READ = 4 };

/** What may be wrong with a start-up frame. */
enum foreign_startup_flaw {
	FOREIGN_FLAW_NONE,
	FOREIGN_FLAW_KEY,
	FOREIGN_FLAW_ROLE, /**< the key of the other role */
	FOREIGN_FLAW_REVISION,
	FOREIGN_FLAW_LENGTH,
	FOREIGN_FLAW_WORDS, /**< no room for IRD and ORD */
	FOREIGN_FLAW_EARLY, /**< of a request: octets behind it */
	FOREIGN_FLAWS
};

#define FOREIGN_DEPTH 16 /**< Reads and Atomics under way, either way, at most */

/** A message of several segments that is being sent. */
struct foreign_message {
	bool open;
	uint8_t opcode;
	const uint8_t *payload;
	uint32_t len, sent;
	uint32_t stag, ulp32, msn;
	uint32_t at; /**< of a Write: in AREA_WRITE */
	uint64_t to;
};

/** A Read or Atomic Request of the host that is to be answered. */
struct foreign_inbound {
	struct request *request; /**< NULL: the RTR frame */
	uint32_t stag, len, id;
	uint64_t to;
};

/** One of the peer, until it is answered. */
struct foreign_outbound {
	bool atomic;
	uint32_t at, len, got; /**< in AREA_READ */
	uint32_t stag, id;
	uint32_t source; /**< the STag that it reads */
	uint64_t to, original;
};

/** A Terminate: layer, type and code. */
#define FOREIGN_CODE(layer, type, code) ((layer) << 12 | (type) << 8 | (code))
#define FOREIGN_CODES                   5

struct foreign_rnic {
	struct foreign_world *world;
	struct llp_mem_peer tcp;

	/* what it is like */
	bool initiator, markers, crc, p2p, enhanced;
	uint8_t revision, rtr; /**< rtr: types that it can do */
	uint16_t ird, ord;
	uint32_t ulpdu_max;
	double cuts;   /**< how often what it sends is cut, or joined */
	bool reserved; /**< it sets reserved bits */

	/* of the host's configuration, to know what its frames must say */
	bool host_crc, host_markers, host_p2p;
	uint8_t host_revision, host_rtr;
	uint16_t host_ird, host_ord; /**< as asked for; then as negotiated */

	/* start-up */
	bool asked;     /**< its frame was sent */
	bool answered;  /**< both were: full operation */
	bool requested; /**< of a responder: the host's request has come */
	bool rejects;
	enum foreign_startup_flaw startup_flaw;
	uint8_t rtr_due;      /**< the type that it has to send first */
	uint8_t rtr_expected; /**< the types that the host's first frame may have */
	bool rtr_read;        /**< its own was a Read, and was not answered */
	bool may_send;        /**< RFC 5044 section 7.1.2 rule 4 */
	bool has_sent, heard;

	struct foreign_fpdus tx, rx;
	uint8_t *out; /**< not given to TCP yet */
	size_t out_len;

	struct foreign_message send, write, response;
	uint32_t tx_msn[4], rx_msn[4], rx_mo[4];
	struct foreign_inbound inbound[FOREIGN_DEPTH];
	unsigned inbounds;
	struct foreign_outbound outbound[FOREIGN_DEPTH];
	unsigned outbounds;
	unsigned owed;    /**< of these, oldest first: the host had them before it closed */
	unsigned next;    /**< the host's request that comes next */
	uint32_t next_at; /**< octets of it that have come */
	bool next_imm;
	uint32_t write_len; /**< of the last Write, if no Send came after it */

	bool calm;      /**< from now on it finishes what it has begun, and begins nothing */
	bool fin, gone; /**< it has closed; reset */

	/* of the illegal thing */
	const char *deed;
	int expects[FOREIGN_CODES]; /**< Terminates that it may cause; 0 ends them */
	bool must;                  /**< one of them has to come */
	uint8_t guilty[18];         /**< header of the segment that a Terminate has to quote */
	uint8_t guilty_len;
	uint16_t guilty_ulpdu;

	/* what has come */
	int terminate; /**< FOREIGN_CODE(); -1: none */
	bool host_fin;
};

/** Draw what it is like. */
void foreign_rnic_start(struct foreign_rnic *p, struct foreign_world *w);
void foreign_rnic_end(struct foreign_rnic *p);

/** Take what has come from the host. */
void foreign_rnic_input(struct foreign_rnic *p);

/** Do something, or nothing. */
void foreign_rnic_act(struct foreign_rnic *p);

/** Do something illegal. @return false: it is not possible now. */
bool foreign_rnic_break(struct foreign_rnic *p);

/** The power of two that is @p n or next above it; 0 for 0. */
unsigned foreign_rnic_round_up(unsigned n);

/** Close its direction in good order, if that is legal now. */
void foreign_rnic_close(struct foreign_rnic *p);
void foreign_rnic_abort(struct foreign_rnic *p);

/** Say to the host that it has done something illegal. */
void foreign_rnic_terminate(struct foreign_rnic *p);

/** All that has begun is sent and answered. */
bool foreign_rnic_is_idle(const struct foreign_rnic *p);

void foreign_rnic_answer_all(struct foreign_rnic *p);

/* foreign_startup.c */

/** Send its request or reply, if that is due. */
void foreign_startup_act(struct foreign_rnic *p);
/** @return octets of the host's frame; 0: it is not whole. */
size_t foreign_startup_input(struct foreign_rnic *p, const uint8_t *text, size_t len);

/* foreign_check.c */

/** A segment of the host: is it what its program has asked for? */
void foreign_check_segment(struct foreign_rnic *p, const struct foreign_segment *s, size_t len);

/* for those files */

void foreign_rnic_flush(struct foreign_rnic *p);
void foreign_rnic_put(struct foreign_rnic *p, const void *octets, size_t len);
/** A segment that is a whole message on queue @p qn, to be changed at will. */
struct foreign_segment foreign_rnic_message(const struct foreign_rnic *p, uint8_t opcode,
	uint32_t qn, const void *payload, uint32_t len);
/** Send a segment. */
void foreign_rnic_segment(
	struct foreign_rnic *p, const struct foreign_segment *s, enum foreign_flaw flaw);
/** The same, for what is its own message on a queue. */
void foreign_rnic_untagged(
	struct foreign_rnic *p, uint8_t opcode, uint32_t qn, const void *header, uint32_t len);

#endif
