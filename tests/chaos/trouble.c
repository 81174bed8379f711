/* SPDX-License-Identifier: BSD-2-Clause */
#include "trouble.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TROUBLE_CHILDREN 32
#define TROUBLE_THREADS  3

static unsigned trouble_children, trouble_forked;

void trouble_reap(void)
{
	while (trouble_children && waitpid(-1, NULL, WNOHANG) > 0)
		trouble_children--;
}

static _Noreturn void trouble_child(unsigned n)
{
	int count;

	switch (n % 4) {
	case 0:
		_exit(0);
	case 1:
		exit(0);
	case 2:
		/* It asks for what only its parent has. */
		ibv_free_device_list(ibv_get_device_list(&count));
		exit(0);
	default:
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
}

void trouble_fork(void)
{
	trouble_reap();
	while (trouble_children < TROUBLE_CHILDREN) {
		pid_t pid = fork();

		if (pid < 0)
			return;
		if (pid == 0)
			trouble_child(trouble_forked);
		trouble_children++;
		if (++trouble_forked % 8 == 0)
			return;
	}
}

void trouble_orphan(unsigned seconds)
{
	pid_t pid;

	if (seconds == 0)
		return;
	pid = fork();
	if (pid == 0) {
		while (seconds)
			seconds = sleep(seconds);
		_exit(0);
	}
	printf("orphan %d\n", pid);
}

/* ---- threads ------------------------------------------------------------------------------ */

static struct {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_context *context;
	pthread_t thread[TROUBLE_THREADS];
	unsigned next;
} trouble;

static void *trouble_polls(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	for (;;) {
		for (int i = 0; i < 100; i++)
			ibv_poll_cq(trouble.cq, 1, &wc);
		usleep(200);
	}
	return NULL;
}

static void *trouble_waits(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	for (;;) {
		ibv_req_notify_cq(trouble.cq, 0);
		if (ibv_get_cq_event(trouble.channel, &cq, &context) == 0)
			ibv_ack_cq_events(cq, 1);
	}
	return NULL;
}

static void *trouble_hears(void *unused)
{
	struct ibv_async_event event;

	(void)unused;
	while (ibv_get_async_event(trouble.context, &event) == 0)
		ibv_ack_async_event(&event);
	return NULL;
}

static void trouble_thread(unsigned i)
{
	static void *(*const functions[TROUBLE_THREADS])(void *) = {
		trouble_polls, trouble_waits, trouble_hears};

	if (pthread_create(&trouble.thread[i], NULL, functions[i], NULL))
		abort();
}

int trouble_threads_start(struct ibv_context *context)
{
	trouble.context = context;
	trouble.channel = ibv_create_comp_channel(context);
	if (!trouble.channel)
		return -1;
	trouble.cq = ibv_create_cq(context, 1, NULL, trouble.channel, 0);
	if (!trouble.cq)
		return -1;
	for (unsigned i = 0; i < TROUBLE_THREADS; i++)
		trouble_thread(i);
	return 0;
}

void trouble_cancel_one(void)
{
	unsigned i = trouble.next++ % TROUBLE_THREADS;

	if (!trouble.cq)
		return;
	pthread_cancel(trouble.thread[i]);
	pthread_join(trouble.thread[i], NULL);
	trouble_thread(i);
}

void trouble_threads_stop(void)
{
	if (!trouble.cq)
		return;
	for (unsigned i = 0; i < TROUBLE_THREADS; i++) {
		pthread_cancel(trouble.thread[i]);
		pthread_join(trouble.thread[i], NULL);
	}
	if (ibv_destroy_cq(trouble.cq) || ibv_destroy_comp_channel(trouble.channel))
		abort();
	trouble.cq = NULL;
}
