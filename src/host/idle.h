/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file idle.h
 * How long the engine's thread sleeps after a round. A pure function of what the thread saw and
 * when, so that it can be tested without a thread.
 *
 * - Packets come: go on at once for a few microseconds, then sleep briefly between looks, for
 *   as long as the traffic is recent. Brief sleeps, not spinning: the application may be spinning
 *   on this very core, and a task that sleeps is let in at once when it wakes.
 * - Nothing comes: sleep longer and longer. With a descriptor that tells of packets, until the
 *   next deadline.
 * - Relaxed, for bulk that nobody waits for: no shorter sleep than it takes for a few packets to
 *   gather, whatever the next deadline. TCP's pacing makes up for what is late.
 * - An application thread polls without a pause: stay away, longer and longer; if it has paused,
 *   look after the packets, for it may be waiting for memory to change.
 * - A descriptor that should tell of packets and does not is known by experience, see
 *   idle_learn(): some drivers hand one out, arm it without an error, and no interrupt ever comes.
 */
#ifndef HOST_IDLE_H
#define HOST_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#define IDLE_SPIN_NS    UINT64_C(3000)      /**< after a packet, before the first sleep */
#define IDLE_SHORT_NS   UINT64_C(10000)     /**< between looks while traffic is recent */
#define IDLE_RELAXED_NS UINT64_C(50000)     /**< the same, relaxed */
#define IDLE_RECENT_NS  UINT64_C(20000000)  /**< how long traffic is recent */
#define IDLE_AWAY_NS    UINT64_C(1000000)   /**< at most, while the application polls */
#define IDLE_BLIND_NS   UINT64_C(2000000)   /**< at most, with nothing that tells of packets */
#define IDLE_LINK_NS    UINT64_C(100000000) /**< between looks at the link; at most asleep */

/** More may be there when a round handled so many. */
#define IDLE_FULL_ROUND 32

/** A sleep on the descriptor that says something about it: longer than an interrupt is held back
 *  by a NIC that gathers several packets for it. */
#define IDLE_DOUBT_NS UINT64_C(1000000)

/** So many sleeps in a row that packets should have ended, and the descriptor is not believed. */
#define IDLE_DOUBTS 3

/** An application that polls comes by at least this often. */
#define IDLE_INLINE_NS UINT64_C(4000)

struct idle {
	bool relaxed;         /**< processor time is worth more than latency */
	bool tells;           /**< the port has a descriptor that tells of packets */
	uint64_t last_packet; /**< ns; 0: none yet */
	uint64_t last_rounds; /**< the application's rounds at the last look */
	uint64_t last_look;
	uint64_t sleep;  /**< the last one's length */
	unsigned polled; /**< looks in a row that found the application polling */
	unsigned silent; /**< sleeps in a row that the descriptor should have ended, see
			    idle_learn() */
};

struct idle_step {
	uint64_t sleep; /**< ns; 0: go on at once */
	bool wait_rx;   /**< wake for packets: the descriptor is to be watched */
	bool wait_wake; /**< wake for new deadlines */
};

/**
 * Called when the thread wakes. @param rounds engine.inline_rounds.
 * @return true when an application is driving the engine: leave it alone.
 */
bool idle_look(struct idle *p, uint64_t now, uint64_t rounds);

/** After a look that found an application polling. */
struct idle_step idle_away(struct idle *p);

/**
 * After a round. @param handled packets, or frames that wait for room in the port.
 * @param deadline of the engine's timers, ns or TIMER_NEVER.
 */
struct idle_step idle_after(struct idle *p, uint64_t now, unsigned handled, uint64_t deadline);

/**
 * What a sleep on the descriptor taught: one that lasted and left packets behind while the
 * descriptor was silent speaks against it, and a wake-up by it that found packets acquits it.
 * @param slept ns. @param woken the descriptor was readable at its end.
 * @param packets how many the look after it took from the port.
 * @return true once: the descriptor is not to be believed, and from now on @p p->tells is false.
 */
bool idle_learn(struct idle *p, uint64_t slept, bool woken, unsigned packets);

#endif
