/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file descriptors.h
 * How many descriptors a port needs. DPDK ends the process where its interrupt thread gets none,
 * and where some of its parts do not start. So there are enough before it begins, or it does not.
 */
#ifndef DPDK_PORT_DESCRIPTORS_H
#define DPDK_PORT_DESCRIPTORS_H

#include <stdint.h>

/**
 * What must be free before a port is opened. A memif has most, 18: 14 until its peer comes, who
 * brings four. The others are for moments: a directory that is read, a descriptor that is moved.
 */
#define DESCRIPTORS_OF_PORT 24u

/**
 * Could @p n more be opened now?
 * @param[out] free how many could be, @p n at most.
 * @return 0; -EMFILE: not by this process; -ENFILE: not on this host.
 */
int descriptors_check(unsigned n, unsigned *free);

/** Of the process, "ulimit -n". */
uintmax_t descriptors_limit(void);

#endif
