/* SPDX-License-Identifier: BSD-2-Clause */
/** @file frame_filter.h Frames by an expression of libpcap's (pcap-filter(7)). */
#ifndef PCAP_FRAME_FILTER_H
#define PCAP_FRAME_FILTER_H

#include "pcap/capture.h"

/** Zero-initialised with an expression. */
struct frame_filter {
	const char *expression;
	/* The program for one link type; compiled anew where it changes. */
	void *program;
	uint32_t link;
};

enum frame_filter_result { FRAME_FILTER_TAKE, FRAME_FILTER_DROP, FRAME_FILTER_BAD };

/** @return FRAME_FILTER_BAD: it is no expression for frames of this link type; @p e says why. */
enum frame_filter_result frame_filter_apply(
	struct frame_filter *t, const struct cap_frame *f, struct cap_error *e);

void frame_filter_free(struct frame_filter *t);

#endif
