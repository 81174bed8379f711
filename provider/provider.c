/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one process has: a configuration, the stack that it asks for, the device on it and its CM.
 * They live until the process ends; stack.c sees to what peers have yet to be told then.
 */
#include "provider/provider.h"

#include "base/guarded.h"
#include "provider/cm/ucma.h"
#include "provider/config.h"
#include "provider/fd_room.h"
#include "provider/stack.h"
#include "provider/verbs/objects.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const struct provider_host *host;
	struct device *device;
	struct ucma *ucma;
} process;

/* The engine's thread did not come along, and its locks may have been held. */
static void orphan_child(void)
{
	if (process.device != NULL)
		device_orphan(process.device);
}

/* One sentence, once. */
static int say(int rc, const struct config_error *e)
{
	fprintf(stderr, "uiwarp: %s\n", e->text);
	return rc;
}

/* Bits of a prefix, from the left. */
static void fill_mask(void *mask, unsigned bits)
{
	uint8_t *p = mask;

	for (unsigned i = 0; i < bits; i++)
		p[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static void interface_address(const struct config_address *a, struct provider_address *out)
{
	memset(out, 0, sizeof *out);
	if (ip_addr_is_v4(&a->addr)) {
		struct sockaddr_in *addr = (struct sockaddr_in *)&out->addr;
		struct sockaddr_in *mask = (struct sockaddr_in *)&out->mask;

		addr->sin_family = mask->sin_family = AF_INET;
		memcpy(&addr->sin_addr, a->addr.b + 12, 4);
		fill_mask(&mask->sin_addr, a->prefix_len);
	} else {
		struct sockaddr_in6 *addr = (struct sockaddr_in6 *)&out->addr;
		struct sockaddr_in6 *mask = (struct sockaddr_in6 *)&out->mask;

		addr->sin6_family = mask->sin6_family = AF_INET6;
		memcpy(&addr->sin6_addr, a->addr.b, 16);
		fill_mask(&mask->sin6_addr, a->prefix_len);
	}
}

static int open_stack(struct config *c, struct stack **stack, struct config_error *e)
{
	struct fd_room room;
	int rc;

	fd_room_keep(&room);
	rc = config_take_slot(c, e);
	if (rc == 0)
		rc = stack_open(c, stack, e);
	fd_room_give_back(&room);
	return rc;
}

static int start_device(struct config *c)
{
	struct config_error e = {.text = "cannot start"};
	struct device *d = calloc(1, sizeof *d);
	struct stack *stack;
	int rc;

	if (d == NULL)
		return -ENOMEM;
	rc = open_stack(c, &stack, &e);
	if (rc != 0) {
		free(d);
		return say(rc, &e);
	}
	device_init(d, stack, process.host);
	rc = ucma_create(d->rnic, d->guid, &process.ucma);
	if (rc != 0) {
		snprintf(e.text, sizeof e.text, "cannot start the connection manager: %s",
			strerror(-rc));
		stack_close(stack);
		free(d);
		return say(rc, &e);
	}
	process.device = d;
	return 0;
}

static int start(const struct provider_host *host, struct ibv_device **device)
{
	struct config *c = malloc(sizeof *c);
	struct config_error e;
	int rc;

	if (c == NULL)
		return -ENOMEM;
	process.host = host;
	rc = config_from_environment(c, &e);
	if (rc < 0)
		say(rc, &e);
	else
		rc = rc == 0 ? -ENOENT : start_device(c);
	free(c);
	if (rc != 0)
		return rc;
	pthread_atfork(NULL, NULL, orphan_child);
	*device = &process.device->ibv;
	return 0;
}

static unsigned addresses(struct provider_address *out, unsigned max)
{
	const struct config *c = stack_config(process.device->stack);
	unsigned n = 0;

	while (c->list_addresses && n < c->num_addresses && n < max) {
		const struct config_address *a = &c->address[n];

		interface_address(a, &out[n++]);
	}
	return n;
}

static int cm_open(int flags)
{
	return ucma_open(process.ucma, flags);
}

static ssize_t cm_write(int fd, const void *buf, size_t n)
{
	return ucma_write(process.ucma, fd, buf, n);
}

static void cm_close(int fd)
{
	ucma_close(process.ucma, fd);
}

static const struct provider table = {
	.version = PROVIDER_VERSION,
	.start = start,
	.addresses = addresses,
	.before_end = stack_before_end,
	.end_by = stack_end_by,
	.resume = guarded_resume,
	.cm_open = cm_open,
	.cm_write = cm_write,
	.cm_close = cm_close,
	.get_device_guid = device_get_guid,
	.open_device = device_open,
	.close_device = device_close,
	.get_async_event = async_get,
	.query_device = query_device,
	.query_port = query_port_compat,
	.query_port_speed = query_port_speed,
	.query_gid = query_gid,
	.query_gid_ex = query_gid_ex,
	.query_gid_table = query_gid_table,
	.query_gid_type = query_gid_type,
	.query_pkey = query_pkey,
	.get_pkey_index = query_pkey_index,
	.alloc_pd = pd_alloc,
	.dealloc_pd = pd_dealloc,
	.reg_mr = mr_reg,
	.rereg_mr = mr_rereg,
	.dereg_mr = mr_dereg,
	.create_comp_channel = channel_create,
	.destroy_comp_channel = channel_destroy,
	.get_cq_event = channel_get_event,
	.create_cq = cq_create,
	.resize_cq = cq_resize,
	.destroy_cq = cq_destroy,
	.create_srq = srq_create,
	.modify_srq = srq_modify,
	.query_srq = srq_query,
	.destroy_srq = srq_destroy,
	.create_qp = qp_create,
	.modify_qp = qp_modify,
	.query_qp = qp_query,
	.query_qp_data_in_order = qp_data_in_order,
	.destroy_qp = qp_destroy,
	.qp_to_qp_ex = qp_to_ex,
};

__attribute__((visibility("default"))) const struct provider *uiwarp_provider(uint32_t version)
{
	return version == PROVIDER_VERSION ? &table : NULL;
}
