/* SPDX-License-Identifier: BSD-2-Clause */
/* SSE4.2's instruction for CRC32c alone. */
#include "base/digest_priv.h"

#if defined(__x86_64__)

#include "base/digest_sse42.h"

#define DIGEST(name)  digest_sse42_##name
#define DIGEST_LABEL  "sse4.2"
#define DIGEST_TARGET __attribute__((target("sse4.2")))
#define DIGEST_WIDTH  0

#include "base/digest_kernel.h"

#endif
