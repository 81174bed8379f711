/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface, which is there without OpenSSL, too: then who asks for TLS is told so. */
#include "tls/tls.h"

#if TLS_OPENSSL
#include "tls/certificate.h"
#include "tls/stack.h"

#include <openssl/crypto.h>
#else
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#endif

bool tls_is_available(void)
{
	return TLS_OPENSSL;
}

#if !TLS_OPENSSL
static int tls_refuse(struct tls_error *e)
{
	snprintf(e->text, sizeof e->text, "tls: this uiwarp was built without OpenSSL");
	return -ENOTSUP;
}
#endif

int tls_certificate_read(const char *path, const struct ip_addr *addr, struct tls_certificate *out,
	struct tls_error *e)
{
#if TLS_OPENSSL
	return tls_certificate_load(path, addr, out, e);
#else
	return tls_refuse(e);
#endif
}

const char *tls_openssl_version(void)
{
#if TLS_OPENSSL
	return OpenSSL_version(OPENSSL_VERSION_STRING);
#else
	return NULL;
#endif
}

int tls_stack_create(
	const struct tls_stack_config *cfg, struct tls_stack **out, struct tls_error *e)
{
#if TLS_OPENSSL
	return tls_stack_new(cfg, out, e);
#else
	return tls_refuse(e);
#endif
}

void tls_stack_destroy(struct tls_stack *s)
{
#if TLS_OPENSSL
	tls_stack_free(s);
#endif
}

struct llp_stack *tls_llp_stack(struct tls_stack *s)
{
#if TLS_OPENSSL
	return &s->llp;
#else
	abort(); /* there is none */
#endif
}

const struct tls_stats *tls_stack_stats(const struct tls_stack *s)
{
#if TLS_OPENSSL
	return &s->stats;
#else
	abort();
#endif
}

const char *tls_stack_reason(const struct tls_stack *s)
{
#if TLS_OPENSSL
	return s->reason;
#else
	abort();
#endif
}
