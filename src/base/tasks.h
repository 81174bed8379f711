/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tasks.h What the threads of a process are about: facts for those who wait for them. */
#ifndef BASE_TASKS_H
#define BASE_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * True if all threads of @p pid sleep or are stopped, but @p except (0: all). One that runs, waits
 * for a core or for a device does not; and false if none can be seen.
 */
bool tasks_sleep(pid_t pid, pid_t except);

#endif
