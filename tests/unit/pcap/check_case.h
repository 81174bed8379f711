/* SPDX-License-Identifier: BSD-2-Clause */
/** @file check_case.h Each demand that the checker judges: a capture that breaks it, and what is
 * found. */
#ifndef TESTS_UNIT_PCAP_CHECK_CASE_H
#define TESTS_UNIT_PCAP_CHECK_CASE_H

#include "pcap/check.h"
#include "pcap/follow.h"

#include "support/cap_maker.h"

#include "ddp/ddp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ULPDUs in hex, up to their payload. */
#define SEND(msn)     "4143 00000000 00000000 " msn " 00000000 "
#define TERMINATE     "4147 00000000 00000002 00000001 00000000 "
#define READ(msn)     "4141 00000000 00000001 " msn " 00000000 "
#define ATOMIC        "414a 00000000 00000001 00000001 00000000 "
#define ATOMIC_ANSWER "414b 00000000 00000003 00000001 00000000 "
#define FETCH_ADD(id)                                                 \
	"00000000 " id " 00000022 0000000000000008 0000000000000001 " \
	"0000000000000000 0000000000000000 ffffffffffffffff"

struct check_case {
	const char *name;
	void (*make)(struct cap_maker *m); /**< NULL: running() */
	const char *ids;                   /**< that must be found */
	const char *fpdus[4];              /**< what follows, with its direction: "> 4143 ..." */
};

/** Room for all ids that a case may find. */
#define CHECK_IDS_LEN 512

/** Make each capture and look what is found in it. */
void check_cases(const struct check_case *cases, size_t n);

/** The ids found, each once, in the order of the table. */
void check_found(struct cap_maker *m, const struct follow_config *config, char ids[CHECK_IDS_LEN]);

/** A start-up frame; ird < 0: without the enhanced words. */
void start(struct cap_maker *m, unsigned side, const char *key, uint8_t flags, uint8_t revision,
	long ird, long ord);

/** The handshake, and a request. */
void request(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord);
void reply(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord);

/** A ULPDU in hex; blanks count for nothing. */
void fpdu(struct cap_maker *m, unsigned side, const char *hex);

/** After a good start and the first FPDU each way. */
void running(struct cap_maker *m);

#endif
