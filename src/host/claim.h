/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file claim.h
 * Claims of IP addresses. Only one process of a host may use an address on an interface: with two,
 * ARP and TCP packets would reach either of them, and each would reset the other's connections.
 *
 * A claim is a file in the directory of the slots (slot.h), with a record lock of the process. So a
 * process that is killed gives it back, and a child after fork() does not hold it. Its owner
 * removes the file, still locked, and whoever locks one looks whether it is still there: so a file
 * has one owner, and each name one file. What killed processes leave is swept by claim_sweep().
 */
#ifndef HOST_CLAIM_H
#define HOST_CLAIM_H

#include "host/config.h"
#include "host/slot.h"

/** Room for the name of a file. */
#define CLAIM_NAME 32

struct claim {
	int directory; /**< open as long as there are any */
	struct {
		int fd;
		char name[CLAIM_NAME];
	} held[CONFIG_MAX_ADDRESSES];
	unsigned n;
};

/**
 * Claim the configuration's addresses on its port. Some ports need no claim: those that only one
 * process can open, and those that lead nowhere. Of DPDK's virtual devices, those are claimed that
 * name an interface of the kernel's or a memif's socket. The two ends of a memif on one host must
 * also have different addresses.
 * @param directory where the locks are.
 * @return 0, or -EADDRINUSE with a sentence in @p e that names the other process. If locking fails
 *         for another reason there is no claim, and no error.
 */
int claim_take(
	struct claim *c, const char *directory, const struct config *cfg, struct config_error *e);

/**
 * Give them back, and remove their files. In a child after fork() it closes its copies, and the
 * parent keeps its claims. May be called in a signal handler.
 */
void claim_release(struct claim *c);

/** As claim_take(), in all places: all or nothing. */
int claims_take(struct claim c[SLOT_PLACES], const struct slot_places *p, const struct config *cfg,
	struct config_error *e);

void claims_release(struct claim c[SLOT_PLACES]);

/**
 * Remove the files of claims that nobody has.
 * @pre this process holds no claim there: closing any copy of a file gives a record lock back.
 */
void claim_sweep(const char *directory);

#endif
