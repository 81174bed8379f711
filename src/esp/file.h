/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file file.h
 * The file that `ipsec` names: SAs and policies, a statement a line (statement.h). What was read is
 * in memory that core dumps leave out, and is wiped when it ends.
 */
#ifndef ESP_FILE_H
#define ESP_FILE_H

#include "esp/statement.h"

#include <stdio.h>

#define ESP_STATES_MAX   1024
#define ESP_POLICIES_MAX 1024

struct esp_file {
	unsigned n_states, n_policies;
	bool accept_in, accept_out; /**< packets without a policy; as given: they are discarded */
	struct esp_state state[ESP_STATES_MAX];     /**< in the order of the file */
	struct esp_policy policy[ESP_POLICIES_MAX]; /**< by priority, and then in that order */
};

/**
 * Read the file at @p path, which only its owner and perhaps a group may read.
 * @param[out] why if that fails: a sentence with the path and the line, in @p size octets.
 * @return 0; -EINVAL: a statement is wrong; -EIO; -ENOMEM; or why it cannot be opened.
 */
int esp_file_read(const char *path, struct esp_file **out, char *why, size_t size);

/** esp_file_read() of what is open already. @p f stays open. */
int esp_file_parse(FILE *f, const char *path, struct esp_file **out, char *why, size_t size);

/** @return which SA has this SPI and destination, by which it is known (RFC 4301 section 4.1);
 * ESP_STATES_MAX: none. */
unsigned esp_file_find(const struct esp_file *f, uint32_t spi, const struct ip_addr *dst);

/** Wipe and free. NULL is allowed. */
void esp_file_free(struct esp_file *f);

#endif
