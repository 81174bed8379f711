/* SPDX-License-Identifier: BSD-2-Clause */
/** @file follow_case.h What is told of a capture that was made (support/cap_maker.h), in letters.
 */
#ifndef TESTS_UNIT_PCAP_FOLLOW_CASE_H
#define TESTS_UNIT_PCAP_FOLLOW_CASE_H

#include "pcap/follow.h"

#include "support/cap_maker.h"

/** What was told, in short: O(pened), R(equest), P (reply), F(PDU) with > or <, and so on. */
struct heard {
	char text[512];
	size_t len;
	unsigned connections, good, bad, unseen, unaligned, evicted;
	enum connection_end how;
	uint64_t end; /**< the frame that was told with it */
};

/** For follow_init(), with a struct heard. */
extern const struct connection_ops heard_ops;

/** Follow what was made, and free it. */
void follow(struct cap_maker *m, const struct follow_config *config, struct heard *h);

/** A capture of a connection without text so far. */
void connected(struct cap_maker *m);

/** What is told of it is @p text. */
void expect(struct cap_maker *m, const char *text);

/** What is there goes on with a start-up and a Send, and is taken for that. */
void expect_whole(struct cap_maker *m);

#endif
