/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file file.h
 * The file that `ipsec` names: SAs and policies, a statement a line (statement.h). What was read is
 * in memory that core dumps leave out, and is wiped when it ends.
 */
#ifndef ESP_FILE_H
#define ESP_FILE_H

#include "esp/index.h"
#include "esp/statement.h"

#include <stdio.h>

/* Of one host. Those of others cost nothing but the time to read them. */
#define ESP_STATES_MAX   4096
#define ESP_POLICIES_MAX 4096
#define ESP_LINES_MAX    1048576

/** Whose file it is. */
struct esp_host {
	/** Is it an address of this host's, be it in use now or not? */
	bool (*has)(void *ctx, const struct ip_addr *a);
	void *ctx;
};

struct esp_file {
	unsigned n_states, n_policies;
	unsigned room_states, room_policies; /**< of the arrays */
	bool accept_in, accept_out; /**< packets without a policy; as given: they are discarded */
	struct esp_state *state;    /**< with one end at this host, in the order of the file */
	struct esp_policy *policy;  /**< by priority, and then in that order */
	struct esp_index by_sa;     /**< of the states, by esp_hash_sa() */
	struct esp_index by_hosts;  /**< of the states, by esp_hash_hosts() of their ends */
	struct esp_index of_hosts;  /**< of the policies for one host and another, by both */
	uint32_t *wide;             /**< the other policies, in the same order */
	unsigned n_wide;
};

/**
 * Read the file at @p path, which only its owner and perhaps a group may read. SAs between others
 * and policies for their packets are left aside, so that one file can go to all hosts.
 * @param[out] why if that fails: a sentence with the path and the line, in @p size octets.
 * @return 0; -EINVAL: a statement is wrong; -EIO; -ENOMEM; or why it cannot be opened.
 */
int esp_file_read(const char *path, const struct esp_host *host, struct esp_file **out, char *why,
	size_t size);

/** esp_file_read() of what is open already. @p f stays open. */
int esp_file_parse(FILE *f, const char *path, const struct esp_host *host, struct esp_file **out,
	char *why, size_t size);

/** @return which SA has this SPI and destination, by which it is known (RFC 4301 section 4.1);
 * ESP_STATES_MAX: none. */
unsigned esp_file_find(const struct esp_file *f, uint32_t spi, const struct ip_addr *dst);

/**
 * Two that come to two addresses by one SPI and key, and count what has come each by itself: what
 * was recorded for one can be sent again to the other.
 * @return false: there are none; or no memory to look for them.
 */
bool esp_file_find_shared(const struct esp_file *f, unsigned *one, unsigned *other);

/** @return the first policy for such a packet; NULL: there is none. */
const struct esp_policy *esp_file_policy(
	const struct esp_file *f, const struct ip_flow *flow, bool outbound);

/** Wipe and free. NULL is allowed. */
void esp_file_free(struct esp_file *f);

#endif
