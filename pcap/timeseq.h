/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file timeseq.h
 * The time-sequence plot of a connection: TCP segments, retransmissions, acknowledgements, and the
 * beginnings of FPDUs. Memory is limited: in long captures only every n-th point is kept.
 */
#ifndef PCAP_TIMESEQ_H
#define PCAP_TIMESEQ_H

#include "pcap/connection.h"

/** Limit of points of a series. */
#define TIMESEQ_POINTS 32768

enum timeseq_series { TIMESEQ_SENT, TIMESEQ_AGAIN, TIMESEQ_ACK, TIMESEQ_FPDU, TIMESEQ_SERIES };

struct timeseq_points {
	double *x, *y;
	size_t n;
	unsigned stride, skip;
};

struct timeseq_side {
	bool known;
	uint32_t origin;
	uint64_t high; /**< octets since origin */
	struct timeseq_points points[TIMESEQ_SERIES];
};

struct timeseq {
	bool started;
	uint64_t origin, end; /**< time */
	struct timeseq_side side[2];
	char title[128];
};

/** A segment of @p s. */
void timeseq_segment(struct timeseq *t, const struct stream *s, const struct packet *p,
	const struct cap_frame *f);

void timeseq_fpdu(struct timeseq *t, const struct stream *s, const struct stream_fpdu *f);

/** @return 0, or a negative errno; -ENODATA: there is nothing to draw. */
int timeseq_write(const struct timeseq *t, const char *path);

void timeseq_free(struct timeseq *t);

#endif
