/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file preloaded.h
 * For test programs that run with the preloaded library.
 */
#ifndef TESTS_UNIT_PROVIDER_PRELOADED_H
#define TESTS_UNIT_PROVIDER_PRELOADED_H

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

#define CM_PATH "/dev/infiniband/rdma_cm"

/* A cancelled thread leaves marks of clang's ASan on a stack that libc goes on to use. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_CANCELLING
#endif
#endif

static inline const char *object_of(void *address)
{
	Dl_info info;

	assert_non_null(address);
	assert_int_not_equal(dladdr(address, &info), 0);
	return info.dli_fname;
}

static inline void assert_from(void *address, const char *library)
{
	if (strstr(object_of(address), library) == NULL)
		fail_msg("found in %s, not in %s", object_of(address), library);
}

/** How many devices of this name the program sees. */
static inline int count_devices(const char *name)
{
	int n = 0, found = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list != NULL && i < n; i++)
		found += strcmp(ibv_get_device_name(list[i]), name) == 0;
	if (list != NULL)
		ibv_free_device_list(list);
	return found;
}

/** True when a file with @p name in its path is mapped. */
static inline bool is_mapped(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[4096];

	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL)
		found = found || strstr(line, name) != NULL;
	fclose(f);
	return found;
}

#endif
