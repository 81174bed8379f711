/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is no libibverbs but has a function of that name. */
#include "unit/provider/stub/stub.h"

STUB_EXPORT int ibv_alloc_pd(void);

int ibv_alloc_pd(void)
{
	return 1;
}
