/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/** What to ask the scheduler for: the length of a round or two. */
#define SLICE_NS UINT64_C(100000)
/** Before others of the same kind: a program that was started with nice(1) stays nice. */
#define NICE_STEP  10
#define NICE_LEAST (-10)

/** struct sched_attr of sched_setattr(2), which libc does not declare. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

/*
 * Under EEVDF (Linux 6.6) a task that mostly sleeps runs as soon as its timer ends. A short slice
 * (6.12) keeps it so after it has used a little more than its share. A privileged process also gets
 * a better nice value. All of these are hints: without them the median is the same, and rare late
 * wake-ups are later. A real-time policy is not used, because this thread may be busy for long and
 * would starve others on the core.
 */
void priority_ask(void)
{
	struct sched_attributes a = {.size = sizeof a, .runtime = SLICE_NS};
	pid_t tid = gettid();
	int nice;

	prctl(PR_SET_TIMERSLACK, 1);
	/* One of another class, such as idle or FIFO, is where its user has put it. */
	if (sched_getscheduler(tid) != SCHED_OTHER)
		return;
	a.nice = getpriority(PRIO_PROCESS, (id_t)tid);
	if (syscall(SYS_sched_setattr, tid, &a, 0))
		return;
	nice = a.nice - NICE_STEP > NICE_LEAST ? a.nice - NICE_STEP : NICE_LEAST;
	if (nice < a.nice)
		setpriority(PRIO_PROCESS, (id_t)tid, nice);
}
