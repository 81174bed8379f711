/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pattern.h
 * Segments whose headers are alike (struct ip_pattern).
 */
#ifndef TESTS_UNIT_IP_PATTERN_H
#define TESTS_UNIT_IP_PATTERN_H

#include "host.h"

#define PATTERN_HEAD 32u
#define PATTERN_TEXT 101u

/** A segment with room before it, and with what @p n gives in its text and in the word at 4. */
struct rte_mbuf *pattern_segment(struct host *h, uint32_t n, struct ip_text_sum *text);

/** Frame @p n by ip_send_summed() and by @p pattern: they are the same. */
void pattern_send_both_ways(
	struct host *h, struct ip_path *p, const struct ip_pattern *pattern, uint32_t n);

#endif
