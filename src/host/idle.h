/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file idle.h
 * Decides who drives, and how long the engine's thread sleeps after a round. These are pure
 * functions of what the thread saw and when, so they can be tested without a thread.
 *
 * - Packets come, and no application was seen lately: the thread goes on at once for a few
 *   microseconds. Then it sleeps on the port's descriptor; if there is none, briefly, as long as
 *   the traffic is recent.
 * - An application was seen lately: the thread does not spin, as the application may be spinning
 *   on the same core. It goes on only for rounds that were full.
 * - It never goes on without end. At the end of a turn it pauses, for an application that has no
 *   core to show itself on. If none was seen in the pause, the next turn is longer.
 * - Nothing comes: it sleeps longer and longer. If the port has a descriptor for packets, it sleeps
 *   until the next deadline.
 * - Relaxed, for bulk: each sleep is long enough for a few packets to gather, even if a deadline
 *   passes meanwhile. TCP's pacing makes up for the delay.
 * - An application thread polls without a pause: the thread is away. It drives nothing, waits for
 *   no packet, and only looks at the application, after 50 us first and in the end once in a
 *   millisecond. When the application has paused, the thread drives.
 * - What an application does that was interrupted for each packet says little. So now and then,
 *   when one was seen, the thread tries: it pauses for 50 us and looks what has come of it.
 * - The thread has woken one that slept until something came: that one has the core now, and will
 *   drive. The thread pauses as for a trial.
 * - Another thread has the engine: it is left alone, for longer and longer. Its holder may be
 *   waiting for this very core, which each look takes away from it.
 * - Some drivers have a descriptor that can be armed without an error, but no interrupt ever comes.
 *   idle_learn() detects them.
 */
#ifndef HOST_IDLE_H
#define HOST_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#define IDLE_SPIN_NS    UINT64_C(3000)     /**< from a packet to the first sleep */
#define IDLE_SHORT_NS   UINT64_C(10000)    /**< sleep while traffic is recent */
#define IDLE_MISSED_NS  UINT64_C(40000)    /**< longest, while another has the engine */
#define IDLE_RELAXED_NS UINT64_C(50000)    /**< the same, relaxed */
#define IDLE_RECENT_NS  UINT64_C(20000000) /**< how long traffic is recent */
#define IDLE_AWAY_NS    UINT64_C(1000000)  /**< longest sleep while an application is there */
#define IDLE_ALIVE_NS   UINT64_C(1000000)  /**< how long a visit of the application is recent */
#define IDLE_BLIND_NS   UINT64_C(2000000)  /**< longest sleep without a descriptor */
/** Between checks of the link; the longest sleep of all, where there is one to look at */
#define IDLE_LINK_NS    UINT64_C(100000000)
#define IDLE_LONGEST_NS UINT64_C(3600000000000) /**< where there is none */

#define IDLE_TRIAL_NS      UINT64_C(50000)    /**< a pause for the application to show itself */
#define IDLE_TRIAL_GAP_NS  UINT64_C(1000000)  /**< from a trial that failed to the next one */
#define IDLE_TRIAL_MOST_NS UINT64_C(16000000) /**< the same, after many */
#define IDLE_TURN_NS       UINT64_C(50000)    /**< a turn without a pause, after a visit */
#define IDLE_TURN_MOST_NS  UINT64_C(2000000)  /**< the same, if none came in the last pauses */

/** A round that handled this many packets may have left some. */
#define IDLE_FULL_ROUND 32

/**
 * Sleeps shorter than this do not count for idle_learn(): a NIC may delay an interrupt to coalesce
 * packets.
 */
#define IDLE_DOUBT_NS UINT64_C(2000000)

/** After this many missed interrupts in a row the descriptor is not used any more. */
#define IDLE_DOUBTS 3

/** An application that polls comes by at least this often. */
#define IDLE_POLL_NS UINT64_C(10000)

/** It does so without doubt that comes by so often, and so many times. */
#define IDLE_BUSY_NS     UINT64_C(1000)
#define IDLE_BUSY_VISITS 16

struct idle {
	bool relaxed;         /**< prefer processor time to latency */
	bool tells;           /**< the port has a descriptor that becomes readable with packets, or
				 none can come */
	bool unwatched;       /**< and always does so, and there is no link to look at */
	bool away;            /**< the application drives */
	bool trying;          /**< this sleep is a pause for the application to show itself */
	bool turning;         /**< the last step was to go on at once */
	uint64_t last_packet; /**< ns; 0: none yet */
	uint64_t last_visit;  /**< ns, the idle_look() that saw the application; 0: none yet */
	uint64_t visits;      /**< of idle_look() */
	uint64_t since;       /**< ns, when the thread has last decided what to do */
	uint64_t turn_start;  /**< ns, the first round of this turn */
	uint64_t turn;        /**< ns, how long one may be; 0: not known yet */
	uint64_t next_trial;  /**< ns */
	uint64_t trial_gap;   /**< ns; 0: none failed lately */
	uint64_t watch;       /**< ns, length of the last sleep while away */
	uint64_t sleep;       /**< length of the last sleep */
	uint64_t missed;      /**< ns, as long as the engine was left alone last; 0: it was had */
	unsigned silent;      /**< sleeps in a row that the descriptor should have ended, see
				 idle_learn() */
};

struct idle_step {
	uint64_t sleep; /**< ns; 0: go on at once */
	bool wait_rx;   /**< wait for packets on the descriptor */
	bool wait_wake; /**< wake up for new deadlines */
};

/**
 * Called when the thread wakes or goes on.
 * @param visits of application threads so far, engine_count_visits().
 * @param held an application has the engine at this moment.
 * @return true when it shall drive on, and the thread do nothing: idle_away() is next. Else a round
 *         and idle_after() are.
 */
bool idle_look(struct idle *p, uint64_t now, uint64_t visits, bool held);

/** The next sleep after idle_look() has returned true. */
struct idle_step idle_away(struct idle *p, uint64_t now);

/**
 * The round before has woken a thread of the application, which will drive.
 * @return as idle_away().
 */
struct idle_step idle_has_woken(struct idle *p, uint64_t now);

/** The application is about to sleep: the thread is needed, whatever was seen before @p visits. */
void idle_recall(struct idle *p, uint64_t now, uint64_t visits);

/**
 * Called when the thread has tried to have the engine.
 * @param had it drove a round.
 * @return ns to sleep at least before the next try.
 */
uint64_t idle_tried(struct idle *p, bool had);

/**
 * The next sleep after a round.
 * @param handled packets.
 * @param backlog frames wait for room in the port, of which no descriptor tells.
 * @param deadline of the engine's timers, ns or TIMER_NEVER.
 */
struct idle_step idle_after(
	struct idle *p, uint64_t now, unsigned handled, bool backlog, uint64_t deadline);

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
