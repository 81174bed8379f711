/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/intr_gate.h"

#include "dpdk-port/clock.h"

#include <pthread.h>
#include <rte_interrupts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/** The interrupt thread is late when the machine is loaded; it is asked again at the next pass. */
#define PATIENCE_NS 500000000

struct intr_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool shut;
	bool inside;     /**< the interrupt thread waits in our handler */
	unsigned passes; /**< how often it was let go */
	int fd;          /**< readable: come to the gate */
	struct rte_intr_handle *handle;
};

/*
 * The gate of the process. The lock also prevents that it is freed while it is opened for another
 * port.
 */
static pthread_mutex_t intr_gate_lock = PTHREAD_MUTEX_INITIALIZER;
static struct intr_gate *intr_gate_current;

static void intr_gate_thread(void *arg)
{
	struct intr_gate *g = arg;
	unsigned ticket;
	uint64_t n;

	pthread_mutex_lock(&g->lock);
	if (read(g->fd, &n, sizeof n) < 0 || !g->shut) {
		pthread_mutex_unlock(&g->lock);
		return;
	}
	g->inside = true;
	ticket = g->passes;
	pthread_cond_broadcast(&g->changed);
	while (g->shut && g->passes == ticket)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void intr_gate_call(struct intr_gate *g)
{
	uint64_t n = 1;

	if (write(g->fd, &n, sizeof n) < 0)
		return; /* it has been called already */
}

/** With the lock held. */
static void intr_gate_wait_until_inside(struct intr_gate *g)
{
	struct timespec end = clock_after(PATIENCE_NS);

	while (!g->inside && pthread_cond_timedwait(&g->changed, &g->lock, &end) == 0)
		;
}

static struct intr_gate *intr_gate_new(void)
{
	struct intr_gate *g = calloc(1, sizeof *g);
	pthread_condattr_t attr;

	if (!g)
		return NULL;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &attr);
	pthread_condattr_destroy(&attr);
	g->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	g->handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (g->fd >= 0 && g->handle && rte_intr_fd_set(g->handle, g->fd) == 0 &&
		rte_intr_type_set(g->handle, RTE_INTR_HANDLE_EXT) == 0 &&
		rte_intr_callback_register(g->handle, intr_gate_thread, g) == 0)
		return g;
	rte_intr_instance_free(g->handle);
	if (g->fd >= 0)
		close(g->fd);
	free(g);
	return NULL;
}

struct intr_gate *intr_gate_create(void)
{
	struct intr_gate *g = NULL;

	pthread_mutex_lock(&intr_gate_lock);
	if (!intr_gate_current)
		g = intr_gate_current = intr_gate_new();
	pthread_mutex_unlock(&intr_gate_lock);
	return g;
}

void intr_gate_destroy(struct intr_gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&intr_gate_lock);
	intr_gate_current = NULL;
	intr_gate_open(g);
	rte_intr_callback_unregister_sync(g->handle, intr_gate_thread, g);
	rte_intr_instance_free(g->handle);
	close(g->fd);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
	pthread_mutex_unlock(&intr_gate_lock);
}

void intr_gate_shut(struct intr_gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	if (!g->shut) {
		g->shut = true;
		intr_gate_call(g);
	}
	intr_gate_wait_until_inside(g);
	pthread_mutex_unlock(&g->lock);
}

void intr_gate_pass(struct intr_gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	if (g->shut && g->inside) {
		intr_gate_call(g);
		g->inside = false;
		g->passes++;
		pthread_cond_broadcast(&g->changed);
	}
	if (g->shut)
		intr_gate_wait_until_inside(g);
	pthread_mutex_unlock(&g->lock);
}

void intr_gate_open(struct intr_gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->shut = false;
	g->inside = false;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void intr_gate_let_go(void)
{
	pthread_mutex_lock(&intr_gate_lock);
	intr_gate_open(intr_gate_current);
	pthread_mutex_unlock(&intr_gate_lock);
}
