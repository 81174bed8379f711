/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the process: a configuration, its device and, once they are needed, the stack and
 * the CM. They exist until the process ends. Then stack.c closes the connections.
 */
#include "provider/provider.h"

#include "base/cancel.h"
#include "base/fd_room.h"
#include "base/guarded.h"
#include "base/log_write.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/memif_guard.h"
#include "host/config_kernel.h"
#include "host/guid.h"
#include "provider/cm/ucma.h"
#include "provider/stack.h"
#include "provider/verbs/objects.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum process_state {
	PROCESS_CONFIGURED, /* the stack waits for its first use */
	PROCESS_STARTING,
	PROCESS_STARTED,
	PROCESS_FAILED, /* for good: an EAL does not begin twice */
};

static struct {
	const struct provider_host *host;
	pthread_mutex_t lock; /* of what is started or taken, once */
	struct config config; /* settled as soon as the device has a GUID */
	struct config next;   /* what it will be: a child of fork() finds either whole */
	_Atomic int state;
	int failure; /* why, once it is PROCESS_FAILED: what programs are told */
	struct device *device;
	struct ucma *ucma;
} provider_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool provider_is_begun(void)
{
	int state = atomic_load(&provider_process.state);

	return state == PROCESS_STARTING || state == PROCESS_STARTED;
}

/* A copy of the parent's slot would keep it when the parent is gone; the child takes its own. */
static void provider_forget_slot(void)
{
	if (provider_process.config.slot_hold.n == 0)
		return;
	slot_release(&provider_process.config.slot_hold);
	atomic_store(&provider_process.device->guid, 0);
}

/* The engine's thread did not come along, and its locks may have been held. */
static void provider_in_child(void)
{
	pthread_mutex_init(&provider_process.lock, NULL);
	if (provider_is_begun()) {
		device_orphan(provider_process.device);
		return;
	}
	provider_forget_slot();
	device_inherit(provider_process.device);
}

/* One sentence, once. */
static int provider_say(int rc, const struct config_error *e)
{
	char line[sizeof e->text + 10];
	int n = snprintf(line, sizeof line, "uiwarp: %s\n", e->text);

	log_write_stderr(line, (size_t)n);
	return rc;
}

