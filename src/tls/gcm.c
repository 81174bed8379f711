/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/gcm.h"

#if TLS_IPSEC_MB

#include <intel-ipsec-mb.h>

_Static_assert(sizeof(struct gcm_key_data) <= sizeof(((struct tls_gcm_key *)0)->expanded),
	"room for the library's keys");
_Static_assert(sizeof(struct gcm_context_data) <= sizeof(struct tls_gcm_record),
	"room for the library's state");

bool tls_gcm_init(struct tls_gcm *g)
{
	const uint64_t needed = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
	IMB_MGR *m = alloc_mb_mgr(0);
	bool good;

	if (!m)
		return false;
	init_mb_mgr_auto(m, NULL);
	good = imb_get_errno(m) == 0 && (m->features & needed) == needed;
	/* It is large, and no more than its pointers is needed. */
	*g = (struct tls_gcm){.aes128 = {m->gcm128_pre, m->gcm128_enc, m->gcm128_dec},
		.aes256 = {m->gcm256_pre, m->gcm256_enc, m->gcm256_dec}};
	free_mb_mgr(m);
	return good;
}

#else

bool tls_gcm_init(struct tls_gcm *g)
{
	return false;
}

#endif
