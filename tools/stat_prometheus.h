/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stat_prometheus.h Metrics of processes, in the text exposition format of Prometheus. */
#ifndef TOOLS_STAT_PROMETHEUS_H
#define TOOLS_STAT_PROMETHEUS_H

#include "tools/stat_process.h"

#include <stdio.h>

/** Of a label's value at most: names are anybody's, and each sample has them. */
#define STAT_PROMETHEUS_LABEL 128

/** What is kept of all processes: some 500,000 QPs with connections. */
#define STAT_PROMETHEUS_BYTES ((size_t)256 << 20)

/**
 * Of processes, what metrics need: samples of a metric stand together, so that of all has to be
 * there before the first is written. Zero-initialised but for room is empty.
 */
struct stat_prometheus {
	struct stat_process *process;
	size_t n;
	size_t room; /**< bytes of memory that may still be kept: at first STAT_PROMETHEUS_BYTES */
};

/** Keep of a process what metrics need. @return 0, -ENOMEM, or -ENOBUFS: it is too much. */
int stat_prometheus_keep(struct stat_prometheus *all, const struct stat_process *p);

void stat_prometheus_write(FILE *out, const struct stat_prometheus *all);

void stat_prometheus_free(struct stat_prometheus *all);

#endif
