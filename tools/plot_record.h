/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file plot_record.h
 * Time series of the connections in a record (stat_record.h), in memory that is limited: of the
 * first connections only, and in long records of every n-th sample.
 */
#ifndef TOOLS_PLOT_RECORD_H
#define TOOLS_PLOT_RECORD_H

#include "base/plot_points.h"
#include "tools/stat_record.h"

/** Connections that are kept. */
#define PLOT_RECORD_CONNECTIONS 64

/** Points of a series: four for each pixel. */
#define PLOT_RECORD_POINTS 4096

enum plot_record_value {
	PLOT_RECORD_ACKED,       /**< bytes */
	PLOT_RECORD_RECEIVED,    /**< bytes */
	PLOT_RECORD_SRTT,        /**< us */
	PLOT_RECORD_MIN_RTT,     /**< us */
	PLOT_RECORD_CWND,        /**< KB */
	PLOT_RECORD_QUEUED,      /**< KB */
	PLOT_RECORD_UNREAD,      /**< KB */
	PLOT_RECORD_RETRANSMITS, /**< segments */
	PLOT_RECORD_TIMEOUTS,
	PLOT_RECORD_SENDS,    /**< requests that are posted and not completed */
	PLOT_RECORD_RECEIVES, /**< the same */
	PLOT_RECORD_VALUES
};

struct plot_record_connection {
	struct telemetry_row first, last;
	double begin, end; /**< seconds since the record began */
	struct plot_points value[PLOT_RECORD_VALUES];
};

/** Zero-initialised, but for the first two. */
struct plot_record {
	struct telemetry_asked asked; /**< of this process only; 0: of all */
	uint32_t qp;                  /**< of this QP only; 0: of all */
	unsigned n;
	bool more; /**< there are connections beyond PLOT_RECORD_CONNECTIONS */
	struct plot_record_connection connection[PLOT_RECORD_CONNECTIONS];
};

/** Take a row of time @p time_ns, which is not before that of the row before. */
void plot_record_add(struct plot_record *p, const struct telemetry_row *row, uint64_t time_ns);

/** Free all memory. */
void plot_record_free(struct plot_record *p);

#endif
