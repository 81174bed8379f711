/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that look for RDMA devices in the list of the system's interfaces, as libfabric does,
 * find our addresses there, once they have listed devices. They are behind all others, as an
 * interface with the device's name. It has no index and no link layer address, and other calls do
 * not know it.
 */
#include "provider/shim/shim.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

/* What we add to a list is one block. Its first element says so in its ifa_data. */
struct addition {
	struct ifaddrs ifa[PROVIDER_MAX_ADDRESSES];
	struct provider_address at[PROVIDER_MAX_ADDRESSES];
	char name[IBV_SYSFS_NAME_MAX];
};

static char shim_mark;

static shim_slot shim_real_getifaddrs, shim_real_freeifaddrs;

typedef int getifaddrs_fn(struct ifaddrs **);
typedef void freeifaddrs_fn(struct ifaddrs *);

static struct ifaddrs *shim_ifaddrs_ours(void)
{
	const struct provider *p = shim_running();
	struct addition *a;
	unsigned n;

	if (!p || shim_inside() || shim_is_orphan())
		return NULL;
	a = calloc(1, sizeof *a);
	n = !a ? 0 : p->addresses(a->at, PROVIDER_MAX_ADDRESSES);
	if (n == 0) {
		free(a);
		return NULL;
	}
	memcpy(a->name, shim_device()->name, sizeof a->name);
	for (unsigned i = 0; i < n; i++)
		a->ifa[i] = (struct ifaddrs){
			.ifa_next = i + 1 < n ? &a->ifa[i + 1] : NULL,
			.ifa_name = a->name,
			.ifa_flags = IFF_UP | IFF_RUNNING,
			.ifa_addr = (struct sockaddr *)&a->at[i].addr,
			.ifa_netmask = (struct sockaddr *)&a->at[i].mask,
			.ifa_data = &shim_mark,
		};
	return a->ifa;
}

static struct ifaddrs **shim_end_of(struct ifaddrs **list)
{
	while (*list && (*list)->ifa_data != &shim_mark)
		list = &(*list)->ifa_next;
	return list;
}

SHIM_EXPORT int getifaddrs(struct ifaddrs **list)
{
	int rc = ((getifaddrs_fn *)shim_real_libc(&shim_real_getifaddrs, "getifaddrs"))(list);
	int saved = errno;

	if (rc == 0)
		*shim_end_of(list) = shim_ifaddrs_ours();
	errno = saved;
	return rc;
}

SHIM_EXPORT void freeifaddrs(struct ifaddrs *list)
{
	struct ifaddrs **end = shim_end_of(&list);

	free(*end);
	*end = NULL;
	((freeifaddrs_fn *)shim_real_libc(&shim_real_freeifaddrs, "freeifaddrs"))(list);
}
