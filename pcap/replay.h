/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file replay.h
 * One side of captured connections, fed to our own stack: src/mpa, src/ddp and src/rdmap over an
 * LLP in memory, in the role of the other side. What that other side did in the capture says what
 * our stack has to post, and what its answers should be: the start-up frame, Read Responses,
 * Terminate.
 *
 * Of memory and receive buffers a capture tells nothing: every STag is good, and a receive buffer
 * is always there. Terminates for want of them are not expected of our stack.
 */
#ifndef PCAP_REPLAY_H
#define PCAP_REPLAY_H

#include "pcap/connection.h"
#include "pcap/reads.h"
#include "pcap/replay_llp.h"
#include "rdmap/rdmap.h"

#include <stdio.h>

/** Inbound Reads of ours at most, whatever was announced. */
#define REPLAY_IRD_MAX 1024
/**
 * Octets that our stack is asked to send ahead of what the captured side has sent: a few octets of
 * a hostile file may ask for gigabytes.
 */
#define REPLAY_OWED_MAX (64u << 20)
/** Our send queue. */
#define REPLAY_SQ_SIZE 1024

/** A session of ours against one captured connection. */
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
	uint8_t rtr;      /**< that may come, or that we send */
	bool started;     /**< MPA is */
	bool attached;    /**< RDMAP is */
	bool ended;       /**< RDMAP said so, or MPA failed */
	bool stopped;     /**< it cannot go on; told */
	uint64_t frame;   /**< that is being fed */
	uint64_t fed;     /**< FPDUs */
	/* Answers: expected by what the capture has, and given by our stack. */
	struct reads asked;    /**< their Reads: sink, size, and how much of it is answered */
	uint64_t requests;     /**< Reads and Atomic Operations fed */
	uint64_t answered;     /**< Read and Atomic Responses of ours, complete */
	uint64_t expected;     /**< in the capture */
	uint64_t owed;         /**< octets asked of our stack, less those that the capture has */
	bool terminated;       /**< our stack ended the stream with a Terminate */
	bool expect_terminate; /**< the captured side did */
	struct rdmap_end terminate;
	/* The message of the captured side of ours that is being put together */
	uint32_t write_stag;
	uint64_t write_to, write_len;
	bool write_open;
	/* Whatever STag is asked for, and a receive element of one piece */
	_Alignas(RDMAP_ATOMIC_LEN) uint8_t memory[REPLAY_RECORD_MAX + RDMAP_ATOMIC_LEN];
	_Alignas(struct rdmap_rqe) uint8_t rqe[sizeof(struct rdmap_rqe) + sizeof(struct rdmap_sge)];
};

struct replay {
	FILE *out;
	bool responder; /**< feed what the responder sent; else the initiator */
	uint64_t differences, sessions;
	uint8_t fpdu[REPLAY_RECORD_MAX]; /**< in hand */
};

/** For follow_init(), with a struct replay. */
extern const struct connection_ops replay_ops;

/* ---- what its files share ------------------------------------------------------------------- */

/** Our stack does not do what the other side did in the capture, or what it should. */
__attribute__((format(printf, 2, 3))) void replay_differs(
	struct replay_session *x, const char *format, ...);

/** It cannot go on, and that is nobody's fault. */
void replay_stop(struct replay_session *x, const char *why);

/** Our stack is about to be asked for so much. @return false: that is too much; stopped. */
bool replay_owe(struct replay_session *x, uint32_t len);

/** replay_post.c: post what the captured side of ours sent, when its message is complete. */
void replay_post(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: a record that our stack sent. */
void replay_sent(void *ctx, const uint8_t *record, size_t len);

/** replay_answer.c: an FPDU is about to be fed; a Read Request asks. @return as replay_owe(). */
bool replay_asked(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: the captured side of ours answered, or sent a Terminate. */
void replay_expected(struct replay_session *x, const struct stream_fpdu *f);

/** replay_answer.c: what is missing at the end. */
void replay_judge(struct replay_session *x);

#endif
