/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cm_server.h
 * A server of several threads that wait for the events of one channel: the thread that gets a
 * request accepts it, the one that gets its end destroys the id.
 */
#ifndef TESTS_UNIT_PROVIDER_CM_SERVER_H
#define TESTS_UNIT_PROVIDER_CM_SERVER_H

#include "cm_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define CM_SERVER_THREADS 3

struct cm_server {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	pthread_t thread[CM_SERVER_THREADS];
	_Atomic unsigned requests, established;
	sem_t ended; /* posted for each connection that has */
	int stop_fd;
};

/** Listens on CM_V4 and an ephemeral port; its channel does not block. */
void cm_server_start(struct cm_server *s);

/** When all connections have ended. */
void cm_server_stop(struct cm_server *s);

/** Connect to it and end that again, with a synchronous id. For threads: MUST. */
void cm_server_visit(const struct cm_server *s);

#endif
