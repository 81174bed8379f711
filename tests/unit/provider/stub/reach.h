/* SPDX-License-Identifier: BSD-2-Clause */
/** @file reach.h How a test program reaches the libuiwarp.so that was loaded for it. */
#ifndef TESTS_UNIT_PROVIDER_STUB_REACH_H
#define TESTS_UNIT_PROVIDER_STUB_REACH_H

#include "unit/provider/preloaded.h"
#include "unit/provider/stub/stub.h"

#include <stdlib.h>

/** @return NULL: it is not loaded. */
static inline struct stub_provider *reach_provider(void)
{
	char path[4096];
	stub_provider_fn *fn;
	void *h;

	assert_non_null(getenv("STUB_DIR"));
	snprintf(path, sizeof path, "%s/libuiwarp.so", getenv("STUB_DIR"));
	h = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (h == NULL)
		return NULL;
	fn = (stub_provider_fn *)dlsym(h, "stub_provider");
	assert_non_null(fn);
	return fn();
}

#endif
