/* SPDX-License-Identifier: BSD-2-Clause */
/** @file libraries.h The libraries that a process of ours has, and which version of each. */
#ifndef HOST_LIBRARIES_H
#define HOST_LIBRARIES_H

/** DPDK, OpenSSL, libipsec-mb and rdma-core. */
#define LIBRARIES 4

struct libraries_one {
	const char *name;
	char version[64]; /**< as it calls itself, or "none" */
};

/**
 * Ask them. rdma-core's is that of the libibverbs which the dynamic linker finds, and which is
 * loaded for that. Not in a signal handler.
 */
void libraries_list(struct libraries_one list[LIBRARIES]);

#endif
