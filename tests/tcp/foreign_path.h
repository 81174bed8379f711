/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_path.h
 * The way between the host under test and a foreign peer: it loses, reorders and doubles packets
 * until it is whole.
 */
#ifndef TESTS_TCP_FOREIGN_PATH_H
#define TESTS_TCP_FOREIGN_PATH_H

#include "base/prng.h"

#include <stddef.h>

struct foreign_packet {
	struct foreign_packet *next;
	uint64_t at; /**< when it arrives */
	bool to_host;
	size_t len;
	uint8_t bytes[];
};

struct foreign_path {
	struct prng *random;
	bool whole; /**< from now on each packet arrives, once and in order */
	double loss, doubles;
	uint64_t delay, jitter;
	struct foreign_packet *first; /**< by time; those of one time as they were sent */
};

void foreign_path_send(
	struct foreign_path *p, uint64_t now, bool to_host, const uint8_t *bytes, size_t len);

/** When the next packet arrives; UINT64_MAX: none is under way. */
uint64_t foreign_path_next(const struct foreign_path *p);

/** The packet that has arrived by @p now, to be freed; NULL: none has. */
struct foreign_packet *foreign_path_take(struct foreign_path *p, uint64_t now);

/** Free what is under way. */
void foreign_path_end(struct foreign_path *p);

#endif
