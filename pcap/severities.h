/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file severities.h
 * A file that says how severe the findings of some demands are, for those who know of a fault and
 * live with it. A line is
 *
 *     SEVERITY ID [from ADDRESS[/PREFIX]] [# why]
 *
 * with a severity of violation, advice, note or ignore, and an id of docs/conformance.md, or the
 * beginning of some and a "*". The last line that fits counts.
 */
#ifndef PCAP_SEVERITIES_H
#define PCAP_SEVERITIES_H

#include "pcap/requirement.h"
#include "pcap/select.h"

#include <stdio.h>

/** From the worst on. */
enum severity { SEVERITY_VIOLATION, SEVERITY_ADVICE, SEVERITY_NOTE, SEVERITY_IGNORE, SEVERITIES };

#define SEVERITIES_RULES_MAX 1024
#define SEVERITIES_ID_LEN    24

struct severities_rule {
	enum severity severity;
	char id[SEVERITIES_ID_LEN]; /**< without the "*" */
	bool prefix;                /**< ids that begin so */
	bool from_given;
	struct select_net from; /**< with from_given: the sender */
};

/** Zero-initialised: as the RFCs have it. */
struct severities {
	struct severities_rule *rules;
	unsigned n;
};

/** "violation", ... */
const char *severity_name(enum severity s);

/** @return false: @p name is of none. */
bool severity_parse(const char *name, enum severity *out);

/** MUST, SHALL and REQUIRED are violations, the others advice. */
enum severity severity_of_level(const struct requirement *q);

/**
 * Add the rules of a file.
 * @param e with a line number, what is wrong in it.
 */
bool severities_read(struct severities *s, FILE *in, struct cap_error *e);

/** How severe it is that @p from did not meet @p q. */
enum severity severities_find(
	const struct severities *s, const struct requirement *q, const struct ip_addr *from);

void severities_free(struct severities *s);

#endif
