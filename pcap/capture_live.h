/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture_live.h
 * Frames from a network interface, while they come, by libpcap. They are kept in a file of the pcap
 * format: pointers to frames stay valid, and who looks for what happened has them.
 */
#ifndef PCAP_CAPTURE_LIVE_H
#define PCAP_CAPTURE_LIVE_H

#include "pcap/capture.h"

struct cap_live_config {
	const char *interface;
	const char *filter; /**< of pcap-filter(7), applied in the kernel; NULL: none */
	const char *path;   /**< the file; NULL: one without a name in $TMPDIR */
	uint64_t room;      /**< bytes that it may take; 0: half of what is free there */
};

/**
 * Begin to capture. cap_next() waits for a frame; CAP_END comes after cap_live_stop().
 * @return NULL: @p e says why.
 */
struct cap_file *cap_live_open(const struct cap_live_config *config, struct cap_error *e);

/** What has come so far is still read, and no more. A signal handler may call it. */
void cap_live_stop(struct cap_file *c);

/** Frames that came too fast and are not in the capture, so far. */
uint64_t cap_live_dropped(const struct cap_file *c);

#endif
