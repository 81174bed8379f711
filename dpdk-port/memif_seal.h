/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_seal.h
 * A file that a memif's peer sends as its memory. One that gets shorter, or whose pages cannot come
 * back, is a fault (SIGBUS) when it is read. So it is sealed against that, if the peer has not done
 * so: DPDK's clients, libmemif and VPP do. What cannot be sealed is refused: a file of a file
 * system, a memfd that was made without MFD_ALLOW_SEALING, and one of huge pages, of which a hole
 * may find none left.
 */
#ifndef DPDK_PORT_MEMIF_SEAL_H
#define DPDK_PORT_MEMIF_SEAL_H

#include <stdint.h>

/** What is said of one that cannot be sealed. */
#define MEMIF_SEAL_REFUSED "its memory is in a file that cannot be sealed, so it might end under us"

/**
 * Seal file @p fd.
 * @param size  gets its size, which is no less from now on
 * @return 0; -EPERM: it cannot be sealed; or the error of fstat().
 */
int memif_seal(int fd, uint64_t *size);

#endif
