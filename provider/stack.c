/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/stack.h"

#include "base/forks.h"
#include "host/config_kernel.h"
#include "host/net.h"
#include "provider/failure.h"
#include "provider/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stack {
	struct net *net;
	struct rnic *rnic;
	bool told_failure;          /**< why a peer could not be reached, once */
	_Atomic bool left;          /**< exit() has stopped it */
	void (*left_fn)(void *arg); /**< told of that, or NULL */
	void *left_arg;
	unsigned forks;     /**< of the process, when it was opened */
	struct stack *next; /**< of all that are open */
};

/* The process's own: it has exits and forks of which every stack must know. */
static struct {
	pthread_mutex_t lock;
	struct stack *open;
	bool hooked;
} stack_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** Programs say "unreachable" or "-110" at best. The first time is the one that puzzles. */
static void stack_peer_failed(void *ctx, const struct rnic_failure *f)
{
	struct stack *s = ctx;
	char why[FAILURE_MAX], peer[IP_ADDR_STRLEN];

	if (s->told_failure)
		return;
	s->told_failure = true;
	failure_explain(s->net, f, why);
	log_printf(net_log(s->net), LOG_LEVEL_WARNING,
		"cannot connect: %s (\"uiwarp doctor %s %u\"%s tells more)", why,
		ip_addr_format(&f->remote.addr, peer), f->remote.port,
		config_is_kernel(net_config(s->net)) ? "" : ", with the same --config and --set,");
}

static int stack_open_rnic(struct stack *s, struct config_error *e)
{
	struct rnic_config cfg = {
		.engine = net_engine(s->net),
		.net = net_llp(s->net),
		.random = net_random,
		.log = net_log(s->net),
		.mpa = net_config(s->net)->mpa,
		.mapper = net_mapper(s->net),
		.mapper_required = net_config(s->net)->port_mapper == PORT_MAPPER_REQUIRED,
		.pairing_port = config_pairing_port(net_config(s->net)),
		.ud = net_ud(s->net),
		.ud_remark = net_ud_remark(s->net),
		.ud_port = net_config(s->net)->ud_port,
		.rnr_timeout_ms = net_config(s->net)->rnr_timeout,
		.start_timeout_ms = net_config(s->net)->patience.startup_timeout,
		.max_startups = net_config(s->net)->patience.max_startups,
		.max_startups_per_peer = net_config(s->net)->patience.max_startups_per_peer,
	};
	int r = rnic_create(&cfg, &s->rnic);

	if (r)
		snprintf(e->text, sizeof e->text, "the RNIC does not start: %s", strerror(-r));
	else
		rnic_set_failure_handler(s->rnic, stack_peer_failed, s);
	return r;
}

static void stack_link_changed(void *ctx, bool up)
{
	struct stack *s = ctx;

	rnic_port_changed(s->rnic, up);
}

static void stack_port_gone(void *ctx)
{
	struct stack *s = ctx;

	rnic_lost(s->rnic);
}

/** Undo what stack_open() did, as far as it came. */
static void stack_dismantle(struct stack *s)
{
	net_stop(s->net);
	if (s->rnic)
		rnic_destroy(s->rnic);
	net_close(s->net);
	free(s);
}

/* ---- the process ends, or doubles --------------------------------------------------------- */

static void stack_leave(struct stack *s)
{
	/* Peers of one that is stuck find out as of a crash; the process ends. */
	if (!stack_is_orphan(s) && !net_is_stuck(s->net)) {
		net_linger(s->net);
		net_leave(s->net);
	}
	atomic_store(&s->left, true);
	if (s->left_fn && !stack_is_orphan(s))
		s->left_fn(s->left_arg);
}

static void stack_at_exit(void)
{
	pthread_mutex_lock(&stack_process.lock);
	for (struct stack *s = stack_process.open; s; s = s->next)
		stack_leave(s);
	stack_process.open = NULL;
	pthread_mutex_unlock(&stack_process.lock);
}

