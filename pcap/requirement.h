/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file The demands of the iWARP RFCs, by id, for the checker and docs/conformance.md.
 *
 * The table is generated from docs/conformance at build time (scripts/conformance table).
 */
#ifndef UIWARP_PCAP_REQUIREMENT_H
#define UIWARP_PCAP_REQUIREMENT_H

/** REQ_MPA_4_3_2 is MPA-4.3-2: the second demand of section 4.3 of RFC 5044. */
enum requirement_id {
#define REQUIREMENT(name, id, rfc, section, level, text) REQ_##name,
#include "requirements.inc"
#undef REQUIREMENT
	REQUIREMENTS /* the number of demands */
};

struct requirement {
	const char *id;      /**< "MPA-4.3-2" */
	unsigned int rfc;    /**< 5044 */
	const char *section; /**< "4.3", or "A.4" in an appendix */
	const char *level;   /**< "MUST", "SHOULD NOT", ... */
	const char *text;    /**< one sentence in our own words */
};

/** The demand; @a id is below REQUIREMENTS. Constant and shared. */
const struct requirement *requirement(enum requirement_id id);

#endif
