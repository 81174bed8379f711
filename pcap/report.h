/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file report.h
 * Reports the findings of a check, as text or as JSON.
 *
 * A *violation* names the demand of an RFC that the sender of a frame did not meet; *advice* is the
 * same for a SHOULD; a *note* is information and no fault.
 */
#ifndef PCAP_REPORT_H
#define PCAP_REPORT_H

#include "pcap/capture_set.h"
#include "pcap/connection.h"
#include "pcap/line.h"
#include "pcap/severities.h"

#include <jansson.h>
#include <stdio.h>

/** Findings of one kind that are reported for an end of a connection, unless all are requested. */
#define REPORT_TOLD_MAX 3

struct report_place;

struct report {
	FILE *out; /**< NULL: only count */
	bool json, all;
	const struct cap_set *files; /**< that have the frames; NULL: not told */
	struct select_span span;     /**< of which findings are reported and counted */
	/** How severe they are; NULL: as the RFCs have it. */
	const struct severities *severities;
	bool least_set;
	enum severity least; /**< with least_set: what is less severe is counted, but not told */
	/** Also called for all that is not ignored and no note as yet, told or not; may be NULL. */
	void (*found)(void *user, const struct report_place *at, const struct requirement *q);
	void *user; /**< of found() */
	uint64_t violations, advice, notes, ignored;
	uint64_t evicted; /**< connections that were not followed to their end */
	uint64_t count[REQUIREMENTS];
};

/** A frame, as text of a finding. */
struct report_frame {
	char text[96];
};

/** Its number, and where one of several files has it, which, and its number there. */
struct report_frame report_frame(const struct report *r, uint64_t frame);

/** The place of a finding. */
struct report_place {
	struct stream *s;
	uint64_t frame, time;
	const uint8_t *bytes; /**< the evidence; may be NULL */
	size_t len;
};

/**
 * The sender of @p at did not meet @p id.
 * @param told the number of such findings of this end; incremented.
 */
__attribute__((format(printf, 5, 6))) void report_violation(struct report *r,
	const struct report_place *at, enum requirement_id id, uint16_t *told, const char *format,
	...);

/** Report something that is no fault. */
__attribute__((format(printf, 3, 4))) void report_note(
	struct report *r, const struct report_place *at, const char *format, ...);

/** Report the counts of all findings, after @p frames with @p connections. */
void report_summary(
	const struct report *r, const char *file, uint64_t connections, uint64_t frames);

#endif
