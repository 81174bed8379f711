/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file eal.h
 * The EAL. A process has one. It is started on a thread of our own at the first port, or joined
 * where the application runs DPDK itself. Any thread.
 */
#ifndef DPDK_PORT_EAL_H
#define DPDK_PORT_EAL_H

#include "dpdk-port/clock.h"
#include "dpdk-port/port.h"

/**
 * Start the EAL, unless it runs. Ports in software need no root and no hugepages; any other device
 * is taken to do DMA and gets the hugepages it needs. @p cfg->eal overrides all of this. The
 * caller's affinity, signal mask and stdout stay as they are.
 * @return 0; -EINVAL: bad @p cfg->eal; -ENODEV: the EAL would not start; @p e has the reason.
 */
int eal_start(const struct port_config *cfg, struct port_error *e);

/** True for a device that some driver makes up in software: "net_memif0,...", "net_tap0". */
bool eal_is_software(const char *device);

/**
 * Call @p fn with @p arg in the EAL's interrupt thread, in turn with the drivers' own handlers,
 * and wait until it has returned. A gate (intr_gate.h) is opened for it. Not from that thread.
 */
void eal_call_in_turn(void (*fn)(void *arg), void *arg);

/**
 * Time when the EAL was started by us, to calibrate a clock; NULL when the EAL was there before.
 */
const struct clock_sample *eal_clock_sample(void);

/**
 * Send DPDK's own lines to @p log from now on, NULL: nowhere. No effect on an EAL that was there
 * before: its lines belong to its owner. The sink must not print through stdio's stdout or stderr,
 * which stand in for DPDK's while the EAL starts.
 */
void eal_log_to(const struct log_sink *log);

/** Stop sending lines to @p log, if they still go there: its owner is about to vanish. */
void eal_log_release(const struct log_sink *log);

/**
 * Remember the first error that DPDK logs from now on, until eal_log_reason() takes it, and
 * forget those before. Not nested: port_open() holds a lock from the one to the other.
 */
void eal_log_watch(void);

/** @return false if DPDK logged no error since eal_log_watch(). */
bool eal_log_reason(char *buf, size_t len);

/** The same, and go on remembering it. */
bool eal_log_look(char *buf, size_t len);

/** Swallow DPDK's lines for a while: what is tried again and again fails again and again. */
void eal_log_quiet(bool quiet);

#endif
