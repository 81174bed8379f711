/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file replay_llp.h
 * An LLP with one end. Received bytes are fed to it. Each record that it sends goes to a callback.
 * Its user is our MPA, its peer a capture.
 */
#ifndef PCAP_REPLAY_LLP_H
#define PCAP_REPLAY_LLP_H

#include "llp/llp.h"
#include "mpa/mpa_wire.h"

/** Bytes of the largest record: an FPDU with its markers. */
#define REPLAY_RECORD_MAX (MPA_ULPDU_MAX + 1024)

/** EMSS: Ethernet's, with timestamps. */
#define REPLAY_EMSS 1448

struct replay_llp {
	struct llp llp; /**< first */
	void (*sent)(void *ctx, const uint8_t *record, size_t len);
	void *ctx;
	uint8_t *rx; /**< bytes that the user has not taken */
	size_t rx_len, rx_room;
	bool showing, again; /**< inside readable(); call it once more */
	bool shut;           /**< the user has closed its direction */
	bool gone;           /**< the user has released it */
	uint8_t tx[REPLAY_RECORD_MAX];
};

/** @p sent is called for each record that the user commits. Freed by replay_llp_end(). */
void replay_llp_init(struct replay_llp *l,
	void (*sent)(void *ctx, const uint8_t *record, size_t len), void *ctx);

/** Bytes arrive. @return false: out of memory. */
bool replay_llp_feed(struct replay_llp *l, const uint8_t *bytes, size_t len);

/** The peer closes its direction. */
void replay_llp_eof(struct replay_llp *l);

/** The connection is over: notify the user, and free the memory. */
void replay_llp_end(struct replay_llp *l);

#endif
