/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_host.h
 * The host under test: an RNIC over an LLP in memory, and the program that uses it. What it is told
 * is compared with what the world knows.
 */
#ifndef TESTS_IWARP_FOREIGN_HOST_H
#define TESTS_IWARP_FOREIGN_HOST_H

#include "foreign_rnic.h"
#include "unit/rnic/pair.h"

/** In the ids of receives. */
#define FOREIGN_RECV_ID (UINT64_C(1) << 32)

struct foreign_host {
	struct foreign_world *world;
	struct foreign_rnic *peer; /**< what is told beside the stream, by its programs */
	struct pair pair;
	struct rnic_pd *other;
	struct rnic_mr *mr[AREAS];
	struct rnic_mw *mw[WINDOWS];
	uint8_t *told;   /**< the memory as it must be, but for AREA_WRITE and AREA_ATOMIC */
	unsigned placed; /**< segments of Writes that must be in AREA_WRITE */
	uint8_t *base;   /**< AREA_WRITE with those and no others */
	bool asked;      /**< connecting, or listening */
	bool accepted;
	bool send_failed, recv_failed;
};

/** Draw what it is like; it knows what @p p is, and tells it what it is itself. */
void foreign_host_start(struct foreign_host *h, struct foreign_world *w, struct foreign_rnic *p);
void foreign_host_end(struct foreign_host *h);

/** It connects or accepts, if that is to be done. */
void foreign_host_connect(struct foreign_host *h);
/** The stream moves by a few pieces. @return false: there is nothing to move. */
bool foreign_host_move(struct foreign_host *h, unsigned steps);

bool foreign_host_is_connected(const struct foreign_host *h);
/** It has got all that the peer has sent. */
bool foreign_host_has_all(const struct foreign_host *h);
void foreign_host_disconnect(struct foreign_host *h);
/** It moves its queue pair to ERROR. */
void foreign_host_stop(struct foreign_host *h);

/* foreign_post.c */

/** The program does something, or nothing. */
void foreign_host_act(struct foreign_host *h);
/** All receives that messages wait for are posted. */
void foreign_host_post_due(struct foreign_host *h);

/* foreign_completion.c */

/** Take completions. */
void foreign_host_poll(struct foreign_host *h);
/** No request and no message waits. */
bool foreign_host_is_idle(const struct foreign_host *h);
/** What must be so when the stream has ended. @p clean: nothing was wrong, and nobody hurried. */
void foreign_host_check_end(struct foreign_host *h, bool clean);

/* foreign_memory.c */

/** The first @p n segments of Writes have been placed; others may be. */
void foreign_memory_check_writes(struct foreign_host *h, unsigned n);
/** A message has come into a receive. */
void foreign_memory_received(
	struct foreign_host *h, const struct receive *r, const struct delivery *d);
/** The answer of a Read or Atomic has come. */
void foreign_memory_answered(struct foreign_host *h, const struct request *q);
void foreign_memory_check_end(struct foreign_host *h, bool clean);

#endif