void stack_before_end(void)
{
	if (pthread_mutex_trylock(&stack_process.lock) != 0)
		return;
	for (struct stack *s = stack_process.open; s; s = s->next)
		if (!stack_is_orphan(s))
			net_end(s->net);
	pthread_mutex_unlock(&stack_process.lock);
}

bool stack_end_by(int sig)
{
	bool any = false;

	if (pthread_mutex_trylock(&stack_process.lock) != 0)
		return false;
	for (struct stack *s = stack_process.open; s; s = s->next) {
		if (!stack_is_orphan(s)) {
			net_end_by(s->net, sig);
			any = true;
		}
	}
	pthread_mutex_unlock(&stack_process.lock);
	return any;
}

static void stack_in_child(void)
{
	pthread_mutex_init(&stack_process.lock, NULL);
	for (struct stack *s = stack_process.open; s; s = s->next)
		net_let_go(s->net);
}

static void stack_process_add(struct stack *s)
{
	pthread_mutex_lock(&stack_process.lock);
	if (!stack_process.hooked) {
		stack_process.hooked = true;
		pthread_atfork(NULL, NULL, stack_in_child);
		atexit(stack_at_exit);
	}
	forks_watch();
	s->forks = forks_count();
	s->next = stack_process.open;
	stack_process.open = s;
	pthread_mutex_unlock(&stack_process.lock);
}

/** @return false if stack_at_exit() has taken care of it. */
static bool stack_process_remove(struct stack *s)
{
	struct stack **at;
	bool found;

	pthread_mutex_lock(&stack_process.lock);
	for (at = &stack_process.open; *at && *at != s; at = &(*at)->next)
		;
	found = *at != NULL;
	if (found)
		*at = s->next;
	pthread_mutex_unlock(&stack_process.lock);
	return found;
}

bool stack_is_orphan(const struct stack *s)
{
	return s->forks != forks_count();
}

bool stack_has_left(const struct stack *s)
{
	return atomic_load_explicit(&s->left, memory_order_relaxed);
}

/* ---- the interface ------------------------------------------------------------------------ */

int stack_open(const struct config *c, struct stack **out, struct config_error *e)
{
	struct stack *s = calloc(1, sizeof *s);
	struct slot_hold hold;
	int r;

	if (!s) {
		snprintf(e->text, sizeof e->text, "no memory");
		hold = c->slot_hold;
		slot_release(&hold);
		return -ENOMEM;
	}
	r = net_open(c, &s->net, e);
	if (r) {
		free(s);
		return r;
	}
	r = stack_open_rnic(s, e);
	if (!r) {
		provider_telemetry_add(net_telemetry(s->net), s->rnic);
		r = net_start(s->net,
			&(struct net_events){.link_changed = stack_link_changed,
				.gone = stack_port_gone,
				.ctx = s},
			e);
	}
	if (r) {
		stack_dismantle(s);
		return r;
	}
	stack_process_add(s);
	*out = s;
	return 0;
}

void stack_close(struct stack *s)
{
	if (!s || stack_is_orphan(s) || !stack_process_remove(s))
		return;
	net_linger(s->net);
	stack_dismantle(s);
}

void stack_set_left_handler(struct stack *s, void (*fn)(void *arg), void *arg)
{
	s->left_fn = fn;
	s->left_arg = arg;
}

struct rnic *stack_rnic(struct stack *s)
{
	return s->rnic;
}

const struct config *stack_config(const struct stack *s)
{
	return net_config(s->net);
}

void stack_mac(const struct stack *s, uint8_t mac[6])
{
	net_mac(s->net, mac);
}

void stack_link(const struct stack *s, uint16_t *mtu, uint32_t *speed, bool *up)
{
	*mtu = net_mtu(s->net);
	*speed = 0;
	*up = !stack_is_orphan(s) && net_link(s->net, speed);
}
