/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file keylog.h
 * A key log: secrets of TLS connections in the format of SSLKEYLOGFILE, as `tls_keylog` writes it.
 * A line is LABEL RANDOM SECRET, both in hexadecimal digits; a '#' begins a comment. What is not of
 * TLS 1.3's application data is passed over, as Wireshark does.
 */
#ifndef PCAP_KEYLOG_H
#define PCAP_KEYLOG_H

#include "pcap/capture.h"

#include <stdio.h>

#define KEYLOG_RANDOM_LEN 32
/** Octets of the longest secret, which SHA-384 makes. */
#define KEYLOG_SECRET_MAX 48

/** Of one connection: first of what its client sends, then of what its server does. */
struct keylog_secrets {
	uint8_t random[KEYLOG_RANDOM_LEN]; /**< of its ClientHello */
	uint8_t secret[2][KEYLOG_SECRET_MAX];
	uint8_t len[2]; /**< 0: it is not there */
};

/** Zero-initialised is empty. */
struct keylog {
	struct keylog_secrets *list; /**< sorted by random */
	size_t n, cap;
};

/** Add those of a file. @return false, with a sentence in @p e: it has none, or no memory. */
bool keylog_read(struct keylog *k, FILE *in, struct cap_error *e);

/** @return NULL: there is none for this random. */
const struct keylog_secrets *keylog_find(
	const struct keylog *k, const uint8_t random[KEYLOG_RANDOM_LEN]);

void keylog_free(struct keylog *k);

#endif
