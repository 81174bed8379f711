/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_world.h"

#include <fcntl.h>
#include <sys/mman.h>

struct verbs_world verbs_world;

/* ---- what is below --------------------------------------------------------------------------- */

struct rnic *stack_rnic(struct stack *s)
{
	return s->rnic;
}

const struct config *stack_config(const struct stack *s)
{
	return &s->config;
}

void stack_mac(const struct stack *s, uint8_t mac[6])
{
	memset(mac, 2, 6);
}

void stack_link(const struct stack *s, uint16_t *mtu, uint32_t *speed, bool *up)
{
	*mtu = 1500;
	*speed = 10000;
	*up = true;
}

bool stack_has_left(const struct stack *s)
{
	return false;
}

static int device_runs(struct device *d)
{
	return 0;
}

static int device_identify(struct device *d)
{
	atomic_store(&d->guid, 1);
	return 0;
}

static void *no_library(const char *name)
{
	return NULL;
}

static bool nobody_leaves(void)
{
	return false;
}

static const struct device_source source = {.start = device_runs, .identify = device_identify};
static const struct provider_host host = {.real_verbs = no_library, .is_leaving = nobody_leaves};

/* ---- life
 * ---------------------------------------------------------------------------------------- */

/** One for all inputs, between pages that nobody may touch. */
static uint8_t *arena(void)
{
	static uint8_t *p;

	if (p)
		return p;
	p = mmap(NULL, VERBS_ARENA + 2 * VERBS_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(p != MAP_FAILED);
	p += VERBS_PAGE;
	MUST(!mprotect(p, VERBS_ARENA, PROT_READ | PROT_WRITE));
	return p;
}

void verbs_world_init(struct fuzz *in)
{
	static const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED}, .pairing_port = VERBS_PORT};
	struct verbs_world *w = &verbs_world;

	memset(w, 0, sizeof *w);
	w->arena = arena();
	w->in = in;
	pair_engine_init(&w->pair);
	/* As TCP has a window: Writes behind a message that waits would fill the memory. */
	llp_mem_set_unread(w->pair.mem, VERBS_UNREAD);
	pair_rnic(&w->pair, &w->pair.a, 0, &config);
	w->stack.rnic = w->pair.a.rnic;
	w->stack.config.connect_port = VERBS_PORT;
	w->stack.config.num_addresses = 1;
	w->stack.config.address[0].addr = llp_mem_endpoint(w->pair.mem, 0, 0).addr;
	device_init(&w->device, &source, "uiw0", &host);
	device_attach(&w->device, &w->stack);
	w->context = device_open(&w->device.ibv);
	MUST(w->context && !fcntl(w->context->async_fd, F_SETFL, O_NONBLOCK));
}

void verbs_world_close(void)
{
	if (verbs_world.closed)
		return;
	MUST(!device_close(verbs_world.context));
	verbs_world.closed = true;
}

void verbs_world_fini(void)
{
	verbs_destroy_all();
	verbs_world_close();
	MUST(LIST_EMPTY(&verbs_world.device.contexts));
	pair_run(&verbs_world.pair);
	pair_fini(&verbs_world.pair);
}
