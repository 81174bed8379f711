/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hosts.h Private: which hosts have a port mapper, as far as we have asked. */
#ifndef IWPM_HOSTS_H
#define IWPM_HOSTS_H

#include "base/ip_addr.h"
#include "base/siphash.h"

/** Only our own requests make entries, so strangers cannot fill it. */
#define IWPM_HOSTS_MAX 256

enum iwpm_host_state { IWPM_HOST_UNKNOWN, IWPM_HOST_ANSWERS, IWPM_HOST_SILENT };

struct iwpm_host {
	struct ip_addr addr;
	enum iwpm_host_state state;
	uint64_t until;
};

/** One place for each hash: who comes later takes it. */
struct iwpm_hosts {
	struct siphash_key key;
	struct iwpm_host host[IWPM_HOSTS_MAX];
};

/** What @p addr has done within the last minute. */
enum iwpm_host_state iwpm_hosts_get(
	const struct iwpm_hosts *h, const struct ip_addr *addr, uint64_t now);

/** Remember it for a minute. */
void iwpm_hosts_set(
	struct iwpm_hosts *h, const struct ip_addr *addr, enum iwpm_host_state state, uint64_t now);

#endif
