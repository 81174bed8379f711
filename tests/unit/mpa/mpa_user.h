/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mpa_user.h A user of MPA that records what it is told, opposite a peer of raw bytes. */
#ifndef TESTS_UNIT_MPA_MPA_USER_H
#define TESTS_UNIT_MPA_MPA_USER_H

#include "mpa/mpa.h"
#include "support/llp_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct mpa_user {
	struct llp_mem *net;
	struct llp_mem_peer peer;
	struct llp_listener *listener;
	struct mpa *m; /* its own allocation, so that late uses are seen */
	struct mpa_config config;
	const struct mpa_user_ops *ops;
	struct mpa_start start; /* of the request or reply */
	uint8_t private_data[MPA_PRIVATE_MAX];
	uint8_t rx[1 << 18]; /* ULPDUs, one after the other */
	uint32_t rx_len, ulpdu_len[4096];
	unsigned ulpdus, connected, requests, replies, operational, rx_dones, writables, eofs;
	unsigned errors, closeds;
	enum mpa_error error;
	int closed_error;
	void (*on_request)(struct mpa_user *u);
	void (*on_reply)(struct mpa_user *u);
	int first_len; /* of the ULPDU that has made it operational; -1: the reply has */
	void (*on_open)(struct mpa_user *u); /* when it is operational */
	void (*on_ulpdu)(struct mpa_user *u);
	void (*on_error)(struct mpa_user *u);
	void *test; /* the test's own */
};

extern const struct mpa_user_ops mpa_user_ops;

/** Everything but the connection; CRC off, revision 2, RTR Write and Read. */
struct mpa_user *mpa_user_new(void);
void mpa_user_free(struct mpa_user *u);

/** The peer connects, @p u responds. */
void mpa_user_respond(struct mpa_user *u);

/** @p u connects, the peer listens. The request is not sent. */
void mpa_user_initiate(struct mpa_user *u);

/** Bytes from the peer, then rest. */
void mpa_user_feed(struct mpa_user *u, const void *bytes, size_t len);

/** The peer has received exactly this since the last time. */
void mpa_user_expect(struct mpa_user *u, const void *bytes, size_t len);

/* The keys of start-up frames (RFC 5044 section 7.1.1). */
#define REQ "MPA ID Req Frame"
#define REP "MPA ID Rep Frame"

#define FEED(u, literal)   mpa_user_feed(u, literal, sizeof(literal) - 1)
#define EXPECT(u, literal) mpa_user_expect(u, literal, sizeof(literal) - 1)

#endif
