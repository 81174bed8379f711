/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/gcm.h"

#if BASE_IPSEC_MB

#include <intel-ipsec-mb.h>

_Static_assert(sizeof(struct gcm_key_data) <= sizeof(((struct gcm_key *)0)->expanded),
	"room for the library's keys");
_Static_assert(sizeof(struct gcm_context_data) <= sizeof(struct gcm_state),
	"room for the library's state");

bool gcm_init(struct gcm *g)
{
	const uint64_t needed = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
	IMB_MGR *m = alloc_mb_mgr(0);
	bool good;

	if (!m)
		return false;
	init_mb_mgr_auto(m, NULL);
	good = imb_get_errno(m) == 0 && (m->features & needed) == needed;
	/* It is large, and no more than its pointers is needed. */
	*g = (struct gcm){.aes128 = {m->gcm128_pre, m->gcm128_enc, m->gcm128_dec},
		.aes256 = {m->gcm256_pre, m->gcm256_enc, m->gcm256_dec}};
	free_mb_mgr(m);
	return good;
}

const char *gcm_library_version(void)
{
	return imb_get_version_str();
}

#else

bool gcm_init(struct gcm *g)
{
	return false;
}

const char *gcm_library_version(void)
{
	return NULL;
}

#endif
