/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mapper_priv.h Private: struct iwpm. */
#ifndef IWPM_MAPPER_PRIV_H
#define IWPM_MAPPER_PRIV_H

#include "iwpm/hosts.h"
#include "iwpm/mapper.h"

#define IWPM_BUCKETS 256

/** Accepts that were acknowledged, to acknowledge them again. */
#define IWPM_ANSWERED 64

struct iwpm_answered {
	uint64_t handle;
	struct ip_addr host;
	uint64_t until; /**< 0: none */
};

struct iwpm {
	struct iwpm_config cfg;
	LIST_HEAD(, iwpm_listener) listeners;
	bool serving;
	struct timer serve_again; /**< runs while there are listeners and another has IWPM_PORT */
	/** By handle: these are random, so no stranger can make one list long. */
	LIST_HEAD(, iwpm_query) queries[IWPM_BUCKETS];
	struct iwpm_answered answered[IWPM_ANSWERED];
	unsigned next_answered;
	struct iwpm_hosts hosts;
	struct iwpm_stats stats;
};

/** Send @p msg. */
void iwpm_send(struct iwpm *m, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const struct iwpm_message *msg, uint64_t now);

/** An answer came: Accept or Reject. @return false: it answers nothing that we asked. */
bool iwpm_query_answered(struct iwpm *m, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct iwpm_message *msg, uint64_t now);

#endif
