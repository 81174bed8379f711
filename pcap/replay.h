/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file replay.h
 * Feeds one side of captured connections to our own stack: src/mpa, src/ddp and src/rdmap over an
 * LLP in memory, in the role of the other side. The other side in the capture determines what our
 * stack posts, and what it should answer: the start-up frame, Read Responses, Terminate.
 *
 * A capture does not tell of memory and receive buffers. So every STag is valid, there is always a
 * receive buffer, and Terminates about them are not expected.
 */
#ifndef PCAP_REPLAY_H
#define PCAP_REPLAY_H

#include "pcap/connection.h"
#include "pcap/reads.h"
#include "pcap/replay_llp.h"
#include "rdmap/rdmap.h"

#include <stdio.h>

/** Limit of our IRD. */
#define REPLAY_IRD_MAX 1024
/**
 * Limit of octets that our stack has to send ahead of the captured side: a few octets of a hostile
 * file may ask for gigabytes.
 */
#define REPLAY_OWED_MAX (64u << 20)
/** Our send queue. */
#define REPLAY_SQ_SIZE 1024

/** A session of our stack against one captured connection. */
struct replay_session {
	struct replay *w;
	struct stream *theirs, *ours;
	struct replay_llp llp;
	struct mpa mpa;
	struct rdmap rdmap;
	struct rdmap_sq sq;
	struct rdmap_irqe irq[REPLAY_IRD_MAX];
	uint8_t request[MPA_FRAME_MAX]; /**< theirs, until our responder can take it */
	size_t request_len;
	uint64_t sent_at; /**< octets of full operation that our stack has sent */
	uint8_t rtr;      /**< RTR types that may come, or that we send */
	bool started;     /**< MPA is */
	bool attached;    /**< RDMAP is */
	bool ended;       /**< RDMAP has ended, or MPA has failed */
	bool stopped;     /**< it cannot go on, which was reported */
	uint64_t frame;   /**< the one that is being fed */
	uint64_t fed;     /**< FPDUs */
	/* Answers, in the capture and of our stack. */
	struct reads asked;    /**< their Reads, with sink, size and octets that are answered */
	uint64_t requests;     /**< Reads and Atomic Operations fed */
	uint64_t answered;     /**< complete Read and Atomic Responses of our stack */
	uint64_t expected;     /**< in the capture */
	uint64_t owed;         /**< octets requested of our stack, minus those in the capture */
	bool terminated;       /**< our stack ended the stream with a Terminate */
	bool expect_terminate; /**< the captured side did that */
	struct rdmap_end terminate;
	/* The Write that the captured side is sending */
	uint32_t write_stag;
	uint64_t write_to, write_len;
	bool write_open;
	/* The memory of every STag, and a receive element of one piece */
	_Alignas(RDMAP_ATOMIC_LEN) uint8_t memory[REPLAY_RECORD_MAX + RDMAP_ATOMIC_LEN];
	_Alignas(struct rdmap_rqe) uint8_t rqe[sizeof(struct rdmap_rqe) + sizeof(struct rdmap_sge)];
};

struct replay {
	FILE *out;
	bool responder; /**< true: feed what the responder sent; false: the initiator */
	uint64_t differences, sessions;
	uint8_t fpdu[REPLAY_RECORD_MAX]; /**< in hand */
};

/** For follow_init(), with a struct replay. */
extern const struct connection_ops replay_ops;

/* ---- private ------------------------------------------------------------------- */

/** Report that our stack does not do what the captured side did, or what it should. */
__attribute__((format(printf, 2, 3))) void replay_differs(
	struct replay_session *x, const char *format, ...);

/** The replay cannot go on, without an error. */
void replay_stop(struct replay_session *x, const char *why);

/** Our stack has to send @p len octets. @return false: too many; stopped. */
bool replay_owe(struct replay_session *x, uint32_t len);

/** replay_post.c: post a message of the captured side when it is complete. */
void replay_post(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: our stack has sent a record. */
void replay_sent(void *ctx, const uint8_t *record, size_t len);

/** replay_answer.c: an FPDU is about to be fed, perhaps a Read Request. @return as replay_owe(). */
bool replay_asked(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: the captured side has answered, or sent a Terminate. */
void replay_expected(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: at the end, report answers that are missing. */
void replay_judge(struct replay_session *x);

#endif
