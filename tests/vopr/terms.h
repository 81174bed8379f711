/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file terms.h
 * The terms of TLS of the programs that have it: one key that all hosts share. OpenSSL's random
 * numbers come from the seed, so that a program is the same each time.
 */
#ifndef TESTS_VOPR_TERMS_H
#define TESTS_VOPR_TERMS_H

#include "tls/tls.h"

/** @return the same each time; NULL: the product is built without OpenSSL. */
const struct tls_config *terms_begin(uint64_t seed);

#endif
