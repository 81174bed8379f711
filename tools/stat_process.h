/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stat_process.h All that one process tells. */
#ifndef TOOLS_STAT_PROCESS_H
#define TOOLS_STAT_PROCESS_H

#include "base/siphash.h"
#include "tools/json_list.h"
#include "tools/telemetry_client.h"

enum stat_list { STAT_CONNECTIONS, STAT_QPS, STAT_CQS, STAT_MRS, STAT_LISTS };

/** Their names, as telemetry and `uiwarp stat --json` have them. */
extern const char *const stat_lists[STAT_LISTS];

/** The ends of a QP's stream, hashed, which tell it from all others of the process. */
struct stat_ends {
	uint64_t hash;
	size_t order; /**< among the QPs */
	json_int_t qp;
};

/** Zero-initialised is empty. */
struct stat_process {
	json_t *about; /**< an object: all but lists */
	struct json_list list[STAT_LISTS];
	bool told[STAT_LISTS];  /**< else it does not tell that list */
	struct stat_ends *ends; /**< private: in the order of hash */
	size_t num_ends;
	struct siphash_key key; /**< private: peers choose their ends */
};

/**
 * Ask for all of it; of one that does not even tell who it is, only for what needs no engine. What
 * it refuses to tell is in the client's `refused`.
 * @param metrics only what is asked of it for stat_prometheus().
 * @return false: the process has gone or has no metrics, or it is empty for another reason.
 */
bool stat_process_collect(struct stat_process *p, struct telemetry_client *c, bool metrics);

/** As json_list_next(); a connection has the number of the QP with the same ends. */
json_t *stat_process_next(const struct stat_process *p, enum stat_list list, size_t *at);

void stat_process_free(struct stat_process *p);

#endif
