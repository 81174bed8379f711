/* SPDX-License-Identifier: BSD-2-Clause */
/** @file frame_filter.h Frames by an expression of libpcap's (pcap-filter(7)). */
#ifndef PCAP_FRAME_FILTER_H
#define PCAP_FRAME_FILTER_H

#include "pcap/capture.h"

/** Link types of a capture whose programs are kept: to compile one takes as long as many frames. */
#define FRAME_FILTER_LINKS 8

/** Zero-initialised with an expression. */
struct frame_filter {
	const char *expression;
	struct frame_filter_program {
		void *bpf; /**< NULL: none */
		uint32_t link;
	} programs[FRAME_FILTER_LINKS];
	unsigned oldest; /**< what another one takes the place of */
};

enum frame_filter_result { FRAME_FILTER_TAKE, FRAME_FILTER_DROP, FRAME_FILTER_BAD };

/** @return FRAME_FILTER_BAD: it is no expression for frames of this link type; @p e says why. */
enum frame_filter_result frame_filter_apply(
	struct frame_filter *t, const struct cap_frame *f, struct cap_error *e);

void frame_filter_free(struct frame_filter *t);

#endif
