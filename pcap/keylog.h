/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file keylog.h
 * A key log: secrets of TLS connections in the format of SSLKEYLOGFILE, as `tls_keylog` writes it.
 * A line is LABEL RANDOM SECRET, both in hexadecimal digits; a '#' begins a comment. What is not of
 * TLS 1.3's application data is passed over, as Wireshark does, and so is a line that is too long
 * or has a NUL.
 *
 * Each line costs the same, however many there are: those of a log that grows are looked at once.
 */
#ifndef PCAP_KEYLOG_H
#define PCAP_KEYLOG_H

#include "base/siphash.h"
#include "pcap/capture.h"

#include <stdio.h>
#include <sys/types.h>

#define KEYLOG_RANDOM_LEN 32
/** Octets of the longest secret, which SHA-384 makes. */
#define KEYLOG_SECRET_MAX 48
/** Lines of one random: each is tried for a connection. More are passed over. */
#define KEYLOG_ALIKE_MAX 64
/** Characters of a line at most: the longest label, a random and a secret are less. */
#define KEYLOG_LINE_MAX 512

/**
 * Of one connection: first of what its client sends, then of what its server does. A line has one
 * of them. Lines may contradict each other: a client with the same random, or a log that was
 * mended.
 */
struct keylog_secrets {
	uint8_t random[KEYLOG_RANDOM_LEN]; /**< of its ClientHello */
	uint8_t secret[2][KEYLOG_SECRET_MAX];
	uint8_t len[2]; /**< 0: it is not there */
	uint32_t older; /**< private: one more than the next of its bucket; 0: none */
};

/** Zero-initialised is empty. */
struct keylog {
	struct keylog_secrets *list; /**< in the order of their lines; a line that is there twice
				      *   is one */
	size_t n, cap;
	struct siphash_key key; /**< random for logs of strangers; stays from the first line on */
	/** The file that is written meanwhile, which keylog_refresh() reads; NULL: none. */
	const char *path;
	off_t at;                   /**< of it: up to where it was read */
	uint32_t *newest;           /**< private: of each bucket, as many as cap */
	char line[KEYLOG_LINE_MAX]; /**< private: that is not all there */
	size_t len;                 /**< private: of it */
	bool bad;                   /**< private: it is passed over */
	uint64_t steps;             /**< entries that were looked at, or moved */
};

/** Add the secrets of a line. @return false: no memory. */
bool keylog_add(struct keylog *k, const struct keylog_secrets *s);

/** Add those of a file. @return false, with a sentence in @p e: it has none, or no memory. */
bool keylog_read(struct keylog *k, FILE *in, struct cap_error *e);

/** Read what was added to the file at path since. If nothing was it costs one system call. */
void keylog_refresh(struct keylog *k);

/** The newest for this random, until more is read. @return NULL: there is none. */
const struct keylog_secrets *keylog_find(
	const struct keylog *k, const uint8_t random[KEYLOG_RANDOM_LEN]);

/** The one before @p s for the same random. @return NULL: there are no more. */
const struct keylog_secrets *keylog_next(const struct keylog *k, const struct keylog_secrets *s);

void keylog_free(struct keylog *k);

#endif
