/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stats.h Statistics of iWARP connections. */
#ifndef PCAP_STATS_H
#define PCAP_STATS_H

#include "base/histogram.h"
#include "pcap/connection.h"
#include "pcap/reads.h"
#include "pcap/timeseq.h"
#include "rdmap/rdmap_wire.h"

#include <stdio.h>

/** Complete messages of one opcode, and their payload. */
struct stats_operation {
	uint64_t messages, bytes;
	uint64_t min, max;
};

struct stats_side {
	struct stats_operation op[RDMAP_OPCODES];
	uint64_t fpdus, payload; /**< payload: of DDP segments */
	uint64_t fpdu_bytes;
	uint64_t aligned, whole; /**< FPDUs that begin with a segment; that lie in one */
	uint64_t bad_crc, unseen;
	uint64_t first, last;      /**< time of the first FPDU's begin and the last one's end */
	uint64_t tagged;           /**< payload of the tagged message under way */
	struct reads reads;        /**< that it has requested */
	struct histogram *latency; /**< ns, from request to the end of the response; NULL: none */
};

struct stats_connection {
	struct stats_side side[2];
	struct timeseq *timeseq; /**< for the report; NULL: it has none */
};

/** The first connection that it is told of. */
#define STATS_PLOT_FIRST UINT64_MAX

struct stats {
	FILE *out;
	bool json;
	uint64_t plot; /**< the id of the connection to draw; 0: none; or STATS_PLOT_FIRST */
	struct timeseq timeseq; /**< of that connection */
	FILE *html;             /**< a report besides; NULL: none */
	unsigned drawn;         /**< connections with plots in it */
};

/** For follow_init(), with a struct stats. */
extern const struct connection_ops stats_ops;

/** Connections that have plots in a report: each takes some megabytes. */
#define STATS_HTML_PLOTS 16

/** stats_html.c: begin a report in t->html, of the capture @p name. */
void stats_html_begin(const struct stats *t, const char *name);

/** stats_html.c: one connection: what stats_report() tells, and its plots. */
void stats_html(const struct stats *t, const struct connection *c, enum connection_end how);

/** stats_html.c: after the last one. */
void stats_html_end(const struct stats *t);

/** stats_report.c: one connection. */
void stats_report(const struct stats *t, const struct connection *c, enum connection_end how);

#endif
