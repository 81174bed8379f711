/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timeseq.h
 * The time-sequence plot of a connection: TCP segments, retransmissions, acknowledgements, and the
 * beginnings of FPDUs. Memory is limited: in long captures only every n-th point is kept.
 */
#ifndef PCAP_TIMESEQ_H
#define PCAP_TIMESEQ_H

#include "base/plot_points.h"
#include "pcap/connection.h"

#include <stdio.h>

/** Limit of points of a series. */
#define TIMESEQ_POINTS 32768

enum timeseq_series { TIMESEQ_SENT, TIMESEQ_AGAIN, TIMESEQ_ACK, TIMESEQ_FPDU, TIMESEQ_SERIES };

/** Spans of time of which the throughput is known. */
#define TIMESEQ_SPANS 256

struct timeseq_side {
	bool known;
	uint32_t origin;
	uint64_t high; /**< octets since origin */
	struct plot_points points[TIMESEQ_SERIES];
	uint64_t bytes[TIMESEQ_SPANS]; /**< of text in each span, sent for the first time */
};

struct timeseq {
	bool started;
	uint64_t origin, end; /**< time */
	uint64_t span;        /**< ns; twice as long each time that they do not reach */
	struct timeseq_side side[2];
	char title[128];
};

/** A segment of @p s. */
void timeseq_segment(struct timeseq *t, const struct stream *s, const struct packet *p,
	const struct cap_frame *f);

void timeseq_fpdu(struct timeseq *t, const struct stream *s, const struct stream_fpdu *f);

/**
 * Print the plots of both directions, and their throughput below.
 * @return 0; -ENODATA: there is nothing to draw.
 */
int timeseq_print(const struct timeseq *t, FILE *out);

/** The same to a file. @return 0, or a negative errno; -ENODATA: there is nothing to draw. */
int timeseq_write(const struct timeseq *t, const char *path);

void timeseq_free(struct timeseq *t);

#endif
