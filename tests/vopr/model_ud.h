/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file model_ud.h
 * What UD queue pairs promise (docs/ud.md): each message is one datagram, in the order of the
 * posts, and may be lost or doubled on its way; what comes takes the oldest receive, if the Q_Key
 * is that of the QP and there is room, and nothing else does.
 */
#ifndef TESTS_VOPR_MODEL_UD_H
#define TESTS_VOPR_MODEL_UD_H

#include "vopr/model.h"

#define MODEL_UD_GRH  40u   /**< octets before each message */
#define MODEL_UD_MOST 1024u /**< octets of a message */

struct model_ud_message {
	uint32_t from, to, qkey, imm, length;
	bool with_imm, solicited;
	uint8_t gid[2][16]; /**< the sender's, the receiver's */
	uint8_t tos, ttl;
	uint8_t data[MODEL_UD_MOST];
};

/** A Send or a receive. */
struct model_ud_wr {
	uint64_t id;
	bool signalled;
	bool nowhere;          /**< there is no way to its receiver */
	enum model_status bad; /**< why it must fail */
	uint8_t *at;           /**< of a receive: `room` octets */
	uint32_t room;
	bool done; /**< a Send is on its way; a receive is taken */
	struct model_ud_message message;
	TAILQ_ENTRY(model_ud_wr) link;
};

TAILQ_HEAD(model_ud_wrs, model_ud_wr);

struct model_ud {
	struct model *m;
	unsigned host;
	uint32_t num, qkey;
	bool doomed; /**< its program has ended it, or posted what must fail */
	bool failed; /**< the completion of a Send has told so */
	unsigned sends, receives;
	struct model_ud_wrs sq, rq;
};

void model_ud_init(struct model *m, struct model_ud *u, unsigned host, uint32_t num, uint32_t qkey);
/** It is reset or destroyed. */
void model_ud_clear(struct model_ud *u);
/** @p wr is copied. */
void model_ud_post(struct model_ud *u, const struct model_ud_wr *wr);
/** Its memory is filled with what must stay where no message comes. */
void model_ud_post_recv(struct model_ud *u, const struct model_ud_wr *wr);
/** The network got this from it. */
void model_ud_sent(struct model_ud *u, const struct model_ud_message *s);
/** It has come. @return true: the oldest receive takes it. */
bool model_ud_arrived(struct model_ud *u, const struct model_ud_message *s);
/** @p from: the sender's QP, of a receive. */
void model_ud_complete(struct model_ud *u, const struct model_completion *c, uint32_t from);
/** All that it has posted is on its way. */
bool model_ud_is_idle(const struct model_ud *u);
/** All its completions were polled. @p in_error: nothing is left. */
void model_ud_empty(const struct model_ud *u, bool in_error);

#endif
