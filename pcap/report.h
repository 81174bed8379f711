/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file report.h
 * What a check finds, as lines for people or objects for machines.
 *
 * A *violation* names the demand of an RFC that the sender of a frame did not meet; *advice* is
 * the same for a SHOULD; a *note* is worth knowing and no fault.
 */
#ifndef PCAP_REPORT_H
#define PCAP_REPORT_H

#include "pcap/connection.h"
#include "pcap/line.h"
#include "pcap/requirement.h"

#include <jansson.h>
#include <stdio.h>

/** Findings of one kind on one connection that are told in full, unless all are asked for. */
#define REPORT_TOLD_MAX 5

struct report {
	FILE *out; /**< NULL: only count */
	bool json, all;
	uint64_t violations, advice, notes;
	uint64_t count[REQUIREMENTS];
};

/** Where a finding is. */
struct report_place {
	struct stream *s;
	uint64_t frame, time;
	const uint8_t *bytes; /**< the evidence; may be NULL */
	size_t len;
};

/**
 * The sender of @p at did not meet @p id.
 * @param told how often that was told of the connection already; counted here.
 */
__attribute__((format(printf, 5, 6))) void report_violation(struct report *r,
	const struct report_place *at, enum requirement_id id, uint16_t *told, const char *format,
	...);

/** Something notable that is no fault. */
__attribute__((format(printf, 3, 4))) void report_note(
	struct report *r, const struct report_place *at, const char *format, ...);

/** Counts of all that was found. @p connections followed, @p frames read. */
void report_summary(
	const struct report *r, const char *file, uint64_t connections, uint64_t frames);

#endif
