/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stub_next.h A library that stands between the preloaded one and libibverbs. */
#ifndef TESTS_UNIT_PROVIDER_STUB_NEXT_H
#define TESTS_UNIT_PROVIDER_STUB_NEXT_H

/** dlsym(RTLD_NEXT, name) from there. */
__attribute__((visibility("default"))) void *stub_next(const char *name);

#endif
