/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file variant.h
 * A capture as a list of frames that can be left out, moved and changed, and what the checker finds
 * in it. A frame keeps the number that it has in the file, so findings in two variants can be
 * compared.
 */
#ifndef TESTS_MUTATION_VARIANT_H
#define TESTS_MUTATION_VARIANT_H

#include "pcap/check.h"
#include "pcap/follow.h"

/** Frames in the order in which a variant has them; their bytes are the original's. */
struct variant {
	struct cap_frame *frames;
	unsigned n, cap;
	struct follow_config config;
};

/** A finding: a demand, and where. */
struct variant_finding {
	const struct requirement *requirement;
	uint64_t frame;
	struct ip_endpoint from;
};

#define VARIANT_FINDINGS_MAX 1024

struct variant_findings {
	struct variant_finding list[VARIANT_FINDINGS_MAX];
	unsigned n;
	uint64_t notes;
};

/** A whole capture in memory, to be written to. */
struct variant_file {
	uint8_t *bytes;
	struct cap_file *c;
	struct variant all;
};

/** Read @p path, or end the program with a sentence. */
void variant_file_open(struct variant_file *f, const char *path);
void variant_file_close(struct variant_file *f);

/** Set the TCP checksum of each frame right, where all of it is there; or empty all: then what is
 * changed in a frame is what was sent. */
void variant_file_sum(struct variant_file *f);
void variant_file_empty_sums(struct variant_file *f);

/** Octets that a foreign frame may have. */
#define VARIANT_FOREIGN_MAX 512

/**
 * A segment without text and with @p flags alone, between the ends of @p f and with a sequence
 * number far off, as whoever knows no more than addresses and ports can send.
 * @param from_peer it has the other end's address.
 * @param[out] bytes room of VARIANT_FOREIGN_MAX; @p out lies in it.
 * @return false: @p f is no TCP segment.
 */
bool variant_make_foreign(const struct cap_frame *f, uint8_t flags, bool from_peer, uint8_t *bytes,
	struct cap_frame *out);

/** Append a frame. */
void variant_add(struct variant *v, const struct cap_frame *f);

/** Begin anew, with no frame. */
static inline void variant_clear(struct variant *v)
{
	v->n = 0;
}

void variant_free(struct variant *v);

/** What the checker finds. */
void variant_check(const struct variant *v, struct variant_findings *found);

/** The first of @p found that @p before does not have; NULL: there is none. @p must: of level MUST.
 */
const struct variant_finding *variant_new_finding(
	const struct variant_findings *found, const struct variant_findings *before, bool must);

#endif
