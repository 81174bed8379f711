/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GIDs of the port. If QPs may connect without rdma_cm they are our addresses, in the order of
 * the configuration and in RoCE's form. Otherwise there is one, as of the kernel's iWARP drivers:
 * the MAC address followed by zeros.
 */
#include "provider/verbs/objects.h"

#include <string.h>

unsigned gid_count(const struct device *d)
{
	const struct config *c = stack_config(d->stack);

	return config_pairing_port(c) != 0 ? c->num_addresses : 1;
}

int gid_address(const struct device *d, unsigned index, struct ip_addr *out)
{
	const struct config *c = stack_config(d->stack);

	if (config_pairing_port(c) == 0 || index >= c->num_addresses)
		return -EINVAL;
	*out = c->address[index].addr;
	return 0;
}

int gid_find(const struct device *d, const struct ip_addr *a)
{
	struct ip_addr own;

	for (unsigned i = 0; i < gid_count(d); i++)
		if (gid_address(d, i, &own) == 0 && ip_addr_equal(&own, a))
			return (int)i;
	return -1;
}

static bool gid_fill(const struct device *d, unsigned index, union ibv_gid *gid)
{
	struct ip_addr a;

	if (index >= gid_count(d))
		return false;
	memset(gid, 0, sizeof *gid);
	if (gid_address(d, index, &a) == 0)
		memcpy(gid->raw, a.b, sizeof gid->raw);
	else
		memcpy(gid->raw, d->mac, sizeof d->mac);
	return true;
}

int query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	int rc = device_start(device_of(context));

	if (rc == 0 && port_num == 1 && index >= 0 &&
		gid_fill(device_of(context), (unsigned)index, gid))
		return 0;
	errno = rc == 0 ? EINVAL : -rc;
	return -1;
}

int query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
	struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry e = {
		.gid_index = gid_index, .port_num = 1, .gid_type = IBV_GID_TYPE_IB};

	int rc;

	if (port_num != 1 || flags != 0)
		return EINVAL;
	rc = device_start(device_of(context));
	if (rc != 0)
		return fail_errno(rc);
	if (!gid_fill(device_of(context), gid_index, &e.gid))
		return EINVAL;
	memset(entry, 0, entry_size);
	memcpy(entry, &e, entry_size < sizeof e ? entry_size : sizeof e);
	return 0;
}

ssize_t query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
	size_t max_entries, uint32_t flags, size_t entry_size)
{
	int started = device_start(device_of(context));
	uint32_t n = started == 0 ? gid_count(device_of(context)) : 0;
	uint8_t *to = (uint8_t *)entries;

	if (started != 0)
		return started;
	if (max_entries < n)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		int rc = query_gid_ex(
			context, 1, i, (struct ibv_gid_entry *)(void *)to, flags, entry_size);

		if (rc != 0)
			return -rc;
		to += entry_size;
	}
	return n;
}

int query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type)
{
	int rc = device_start(device_of(context));

	if (rc != 0 || port_num != 1 || index >= gid_count(device_of(context))) {
		errno = rc == 0 ? EINVAL : -rc;
		return -1;
	}
	*type = IBV_GID_TYPE_IB;
	return 0;
}
