/* SPDX-License-Identifier: BSD-2-Clause */
/** @file certificate.h Private: see tls_certificate_read(). */
#ifndef TLS_CERTIFICATE_H
#define TLS_CERTIFICATE_H

#include "tls/tls.h"

int tls_certificate_load(const char *path, const struct ip_addr *addr, struct tls_certificate *out,
	struct tls_error *e);

#endif
