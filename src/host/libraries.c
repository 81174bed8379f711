/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/libraries.h"

#include "base/gcm.h"
#include "tls/tls.h"

#include <dlfcn.h>
#include <link.h>
#include <rte_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void libraries_set(struct libraries_one *l, const char *name, const char *version)
{
	l->name = name;
	snprintf(l->version, sizeof l->version, "%s", version ? version : "none");
}

/** DPDK's words begin with its name. */
static const char *libraries_dpdk(void)
{
	const char *words = rte_version(), *blank = strrchr(words, ' ');

	return blank ? blank + 1 : words;
}

/** Its file is libibverbs.so.ABI.NUMBER.VERSION, with rdma-core's version at its end. */
static const char *libraries_version_of(const char *file)
{
	static const char begin[] = "libibverbs.so.";
	const char *at = strstr(file, begin);

	if (!at)
		return NULL;
	at += sizeof begin - 1;
	for (int i = 0; i < 2; i++) {
		at += strspn(at, "0123456789");
		if (*at++ != '.')
			return NULL;
	}
	return at;
}

static void libraries_rdma_core(struct libraries_one *l)
{
	void *handle = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;
	char *file = NULL;

	if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
		file = realpath(map->l_name, NULL);
	libraries_set(l, "rdma-core", file ? libraries_version_of(file) : NULL);
	free(file);
	if (handle)
		dlclose(handle);
}

void libraries_list(struct libraries_one list[LIBRARIES])
{
	libraries_set(&list[0], "DPDK", libraries_dpdk());
	libraries_set(&list[1], "OpenSSL", tls_openssl_version());
	libraries_set(&list[2], "libipsec-mb", gcm_library_version());
	libraries_rdma_core(&list[3]);
}
