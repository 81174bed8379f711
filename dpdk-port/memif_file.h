/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_file.h
 * What memfd_create() says to the EAL (DPDK 22.11). It makes a file of its memory, which a memif
 * without copies shows to its peer, but one that cannot be sealed, and so no peer can be sure that
 * it stays as long as it is (memif_regions.h). It is the peer who seals it. Who stands in front of
 * memfd_create() in a process with DPDK passes its flags through here.
 *
 * Header only, and without DPDK: the preloaded library links libc alone.
 */
#ifndef DPDK_PORT_MEMIF_FILE_H
#define DPDK_PORT_MEMIF_FILE_H

#include <sys/mman.h>

/** The flags of memfd_create() for the EAL's @p flags. Huge pages are refused anyway. */
static inline unsigned memif_file_flags(unsigned flags)
{
	return flags & MFD_HUGETLB ? flags : flags | MFD_ALLOW_SEALING;
}

#endif
