/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file statement.h
 * One line of the file that `ipsec` names, in the terms of ip-xfrm(8): an SA, a policy, or what
 * becomes of packets without a policy. Pure; lines are hostile input, and have keys in them.
 */
#ifndef ESP_STATEMENT_H
#define ESP_STATEMENT_H

#include "esp/cipher.h"
#include "esp/selector.h"

#include <stddef.h>

/** "state add": an entry of the SAD (RFC 4301 section 4.4.2). */
struct esp_state {
	struct ip_addr src, dst;
	uint32_t spi, reqid;
	bool outbound; /**< the file's: its source is at this host */
	bool tunnel, esn, udp;
	uint16_t udp_src, udp_dst;
	uint32_t window;                               /**< 0: no anti-replay */
	uint64_t max_packets, max_octets, max_seconds; /**< 0: no limit */
	bool has_selector;
	struct esp_selector selector;
	bool has_encryption, has_integrity; /**< it was said which */
	enum esp_encryption encryption;
	enum esp_integrity integrity; /**< not of ESP_AES_GCM */
	uint8_t key[ESP_KEY_MAX], salt[ESP_SALT_LEN], auth_key[ESP_AUTH_KEY_MAX];
	size_t key_len;
};

/** Do they encrypt in one way, by one key? */
bool esp_state_encrypts_as(const struct esp_state *a, const struct esp_state *b);

/**
 * Are packets of one authentic to the other, in one direction? The ICV covers no addresses, and an
 * HMAC, which is verified before anything is decrypted, is of no key but its own.
 * Without that what one SA has sent, or taken, is nothing to the other.
 */
bool esp_state_uses_key(const struct esp_state *a, const struct esp_state *b);

/** What a policy's "tmpl" asks of an SA. */
struct esp_template {
	struct ip_addr src, dst; /**< tunnel mode: its ends */
	uint32_t spi, reqid;     /**< 0: any */
	bool tunnel;
};

enum esp_action { ESP_BYPASS, ESP_PROTECT, ESP_DISCARD };

/** "policy add": an entry of the SPD (RFC 4301 section 4.4.1). */
struct esp_policy {
	struct esp_selector selector;
	bool outbound;
	uint32_t priority; /**< the lowest counts; of equals the first */
	uint32_t line;     /**< the file's: where it is */
	enum esp_action action;
	struct esp_template tmpl; /**< ESP_PROTECT */
};

/** "policy setdefault". */
struct esp_default {
	bool has_in, has_out;
	bool accept_in, accept_out;
};

struct esp_statement {
	enum {
		ESP_STATEMENT_NONE,
		ESP_STATEMENT_STATE,
		ESP_STATEMENT_POLICY,
		ESP_STATEMENT_DEFAULT
	} kind;
	struct esp_state state;
	struct esp_policy policy;
	struct esp_default none;
};

/**
 * Read one line, which is cut into its words.
 * @param[out] why if it is wrong: what is; never with octets of a key, in @p size octets.
 * @return 0 or -EINVAL.
 */
int esp_statement_parse(char *line, struct esp_statement *out, char *why, size_t size);

#endif