/* Bits of a prefix, from the left. */
static void provider_fill_mask(void *mask, unsigned bits)
{
	uint8_t *p = mask;

	for (unsigned i = 0; i < bits; i++)
		p[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static void provider_interface_address(const struct config_address *a, struct provider_address *out)
{
	memset(out, 0, sizeof *out);
	if (ip_addr_is_v4(&a->addr)) {
		struct sockaddr_in *addr = (struct sockaddr_in *)&out->addr;
		struct sockaddr_in *mask = (struct sockaddr_in *)&out->mask;

		addr->sin_family = mask->sin_family = AF_INET;
		memcpy(&addr->sin_addr, a->addr.b + 12, 4);
		provider_fill_mask(&mask->sin_addr, a->prefix_len);
	} else {
		struct sockaddr_in6 *addr = (struct sockaddr_in6 *)&out->addr;
		struct sockaddr_in6 *mask = (struct sockaddr_in6 *)&out->mask;

		addr->sin6_family = mask->sin6_family = AF_INET6;
		memcpy(&addr->sin6_addr, a->addr.b, 16);
		provider_fill_mask(&mask->sin6_addr, a->prefix_len);
	}
}

/* ---- from a configuration to a stack, each step once, with the lock -------------------------- */

static int provider_fail(int rc, const struct config_error *e)
{
	/* Programs know these two, and that they can do something about them. */
	provider_process.failure = rc == -EMFILE || rc == -ENFILE ? rc : -ENODEV;
	atomic_store(&provider_process.state, PROCESS_FAILED);
	return provider_say(rc, e);
}

/* Settle the configuration, with a slot if it wants one. */
static int provider_take_slot(struct device *d, struct config_error *e)
{
	struct config *c = &provider_process.next;
	struct fd_room room;
	int rc;

	if (atomic_load(&d->guid) != 0)
		return 0;
	*c = provider_process.config;
	fd_room_keep(&room);
	rc = config_take_slot(c, e);
	fd_room_give_back(&room);
	if (rc != 0)
		return rc;
	provider_process.config = *c;
	/* Others may be reading it. */
	if (strcmp(d->ibv.name, c->name) != 0)
		device_set_name(d, c->name);
	atomic_store_explicit(&d->guid, guid_from_config(c), memory_order_release);
	return 0;
}

static int provider_open_stack(struct stack **stack, struct config_error *e)
{
	struct fd_room room;
	int rc;

	fd_room_keep(&room);
	rc = stack_open(&provider_process.config, stack, e);
	fd_room_give_back(&room);
	/* The stack's now, or given back. */
	provider_process.config.slot_hold.n = 0;
	return rc;
}

static int provider_gid(void *ctx, const struct ip_addr *a)
{
	return gid_find(ctx, a);
}

/* exit() has stopped the stack: whoever sleeps for an event is not left to sleep for ever. */
static void provider_left(void *device)
{
	device_leave(device);
	ucma_leave(provider_process.ucma);
}

static int provider_start_stack(struct device *d, struct config_error *e)
{
	struct stack *stack;
	int rc = provider_take_slot(d, e);

	if (rc == 0)
		rc = provider_open_stack(&stack, e);
	if (rc != 0)
		return rc;
	rc = ucma_create(stack_rnic(stack), d->guid, &provider_process.ucma);
	if (rc != 0) {
		snprintf(e->text, sizeof e->text, "cannot start the connection manager: %s",
			strerror(-rc));
		stack_close(stack);
		return rc;
	}
	ucma_set_gids(provider_process.ucma, provider_gid, d);
	/* Its handlers go before those of the stack, and it guards what the stack touches. */
	provider_process.host->started();
	device_attach(d, stack);
	stack_set_left_handler(stack, provider_left, d);
	return 0;
}

static void provider_begin(struct device *d)
{
	struct config_error e = {.text = "cannot start"};
	int rc;

	atomic_store(&provider_process.state, PROCESS_STARTING);
	provider_process.host->enter();
	rc = provider_start_stack(d, &e);
	provider_process.host->leave();
	if (rc == 0)
		atomic_store(&provider_process.state, PROCESS_STARTED);
	else
		provider_fail(rc, &e);
}

/* ---- what the device asks for ---------------------------------------------------------------- */

/** Do @p step with the lock, unless it has failed for good or is the parent's. */
static int provider_settle(struct device *d, void (*step)(struct device *d))
{
	struct cancel_hold hold = cancel_hold();
	int saved = errno;
	int rc = -ENODEV;

	if (!atomic_load(&d->orphan)) {
		pthread_mutex_lock(&provider_process.lock);
		if (atomic_load(&provider_process.state) == PROCESS_CONFIGURED)
			step(d);
		rc = provider_process.failure;
		pthread_mutex_unlock(&provider_process.lock);
	}
	errno = saved;
	cancel_release(hold);
	return rc;
}

static int provider_start_device(struct device *d)
{
	return provider_settle(d, provider_begin);
}

static void provider_identify(struct device *d)
{
	struct config_error e = {.text = "cannot start"};
	int rc = provider_take_slot(d, &e);

	if (rc != 0)
		provider_fail(rc, &e);
}

static int provider_identify_device(struct device *d)
{
	return provider_settle(d, provider_identify);
}

static const struct device_source provider_source = {
	.start = provider_start_device, .identify = provider_identify_device};

static int provider_create_device(void)
{
	struct device *d = calloc(1, sizeof *d);

	if (!d)
		return -ENOMEM;
	device_init(d, &provider_source, provider_process.config.name, provider_process.host);
	/* A process that only lists devices keeps no slot, unless the list shows it. */
	if ((!provider_process.config.slot_wanted || provider_process.config.slot_names) &&
		provider_identify_device(d) != 0) {
		free(d);
		return -ENODEV;
	}
	provider_process.device = d;
	return 0;
}

static int provider_start(const struct provider_host *host, struct ibv_device **device)
{
	struct config_error e;
	int rc;

	provider_process.host = host;
	rc = config_from_environment(&provider_process.config, &e);
	if (rc < 0)
		provider_say(rc, &e);
	else
		rc = rc == 0 ? -ENOENT : provider_create_device();
	if (rc != 0)
		return rc;
	pthread_atfork(NULL, NULL, provider_in_child);
	*device = &provider_process.device->ibv;
	return 0;
}

static void provider_list(void)
{
	if (provider_process.config.slot_names)
		(void)device_guid(provider_process.device);
}

static unsigned provider_addresses(struct provider_address *out, unsigned max)
{
	const struct config *c = &provider_process.config;
	unsigned n = 0;

	if (atomic_load_explicit(&provider_process.device->guid, memory_order_acquire) == 0 ||
		atomic_load(&provider_process.state) == PROCESS_FAILED)
		return 0;
	/* Those of the host's interfaces are listed anyway. */
	while (c->list_addresses && !config_is_kernel(c) && n < c->num_addresses && n < max) {
		const struct config_address *a = &c->address[n];

		provider_interface_address(a, &out[n++]);
	}
	return n;
}

static int provider_cm_open(int flags)
{
	int rc = device_start(provider_process.device);

	if (rc == 0)
		return ucma_open(provider_process.ucma, flags);
	errno = -rc;
	return -1;
}

static ssize_t provider_cm_write(int fd, const void *buf, size_t n)
{
	return ucma_write(provider_process.ucma, fd, buf, n);
}

static void provider_cm_close(int fd)
{
	ucma_close(provider_process.ucma, fd);
}

static const struct provider provider_table = {
	.version = PROVIDER_VERSION,
	.start = provider_start,
	.list = provider_list,
	.is_begun = provider_is_begun,
	.addresses = provider_addresses,
	.before_end = stack_before_end,
	.end_by = stack_end_by,
	.descriptor_wanted = eal_log_descriptor_wanted,
	.memif_received = memif_guard_received,
	.memif_sent = memif_guard_sent,
	.resume = guarded_resume,
	.cm_open = provider_cm_open,
	.cm_write = provider_cm_write,
	.cm_close = provider_cm_close,
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
	.create_ah = ah_create,
	.create_ah_from_wc = ah_create_from_wc,
	.init_ah_from_wc = ah_init_from_wc,
	.destroy_ah = ah_destroy,
	.attach_mcast = mcast_attach,
	.detach_mcast = mcast_detach,
};

__attribute__((visibility("default"))) const struct provider *uiwarp_provider(uint32_t version)
{
	return version == PROVIDER_VERSION ? &provider_table : NULL;
}
