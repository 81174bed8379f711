/* SPDX-License-Identifier: BSD-2-Clause */
/** @file raw.h A peer that sends what it is told, and remembers what comes. */
#ifndef TESTS_CORPUS_RAW_H
#define TESTS_CORPUS_RAW_H

#include "corpus/stage.h"
#include "llp/llp.h"
#include "mpa/enframe.h"

#define RAW_MAX 8192

struct raw {
	struct stage *stage;
	struct sim_host *host;
	struct llp *llp; /**< NULL: not there yet, or gone */
	struct llp_listener *listener;
	struct mpa_enframe tx; /**< how raw_ulpdu() frames */
	uint8_t rx[RAW_MAX];
	size_t rx_len, wanted;
	bool eof;
};

/** Connect from a to b's @p port, without a start-up; wait until that is done. */
void raw_connect(struct raw *r, struct stage *g, uint16_t port);

/** Listen at b for one connection. */
void raw_listen(struct raw *r, struct stage *g, uint16_t port);

/** Send octets as one segment. */
void raw_send(struct raw *r, const void *bytes, size_t len);

/** A start-up frame; @p words: IRD and ORD of revision 2, or NULL. */
void raw_start(struct raw *r, const char *key, uint8_t flags, uint8_t revision,
	const uint16_t words[2], const char *private_data);

/** An FPDU. @p bad_crc: with one bit of its CRC wrong. */
void raw_ulpdu(struct raw *r, const void *ulpdu, size_t len, bool bad_crc);

/** Wait for @p len octets more than have been consumed. */
void raw_wait(struct raw *r, size_t len);
void raw_consume(struct raw *r, size_t len);

/** Wait for the peer's FIN or reset. */
void raw_wait_end(struct raw *r);

/** Send FIN; what comes is still taken. */
void raw_shutdown(struct raw *r);

/** End all. */
void raw_close(struct raw *r);

#endif
