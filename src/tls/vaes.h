/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file vaes.h
 * AES-GCM by x86's VAES and VPCLMULQDQ on AVX2's vectors, for gcm.h: two blocks for each
 * instruction, where libipsec-mb has them with AVX-512 only.
 */
#ifndef TLS_VAES_H
#define TLS_VAES_H

#include "tls/gcm.h"

/** @return false: the processor has no such instructions. */
bool tls_vaes_init(struct tls_gcm *g);

#endif
