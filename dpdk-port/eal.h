/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file eal.h
 * The EAL. A process has one. It is started on a thread of our own with the first port, unless the
 * application runs DPDK itself. Any thread.
 */
#ifndef DPDK_PORT_EAL_H
#define DPDK_PORT_EAL_H

#include "dpdk-port/clock.h"
#include "dpdk-port/port.h"

/**
 * Start the EAL, unless it runs. Software devices need no root and no hugepages. For all others,
 * which may do DMA, hugepages are used. @p cfg->eal overrides this. The caller's affinity, signal
 * mask and stdout are restored.
 * @return 0; -EINVAL: bad @p cfg->eal; -ENODEV: the EAL did not start; @p e has the reason.
 */
int eal_start(const struct port_config *cfg, struct port_error *e);

/** True for a virtual device, such as "net_memif0,..." or "net_tap0". */
bool eal_is_software(const char *device);

/**
 * Call @p fn with @p arg in the EAL's interrupt thread, between the drivers' handlers, and wait
 * until it has returned. A gate (intr_gate.h) is opened for it. Must not be called from that
 * thread.
 */
void eal_call_in_turn(void (*fn)(void *arg), void *arg);

/**
 * The same, for half a second at most: a driver's handler may wait for another process.
 * @return false if its turn has not come: @p fn was not called, and will not be.
 */
bool eal_try_in_turn(void (*fn)(void *arg), void *arg);

/** As eal_call_in_turn(), but not before @p us microseconds: what waits for that thread comes
 * first. */
void eal_call_in_later_turn(uint64_t us, void (*fn)(void *arg), void *arg);

/** When we started the EAL, to calibrate a clock; NULL: it was there before. */
const struct clock_sample *eal_clock_sample(void);

/**
 * Send DPDK's log lines to @p log from now on; NULL: drop them. The log of an EAL that was there
 * before is left alone. The sink must not use stdio's stdout or stderr, which are replaced while
 * the EAL starts.
 */
void eal_log_to(const struct log_sink *log);

/** DPDK waits for a descriptor (fd_wait.h): say so in its log, once. Any thread. */
void eal_log_descriptor_wanted(void);

/** A memif's peer was refused (memif_control.h): say @p sentence in DPDK's log, but of many not
 * each as a warning. Any thread. */
void eal_log_memif_refused(const char *sentence);

/** Stop sending lines to @p log, which is about to be freed. */
void eal_log_release(const struct log_sink *log);

/**
 * Keep the first error that DPDK logs from now on, until eal_log_reason() takes it. Calls do not
 * nest: port_open() holds a lock meanwhile.
 */
void eal_log_watch(void);

/** @return false if DPDK logged no error since eal_log_watch(). */
bool eal_log_reason(char *buf, size_t len);

/** As eal_log_reason(), but keep the error. */
bool eal_log_look(char *buf, size_t len);

/** Drop DPDK's lines, during attempts that are repeated. */
void eal_log_quiet(bool quiet);

#endif
