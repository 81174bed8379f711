/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file idle.h
 * Decides how long the engine's thread sleeps after a round. These are pure functions of what the
 * thread saw and when, so they can be tested without a thread.
 *
 * - Packets come: the thread goes on at once for a few microseconds. Then it sleeps briefly between
 *   rounds, as long as the traffic is recent. It does not spin, because the application may be
 *   spinning on the same core, and the scheduler prefers a task that wakes up.
 * - Nothing comes: it sleeps longer and longer. If the port has a descriptor for packets, it sleeps
 *   until the next deadline.
 * - Relaxed, for bulk: each sleep is long enough for a few packets to gather, even if a deadline
 *   passes meanwhile. TCP's pacing makes up for the delay.
 * - An application thread polls without a pause: the thread stays away, longer and longer. When the
 *   application pauses, the thread drives the engine, because the application may be polling its
 *   memory.
 * - Some drivers have a descriptor that can be armed without an error, but no interrupt ever comes.
 *   idle_learn() detects them.
 */
#ifndef HOST_IDLE_H
#define HOST_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#define IDLE_SPIN_NS    UINT64_C(3000)     /**< from a packet to the first sleep */
#define IDLE_SHORT_NS   UINT64_C(10000)    /**< sleep while traffic is recent */
#define IDLE_RELAXED_NS UINT64_C(50000)    /**< the same, relaxed */
#define IDLE_RECENT_NS  UINT64_C(20000000) /**< how long traffic is recent */
#define IDLE_AWAY_NS    UINT64_C(1000000)  /**< longest sleep while the application polls */
#define IDLE_BLIND_NS   UINT64_C(2000000)  /**< longest sleep without a descriptor */
/** Between checks of the link; the longest sleep of all */
#define IDLE_LINK_NS UINT64_C(100000000)

/** A round that handled this many packets may have left some. */
#define IDLE_FULL_ROUND 32

/**
 * Sleeps shorter than this do not count for idle_learn(): a NIC may delay an interrupt to coalesce
 * packets.
 */
#define IDLE_DOUBT_NS UINT64_C(1000000)

/** After this many missed interrupts in a row the descriptor is not used any more. */
#define IDLE_DOUBTS 3

/** An application that polls drives the engine at least this often. */
#define IDLE_INLINE_NS UINT64_C(4000)

struct idle {
	bool relaxed;         /**< prefer processor time to latency */
	bool tells;           /**< the port has a descriptor that becomes readable with packets */
	uint64_t last_packet; /**< ns; 0: none yet */
	uint64_t last_rounds; /**< engine.inline_rounds at the last idle_look() */
	uint64_t last_look;
	uint64_t sleep;  /**< length of the last sleep */
	unsigned polled; /**< calls of idle_look() in a row that found the application polling */
	unsigned silent; /**< sleeps in a row that the descriptor should have ended, see
			    idle_learn() */
};

struct idle_step {
	uint64_t sleep; /**< ns; 0: go on at once */
	bool wait_rx;   /**< wait for packets on the descriptor */
	bool wait_wake; /**< wake up for new deadlines */
};

/**
 * Called when the thread wakes. @param rounds engine.inline_rounds.
 * @return true when an application is driving the engine.
 */
bool idle_look(struct idle *p, uint64_t now, uint64_t rounds);

/** The next sleep after idle_look() has returned true. */
struct idle_step idle_away(struct idle *p);

/**
 * The next sleep after a round.
 * @param handled packets handled, or frames that wait for room in the port.
 * @param deadline of the engine's timers, ns or TIMER_NEVER.
 */
struct idle_step idle_after(struct idle *p, uint64_t now, unsigned handled, uint64_t deadline);

/**
 * Evaluate a sleep on the descriptor. If it was long and packets had come, but the descriptor was
 * not readable, the interrupt was missed. If the descriptor was readable and packets had come, the
 * count of missed interrupts is reset.
 * @param slept ns.
 * @param woken the descriptor was readable at the end of the sleep.
 * @param packets how many were taken from the port afterwards.
 * @return true once: the descriptor does not work, and @p p->tells is false from now on.
 */
bool idle_learn(struct idle *p, uint64_t slept, bool woken, unsigned packets);

#endif
